def bisection_jvp(low, high, c, low_dot, high_dot, c_dot):
    while high - low > 0.1:
        middle = 0.5 * (low + high)
        middle_dot = 0.5 * (low_dot + high_dot)
        if middle**3 - middle - 1.0 - c * middle > 0.0:
            high_dot = middle_dot
            high = middle
        else:
            low_dot = middle_dot
            low = middle
    f_low = low**3 - low - 1.0 - c * low
    f_low_dot = 3.0 * low**2 * low_dot - low_dot - (low * c_dot + c * low_dot)
    f_high = high**3 - high - 1.0 - c * high
    f_high_dot = 3.0 * high**2 * high_dot - high_dot - (high * c_dot + c * high_dot)
    difference = high - low
    quotient = f_low * difference / (f_high - f_low)
    product = quotient / (f_high - f_low) * (f_high_dot - f_low_dot)
    product_dot = difference * f_low_dot + f_low * (high_dot - low_dot)
    return low - quotient, low_dot - (product_dot / (f_high - f_low) - product)
