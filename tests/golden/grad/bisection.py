def bisection_grad(low, high, c):
    # forward sweep
    is_positive_tape = []
    while high - low > 0.1:
        middle = 0.5 * (low + high)
        is_positive = middle**3 - middle - 1.0 - c * middle > 0.0
        is_positive_tape.append(is_positive)
        if is_positive:
            high = middle
        else:
            low = middle
    f_low = low**3 - low - 1.0 - c * low
    f_high = high**3 - high - 1.0 - c * high
    difference = high - low
    difference_1 = f_high - f_low
    # reverse sweep
    # programs.py  return low - f_low * (high - low) / (f_high - f_low)
    difference_bar = f_low * difference / difference_1 / difference_1
    # programs.py  f_high = high**3 - high - 1.0 - c * high
    total = f_low / difference_1 + c * difference_bar + difference_bar
    high_bar = 3.0 * difference_bar * high**2 - total
    # programs.py  f_low = low**3 - low - 1.0 - c * low
    product_bar = difference_bar + difference / difference_1
    low_bar = 1.0 + f_low / difference_1 + c * product_bar + product_bar
    low_bar -= 3.0 * product_bar * low**2
    while is_positive_tape:
        if is_positive_tape.pop():
            # programs.py  high = middle
            middle_bar = high_bar
            high_bar = 0.0
        else:
            # programs.py  low = middle
            middle_bar = low_bar
            low_bar = 0.0
        # programs.py  middle = 0.5 * (low + high)
        total_bar = 0.5 * middle_bar
        high_bar += total_bar
        low_bar += total_bar
    return low_bar, high_bar, product_bar * low - difference_bar * high
