import numpy as np


def volatility_grad(prices, width):
    # forward sweep
    log = np.log(prices)
    returns = log[1:] - log[:-1]
    # reverse sweep
    # programs.py  return total / (len(returns) - width + 1)
    total_bar = 1 / (len(prices) - width)
    returns_bar = np.zeros_like(returns)
    for i in range(len(prices) - width):
        returns_part = returns[i:i + width]
        deviation = np.std(returns_part)
        # programs.py  total += returns[i : i + width].std()
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            away = returns_part - np.mean(returns_part)
            quotient = away / (len(returns_part) * deviation)
            returns_part_bar = total_bar * np.where(deviation != 0, quotient, 0.0)
            returns_bar[i:i + width] += returns_part_bar
    log_bar = np.zeros_like(prices)
    # programs.py  returns = np.diff(np.log(prices))
    log_bar[:-1] -= returns_bar
    log_bar[1:] += returns_bar
    return log_bar / prices
