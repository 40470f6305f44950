import math


def landscape_jvp(x, centre, x_dot, centre_dot):
    z_dot = x_dot - centre_dot
    z = (x - centre) / 1.0
    difference = -z
    exp = math.exp(difference * z)
    z_1 = (x - (1.0 + centre)) / 2.0
    z_dot_1 = 0.5 * z_dot
    difference_1 = -z_1
    exp_1 = math.exp(difference_1 * z_1)
    difference = exp * (difference * z_dot - z * z_dot) - 0.5 * (exp_1 * (
        difference_1 * z_dot_1 - z_1 * z_dot_1))
    return exp - 0.5 * exp_1, difference
