"""What a program does with lists: sums of them, stores into slices, NumPy."""

import numpy as np
import pytest
from semantics.oracle import check, differences, near

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51])


@pytest.mark.parametrize("bounds", [(1, 3), (0, 0), (-2, None), (None, -1), (3, 1)])
def test_stores_into_slices(bounds: tuple[int | None, int | None]) -> None:
    def f(x, n, new):
        items = [x[k % 4] * (k + 1) for k in range(n)]
        items[lower:upper] = [x[0] * items[1]] * new
        return sum(v * v * (k + 1) for k, v in enumerate(items))

    lower, upper = bounds
    for new in range(3):
        check(f, X, 5, new)


@pytest.mark.parametrize("k", [-7, -2, 0, 2, 9])
def test_slices_with_bounds_of_the_run(k: int) -> None:
    def f(x, n, k):
        items = [x[j % 4] * (j + 1) for j in range(n)]
        some = items[k:] + items[:k] + items[k : k + 2] + items[k::-1]
        items[k:] = [x[1], x[2] * items[0]]
        return sum(v * v * (j + 1) for j, v in enumerate(some)) + sum(items)

    check(f, X, 5, k)


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_list_is_read_before_it_changes(rounds: int) -> None:
    def f(x, n, rounds):
        items = [x[0]]
        for k in range(n):  # by two names from here on
            more = [x[1]]
            for v in items:
                more.append(v * x[k])
            items = more
        for _ in range(rounds):
            items[:] = items
            items[1:2] = reversed(items)
            items[2:] = [a * b for a, b in zip(items, items[::-1])]
            items.extend(items)
            items.extend(reversed(items))
        return sum(v * v * (k + 1) for k, v in enumerate(items))

    check(f, X, 2, rounds)


def test_a_list_of_which_no_item_is_known_is_read() -> None:
    def f(x, n):
        none = []
        some = list(reversed(none))
        none.extend(none)
        none.extend(x[:n])
        return sum(none) * len(some + none)

    check(f, X, 3)


def test_displays_with_items_of_the_run() -> None:
    def f(x, n):
        row = [x[0], *[x[1], x[2]]]
        for k in range(n):
            row = [x[1], *row, *reversed(row), x[0] * k]
        every = [*x, *(x * row[0])]
        return sum([v * (k + 1) for k, v in enumerate(row + every)])

    check(f, X, 2)


def test_repeated_lists() -> None:
    def f(x, n):
        zeros, ones = [0.0] * n, n * [x[0], 1.0]
        zeros[1] = x[1]
        return sum(zeros) * sum(ones) + len((ones + zeros) * 2)

    check(f, X, 3)
    assert "zeros = [0.0] * n" in gw.grad(f).source(X, 3)


def test_functions_of_numpy() -> None:
    def f(x, n):
        rows = [x * (k + 1.0) for k in range(n)]
        numbers = [x[k % 4] for k in range(n)]
        total = np.sum(np.stack(rows, axis=1) @ np.array(numbers))
        total += np.max(numbers) * np.mean(rows) + np.linalg.norm(numbers)
        return total + np.var(numbers) + np.sum(np.concatenate(rows) ** 2)

    check(f, X, 3)


def in_order(x, n):
    xs = [x[k % 4] * (k % 3) for k in range(n)]
    xs.sort()
    down, some = sorted(xs, reverse=True), sorted(v * x[0] for v in xs if v > 0)
    first, last = sorted(x), sorted(x[:n], reverse=True)
    first.append(last[0] * sorted(reversed(x))[-1])
    xs.sort(reverse=True)
    both = zip(xs, down, strict=False)
    total = sum(a * b * (k + 1) for k, (a, b) in enumerate(both))
    total += sum(v * v * k for k, v in enumerate(some))
    return total + sum(v * v * k for k, v in enumerate(first)) * last[-1]


def in_order_of_keys(x, n):
    pairs = [(x[k % 4], k * 1.0) for k in range(n)]
    pairs.sort(key=lambda p: p[0])
    a = sorted(pairs, key=lambda p: abs(p[0]), reverse=True)
    b, c = sorted(x, key=abs), sorted(x, key=lambda v: v * v - v, reverse=True)
    rows = sorted([x * k for k in range(n)], key=lambda r: r[1])
    total = sum(p[0] * p[1] * k + q[0] * q[1] for k, (p, q) in enumerate(zip(pairs, a)))
    rest = sum(np.sum(r * k) * x[0] for k, r in enumerate(rows))
    return total + b[0] * b[1] - c[0] * c[2] + rest


