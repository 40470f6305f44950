def pipeline_jvp(x, x_dot):
    total = x + 1.0
    return total * total + x, 2.0 * total * x_dot + x_dot
