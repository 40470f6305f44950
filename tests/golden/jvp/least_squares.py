import numpy as np


def least_squares_jvp(A, b, A_dot, b_dot):
    matmul = A.T @ A
    x = np.linalg.solve(matmul, A.T @ b)
    result = np.linalg.solve(matmul, (A_dot.T @ A + A.T @ A_dot) @ x)
    x_dot = np.linalg.solve(matmul, A_dot.T @ b + A.T @ b_dot) - result
    r = A @ x - b
    r_dot = A_dot @ x + A @ x_dot - b_dot
    return r @ r, r_dot @ r + r @ r_dot
