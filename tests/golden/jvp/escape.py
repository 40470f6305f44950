import cmath


def escape_jvp(z, c, z_dot, c_dot):
    for _ in range(4):
        z_dot = 2.0 * z * z_dot + c_dot
        z = z * z + c
    w = cmath.exp(-z)
    w_dot = -w * z_dot
    return w.real**2 + w.imag, 2.0 * w.real * w_dot.real + w_dot.imag
