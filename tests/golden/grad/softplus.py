import math


def softplus_grad(x):
    # forward sweep
    if not x > 30.0:
        if x < -30.0:
            exp = math.exp(x)
        else:
            exp_1 = math.exp(x)
            math.log1p(exp_1)
    # reverse sweep
    if x > 30.0:
        # programs.py  return x
        x_bar = 1.0
    elif x < -30.0:
        # programs.py  return math.exp(x)
        x_bar = exp
    else:
        # programs.py  return math.log1p(math.exp(x))
        x_bar = exp_1 / (1 + exp_1)
    return x_bar
