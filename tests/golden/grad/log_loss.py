import numpy as np


def log_loss_grad(w, b, X, y):
    # forward sweep
    z = X @ w + b
    logaddexp = np.logaddexp(0.0, z)
    # reverse sweep
    # programs.py  z = X @ w + b
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        chosen = np.where(0.0 != z, 1.0, 0.5)
        quotient = np.where(z != logaddexp, np.exp(z - logaddexp), chosen) / len(X)
        z_bar = quotient - y / len(X)
    w_bar = 0.02 * w + X.T @ z_bar
    return w_bar, float(np.sum(z_bar)), np.outer(z_bar, w), -(z / len(X))
