import numpy as np


def scattered_grad(values, places):
    # forward sweep
    table = np.ones(3)
    table[places] = values**2
    table_part = table[places]
    table[places] = table_part * values
    # reverse sweep
    # programs.py  return np.sum(table * np.sin(table))
    table_bar = np.sin(table) + table * np.cos(table)
    # programs.py  table[places] *= values
    table_bar_1 = table_bar[places]
    last = np.zeros(3, np.int64)
    arange = np.arange(len(table_bar_1))
    last[places] = arange
    is_last = last[places] == arange
    product_bar = np.where(is_last, table_bar_1, 0.0)
    table_bar[places] = 0.0
    np.add.at(table_bar, places, values * product_bar)
    power_bar = np.where(is_last, table_bar[places], 0.0)
    return table_part * product_bar + 2.0 * (power_bar * values)
