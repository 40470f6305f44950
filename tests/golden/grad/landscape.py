import math


def landscape_grad(x, centre):
    # forward sweep
    z = (x - centre) / 1.0
    z_1 = (x - (1.0 + centre)) / 2.0
    # reverse sweep
    # programs.py  z = (x - centre) / width
    difference_bar = z_1 * math.exp(-z_1 * z_1) / 2.0
    product = 2.0 * z * math.exp(-z * z)
    return difference_bar - product, product - difference_bar
