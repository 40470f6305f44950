"""The core: what statements read and define, walking, and rewriting without sharing."""

import operator
from collections.abc import Sequence

import pytest

from gradwright.transform import core
from gradwright.transform.build import constant, row
from gradwright.transform.core import (
    AddUp,
    Alloc,
    Assert,
    At,
    Break,
    Buffer,
    Call,
    Cell,
    Const,
    Effect,
    Exchange,
    For,
    Function,
    If,
    Insert,
    Let,
    Library,
    List,
    Load,
    Pop,
    Push,
    Raise,
    Remove,
    Resize,
    Span,
    Statement,
    Store,
    Substitution,
    Take,
    Tape,
    Value,
    While,
)
from gradwright.transform.indices import Dim, linear, symbol
from gradwright.transform.notation import notation
from gradwright.transform.primitives import load_rows
from gradwright.transform.types import BOOL, FLOAT, INT, array

load_rows()
MULTIPLY = row(operator.mul, 2)

x, y, z = (Value(n, FLOAT) for n in "xyz")
i, n = Value("i", INT), Value("n", INT)
test = Value("test", BOOL)
xs = Value("xs", array("float64", (symbol(n),)))
cell, tape, other = Cell("cell", FLOAT), Tape("tape", FLOAT), Tape("other", FLOAT)
zeros, shaped = Tape("zeros", FLOAT), Buffer("shaped", xs.type, (symbol(n), symbol(i)))
zeros.like = tape
items, rest = List("items", FLOAT), List("rest", FLOAT)
rest.length = symbol(n)
callee = Function("callee", [x], [], [x])

# statement, what it reads, what it defines, what it changes
READS = [
    (Let(y, MULTIPLY, (x, constant(2.0))), {x}, {y}, set()),
    (Load(y, cell), {cell}, {y}, set()),
    (Load(y, xs, (At(symbol(i) + symbol(n)),)), {xs, i, n}, {y}, set()),
    (Load(xs, xs, (Span(None, symbol(Dim(xs, 0)) - 1, None),)), {xs}, {xs}, set()),
    (Alloc(cell), set(), set(), {cell}),
    (Store(cell, x), {x}, set(), {cell}),
    (Store(cell, x, accumulate=True), {x, cell}, set(), {cell}),
    (Exchange((shaped,), (shaped,)), {shaped}, set(), {shaped}),
    (Resize(shaped, symbol(n)), {shaped, n}, set(), {shaped}),
    (Library((shaped, y), MULTIPLY, (xs, x)), {xs, x}, {y}, {shaped}),
    (Push(tape, x), {x, tape}, set(), {tape}),
    (Pop(y, tape), {tape}, {y}, {tape}),
    (Load(other, tape), {tape}, {other}, set()),
    (Insert(items, x, symbol(i)), {x, i, items}, set(), {items}),
    (Insert(items, x), {x, items}, set(), {items}),
    (Remove(y, items, symbol(i)), {i, items}, {y}, {items}),
    (Take(items, rest), {rest}, set(), {items, rest}),
    (Load(rest, items, (Span(linear(1)),)), {items}, {rest}, set()),
    (Alloc(rest), {n}, set(), {rest}),
    (AddUp(tape, other), {tape, other}, set(), {tape}),
    (Alloc(zeros), {tape}, set(), {zeros}),
    (Alloc(shaped), {n, i}, set(), {shaped}),
    (For(i, linear(0), symbol(n), linear(1), [Store(cell, x)]), {n}, {i}, {cell}),
    (While([Load(test, cell)], test, []), {test}, set(), set()),
    (If(test, [Store(cell, x)], [Push(tape, y)]), {test}, set(), {cell, tape}),
    (Break(), set(), set(), set()),
    (Effect(print, (x,), (("sep", y),)), {x, y}, set(), set()),
    (Raise(ValueError, (x,)), {x}, set(), set()),
    (Assert(test, [], y), {test, y}, set(), set()),
    (Call((y, z), callee, (x,)), {x}, {y, z}, set()),
]


@pytest.mark.parametrize(("s", "reads", "defines", "stores"), READS)
def test_reads_and_defines(
    s: Statement, reads: set[object], defines: set[object], stores: set[object]
) -> None:
    assert set(core.reads(s)) == reads
    assert set(core.defines(s)) == defines
    assert core.stores(s) == stores


def test_every_statement_is_in_the_table() -> None:
    assert {type(s) for s, *_ in READS} == set(Statement.__subclasses__())


