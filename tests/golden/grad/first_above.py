import numpy as np


def first_above_grad(xs, threshold):
    # forward sweep
    broken = False
    trips = 0
    for x in xs:
        trips += 1
        if x > threshold:
            broken = True
            break
    # reverse sweep
    xs_bar = np.zeros_like(xs)
    # programs.py  return found + xs[0]
    xs_bar[0] += 1.0
    found_bar = 1.0
    threshold_bar = 0.0
    if not broken:
        # programs.py  found = threshold**2
        threshold_bar += 2.0 * found_bar * threshold
        found_bar = 0.0
    for i in reversed(range(trips)):
        # programs.py  found = x * threshold
        x = xs[i]
        x_bar = 0.0
        if x > threshold:
            x_bar += threshold * found_bar
            threshold_bar += found_bar * x
            found_bar = 0.0
        # programs.py  for x in xs:
        xs_bar[i] += x_bar
    return xs_bar, float(threshold_bar)
