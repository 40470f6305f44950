"""Lists as one writes them, in what is emitted."""

import numpy as np

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51])


def forward_lines(f, *args) -> list[str]:
    """The lines of a derivative before its reverse sweep."""
    return gw.grad(f).source(*args).split("# reverse sweep")[0].splitlines()


def test_what_a_list_begins_with() -> None:
    def f(x, n):
        terms = [x, x * x]
        for _ in range(n):
            terms.append(terms[-1] * terms[0])
        return terms[-1]

    assert "    terms = [x, x * x]" in forward_lines(f, 0.7, 3)


def test_two_lists_that_begin_together() -> None:
    def f(x, n):
        terms, others = [x, x * x], [1.0]
        for _ in range(n):
            terms.append(terms[-1] * others[-1])
            others.append(terms[0] * others[0])
        return terms[-1]

    lines = forward_lines(f, 0.7, 3)
    assert "    terms = [x, x * x]" in lines
    assert "    others = [1.0]" in lines


def test_what_reads_the_list_is_appended() -> None:
    def f(x, n):
        terms = [1.0]
        terms.append(terms.pop() * x)
        for _ in range(n):
            terms.append(terms[-1] * x)
        return terms[-1]

    lines = forward_lines(f, 0.7, 3)
    assert "    terms = [1.0]" in lines
    assert any("terms.pop()" in line for line in lines)


def test_a_comprehension_stays_one() -> None:
    def f(x):
        some = [v * v for v in x if v > 0.0 for _ in range(2)]
        return sum(some) * len(some)

    lines = forward_lines(f, X)
    assert any(line.startswith("    some = [v * v for v in x if v") for line in lines)


def test_a_loop_stays_a_loop() -> None:
    def f(x):
        some = []
        for v in x:
            some.append(v * v)
        return sum(some)

    assert "        some.append(v * v)" in forward_lines(f, X)


def test_a_long_comprehension_keeps_what_it_counts() -> None:
    def f(x, number_of_all_rows):
        rows = [
            x[k % 4] * 0.25 + x[(k + 1) % 4] * 0.5 - x[(k + 2) % 4] * 0.125 * x[0]
            for k in range(number_of_all_rows)
        ]
        return sum(rows) * len(rows)

    assert np.all(np.isfinite(gw.grad(f)(X, 5)))


def test_a_list_that_is_replaced_is_not_begun() -> None:
    def f(x, n):
        row = [x]
        for _ in range(n):
            new = [v * x for v in row]
            row = new
        return sum(row)

    assert "new_bar = []" not in gw.grad(f).source(0.7, 3)
