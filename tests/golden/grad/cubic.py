def cubic_grad(x):
    return 6.0 * x**2 - 5.0
