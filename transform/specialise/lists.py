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
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import gast
import numpy as np

from gradwright.transform.build import convert, with_own_dims
from gradwright.transform.core import (
    Alloc,
    At,
    Index,
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
    Moves,
    Rows,
    Structure,
    as_constant,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.specialise.births import (
    Birth,
    Kind,
    Promotion,
    note_change,
    note_doubt,
)
from gradwright.transform.specialise.frame import Frame, ProgramError
from gradwright.transform.specialise.kinds import (
    OPEN,
    as_rows,
    each_type,
    in_rows,
    is_open,
    joined_kind,
    kept_kind,
    kind_at,
    kind_inside,
    kind_of,
    list_of,
    same_kind,
)
from gradwright.transform.specialise.methods import call_function
from gradwright.transform.types import FLOAT, INT, VARYING, Type, element_dtype, join

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
        made.tree = mapped(partial(list_of, "items"), kind.tree)
        for place in leaves(made.tree):
            place.length = length
            frame.builder.add(Alloc(place))
    return made


def named(listed: Listed, name: str) -> None:
    """Give a list the name to which it is bound first."""
    if listed.named or listed.path:
        return
    listed.named = True

    def name_all(tree: Any, name: str) -> None:
        if isinstance(tree, Structure):
            for label, item in zip(tree.labels, tree.items, strict=True):
                name_all(item, f"{name}_{label}")
        elif tree is not None:
            tree.name, tree.users = name, True

    name_all(listed.tree, name)


def _settle_kind(frame: Frame, listed: Listed, item: Any, node: Any) -> None:
    """Let the list take items of this kind; specialise anew where it did not."""
    _refuse_old(frame, listed)
    wanted, kind = kind_of(frame, item, node), listed.kind
    if kind.tree is None or kind.guessed:
        if isinstance(kind_inside(kind.tree, len(listed.path)), Rows):
            wanted = joined_kind(frame, Rows(None), wanted, node)
        if kind.tree is None or not is_open(wanted):
            raise _promotion(listed, each_type(kept_kind, wanted))
        return
    now = mapped(lambda place: kind_at(place, len(listed.path)), listed.tree)
    kept = each_type(kept_kind, now)
    try:
        joined = joined_kind(frame, now, wanted, node)
    except UnsupportedSyntax:
        guess = frame.program.guesses.get(item) if isinstance(item, Value) else None
        if guess is None:
            raise
        raise _promotion(guess, kept, guessed=True) from None
    if same_kind(joined, now):
        return
    opened = [p for p in leaves(listed.tree) if OPEN in (p.type.dims or ())]
    if opened and same_kind(each_type(kept_kind, joined), kept):
        pairs = zip(leaves(listed.tree), leaves(joined), strict=True)
        for place, t in pairs:
            place.type = list_of("", t).type
        return
    raise _promotion(listed, each_type(kept_kind, joined))


def _promotion(listed: Listed, tree: Any, guessed: bool = False) -> Promotion:
    """What makes a list, or the one that it is in, of items of a kind.

    Of variables that hold lists, it is where these come from.
    """
    origin, tree = listed.origin, in_rows(tree, len(listed.path))
    while origin[0] in ("variable", "item"):
        tree = Rows(tree) if origin[0] == "item" else tree
        origin = origin[1]
    return Promotion(origin, Kind(tree, guessed or is_open(tree)))


def settled(frame: Frame, listed: Listed) -> Any:
    """The places of a list whose items are read now."""
    if listed.kind.tree is None:
        raise _promotion(listed, FLOAT, guessed=True)
    _refuse_old(frame, listed)
    for place in leaves(listed.tree):
        if OPEN in (place.type.dims or ()):
            varying = (VARYING if d == OPEN else d for d in place.type.dims)
            place.type = replace(place.type, dims=tuple(varying))
    return listed.tree


def holds_lists(a: Any) -> bool:
    """Whether the items of a list of run-time length are lists themselves."""
    if not isinstance(a, Listed):
        return False
    return any(not p.is_item((*a.path, At(linear(0)))) for p in leaves(a.tree) if p)


def first_place(listed: Listed) -> List | None:
    """A list of the core that is as long as the list."""
    return next((p for p in leaves(listed.tree) if p is not None), None)


# ---- variables that a loop or branch assigns ---------------------------------------


def adopted(frame: Frame, name: str, value: Listed, node: Any) -> Listed:
    """The list that a variable holds on entry is the variable's own from there on."""
    if value.version is not None and not value.path:
        raise _shared(frame, name, node)
    held = replace(own(frame, value))
    for place in leaves(held.tree):
        _renew(frame, place)
    return held


def variable(frame: Frame, slot: Any, value: Listed) -> Listed:
    """A list of a variable's own, which holds lists of such items."""
    origin = ("variable", value.origin, slot.name)
    held = Listed(origin, value.kind, None, tuple(frame.program.constructs))
    if value.tree is not None:
        held.tree = mapped(
            lambda place: List(slot.name, place.type, place.depth), value.tree
        )
    slot.owner.allocated += [p for p in leaves(held.tree) if p is not None]
    return held


def take(frame: Frame, name: str, held: Listed, value: Listed, node: Any) -> None:
    """Let a variable hold a list that was made for it, and goes by its name now."""
    value = own(frame, value)
    if value.version is not None or value.within != tuple(frame.program.constructs):
        raise _shared(frame, name, node)
    if value.kind.tree is None or held.kind.tree is None:
        unknown = value if value.kind.tree is None else held
        other = held if unknown is value else value
        raise _promotion(unknown, other.kind.tree or FLOAT, guessed=True)
    now_held, wanted = mapped(kind_at, held.tree), mapped(kind_at, value.tree)
    both = joined_kind(frame, now_held, wanted, node)
    if not same_kind(both, now_held):
        if any(OPEN in (place.type.dims or ()) for place in leaves(held.tree)):
            settled(frame, held)
        raise _promotion(held, each_type(kept_kind, both))
    note_change(frame, value)  # under another name, perhaps
    note_doubt(frame, value)
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
                made = _moved(frame, value, node)
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

    def item(a: Any, place: List | None) -> Any:
        is_moved = place in places and found.count(place) == 1
        return _moved(frame, a, node) if place and is_moved else a

    return [item(a, place) for a, place in zip(items, found, strict=True)]


def _moved(frame: Frame, listed: Listed, node: Any) -> Listed:
    """A copy that goes by another name in the place of the list itself."""
    note_change(frame, listed)  # by that name, perhaps
    note_doubt(frame, listed)
    return part(frame, listed, Span(), node)


def _own_place(frame: Frame, target: Any) -> List | None:
    """The list of the core that a variable of a loop or branch holds lists in."""
    slot = frame.env.get(getattr(target, "id", ""))
    held = getattr(slot, "content", None)
    return first_place(held) if isinstance(held, Listed) else None


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
    if listed.path:
        frame.program.used.append((listed, tuple(frame.program.constructs)))
        _refuse_moved(frame, listed)


def refuse_moved(frame: Frame, loop: Any) -> None:
    """Refuse what a loop does to an item of a list, and then moves that."""
    for listed, constructs in frame.program.used:
        then = listed.moves
        if then is not None and loop in constructs and loop not in then.within:
            _refuse_moved(frame, listed)


def _refuse_moved(frame: Frame, listed: Listed) -> None:
    """Refuse an item whose place in a list is another one by now."""
    place, then = first_place(listed), listed.moves
    moved, appended = frame.program.moves.get(place, (0, 0))
    assert place is not None and then is not None
    if moved != then.moved or then.appended not in (None, appended):
        raise AliasError(
            f"an item of '{place.name}' is used here, and items of that are moved "
            "after it was found there",
            at=frame.builder.where,
            instead="list(...) of the item",
        )


# ---- reading -----------------------------------------------------------------------


def length(frame: Frame, listed: Listed) -> Linear:
    """len(xs), now."""
    place = first_place(listed)
    if place is None:
        return linear(0)
    _refuse_old(frame, listed)
    index: Index = (*listed.path, Length())
    n = frame.builder.element(place, index, INT, "count", safe=True)
    assert isinstance(n, Linear)
    return n


def item(frame: Frame, listed: Listed, position: Operand, safe: bool = False) -> Any:
    """xs[position]: a number or an array, or where it is a list, the place of that."""
    symbols = position.symbols() if isinstance(position, Linear) else ()
    names = [s.name for s in symbols if isinstance(s, Value)]
    suffix = names[0] if names else "item"

    def read(place: List) -> Any:
        name, path = f"{place.name}_{suffix}", (*listed.path, At(position))
        if place.is_item(path):
            return frame.builder.element(place, path, place.type, name, safe=safe)
        moved, appended = frame.program.moves.get(place, (0, 0))
        known = getattr(position, "constant", None)
        stays = safe or (known is not None and known >= 0)
        within = tuple(frame.program.constructs)
        moves = Moves(moved, None if stays else appended, within)
        return replace(listed, tree=place, path=path, moves=moves)

    found = mapped(read, settled(frame, listed))
    if listed.kind.guessed and isinstance(found, Value):
        frame.program.guesses[found] = listed
    if isinstance(found, Structure) and found.kind is list and not listed.path:
        _note_item(frame, listed, found)
    return found


def promote_guess(frame: Frame, a: Any) -> None:
    """An item that was taken for a number is a list, as more is asked of it."""
    listed = frame.program.guesses.get(a) if isinstance(a, Value) else None
    if listed is not None:
        raise _promotion(listed, Rows(FLOAT), guessed=True)


def _note_item(frame: Frame, listed: Listed, found: Structure) -> None:
    """An item that is a list is of run-time length where it changes."""

    def promote() -> Promotion:
        kind = mapped(lambda place: place.type, listed.tree)
        return _promotion(listed, as_rows(frame, kind, frame.source.node))

    frame.program.births[found] = Birth(listed.origin, ("an item",), promote=promote)


def own(frame: Frame, listed: Listed) -> Listed:
    """A list by a name of the core's own; itself where it has one."""
    if not listed.path:
        return listed
    (place,) = leaves(settled(frame, listed))
    made = List(place.name, place.type, place.depth - len(listed.path))
    frame.builder.add(Load(made, place, listed.path))
    return _item_of(frame, listed, made)


def _item_of(frame: Frame, listed: Listed, made: List) -> Listed:
    """What was an item of a list."""
    origin = ("item", listed.origin)
    for _ in listed.path[1:]:
        origin = ("item", origin)
    within = tuple(frame.program.constructs)
    return Listed(origin, Kind(kind_at(made)), made, within, given=listed.given)


def part(frame: Frame, listed: Listed, span: Span, node: Any) -> Listed:
    """A new list of some of the items: xs[1:], or xs.copy() for all of them."""
    step = span.step
    if step is not None and not (isinstance(step, Linear) and step.constant):
        raise frame.error(
            UnsupportedSyntax, "a slice of a list with a step of the run", node
        )
    tree = settled(frame, listed)
    path = listed.path
    cut = () if span == Span() and not path else (span,)

    def copied(place: List) -> List:
        new = List(place.name, place.type, place.depth - len(path))
        frame.builder.add(Load(new, place, (*path, *cut)))
        return new

    made = mapped(copied, tree)
    if path:
        return _item_of(frame, listed, made)
    return Listed(listed.origin, listed.kind, made, tuple(frame.program.constructs))


def as_array(frame: Frame, listed: Listed, node: Any) -> Any:
    """np.array(xs): the items along a first axis."""

    def whole(place: List) -> Any:
        t = place.type
        dtype = np.dtype(t.weak()) if t.python else np.dtype(t.dtype)
        axes = (VARYING,) * (place.depth - len(listed.path))
        made = Type(dtype.name, dims=(*axes, *(t.dims or ())))
        return frame.builder.element(place, listed.path, made, place.name)

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
    note_change(frame, listed, appended=position is None)
    frame.program.hold(item, "another list")
    _note_move(frame, listed, position is None)
    path = listed.path
    for place, part in _parts(listed.tree, item):
        if place.is_item((*path, At(linear(0)))):
            operand = _fitted(frame, listed, part, place)
        else:
            _note_kinds(frame, listed, part, place)
            operand = _as_row(frame, part, kind_at(place, len(path)))
        frame.builder.add(Insert(place, operand, position, path))


def _parts(tree: Any, item: Any) -> Iterator[tuple[List, Any]]:
    """Each list of the core, and what of an item goes into it."""
    if isinstance(tree, Structure):
        for part, a in zip(tree.items, item.items, strict=True):
            yield from _parts(part, a)
    else:
        yield tree, item


def _fitted(frame: Frame, listed: Listed, a: Any, place: List) -> Any:
    """A number or an array as the items of a list are."""
    _note_kinds(frame, listed, a, place)
    return convert(as_constant(a), place.type)


def _note_kinds(frame: Frame, listed: Listed, item: Any, place: List) -> None:
    """What becomes of another kind in a list of the caller is not what Python has."""
    given = [a for a in leaves(item) if is_operand(a)]
    wanted = element_dtype(place.type)
    if any(element_dtype(type_of(a)) != wanted or frame.is_widened(a) for a in given):
        note_doubt(frame, listed)


def _as_row(frame: Frame, item: Any, kind: Rows) -> List:
    """A list of the core, of a kind, that goes into another one."""
    if isinstance(item, Listed):
        if item.tree is None or kind_at(item.tree, len(item.path)) != kind.item:
            raise _promotion(item, each_type(kept_kind, kind.item))
        return own(frame, item).tree  # type: ignore[no-any-return]
    row = list_of("row", kind.item)
    frame.builder.add(Alloc(row))
    for a in item.items:
        if isinstance(kind.item, Rows):
            operand: Any = _as_row(frame, a, kind.item)
        else:
            operand = convert(as_constant(a), row.type)
        frame.builder.add(Insert(row, operand))
    return row


def _note_move(frame: Frame, listed: Listed, is_appended: bool) -> None:
    """Items of a list stand elsewhere from here on: those behind it, or none."""
    moves = frame.program.moves
    for place in leaves(listed.tree):
        moved, appended = moves.get(place, (0, 0))
        if place.is_item((*listed.path, At(linear(0)))):
            continue  # nothing stands for a place of these
        if is_appended:
            moves[place] = moved, appended + 1
        else:
            moves[place] = moved + 1, appended


def remove(frame: Frame, listed: Listed, position: Any) -> Any:
    """xs.pop(position)."""
    b, path = frame.builder, listed.path
    note_change(frame, listed)
    tree = settled(frame, listed)
    _note_move(frame, listed, False)

    def popped(place: List) -> Any:
        name = f"{place.name}_item"
        if not place.is_item((*path, At(linear(0)))):
            row = List(name, place.type, place.depth - len(path) - 1)
            b.add(Remove(row, place, position, path))
            return _item_of(frame, replace(listed, path=(*path, At(linear(0)))), row)
        out = Value(name, place.type)
        out.type = with_own_dims(out)
        b.add(Remove(out, place, position, path))
        return symbol(out) if out.type == INT else out

    return mapped(popped, tree)


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
    path = (*listed.path, At(position))
    if any(not place.is_item(path) for place in leaves(settled(frame, listed))):
        raise frame.error(
            UnsupportedSyntax,
            "a list in a list of run-time length is another one from here on",
            node,
            instead="a store into the slice [:] of it",
        )
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
            frame.builder.add(Store(tree, value, path, accumulate=True))
            return
        value = binary(frame, function, item(frame, listed, position), value, node)
    _settle_kind(frame, listed, value, node)
    frame.program.hold(value, "another list")
    for place, part in _parts(listed.tree, value):
        frame.builder.add(Store(place, _fitted(frame, listed, part, place), path))
