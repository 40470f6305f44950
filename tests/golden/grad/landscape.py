import math


def landscape_grad(x, centre):
    # forward sweep
    z = (x - centre) / 1.0
    z_1 = (x - (1.0 + centre)) / 2.0
    # reverse sweep
    centre_bar = 0.5 * (2.0 * (z_1 * (math.exp(-z_1 * z_1) * -0.5))) + 2.0 * (z *
        math.exp(-z * z))
    return -centre_bar, centre_bar
