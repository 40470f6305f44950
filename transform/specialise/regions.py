"""Arrays that a program stores into: places of the core, read and written by index.

    u = np.zeros(n)                  Alloc(u); Store(u, zeros)
    u[k] = x * u[k - 1]      ->      Load(u_1, u, [k - 1]); Store(u, product, [k])
    inner = u[1:-1]                  inner stands for u and the index 1:-1

A name that is stored into somewhere in its function is bound to a region.  A name for
a basic part of a region is a view: it is read anew from the region wherever it is used,
so that it shows what was stored since, as in NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.transform.core import (
    Alloc,
    At,
    Buffer,
    Function,
    Index,
    Let,
    Load,
    Operand,
    Pick,
    Span,
    Statement,
    Store,
    Substitution,
    Value,
    Whole,
    blocks,
    type_of,
    walk,
)
from gradwright.transform.errors import AliasError, UnsupportedSyntax
from gradwright.transform.indices import Linear, linear
from gradwright.transform.primitives.record import UFUNCS
from gradwright.transform.primitives.structural import COPY, makes_anew
from gradwright.transform.specialise.abstract import (
    Region,
    describe,
    is_operand,
    leaves,
)
from gradwright.transform.specialise.frame import Frame, ProgramError
from gradwright.transform.types import Type

WHOLE: Index = (Whole(),)


# ---- regions begin -----------------------------------------------------------------


def owned(frame: Frame, name: str, value: Value, node: Any) -> Any:
    """The region that a name is bound to which the function stores into."""
    made = frame.builder.definition.get(value)
    is_new = isinstance(made, Let) and makes_anew(made.primitive) and not value.users
    if name not in frame.stored.surely and not (value.type.rank and is_new):
        return value  # an operator that stores into it will say so
    if not value.type.rank:
        raise frame.error(
            UnsupportedSyntax,
            f"'{name}' is an array without axes, and is stored into",
            node,
            instead="a number",
        )
    if not is_new:
        raise frame.error(
            AliasError,
            f"'{name}' is stored into, and may share memory with another array",
            node,
            instead=f"{name} = np.copy(...) of it",
        )
    return begin(frame, name, value)


def bound(frame: Frame, name: str, value: Any, node: Any) -> Any:
    """What a name is bound to: a region, a view of one, or the value itself."""
    if frame.in_rule or not (isinstance(value, Value) and value.type.is_array):
        return value
    view = part_of(frame, value)
    if view is not value:
        return view
    return owned(frame, name, value, node) if name in frame.stored.places else value


def for_slot(frame: Frame, name: str, value: Any, node: Any) -> Any:
    """A value for a name that a loop or branch assigns: it is of no region."""
    for leaf in leaves(value):
        place = root_of(frame, leaf)
        is_array = isinstance(leaf, Value) and leaf.type.is_array
        if place is not None:
            raise frame.error(
                AliasError,
                f"'{name}' is a part of '{place.name}', which is stored into",
                node,
                instead=f"{name} = np.copy(...) of it",
            )
        if is_array and name in frame.stored.surely and not frame.in_rule:
            raise frame.error(
                UnsupportedSyntax,
                f"'{name}' is stored into, and a loop or branch assigns it",
                node,
                instead="another name for what is stored into",
            )
    return value


def begin(frame: Frame, name: str, value: Value) -> Region:
    """A region that begins as a value that nobody else has."""
    dims = value.type.dims or ()
    open_ = any(not frame.unit.sees(d) for d in dims)
    place = Buffer(name, value.type, value if open_ else tuple(dims))
    frame.builder.add(Alloc(place))
    frame.builder.add(Store(place, value))
    return Region(place)


def copied_parameters(frame: Frame) -> dict[str, tuple[Value, Buffer]]:
    """The parameters under names that are stored into: they are copied first."""
    found = {}
    for name in sorted(frame.stored.places):
        held = frame.env.get(name)
        if isinstance(held, Value) and held.type.is_array and held.type.rank:
            own = frame.builder.let(COPY, held, type=held.type, name=name)
            assert isinstance(own, Value)
            region = frame.env[name] = begin(frame, name, own)
            found[name] = held, region.place
    return found


def stored_parameters(
    f: Function, copies: dict[str, tuple[Value, Buffer]]
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


def _begins(s: Store) -> bool:
    """Whether a store is what a region begins with."""
    return not s.index and not s.accumulate


def _without(body: list[Statement], dropped: set[Statement]) -> list[Statement]:
    for s in body:
        for b in blocks(s):
            b[:] = _without(b, dropped)
    return [s for s in body if s not in dropped]


# ---- reading -----------------------------------------------------------------------


def part_of(frame: Frame, value: Any) -> Any:
    """A name for a basic part of a region is a view of it, and no value."""
    made = frame.builder.definition.get(value) if isinstance(value, Value) else None
    if not isinstance(made, Load) or not isinstance(made.source, Buffer):
        return value
    if not value.type.is_array or any(isinstance(i, Pick) for i in made.index):
        return value
    return Region(made.source, made.index, value.type if made.index else None)


def composed(outer: Index, inner: Index) -> Index | None:
    """The index of a part of a part: None where it is not written as one."""
    if not outer:
        return inner
    if not inner or inner == WHOLE:
        return outer
    left = list(inner)
    result: list[Any] = []
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
    plain = span.step is None or span.step == linear(1)
    lower = linear(0) if span.lower is None else span.lower
    if not plain or not isinstance(lower, Linear) or not _is_from_front(lower):
        return None
    if isinstance(item, At) and isinstance(item.position, Linear):
        k = item.position
        return At(lower + k) if _is_from_front(k) else None
    if item == Span():
        return span
    return None


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
) -> None:
    """region[index] = value, or += where `accumulate`."""
    full = composed(region.index, index)
    if full is None:
        raise frame.error(
            UnsupportedSyntax,
            "gradwright does not store into a part of a part yet",
            node,
        )
    full = full or (() if accumulate else WHOLE)
    frame.builder.add(Store(region.place, value, full, accumulate))


def must_fit(given: Type, region: Region, function: Any) -> None:
    """NumPy's error where what an operator gives is not cast to an array's dtype."""
    own = region.kind
    if np.can_cast(given.weak(), np.dtype(own.dtype), casting="same_kind"):
        return
    name = UFUNCS.get(function, function).__name__
    text = (
        f"Cannot cast ufunc '{name}' output from dtype('{given.dtype}') to "
        f"dtype('{own.dtype}') with casting rule 'same_kind'"
    )
    raise ProgramError(TypeError(text))


def root_of(frame: Frame, value: Any) -> Buffer | None:
    """The region whose memory a value shares, through views of views."""
    while isinstance(value, Value) and value.type.is_array:
        made = frame.builder.definition.get(value)
        if isinstance(made, Load):
            if any(isinstance(i, Pick) for i in made.index):
                return None
            if isinstance(made.source, Buffer):
                return made.source
            value = made.source
        elif isinstance(made, Let) and not makes_anew(made.primitive):
            value = made.operands[0]
        else:
            return None
    return None


def must_be_array(frame: Frame, a: Any, node: Any) -> None:
    """Refuse a store into what is no array of the function's own."""
    if not isinstance(a, Region):
        what = "an array" if is_operand(a) and type_of(a).is_array else describe(a)
        raise frame.error(
            UnsupportedSyntax,
            f"gradwright does not rewrite stores into {what} yet",
            node,
        )
