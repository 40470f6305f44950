import numpy as np


def log_likelihood_grad(mu, log_sigma, data):
    # forward sweep
    exp = np.exp(log_sigma)
    z = (data - mu) / exp
    # reverse sweep
    # programs.py  return -0.5 * np.sum(z**2) - len(data) * log_sigma
    with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
        z_bar = -0.5 * (2 * z)
    # programs.py  z = (data - mu) / np.exp(log_sigma)
    data_bar = z_bar / exp
    log_sigma_bar = -len(data) + exp * np.sum(-(z / exp * z_bar))
    return float(np.sum(-data_bar)), float(log_sigma_bar), data_bar
