def prefix_sums_grad(x):
    # forward sweep
    totals = x.copy()
    for i in range(1, len(x)):
        totals[i] += totals[i - 1]
    # reverse sweep
    # programs.py  return np.sum(totals**2)
    totals_bar = 2.0 * totals
    for i in reversed(range(1, len(x))):
        # programs.py  totals[i] += totals[i - 1]
        totals_bar[i - 1] += totals_bar[i]
    return totals_bar
