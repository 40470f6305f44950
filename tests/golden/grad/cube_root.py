def cube_root_grad(a):
    # forward sweep
    y = a
    power_tape = []
    y_tape = []
    while True:
        power = y**3
        power_tape.append(power)
        step = (power - a) / (3.0 * y * y)
        y_tape.append(y)
        y -= step
        if abs(step) < 1e-12 * abs(y):
            break
    # reverse sweep
    # programs.py  return y
    y_bar = 1.0
    a_bar = 0.0
    while power_tape:
        # programs.py  step = (y**3 - a) / (3.0 * y * y)
        y = y_tape.pop()
        product = 3.0 * y * y
        quotient = y_bar / product
        step = (power_tape.pop() - a) / product
        a_bar += quotient
        y_bar += 6.0 * step / product * y_bar * y - 3.0 * quotient * y**2
    return a_bar + y_bar
