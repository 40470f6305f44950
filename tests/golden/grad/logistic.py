def logistic_grad(x, rate, n):
    # forward sweep
    x_tape = []
    for _ in range(n):
        x_tape.append(x)
        x = rate * x * (1.0 - x)
    # reverse sweep
    # programs.py  return x
    x_bar = 1.0
    rate_bar = 0.0
    for _ in range(n):
        # programs.py  x = rate * x * (1.0 - x)
        x = x_tape.pop()
        product_bar = x_bar * (1.0 - x)
        rate_bar += product_bar * x
        x_bar = rate * product_bar - x_bar * rate * x
    return x_bar, rate_bar
