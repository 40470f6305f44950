"""Cotangents: how contributions become one, and in which shape and kind."""

from typing import Any

import numpy as np
import pytest
from swept import reverse_of, swept, text

import gradwright as gw
from gradwright.transform.build import constant
from gradwright.transform.core import Cell, Let, Store, Tape, Value, type_of, walk
from gradwright.transform.primitives.structural import CAST, SPREAD
from gradwright.transform.reverse.cotangents import (
    as_kind,
    bar_of_place,
    collect,
    fills,
    find_bar,
    fitted,
    give,
    gives,
    result_bar,
    stretched,
)
from gradwright.transform.types import COMPLEX, FLOAT, Type, array, numpy_scalar

PROGRAM = """
    def f(x: float, w: float, n: int):
        y = multiply x, x
        z = multiply y, w
        return z
"""
SHAPES = [
    # own, full, does it fill, was it stretched
    ((2, 3), (2, 3), True, False),
    ((1, 3), (2, 3), False, True),
    ((1, 3), (1, 3), True, False),
    ((3,), (2, 3), False, True),
    ((), (2, 3), False, True),
]


@pytest.mark.parametrize(("own", "full", "fill", "stretch"), SHAPES)
def test_shapes(own: tuple[int], full: tuple[int], fill: bool, stretch: bool) -> None:
    a = array("float64", own) if own else FLOAT
    b = array("float64", full)
    assert fills(a, b) is fill
    assert stretched(a, b) is stretch


def test_uses_in_one_block_are_added_up() -> None:
    assert reverse_of("""
        def f(x: float, w: float):
            z = multiply x, 2.0
            t = multiply x, w
            u = add z, t
            return u
    """) == text("""
        x_bar = add w, 2.0
        return x_bar, x
    """)


def test_uses_in_nested_blocks_go_to_a_cell() -> None:
    assert reverse_of("""
        def f(x: float, n: int):
            y = multiply x, 2.0
            cell s
            store s, 0.0
            for k in range(0, n, 1):
                z = multiply y, 3.0
                store s, z
            end = load s
            return end
    """) == text("""
        cell s_bar
        store s_bar, 0.0
        add s_bar, 1.0
        cell y_bar
        store y_bar, 0.0
        for k_1 in reversed(range(0, n, 1)):
            s_bar_1 = load s_bar
            store s_bar, 0.0
            product = multiply 3.0, s_bar_1
            add y_bar, product
        store s_bar, 0.0
        y_bar_1 = load y_bar
        x_bar = multiply 2.0, y_bar_1
        return x_bar
    """)


def test_what_arrives_is_collected_once() -> None:
    sweep = swept(PROGRAM)
    x, _, n = sweep.function.params
    with sweep.inside(sweep.root):
        assert collect(sweep, x) is None
        give(sweep, x, constant(2.0), FLOAT)
        give(sweep, x, constant(3.0), FLOAT)
        assert collect(sweep, x) == constant(5.0)
        assert collect(sweep, x) is None
        give(sweep, n, constant(2.0), FLOAT)  # an int has no cotangent
        assert collect(sweep, n) is None


def test_which_statements_give() -> None:
    sweep = swept("""
        def f(x: float, w: float):
            y = multiply x, 2.0
            z = multiply w, 2.0
            cell s
            store s, y
            end = load s
            return end
    """)
    found = [gives(sweep, s) for s in sweep.function.body]
    assert found == [True, False, False, True, True]


def test_the_cotangent_of_a_place_is_a_place_of_its_kind() -> None:
    sweep = swept(PROGRAM)
    with sweep.inside(sweep.root):
        for place in (Cell("s", FLOAT), Tape("t", FLOAT)):
            assert find_bar(sweep, place) is None
            bar = bar_of_place(sweep, sweep.root, place)
            assert type(bar) is type(place)
            assert bar.name == f"{place.name}_bar"
            assert find_bar(sweep, place) is bar


def test_the_cotangent_of_a_real_number_is_real() -> None:
    sweep = swept(PROGRAM)
    x = sweep.function.params[0]
    c = Value("c", COMPLEX)
    with sweep.inside(sweep.root):
        assert not type_of(fitted(sweep, x, c, FLOAT)).is_complex
        z = Value("z", COMPLEX)
        assert fitted(sweep, z, c, COMPLEX) is c


def test_a_stretched_operand_gets_the_sum() -> None:
    sweep = swept(PROGRAM)
    wide = array("float64", (2, 3))
    c = Value("c", wide)
    with sweep.inside(sweep.root):
        row = fitted(sweep, Value("v", array("float64", (1, 3))), c, wide)
        assert [d.constant for d in type_of(row).dims or ()] == [1, 3]
        number = fitted(sweep, sweep.function.params[0], c, wide)
        assert not type_of(number).is_array
        last = sweep.builder.block[-1]
        assert isinstance(last, Let) and last.primitive.function is np.sum


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (numpy_scalar("float64"), FLOAT),
        (numpy_scalar("complex128"), COMPLEX),
    ],
)
def test_pythons_number_for_a_callee_that_wants_one(given: Type, wanted: Type) -> None:
    sweep = swept(PROGRAM)
    c = Value("c", given)
    with sweep.inside(sweep.root):
        assert type_of(as_kind(sweep, c, wanted)) == wanted
        last = sweep.builder.block[-1]
        assert isinstance(last, Let) and last.primitive is CAST
        assert as_kind(sweep, c, given) is c
        same = Value("same", wanted)
        assert as_kind(sweep, same, wanted) is same


def test_an_input_that_nothing_reaches_has_zeros() -> None:
    sweep = swept("def f(x: array, y: float):\n    z = multiply y, 2.0\n    return z")
    assert [type_of(b).is_array for b in sweep.bars] == [True, False]
    assert sweep.bars[1] == constant(2.0)
    with sweep.inside(sweep.root):
        assert result_bar(sweep, Value("u", FLOAT)) == constant(0.0)


def test_a_cotangent_of_an_array_has_its_shape() -> None:
    sweep = swept("def f(x: array):\n    y = total x\n    return y")
    assert type_of(sweep.bars[0]) == sweep.function.params[0].type
    spreads = [s for s in walk(sweep.reverse) if isinstance(s, Let)]
    assert spreads[-1].primitive is SPREAD
    assert not any(isinstance(s, Store) for s in walk(sweep.reverse))


@pytest.mark.parametrize(
    "c", [np.array(2.0), np.array([2.0]), np.float64(2.0), np.array([2.0], np.float32)]
)
def test_what_is_spread_over_a_complex_array_is_real_again(c: Any) -> None:
    """Without a warning, which a cast of complex numbers gives."""

    def f(c: Any, z: Any) -> Any:
        return np.sum(0.5 * c - np.ones_like(z)).real

    slope = gw.grad(f)(c, np.array([1.0 + 1.0j, 2.0 - 1.0j]))
    assert np.asarray(slope).dtype == np.asarray(c).dtype
    assert np.all(slope == 1.0)
