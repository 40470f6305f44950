import numpy as np


def least_squares_grad(A, b):
    # forward sweep
    matmul = A.T @ A
    x = np.linalg.solve(matmul, A.T @ b)
    r = A @ x - b
    # reverse sweep
    # programs.py  r = A @ x - b
    r_bar = 2.0 * r
    # programs.py  x = np.linalg.solve(A.T @ A, A.T @ b)
    matmul_bar = np.linalg.solve(matmul.T, A.T @ r_bar)
    matmul_bar_1 = -np.outer(matmul_bar, x)
    A_bar = np.outer(r_bar, x) + np.outer(b, matmul_bar) + A @ matmul_bar_1
    return A_bar + A @ matmul_bar_1.T, A @ matmul_bar - r_bar
