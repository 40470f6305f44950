from gradwright.transform.lowering.program import LengthsVary
import math
import numpy as np


def listed(x, n):
    if len(x) - n < 0:
        raise LengthsVary(-1)
    xs = np.empty(max(n, 0))
    xs_top = 0
    for k in range(n):
        xs[xs_top] = math.sin(x[k])
        xs_top += 1
    product = np.empty(xs_top)
    for i in range(xs_top):
        product[i] = xs[i] * 2.0
    return product
