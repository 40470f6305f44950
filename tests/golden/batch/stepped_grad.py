"""vmap: a loop over the samples, in parts where they meet."""

import numpy as np


def stepped_grad_batched(x_batch):
    # forward sweep
    x_batch_1 = np.zeros(len(x_batch))
    for i, x in enumerate(x_batch):
        x_batch_1[i] = x
    axis_size_tape = []
    product_tape = []
    x_tape = []
    for k in range(3):
        x_batch_2 = np.zeros(len(x_batch))
        for i in range(len(x_batch)):
            x_batch_2[i] = x_batch_1[i]
        x_tape.append(x_batch_2.copy())
        x_pmean = 0.0
        for i in range(len(x_batch)):
            x_pmean += x_batch_2[i]
        axis_size_tape.append(len(x_batch))
        mean = x_pmean / len(x_batch)
        if k > 0:
            product = 0.5 * mean
            product_tape.append(product)
            for i in range(len(x_batch)):
                x_batch_1[i] -= product * x_batch_2[i]
        else:
            product_1 = 0.1 * mean
            for i in range(len(x_batch)):
                x_batch_1[i] += product_1
    # reverse sweep
    # test_fission.py:74  return x
    x_bar = 1.0
    for k in reversed(range(3)):
        mean_bar_batch = np.zeros(len(x_batch))
        x = x_tape.pop()
        if k > 0:
            product_batch = np.zeros(len(x_batch))
            for i, x in enumerate(x):
                product_batch[i] = x * x_bar
            for i in range(len(x_batch)):
                # test_fission.py:71  x = x - 0.5 * mean * x
                mean_bar_batch[i] = -(0.5 * product_batch[i])
            x_bar -= product_tape.pop() * x_bar
        else:
            # test_fission.py:73  x = x + 0.1 * mean
            product_2 = 0.1 * x_bar
            for i in range(len(x_batch)):
                mean_bar_batch[i] = product_2
        mean_bar_batch_1 = np.zeros(len(x_batch))
        for i in range(len(x_batch)):
            mean_bar_batch_1[i] = mean_bar_batch[i]
        # test_fission.py:69  mean = lax.pmean(x, "i")
        axis_size = axis_size_tape.pop()
        total_bar = 0.0
        for i in range(len(x_batch)):
            total_bar += mean_bar_batch_1[i] / axis_size
        x_bar += total_bar
    x_bar_batch = np.zeros(len(x_batch))
    for i in range(len(x_batch)):
        x_bar_batch[i] = x_bar
    return x_bar_batch
