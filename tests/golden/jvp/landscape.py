import math


def landscape_jvp(x, centre, x_dot, centre_dot):
    z = (x - centre) / 1.0
    difference = -z
    exp = math.exp(difference * z)
    z_1 = (x - (1.0 + centre)) / 2.0
    z_dot = (x_dot - centre_dot) / 2.0
    difference_1 = -z_1
    exp_1 = math.exp(difference_1 * z_1)
    exp_dot = exp * (difference * (x_dot - centre_dot) - z * (x_dot - centre_dot))
    difference_dot = exp_dot - 0.5 * exp_1 * (difference_1 * z_dot - z_1 * z_dot)
    return exp - 0.5 * exp_1, difference_dot
