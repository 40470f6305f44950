import numpy as np


def log_loss_jvp(w, b, X, y, w_dot, b_dot, X_dot, y_dot):
    z = X @ w + b
    z_dot = X_dot @ w + X @ w_dot + b_dot
    logaddexp = np.logaddexp(0.0, z)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        total = np.mean(logaddexp - y * z) + 0.01 * np.sum(w * w)
        chosen = np.where(0.0 != z, 1.0, 0.5)
        logaddexp_dot = np.where(z != logaddexp, np.exp(z - logaddexp), chosen) * z_dot
        mean_dot = np.sum(logaddexp_dot - (z * y_dot + y * z_dot)) / len(X)
        return total, mean_dot + 0.01 * np.sum(2.0 * (w * w_dot))
