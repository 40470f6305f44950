def horner_jvp(coefficients, x, coefficients_dot, x_dot):
    value = 0.0
    value_dot = 0.0
    for k in range(len(coefficients) - 1, -1, -1):
        value_dot = x * value_dot + value * x_dot + coefficients_dot[k]
        value = value * x + coefficients[k]
    return value, value_dot
