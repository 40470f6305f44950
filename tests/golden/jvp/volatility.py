import numpy as np


def volatility_jvp(prices, width, prices_dot):
    log = np.log(prices)
    log_dot = prices_dot / prices
    returns = log[1:] - log[:-1]
    returns_dot = log_dot[1:] - log_dot[:-1]
    total = 0.0
    total_dot = 0.0
    for i in range(len(prices) - width):
        returns_part = returns[i:i + width]
        deviation = np.std(returns_part)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            away = returns_part - np.mean(returns_part)
            quotient = away / (len(returns_part) * deviation)
            chosen = np.where(deviation != 0, quotient, 0.0)
            total_dot += np.sum(chosen * returns_dot[i:i + width])
        total += deviation
    return total / (len(prices) - width), total_dot / (len(prices) - width)
