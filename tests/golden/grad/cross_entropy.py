import numpy as np


def cross_entropy_grad(logits, labels):
    # forward sweep
    extremum = np.max(logits, axis=1, keepdims=True)
    shifted = logits - extremum
    exp = np.exp(shifted)
    # reverse sweep
    log_p_bar = np.zeros_like(logits)
    # programs.py  return -np.mean(log_p[np.arange(len(labels)), labels])
    log_p_bar[np.arange(len(labels)), labels] -= 1 / len(labels)
    # programs.py  shifted = logits - logits.max(axis=1, keepdims=True)
    sum_to = np.sum(log_p_bar, axis=1, keepdims=True)
    shifted_bar = log_p_bar - exp * (sum_to / np.sum(exp, axis=1, keepdims=True))
    logits_is_equal = logits == extremum
    count_nonzero = np.count_nonzero(logits_is_equal, axis=1, keepdims=True)
    sum_to_1 = np.sum(shifted_bar, axis=1, keepdims=True)
    return shifted_bar - sum_to_1 * (logits_is_equal / count_nonzero)
