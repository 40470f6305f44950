"""Lists of run-time length: value, gradient and jvp are those of Python's list."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check, differences, near

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51])


# ---- numbers -----------------------------------------------------------------------


def recurrence(x, n):
    f = [x, x * x]
    for i in range(2, n):
        f.append(f[i - 1] + x * f[i - 2])
    return f[-1] * f[0]


def list_recurrence(x, n):
    f = [x, x * x]
    for i in range(2, n):
        f.append(f[i - 1] + x * f[i - 2])
    f[3] = f[3] ** 2
    last = f.pop()
    f.insert(0, last / 2)
    f.extend([x + 1.0, 2.0])
    f[1:3] = [f[2] * 2.0, f[1]]
    return sum(v * (k + 1) for k, v in enumerate(f)) - f[-2] * f[0]


def put_tree(spot, vol, n):
    up = math.exp(vol / n)
    p = (1.02 - 1.0 / up) / (up - 1.0 / up)
    values = [max(1.1 - spot * up ** (2 * j - n), 0.0) for j in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            hold = 0.98 * (p * values[j + 1] + (1 - p) * values[j])
            exercise = 1.1 - spot * up ** (2 * j - i)
            values[j] = exercise if exercise > hold else hold
    return values[0]


def a_stack(x):
    stack = []
    for v in x:
        while stack and stack[-1] > v:
            stack.pop()
        stack.append(v * v)
    return sum(stack) * len(stack)


def a_queue(x, n):
    queue = [x[0], x[1] * x[0]]
    total = 0.0
    for k in range(n):
        first = queue.pop(0)
        total += first * x[k % len(x)]
        queue.append(first * queue[0] + x[2])
    return total + queue[-1]


def positions(x, n):
    xs = [x[0], x[1]]
    for k in range(n):
        xs.insert(k, x[k % 4] * xs[-1])
        xs.insert(-1, xs[0] * x[2])
        xs.insert(100, x[3])
        xs.insert(-100, xs[k] ** 2)
        xs.insert(2, xs[k // 2] * 0.5)
    a = xs.pop(1)
    b = xs.pop(-2)
    total = a * b
    for k in range(n):
        total += xs.pop(k) * xs.pop(k - 3) * x[0]
    return total + sum(v * v for v in xs)


def stores_by_position(x, n):
    w = [0.0] * n
    for k in range(n):
        w[k] = x[k % 4] ** 2
    for k in range(1, n):
        w[k] += w[k - 1] * x[0]
        w[-k] *= 0.5 + w[k]
        w[k] -= w[0]
        w[k - 1] /= 2.0 + w[k] ** 2
    return sum(w) + w[n // 2] * w[0]


def overwritten(x, n):
    a = [x, x * x]
    for k in range(n):
        a[0] = a[1] * a[0]
        a[1] = a[0] + x * a[1]
    return a[0] * a[1]


def a_branch_that_appends(x):
    above, below = [], [0.5]
    for v in x:
        if v > 0.6:
            above.append(v * v)
        else:
            below.append(v)
            if len(below) > 2:
                above.append(below[-2] * v)
    return sum(above) * below[-1]


def breaks(x, n):
    xs = [x[0]]
    for k in range(n):
        xs.append(xs[-1] * x[k % 4] + 1.0)
        if xs[-1] > 2.0:
            break
        xs.append(x[1])
    return xs[-1] * xs[len(xs) // 2]


def begins_in_a_loop(x, n):
    total = 0.0
    for k in range(n):
        row = [x[0] * (k + 1)]
        for j in range(k):
            row.append(row[j] * x[j % 4] + x[2])
        total += sum(row) * row[-1]
    return total


def begins_in_a_loop_that_breaks(x, n):
    total = 0.0
    for k in range(n):
        row = [x[0] * (k + 1)]
        for j in range(k):
            row.append(row[j] * x[j % 4] + x[2])
            if j > 2:
                total += row[-2]
                break
        if k > 3:
            total += row[0] * row[-1]
            break
        row.append(x[1])
        total += sum(row) * row[-1]
    return total


def begins_in_a_while_loop(x):
    total, k = x[0], 0
    while True:
        xs = [total]
        for v in x:
            xs.append(xs[-1] * v + 0.3)
        k += 1
        total = total + xs[-1] * xs[1]
        if k > 3:
            break
    return total


def begins_in_a_branch(x, n):
    total = 0.0
    for k in range(n):
        if k % 2:
            xs = []
            for v in x:
                xs.append(v * (k + 1))
            total += xs[0] * xs[-1]
        else:
            total += x[k % 4] ** 2
    return total


def slices(x, n):
    xs = [x[k % 4] * (k + 1) for k in range(n)]
    ys = xs[1:]
    ys[0] = ys[0] * xs[0]
    zs = xs[::-1]
    zs.append(ys[0] * ys[-1])
    middle = xs[1:-1]
    tail = xs[-3:]
    two = xs[: n // 2]
    every = xs[1::2]
    back = xs[4:0:-2]
    total = sum(zs) * tail[0] + sum(middle) * two[-1] + sum(every) * back[0]
    return total + sum(back) * xs[-1] + zs[0]


def slice_stores(x, n):
    xs = [x[k % 4] * (k + 1) for k in range(n)]
    xs[1:3] = [xs[2] * 2.0, xs[1], x[0] * xs[0]]
    xs[-2:] = []
    xs[:1] = (x[1], x[2])
    xs[n:] = x
    xs[2:2] = xs[0:2]
    return sum(v * v * (k + 1) for k, v in enumerate(xs))


def joins(x, n):
    xs = [v * v for v in x]
    ys = xs + [x[0]] * n
    ys += xs
    ys += (x[1], x[2])
    ys.extend(x)
    ys.extend(xs[1:3])
    ys.extend(ys)
    zs = [1.0] + ys[:2] * n
    return sum(v * (k + 1) for k, v in enumerate(ys)) * zs[-1] + zs[1]


def copies(x, n):
    xs = list(x)
    ys = xs.copy()
    zs = list(xs)
    us = xs[:]
    for k in range(n):
        xs[k] = xs[k] * ys[0]
        ys[k] = x[0] * zs[-1]
        zs.append(xs[k] * us[k])
        us.reverse()
    return sum(xs) * sum(ys) + sum(zs) * us[0]


def an_alias(x, n):
    xs = [x]
    ys = xs
    for _ in range(n):
        ys.append(xs[-1] * x)
    return xs[-1] * len(xs)


def loops_over_lists(x, n):
    xs = [v * v for v in x]
    ys = [k * x[0] for k in range(n)]
    total = 0.0
    for v in xs:
        total += v * v
    for k, v in enumerate(ys):
        total += v * xs[k % 4]
    for a, b in zip(xs, ys, strict=False):
        total *= 1.0 + a * b
    for v in reversed(ys):
        total = total * 0.5 + v
    for k, (a, b) in enumerate(zip(reversed(xs), x, strict=False)):
        total += a * b * k
    return total


def extremes(x, n):
    xs = [v * math.cos(k) for k, v in enumerate(x)]
    for k in range(n):
        xs.append(max(xs) * 0.5 + min(xs[1:]) * x[k % 4])
    return max(xs) - min(xs)


def unpacked(x, n):
    ps = [x[0]]
    for k in range(n):
        ps.append(ps[-1] * x[k % 4])
    a, b, c = ps
    return a * b - c * c


def comprehensions(x, n):
    squares = [v * v for v in x if v > 0.0]
    table = [a * b for a in squares for b in x if b < 1.0]
    cubes = [v**3 + k for k, v in enumerate(table)]
    fixed = [x[k] * k for k in range(4)]
    fixed += [squares[0]]
    return sum(cubes) * fixed[-1] + sum(w * w for w in table) * len(squares)


def list_of_ints(x, n):
    order = []
    for k in range(n):
        order.append((k * k) % 4)
    total = 0.0
    for k, j in enumerate(order):
        total += x[j] * (k + 1)
    return total * x[order[-1]]


def ints_that_become_floats(x, n):
    xs = [1, 2]
    for k in range(n):
        xs.append(xs[-1] * x + xs[k])
    return xs[-1] + xs[0]


def pairs(x, n):
    points = [(x[0], 1.0)]
    for k in range(n):
        a, b = points[-1]
        points.append((a * x[k % 4], b + a))
    total = 0.0
    for a, b in points:
        total += a * b
    for k, (a, _) in enumerate(points):
        total += a * k
    return total + np.sum(np.array(points) ** 2)


def used_by_helpers(x, n):
    def fill(xs, k):
        xs.append(xs[-1] * x[k % 4])
        return xs

    def energy(values):
        total = 0.0
        for v in values:
            total += v * v
        return total

    xs = [x[1]]
    for k in range(n):
        same = fill(xs, k)
        if k == 2:
            same.append(x[0])
    return energy(xs) + energy(xs[1:]) * energy(x)


def makes_a_list(x, n):
    def powers(v, n):
        out = [1.0]
        for _ in range(n):
            out.append(out[-1] * v)
        return out

    a, b = powers(x[0], n), powers(x[1] * x[2], n + 1)
    a[1] = b[2] * a[2]
    return sum(a) + sum(b) * a[1]


def straight(x, n):
    f = [x, x * x]
    f.append(f[0] * f[1])
    g = f
    f.insert(0, f.pop())
    g.extend([x + 1.0, 2.0])
    f[1:3] = [f[2] * 2.0, f[1]]
    f[3] = f[3] * g[0]
    f[-1] *= x
    f.reverse()
    g += [f[0]]
    return sum(v * (k + 1) for k, v in enumerate(g)) - f[-2] * f[0] * len(f)


# ---- and arrays --------------------------------------------------------------------


def to_arrays(x, n):
    xs, ys = [], []
    for k in range(n):
        xs.append(x[k % 4] * np.cos(k) + x[0] * k)
        ys.append(x[1] * np.sin(x[k % 4]))
    points = np.stack([np.array(xs), np.asarray(ys)], axis=1)
    cross = points[:, 0] * np.roll(points, -1, axis=0)[:, 1]
    xs[0] = xs[0] * 2.0
    return np.sum(cross) + np.mean(points**2) + np.max(xs) * np.dot(xs, ys)


def history(x, n):
    u = x * 1.0
    states = [u]
    for k in range(n):
        u = u * np.sin(states[k]) + x[k % 4]
        states.append(u)
    all_of_them = np.stack(states)
    return np.sum(all_of_them**2) + np.sum(states[-1] * states[0])


def copies_of_what_changes(x, n):
    u = x * 1.0
    states = []
    for k in range(n):
        u[k % 4] = u[(k + 1) % 4] * x[0] + 0.1
        states.append(u.copy())
    return np.sum(np.array(states) * x) * np.sum(states[1])


def popped_arrays(x, n):
    stack = [x * x, x]
    for k in range(n):
        a = stack.pop()
        b = stack.pop(0)
        stack.append(a * b)
        stack.insert(0, np.cos(a) * x[k % 4])
        stack[1] = stack[1] + b
    return np.sum(stack[0] * stack[1])


def concatenated(x, n):
    parts = []
    for k in range(n):
        parts.append(x * (k + 1.0))
    rows = np.concatenate(parts)
    table = np.vstack(parts)
    columns = np.column_stack(parts)
    return np.sum(rows**2) + np.sum(table @ columns) + np.sum(np.hstack(parts) * rows)


def summed_arrays(x, n):
    terms = [x * k for k in range(n)]
    total = sum(terms)
    return np.sum(total**2) + np.sum(np.sum(terms, axis=0) * np.mean(terms, axis=1)[0])


# ---- variables that a loop or branch assigns ---------------------------------------


def pascal(x, n):
    row = [x]
    for _ in range(n):
        new = [1.0]
        for j in range(len(row) - 1):
            new.append(row[j] + x * row[j + 1])
        new.append(x * row[-1])
        row = new
    return sum(v * (k + 1) for k, v in enumerate(row))


def tree_of_new_lists(x, n):
    values = [max(1.1 - x * 1.1 ** (2 * j - n), 0.0) for j in range(n + 1)]
    for i in range(n):
        values = [0.4 * values[j] + 0.5 * values[j + 1] * x for j in range(n - i)]
    return values[0]


def edit_distance(x, n):
    last = [0.1 * j for j in range(n + 1)]
    for i in range(len(x)):
        row = [0.1 * i + x[0]]
        for j in range(n):
            cost = (x[i] - 0.3 * j) ** 2
            row.append(min(last[j] + cost, row[-1] + 0.2, last[j + 1] + 0.15 * x[1]))
        last = row
    return last[-1] + last[1]


def grows_by_sums(x, n):
    xs = []
    for k in range(n):
        xs = xs + [x[k % 4] * (k + 1)]  # noqa: RUF005
    return sum(v * v for v in xs)


def shrinks(x):
    xs = list(x)
    total = 0.0
    while xs:
        total = total * xs[0] + sum(xs)
        xs = xs[1:]
    return total


def read_after_the_loop(x, n):
    for k in range(n):
        row = [x[k % 4] * j for j in range(k + 1)]
        row.append(x[0])
    return sum(row) * len(row)


def assigned_in_a_branch(x, n):
    xs = [x[0], x[1]]
    for k in range(n):
        if x[k % 4] > 0.6:
            xs = [v * 0.5 for v in xs]
        else:
            xs.append(x[2] * xs[-1])
    return sum(v * v for v in xs)


def by_two_names(x, n):
    xs = [x[0], x[1]]
    for _ in range(n):
        ys = xs[:]
        ys.append(xs[0] * xs[-1])
        ys[0] = ys[1] * x[2]
        xs = ys
        xs.append(x[3] * ys[-1])
    return sum(xs)


def new_lists_of_arrays(x, n):
    states = [x, x * x]
    for k in range(n):
        states = [np.sin(s) * x[k % 4] for s in states]
        states.append(states[0] * states[1])
    return np.sum(np.array(states) ** 2)


def multiplied_in_place(x, n):
    xs = [v * v for v in x]
    same = xs
    xs *= 2
    short = [x[0], x[1]]
    also = short
    short *= n
    also.append(x[2])
    gone = list(x)
    still = gone
    gone *= -1
    none = [x[0]]
    never = none
    none *= 0
    counts = len(still) + len(never) + 1.0
    return sum(same) * sum(short) * counts + len(same) * len(also)


def multiplied_by_a_number_of_the_run(x, n):
    xs = [v * v for v in x]
    for k in range(n):
        ys = xs
        ys *= k % 3
        xs.append(x[k % 4] * len(ys))
    return sum(v * (k + 1) for k, v in enumerate(xs))


def arrays_beside_lists(x):
    known = [x[0], x[1], x[2], x[3]]
    of_the_run = [v * v for v in x]
    kept = of_the_run
    known += x
    of_the_run *= x
    return np.sum(known * of_the_run) + sum(kept) * known[0]


def items_changed_in_place(x):
    row, y = [x[0], x[1]], x * 2.0
    rows, arrays = [row, [x[2]]], [y, x * x]
    rows[0] += [x[3] ** 2]
    rows[1] *= 2
    arrays[0] *= x
    arrays[1][1:] += y[0]
    total = sum(row) * len(row) + sum(rows[1]) * len(rows[1])
    return total + np.sum(y) * np.sum(arrays[1] ** 2)


def arrays_under_two_names(x):
    layers = [x * 1.0, x * 2.0]
    frames = layers
    pairs = [[x * 3.0], layers]
    layers[0] = x * layers[1]
    frames.append(x * frames[0])
    return np.sum(frames[0] * layers[2]) + np.sum(pairs[1][0]) * len(pairs[1])


def numbers_that_do_not_vary(x, n):
    fixed = [0.5, 0.4, 0.3]
    total = 0.0
    for k in range(n):
        more = fixed + [x[k]]  # noqa: RUF005
        part = fixed[1:]
        part.append(x[k - 1])
        fixed.append(1.0)
        total += sum(v * v for v in more) + part[-1] * part[0]
    while len(fixed) > 2:
        fixed.pop()
    ends = fixed[::-1] + [x[0], x[1]]  # noqa: RUF005
    arrays = [np.ones(4) * k for k in range(n)]
    others = arrays[1:]
    others.append(x)
    others[0] = others[0] * x
    total += np.sum(np.array(others) ** 2) + np.sum(sum(arrays))
    return total * ends[-1] * ends[0]


def other_names_of_lists_of_arrays(x):
    def fill(s):
        s[0] = s[1] * x
        s.append(x)
        return s

    layers, states = [x * 1.0, x * 2.0], [x * 1.0, x * 3.0]
    frames, same = layers, fill(states)
    for i in range(len(layers)):
        layers[i] = 0.5 * layers[i] + 0.2 * layers[0]
    same[0] = x * 0.7
    states[1][0] = 2.0 * x[1]
    rows = []
    rows.append(states)
    rows.insert(0, [x])
    states[2] = x * x
    rows[1].append(x)
    nested = [[x * 1.0, x], [x]]
    row = nested[0]
    row[0] = x * 0.7
    nested[0][1] = nested[1][0] * x
    total = np.sum(sum(frames) ** 2) + np.sum(sum(same) ** 2 * sum(states))
    return total + np.sum(sum(rows[1]) ** 2) + np.sum(sum(row) ** 2)


def handed_over_in_an_iterable(x, n):
    def total(items):
        s = 0.0
        for v in items:
            if v > 100.0:
                break
            s = s * 0.5 + v * v
        return s

    def products(pairs):
        s = 0.0
        for a, b in pairs:
            if a * b > 100.0:
                break
            s = s * 0.5 + a * b
        return s

    xs, y = [v * k for k, v in enumerate(x)], x * 2.0
    y[0] = x[1] ** 2
    result = total(reversed(xs)) * total(reversed(x * x)) + total(reversed(y))
    result += products(zip(xs, reversed(x * x)))
    result += products(zip(x, reversed(xs)))
    result += products(enumerate(xs))
    return result * total(range(n)) + sum(reversed(xs)) * sum(reversed(y * y))


def appended_of_another_length(x, n):
    """What a list of a variable's own holds is settled where its items come from."""
    total = 0.0
    for _ in range(2):
        for _ in range(n):
            frames = [x * k for k in range(n)]
        frames.append(x[1:].copy())
        total += sum(np.sum(row**2) for row in frames)
    return total


