"""Lists of run-time length: places of the core that grow and shrink.

    xs = []                      Alloc(xs)
    for k in range(n):           For(k, 0, n, 1, [
        xs.append(x * k)   ->        Let(product, mul, [x, k]), Insert(xs, product)])
    return xs[-1]                Load(item, xs, [-1])

A list is one list of the core, or one for each part of what it holds: a list of pairs
is two lists.  What it holds is found by attempts, as it is where it begins that the
kind of its items must be known.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from gradwright.transform.build import convert, with_own_dims
from gradwright.transform.core import (
    Alloc,
    At,
    Insert,
    Length,
    List,
    Load,
    Operand,
    Remove,
    Span,
    Store,
    Take,
    Value,
    type_of,
)
from gradwright.transform.errors import AliasError, UnsupportedSyntax
from gradwright.transform.indices import Linear, linear, symbol
from gradwright.transform.specialise.abstract import (
    Listed,
    Structure,
    as_constant,
    describe,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.specialise.births import Kind, Promotion, note_change
from gradwright.transform.specialise.frame import Frame, ProgramError
from gradwright.transform.specialise.methods import call_function
from gradwright.transform.types import FLOAT, INT, VARYING, Type, join

OPEN = Linear({"open": 1})
"""The dim of items of which none is there yet."""


# ---- lists of run-time length begin ------------------------------------------------


def begin(frame: Frame, origin: Any, node: Any, length: Operand | None = None) -> Any:
    """An empty list, or one of so many zeros."""
    from gradwright.transform.specialise.units import InlineInstead

    program = frame.program
    if frame.unit is not program.root and not frame.unit.stands_alone:
        raise InlineInstead("has a list whose length only the run knows")
    kind = program.kinds.setdefault(origin, Kind())
    made = Listed(origin, kind, None, tuple(program.constructs))
    if kind.tree is not None:
        made.tree = mapped(lambda t: List("items", t), kind.tree)
        for place in leaves(made.tree):
            place.length = length
            frame.builder.add(Alloc(place))
    return made


def named(listed: Listed, name: str) -> None:
    """Give a list the name to which it is bound first."""
    if listed.named:
        return
    listed.named = True

    def name_all(tree: Any, name: str) -> None:
        if isinstance(tree, Structure):
            for label, item in zip(tree.labels, tree.items, strict=True):
                name_all(item, f"{name}_{label}")
        elif tree is not None:
            tree.name = name

    name_all(listed.tree, name)


def _kind_of(frame: Frame, a: Any, node: Any) -> Any:
    """The types of what is put into a list."""
    if isinstance(a, Structure) and a.keys is None:
        return a.of(_kind_of(frame, item, node) for item in a.items)
    a = as_constant(a)
    if not is_operand(a) or not type_of(a).is_number:
        raise frame.error(
            UnsupportedSyntax,
            f"{describe(a)} in a list of run-time length",
            node,
            instead="numbers, arrays, or tuples of them",
        )
    t = type_of(a)
    if t.dims is not None:
        seen = frame.unit.sees
        t = replace(t, dims=tuple(d if seen(d) else VARYING for d in t.dims))
    return replace(t, optional=False)


def _joined(frame: Frame, a: Any, b: Any, node: Any) -> Any:
    """The types of what holds both."""
    if isinstance(a, Structure) and isinstance(b, Structure) and a.form == b.form:
        pairs = zip(a.items, b.items, strict=True)
        return a.of(_joined(frame, x, y, node) for x, y in pairs)
    if isinstance(a, Type) and isinstance(b, Type) and a.is_array is b.is_array:
        if a.dims and b.dims and OPEN in (*a.dims, *b.dims) and a.rank == b.rank:
            pairs = zip(a.dims, b.dims, strict=True)
            a = replace(a, dims=tuple(y if x == OPEN else x for x, y in pairs))
            pairs = zip(a.dims or (), b.dims, strict=True)
            b = replace(b, dims=tuple(x if y == OPEN else y for x, y in pairs))
        joined = join(a, b)
        if joined is not None:
            return joined
    raise frame.error(
        UnsupportedSyntax,
        f"a list of run-time length holds {_words(a)} and {_words(b)}",
        node,
        instead="items of one kind",
    )


def _words(kind: Any) -> str:
    return describe(kind) if isinstance(kind, Structure) else f"a value of type {kind}"


def _same_kind(a: Any, b: Any) -> bool:
    if isinstance(a, Structure) and isinstance(b, Structure):
        pairs = zip(a.items, b.items, strict=False)
        return a.form == b.form and all(_same_kind(x, y) for x, y in pairs)
    return bool(a == b)


def _kept(t: Type) -> Type:
    """A type as the next attempt can know it: without lengths of this one's arrays."""
    if t.dims is None:
        return t
    known = (VARYING, OPEN)
    dims = (d if d.constant is not None or d in known else OPEN for d in t.dims)
    return replace(t, dims=tuple(dims))


