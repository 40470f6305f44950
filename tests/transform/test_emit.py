"""Emit: what a core program, or the derivative of a user's, reads like."""

import builtins
import math
import re
import textwrap
from collections.abc import Callable

import numpy as np
import pytest
from written import written

import gradwright as gw
from gradwright.transform.emit import emit

COMMENT = re.compile(r"\n *# (?!forward|reverse).*")


def without_comments(text: str) -> str:
    return COMMENT.sub("", text)


# ---- core to text ------------------------------------------------------------------

CORE = {
    "used once": (
        """
        def f(x: float, w: float):
            product = multiply w, x
            y = exp product
            return y
        """,
        """
        import cmath


        def f(x, w):
            return cmath.exp(w * x)
        """,
    ),
    "used twice": (
        """
        def f(x: float, w: float):
            product = multiply w, x
            y = multiply product, product
            return y
        """,
        """
        def f(x, w):
            product = w * x
            return product * product
        """,
    ),
    "a place that changes before the use": (
        """
        def f(x: float, n: int):
            cell s
            store s, x
            for k in range(0, n, 1):
                old = load s
                store s, x
                add s, old
            end = load s
            return end
        """,
        """
        def f(x, n):
            s = x
            for _ in range(n):
                old = s
                s = x
                s += old
            return s
        """,
    ),
    "a value of one branch goes there": (
        """
        def f(x: float, c: bool):
            twice = multiply x, 2.0
            cell s
            store s, x
            if c:
                add s, twice
            end = load s
            return end
        """,
        """
        def f(x, c):
            s = x
            if c:
                s += x * 2.0
            return s
        """,
    ),
}


@pytest.mark.parametrize(("program", "text"), CORE.values(), ids=CORE)
def test_core(program: str, text: str) -> None:
    assert emit(written(program)).text == textwrap.dedent(text).lstrip("\n")


# ---- users' programs ---------------------------------------------------------------


def square(x: float) -> float:
    return x * x


def powers(x: float) -> float:
    return 2.0 * x**3 - 5.0 * x


def halves(x: float) -> float:
    y = x / 3.0
    return y * y


def chosen(x: float) -> float:
    y = x * x if x < 5.0 else 3.0 * x
    return y * y


def interval(x: float) -> float:
    return x * x if 0.0 < x < 1.0 else x


def counted(x: float, n: int) -> float:
    for _ in range(n):
        x = x * 1.5 + 1.0
    return x


def different(x: float, n: int) -> float:
    return x if n != 2 else 2.0 * x


def newton(a: float) -> float:
    y = a
    while abs(y * y - a) > 1e-12:
        y = 0.5 * (y + a / y)
    return y


GRADIENTS: dict[Callable[..., float], tuple[tuple[float | int, ...], str]] = {
    square: ((3.0,), "    return 2.0 * x"),
    powers: ((3.0,), "    return 6.0 * x**2 - 5.0"),
    halves: (
        (3.0,),
        """\
    y = x / 3.0
    return 2.0 * y / 3.0""",
    ),
    counted: (
        (3.0, 2),
        """\
    x_bar = 1.0
    for _ in range(n):
        x_bar = 1.5 * x_bar
    return x_bar""",
    ),
}


@pytest.mark.parametrize("f", GRADIENTS, ids=lambda f: f.__name__)
def test_gradient(f: Callable[..., float]) -> None:
    arguments, body = GRADIENTS[f]
    text = without_comments(gw.grad(f).source(*arguments))
    assert text.split(":\n", 1)[1].rstrip("\n") == body


@pytest.mark.parametrize(
    ("f", "arguments"),
    [
        *((f, a) for f, (a, _) in GRADIENTS.items()),
        (chosen, (3.0,)),
        (chosen, (7.0,)),
        (interval, (0.5,)),
        (different, (3.0, 2)),
        (newton, (2.0,)),
    ],
)
def test_what_is_written_runs(
    f: Callable[..., float], arguments: tuple[float, ...]
) -> None:
    text = gw.grad(f).source(*arguments)
    scope: dict[str, Callable[..., float]] = {}
    exec(text, scope)
    x, *others = arguments
    slope = (f(x + 1e-6, *others) - f(x - 1e-6, *others)) / 2e-6
    assert math.isclose(scope[f"{f.__name__}_grad"](*arguments), slope, rel_tol=1e-6)


def test_a_chained_comparison_stays_one() -> None:
    assert "if 0.0 < x < 1.0" in gw.grad(interval).source(0.5)


def test_each_line_knows_the_line_of_the_user() -> None:
    module = emit(written("def f(x: float):\n    y = multiply x, x\n    return y"))
    assert module.name == "f"
    assert module.lines == {}


def test_what_a_prompt_adds_to_the_builtins_is_no_name_of_pythons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def power(x, n):
        y = x
        for _ in range(n):
            y = y * x
        return y

    monkeypatch.setattr(builtins, "_", 3.0, raising=False)
    assert "for _ in range(n):" in gw.source(gw.grad(power), 2.0, 3)


def test_a_header_of_two_lines_moves_the_places() -> None:
    """Which sample, and which line of the user's, is found behind it."""

    def f(x: float) -> float:
        return math.sqrt(x)

    with pytest.raises(ValueError, match="math domain error") as e:
        gw.jit(gw.vmap(gw.vmap(f)))(np.array([[1.0, 2.0], [-1.0, 3.0]]))
    line, sample = e.value.__notes__
    assert line.endswith("return math.sqrt(x)")
    assert sample == "  in sample [1, 0] of vmap"
