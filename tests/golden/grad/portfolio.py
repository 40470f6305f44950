import numpy as np


def portfolio_grad(weights, returns, aversion):
    # forward sweep
    mean = np.mean(returns, axis=0)
    centred = returns - mean
    covariance = centred.T @ centred / (len(returns) - 1)
    matmul = weights @ covariance
    # reverse sweep
    # programs.py  return weights @ mean - 0.5 * aversion * (weights @ covarianc ...
    matmul_bar = -(0.5 * (aversion * weights))
    # programs.py  covariance = centred.T @ centred / (len(returns) - 1)
    matmul_bar_1 = np.outer(weights, matmul_bar) / (len(returns) - 1)
    # programs.py  centred = returns - mean
    centred_bar = centred @ matmul_bar_1 + centred @ matmul_bar_1.T
    returns_bar = centred_bar + (weights - np.sum(centred_bar, axis=0)) / len(returns)
    weights_bar = covariance @ matmul_bar - 0.5 * (aversion * matmul) + mean
    return weights_bar, returns_bar, float(-(0.5 * (matmul @ weights)))
