"""Primal values in the reverse sweep: kept, read again, made again, or taped."""

from typing import Any

import numpy as np
import pytest
from semantics.oracle import check
from swept import forward_of, reverse_of, swept
from written import written

import gradwright as gw
from gradwright.transform.core import Cell, For, Let, Load, Store, walk
from gradwright.transform.indices import linear
from gradwright.transform.reverse.primals import (
    can_remake,
    is_kept,
    is_there,
    must_save,
    need,
    owner_of,
)
from gradwright.transform.reverse.state import Block
from gradwright.transform.types import FLOAT


def tapes(program: str) -> list[str]:
    """The tapes of the forward sweep."""
    lines = (line.strip() for line in forward_of(program).splitlines())
    return [line.removeprefix("tape ") for line in lines if line.startswith("tape ")]


def in_a_loop(statements: str, last: str = "z") -> str:
    return f"""
    def f(x: float, w: float, n: int):
        cell s
        store s, x
        for k in range(0, n, 1):
            a = load s
            {statements}
            store s, {last}
        end = load s
        return end
    """


SAVED = {
    "nothing: the factor is a literal": ("z = multiply a, 3.0", []),
    "nothing: the factor is a parameter": ("z = multiply w, 2.0", []),
    "the cell that is overwritten": ("z = multiply a, a", ["s_tape"]),
    "not what is cheap to do again": (
        "c = multiply w, w\n            z = multiply c, a",
        ["s_tape"],
    ),
    "the result of a costly operation": (
        "y = hypot a, x\n            z = multiply y, a",
        ["y_tape", "s_tape"],
    ),
    "not a function of what is saved anyway": (
        "y = sin a\n            z = multiply y, a",
        ["s_tape"],
    ),
}


@pytest.mark.parametrize("title", SAVED)
def test_what_goes_on_a_tape(title: str) -> None:
    statements, expected = SAVED[title]
    assert tapes(in_a_loop(statements)) == expected


def test_a_value_of_the_outermost_block_is_still_there() -> None:
    program = """
    def f(x: float):
        y = sqrt x
        z = multiply y, y
        return z
    """
    assert forward_of(program).splitlines() == ["y = sqrt x", "z = multiply y, y"]
    assert "sqrt" not in reverse_of(program)


def test_a_tape_begins_before_the_outermost_loop() -> None:
    lines = forward_of("""
    def f(x: float, n: int):
        cell s
        store s, x
        for k in range(0, n, 1):
            for m in range(0, n, 1):
                a = load s
                z = multiply a, a
                store s, z
        end = load s
        return end
    """).splitlines()
    assert lines.index("tape s_tape") < lines.index("for k in range(0, n, 1):")


def test_what_is_pushed_last_is_popped_first() -> None:
    program = in_a_loop("y = hypot a, x\n            z = multiply y, a")
    pushes = [s for s in forward_of(program).splitlines() if " push " in s]
    pops = [s for s in reverse_of(program).splitlines() if " = pop " in s]
    assert [s.split()[1].rstrip(",") for s in pushes] == ["y_tape", "s_tape"]
    assert [s.split()[-1] for s in pops] == ["s_tape", "y_tape"]


def test_a_literal_stays() -> None:
    sweep = swept("def f(x: float):\n    return x")
    assert need(sweep, linear(3)) == linear(3)
    assert need(sweep, sweep.function.params[0]) is sweep.function.params[0]


def test_questions_about_places_and_values() -> None:
    f = written(in_a_loop("z = multiply a, a"))
    sweep = swept(f)
    (loop,) = (s for s in f.body if isinstance(s, For))
    before, inside = [s for s in walk(f.body) if isinstance(s, Store)]
    (product,) = (s for s in walk(f.body) if isinstance(s, Let))
    (end,) = (s for s in f.body if isinstance(s, Load))
    block = Block(loop.body, sweep.root, False)
    with sweep.inside(block):
        assert owner_of(sweep, product.out) is block
        assert owner_of(sweep, end.out) is sweep.root
        assert owner_of(sweep, f.params[0]) is None
        assert is_there(sweep, f.params[0])
        assert not is_there(sweep, product.out)
        assert can_remake(sweep, f.params[0])
        assert is_kept(sweep, inside.place)
        assert not is_kept(sweep, Cell("other", FLOAT))
    # the read in the loop may come before the store there, never before the first one
    assert must_save(sweep, inside)
    assert not must_save(sweep, before)


def shorter(x, n):
    a, s = x, 0.0
    for k in range(n):
        a = np.concatenate([a[:-2], a[1:2] * a[0]]) * 1.1
        s += np.std(a) * a[0] + np.mean(a * a) * (k + 1.0) + np.var(a * 2.0)
        s += np.mean(np.linspace(a[0], a[1], len(a)) * a)
    return s


def chosen(x, n):
    a, s = x, 0.0
    for k in range(n):
        a = a[a > 0.2 * k] * 1.1
        if s > 9.0:
            return s + np.std(a)
        s += np.std(a) * a[0] + np.mean(a * a) + np.mean(np.outer(a, a))
    return s


def changed_twice(x, n):
    a, s = np.outer(x, x), 0.0
    for _ in range(n):
        a = 0.2 * np.tensordot(a, np.outer(x, x), axes=1)
        a = np.tanh(0.4 * a)
        s += np.sum(a * a) + np.min(np.meshgrid(np.flip(a), np.flip(a))[0])
    return s


@pytest.mark.parametrize("f", [shorter, chosen, changed_twice])
def test_lengths_are_those_of_the_trip(f: Any) -> None:
    x = np.array([0.7, -0.35, 1.2, 0.51, 0.3, 0.9])
    check(f, x, 3)
    gw.check_grads(lambda x: f(x, 3), (x,), order=2)
    np.testing.assert_allclose(gw.jit(gw.grad(f))(x, 3), gw.grad(f)(x, 3), rtol=1e-12)
