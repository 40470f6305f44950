import numpy as np


def log_likelihood_jvp(mu, log_sigma, data, mu_dot, log_sigma_dot, data_dot):
    exp = np.exp(log_sigma)
    z = (data - mu) / exp
    z_dot = (data_dot - mu_dot) / exp - z / exp * (exp * log_sigma_dot)
    difference_dot = -(0.5 * np.sum(2.0 * (z * z_dot)) + len(data) * log_sigma_dot)
    return -0.5 * np.sum(z**2) - len(data) * log_sigma, difference_dot