def views_among_the_items(x, n):
    items = [x, x[None].squeeze(0)]
    for _ in range(n):
        items.append(x[::-1])
    while len(items) > 1:
        last = items.pop()
        items[-1] = items[-1] + 0.3 * last * x
    return np.sum(items[0] ** 2) + np.sum(x)


def buffers_that_change_places(x, n):
    prev, cur = [0.0] * (n + 1), [0.0] * (n + 1)
    a, b, c = [v * v for v in x], [v * 2.0 for v in x], [1.0] * 4
    for i in range(3):
        for j in range(1, n + 1):
            cur[j] = prev[j] * cur[j - 1] + x[i] * x[j % 4] * prev[j - 1] + x[i]
        prev, cur = cur, prev
        for j in range(4):
            c[j] = a[j] * b[j] + x[j] * 0.3
        a, b, c = b, c, a
        if x[i] > 0:
            a, c, i = c, [v * x[i] for v in a], i + 1
    return sum(prev) * prev[-1] + sum(cur) + sum(a) * sum(b) + c[0] * c[1]


def buffers_that_are_looked_at(x, n):
    """What one sweep takes from a tape and changes, the next one finds unchanged."""
    prev, cur = [0.0] * (n + 1), [0.0] * (n + 1)
    for v in x:
        for j in range(1, n + 1):
            cur[j] = max(prev[j], cur[j - 1]) + v * prev[j - 1] + v
        prev, cur = cur, prev
    return prev[-1] * prev[-1]


