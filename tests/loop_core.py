"""Small programs of loop core, written by hand, for the tests of what compiles it."""

import operator
from typing import Any

from gradwright.transform.core import (
    Alloc,
    At,
    Buffer,
    Cell,
    For,
    Function,
    If,
    Let,
    Load,
    Operand,
    Resize,
    Statement,
    Store,
    Value,
    While,
    type_of,
)
from gradwright.transform.indices import Dim, Linear, linear, symbol
from gradwright.transform.primitives import load_rows
from gradwright.transform.primitives.record import TABLE
from gradwright.transform.types import INT, Type, array, numpy_scalar

load_rows()
F64 = numpy_scalar("float64")


def array_of(name: str, rank: int, dtype: str = "float64") -> Value:
    """A parameter of so many axes."""
    v = Value(name, Type(dtype, dims=()))
    v.type = array(dtype, tuple(symbol(Dim(v, k)) for k in range(rank)))
    return v


def buffer(name: str, *shape: Operand, dtype: str = "float64") -> Buffer:
    """An array of the program's own."""
    return Buffer(name, array(dtype, (linear(0),) * len(shape)), shape)


def let(function: Any, *operands: Operand) -> Let:
    """One row of the table."""
    p = TABLE.find(function, len(operands))
    assert p is not None
    return Let(Value("v", p.type_rule(*map(type_of, operands))), p, operands)


def loop(stop: Linear, body: Any) -> For:
    """A loop from 0; the body is made of its variable."""
    i = Value("i", INT)
    return For(i, linear(0), stop, linear(1), body(symbol(i)))


def whole(place: Any) -> tuple[Load, Value]:
    """A buffer as a value, and the load that makes it one."""
    v = Value(place.name, place.type)
    return Load(v, place), v


def element(source: Any, *places: Operand, safe: bool = False) -> Load:
    """An element of an array."""
    v = Value("element", source.type.element)
    return Load(v, source, tuple(map(At, places)), safe=safe)


def doubled(blank: bool = False) -> Function:
    """Twice an array, element by element."""
    x = array_of("x", 1)
    out = Buffer("out", x.type, x)

    def body(i: Linear) -> list[Statement]:
        a = element(x, i, safe=True)
        total = let(operator.add, a.out, a.out)
        return [a, total, Store(out, total.out, (At(i),), safe=True)]

    load, result = whole(out)
    loops = loop(symbol(Dim(x, 0)), body)
    return Function("doubled", [x], [Alloc(out, blank=blank), loops, load], [result])


def growing() -> Function:
    """0.0, 1.0, ... below a limit, on a tape that doubles."""
    limit = Value("limit", INT)
    count, room = Cell("count", INT), Cell("room", INT)
    tape = buffer("tape", linear(4))
    k, n, r, e = (Value(name, INT) for name in ("k", "n", "r", "e"))
    test = let(operator.lt, symbol(k), symbol(limit))
    full = let(operator.ge, symbol(n), symbol(r))
    as_float = let(float, symbol(n))
    grow: list[Statement] = [
        Resize(tape, symbol(r) * 2),
        Store(room, symbol(r) * 2),
    ]
    inside: list[Statement] = [
        Load(n, count),
        Load(r, room),
        full,
        If(full.out, grow, []),
        as_float,
        Store(tape, as_float.out, (At(symbol(n)),), safe=True),
        Store(count, symbol(n) + 1),
    ]
    load, result = whole(tape)
    body: list[Statement] = [
        Alloc(count),
        Store(count, linear(0)),
        Alloc(room),
        Store(room, linear(4)),
        Alloc(tape, blank=True),
        While([Load(k, count), test], test.out, inside),
        Load(e, count),
        Resize(tape, symbol(e)),
        load,
    ]
    return Function("growing", [limit], body, [result, symbol(e)])


def triangle() -> Function:
    """The sum of rows that begin anew, each of another length."""
    n = Value("n", INT)
    total = Cell("total", F64)

    def each(i: Linear) -> list[Statement]:
        row = buffer("row", i)

        def fill(j: Linear) -> list[Statement]:
            a = element(row, j)
            one = let(operator.add, a.out, linear(1))
            return [a, one, Store(row, one.out, (At(j),))]

        def add(j: Linear) -> list[Statement]:
            a = element(row, j)
            return [a, Store(total, a.out, accumulate=True)]

        return [Alloc(row), loop(i, fill), loop(i, add)]

    v = Value("total", F64)
    body = [Alloc(total), Store(total, linear(0)), loop(symbol(n), each)]
    return Function("triangle", [n], [*body, Load(v, total)], [v])
