def appended_jvp(x, n, x_dot):
    terms = [x, x * x]
    terms_dot = [x_dot, 2.0 * x * x_dot]
    for k in range(2, n):
        terms_k = terms[k - 2]
        terms_dot.append(terms_dot[k - 1] + (terms_k * x_dot + x * terms_dot[k - 2]))
        terms.append(terms[k - 1] + x * terms_k)
    terms_item = terms[-1]
    terms_item_1 = terms[0]
    product_dot = terms_item_1 * terms_dot[-1] + terms_item * terms_dot[0]
    return terms_item * terms_item_1, product_dot
