import numpy as np


def soft_maximum_jvp(logits, temperature, logits_dot, temperature_dot):
    if temperature < 0.001:
        result = np.max(logits)
        logits_is_equal = logits == result
        product = logits_is_equal / np.count_nonzero(logits_is_equal) * logits_dot
        result_dot = np.sum(product)
    else:
        scores = logits / temperature
        scores_dot = logits_dot / temperature - scores / temperature * temperature_dot
        extremum = np.max(scores)
        scores_is_equal = scores == extremum
        p = np.exp(scores - extremum)
        product_1 = scores_is_equal / np.count_nonzero(scores_is_equal) * scores_dot
        p_dot = p * (scores_dot - np.sum(product_1))
        total = np.sum(p)
        result = np.sum(p * logits) / total
        total_dot = np.sum(logits * p_dot + p * logits_dot)
        result_dot = total_dot / total - result / total * np.sum(p_dot)
    return result, result_dot