def _settle_kind(frame: Frame, listed: Listed, item: Any, node: Any) -> None:
    """Let the list take items of this kind; specialise anew where it did not."""
    _refuse_old(frame, listed)
    wanted, kind = _kind_of(frame, item, node), listed.kind
    if kind.tree is None or kind.guessed:
        raise Promotion(_origin_of(listed), Kind(mapped(_kept, wanted)))
    now = mapped(lambda place: place.type, listed.tree)
    joined = _joined(frame, now, wanted, node)
    if _same_kind(joined, now):
        return
    opened = [p for p in leaves(listed.tree) if OPEN in (p.type.dims or ())]
    if opened and _same_kind(mapped(_kept, joined), mapped(_kept, now)):
        pairs = zip(leaves(listed.tree), leaves(joined), strict=True)
        for place, t in pairs:
            place.type = t
        return
    raise Promotion(_origin_of(listed), Kind(mapped(_kept, joined)))


def settled(frame: Frame, listed: Listed) -> Any:
    """The places of a list whose items are read now."""
    if listed.kind.tree is None:
        raise Promotion(_origin_of(listed), Kind(FLOAT, guessed=True))
    _refuse_old(frame, listed)
    for place in leaves(listed.tree):
        if OPEN in (place.type.dims or ()):
            varying = (VARYING if d == OPEN else d for d in place.type.dims)
            place.type = replace(place.type, dims=tuple(varying))
    return listed.tree


def first_place(listed: Listed) -> List | None:
    """A list of the core that is as long as the list."""
    return next((p for p in leaves(listed.tree) if p is not None), None)


# ---- variables that a loop or branch assigns ---------------------------------------


def adopted(frame: Frame, name: str, value: Listed, node: Any) -> Listed:
    """The list that a variable holds on entry is the variable's own from there on."""
    if value.version is not None:
        raise _shared(frame, name, node)
    held = replace(value)
    for place in leaves(held.tree):
        _renew(frame, place)
    return held


def variable(frame: Frame, slot: Any, value: Listed) -> Listed:
    """A list of a variable's own, which holds lists of such items."""
    origin = ("variable", value.origin, slot.name)
    held = Listed(origin, value.kind, None, tuple(frame.program.constructs))
    if value.tree is not None:
        held.tree = mapped(lambda place: List(slot.name, place.type), value.tree)
    slot.owner.allocated += [p for p in leaves(held.tree) if p is not None]
    return held


def take(frame: Frame, name: str, held: Listed, value: Listed, node: Any) -> None:
    """Let a variable hold a list that was made for it, and goes by its name now."""
    if value.version is not None or value.within != tuple(frame.program.constructs):
        raise _shared(frame, name, node)
    if value.kind.tree is None or held.kind.tree is None:
        unknown = value if value.kind.tree is None else held
        other = held if unknown is value else value
        raise Promotion(
            _origin_of(unknown), Kind(other.kind.tree or FLOAT, guessed=True)
        )
    now_held = mapped(lambda place: place.type, held.tree)
    wanted = mapped(lambda place: place.type, value.tree)
    both = _joined(frame, now_held, wanted, node)
    if not _same_kind(both, now_held):
        if any(OPEN in (t.dims or ()) for t in leaves(now_held)):
            settled(frame, held)
        raise Promotion(_origin_of(held), Kind(mapped(_kept, both)))
    note_change(frame, value)  # under another name, perhaps
    for place, source in zip(leaves(held.tree), leaves(value.tree), strict=True):
        frame.builder.add(Take(place, source))
        _renew(frame, place)
    value.tree = held.tree  # whatever else it is called
    value.version = frame.program.versions[first_place(held)]


