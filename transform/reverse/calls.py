"""The adjoint of a call: one half in the forward sweep, the other in the reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright.transform.activity import active, carries
from gradwright.transform.core import (
    Alloc,
    Call,
    List,
    Statement,
    Tape,
    Value,
    is_recursive,
    type_of,
)
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.mixed import Mixed
from gradwright.transform.primitives.structural import SPREAD
from gradwright.transform.reverse.cotangents import (
    as_kind,
    collect,
    find_bar,
    give,
)
from gradwright.transform.reverse.primals import begin_tape, need
from gradwright.transform.reverse.state import Block, zero
from gradwright.transform.types import Type, fills

if TYPE_CHECKING:
    from gradwright.transform.reverse.halves import Split
    from gradwright.transform.reverse.sweep import Sweep


def reverse_call(sweep: Sweep, block: Block, k: int, s: Call) -> Statement:
    """Call g_forward in the forward sweep and g_backward in the reverse sweep."""
    given = [o in sweep.active for o in s.operands]
    if is_recursive(s.function):  # one form of it, whatever the call
        given = [carries(p) for p in s.function.params]
    wanted = [o in sweep.active for o in s.outs]
    pushed = any(isinstance(o, Tape) and o in sweep.active for o in s.operands)
    if not any(wanted) and not pushed:
        return s
    refuse_lists(sweep, s)
    bars = [
        tape_bar(sweep, o) if isinstance(o, Tape) else collect(sweep, o) if w else None  # type: ignore[arg-type]
        for o, w in zip(s.outs, wanted, strict=True)
    ]
    if all(g is None for g in bars) and not pushed:
        return s
    refuse_call(sweep, s)
    chosen = tuple(isinstance(g, Value) and g in sweep.masked for g in bars)
    split = sweep.splits.split(s.function, tuple(given), chosen)
    residuals = handed_over(sweep, s, split)
    forward = Call(
        (*s.outs, *residuals),
        split.forward,
        (*s.operands, *tape_operand(sweep, block, split)),
        where=s.where,
    )
    for r in residuals:
        block.defined[r] = k
    operands: list[Any] = [
        *(need(sweep, r) for r in residuals),
        *(need(sweep, s.operands[j]) for j in split.needed),
        *(
            given_cotangent(sweep, g, o)
            for g, o in zip(bars, s.outs, strict=True)
            if carries(o)
        ),
        *(tape_bar(sweep, o) for o in s.operands if isinstance(o, Tape)),
        *tape_operand(sweep, block, split),
    ]
    outs = []
    for o, a in zip(s.operands, given, strict=True):
        if a and not isinstance(o, Tape):
            outs.append((o, Value(f"{getattr(o, 'name', 'unused')}_bar", type_of(o))))
    sweep.builder.add(Call(tuple(v for _, v in outs), split.backward, tuple(operands)))
    for o, out in outs:
        if any(chosen):
            sweep.masked.add(out)
        give(sweep, o, out, out.type)
    return forward


def refuse_lists(sweep: Sweep, s: Call) -> None:
    """The halves of a function with lists hand them over, and do that once."""
    if any(o in sweep.active for o in (*s.outs, *s.operands) if isinstance(o, List)):
        raise UnsupportedSyntax(
            "gradwright does not go back yet through the halves of a function "
            "with a list whose length only the run knows",
            at=s.where,
            instead="grad in the place of vjp or linearize inside the program",
        )


def refuse_call(sweep: Sweep, s: Call) -> None:
    """A called function is written for arrays; what it returns has a shape."""
    f = s.function
    between = active(f, {p for p in f.params if carries(p)}, set(f.results))
    returned = Mixed(f, between).active.intersection(f.results)
    if returned or sweep.mixed.active.intersection(s.operands):
        raise UnsupportedSyntax(
            "gradwright does not differentiate a call that takes or returns what is "
            "a number first and an array later in a loop",
            at=s.where,
            instead="an array from the start, as in np.full(...)",
        )


def given_cotangent(sweep: Sweep, g: Any, out: Any) -> Any:
    """The cotangent of a result as g_backward takes it: of the result's shape."""
    if isinstance(g, Tape):
        return g
    g = zero(out.type) if g is None else as_kind(sweep, g, out.type)
    if not out.type.is_array or fills(type_of(g), out.type):
        return g
    return sweep.builder.let(SPREAD, g, need(sweep, out), type=out.type)


def tape_bar(sweep: Sweep, o: Tape) -> Tape:
    """The tape of cotangents beside a tape; an empty one where nothing flows."""
    bar = find_bar(sweep, o)
    if bar is None:
        bar = Tape(f"{o.name}_bar", o.type)
        sweep.builder.add(Alloc(bar))
    assert isinstance(bar, Tape)
    return bar


def handed_over(sweep: Sweep, s: Call, split: Split) -> list[Any]:
    """What g_forward hands over at this call, the same in every round."""
    made, key = sweep.residuals, (s, split.forward)
    if key not in made or len(made[key]) != len(split.residuals):
        handed = split.forward.results[len(s.function.results) :]
        made[key] = [
            type(r)(r.name, r.type)
            if isinstance(r, Tape | List)
            else Value(r.name, type_of(h))
            for r, h in zip(split.residuals, handed, strict=True)
        ]
    return made[key]


def tape_operand(sweep: Sweep, block: Block, split: Split) -> tuple[Any, ...]:
    """The tape that a recursive function and its callers share."""
    if not split.recursive:
        return ()
    if sweep.tape is not None:
        return (sweep.tape,)
    tapes: dict[Any, Tape] = sweep.call_tapes
    key = split.forward
    if key not in sweep.tapes:
        tape = tapes.setdefault(key, Tape("tape", Type("tape")))
        sweep.tapes[key] = tape
    begin_tape(sweep, sweep.tapes[key])
    return (sweep.tapes[key],)
