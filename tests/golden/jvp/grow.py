def grow_jvp(x, x_dot):
    steps = 0
    while x < 50.0:
        if x < 5.0:
            chosen_dot = 2.0 * (x * x_dot)
            chosen = x * x + 0.5
        else:
            chosen_dot = 3.0 * x_dot
            chosen = 3.0 * x
        x_dot = chosen_dot
        x = chosen
        steps = steps + 1
    return x / steps, x_dot / steps
