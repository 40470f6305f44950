def first_above_jvp(xs, threshold, xs_dot, threshold_dot):
    broken = False
    for x, x_dot in zip(xs, xs_dot):
        if x > threshold:
            found_dot = threshold * x_dot + x * threshold_dot
            found = x * threshold
            broken = True
            break
    if not broken:
        found_dot = 2.0 * threshold * threshold_dot
        found = threshold**2
    return found + xs[0], found_dot + xs_dot[0]
