import math


def softplus_jvp(x, x_dot):
    if x > 30.0:
        result_dot = x_dot
        result = x
    elif x < -30.0:
        result = math.exp(x)
        result_dot = result * x_dot
    else:
        exp = math.exp(x)
        result_dot = exp * x_dot / (1 + exp)
        result = math.log1p(exp)
    return result, result_dot
