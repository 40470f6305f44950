"""Dependence: labels beside values, which go the ways that tangents go."""

import inspect
from typing import Any

import numpy as np
from test_array_primitives import SMOOTH, over_rows, programs
from test_array_primitives import is_complex as has_complex

import gradwright as gw
from gradwright.transform import source
from gradwright.transform.dependence import dependence
from gradwright.transform.notation import notation
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.specialise import specialise
from gradwright.transform.specialise.frame import type_of_input

X = np.array([0.5, 2.0, -1.0])


def followed(f: Any, *args: Any) -> Any:
    """The core of a program, and of what follows its dependence on the first."""
    names = inspect.signature(f).parameters
    types = dict(zip(names, map(type_of_input, args), strict=True))
    made = specialise(source.read(f), types, lambda *_: None)
    return dependence(made.function, made.inputs[:1])


def lines(f: Any, *args: Any) -> list[str]:
    return notation(followed(f, *args)[0]).splitlines()


def test_a_label_stands_beside_each_value() -> None:
    def f(x, y):
        return x * y + np.sin(x)

    assert lines(f, X, 2.0) == [
        "def f_pattern(x: array of float64 with 1 axes, y: float, "
        "x_dot: array of int64 with 1 axes):",
        "    product = multiply x, y",
        "    product_dot = shaped product, x_dot",
        "    sin = sin x",
        "    sin_dot = shaped sin, x_dot",
        "    total = add product, sin",
        "    total_dot = shaped total, product_dot, sin_dot",
        "    return total, total_dot",
    ]


def test_numbers_of_one_operand_need_no_union() -> None:
    def f(x):
        return (2.0 * x + 1.0) ** 3

    f_pattern, (label,) = followed(f, 2.0)
    assert label is f_pattern.params[1]


def test_what_is_stored_is_stored_beside() -> None:
    def f(x, n):
        s = 0.0
        y = np.zeros(3)
        for k in range(n):
            s += x[k] * x[0]
            y[k] = s
        return y

    text = lines(f, X, 3)
    assert [line.strip() for line in text if "dot" in line][1:] == [
        "buffer y_dot",
        "zeros_dot = shaped zeros",
        "store y_dot, zeros_dot",
        "cell s_dot",
        "store s_dot, 0",
        "x_k_dot = load x_dot[k]",
        "x_0_dot = load x_dot[0]",
        "product_dot = union x_k_dot, x_0_dot",
        "old = load s_dot",
        "old_dot = union old, product_dot",
        "store s_dot, old_dot",
        "s_dot_1 = load s_dot",
        "y_dot_1 = load y_dot",
        "store y_dot[k], s_dot_1",
        "y_dot_2 = load y_dot",
        "return y_2, y_dot_2",
    ]


def test_rows_that_move_elements_move_labels() -> None:
    def f(x):
        return np.roll(x, 1), np.cumsum(x)

    text = [line.split(" {")[0].strip() for line in lines(f, X)]
    assert "roll_dot = roll x_dot" in text
    assert any(line.startswith("cumsum_dot = elements x_dot, cumsum") for line in text)


def test_an_addition_joins_what_was_there() -> None:
    def f(x):
        y = np.zeros(3)
        y[:2] += x[1:]
        y[0] += x[0]
        np.add.at(y, np.array([2, 2]), x[:2])
        return y

    found = gw.jacobian(f, sparse=True)(X).toarray()
    assert found.tolist() == [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]


def wound(x):
    s = 0.0
    y = x[0]
    for a in x:
        y = np.sin(y) * a
        s += y * y
    return np.array([s, s * x[0]]), y * x


def test_sums_of_tapes_are_joined() -> None:
    """A sweep that runs for each row adds up what it gives to the tapes it reads."""

    def squares(x):
        first, second = gw.jacrev(wound)(x)
        return np.sum(first**2) + np.sum(second**2)

    f = gw.grad(squares)
    jac = gw.jacobian(f, sparse=True)
    np.testing.assert_allclose(jac(X).toarray(), gw.jacfwd(f)(X))
    assert "following.each(" in jac.sweeps_of.pattern.last.text


@over_rows(SMOOTH)
def test_no_row_loses_a_dependence(p: Primitive) -> None:
    """A new row is tested by being in the table: nothing here names it."""
    for program in programs(p):
        f, args = program.function(), program.inputs
        argnums = tuple(k for k in program.active if not has_complex(args[k]))
        if not argnums or has_complex(np.asarray(first(f(*args)))):
            continue
        found = flat(gw.jacfwd(f, argnums, sparse=True)(*args))
        dense = flat(gw.jacfwd(f, argnums)(*args))
        for a, b in zip(found, dense, strict=True):
            wanted = np.asarray(b).reshape(a.shape)
            np.testing.assert_allclose(a.toarray(), wanted, rtol=1e-9, atol=1e-12)


def first(y: Any) -> Any:
    return y[0] if isinstance(y, tuple | list) else y


def flat(jacobian: Any) -> list[Any]:
    """The blocks of a Jacobian, one by one."""
    if isinstance(jacobian, tuple | list):
        return [block for item in jacobian for block in flat(item)]
    return [jacobian]
