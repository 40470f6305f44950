"""Lists that are known while a program is rewritten: free, and Python's own."""

import pytest
from semantics.oracle import check

import gradwright as gw
from gradwright.transform.errors import AliasError


def straight(x):
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
    total = f[0] * f[-1] + g[2] * f.pop(1) + g[1]
    g.clear()
    return total + len(f)


def of_helpers(x):
    def double(values):
        values.append(values[0] * 2.0)
        return values

    f = [x]
    g = double(f)
    g.append(x * x)
    return f[1] * f[2] + len(f)


def in_other_objects(x):
    held = {"a": [x], "b": ([x * x], 1.0)}
    held["a"].append(x * 3.0)
    held["b"][0].insert(0, held["a"][1])
    copy = list(held["b"][0])
    copy[0] = 1.0
    return held["b"][0][0] * held["b"][0][1] * copy[1]


def written_out(x):
    f = [x, x * x, 1.0]
    for k in range(3):
        f[k] = f[k] * (k + 1)
    return f[0] * f[1] * f[2]


@pytest.mark.parametrize("f", [straight, of_helpers, in_other_objects, written_out])
def test_a_list_that_is_known_leaves_no_trace(f) -> None:
    check(f, 1.1)
    assert "append" not in gw.grad(f).source(1.1)
    assert "insert" not in gw.grad(f).source(1.1)


def test_a_list_of_the_caller_stays_as_it_is() -> None:
    def f(xs):
        xs.append(xs[0] * 2.0)
        xs[0] = xs[1] * xs[2]
        return xs[0] * xs[2]

    def grown(xs, n):
        for _ in range(n):
            xs.append(xs[-1] * xs[0])
        return xs[-1]

    given = [2.0, 3.0]
    assert gw.grad(f)(given) == [48.0, 16.0]
    assert gw.grad(grown)(given, 2) == [12.0, 4.0]
    assert given == [2.0, 3.0]


def test_an_index_of_the_run_makes_a_list_of_the_run() -> None:
    def f(x, n):
        weights = [1.0, x, x * x]
        total = 0.0
        for k in range(n):
            total += weights[k % 3] * k
        return total

    check(f, 0.7, 5)
    assert "weights[k % 3]" in gw.grad(f).source(0.7, 5)


def test_a_list_with_another_name_in_a_list_does_not_change() -> None:
    def f(x, n):
        pairs, pair = [], [x, 1.0]
        for _ in range(n):
            pairs.append(pair)
        pair[0] = 2.0
        return pairs[0][0]

    with pytest.raises(AliasError):
        gw.grad(f)(2.0, 3)


def test_a_list_that_a_condition_has_chosen_does_not_change() -> None:
    def one(x):
        a = [x, 0.4]
        c = a
        b = a if x > 0.2 else c
        a[0] = 2.0 * x
        return sum(b) + sum(a)

    def either(x):
        a, c = [x, 0.4], [x * x, 2.0]
        b = a if x > 0.2 else c
        a[0] = 2.0 * x
        return sum(b) + sum(a)

    check(one, 1.3)
    with pytest.raises(AliasError, match="what a condition has chosen holds"):
        gw.grad(either)(1.3)
