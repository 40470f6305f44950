"""Lists of the caller that a compiled function changes: as Python changes them."""

import copy
import warnings
from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from lowered import in_python

import gradwright as gw

Pair = namedtuple("Pair", "a b")
X = np.array([0.3, -0.7, 1.1])


def recorded(x, history):
    for _ in range(3):
        x = 0.5 * x
        history.append(x)
    return x


def states(x, n, out):
    for _ in range(n):
        x = np.sin(x)
        out.append(x)
    return np.sum(x)


def parts(x, n, out):
    for k in range(n):
        out.append(np.sin(x[:k]))
    return np.sum(x)


def scaled(x, xs):
    for k in range(len(xs)):
        xs[k] = xs[k] * x
    return x


def scaled_to(x, xs, n):
    for k in range(n):
        xs[k] = xs[k] * x
    return len(xs)


def exchanged(x, pair):
    pair[0], pair[1] = pair[1], x
    pair.append(x * 2)
    return pair


def cleared(x, xs):
    xs.clear()
    xs.append(x)
    return len(xs)


def taken_out(x, xs, n):
    for _ in range(n):
        x = x * xs.pop()
    return x


def sorted_out(x, xs):
    xs.reverse()
    xs.extend([x, x])
    del xs[0]
    return sum(xs)


def in_lists(x, table, n):
    for k in range(n):
        table[k].append(x * k)
        table.append([x])
    return x


def stored_in_lists(x, table, n):
    for k in range(n):
        table[k][0] = x * k
    return x


def tuples(x, out, n):
    for k in range(n):
        out.append((x * k, (k, x)))
    return x


def other_tuples(x, out, n):
    for k in range(n):
        out[k] = (x * k, k)
    return x


def in_a_dict(x, d):
    d["a"].append(x)
    d["b"][0].insert(0, x * x)
    return x, d["a"]


def in_a_pair(x, p):
    p.a.append(x)
    p.a.append(p.b)
    return x


def rows(x, out):
    row = [x]
    out.append(row)
    row.append(2 * x)
    return x


def starred(x, *lists):
    lists[0].append(x)
    lists[1][0] = x
    return x


def by_a_helper(x, xs):
    def one(x):
        xs.append(x)
        return x

    return one(x) + one(2 * x)


def on_one_path(x, xs):
    if x > 1.0:
        xs.append(x)
    else:
        xs.append(-x)
        xs.append(3.0)
    return x


def rows_exchanged(x, table):
    table[0], table[1] = table[1], table[0]
    table[0].append(x)
    return x


def returned(x, xs, n):
    for _ in range(n):
        xs.append(x)
    return xs, {"last": xs[-1]}


def complex_too(x, xs, n):
    for k in range(n):
        xs.append(x * 1j * k)
    return x


def stored_too(x, xs, y):
    for k in range(3):
        y[k] += 7.0
        xs.append(x / (1 - k))
    return x


def kept(x, n, out):
    for _ in range(n):
        out.append(x)
    return x


COMPILED = [
    (recorded, 8.0, [7.0]),
    (recorded, 8.0, [7]),
    (recorded, 8.0, []),
    (states, X, 4, []),
    (states, X, 0, []),
    (states, X, 4, [np.ones(2)]),
    (states, X, 4, [np.ones(3)]),
    (parts, X, 3, []),
    (scaled, 2.0, [1.0, 2.0]),
    (scaled, 2, [1, 2]),
    (scaled_to, 2.0, [1.0, 2.0, 3.0], 2),
    (exchanged, 2.0, [1.0, 3]),
    (exchanged, 2.0, ["a", None]),
    (cleared, 2.0, [1.0]),
    (cleared, 2.0, []),
    (taken_out, 2.0, [1.0, 2.0, 3.0, 4.0], 2),
    (taken_out, 2.0, [1.0, 2.0], 5),
    (sorted_out, 2.0, [1.0, 3.0]),
    (in_lists, 2.0, [[1.0], [2.0], [3.0]], 2),
    (in_lists, 2.0, [[1.0], [2.0], [3.0]], 9),
    (stored_in_lists, 2.0, [[1.0], [2.0], [3.0, 4.0]], 3),
    (tuples, 2.0, [(1.0, (2, 0.5))], 3),
    (tuples, 2.0, [], 3),
    (other_tuples, 2.0, [(1.0, 2), (2.0, 3)], 2),
    (in_a_dict, 2.0, {"a": [1.0], "b": ([1], 2)}),
    (in_a_pair, 2.0, Pair([1], 2.5)),
    (rows, 2.0, []),
    (starred, 2.0, [1.0], [2.0]),
    (by_a_helper, 2.0, [1.0]),
    (on_one_path, 2.0, [1.0]),
    (on_one_path, 0.5, [1.0]),
    (rows_exchanged, 2.0, [[1.0], [2.0]]),
    (returned, 2.0, [1.0, 3.0], 3),
    (complex_too, 2.0, [1j], 3),
    (kept, np.float32(2.0), 3, [np.float32(1)]),
    (kept, np.float32(2.0), 3, [0.1]),
    (kept, True, 3, []),
    (kept, 3, 3, [1]),
]


def outcome(f: Any, args: Any) -> Any:
    try:
        return f(*args)
    except Exception as e:
        return e


def assert_changes_alike(f: Any, *args: Any) -> None:
    """The result and the arguments are what Python makes of them, to the kind."""
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    compiled = gw.jit(f)
    for _ in range(2):
        wanted, found = outcome(f, mine), outcome(compiled, theirs)
        assert repr(found) == repr(wanted)
        assert repr(theirs) == repr(mine)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", COMPILED, ids=lambda case: case[0].__name__)