def equal_ones_stay_in_order(x, n):
    xs = [v * 0.0 for v in x] + [v for v in x if v > 0]
    up, down, flags = sorted(xs), sorted(xs, reverse=True), [v > 0 for v in x]
    flags.sort(reverse=True)
    places = [k * 7 % 4 for k in range(n)]
    places.sort()
    total = sum(v * (k + 1) * x[0] for k, v in enumerate(up))
    total += sum(v * (k + 1) for k, v in enumerate(down))
    total += sum(k * x[1] for k, t in enumerate(flags) if t)
    return total + sum(x[j] * k for k, j in enumerate(places))


def known_ones_in_order(x, n):
    xs = [x[0], x[1], x[2] * x[1]]
    xs.sort()
    a, b, c = sorted((x[0], x[1], x[2]), reverse=True)
    known, words = sorted([3, 1, 2]), sorted({"v": x[0], "u": x[1]})
    known.sort(reverse=True)
    total = xs[0] * xs[1] - xs[2] + a * b - c + known[0] * x[0]
    for k in range(n):
        xs.append(x[k % 4] * xs[0])
        xs.sort()
        total += xs[0] * xs[-1]
    return total if words == ["u", "v"] else 0.0


SORTED = [in_order, in_order_of_keys, equal_ones_stay_in_order, known_ones_in_order]


@pytest.mark.parametrize("f", SORTED)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_sorted_lists(f, n: int) -> None:
    check(f, X, n)

    def along(x):
        return np.sum(gw.grad(f)(x, n) * x)

    slope = differences(along, (X,), (np.ones_like(X),))
    near(np.sum(gw.grad(along)(X)), slope, 1e-5, "second order and differences")


def test_a_sort_is_what_a_person_writes() -> None:
    def f(x, n):
        return sorted([x * k for k in range(n)])[0]

    assert """
    items_2 = np.array(items)
    argsort = np.argsort(items_2, kind="stable")
    items_1 = [items[argsort_i] for argsort_i in argsort]
""" in gw.value_and_grad(f).source(0.7, 3)


UNSORTED = [
    ("a sort by what is not a number", lambda x: sorted([(v, v) for v in x])[0][0]),
    ("a sort by what is not a number", lambda x: sorted(x, key=lambda v: (v, v))[0]),
    ("with reverse= of the run", lambda x: sorted(x, reverse=x[0] > 0)[0]),
    ("complex numbers", lambda x: sorted([v * 1j for v in x])[0].real),
]


@pytest.mark.parametrize(("words", "f"), UNSORTED)
def test_what_is_not_sorted_is_named(words: str, f) -> None:
    with pytest.raises(gw.UnsupportedSyntax, match=words):
        gw.grad(f)(X)


def searched(x, n):
    total, best, signs = 0.0, [], []
    for k in range(n):
        j = (k * 3) % 4
        if j not in best:
            best.append(j)
    for v in x:
        if (v > 0) not in signs:
            signs.append(v > 0)
            total += v * v
    if 3 in best:
        total += x[0] * best.index(3)
    places = np.arange(n)
    for k in range(4):
        total += x[k] ** 3 if k in places else x[k] ** 2
    if x[1] in x and 0.3 * n not in x:
        total += x[0] * [1, 2, 1].count(1) * x[2]
    ys, known = [v * v for v in x], [x[0], x[1], x[0]]
    ys.remove(ys[1])
    total += ys[ys.index(max(ys))] * x[ys.index(min(ys))] * ys.count(ys[0])
    known.remove(x[0])
    while 0 in best:
        best.remove(0)
    total += known[0] * known.index(x[0]) * known.count(x[1]) + sum(best) * x[0]
    return total + sum(v * v * k for k, v in enumerate(ys))


