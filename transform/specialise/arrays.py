"""Calls of array primitives: arguments bound by name, operands apart from the rest.

    np.sum(X, axis=1, keepdims=True)  ->  Let(out, sum, [X], {axis=1, keepdims=True})

The kinds, ranks and dims of the result are those that NumPy itself gives (`shapes`).
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from gradwright.transform.build import constant, loosen, row
from gradwright.transform.core import Const, If, Operand, Raise, Value, type_of
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Linear, linear
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.primitives.structural import ITEM
from gradwright.transform.shapes import infer
from gradwright.transform.specialise.abstract import (
    Static,
    Structure,
    as_constant,
    describe,
    is_operand,
)
from gradwright.transform.specialise.frame import Frame, NeedsLengths, ProgramError
from gradwright.transform.template import Hole, Sequence, Template
from gradwright.transform.types import Type, tuple_of

# What NumPy raises for arguments of kinds and shapes that it does not take.
REFUSED = (TypeError, ValueError, IndexError, np.linalg.LinAlgError)


def call_signed(
    frame: Frame,
    p: Primitive,
    arguments: list[Any],
    keywords: dict[str, Any],
    node: Any,
) -> Any:
    """The result of a row with a signature: an operand, or a structure of them."""
    operands: list[Operand] = []
    bound = _bound(frame, p, arguments, keywords, node)
    template = Template(
        tuple(
            (name, _argument(frame, p, name, a, operands, node))
            for name, a in bound.items()
        )
    )
    for name in p.numbers:
        if isinstance(k := template[name], Hole) and type_of(operands[k.position]).rank:
            text = f"an array for {name}= of {p.spelling} yet"
            raise frame.error(
                UnsupportedSyntax, text, node, instead="a number at a time"
            )
    for name, known in p.choices.items():
        if (chosen := template[name]) not in known:
            text = f"gradwright does not know {name}={chosen!r} of {p.spelling} yet"
            instead = " or ".join(map(repr, known))
            raise frame.error(UnsupportedSyntax, text, node, instead=instead)
    return apply_signed(frame, p, operands, template, node)


def apply_signed(
    frame: Frame, p: Primitive, operands: list[Operand], template: Template, node: Any
) -> Any:
    """The same, of operands and a template of the arguments."""
    types = [o if isinstance(o, Linear) else type_of(o) for o in operands]
    literals = {k: o.value for k, o in enumerate(operands) if isinstance(o, Const)}
    meets = []
    if p.meets is not None:
        met = p.meets(**template.filled(lambda k: types[k]))
        meets = [pair for pair in met if pair[0] != pair[1]]
        frame.unit.assume_equal(meets)

    if p.unlike_one is not None and not frame.in_rule:
        lengths = p.unlike_one(**template.filled(lambda k: types[k]))
        _assume_unlike_one(frame, p, lengths)

    def run(values: list[Any]) -> Any:
        return p.call(template.filled(lambda k: literals.get(k, values[k])))

    found: Any
    try:
        if p.result is not None:
            found = p.result(**template.filled(lambda k: types[k]))
        else:
            found = _inferred(frame, p, run, types, meets)
    except REFUSED as e:
        raise ProgramError(e) from None
    attribute = None if _is_plain(p, template) else template
    for t in [found] if isinstance(found, Type) else found:
        for length in t.dims or ():
            frame.unit.assume_length(length)
    if isinstance(found, Type):
        made = frame.builder.let(p, *operands, attribute=attribute, type=found)
        if p.stretches and not frame.in_rule and isinstance(made, Value):
            _loosen(frame, made, meets)
        return made
    return _items(frame, p, operands, attribute, found)


def _loosen(frame: Frame, out: Value, meets: list[tuple[Linear, Linear]]) -> None:
    """Take nothing for equal of which the entry cannot know: a 1 of it is stretched."""
    pairs = [pair for pair in meets if not all(map(frame.unit.sees, pair))]
    pairs = [(a, b) for a, b in pairs if 1 not in (a.constant, b.constant)]
    met = {form for pair in pairs for form in pair}
    definition: Any = frame.builder.definition[out]
    if met and definition.primitive.result is not None:
        definition.loose = True  # its own lengths are known
    elif met:
        rank = out.type.rank
        axes = [rank - k for k, d in enumerate(out.type.dims or ()) if d in met]
        loosen(out, definition, axes)


def _assume_unlike_one(frame: Frame, p: Primitive, lengths: Iterable[Linear]) -> None:
    """Lengths are taken not to be one: the entry checks them, or the program does."""
    b = frame.builder
    for n in lengths:
        if n.constant is not None or frame.unit.knows_unlike_one(n):
            continue
        if frame.unit.sees(n):
            frame.unit.at_least_zero.setdefault(n - 2)
            continue
        if not frame.program.exact:
            raise NeedsLengths
        is_one = b.operator(operator.eq, n, linear(1))
        text = f"{p.spelling} of a length that turns out to be 1 needs an axis"
        b.add(If(is_one, [Raise(ValueError, (constant(text),))], []))


def _inferred(
    frame: Frame, p: Primitive, run: Any, types: list[Any], meets: list[Any]
) -> Any:
    """What NumPy makes of examples; a dim that must equal a 1 is 1 itself."""
    try:
        return infer(run, types, meets, p.ragged)
    except REFUSED:
        ones = [pair for pair in meets if 1 in (pair[0].constant, pair[1].constant)]
        if not ones:
            raise
        found = infer(run, types, meets, p.ragged, ones=True)
        frame.unit.assume_equal(ones, stretch=False)
        return found


def _items(
    frame: Frame, p: Primitive, operands: list[Operand], attribute: Any, found: Any
) -> Structure:
    """A primitive with several results: a tuple, and its items under their names."""
    b = frame.builder
    whole = b.let(p, *operands, attribute=attribute, type=tuple_of(tuple(found)))
    fields = getattr(found, "_fields", None)
    items = [
        b.let(
            ITEM,
            whole,
            attribute=k,
            type=t,
            name=fields[k] if fields else f"{p.name}_{k}",
        )
        for k, t in enumerate(found)
    ]
    return Structure(type(found), tuple(items))


# ---- arguments ---------------------------------------------------------------------


def _bound(
    frame: Frame,
    p: Primitive,
    arguments: list[Any],
    keywords: dict[str, Any],
    node: Any,
) -> dict[str, Any]:
    """Abstract arguments by parameter; Python's values for what has a default."""
    assert p.signature is not None
    for name in keywords:
        if name not in p.signature.parameters:
            raise frame.error(
                UnsupportedSyntax,
                f"gradwright does not know {name}= of this call yet",
                node,
            )
    try:
        bound = p.signature.bind(*arguments, **keywords)
    except TypeError as e:
        raise ProgramError(TypeError(f"{p.spelling}() {e}")) from None
    bound.apply_defaults()
    return bound.arguments


