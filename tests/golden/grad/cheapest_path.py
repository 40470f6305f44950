import numpy as np


def cheapest_path_grad(costs):
    # forward sweep
    best = np.zeros((len(costs), costs.shape[1]))
    both_tape = []
    best_tape = []
    for i in range(len(costs)):
        for j in range(costs.shape[1]):
            both = i == 0 and j == 0
            both_tape.append(both)
            if both:
                arrival = 0.0
            elif i == 0:
                arrival = best[i, j - 1]
            elif j == 0:
                arrival = best[i - 1, j]
            else:
                arrival = min(best[i - 1, j], best[i, j - 1])
            best_tape.append(best[i, j])
            best[i, j] = arrival + costs[i, j]
    # reverse sweep
    costs_bar = np.zeros_like(costs)
    best_bar = np.zeros((len(costs), costs.shape[1]))
    # programs.py  return best[n - 1, m - 1]
    best_bar[len(costs) - 1, costs.shape[1] - 1] += 1.0
    for i in reversed(range(len(costs))):
        for j in reversed(range(costs.shape[1])):
            # programs.py  best[i, j] = arrival + costs[i, j]
            best_bar_1 = best_bar[i, j]
            best_bar[i, j] = 0.0
            costs_bar[i, j] += best_bar_1
            # programs.py  arrival = best[i, j - 1]
            best[i, j] = best_tape.pop()
            if not both_tape.pop():
                if i == 0:
                    best_bar[i, j - 1] += best_bar_1
                elif j == 0:
                    # programs.py  arrival = best[i - 1, j]
                    best_bar[i - 1, j] += best_bar_1
                else:
                    # programs.py  arrival = min(best[i - 1, j], best[i, j - 1])
                    best_item_is_below = best[i, j - 1] < best[i - 1, j]
                    best_item_bar_1 = best_bar_1 * (1.0 if best_item_is_below else 0.0)
                    best_bar[i, j - 1] += best_item_bar_1
                    best_item_bar = best_bar_1 * (0.0 if best_item_is_below else 1.0)
                    best_bar[i - 1, j] += best_item_bar
    return costs_bar
