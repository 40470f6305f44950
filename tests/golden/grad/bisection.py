def bisection_grad(low, high, c):
    # forward sweep
    gt_tape = []
    trips = 0
    while high - low > 0.1:
        trips += 1
        middle = 0.5 * (low + high)
        gt = middle ** 3 - middle - 1.0 - c * middle > 0.0
        gt_tape.append(gt)
        if gt:
            high = middle
        else:
            low = middle
    f_low = low ** 3 - low - 1.0 - c * low
    f_high = high ** 3 - high - 1.0 - c * high
    difference = high - low
    # reverse sweep
    # programs.py  return low - f_low * (high - low) / (f_high - f_low)
    difference_1 = f_high - f_low
    quotient = 1 / difference_1
    difference_bar = f_low * difference / (f_high - f_low) / difference_1
    product = f_low * quotient
    # programs.py  f_high = high**3 - high - 1.0 - c * high
    high_bar = difference_bar * (3 * high ** 2) - (product + c * difference_bar +
        difference_bar)
    # programs.py  f_low = low**3 - low - 1.0 - c * low
    product_bar = difference_bar + difference * quotient
    low_bar = 1.0 + product + c * product_bar + product_bar - product_bar * (3 * low **
        2)
    for _ in range(trips):
        middle_bar = 0.0
        if gt_tape.pop():
            # programs.py  high = middle
            middle_bar += high_bar
            high_bar = 0.0
        else:
            # programs.py  low = middle
            middle_bar += low_bar
            low_bar = 0.0
        # programs.py  middle = 0.5 * (low + high)
        total_bar = 0.5 * middle_bar
        high_bar += total_bar
        low_bar += total_bar
    return low_bar, high_bar, low * product_bar - high * difference_bar
