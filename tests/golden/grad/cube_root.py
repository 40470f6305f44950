def cube_root_grad(a):
    # forward sweep
    y = a
    y_tape = []
    while True:
        step = (y**3 - a) / (3.0 * y * y)
        y_tape.append(y)
        y -= step
        if abs(step) < 1e-12 * abs(y):
            break
    # reverse sweep
    # programs.py  return y
    y_bar = 1.0
    a_bar = 0.0
    while y_tape:
        # programs.py  step = (y**3 - a) / (3.0 * y * y)
        y = y_tape.pop()
        product = 3.0 * y * y
        quotient = y_bar / product
        step = (y**3 - a) / product
        a_bar += quotient
        y_bar += 6.0 * step / product * y_bar * y - 3.0 * quotient * y**2
    return a_bar + y_bar