def _shared(frame: Frame, name: str, node: Any) -> Exception:
    """The error for a list that a variable would share with another name."""
    return frame.error(
        UnsupportedSyntax,
        f"'{name}' is a list with another name, and a loop or branch assigns it",
        node or frame.current,
        instead=f"{name} = list(...) of it",
    )


def given_up(frame: Frame, value: Listed, node: Any) -> Listed:
    """A copy of a variable's list where that is bound again before it is read."""
    match frame.current:
        case gast.Assign(targets=[gast.Name()], value=gast.Name() as source):
            is_read = source.id in frame.liveness.after[id(frame.current)]
            place = first_place(value)
            if not is_read and place and _own_place(frame, source) is place:
                made = part(frame, value, Span(), node)
                for p in leaves(value.tree):
                    _renew(frame, p)
                return made
    return value


def exchanged(
    frame: Frame, targets: list[Any], items: list[Any], node: Any
) -> list[Any]:
    """The items of a tuple, lists of names that get others copied: `a, b = b, a`."""
    places = [_own_place(frame, t) for t in targets]
    found = [first_place(a) if isinstance(a, Listed) else None for a in items]

    def moved(a: Any, place: List | None) -> Any:
        is_moved = place in places and found.count(place) == 1
        return part(frame, a, Span(), node) if place and is_moved else a

    return [moved(a, place) for a, place in zip(items, found, strict=True)]


def _own_place(frame: Frame, target: Any) -> List | None:
    """The list of the core that a variable of a loop or branch holds lists in."""
    slot = frame.env.get(getattr(target, "id", ""))
    held = getattr(slot, "content", None)
    return first_place(held) if isinstance(held, Listed) else None


def _origin_of(held: Listed) -> Any:
    """Where the items of a variable's list come from, through variables before it."""
    origin = held.origin
    while origin[0] == "variable":
        origin = origin[1]
    return origin


def now(frame: Frame, held: Listed) -> Listed:
    """The list that a variable holds now."""
    read = replace(held, named=True)
    read.version = frame.program.versions.get(first_place(held), 0)
    return read


def _renew(frame: Frame, place: Any) -> None:
    """Other names of what a variable held before are out of date."""
    if place is not None:
        frame.program.versions[place] = frame.program.versions.get(place, 0) + 1


def _refuse_old(frame: Frame, listed: Listed) -> None:
    """Refuse a list whose name has been given to another one since."""
    place = first_place(listed)
    if frame.program.versions.get(place, 0) != (listed.version or 0):
        raise AliasError(
            f"a list is used here that was '{place.name}' once, "  # type: ignore[union-attr]
            "and a loop or branch gives that name to another list",
            at=frame.builder.where,
            instead="list(...) of it, before the loop or branch",
        )


# ---- reading -----------------------------------------------------------------------


def length(frame: Frame, listed: Listed) -> Linear:
    """len(xs), now."""
    place = first_place(listed)
    if place is None:
        return linear(0)
    _refuse_old(frame, listed)
    n = frame.builder.element(place, (Length(),), INT, "count", safe=True)
    assert isinstance(n, Linear)
    return n


def item(frame: Frame, listed: Listed, position: Operand, safe: bool = False) -> Any:
    """xs[position]."""
    symbols = position.symbols() if isinstance(position, Linear) else ()
    names = [s.name for s in symbols if isinstance(s, Value)]
    suffix = names[0] if names else "item"

    def read(place: List) -> Any:
        name = f"{place.name}_{suffix}"
        return frame.builder.element(
            place, (At(position),), place.type, name, safe=safe
        )

    return mapped(read, settled(frame, listed))


def part(frame: Frame, listed: Listed, span: Span, node: Any) -> Listed:
    """A new list of some of the items: xs[1:], or xs.copy() for all of them."""
    step = span.step
    if step is not None and not (isinstance(step, Linear) and step.constant):
        raise frame.error(
            UnsupportedSyntax, "a slice of a list with a step of the run", node
        )
    tree = settled(frame, listed)
    whole = span == Span()
    within = tuple(frame.program.constructs)
    made = Listed(listed.origin, listed.kind, None, within)

    def copied(place: List) -> List:
        new = List(place.name, place.type)
        frame.builder.add(Load(new, place, () if whole else (span,)))
        return new

    made.tree = mapped(copied, tree)
    return made


