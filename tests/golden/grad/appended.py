def appended_grad(x, n):
    # forward sweep
    terms = [x, x * x]
    for k in range(2, n):
        terms.append(terms[k - 1] + x * terms[k - 2])
    # reverse sweep
    terms_bar = [0.0] * len(terms)
    # programs.py  return terms[-1] * terms[0]
    terms_bar[0] += terms[-1]
    terms_bar[-1] += terms[0]
    x_bar = 0.0
    for k in reversed(range(2, n)):
        # programs.py  terms.append(terms[k - 1] + x * terms[k - 2])
        total_bar = terms_bar.pop()
        terms.pop()
        x_bar += total_bar * terms[k - 2]
        terms_bar[k - 2] += x * total_bar
        terms_bar[k - 1] += total_bar
    # programs.py  terms = [x, x * x]
    product_bar = terms_bar.pop()
    x_bar += terms_bar.pop() + x * product_bar
    return x_bar + x * product_bar
