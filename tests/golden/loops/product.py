import numpy as np


def product_grad(a, b):
    # forward sweep
    matmul = np.empty((len(a), b.shape[1]))
    matmul_bar = np.empty((len(a), b.shape[1]))
    a_bar = np.empty((len(a), a.shape[1]))
    b_bar = np.empty((a.shape[1], b.shape[1]))
    matmul[...] = a @ b
    # reverse sweep
    for i in range(len(a)):
        for j in range(b.shape[1]):
            tanh = np.tanh(matmul[i, j])
            matmul_bar[i, j] = 1 - tanh * tanh
    a_bar[...] = matmul_bar @ b.T
    b_bar[...] = a.T @ matmul_bar
    return a_bar, b_bar
