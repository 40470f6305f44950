"""Calling: functions of the program, and formulas of rows.

A function takes the frame, its arguments in registers and addresses for its results,
and returns a status; where that is not 0, its caller leaves too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir

from gradwright.backends.machine.arrays import Array
from gradwright.backends.machine.program import element_of, is_scalar
from gradwright.backends.machine.scalars import (
    WORD,
    Register,
    Scalar,
    convert,
    of_registers,
    register_types,
    registers,
)
from gradwright.transform.core import (
    Call,
    Place,
    Tape,
    Value,
    type_of,
)

if TYPE_CHECKING:
    from gradwright.backends.machine.body import Body


def call(body: Body, s: Call) -> None:
    """A function of the program."""
    given: list[Any] = []
    layouts: list[str | None] = []
    for o, p in zip(s.operands, s.function.params, strict=True):
        if isinstance(o, Tape):
            given.append(body.stacks.of(o))
            layouts.append(None)
        elif isinstance(o, Value | Place) and not is_scalar(type_of(o)):
            a = body.array(o)
            given.append(a)
            layouts.append(a.layout)
        else:
            x = convert(body.b, body.operand(o), element_of(type_of(p)))
            given.append(x)
            layouts.append(None)
    status, found = invoke(body, s.function, tuple(given), tuple(layouts))
    failed = body.b.icmp_signed("!=", status, WORD(0))
    with body.rarely(failed):
        body.b.store(status, body.status)
        body.b.branch(body.exit)
    for out, x in zip(s.outs, found, strict=True):
        if isinstance(x, Scalar):
            body.set(out, convert(body.b, x, element_of(out.type)))
        else:
            body.memory.take_over(out, x)


def invoke(
    body: Body, function: Any, given: tuple[Any, ...], layouts: tuple[Any, ...]
) -> tuple[Register, list[Any]]:
    """Call a function: its status, and its results where that is 0."""
    b = body.b
    callee = body.program.instance(function, layouts)
    passed: list[Register] = [body.frame]
    for x in given:
        if isinstance(x, Array):
            passed += [x.data, *x.dims, *x.strides]
        elif isinstance(x, Scalar):
            passed += registers(x)
        else:
            passed.append(x)
    slots: list[tuple[Register, ...]] = []
    for r in function.results:
        t = type_of(r)
        if is_scalar(t):
            slots.append(body.slots_of(t))
            for kind, place in zip(
                register_types(element_of(t)), slots[-1], strict=True
            ):
                b.store(ir.Constant(kind, None), place)
        else:
            slots.append((body.slot(ir.ArrayType(WORD, 1 + t.rank)),))
        passed += slots[-1]
    status = b.call(callee.llvm, passed)
    found: list[Any] = []
    for r, places in zip(function.results, slots, strict=True):
        t = type_of(r)
        if is_scalar(t):
            kinds = register_types(element_of(t))
            read = (b.load(p, typ=k) for p, k in zip(places, kinds, strict=True))
            found.append(of_registers(element_of(t), tuple(read)))
        else:
            found.append(places[0])
    return status, found


def formula(body: Body, f: Any, operands: tuple[Scalar, ...], fail_if: Any) -> Scalar:
    """The result of a formula; where it fails, its caller does."""
    from gradwright.backends.machine.formulas import core_of

    function = core_of(f, tuple(x.type for x in operands))
    status, (found,) = invoke(body, function, operands, tuple(None for _ in operands))
    fail_if(body.b.icmp_signed("!=", status, WORD(0)))
    assert isinstance(found, Scalar)
    return found
