import numpy as np


def cheapest_path_jvp(costs, costs_dot):
    best_dot = np.zeros((len(costs), costs.shape[1]))
    best = np.zeros((len(costs), costs.shape[1]))
    for i in range(len(costs)):
        for j in range(costs.shape[1]):
            if i == 0 and j == 0:
                arrival = 0.0
                arrival_dot = 0.0
            elif i == 0:
                arrival_dot = best_dot[i, j - 1]
                arrival = best[i, j - 1]
            elif j == 0:
                arrival_dot = best_dot[i - 1, j]
                arrival = best[i - 1, j]
            else:
                best_item = best[i - 1, j]
                best_item_1 = best[i, j - 1]
                best_item_is_below = best_item_1 < best_item
                product = (0.0 if best_item_is_below else 1.0) * best_dot[i - 1, j]
                product_1 = (1.0 if best_item_is_below else 0.0) * best_dot[i, j - 1]
                arrival_dot = product + product_1
                arrival = min(best_item, best_item_1)
            best_dot[i, j] = arrival_dot + costs_dot[i, j]
            best[i, j] = arrival + costs[i, j]
    best_item_dot = best_dot[len(costs) - 1, costs.shape[1] - 1]
    return best[len(costs) - 1, costs.shape[1] - 1], best_item_dot
