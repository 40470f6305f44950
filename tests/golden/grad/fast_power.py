def fast_power_forward(x, n, tape):
    fast_power_value = None
    half = None
    if n == 0:
        result = 1.0
    elif n % 2:
        fast_power_value = fast_power_forward(x, n - 1, tape)
        result = x * fast_power_value
    else:
        half = fast_power_forward(x, n // 2, tape)
        result = half * half
    tape.append(fast_power_value)
    tape.append(half)
    return result


def fast_power_backward(x, n, result_bar, tape):
    half = tape.pop()
    fast_power_value = tape.pop()
    x_bar = 0.0
    if n != 0:
        if n % 2:
            # programs.py  return x * fast_power(x, n - 1)
            x_bar_1 = fast_power_backward(x, n - 1, x * result_bar, tape)
            x_bar += fast_power_value * result_bar + x_bar_1
        else:
            # programs.py  half = fast_power(x, n // 2)
            x_bar += fast_power_backward(x, n // 2, 2.0 * half * result_bar, tape)
    return x_bar


def fast_power_grad(x, n):
    tape = []
    fast_power_forward(x, n, tape)
    return fast_power_backward(x, n, 1.0, tape)
