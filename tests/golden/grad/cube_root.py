def cube_root_grad(a):
    # forward sweep
    y = a
    power_tape = []
    y_tape = []
    trips = 0
    while True:
        trips += 1
        power = y ** 3
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
    for trip in reversed(range(trips)):
        # programs.py  step = (y**3 - a) / (3.0 * y * y)
        y = y_tape.pop()
        product = 3.0 * y
        product_1 = product * y
        quotient = y_bar / product_1
        step = (power_tape.pop() - a) / product_1
        product_bar = step / product_1 * y_bar
        a_bar += quotient
        y_bar += product_bar * product + 3.0 * (product_bar * y) - quotient * (3 * y **
            2)
    a_bar += y_bar
    return a_bar
