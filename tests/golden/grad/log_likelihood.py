import numpy as np


def log_likelihood_grad(mu, log_sigma, data):
    # forward sweep
    exp = np.exp(log_sigma)
    z = (data - mu) / exp
    # reverse sweep
    # programs.py  z = (data - mu) / np.exp(log_sigma)
    quotient = z / exp
    log_sigma_bar = float(exp * np.sum(quotient * z) - len(data))
    return float(np.sum(quotient)), log_sigma_bar, -quotient