def rows_of_a_table(x, n):
    prev, cur = [0.0] * n, [v * v for v in x[:n]]
    a, b = [v * v for v in x], [v * 2.0 for v in x]
    for k in range(3):
        prev = cur
        cur = [v * x[k] + 1.0 for v in prev]
        cur[0] = cur[0] * prev[-1]
        for j in range(4):
            b[j] = a[j] * a[j - 1] + b[j]
        t = a
        a = b
        b = t
    total = sum(v * w for v, w in zip(prev, cur, strict=False))
    return total + sum(v * v * k for k, v in enumerate(a)) + sum(b) * x[1]


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (recurrence, (1.3, 2)),
    (recurrence, (1.3, 7)),
    (list_recurrence, (0.9, 7)),
    (put_tree, (1.0, 0.7, 5)),
    (a_stack, (X,)),
    (a_queue, (X, 0)),
    (a_queue, (X, 6)),
    (positions, (X, 4)),
    (stores_by_position, (X, 6)),
    (overwritten, (0.8, 4)),
    (a_branch_that_appends, (X,)),
    (breaks, (X, 9)),
    (breaks, (np.abs(X) * 3.0, 9)),
    (begins_in_a_loop, (X, 5)),
    (begins_in_a_loop_that_breaks, (X, 3)),
    (begins_in_a_loop_that_breaks, (X, 9)),
    (begins_in_a_while_loop, (X,)),
    (begins_in_a_branch, (X, 5)),
    (slices, (X, 7)),
    (slice_stores, (X, 6)),
    (joins, (X, 2)),
    (copies, (X, 4)),
    (an_alias, (0.9, 5)),
    (loops_over_lists, (X, 5)),
    (extremes, (X, 3)),
    (unpacked, (X, 2)),
    (comprehensions, (X, 3)),
    (list_of_ints, (X, 5)),
    (ints_that_become_floats, (0.7, 4)),
    (pairs, (X, 4)),
    (used_by_helpers, (X, 5)),
    (makes_a_list, (X, 4)),
    (straight, (1.1, 3)),
    (to_arrays, (X, 5)),
    (history, (X, 3)),
    (copies_of_what_changes, (X, 5)),
    (popped_arrays, (X, 3)),
    (concatenated, (X, 3)),
    (summed_arrays, (X, 4)),
    (pascal, (0.9, 4)),
    (tree_of_new_lists, (1.0, 4)),
    (edit_distance, (X, 3)),
    (grows_by_sums, (X, 4)),
    (shrinks, (X,)),
    (read_after_the_loop, (X, 3)),
    (assigned_in_a_branch, (X, 5)),
    (by_two_names, (X, 3)),
    (new_lists_of_arrays, (X, 2)),
    (multiplied_in_place, (X, 3)),
    (multiplied_by_a_number_of_the_run, (X, 6)),
    (arrays_beside_lists, (X,)),
    (items_changed_in_place, (X,)),
    (arrays_under_two_names, (X,)),
    (numbers_that_do_not_vary, (X, 3)),
    (other_names_of_lists_of_arrays, (X,)),
    (handed_over_in_an_iterable, (X, 3)),
    (appended_of_another_length, (X, 3)),
    (views_among_the_items, (X, 2)),
    *((buffers_that_change_places, (X, n)) for n in (0, 1, 3)),
    *((buffers_that_are_looked_at, (X, n)) for n in (1, 2)),
    *((rows_of_a_table, (X, n)) for n in (1, 4)),
]
NAMES = [f.__name__ for f, _ in PROGRAMS]


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=NAMES)
def test_against_differences(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    check(f, *args)


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=NAMES)
def test_second_order(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    x, others = args[0], args[1:]

    def along(x):
        return np.sum(gw.grad(f)(x, *others) * x)

    gradient = gw.grad(along)(x)
    slope = differences(along, (x,), (np.ones_like(x),))
    near(np.sum(gradient), slope, 1e-5, "second order and differences")
    tangent = gw.jvp(along, (x,), (x * 0.0 + 1.0,))[1]
    near(tangent, slope, 1e-5, "forward over reverse and differences")


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=NAMES)
def test_the_hessian_is_of_one_sweep_at_a_time(
    f: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    """No trip over the unit vectors sees what another has put into a list."""
    slope, x = gw.grad(f), args[0]
    units = np.eye(np.size(x)).reshape(np.size(x), *np.shape(x))
    columns = [
        gw.jvp(lambda x: slope(x, *args[1:]), (x,), (e if np.ndim(x) else 1.0,))[1]
        for e in units
    ]
    hessian = np.asarray(gw.hessian(f)(*args)).reshape(*np.shape(x), np.size(x))
    found = np.moveaxis(hessian, -1, 0)
    np.testing.assert_allclose(found, columns, rtol=1e-9, atol=1e-9)
    rows = np.asarray(gw.jacrev(slope)(*args)).reshape(*np.shape(x), np.size(x))
    np.testing.assert_allclose(np.moveaxis(rows, -1, 0), columns, rtol=1e-9, atol=1e-9)


def test_the_items_of_a_list_need_not_be_numbers_yet() -> None:
    def f(x):
        best = []
        for v in x:
            if not best or v > best[-1]:
                best.append(v * v)
        return sum(best)

    check(f, X)


def test_vjp_inside_a_program_of_lists() -> None:
    def powers(x, n):
        out = [1.0]
        for _ in range(n):
            out.append(out[-1] * x)
        return sum(v * v for v in out)

    def f(x):
        value, pull = gw.vjp(lambda x: powers(x, 4), x)
        return value * pull(1.0)[0] + pull(x)[0]

    def slope(x, n):
        return sum(gw.grad(powers)(x, k) for k in range(n))

    h = 1e-6
    value = f(1.1)
    assert value == f(1.1)
    tangent = gw.jvp(f, (1.1,), (1.0,))[1]
    near(tangent, (f(1.1 + h) - f(1.1 - h)) / (2 * h), 1e-6, "jvp over vjp")
    check(slope, 1.1, 3, exact=False)


def test_a_derivative_inside_changes_no_list_of_the_program() -> None:
    def h(xs, n):
        for _ in range(n):
            xs.append(xs[-1] * xs[0])
        xs[0] = 2.0 * xs[1]
        return sum(xs)

    def f(x):
        xs = [x[0], x[1]]
        slope = gw.grad(h)(xs, 3)
        value, pull = gw.vjp(h, xs, 2)
        return slope[0] * value + sum(xs) * pull(1.0)[0][1] + len(xs)

    check(f, X)


def test_a_derivative_inside_of_a_list_of_the_run_is_refused() -> None:
    def f(x):
        return gw.vjp(sum, [v * v for v in x])[0]

    def g(x):
        return gw.grad(lambda xs: xs[0] * x[0], argnums=0)([v * v for v in x])[0]

    def h(x):
        return gw.jvp(lambda xs: xs, ([x[0]],), ([1.0],))[1][0]

    for program in (f, g):
        with pytest.raises(gw.GradwrightError, match=r"grad|vjp|derivative"):
            gw.grad(program)(X)
    assert gw.value_and_grad(h)(X)[0] == 1.0


def test_python_raises_as_it_does() -> None:
    def empty(x):
        xs = list(x)
        for _ in range(5):
            xs.pop()
        return xs[0]

    def outside(x, k):
        xs = [v * v for v in x]
        return xs[k]

    def stored(x, k):
        xs = [v * v for v in x]
        xs[k] = x[0]
        return sum(xs)

    def few(x):
        a, b = [v * v for v in x]
        return a * b

    def of_a_float(x):
        xs = [v * v for v in x]
        return xs[x[0]]

    for f, args in ((empty, ()), (outside, (4,)), (stored, (-5,)), (few, ())):
        with pytest.raises((IndexError, ValueError)) as wanted:
            f(X, *args)
        for derived in (gw.grad(f), lambda *a, f=f: gw.jvp(f, a, a)):
            with pytest.raises(type(wanted.value)) as caught:
                derived(X, *args)
            assert str(caught.value) == str(wanted.value)
    with pytest.raises(TypeError, match="list indices must be integers or slices"):
        gw.grad(of_a_float)(X)


def appended_to_what_is_kept(x, n):
    """Lists on a tape get items in every sweep, which another one must not see."""
    y = np.zeros(3)
    for i in range(3):
        for _ in range(n):
            frames = [x * k for k in range(n)]
        frames.append(x[1:].copy())
        y[i] = x[i] * sum(np.sum(row**2) for row in frames)
    return y


def test_every_sweep_has_lists_of_its_own() -> None:
    wanted = gw.jacfwd(appended_to_what_is_kept)(X, 2)
    found = gw.jacrev(appended_to_what_is_kept)(X, 2)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    _, pull = gw.vjp(lambda x: appended_to_what_is_kept(x, 2), X)
    for unit, row in zip(np.eye(3), wanted, strict=True):
        np.testing.assert_allclose(pull(unit)[0], row, rtol=1e-9)


def the_same_twice(x):
    a, b = [v * v for v in x], [v * 2.0 for v in x]
    for v in x:
        a, b = b, b
        a[0] = v * b[1]
    return sum(b)


def read_again(x):
    a, b = [v * v for v in x], [v * 2.0 for v in x]
    for v in x:
        b = a
        a[0] = v * b[1]
    return sum(b)


def of_a_caller(x):
    def grown(items):
        for v in x:
            items = [w * v for w in items]
        return sum(items)

    a, total = [v * v for v in x], 0.0
    for _ in x:
        total += grown(a)
        a = [v * 1.5 for v in a]
    return total + sum(a)


def under_an_older_name(x):
    a, b = [v * v for v in x], [v * 2.0 for v in x]
    for v in x:
        c = a
        a, b = b, a
        c[0] = v
    return sum(b) * sum(a)


SHARED = {
    the_same_twice: "'b' is a list with another name",
    read_again: "'b' is a list with another name",
    of_a_caller: "'items' is a list with another name",
    under_an_older_name: "that was 'a' once",
}


@pytest.mark.parametrize("f", SHARED)
def test_lists_with_two_names_are_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(gw.GradwrightError, match=SHARED[f]):
        gw.grad(f)(X)
