def cubic_jvp(x, x_dot):
    return 2.0 * x**3 - 5.0 * x + 1.0, 6.0 * x**2 * x_dot - 5.0 * x_dot
