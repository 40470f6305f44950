"""The first NaN is blamed, with its line."""

import ast
import math
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.nans import checked, has_nan

XS = np.array([0.0, 1.0, 2.0])


def ratio(x: Any) -> Any:
    y = x - x
    z = y / np.sqrt(y)
    return np.sum(z)


def steep(x: Any) -> Any:
    y = np.sqrt(x)
    return np.sum(y * 0.0 * np.log(x + 1.0))


def grown(x: Any, n: int) -> Any:
    for _ in range(n):
        x = x * np.exp(x)
    return x - x


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("backend", ["cpu", "numpy"])
def test_the_line_of_the_function(backend: str) -> None:
    f = gw.jit(ratio, backend=backend)
    assert math.isnan(f(XS))
    with gw.debug_nans(), pytest.raises(FloatingPointError) as caught:
        f(XS)
    first, line, carets = str(caught.value).split("\n")
    assert first.startswith("test_nans.py:18: the first NaN is here, in ratio: z = ")
    assert line.strip() == "z = y / np.sqrt(y)"
    assert set(carets.strip()) == {"^"}


@pytest.mark.parametrize("backend", ["cpu", "numpy"])
def test_the_line_in_a_loop(backend: str) -> None:
    with gw.debug_nans(), pytest.raises(FloatingPointError, match="return x - x"):
        gw.jit(grown, backend=backend)(np.float64(2.0), 20)


def test_the_line_of_a_derivative() -> None:
    with gw.debug_nans(), pytest.raises(FloatingPointError) as caught:
        gw.grad(steep)(XS)
    assert "test_nans.py:24: the first NaN is here, in steep_grad" in str(caught.value)


def test_the_line_of_a_pull_and_of_a_jvp() -> None:
    with gw.debug_nans():
        _, pull = gw.vjp(gw.jit(lambda x: x * np.sqrt(x)), XS)
        with pytest.raises(FloatingPointError, match="_backward"):
            pull(np.zeros(3))
        with pytest.raises(FloatingPointError, match="_jvp"):
            gw.jvp(lambda x: np.sqrt(x), (XS,), (np.zeros(3),))


def test_a_nan_that_was_given() -> None:
    with gw.debug_nans(), pytest.raises(FloatingPointError, match="x held a NaN alre"):
        gw.jit(lambda x: 2.0 * x)(math.nan)


def test_the_arguments_are_those_of_the_call() -> None:
    """Also where the program stores into them."""

    def f(x: Any) -> Any:
        x[0] = x[0] - 1.0
        x[1] = x[0] / x[0]
        return x[1]

    with gw.debug_nans(), pytest.raises(FloatingPointError, match=r"x\[1\] = x\[0\]"):
        gw.jit(f)(np.array([1.0, 1.0]))


def test_nothing_is_printed_twice(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("once")
        return x / x

    with gw.debug_nans(), pytest.raises(FloatingPointError):
        gw.jit(f, backend="numpy")(np.zeros(1))
    assert capsys.readouterr().out == "once\n"


def test_what_is_not_taken_is_no_error() -> None:
    with gw.debug_nans():
        assert gw.jit(lambda x: np.where(x > 0, np.log(x), 0.0))(XS)[0] == 0.0
        gw.config.update("debug_nans", False)


def test_nans_in_structures() -> None:
    assert has_nan({"a": (1, [np.array([1.0, math.nan])])})
    assert has_nan(complex(0.0, math.nan)) and has_nan(np.float32(math.nan))
    assert not has_nan((1.0, "nan", None, np.array([1]), {"a": 2j}))


def test_the_checked_program() -> None:
    text = """
def f(x, xs):
    a, b = x, x + 1.0
    for _ in range(3):
        a += b
    print(a)
    xs.append(a * 2.0)
    np.add.at(x, 0, b)
    return a / b
"""
    assert ast.unparse(checked(text)).splitlines()[1:] == [
        "    a, b = (x, x + 1.0)",
        "    _check(3, a)",
        "    _check(3, b)",
        "    for _ in range(3):",
        "        a += b",
        "        _check(5, a)",
        "    pass",
        "    xs.append(_check(7, a * 2.0))",
        "    np.add.at(x, 0, b)",
        "    _check(8, x)",
        "    return _check(9, a / b)",
    ]
