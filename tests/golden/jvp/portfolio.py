import numpy as np


def portfolio_jvp(weights, returns, aversion, weights_dot, returns_dot, aversion_dot):
    mean = np.mean(returns, axis=0)
    mean_dot = np.sum(returns_dot, axis=0) / len(returns)
    centred = returns - mean
    centred_dot = returns_dot - mean_dot
    covariance = centred.T @ centred / (len(returns) - 1)
    matmul_dot = centred_dot.T @ centred + centred.T @ centred_dot
    covariance_dot = matmul_dot / (len(returns) - 1)
    matmul = weights @ covariance
    matmul_1 = (weights_dot @ covariance + weights @ covariance_dot) @ weights
    product = 0.5 * aversion * (matmul_1 + matmul @ weights_dot)
    difference = weights @ mean - 0.5 * aversion * (matmul @ weights)
    product_dot = 0.5 * (matmul @ weights) * aversion_dot + product
    return difference, weights_dot @ mean + weights @ mean_dot - product_dot
