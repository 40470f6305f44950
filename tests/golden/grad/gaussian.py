import numpy as np


def gaussian_grad(mean, F, X):
    # forward sweep
    eye = np.eye(len(F))
    L = np.linalg.cholesky(F @ F.T + eye)
    z = np.linalg.solve(L, (X - mean).T)
    # reverse sweep
    # programs.py  z = np.linalg.solve(L, (X - mean).T)
    transpose_bar = np.linalg.solve(L.T, -z)
    # programs.py  L = np.linalg.cholesky(F @ F.T + np.eye(len(F)))
    inverse = np.linalg.inv(L)
    L_bar = np.diag(-(len(X) / np.diag(L))) - transpose_bar @ z.T
    matmul = inverse.T @ (np.tril(L.T @ L_bar) * (1.0 - 0.5 * eye)) @ inverse
    total_bar = 0.5 * (matmul + matmul.T)
    return (
        -np.sum(transpose_bar.T, axis=0),
        total_bar @ F + total_bar.T @ F,
        transpose_bar.T,
    )
