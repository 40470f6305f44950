def tax_grad(income, bonus):
    # forward sweep
    base = income + (bonus if bonus < 1.0 else 0.6 * bonus)
    if base < 10.0:
        rate = 0.0
    else:
        both = 10.0 <= base < 50.0
        if both:
            rate = 0.2 + 0.001 * base
        else:
            rate = 0.4
    # reverse sweep
    base_bar = rate
    if not base < 10.0:
        if both:
            # programs.py  rate = 0.2 + 0.001 * base
            base_bar += 0.001 * base
    if bonus < 1.0:
        # programs.py  base = income + (bonus if bonus < 1.0 else 0.6 * bonus)
        bonus_bar = base_bar
    else:
        bonus_bar = 0.6 * base_bar
    return base_bar, bonus_bar
