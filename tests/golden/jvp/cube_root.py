def cube_root_jvp(a, a_dot):
    y_dot = a_dot
    y = a
    while True:
        product = 3.0 * y
        product_1 = product * y
        step = (y**3 - a) / product_1
        product_2 = step / product_1 * (3.0 * y * y_dot + product * y_dot)
        step_dot = (3.0 * y**2 * y_dot - a_dot) / product_1 - product_2
        y_dot -= step_dot
        y -= step
        if abs(step) < 1e-12 * abs(y):
            break
    return y, y_dot
