"""Interfaces: what functions take and return, and what of it goes."""

from collections.abc import Sequence

from gradwright.transform.build import constant, row
from gradwright.transform.core import Call, Function, Let, Operand, Value
from gradwright.transform.interface import trim
from gradwright.transform.primitives import load_rows
from gradwright.transform.reverse import Split
from gradwright.transform.types import FLOAT


def value(name: str) -> Value:
    return Value(name, FLOAT)


def doubled(x: Operand) -> Let:
    import operator

    load_rows()
    return Let(value("twice"), row(operator.mul, 2), (constant(2.0), x), adjoint=True)


def called(g: Function, outs: Sequence[Value], x: Operand) -> Function:
    """A function that calls g and returns the named results."""
    kept = [o for o in outs if o.name == "kept"]
    return Function("f", [], [Call(tuple(outs), g, (x, constant(1.0)))], list(kept))


def test_what_nobody_reads_goes_on_both_sides() -> None:
    x, unused = value("x"), value("unused")
    first, second = doubled(x), doubled(x)
    g = Function("g", [x, unused], [first, second], [first.out, second.out])
    outs = [value("lost"), value("kept")]
    f = called(g, outs, constant(3.0))
    trim([f])
    assert g.params == [x]
    assert g.results == [second.out]
    assert g.body == [second]
    (call,) = f.body
    assert isinstance(call, Call)
    assert call.outs == (outs[1],)
    assert call.operands == (constant(3.0),)


def test_a_result_that_comes_twice_comes_once() -> None:
    x, unused = value("x"), value("unused")
    s = doubled(x)
    g = Function("g", [x, unused], [s], [s.out, s.out])
    outs = [value("kept"), value("kept")]
    f = called(g, outs, constant(3.0))
    trim([f])
    assert g.results == [s.out]
    assert f.results == [outs[0], outs[0]]


def test_a_root_keeps_what_it_takes_and_returns() -> None:
    x, unused = value("x"), value("unused")
    f = Function("f", [x, unused], [], [x, x])
    trim([f])
    assert f.params == [x, unused]
    assert f.results == [x, x]


def test_residuals_that_the_backward_half_does_not_read() -> None:
    x, bar = value("x"), value("bar")
    a, b, c = value("a"), value("b"), value("c")
    s = doubled(b)
    forward = Function("f_forward", [x], [], [x, x, x, constant(1.0)])
    backward = Function("f_backward", [a, b, c, x, bar], [s], [s.out])
    split = Split(forward, backward, [a, b, c], [0], recursive=False)
    trim([forward, backward], split)
    assert forward.results == [x, x]
    assert backward.params == [b, bar]
    assert split.residuals == [b]
    assert split.needed == []


def test_a_call_that_stands_in_two_functions_is_read_where_either_reads() -> None:
    x, out = value("x"), value("out")
    s = doubled(x)
    g = Function("g", [x], [s], [s.out])
    call = Call((out,), g, (constant(3.0),))
    deaf, reader = Function("deaf", [], [call], []), Function("h", [], [call], [out])
    f = Function("f", [], [Call((), deaf, ()), Call((out,), reader, ())], [out])
    trim([f])
    assert g.results == [s.out]
    assert call.outs == (out,)
    assert call.operands == (constant(3.0),)
