"""Control: loops, branches and what is raised, as blocks of LLVM.

    for i in range(n):      test; body: i = phi(0, i + 1) ... test again

The test of a loop stands at its end, as the vectoriser wants it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gradwright.backends.machine import sites
from gradwright.backends.machine.scalars import (
    BIT,
    LEAST,
    MOST,
    WORD,
    Scalar,
    convert,
    truth,
    word,
)
from gradwright.transform.core import (
    Assert,
    Const,
    For,
    If,
    While,
)
from gradwright.transform.types import INT

if TYPE_CHECKING:
    from gradwright.backends.machine.body import Body

RARE = 1, 10_000  # how often a branch to a failure is taken, and not


def branch(body: Body, s: If) -> None:
    """One of two blocks."""
    b = body.b
    condition = truth(b, body.operand(s.condition))
    then, orelse, after = (body.llvm.append_basic_block() for _ in range(3))
    b.cbranch(condition, then, orelse)
    for start, inside in ((then, s.then), (orelse, s.orelse)):
        b.position_at_end(start)
        body.block(inside)
        if not b.block.is_terminated:
            b.branch(after)
    b.position_at_end(after)


def loop_while(body: Body, s: While) -> None:
    """A loop whose header computes its test."""
    b = body.b
    head, inside, after = (body.llvm.append_basic_block() for _ in range(3))
    b.branch(head)
    b.position_at_end(head)
    body.block(s.header)
    goes_on = truth(b, body.operand(s.condition))
    if not body.program.careful:  # what failed may keep the loop from ending
        goes_on = b.and_(goes_on, b.not_(b.load(body.noted, typ=BIT)))
    b.cbranch(goes_on, inside, after)
    b.position_at_end(inside)
    with looping(body, after):
        body.block(s.body)
    if not b.block.is_terminated:
        b.branch(head)
    b.position_at_end(after)


@contextmanager
def looping(body: Body, after: Any) -> Iterator[None]:
    """Where a `break` inside leads."""
    body.leave.append(after)
    yield
    body.leave.pop()


def loop_over(body: Body, s: For) -> None:
    """A loop over a range."""
    start, stop, step = (
        convert(body.b, body.operand(o), INT) for o in (s.start, s.stop, s.step)
    )
    if s is body.program.shared:
        start, stop = body.share_of(start, stop)
    if step.low == step.high == 1 and not s.backwards:
        _count(body, s, start, stop, 1)
    elif step.low == step.high == 1:
        last = Scalar(INT, (body.b.sub(stop.part, WORD(1)),), start.low, stop.high)
        _count(body, s, last, start, -1)
    else:
        _stride(body, s, start, stop, step)


def _count(body: Body, s: For, first: Scalar, end: Scalar, step: int) -> None:
    """A loop by one, upwards to the end or downwards through it."""
    b = body.b
    order = "<" if step == 1 else ">="
    inside, after = body.llvm.append_basic_block(), body.llvm.append_basic_block()
    before = b.block
    if step == -1:  # first is one below where it stops, which may be the least int
        enters = b.icmp_signed("<", end.part, b.add(first.part, WORD(1)))
    else:
        enters = b.icmp_signed(order, first.part, end.part)
    b.cbranch(enters, inside, after)
    b.position_at_end(inside)
    symbol = b.phi(WORD)
    symbol.add_incoming(first.part, before)
    low, high = (first.low, end.high - 1) if step == 1 else (end.low, first.high - 1)
    body.set(s.symbol, word(symbol, max(low, LEAST), min(high, MOST)))
    with looping(body, after):
        body.block(s.body)
    if not b.block.is_terminated:
        following = b.add(symbol, WORD(step), flags=["nsw"])
        symbol.add_incoming(following, b.block)
        goes_on = b.icmp_signed(order, following, end.part)
        b.cbranch(goes_on, inside, after)
    b.position_at_end(after)


def _stride(body: Body, s: For, start: Scalar, stop: Scalar, step: Scalar) -> None:
    """A loop by another step: trips are counted, as Python's range counts."""
    b = body.b
    if step.low <= 0 <= step.high:
        error = sites.says(ValueError, "range() arg 3 must not be zero")
        body.fail_if(b.icmp_signed("==", step.part, WORD(0)), error, ())
    up = b.icmp_signed(">", step.part, WORD(0))
    enters = b.select(
        up,
        b.icmp_signed("<", start.part, stop.part),
        b.icmp_signed(">", start.part, stop.part),
    )
    way = b.select(up, b.sub(stop.part, start.part), b.sub(start.part, stop.part))
    size = b.select(up, step.part, b.neg(step.part))
    trips = b.add(b.udiv(b.sub(way, WORD(1)), size), WORD(1))
    inside, after = body.llvm.append_basic_block(), body.llvm.append_basic_block()
    before = b.block
    b.cbranch(enters, inside, after)
    b.position_at_end(inside)
    trip = b.phi(WORD)
    trip.add_incoming(WORD(0), before)
    at = b.sub(b.sub(trips, WORD(1)), trip) if s.backwards else trip
    symbol = b.add(start.part, b.mul(at, step.part))
    low, high = min(start.low, stop.low), max(start.high, stop.high)
    body.set(s.symbol, word(symbol, low, high))
    with looping(body, after):
        body.block(s.body)
    if not b.block.is_terminated:
        following = b.add(trip, WORD(1))
        trip.add_incoming(following, b.block)
        b.cbranch(b.icmp_unsigned("<", following, trips), inside, after)
    b.position_at_end(after)


def raised(body: Body, kind: type[BaseException], operands: Any) -> None:
    """The user's own exception."""
    arguments: list[Any] = []
    given: list[Scalar] = []
    for o in operands:
        if isinstance(o, Const):
            arguments.append((o.value,))
        elif o in body.texts:
            text = body.texts[o]
            arguments.append((text.attribute, len(given)))
            given += [body.operand(p) for p in text.operands]
        else:
            arguments.append(len(given))
            given.append(body.operand(o))
    body.fail(sites.of_user(kind, arguments), tuple(given))


def asserted(body: Body, s: Assert) -> None:
    """An assertion; its message is made where it fails."""
    b = body.b
    holds = truth(b, body.operand(s.condition))
    good, bad = body.llvm.append_basic_block(), body.llvm.append_basic_block()
    b.cbranch(holds, good, bad).set_weights(RARE[::-1])
    b.position_at_end(bad)
    body.block(s.header)
    if not b.block.is_terminated:
        message = () if s.message is None else (s.message,)
        raised(body, AssertionError, message)
    b.position_at_end(good)
