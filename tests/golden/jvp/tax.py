def tax_jvp(income, bonus, income_dot, bonus_dot):
    if bonus < 1.0:
        chosen_dot = bonus_dot
        chosen = bonus
    else:
        chosen_dot = 0.6 * bonus_dot
        chosen = 0.6 * bonus
    base = income + chosen
    base_dot = income_dot + chosen_dot
    if base < 10.0:
        rate = 0.0
        rate_dot = 0.0
    elif 10.0 <= base < 50.0:
        rate_dot = 0.001 * base_dot
        rate = 0.2 + 0.001 * base
    else:
        rate = 0.4
        rate_dot = 0.0
    return rate * base, base * rate_dot + rate * base_dot
