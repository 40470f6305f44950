import numpy as np


def deposit_grad(charge, position, cells):
    # forward sweep
    grid = np.zeros(cells)
    left = np.floor(position).astype(np.int64)
    share = position - left
    difference = 1.0 - share
    np.add.at(grid, left, charge * difference)
    total = left + 1
    np.add.at(grid, total, charge * share)
    # reverse sweep
    # programs.py  return np.sum(grid**3)
    grid_bar = 3.0 * grid**2
    # programs.py  np.add.at(grid, left + 1, charge * share)
    grid_bar_1 = grid_bar[total]
    # programs.py  np.add.at(grid, left, charge * (1.0 - share))
    grid_bar_2 = grid_bar[left]
    charge_bar = share * grid_bar_1 + grid_bar_2 * difference
    return charge_bar, charge * grid_bar_1 - charge * grid_bar_2