def test_lists_of_the_caller(case: Any) -> None:
    assert_changes_alike(*case)


@pytest.mark.parametrize("case", COMPILED, ids=lambda case: case[0].__name__)
def test_lists_of_the_caller_as_loops(case: Any) -> None:
    with in_python() as made, np.errstate(all="ignore"):
        assert_changes_alike(*case)
    assert made


# ---- what is the same object ---------------------------------------------------------


def test_what_was_given_stays_itself() -> None:
    a, b, row = np.ones(2), np.zeros(2), [1.0]

    def turned(x, xs):
        xs[0], xs[1], xs[2] = xs[1], xs[2], xs[0]
        xs.append(x)
        xs.append(xs[2])
        return xs

    xs = [a, b, row]
    assert gw.jit(turned)(a, xs) is xs
    assert [id(v) for v in xs] == [id(v) for v in (b, row, a, a, a)]


def test_what_a_list_had_stays_itself() -> None:
    first = np.ones(3)
    out = [first]
    gw.jit(states)(X, 2, out)
    assert out[0] is first and len(out) == 3
    assert not np.may_share_memory(out[1], out[2])


def test_lists_in_a_list_stay_themselves() -> None:
    table = [[1.0], [2.0]]
    before = list(table)
    gw.jit(in_lists)(2.0, table, 2)
    assert table[0] is before[0] == [1.0, 0.0] and table[1] is before[1]


def stored_then(x, out):
    x[0] = 5.0
    out.append(x)
    return x[1]


def test_an_array_of_the_caller_that_is_stored_into() -> None:
    x, out = X.copy(), []
    gw.jit(stored_then)(x, out)
    assert out[0] is x and x[0] == 5.0


def renamed(x, n, out):
    x[0] = 5.0
    for _ in range(n):
        x = x * 2.0
    out.append(x)
    return x[2]


def test_another_array_by_the_name_of_an_argument() -> None:
    x, out = X.copy(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gw.jit(renamed)(x, 1, out)
    np.testing.assert_array_equal(out, [[10.0, -1.4, 2.2]])
    np.testing.assert_array_equal(x, [5.0, -0.7, 1.1])


# ---- what fails ----------------------------------------------------------------------


def test_a_call_that_fails_has_changed_what_it_changed() -> None:
    """Arrays too, and just once."""
    xs, y = [1.0], np.zeros(3)
    with pytest.raises(ZeroDivisionError):
        gw.jit(stored_too)(2.0, xs, y)
    assert xs == [1.0, 2.0] and y.tolist() == [7.0, 7.0, 0.0]


def test_a_nan_is_found_where_lists_change() -> None:
    with gw.debug_nans(), pytest.raises(FloatingPointError, match="first NaN"):
        gw.jit(recorded)(np.nan, [])


# ---- what only the function itself can do --------------------------------------------


def twice(x, out):
    row = [x]
    out.append(row)
    out.append(row)
    return x


def viewed(x, out):
    out.append(x[1:])
    return x[0]


def given_again(x, out):
    for _ in range(3):
        out.append(x)
    return x[0]


def stored_later(x, out):
    y = np.sin(x)
    out.append(y)
    y[0] = 5.0
    return x[0]


def result_too(x, n, out):
    for _ in range(n):
        x = np.sin(x)
        out.append(x)
    return x


def first_rows(x, table, n):
    for _ in range(n):
        table.pop(0)
    return x


def of_two_kinds(x, xs, n):
    for k in range(n):
        xs[k] = k
    return x


def had(x, out, n):
    """An item that it had is given once more."""
    for k in range(n):
        out.append(out[k])
    return x


ITSELF = [
    (twice, 2.0, []),
    (viewed, X, []),
    (given_again, X, []),
    (stored_later, X, []),
    (result_too, X, 3, []),
    (first_rows, 2.0, [[1.0], [2.0], [3.0]], 2),
    (first_rows, 2.0, [[1.0], [2.0, 3.0], [4.0]], 2),
    (of_two_kinds, 2.0, [1.5, 2.5], 1),
    (kept, 3, 3, [1.5]),
    (had, 2.0, [X], 1),
    (other_tuples, 2.0, [(1, 2), (2.0, 3)], 1),
]


@pytest.mark.parametrize("case", ITSELF, ids=lambda case: case[0].__name__)
def test_what_only_the_function_itself_can_change(case: Any) -> None:
    """Python's own objects, and who shares them; the caller is told."""
    with pytest.warns(gw.CompileWarning, match="a list of the caller is changed here"):
        assert_changes_alike(*case)


def test_sharing_that_only_the_function_itself_knows() -> None:
    x, out = X.copy(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gw.jit(viewed)(x, out)
        gw.jit(given_again)(x, out)
        result = gw.jit(result_too)(x, 2, out)
        gw.jit(twice)(2.0, rows := [])
    assert out[0].base is x and out[1] is x and out[-1] is result
    assert rows[0] is rows[1]


# ---- one list in two places ----------------------------------------------------------


@pytest.mark.parametrize("transform", [gw.jit, gw.grad])
def test_one_list_twice_in_a_list_whose_lists_change(transform: Any) -> None:
    row = [1.0]
    with pytest.raises(gw.AliasError, match=r"'table\[0\]' is changed"):
        transform(in_lists)(2.0, [row, row], 1)


# ---- what is read --------------------------------------------------------------------


def test_the_source_says_which_lists_change() -> None:
    text = gw.jit(states).source(X, 4, [])
    assert text.startswith('"""Changes out of the caller')
    assert text.endswith("    return np.sum(x), out\n")
    text = gw.jit(in_a_dict).source(2.0, {"a": [1.0], "b": ([1], 2)})
    assert """Changes d["a"] and d["b"][0] of the caller""" in text