def deleted(x, n):
    xs, known = [x[k % 4] * (k + 1) for k in range(n)], [x[0], x[1], x[2], x[3]]
    del xs[0], xs[-1]
    xs[0] = xs[-1] * xs[0]
    del known[1], xs[n // 2], known[-1:]
    for k in range(n // 3):
        del xs[k]
    xs += [v * xs[0] for v in xs]
    del xs[1:3]
    del xs[:-2]
    return sum(v * v * (k + 1) for k, v in enumerate(xs)) + known[0] * known[1]


@pytest.mark.parametrize(
    ("f", "n"), [*((searched, n) for n in (0, 1, 3, 6)), (deleted, 5), (deleted, 7)]
)
def test_items_that_are_found_or_deleted(f, n: int) -> None:
    check(f, X, n)

    def along(x):
        return np.sum(gw.grad(f)(x, n) * x)

    slope = differences(along, (X,), (np.ones_like(X),))
    near(np.sum(gw.grad(along)(X)), slope, 1e-5, "second order and differences")


def test_what_is_not_there_raises_as_in_python() -> None:
    def index(x, a):
        return [v * v for v in x].index(a) * x[0]

    def remove(x, a):
        xs = [v * v for v in x]
        xs.remove(a)
        return sum(xs)

    def delete(x, a):
        xs = [v * v for v in x]
        del xs[int(a) - 5]
        return sum(xs)

    for f in (index, remove, delete):
        for a in (0.3, 9.0):
            with pytest.raises((ValueError, IndexError)) as pythons:
                f(X, a)
            with pytest.raises(type(pythons.value)) as ours:
                gw.grad(f)(X, a)
            assert str(ours.value) == str(pythons.value)


def deletes_a_name(x):
    y = x * 2.0
    del y
    return np.sum(x)


def deletes_an_element(x):
    del x[0]
    return np.sum(x)


NOT_FOUND = [
    ("what is not a number", lambda x: [(v, v) for v in x].index((x[0], x[0])) * x[0]),
    ("in a part of a list", lambda x: [v for v in x].index(x[0], 1) * x[0]),
    ("among numbers", lambda x: x[0] if x in [v * x for v in x] else x[1]),
    ("'del' of a name", deletes_a_name),
    ("'del' of a value", deletes_an_element),
]


@pytest.mark.parametrize(("words", "f"), NOT_FOUND)
def test_what_is_not_found_or_deleted_is_named(words: str, f) -> None:
    with pytest.raises(gw.UnsupportedSyntax, match=words):
        gw.grad(f)(X)


def test_extremes_of_none() -> None:
    def f(x, n):
        return max([x * k for k in range(n)])

    check(f, 0.7, 3)
    with pytest.raises(ValueError, match="max"):
        gw.grad(f)(0.7, 0)


def parts_of_lengths(x, n):
    parts = [x[:k] * x[-1] for k in range(n)]
    parts[-1] = parts[-1] * 2.0
    joined = parts + parts[1:]
    w, v = np.concatenate(parts), np.hstack(joined)
    lengths = [len(p) for p in parts]
    places = np.concatenate([np.arange(k) for k in range(n)])
    total = sum(lengths) * x[0] + max(lengths) * x[1] + np.sum(x[places] ** 2)
    return np.sum(w**3) + np.sum(v * v) + total


def tables_of_lengths(x, n):
    rows, columns = [], []
    for k in range(n):
        rows.append(np.outer(x[k:] * x[k % 4], x))
        columns.append(np.outer(x, x[:k]))
    w, v = np.concatenate(rows), np.concatenate(rows, axis=-2)
    below, beside = np.vstack(rows), np.concatenate(columns, axis=1)
    total = np.sum(w**3 @ x) + np.sum(v @ below.T)
    others = np.sum(np.hstack(columns) * beside)
    return total + np.sum(x @ beside) + others + np.sum(np.column_stack(columns))


@pytest.mark.parametrize("f", [parts_of_lengths, tables_of_lengths])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_arrays_of_several_lengths_one_after_another(f, n: int) -> None:
    check(f, X, n)

    def along(x):
        return np.sum(gw.grad(f)(x, n) * x)

    slope = differences(along, (X,), (np.ones_like(X),))
    near(np.sum(gw.grad(along)(X)), slope, 1e-5, "second order and differences")


@pytest.mark.parametrize("n", [0, 2])
def test_arrays_that_are_not_joined_raise_as_in_numpy(n: int) -> None:
    def ragged(x, n):
        parts = [np.outer(x[k:], x[k:]) for k in range(n)]
        return np.sum(np.concatenate(parts))

    def alike(x, n):
        return np.sum(np.concatenate([x * k for k in range(n)]))

    def stacked(x, n):
        return np.sum(np.stack([x[k:] for k in range(n)]))

    for f in (ragged, alike, stacked):
        if f is alike and n:
            continue
        with pytest.raises(ValueError) as numpys:
            f(X, n)
        with pytest.raises(ValueError) as ours:
            gw.grad(f)(X, n)
        if f is not stacked or not n:
            assert str(ours.value) == str(numpys.value)


def test_lists_that_are_not_joined_are_refused() -> None:
    def along_no_axis(x, axis):
        return np.sum(np.concatenate([v * x for v in x], axis=axis))

    def of_numbers(x, axis):
        return np.sum(np.concatenate([v * axis for v in x]))

    with pytest.raises(gw.UnsupportedSyntax, match="along no axis of its items"):
        gw.grad(along_no_axis)(X, 1)
    with pytest.raises(gw.UnsupportedSyntax, match="whose items are no arrays"):
        gw.grad(of_numbers)(X, 1)


def test_a_slice_of_a_known_list_takes_over_one_of_the_run() -> None:
    def filled(x, n):
        layers = [x]
        frames = []
        for k in range(n):
            frames.append(x * k)
        layers[:] = frames
        return np.sum(sum(layers))

    def filled_later(x, n):
        layers = [x]
        frames = []
        layers[1:] = frames
        for k in range(n):
            frames.append(x * k)
        return np.sum(sum(layers)) + np.sum(sum(frames))

    for f in (filled, filled_later):
        check(f, X, 3)
