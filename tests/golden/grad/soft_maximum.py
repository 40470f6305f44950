import numpy as np


def soft_maximum_grad(logits, temperature):
    # forward sweep
    if temperature < 0.001:
        extremum = np.max(logits)
    else:
        scores = logits / temperature
        extremum_1 = np.max(scores)
        p = np.exp(scores - extremum_1)
        total = np.sum(p)
        quotient = np.sum(p * logits) / total
    # reverse sweep
    logits_bar = np.zeros_like(logits)
    temperature_bar = 0.0
    if temperature < 0.001:
        # programs.py  return np.max(logits)
        logits_is_equal = logits == extremum
        logits_bar += logits_is_equal / np.count_nonzero(logits_is_equal)
    else:
        # programs.py  return np.sum(p * logits) / np.sum(p)
        logits_bar += p / total
        # programs.py  p = np.exp(scores - np.max(scores))
        difference_bar = p * (logits / total - quotient / total)
        scores_is_equal = scores == extremum_1
        # programs.py  scores = logits / temperature
        quotient_1 = scores_is_equal / np.count_nonzero(scores_is_equal)
        scores_bar = difference_bar - np.sum(difference_bar) * quotient_1
        logits_bar += scores_bar / temperature
        temperature_bar -= np.sum(scores / temperature * scores_bar)
    return logits_bar, float(temperature_bar)
