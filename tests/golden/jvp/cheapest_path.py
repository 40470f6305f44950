import numpy as np


def cheapest_path_jvp(cost, cost_dot):
    best_dot = np.zeros((len(cost) + 1, cost.shape[1] + 1))
    best = np.zeros((len(cost) + 1, cost.shape[1] + 1))
    best_dot[0, 1:] = 0.0
    best[0, 1:] = 9.0
    best_dot[1:, 0] = 0.0
    best[1:, 0] = 9.0
    best_dot[0, 1] = 0.0
    best[0, 1] = 0.0
    for i in range(len(cost)):
        for j in range(cost.shape[1]):
            best_item = best[i, j + 1]
            best_item_1 = best[i + 1, j]
            best_item_is_below = best_item_1 < best_item
            product = (0.0 if best_item_is_below else 1.0) * best_dot[i, j + 1]
            product_1 = (1.0 if best_item_is_below else 0.0) * best_dot[i + 1, j]
            best_dot[i + 1, j + 1] = cost_dot[i, j] + (product + product_1)
            best[i + 1, j + 1] = cost[i, j] + min(best_item, best_item_1)
    return best[-1, -1], best_dot[-1, -1]
