def exponential_grad(x):
    # forward sweep
    term = 1.0
    k = 1
    term_tape = []
    k_tape = []
    while True:
        term_tape.append(term)
        term = term * x / k
        if abs(term) > 1e-12:
            k_tape.append(k)
            k += 1
        else:
            break
    # reverse sweep
    term_bar = 0.0
    x_bar = 0.0
    while term_tape:
        if abs(term) > 1e-12:
            # programs.py  total += term
            k = k_tape.pop()
            term_bar += 1.0
        # programs.py  while abs(term := term * x / k) > 1e-12:
        product_bar = term_bar / k
        term = term_tape.pop()
        x_bar += product_bar * term
        term_bar = x * product_bar
    return x_bar
