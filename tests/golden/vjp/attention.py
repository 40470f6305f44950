import math
import numpy as np


def attention_forward(x, Wq, Wk, Wv):
    q = x @ Wq
    k = x @ Wk
    v = x @ Wv
    sqrt = math.sqrt(Wq.shape[1])
    scores = q @ k.T / sqrt
    extremum = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - extremum)
    total = np.sum(weights, axis=-1, keepdims=True)
    weights_1 = weights / total
    return weights_1 @ v, v, weights_1, total, weights, scores, extremum, sqrt, k, q


import numpy as np


def attention_backward(
    v,
    weights,
    total,
    weights_1,
    scores,
    extremum,
    sqrt,
    k,
    q,
    x,
    Wq,
    Wk,
    Wv,
    matmul_bar,
):
    # programs.py  return weights @ v
    weights_bar = matmul_bar @ v.T
    v_bar = weights.T @ matmul_bar
    # programs.py  weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    sum_to = np.sum(weights / total * weights_bar, axis=1, keepdims=True)
    difference_bar = weights_1 * (weights_bar / total - sum_to)
    scores_is_equal = scores == extremum
    # programs.py  scores = q @ k.T / math.sqrt(q.shape[1])
    count_nonzero = np.count_nonzero(scores_is_equal, axis=-1, keepdims=True)
    sum_to_1 = np.sum(difference_bar, axis=1, keepdims=True)
    scores_bar = difference_bar - sum_to_1 * (scores_is_equal / count_nonzero)
    matmul_bar_1 = scores_bar / sqrt
    q_bar = matmul_bar_1 @ k
    k_bar = matmul_bar_1.T @ q
    x_bar = v_bar @ Wv.T + k_bar @ Wk.T + q_bar @ Wq.T
    return x_bar, x.T @ q_bar, x.T @ k_bar, x.T @ v_bar
