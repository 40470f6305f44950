"""Arrays that a program stores into: places of the core, read and written by index.

    u = np.zeros(n)                  Alloc(u); Store(u, zeros)
    u[k] = x * u[k - 1]      ->      Load(u_1, u, [k - 1]); Store(u, product, [k])
    inner = u[1:-1]                  inner stands for u and the index 1:-1

A name that is stored into somewhere in its function is bound to a region.  A name for
a basic part of a region is a view: it is read anew from the region wherever it is used,
so that it shows what was stored since, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from gradwright.transform.core import (
    Alloc,
    At,
    Buffer,
    Cell,
    Function,
    Index,
    Let,
    Load,
    NewAxis,
    Operand,
    Pick,
    Span,
    Statement,
    Store,
    Substitution,
    Value,
    View,
    Whole,
    blocks,
    steps,
    stores,
    type_of,
    walk,
)
from gradwright.transform.errors import AliasError, UnsupportedSyntax
from gradwright.transform.indices import Linear, linear
from gradwright.transform.picks import taken
from gradwright.transform.primitives.record import UFUNCS
from gradwright.transform.primitives.structural import COPY, DISPLAY, makes_anew
from gradwright.transform.specialise.abstract import (
    Items,
    Mapped,
    Region,
    Structure,
    Zipped,
    leaves,
)
from gradwright.transform.specialise.frame import Frame, ProgramError
from gradwright.transform.specialise.slots import Slot
from gradwright.transform.structure import item_name
from gradwright.transform.types import VARYING, Type

WHOLE: Index = (Whole(),)
CREATED = (np.zeros, np.ones, np.full, np.eye, np.identity)
Copies = dict[str, tuple[Value, Buffer]]


# ---- regions begin -----------------------------------------------------------------


def owned(frame: Frame, name: str, value: Value, node: Any) -> Any:
    """The region that a name is bound to which the function stores into."""
    is_new = _is_new(frame, value) and not value.users
    if name not in frame.stored.surely and not (value.type.rank and is_new):
        return value  # an operator that stores into it will say so
    if not value.type.rank:
        raise frame.error(
            UnsupportedSyntax,
            f"'{name}' is an array without axes, and is stored into",
            node,
            instead="a number",
        )
    if not is_new and _is_chosen(frame, value):
        raise frame.error(
            AliasError,
            f"'{name}' is one array or another, as the run decides, and is stored into",
            node,
            instead="if ... else, and a store into each of the arrays",
        )
    if not is_new:
        raise _may_share(frame, name, node)
    return begin(frame, name, value)


def _is_chosen(frame: Frame, value: Value) -> bool:
    """Whether an array is what a conditional expression gives."""
    made = frame.builder.definition.get(value)
    source = made.source if isinstance(made, Load) else None
    return isinstance(source, Cell) and source.choice


def bound(frame: Frame, name: str, value: Any, node: Any) -> Any:
    """What a name is bound to: a region, a view of one, or the value itself.

    So are the items of a structure, which may be stored into through it.
    """
    if isinstance(value, Structure) and not frame.in_rule:
        return _items(frame, name, value, node)
    if frame.in_rule or not (isinstance(value, Value) and value.type.is_array):
        return value
    view = view_of(frame, value)
    if view is not None:
        return view
    return owned(frame, name, value, node) if name in frame.stored.places else value


def _items(frame: Frame, name: str, value: Structure, node: Any) -> Structure:
    """The structure that a name is bound to: a list is the very one that was read."""
    held = frame.program.behind.get(value)
    if held is not None and held.kind is list:
        return held
    labels = zip(value.labels, value.items, strict=True)
    return value.holding([_item(frame, name, k, a, node) for k, a in labels])


def _item(frame: Frame, name: str, label: Any, value: Any, node: Any) -> Any:
    """What an item of a structure is, which a name is bound to."""
    if isinstance(value, Structure):
        return _items(frame, name, value, node)
    if not isinstance(value, Value) or not value.type.is_array:
        return value
    view = view_of(frame, value)
    is_stored = name in frame.stored.places and value.type.rank
    if view is None and is_stored and _is_new(frame, value) and not value.users:
        return begin(frame, f"{name}_{label}", value)
    return value if view is None else view


def for_slot(frame: Frame, name: str, value: Any, node: Any) -> Any:
    """A value for a name that a loop or branch assigns: it is of no region."""
    for leaf in leaves(value):
        place = root_of(frame, leaf)
        if place is None:
            continue
        if not _holders(frame, place) or _others(frame, name, place):
            raise _is_part(frame, name, place, node)
    return value


def is_carried(frame: Frame, slot: Slot, value: Any) -> bool:
    """Whether a loop or branch binds a name to an array that may be stored into."""
    if frame.in_rule or not isinstance(value, Value) or not value.type.rank:
        return False
    stored = frame.stored
    if isinstance(slot.content, Region):
        return True
    return slot.name in stored.surely or (
        slot.name in stored.maybe and slot.content is None
    )


def carry(frame: Frame, slot: Slot, value: Value, node: Any) -> None:
    """Bind a name that a loop or branch assigns: what it is bound to is copied.

    That is right as long as nobody else has the array that it is bound to, nor the one
    that it was bound to before.
    """
    old = view_of(frame, value)
    if old is not None and old.index:
        raise _is_part(frame, slot.name, old.place, node)
    if old is not None and _others(frame, slot.name, old.place):
        raise _is_part(frame, slot.name, old.place, node)
    if old is not None and old.place in frame.program.iterated:
        raise _is_iterated(frame, slot.name, node)
    if old is None and (not _is_new(frame, value) or _is_held(frame, value)):
        raise _may_share(frame, slot.name, node)
    if not all(map(frame.unit.sees, value.type.dims or ())):
        raise frame.error(
            UnsupportedSyntax,
            f"the size of '{slot.name}', which is stored into, is found inside a loop "
            "or branch",
            node,
            instead="an array of a size known before",
        )
    region = slot.region(frame, value.type, node)
    if region.type != value.type:
        raise frame.error(
            UnsupportedSyntax,
            f"'{slot.name}' is stored into, and changes its shape or dtype",
            node,
            instead="another name for the other array",
        )
    if region.place in frame.program.iterated:
        raise _is_iterated(frame, slot.name, node)
    for holder, other in _others(frame, slot.name, region.place):
        if holder is not frame:
            raise _is_lent(frame, slot.name, other, node)
        raise _is_part(frame, other, region.place, node)
    store(frame, region, WHOLE, value, node, rebinds=True)


@contextmanager
def iterated(frame: Frame, *items: Any) -> Iterator[None]:
    """A loop goes over the arrays that it was given, whatever their names stand for."""
    program = frame.program
    before = program.iterated
    program.iterated = before | set(_arrays_of(frame, items))
    try:
        yield
    finally:
        program.iterated = before


def _arrays_of(frame: Frame, a: Any) -> Iterator[Any]:
    """The arrays that something stands for, has parts of, or goes over."""
    match a:
        case tuple() | list():
            for part in a:
                yield from _arrays_of(frame, part)
        case Zipped():
            yield from _arrays_of(frame, a.parts)
        case Mapped():
            yield from _arrays_of(frame, a.items)
        case Items():
            yield base_of(frame, a.array)
        case _:
            for leaf in leaves(a):
                yield leaf.place if isinstance(leaf, Region) else base_of(frame, leaf)


def exchanged(frame: Frame, targets: list[Any], items: list[Any]) -> list[Any]:
    """The items of a tuple, those that change places in it copied: `u, v = v, u`."""
    names = {t.id for t in targets if isinstance(t, gast.Name)}
    slots = {n for n in names if isinstance(frame.env.get(n), Slot)}
    found = [view_of(frame, item) for item in items]
    places = [r.place for r in found if r is not None]

    def moved(region: Region | None, item: Any) -> Any:
        if region is None or region.index or places.count(region.place) > 1:
            return item
        held = _holders(frame, region.place)
        is_ours = all(f is frame and name in names for f, name in held)
        return frame.builder.let(COPY, item) if held and is_ours else item

    if not slots:
        return items
    return [moved(r, item) for r, item in zip(found, items, strict=True)]


Holder = tuple[Frame, str]


def _holders(frame: Frame, place: Buffer) -> list[Holder]:
    """The names that stand for an array, or for a part of it, here and in callers."""
    found: list[Holder] = []
    for f in (frame, *_callers(frame)):
        for name, held in f.env.items():
            content = held.content if isinstance(held, Slot) else held
            if any(a is place for a in _arrays_of(f, content)):
                found.append((f, name))
    return found


def _others(frame: Frame, own: str, place: Buffer) -> list[Holder]:
    """Those of an array, but for a name here, that are read behind what is under way.

    A name that is bound anew first has given its array away: `y = x.copy()` at the head
    of a loop, and `x = y` at its end.
    """
    held = [(f, n) for f, n in _holders(frame, place) if (f, n) != (frame, own)]
    return sorted((h for h in held if _is_living(frame, *h)), key=lambda h: h[1])


def _is_living(frame: Frame, holder: Frame, name: str) -> bool:
    """Whether a name is read behind the statement under way, or in it."""
    s = holder.current
    live = holder.liveness.after.get(id(s))
    if live is None:
        return True
    if holder is frame:
        return name in live
    # What a caller is in the middle of may read it once more.
    reads = [n for n in gast.walk(s) if isinstance(n, gast.Name) and n.id == name]
    is_bound = isinstance(s, gast.Assign) and any(
        isinstance(t, gast.Name) and t.id == name for t in s.targets
    )
    return len(reads) > 1 + is_bound or (name in live and not is_bound)


def _callers(frame: Frame) -> Iterator[Frame]:
    caller = frame.caller
    while caller is not None:
        yield caller
        caller = caller.caller


def _is_held(frame: Frame | None, value: Value) -> bool:
    """Whether a name stands for an array that is no region, or for a part of it."""
    while frame is not None:
        for held in frame.env.values():
            content = held.content if isinstance(held, Slot) else held
            if any(a is value for a in _arrays_of(frame, content)):
                return True
        frame = frame.caller
    return False


def _is_part(frame: Frame, name: str, place: Buffer, node: Any) -> Exception:
    return frame.error(
        AliasError,
        f"'{name}' is a part of '{place.name}', which is stored into",
        node,
        instead=f"{name} = np.copy(...) of it",
    )


def _is_lent(frame: Frame, name: str, other: str, node: Any) -> Exception:
    return frame.error(
        AliasError,
        f"'{name}' is stored into, and gets another array in a loop or branch, where "
        f"it stands for '{other}' of the caller",
        node,
        instead="another name for the other array",
    )


def _is_iterated(frame: Frame, name: str, node: Any) -> Exception:
    return frame.error(
        AliasError,
        f"'{name}' gets another array in a loop over an array that it stands for",
        node,
        instead="a loop over np.copy(...) of it",
    )


def _may_share(frame: Frame, name: str, node: Any) -> Exception:
    return frame.error(
        AliasError,
        f"'{name}' is stored into, and may share memory with another array",
        node,
        instead=f"{name} = np.copy(...) of it",
    )


def _is_new(frame: Frame, value: Value) -> bool:
    """Whether an array shares memory with no other."""
    made = frame.builder.definition.get(value)
    if isinstance(made, Let) and made.primitive.through:  # of what has no name
        (whole,) = made.operands[:1]
        is_open = isinstance(whole, Value) and not whole.users
        return is_open and not _is_held(frame, whole) and _is_new(frame, whole)  # type: ignore[arg-type]
    is_made = isinstance(made, Let) and makes_anew(made.primitive)
    return is_made or value in frame.program.own


def begin(frame: Frame, name: str, value: Value) -> Region:
    """A region that begins as a value that nobody else has."""
    dims = value.type.dims or ()
    open_ = any(not frame.unit.sees(d) for d in dims)
    place = Buffer(name, value.type, value if open_ else tuple(dims))
    frame.builder.add(Alloc(place))
    frame.builder.add(Store(place, value))
    if _is_in_rows(frame, name, value):
        frame.program.in_rows.add(place)
    region = frame.program.begun[value] = Region(place)
    return region


def copied_parameters(frame: Frame) -> Copies:
    """The parameters under names that are stored into: they are copied first.

    So are the arrays in a structure, where it cannot do without.
    """
    found: Copies = {}

    def copied(held: Any, name: str, words: str) -> Any:
        if isinstance(held, Structure) and frame.program.findings.wary:
            named = zip(held.labels, held.items, strict=True)
            return held.holding([
                copied(a, f"{name}_{k}", item_name(held, words, k)) for k, a in named
            ])  # fmt: skip
        if not isinstance(held, Value) or not held.type.rank:
            return held
        own = frame.builder.let(COPY, held, type=held.type, name=name)
        assert isinstance(own, Value)
        region = begin(frame, name, own)
        found[words] = held, region.place
        return region

    for name in sorted(frame.stored.places):
        if name in frame.env:
            frame.env[name] = copied(frame.env[name], name, name)
    return found


def stored_parameters(
    f: Function, copies: Copies
) -> tuple[dict[str, Value], dict[Any, Any]]:
    """Those that are stored into, and what stands for values that are no more.

    A copy that nothing is stored into is undone: the name stands for another array by
    then, `u.copy()` say.
    """
    changed = {s.place for s in walk(f.body) if isinstance(s, Store) and not _begins(s)}
    needless = {place: held for held, place in copies.values() if place not in changed}
    mapping: dict[Any, Any] = dict(needless)
    dropped: set[Statement] = set()
    for s in walk(f.body):
        if isinstance(s, Load) and s.source in needless and not s.index:
            mapping[s.out] = needless[s.source]
            dropped.add(s)
        elif isinstance(s, Alloc | Store) and s.place in needless:
            dropped.add(s)
    f.body = Substitution(mapping).block(_without(f.body, dropped))
    stored = {name: held for name, (held, place) in copies.items() if place in changed}
    return stored, mapping


def read_once(f: Function) -> dict[Any, Any]:
    """Read an array once for as long as it does not change; what stands for what."""
    mapping: dict[Any, Any] = {}
    dropped: set[Statement] = set()

    def visit(block: list[Statement]) -> None:
        held: dict[Any, Value] = {}
        for s in block:
            for b in blocks(s):
                visit(b)
            for place in stores(s):
                held.pop(place, None)
            if isinstance(s, Load) and isinstance(s.source, Buffer) and not s.index:
                first = held.setdefault(s.source, s.out)
                if first is not s.out and first.type == s.out.type:
                    mapping[s.out] = first
                    dropped.add(s)

    visit(f.body)
    if mapping:
        f.body = Substitution(mapping).block(_without(f.body, dropped))
    return mapping


def _begins(s: Store) -> bool:
    """Whether a store is what a region begins with."""
    return not s.index and not s.accumulate


def _without(body: list[Statement], dropped: set[Statement]) -> list[Statement]:
    for s in body:
        for b in blocks(s):
            b[:] = _without(b, dropped)
    return [s for s in body if s not in dropped]


# ---- reading -----------------------------------------------------------------------


def view_of(frame: Frame, value: Any) -> Region | None:
    """The region that an array is, or a view of one; None for any other."""
    if isinstance(value, Value) and value in frame.program.begun:
        return frame.program.begun[value]
    made = frame.builder.definition.get(value) if isinstance(value, Value) else None
    match made:
        case Load(source=Buffer() as place) if _is_view(value, made.index):
            return Region(place, made.index, value.type if made.index else None)
        case Load(source=Value() as source) if _is_view(value, made.index):
            outer = view_of(frame, source)
            if outer is not None:
                full = composed(outer, made.index)
                return Region(outer.place, full, value.type)
        case Let(primitive=p) if p.through:
            outer = view_of(frame, made.operands[0])
            if outer is None or (p.through == "rows" and not _has_rows(frame, outer)):
                return None
            view = View(_opened(value.type), p, made.operands[1:], made.attribute)
            return Region(outer.place, (*outer.index, view), value.type)
    return None


def as_of_now(frame: Frame, value: Any) -> Any:
    """A view of a region with what it shows now; any other value as it is."""
    region = view_of(frame, value)
    return value if region is None else frame.read(region)


def _is_view(value: Value, index: Index) -> bool:
    """Whether an index names a part of an array by numbers and slices alone."""
    return value.type.is_array and not any(isinstance(i, Pick) for i in index)


def _has_rows(frame: Frame, region: Region) -> bool:
    """Whether its elements lie in memory one behind the other, in order."""
    place = region.place
    if place.type.rank != 1 and place not in frame.program.in_rows:
        return False
    return all(
        _lie_in_rows(items)
        and (view is None or view.primitive is None or view.primitive.through == "rows")
        for items, view in steps(region.index)
    )


def _lie_in_rows(index: Index) -> bool:
    """Whether what is named of rows are rows: `y[2]`, `y[1:3]`, not `y[:, 1]`."""
    is_cut = False
    for item in index:
        match item:
            case Whole() | Span(lower=None, upper=None, step=None):
                pass
            case Span(step=step) if not is_cut and step in (None, linear(1)):
                pass
            case At() if not is_cut:
                continue
            case _:
                return False
        is_cut = True
    return True


def _is_in_rows(frame: Frame, name: str, value: Value) -> bool:
    """Whether NumPy lays an array out row by row, whatever its operands are."""
    if name in frame.stored.rebound:
        return False
    made = frame.builder.definition.get(value)
    if not isinstance(made, Let):
        return False
    if made.primitive.through == "rows":
        (whole,) = made.operands[:1]
        flat = frame.builder.definition.get(whole)  # type: ignore[arg-type]
        if type_of(whole).rank == 1:
            return isinstance(flat, Let) and makes_anew(flat.primitive)
        return isinstance(whole, Value) and _is_in_rows(frame, name, whole)
    known = made.primitive is DISPLAY or made.primitive.function in CREATED
    return known or value in frame.program.copied


def _opened(t: Type) -> Type:
    """The same type, whose lengths are left open."""
    return replace(t, dims=(VARYING,) * t.rank)


def composed(region: Region, inner: Index) -> Index:
    """The index of a part of a region, in one pair of brackets where that is exact."""
    outer = region.index
    if not outer or inner == WHOLE:
        return outer or inner
    last = max((k for k, i in enumerate(outer) if isinstance(i, View)), default=-1)
    if last == len(outer) - 1:
        return (*outer, *inner)
    whole = _in_one(outer[last + 1 :], inner)
    if whole is not None:
        return (*outer[: last + 1], *whole)
    return (*outer, View(_opened(region.type)), *inner)


def _in_one(outer: Index, inner: Index) -> Index | None:
    """The index of a part of a part of an array."""
    if not inner:
        return outer
    left = list(inner)
    result: list[Any] = []
    picks = any(isinstance(i, Pick) for i in inner)
    if picks and not all(isinstance(i, Span) for i in outer):
        return None  # where its axes come depends on the numbers beside them
    for item in outer:
        if isinstance(item, At):
            result.append(item)
        elif isinstance(item, Span) and left:
            part = _within(item, left.pop(0))
            if part is None:
                return None
            result.append(part)
        elif isinstance(item, Span):
            result.append(item)
        else:
            return None
    return (*result, *left)


def _within(span: Span, item: Any) -> Any:
    """An item of an index into a slice, as one into the array."""
    if item == Span():
        return span
    plain = span.step is None or span.step == linear(1)
    lower = linear(0) if span.lower is None else span.lower
    if not plain or not isinstance(lower, Linear) or not _is_from_front(lower):
        return None
    if isinstance(item, At) and isinstance(item.position, Linear):
        k = item.position
        ends = span.upper is not None and not _is_before(lower + k, span.upper)
        return At(lower + k) if _is_from_front(k) and not ends else None
    return None


def _is_before(form: Linear, end: Any) -> bool:
    """Whether an index from the front is known to be less than another one."""
    if not isinstance(end, Linear) or not _is_from_front(end):
        return False
    rest = (end - form).constant
    return rest is not None and rest > 0


def _is_from_front(form: Linear) -> bool:
    """Whether an index is known to count from the front."""
    return form.constant is not None and form.constant >= 0


# ---- writing -----------------------------------------------------------------------


def store(
    frame: Frame,
    region: Region,
    index: Index,
    value: Operand,
    node: Any,
    accumulate: bool = False,
    rebinds: bool = False,
) -> None:
    """region[index] = value, or += where `accumulate`."""
    if not accumulate and _is_one_mask(region, index):
        _refuse_overlap(frame, region, value, node)
    value = _without_leading_axes(frame, region, index, value, node, accumulate)
    full = composed(region, index)
    if isinstance(full[-1] if full else None, View) or not (full or accumulate):
        full = (*full, *WHOLE)
    loose = _may_stretch(frame, region, index, value, node)
    s = Store(region.place, value, full, accumulate, loose=loose, rebinds=rebinds)
    frame.builder.add(s)


def _without_leading_axes(
    frame: Frame,
    region: Region,
    index: Index,
    value: Operand,
    node: Any,
    accumulate: bool,
) -> Any:
    """What is stored, without the axes that it has more than the part: all are 1."""
    from gradwright.transform.specialise.methods import call_function

    rank = _rank_of_part(region, index)
    more = type_of(value).rank - rank
    if more <= 0 or frame.in_rule:
        return value
    if accumulate:
        raise ProgramError(ValueError(_with_more_axes(type_of(value).rank)))
    if not rank:
        text = "setting an array element with a sequence."
        raise ProgramError(ValueError(text))
    if _is_one_mask(region, index):
        text = (
            "NumPy boolean array indexing assignment requires a 0 or 1-dimensional "
            f"input, input has {type_of(value).rank} dimensions"
        )
        raise ProgramError(TypeError(text))
    axes = Structure(tuple, tuple(map(linear, range(more))))
    return call_function(frame, np.squeeze, [value, axes], {}, node)


def _rank_of_part(region: Region, index: Index) -> int:
    """How many axes a part of an array has."""
    own, asked = region.type.rank, sum(map(taken, index))
    if asked > own:
        text = f"array is {own}-dimensional, but {asked} were indexed"
        raise ProgramError(IndexError(f"too many indices for array: {text}"))
    cut = sum(isinstance(i, Span | NewAxis) for i in index)
    picks = [type_of(i.places) for i in index if isinstance(i, Pick)]
    return (
        own - asked + cut + max((1 if t.is_bool else t.rank for t in picks), default=0)
    )


def _is_one_mask(region: Region, index: Index) -> bool:
    """Whether an index is a mask over all axes."""
    if len(index) != 1 or not isinstance(index[0], Pick):
        return False
    t = type_of(index[0].places)
    return t.is_bool and t.rank == region.type.rank


def _refuse_overlap(frame: Frame, region: Region, value: Operand, node: Any) -> None:
    """Refuse to store a part of an array under a mask of it.

    NumPy alone of all stores takes no copy then: it reads what it has just written.
    """
    if type_of(value).is_array and root_of(frame, value) is region.place:
        raise frame.error(
            AliasError,
            f"a part of '{region.place.name}' is stored into it under a mask, and "
            "NumPy reads elements that it has changed by then",
            node,
            instead="np.copy(...) of the part",
        )


def _may_stretch(
    frame: Frame, region: Region, index: Index, value: Operand, node: Any
) -> bool:
    """Whether the run alone knows if NumPy stretches what is stored."""
    from gradwright.transform.specialise.expressions import assume_equal_dims
    from gradwright.transform.specialise.subscripts import type_of_part

    if frame.in_rule or not type_of(value).is_array:
        return False
    b, like = frame.builder, Value(region.place.name, region.type)
    part = Value(region.place.name, region.type)
    known, definition = dict(b.lengths), dict(b.definition)
    b.definition[part] = Load(part, region.place, index)  # which is not written
    part.type = type_of_part(like, index, part, frame, node)
    stretches = bool(assume_equal_dims(frame, [part, value]))
    b.lengths, b.definition = known, definition
    return stretches


def must_fit(
    given: Type, region: Region, function: Any, rank: int | None = None
) -> None:
    """NumPy's error where an operator gives what does not go into an array.

    Its dtype is not cast to the array's, or it has more axes than the part, of `rank`.
    """
    own = region.type
    if given.rank > (own.rank if rank is None else rank):
        raise ProgramError(ValueError(_with_more_axes(given.rank)))
    if np.can_cast(given.weak(), np.dtype(own.dtype), casting="same_kind"):
        return
    name = UFUNCS.get(function, function).__name__
    text = (
        f"Cannot cast ufunc '{name}' output from dtype('{given.dtype}') to "
        f"dtype('{own.dtype}') with casting rule 'same_kind'"
    )
    raise ProgramError(TypeError(text))


def _with_more_axes(rank: int) -> str:
    return f"non-broadcastable output operand, of fewer axes than the result's {rank}"


def root_of(frame: Frame, value: Any) -> Buffer | None:
    """The region whose memory a value shares, through views of views."""
    found = base_of(frame, value)
    return found if isinstance(found, Buffer) else None


def base_of(frame: Frame, value: Any) -> Any:
    """The array whose memory a value shares, through views of views."""
    while isinstance(value, Value) and value.type.is_array:
        made = frame.builder.definition.get(value)
        if isinstance(made, Load):
            if any(isinstance(i, Pick) for i in made.index):
                return value
            if isinstance(made.source, Buffer):
                return made.source
            value = made.source
        elif isinstance(made, Let) and not makes_anew(made.primitive):
            value = made.operands[0]
        else:
            return value
    return None