def as_array(frame: Frame, listed: Listed, node: Any) -> Any:
    """np.array(xs): the items along a first axis."""

    def whole(place: List) -> Any:
        t = place.type
        dtype = np.dtype(t.weak()) if t.python else np.dtype(t.dtype)
        made = Type(dtype.name, dims=(VARYING, *(t.dims or ())))
        return frame.builder.element(place, (), made, place.name)

    tree = settled(frame, listed)
    found = mapped(whole, tree)
    if not isinstance(found, Structure):
        return found
    ranks = {type_of(a).rank for a in leaves(found)}
    if len(ranks) > 1 or any(isinstance(a, Structure) for a in found.items):
        raise frame.error(
            UnsupportedSyntax, "an array of items that are not alike", node
        )
    rows = Structure(list, found.items)
    return call_function(frame, np.stack, [rows], {"axis": linear(1)}, node)


def subscript(frame: Frame, listed: Listed, node: Any) -> Any:
    """xs[k] or xs[a:b]."""
    from gradwright.transform.specialise.subscripts import part_value

    at = part_value(frame, node.slice)
    if isinstance(at, Span):
        return part(frame, listed, at, node)
    return item(frame, listed, index_of(frame, at))


def index_of(frame: Frame, a: Any) -> Operand:
    """A position, or Python's own error about what it is."""
    if is_operand(a) and not type_of(a).is_array:
        t = type_of(a)
        if t.is_integer or t.is_bool:
            return a  # type: ignore[no-any-return]
        name = t.dtype if t.python else f"numpy.{t.dtype}"
        text = f"list indices must be integers or slices, not {name}"
        raise ProgramError(TypeError(text))
    kind = a.kind.__name__ if isinstance(a, Structure) else "str"
    text = f"list indices must be integers or slices, not {kind}"
    raise ProgramError(TypeError(text))


# ---- changing ----------------------------------------------------------------------


def insert(frame: Frame, listed: Listed, item: Any, position: Any, node: Any) -> None:
    """xs.insert(position, item), xs.append(item) without a position."""
    _settle_kind(frame, listed, item, node)
    note_change(frame, listed)
    frame.program.hold(item, "another list")
    pairs = zip(leaves(listed.tree), leaves(item), strict=True)
    for place, operand in pairs:
        new = convert(as_constant(operand), place.type)
        frame.builder.add(Insert(place, new, position))


def remove(frame: Frame, listed: Listed, position: Any) -> Any:
    """xs.pop(position)."""
    b = frame.builder
    note_change(frame, listed)

    def popped(place: List) -> Any:
        out = Value(f"{place.name}_item", place.type)
        out.type = with_own_dims(out)
        b.add(Remove(out, place, position))
        return symbol(out) if out.type == INT else out

    return mapped(popped, settled(frame, listed))


def put(
    frame: Frame,
    listed: Listed,
    position: Operand,
    value: Any,
    node: Any,
    function: Any = None,
) -> None:
    """xs[position] = value, or an operator's store of it."""
    from gradwright.transform.specialise.expressions import binary

    note_change(frame, listed)
    if function is not None:
        tree = settled(frame, listed)
        t = tree.type if isinstance(tree, List) else None
        if t is None or t.is_array:
            raise frame.error(
                UnsupportedSyntax,
                "an operator changes an item of a list in place, which is no number",
                node,
                instead="xs[k] = xs[k] + ...",
            )
        added = function in (operator.add, operator.sub) and is_operand(value)
        if added and t.is_inexact and join(t, type_of(value)) == t:
            if function is operator.sub:
                value = frame.builder.operator(operator.neg, value)
            frame.builder.add(Store(tree, value, (At(position),), accumulate=True))
            return
        value = binary(frame, function, item(frame, listed, position), value, node)
    _settle_kind(frame, listed, value, node)
    frame.program.hold(value, "another list")
    for place, operand in zip(leaves(listed.tree), leaves(value), strict=True):
        new_item = convert(as_constant(operand), place.type)
        frame.builder.add(Store(place, new_item, (At(position),)))
