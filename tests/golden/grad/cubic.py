def cubic_grad(x):
    return -5.0 + 2.0 * (3 * x ** 2)
