import numpy as np


def cross_entropy_jvp(logits, labels, logits_dot):
    extremum = np.max(logits, axis=1, keepdims=True)
    logits_is_equal = logits == extremum
    shifted = logits - extremum
    count_nonzero = np.count_nonzero(logits_is_equal, axis=1, keepdims=True)
    product = logits_is_equal / count_nonzero * logits_dot
    shifted_dot = logits_dot - np.sum(product, axis=1, keepdims=True)
    exp = np.exp(shifted)
    total = np.sum(exp, axis=1, keepdims=True)
    log_p = shifted - np.log(total)
    log_p_dot = shifted_dot - np.sum(exp * shifted_dot, axis=1, keepdims=True) / total
    arange = np.arange(len(labels))
    mean_dot = np.sum(log_p_dot[arange, labels]) / len(labels)
    return -np.mean(log_p[arange, labels]), -mean_dot
