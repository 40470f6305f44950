import numpy as np


def masked_grad(x):
    # forward sweep
    places = np.empty(len(x), np.int64)
    x_bar = np.empty(len(x))
    places_1 = np.empty(len(x), np.int64)
    count = 0
    # reverse sweep
    count_1 = 0
    for i, x_i in enumerate(x):
        if x_i > 0.0:
            places[count] = i
            count += 1
        x_bar[i] = np.exp(x_i) * np.where(x_i < 0.0, 1.0, 0.0)
    n = min(max(count - 1, 0), 1)
    for i, x_i_1 in enumerate(x):
        if x_i_1 > 0.0:
            places_1[count_1] = i
            count_1 += 1
    if count != count_1:
        if count != 1:
            raise ValueError(
                "could not broadcast input array into the shape of the part it is stored in"
            )
    for i in range(count_1):
        x_bar[places_1[i]] += 2.0 * x[places[i * n]]
    return x_bar
