import numpy as np


def embedded_jvp(table, tokens, w, table_dot, w_dot):
    table_part = table[tokens]
    scores = table_part @ w
    scores_dot = table_dot[tokens] @ w + table_part @ w_dot
    return np.sum(scores**2), np.sum(2.0 * (scores * scores_dot))
