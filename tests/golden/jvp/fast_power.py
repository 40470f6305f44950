def fast_power_jvp(x, n, x_dot):
    if n == 0:
        result = 1.0
        result_dot = 0.0
    elif n % 2:
        fast_power_value, fast_power_value_dot = fast_power_jvp(x, n - 1, x_dot)
        result_dot = fast_power_value * x_dot + x * fast_power_value_dot
        result = x * fast_power_value
    else:
        half, half_dot = fast_power_jvp(x, n // 2, x_dot)
        result_dot = 2.0 * half * half_dot
        result = half * half
    return result, result_dot
