def logistic_jvp(x, rate, n, x_dot, rate_dot):
    for _ in range(n):
        product = rate * x
        difference = 1.0 - x
        x_dot = difference * (x * rate_dot + rate * x_dot) - product * x_dot
        x = product * difference
    return x, x_dot
