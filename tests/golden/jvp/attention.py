import math
import numpy as np


def attention_jvp(x, Wq, Wk, Wv, x_dot, Wq_dot, Wk_dot, Wv_dot):
    q = x @ Wq
    q_dot = x_dot @ Wq + x @ Wq_dot
    k = x @ Wk
    k_dot = x_dot @ Wk + x @ Wk_dot
    v = x @ Wv
    v_dot = x_dot @ Wv + x @ Wv_dot
    sqrt = math.sqrt(Wq.shape[1])
    scores = q @ k.T / sqrt
    scores_dot = (q_dot @ k.T + q @ k_dot.T) / sqrt
    extremum = np.max(scores, axis=-1, keepdims=True)
    scores_is_equal = scores == extremum
    weights = np.exp(scores - extremum)
    count_nonzero = np.count_nonzero(scores_is_equal, axis=-1, keepdims=True)
    product = scores_is_equal / count_nonzero * scores_dot
    weights_dot = weights * (scores_dot - np.sum(product, axis=-1, keepdims=True))
    total = np.sum(weights, axis=-1, keepdims=True)
    weights = weights / total
    total_dot = np.sum(weights_dot, axis=-1, keepdims=True)
    weights_dot = weights_dot / total - weights / total * total_dot
    return weights @ v, weights_dot @ v + weights @ v_dot