def test_a_copy_has_dims_of_its_own() -> None:
    """Lengths of what the copy defines are those of the copies."""
    rows = Value("rows", array("float64", (symbol(Dim(xs, 0)),)))
    ys = Value("ys", array("float64", (symbol(Dim(rows, 0)),)))
    block = [Load(rows, xs), Load(ys, rows), Alloc(Buffer("b", ys.type, (symbol(n),)))]
    given = Value("given", xs.type)
    first, second, third = core.fresh(block, {xs: given, n: y}).block(block)
    assert first.source is given and second.source is first.out is not rows
    assert first.out.type.dims == (symbol(Dim(given, 0)),)
    assert second.out.type.dims == (symbol(Dim(first.out, 0)),)
    assert third.place.like == (symbol(y),)
    assert rows.type.dims == (symbol(Dim(xs, 0)),)


def test_walk_reaches_every_block() -> None:
    inner = [Store(cell, x), Store(cell, y), Store(cell, z), Load(y, cell), Break()]
    nested = If(
        test,
        [While([inner[0]], test, [inner[1]])],
        [For(i, linear(0), linear(3), linear(1), [Assert(test, [inner[2]], None)])],
    )
    found = [s for s in core.walk([nested, inner[3], inner[4]]) if s in inner]
    assert found == inner
    assert {v for s in [nested] for v in core.all_reads(s)} == {test, x, y, z}


@pytest.mark.parametrize(("a", "b"), [(0.0, -0.0), (1, True), (1, 1.0), (1.0, 1 + 0j)])
def test_constants_differ_as_python_prints_them(a: complex, b: complex) -> None:
    assert Const(a, FLOAT) != Const(b, FLOAT)
    assert Const(a, FLOAT) == Const(a, FLOAT)


def test_nan_is_one_constant() -> None:
    assert len({Const(float("nan"), FLOAT), Const(float("nan"), FLOAT)}) == 1


# ---- functions that call functions -------------------------------------------------


def function(name: str, *callees: Function) -> Function:
    return Function(name, [], [Call((), f, ()) for f in callees], [])


def test_program_puts_callees_first() -> None:
    leaf = function("leaf")
    left, right = function("left", leaf), function("right", leaf)
    main = function("main", right, left)
    assert [f.name for f in core.program(main)] == ["leaf", "right", "left", "main"]


def test_recursion_is_seen_through_other_functions() -> None:
    even = function("even")
    odd = function("odd", even)
    even.body.append(Call((), odd, ()))
    main = function("main", odd)
    assert core.is_recursive(odd)
    assert core.is_recursive(even)
    assert not core.is_recursive(main)


# ---- rewriting ---------------------------------------------------------------------


def loop() -> list[Statement]:
    """A block with one of each: a cell, a loop with its symbol, an index, a dim."""
    total, k = Cell("total", FLOAT), Value("k", INT)
    a, b, end = Value("a", FLOAT), Value("b", FLOAT), Value("end", FLOAT)
    return [
        Alloc(total),
        Store(total, constant(0.0)),
        For(
            k,
            linear(0),
            symbol(Dim(xs, 0)) - 1,
            linear(1),
            [
                Load(a, xs, (At(symbol(k) + 1),)),
                Let(b, MULTIPLY, (a, x)),
                Store(total, b, accumulate=True),
            ],
        ),
        Load(end, total),
    ]


def shown(body: Sequence[Statement]) -> str:
    return notation(Function("f", [xs, x], list(body), [])).split("\n", 1)[1]


def test_substitution_reaches_operands_indices_and_dims() -> None:
    ys = Value("ys", array("float64", (symbol(n),)))
    before = loop()
    after = Substitution({xs: ys, x: constant(2.0)}).block(before)
    text = shown(before).replace("xs", "ys")
    assert shown(after) == text.replace("multiply a, x", "multiply a, 2.0")


def test_substitution_leaves_the_old_block_alone() -> None:
    before = loop()
    text = shown(before)
    Substitution({xs: Value("ys", xs.type), x: y}).block(before)
    assert shown(before) == text


def test_a_clone_reads_the_same_and_shares_nothing_it_defines() -> None:
    before = loop()
    after = core.clone(before)
    assert shown(after) == shown(before)

    def own(block: list[Statement]) -> set[object]:
        places = {s.place for s in core.walk(block) if isinstance(s, Alloc)}
        return places | {v for s in core.walk(block) for v in core.defines(s)}

    assert len(own(before)) == len(own(after)) == 5
    assert not own(before) & own(after)
