def exponential_jvp(x, x_dot):
    total = 1.0
    term = 1.0
    k = 1
    term_dot = 0.0
    total_dot = 0.0
    while True:
        term_dot = (x * term_dot + term * x_dot) / k
        term = term * x / k
        if abs(term) > 1e-12:
            total_dot += term_dot
            total += term
            k += 1
        else:
            break
    return total, total_dot
