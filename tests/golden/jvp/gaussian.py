import numpy as np


def gaussian_jvp(mean, F, X, mean_dot, F_dot, X_dot):
    matmul_dot = F_dot @ F.T + F @ F_dot.T
    eye = np.eye(len(F))
    L = np.linalg.cholesky(F @ F.T + eye)
    inverse = np.linalg.inv(L)
    tril = np.tril(inverse @ (0.5 * (matmul_dot + matmul_dot.T)) @ inverse.T)
    L_dot = L @ (tril * (1.0 - 0.5 * eye))
    z = np.linalg.solve(L, (X - mean).T)
    z_dot = np.linalg.solve(L, (X_dot - mean_dot).T) - np.linalg.solve(L, L_dot @ z)
    diag = np.diag(L)
    total = 0.5 * np.sum(2.0 * (z * z_dot)) + len(X) * np.sum(np.diag(L_dot) / diag)
    return -0.5 * np.sum(z**2) - len(X) * np.sum(np.log(diag)), -total
