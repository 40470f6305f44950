"""Tapes of machine code: numbers of every kind, tapes on tapes, memory that grows."""

import resource
from typing import Any

import numpy as np
import pytest
from loop_core import loop

from gradwright.backends import machine
from gradwright.transform.core import (
    Alloc,
    Call,
    Const,
    Function,
    Load,
    Pop,
    Push,
    Statement,
    Tape,
    Value,
)
from gradwright.transform.indices import Linear, symbol
from gradwright.transform.types import BOOL, COMPLEX, FLOAT, INT, NONE, Type
from gradwright.transform.types import numpy_scalar as scalar

MANY = Type("tape")
NUMBERS: list[tuple[Type, Any]] = [
    (FLOAT, -0.0),
    (INT, -(2**63)),
    (BOOL, True),
    (COMPLEX, 1.5 - 2.5j),
    (scalar("float32"), np.float32(0.1)),
    (scalar("complex64"), np.complex64(0.1 - 0.2j)),
    (scalar("int8"), np.int8(-7)),
    (scalar("uint64"), np.uint64(2**64 - 1)),
    (scalar("bool"), np.bool_(True)),
]


def run(f: Function, *args: Any) -> Any:
    return machine.compile(f).run(args, {})


def test_numbers_of_every_kind_come_back_in_reverse() -> None:
    tape = Tape("tape", MANY)
    params = [Value("x", t) for t, _ in NUMBERS]
    outs = [Value("y", t) for t, _ in NUMBERS]
    body: list[Statement] = [Alloc(tape), *(Push(tape, p) for p in params)]
    body += [Pop(y, tape) for y in reversed(outs)]
    given = [x for _, x in NUMBERS]
    found = run(Function("f", [*params], body, [*outs]), *given)
    assert list(map(repr, found)) == list(map(repr, given))
    assert list(map(type, found)) == list(map(type, given))


def test_an_item_is_of_the_kind_that_is_popped() -> None:
    tape, n, z = Tape("tape", MANY), Value("n", INT), Value("z", COMPLEX)
    m = Value("m", FLOAT)
    body = [Alloc(tape), Push(tape, symbol(n), COMPLEX), Push(tape, symbol(n), FLOAT)]
    f = Function("f", [n], [*body, Pop(m, tape), Pop(z, tape)], [m, z])
    assert run(f, 3) == (3.0, 3 + 0j)


def test_none_comes_back() -> None:
    maybe = Type("float", python=True, optional=True)
    tape, x, y, z = Tape("tape", MANY), Value("x", FLOAT), *values(maybe, 2)
    pushed = [Push(tape, x, maybe), Push(tape, Const(None, NONE), maybe)]
    f = Function("f", [x], [Alloc(tape), *pushed, Pop(y, tape), Pop(z, tape)], [y, z])
    assert run(f, 1.5) == (None, 1.5)


def values(t: Type, count: int) -> list[Value]:
    return [Value("v", t) for _ in range(count)]


def nested(rounds: int) -> Function:
    """So many tapes with 0, 1, ... n - 1 go onto one tape, and are summed up by it.

    Another function pushes, onto tapes that it is given.
    """
    n, given, v = Value("n", INT), Tape("given", MANY), Value("v", INT)

    def push(i: Linear) -> list[Statement]:
        return [Push(given, i)]

    filled = Function("filled", [n, given], [loop(symbol(n), push)], [symbol(n)])
    tape, inner, copy = (Tape(name, MANY) for name in ("tape", "inner", "copy"))
    m, popped, total = Value("m", INT), Tape("popped", MANY), Value("total", INT)

    def fill(_: Linear) -> list[Statement]:
        made = Call((v,), filled, (symbol(m), inner))
        return [Alloc(inner), made, Push(tape, inner)]

    def again(_: Linear) -> list[Statement]:
        return [Pop(popped, copy), loop(symbol(m), lambda _: [Pop(total, popped)])]

    out, last = values(INT, 2)
    body: list[Statement] = [
        Alloc(tape),
        Push(tape, symbol(m)),
        loop(symbol(m) * 0 + rounds, fill),
        Load(copy, tape),
        loop(symbol(m) * 0 + rounds - 1, again),
        Pop(popped, copy),
        Pop(out, copy),
        Alloc(copy),
        Push(popped, symbol(m)),
        Pop(last, popped),
    ]
    return Function("nested", [m], body, [symbol(out), symbol(last)])


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
def test_tapes_lie_on_tapes(n: int) -> None:
    assert run(nested(3), n) == (n, n)


def test_what_they_took_is_given_back() -> None:
    made = machine.compile(nested(3))

    def used(times: int) -> int:
        for _ in range(times):
            made.run((5_000,), {})
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = used(100)
    assert used(2_000) - before < 10_000  # KiB; it took 240 000 bytes each time
