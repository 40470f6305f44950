def balance_grad(principal, rate, payment, years):
    # forward sweep
    principal_tape = []
    for _ in range(years):
        interest = principal * rate
        principal_tape.append(principal)
        principal = principal + interest - payment
    # reverse sweep
    # programs.py  return principal
    principal_bar = 1.0
    rate_bar = 0.0
    payment_bar = 0.0
    for _ in range(years):
        # programs.py  principal = principal + interest - payment
        payment_bar -= principal_bar
        # programs.py  interest = principal * rate
        principal = principal_tape.pop()
        rate_bar += principal_bar * principal
        principal_bar += rate * principal_bar
    return principal_bar, rate_bar, payment_bar
