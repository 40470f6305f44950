"""Calls: what is written where it is called, and what calls itself."""

from typing import Any

import numpy as np
from written import written

import gradwright as gw
from gradwright.transform.calls import inline, knotted, recalled
from gradwright.transform.core import Call, Function, Statement, Value, callees
from gradwright.transform.notation import notation
from gradwright.transform.types import FLOAT

SQUARE = """
    def square(a: float):
        cell s
        store s, a
        b = load s
        c = multiply b, b
        return c
"""


def call(g: Function, *operands: Any) -> tuple[Call, Value]:
    out = Value("out", FLOAT)
    return Call((out,), g, operands), out


def calling(g: Function, times: int) -> Function:
    """f(x) = g(g(x)), or as often as it says."""
    x = Value("x", FLOAT)
    body: list[Statement] = []
    last = x
    for _ in range(times):
        made, last = call(g, last)
        body.append(made)
    return Function("f", [x], body, [last])


def test_a_function_called_once_is_written_there() -> None:
    f = calling(written(SQUARE), 1)
    expected = SQUARE.replace("square(a", "f(x").replace("s, a", "s, x")
    assert notation(inline(f)) == notation(written(expected))


def test_what_passes_through_several_calls() -> None:
    same = written("def same(a: float):\n    return a")
    other = written("def other(a: float):\n    return a")
    f = calling(same, 1)
    made, last = call(other, *f.results)
    f.body.append(made)
    f.results = [last]
    assert inline(f).body == [] and f.results == f.params


def test_a_function_called_twice_stays() -> None:
    f = calling(written(SQUARE), 2)
    before = notation(f)
    assert notation(inline(f)) == before


def recursive(name: str) -> Function:
    """f(x) = f(2 x), for its form only."""
    f = written(f"def {name}(x: float):\n    y = multiply x, 2.0\n    return y")
    made, last = call(f, *f.results)
    f.body.append(made)
    f.results = [last]
    return f


def test_a_recursive_program_calls_itself() -> None:
    g, f = recursive("f"), recursive("f")
    f.body[-1].function = g  # type: ignore[attr-defined]
    made = recalled(f)
    assert [type(s) for s in made.body] == [Call] and set(callees(made)) == {g}
    assert made.params == f.params
    assert list(callees(knotted(made))) == [made]
    assert notation(made) == notation(g).replace("f_value", "out")


def test_another_program_does_not() -> None:
    g, f = recursive("f"), recursive("f")
    f.body[-1].function = g  # type: ignore[attr-defined]
    f.body[0].operands = f.body[0].operands[::-1]  # type: ignore[attr-defined]
    assert recalled(f) is f


def test_a_length_of_a_result_is_that_of_what_stands_for_it() -> None:
    """The solution is as long as the gradient, whose call is written out."""

    def energy(q: Any) -> Any:
        return np.sum(q**4) + q[0] * q[1]

    def step(q: Any, M: Any) -> Any:
        return np.linalg.solve(M, gw.grad(energy)(q))

    q, M = np.array([0.7, -0.4]), np.array([[2.0, 0.3], [0.1, 1.5]])
    np.testing.assert_allclose(gw.jacrev(step)(q, M), gw.jacfwd(step)(q, M), rtol=1e-12)


def test_lengths_of_results_are_those_of_what_is_written() -> None:
    """What a call returned is the length of a later array: of a Jacobian's rows."""

    def inner(q, v):
        return np.sum(np.sin(q) * v)

    def f(q, v):
        return 2.0 * gw.grad(inner)(q, v) + q

    q, v = np.array([0.3, 0.5]), np.array([0.1, -0.2])
    wanted = np.diag(1.0 - 2.0 * np.sin(q) * v)
    for transform in (gw.jacfwd, gw.jacrev):
        np.testing.assert_allclose(transform(f)(q, v), wanted, rtol=1e-14)
