"""What differs from sample to sample, and what they all share."""

import numpy as np
from loop_core import array_of, let

from gradwright.transform.core import (
    At,
    Break,
    Cell,
    Const,
    For,
    If,
    Load,
    Operand,
    Statement,
    Store,
    Value,
)
from gradwright.transform.indices import linear, symbol
from gradwright.transform.lowering.differences import Differences
from gradwright.transform.types import BOOL, INT, numpy_scalar

F64 = numpy_scalar("float64")
INDEX = Value("i", INT)
A = array_of("a", 1)


def looked(body: list[Statement]) -> Differences:
    found = Differences(INDEX, set(), set())
    found.look(body)
    return found


def element() -> Load:
    return Load(Value("x", F64), A, (At(symbol(INDEX)),), safe=True)


def up_to(stop: Operand, body: list[Statement]) -> For:
    return For(Value("t", INT), linear(0), stop, linear(1), body)


def test_what_is_made_of_an_element_of_its_own() -> None:
    x, shared = element(), Value("w", F64)
    doubled, other = let(np.sin, x.out), let(np.sin, shared)
    found = looked([x, doubled, other])
    assert found.differs(x.out) and found.differs(doubled.out)
    assert not found.differs(other.out)


def test_a_name_is_carried_round_a_loop() -> None:
    cell, x = Cell("s", F64), element()
    before = Load(Value("s", F64), cell)
    loop = up_to(linear(3), [before, Store(cell, x.out)])
    found = looked([x, Store(cell, Const(0.0, F64)), loop])
    assert cell in found.values and found.differs(before.out)
    assert not found.ways


def test_what_is_stored_where_samples_part() -> None:
    flag, cell = (
        Load(Value("c", BOOL), A, (At(symbol(INDEX)),), safe=True),
        Cell("k", INT),
    )
    branch = If(flag.out, [Store(cell, linear(1))], [])
    found = looked([flag, branch])
    assert id(branch) in found.ways and cell in found.values
    assert cell not in looked([If(Value("c", BOOL), branch.then, [])]).values


def test_loops_that_some_leave() -> None:
    flag = Load(Value("c", BOOL), A, (At(symbol(INDEX)),), safe=True)
    loop = up_to(linear(9), [flag, If(flag.out, [Break()], [])])
    found = looked([loop])
    assert id(loop) in found.ways and id(loop) in found.left
    shared = up_to(linear(9), [If(Value("c", BOOL), [Break()], [])])
    assert not looked([shared]).ways


def test_loops_of_different_lengths() -> None:
    n = Load(Value("n", INT), A, (At(symbol(INDEX)),), safe=True)
    loop = up_to(symbol(n.out), [])
    found = looked([n, loop])
    assert id(loop) in found.ways and not found.left
    assert loop.symbol not in found.values  # trip by trip, of all that take part
