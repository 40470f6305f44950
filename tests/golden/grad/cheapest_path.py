import numpy as np


def cheapest_path_grad(cost):
    # forward sweep
    best = np.zeros((len(cost) + 1, cost.shape[1] + 1))
    best[0, 1:] = 9.0
    best[1:, 0] = 9.0
    best[0, 1] = 0.0
    best_tape = []
    for i in range(len(cost)):
        for j in range(cost.shape[1]):
            best_tape.append(best[i + 1, j + 1])
            best[i + 1, j + 1] = cost[i, j] + min(best[i, j + 1], best[i + 1, j])
    # reverse sweep
    cost_bar = np.zeros_like(cost)
    best_bar = np.zeros((len(cost) + 1, cost.shape[1] + 1))
    # programs.py  return best[-1, -1]
    best_bar[-1, -1] += 1.0
    for i in reversed(range(len(cost))):
        for j in reversed(range(cost.shape[1])):
            # programs.py  best[i + 1, j + 1] = cost[i, j] + min(best[i, j + 1], ...
            best_bar_1 = best_bar[i + 1, j + 1]
            best_bar[i + 1, j + 1] = 0.0
            best[i + 1, j + 1] = best_tape.pop()
            best_item_is_below = best[i + 1, j] < best[i, j + 1]
            best_bar[i + 1, j] += best_bar_1 * (1.0 if best_item_is_below else 0.0)
            best_bar[i, j + 1] += best_bar_1 * (0.0 if best_item_is_below else 1.0)
            cost_bar[i, j] += best_bar_1
    return cost_bar
