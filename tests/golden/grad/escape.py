import cmath


def escape_grad(z, c):
    # forward sweep
    z_tape = []
    for _ in range(4):
        z_tape.append(z)
        z = z * z + c
    w = cmath.exp(-z)
    # reverse sweep
    # programs.py  w = cmath.exp(-z)
    z_bar = -w * (0.0 - 1.0j + 2.0 * w.real)
    c_bar = 0.0j
    for _ in range(4):
        # programs.py  z = z * z + c
        c_bar += z_bar
        z = z_tape.pop()
        z_bar = 2.0 * z_bar * z
    return z_bar, c_bar
