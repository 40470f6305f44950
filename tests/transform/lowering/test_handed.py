"""Tapes and lists from one half of a split to the other, both of them machine code."""

from typing import Any

import numpy as np
import optree
import pytest
from lowered import in_python

import gradwright as gw
from gradwright.handed import Handed
from gradwright.transform.lowering.handed import Layout
from gradwright.transform.types import Type

X = np.array([0.7, -0.3, 0.9, 0.4, 1.1])


def ragged(x, n):
    s = 0.0
    for k in range(n):
        y = np.sin(x[: k + 1])
        x = x * 1.1
        s = s + np.sum(y * np.exp(y))
    return s


def ragged_rows(x, n):
    s = 0.0
    for k in range(n):
        y = np.outer(x[: k + 1], x[k:])
        x = np.sin(x)
        s = s + np.sum(y * np.exp(y))
    return s


def looked_back(x, n):
    xs = [x]
    for k in range(n):
        xs.append(np.sin(xs[-1]) * xs[k // 2])
    s = 0.0
    for v in xs:
        s = s + np.sum(v * v)
    return s


def of_several_lengths(x, n):
    xs = []
    for k in range(n):
        xs.append(np.sin(x[: k + 1]))
        x = x * 1.1
    s = 0.0
    for v in xs:
        s = s + np.sum(v * v) * x[0]
    return s


def taken_out(x, n):
    xs = []
    for k in range(n):
        xs.append(x * k)
        x = np.sin(x)
    ys = []
    while xs:
        ys.insert(0, xs.pop() * x)
        if len(xs) > 2:
            ys.append(ys[0] ** 2)
    s = 0.0
    for y in ys:
        s = s * 0.9 + y**2
    return s


def in_lists(x, n):
    table = [[x]]
    for k in range(n):
        table.append([x * k, np.cos(x)])
        table[k].append(np.sin(table[k][-1]))
        table[k][0] = table[k][0] * 1.5
    s = 0.0
    for row in table:
        for v in row:
            s = s + v * v
    return s


def arrays_in_lists(x, n):
    table = []
    for k in range(n):
        table.append([np.sin(x[: k + 1])])
        table[k // 2].append(x[k] * x[:2])
        x = x * 1.1
    s = 0.0
    for row in table:
        for v in row:
            s = s + np.sum(v * v * v)
    return s


def lists_in_lists_in_lists(x, n):
    table = []
    for k in range(n):
        rows = []
        for j in range(k):
            rows.append([x * j])
            rows[j // 2].append(np.sin(x) * k)
        table.append(rows)
    s = 0.0
    for rows in table:
        for row in rows:
            for v in row:
                s = s + v * v * x
    return s


def calls_itself(x, n):
    if n <= 0:
        return x
    return np.sin(calls_itself(x * 1.1, n - 1)) * x


def parts(x, n):
    if n == 0:
        return np.sum(x)
    return np.sum(x[:n] ** 2) * parts(np.sin(x), n - 1)


def tapes_on_the_tape(x, n):
    if n == 0:
        return x
    s = x
    for k in range(n):
        s = s * tapes_on_the_tape(x * 0.9, k) + np.sin(s)
    return s


def calls_another(x, n):
    s = 0.0
    for k in range(n):
        x = np.sin(x)
        s = s + calls_itself(x, k) * tapes_on_the_tape(s, k)
    return s


def on_one_path(x):
    """What the other path does not have is handed over with nothing in it."""
    if x[0] > 0.0:
        y = np.sin(x)
        return np.sum(y * y)
    return np.sum(x)


def cut(x):
    """Its lengths are known to that path only."""
    k = 0
    while k < 4 and x[k] > 0.5:
        k = k + 1
    s = 0.0
    if x[1] > 0.0:
        z = np.outer(np.cos(x[:k]), x)
        s = s + np.sum(z * z * z)
    return s


HALVES = [
    *[(f, x) for f in (on_one_path, cut) for x in (X, -X, X + 1.0)],
    (ragged, X, 4),
    (ragged, X, 0),
    (ragged_rows, X, 4),
    (looked_back, 0.7, 5),
    (looked_back, X, 5),
    (of_several_lengths, X, 4),
    (taken_out, 0.7, 6),
    (in_lists, 0.7, 4),
    (in_lists, 0.7, 0),
    (arrays_in_lists, X, 4),
    (lists_in_lists_in_lists, 0.3, 5),
    (calls_itself, 0.7, 3),
    (calls_itself, X[:3], 3),
    (parts, X, 4),
    (tapes_on_the_tape, 0.7, 3),
    (calls_another, 0.7, 4),
]


def assert_pulls_alike(f: Any, *args: Any) -> None:
    """Both halves give what the emitted ones give, as often as they are called."""
    value, pull = gw.vjp(gw.jit(f), *args)
    plain, wanted = gw.vjp(f, *args)
    assert pull.backward.is_machine_code
    seed = np.cos(value)
    for _ in range(2):  # what is handed over stays as it is
        pairs = zip(*map(optree.tree_leaves, (pull(seed), wanted(seed))), strict=True)
        for a, b in pairs:
            np.testing.assert_allclose(a, b, rtol=1e-12)
    np.testing.assert_allclose(value, plain, rtol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", HALVES, ids=lambda case: case[0].__name__)
def test_both_halves_are_machine_code(case: Any) -> None:
    assert_pulls_alike(*case)


@pytest.mark.parametrize("case", HALVES, ids=lambda case: case[0].__name__)
def test_both_halves_as_loops(case: Any) -> None:
    f, *args = case
    _, wanted = gw.vjp(f, *args)
    with in_python() as made:
        value, pull = gw.vjp(gw.jit(f), *args)
        found = pull(np.cos(value))
    assert len(made) == 2
    pairs = zip(*map(optree.tree_leaves, (found, wanted(np.cos(value)))), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("f", [ragged, looked_back, of_several_lengths])
def test_halves_of_linearize(f: Any) -> None:
    value, push = gw.linearize(gw.jit(f), X, 4)
    plain, wanted = gw.linearize(f, X, 4)
    assert push.backward.is_machine_code and value == pytest.approx(plain, rel=1e-13)
    for step in (X, X[::-1]):
        assert push(step, 0.0) == pytest.approx(wanted(step, 0.0), rel=1e-12)


LISTS = [
    looked_back, of_several_lengths, taken_out, in_lists, arrays_in_lists,
    lists_in_lists_in_lists, ragged, ragged_rows,
]  # fmt: skip


@pytest.mark.parametrize("f", LISTS)
def test_what_is_handed_over_can_be_read(f: Any) -> None:
    """As lists it is what the emitted source hands over."""
    x = 0.7 if f in (taken_out, in_lists, lists_in_lists_in_lists) else X
    _, pull = gw.vjp(gw.jit(f), x, 4)
    _, wanted = gw.vjp(f, x, 4)
    found = [r.as_list() for r in pull.residuals if isinstance(r, Handed)]
    lists = [r for r in wanted.residuals if isinstance(r, list)]
    assert len(found) == len(lists) > 0
    for a, b in zip(found, lists, strict=True):
        leaves, others = map(optree.tree_leaves, (a, b))
        assert optree.tree_structure(a) == optree.tree_structure(b)
        for p, q in zip(leaves, others, strict=True):
            assert isinstance(p, float) or type(p) is type(q)
            np.testing.assert_allclose(p, q, rtol=1e-14)


def test_words_have_no_lengths() -> None:
    assert Layout(Type("tape"), is_words=True).parts == 1
    assert Layout(Type("float64"), depth=2).parts == 6
    t = Type("float64", dims=(1, 2))
    assert Layout(t, is_ragged=True).parts == 6 and Layout(t).parts == 2


def test_the_line_of_a_nan_behind_a_function_that_calls_itself() -> None:
    with gw.debug_nans(), np.errstate(invalid="ignore"):
        with pytest.raises(FloatingPointError, match="the first NaN"):
            gw.vjp(gw.jit(calls_itself), np.inf, 2)
    _, pull = gw.vjp(gw.jit(calls_itself), 0.7, 2)
    with gw.debug_nans(), pytest.raises(FloatingPointError, match="returned a NaN"):
        pull(np.nan)
    with gw.debug_nans():
        _, pull = gw.vjp(gw.jit(calls_itself), 0.7, 2)
        with pytest.raises(FloatingPointError, match="held a NaN already"):
            pull(np.nan)
