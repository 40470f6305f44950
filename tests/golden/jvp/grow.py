def grow_jvp(x, x_dot):
    steps = 0
    while x < 50.0:
        if x < 5.0:
            x_dot = 2.0 * x * x_dot
            x = x * x + 0.5
        else:
            x_dot = 3.0 * x_dot
            x = 3.0 * x
        steps += 1
    return x / steps, x_dot / steps