def _argument(
    frame: Frame, p: Primitive, name: str, a: Any, operands: list[Operand], node: Any
) -> Any:
    """One argument as its place in a template; its operands join the others."""
    assert p.signature is not None
    if a is p.signature.parameters[name].default:
        return a
    starred = p.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
    if name in p.sequences or (starred and name in p.operands):
        items = a if starred else _items_of(frame, p, name, a, node)
        kind = tuple if starred or not isinstance(a, Structure) else a.sequence
        held = [_operand(frame, i, operands, node) for i in items]
        return Sequence(kind, tuple(held))
    if name in p.operands and not isinstance(a, Static | None):
        return _operand(frame, a, operands, node)
    return _static(frame, p, name, a, operands, node)


def _items_of(frame: Frame, p: Primitive, name: str, a: Any, node: Any) -> Any:
    if not isinstance(a, Structure) or a.sequence is None:
        raise frame.error(
            UnsupportedSyntax,
            f"{p.spelling} of {describe(a)}",
            node,
            instead="a tuple or list of arrays",
        )
    return a.items


def _operand(frame: Frame, a: Any, operands: list[Operand], node: Any) -> Hole:
    from gradwright.transform.specialise.expressions import display

    operands.append(display(frame, a, node))
    return Hole(len(operands) - 1)


def _static(
    frame: Frame, p: Primitive, name: str, a: Any, operands: list[Operand], node: Any
) -> Any:
    """What is known now stands as it is; an int may wait until the program runs."""

    def part(a: Any) -> Any:
        if isinstance(a, Structure) and a.sequence is not None:
            return Sequence(a.sequence, tuple(map(part, a.items)))
        if isinstance(a, Static | Const):
            return a.value
        if isinstance(a, Linear) and a.constant is not None:
            return a.constant
        if is_operand(a):
            if name not in p.runtime:
                return frame.static_int(a, node, f"{name}= of {p.spelling}")
            operands.append(_as_int(frame, a))
            return Hole(len(operands) - 1)
        raise frame.error(
            UnsupportedSyntax, f"{name}= of {p.spelling} is {describe(a)}", node
        )

    return part(as_constant(a) if name in p.operands else a)


def _as_int(frame: Frame, a: Operand) -> Operand:
    """An integer of NumPy's as one of Python's: lengths are forms of these."""
    t = type_of(a)
    is_number = t.is_number and not (t.python or t.is_array)
    is_whole = is_number and np.dtype(t.dtype).kind in "iu"
    return frame.builder.let(row(int, 1), a) if is_whole else a


def _is_plain(p: Primitive, template: Template) -> bool:
    """Whether the call is of operands alone, as `np.sum(x)`."""
    assert p.signature is not None
    parameters = p.signature.parameters
    return all(
        isinstance(a, Hole)
        if parameters[name].default is inspect.Parameter.empty
        else a is parameters[name].default
        for name, a in template.arguments
    ) and all(
        parameters[name].kind is not inspect.Parameter.VAR_POSITIONAL
        for name, _ in template.arguments
    )
