def smoothed_grad(signal, weight):
    # forward sweep
    work = signal.copy()
    work_tape = []
    for i in range(1, len(signal) - 1):
        work_tape.append(work[i])
        work[i] += weight * (work[i - 1] - 2.0 * work[i] + work[i + 1])
    # reverse sweep
    # programs.py  return np.sum(work**2)
    work_bar = 2.0 * work
    weight_bar = 0.0
    for i in reversed(range(1, len(signal) - 1)):
        # programs.py  values[i] += weight * (values[i - 1] - 2.0 * values[i] + ...
        work_bar_1 = work_bar[i]
        work[i] = work_tape.pop()
        weight_bar += work_bar_1 * (work[i - 1] - 2.0 * work[i] + work[i + 1])
        total_bar = weight * work_bar_1
        work_bar[i + 1] += total_bar
        work_bar[i] -= 2.0 * total_bar
        work_bar[i - 1] += total_bar
    return work_bar, float(weight_bar)
