import math


def log_sum_exp_jvp(a, a_dot):
    largest = a[0]
    largest_dot = a_dot[0]
    for i in range(1, len(a)):
        if a[i] > largest:
            largest_dot = a_dot[i]
            largest = a[i]
    total = 0.0
    total_dot = 0.0
    for x, x_dot in zip(a, a_dot):
        exp = math.exp(x - largest)
        total_dot += exp * (x_dot - largest_dot)
        total += exp
    return largest + math.log(total), largest_dot + total_dot / total
