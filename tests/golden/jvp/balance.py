def balance_jvp(principal, rate, payment, years, principal_dot, rate_dot, payment_dot):
    for _ in range(years):
        interest = principal * rate
        interest_dot = rate * principal_dot + principal * rate_dot
        principal_dot += interest_dot - payment_dot
        principal = principal + interest - payment
    return principal, principal_dot
