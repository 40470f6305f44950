import numpy as np


def deposit_jvp(charge, position, cells, charge_dot, position_dot):
    grid_dot = np.zeros_like(np.zeros(cells))
    grid = np.zeros(cells)
    left = np.floor(position).astype(np.int64)
    share = position - left
    difference = 1.0 - share
    product = charge * position_dot
    np.add.at(grid_dot, left, difference * charge_dot - product)
    np.add.at(grid, left, charge * difference)
    total = left + 1
    np.add.at(grid_dot, total, share * charge_dot + product)
    np.add.at(grid, total, charge * share)
    return np.sum(grid**3), np.sum(3.0 * (grid**2 * grid_dot))
