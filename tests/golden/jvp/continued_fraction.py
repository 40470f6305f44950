def continued_fraction_jvp(terms, terms_dot):
    value = 0.0
    value_dot = 0.0
    for i in reversed(range(len(terms))):
        a = terms[i]
        total = a + value
        value = 1.0 / total
        value_dot = -(value / total * (terms_dot[i] + value_dot))
    return value, value_dot
