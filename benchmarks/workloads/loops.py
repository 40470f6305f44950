"""Six plain loops of numbers, each with its adjoint as a person would write it.

`LOOPS` maps a name to (function, gradient by hand, arguments); every gradient is with
respect to the first argument.
"""

import math


def tanh_chain(x, n):
    for k in range(n):
        x = math.tanh(0.9 * x + 0.3)
    return x


def tanh_chain_by_hand(x, n):
    outputs = []
    for k in range(n):
        x = math.tanh(0.9 * x + 0.3)
        outputs.append(x)
    x_bar = 1.0
    for k in range(n):
        y = outputs.pop()
        x_bar = 0.9 * (x_bar * (1.0 - y * y))
    return x_bar


def affine_sum(x, n):
    total = 0.0
    for k in range(n):
        x = 0.5 * x + 1.0
        total += x
    return total


def affine_sum_by_hand(x, n):
    x_bar = 0.0
    for k in range(n):
        x_bar += 1.0
        x_bar *= 0.5
    return x_bar


def logistic_map(x, n):
    for k in range(n):
        x = 3.7 * x * (1.0 - x)
        if x > 0.9:
            x = x * 0.5
    return x


def logistic_map_by_hand(x, n):
    inputs, halved = [], []
    for k in range(n):
        inputs.append(x)
        x = 3.7 * x * (1.0 - x)
        is_big = x > 0.9
        halved.append(is_big)
        if is_big:
            x = x * 0.5
    x_bar = 1.0
    for k in range(n):
        if halved.pop():
            x_bar *= 0.5
        x = inputs.pop()
        x_bar = 3.7 * (1.0 - 2.0 * x) * x_bar
    return x_bar


def newton_roots(a, n):
    total = 0.0
    for k in range(n):
        y = a
        while abs(y * y - a) > 1e-10:
            y = 0.5 * (y + a / y)
        total += y
        a += 1e-6
    return total


def newton_roots_by_hand(a, n):
    guesses, trips, radicands = [], [], []
    for k in range(n):
        radicands.append(a)
        y = a
        count = 0
        while abs(y * y - a) > 1e-10:
            guesses.append(y)
            y = 0.5 * (y + a / y)
            count += 1
        trips.append(count)
        a += 1e-6
    a_bar = 0.0
    for k in range(n):
        a = radicands.pop()
        y_bar = 1.0
        for _ in range(trips.pop()):
            y = guesses.pop()
            a_bar += 0.5 * y_bar / y
            y_bar = 0.5 * (y_bar - y_bar * a / (y * y))
        a_bar += y_bar
    return a_bar


def leapfrog(x, n):
    v = 0.0
    for k in range(n):
        v -= 0.01 * math.sin(x)
        x += 0.01 * v
    return 0.5 * v * v - math.cos(x)


def leapfrog_by_hand(x, n):
    v = 0.0
    angles = []
    for k in range(n):
        angles.append(x)
        v -= 0.01 * math.sin(x)
        x += 0.01 * v
    v_bar = v
    x_bar = math.sin(x)
    for k in range(n):
        x = angles.pop()
        v_bar += 0.01 * x_bar
        x_bar -= 0.01 * math.cos(x) * v_bar
    return x_bar


def running_product(x, n):
    product, total = 1.0, 0.0
    for k in range(1, n):
        product = product * x / (1.0 + 1e-4 * k)
        total += product / k
    return total


def running_product_by_hand(x, n):
    product = 1.0
    products = []
    for k in range(1, n):
        products.append(product)
        product = product * x / (1.0 + 1e-4 * k)
    product_bar = x_bar = 0.0
    for k in range(n - 1, 0, -1):
        product_bar += 1.0 / k
        scaled = product_bar / (1.0 + 1e-4 * k)
        x_bar += scaled * products.pop()
        product_bar = scaled * x
    return x_bar


LOOPS = {
    "tanh chain": (tanh_chain, tanh_chain_by_hand, (0.2, 50_000)),
    "affine sum": (affine_sum, affine_sum_by_hand, (0.2, 50_000)),
    "logistic map": (logistic_map, logistic_map_by_hand, (0.3, 50_000)),
    "Newton roots": (newton_roots, newton_roots_by_hand, (2.0, 10_000)),
    "leapfrog": (leapfrog, leapfrog_by_hand, (1.0, 50_000)),
    "running product": (running_product, running_product_by_hand, (0.99, 50_000)),
}
