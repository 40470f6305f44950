import numpy as np


def scattered_jvp(values, places, values_dot):
    table_dot = np.zeros(3)
    table = np.ones(3)
    table_dot[places] = 2.0 * (values * values_dot)
    table[places] = values**2
    table_part = table[places]
    table_dot[places] = values * table_dot[places] + table_part * values_dot
    table[places] = table_part * values
    sin = np.sin(table)
    total_dot = np.sum(sin * table_dot + table * (np.cos(table) * table_dot))
    return np.sum(table * sin), total_dot
