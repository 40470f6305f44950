"""Kinds: the types of what a list of run-time length holds, also of lists in it.

    [x, 2.0 * x]                       a float
    [(x, k), ...]                      a tuple of a float and an int
    [[x], [x, x * x], ...]             Rows of a float

What is put into a list is joined with what it holds already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gradwright.transform.core import List, type_of
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Linear
from gradwright.transform.specialise.abstract import (
    Listed,
    Rows,
    Structure,
    as_constant,
    describe,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.specialise.frame import Frame
from gradwright.transform.types import FLOAT, VARYING, Type, join

OPEN = Linear({"open": 1})
"""The dim of items of which none is there yet."""


def kind_of(frame: Frame, a: Any, node: Any) -> Any:
    """The types of what is put into a list."""
    if isinstance(a, Structure) and a.keys is None:
        found = a.of(kind_of(frame, item, node) for item in a.items)
        if not any(isinstance(leaf, Rows) for leaf in leaves(found)):
            return found
        if found.kind is list:
            return as_rows(frame, found, node)
    if isinstance(a, Listed) and not isinstance(a.tree, Structure):
        return Rows(None if a.tree is None else kind_at(a.tree, len(a.path)))
    a = as_constant(a)
    if not is_operand(a) or not type_of(a).is_number:
        raise frame.error(
            UnsupportedSyntax,
            f"{describe(a)} in a list of run-time length",
            node,
            instead="numbers, arrays, or tuples or lists of them",
        )
    t = type_of(a)
    if t.dims is not None:
        seen = frame.unit.sees
        t = replace(t, dims=tuple(d if seen(d) else VARYING for d in t.dims))
    return replace(t, optional=False)


def joined_kind(frame: Frame, a: Any, b: Any, node: Any) -> Any:
    """The types of what holds both."""
    if a is None or b is None:
        return a or b
    lists = [isinstance(x, Rows) or getattr(x, "kind", None) is list for x in (a, b)]
    if all(lists) and getattr(a, "form", None) != getattr(b, "form", 0):
        one, other = (as_rows(frame, x, node) for x in (a, b))
        return Rows(joined_kind(frame, one.item, other.item, node))
    if isinstance(a, Structure) and isinstance(b, Structure) and a.form == b.form:
        pairs = zip(a.items, b.items, strict=True)
        return a.of(joined_kind(frame, x, y, node) for x, y in pairs)
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


def as_rows(frame: Frame, kind: Any, node: Any) -> Rows:
    """A list of a known length, as one of which only the run knows it."""
    if isinstance(kind, Rows):
        return kind
    joined = None
    for item in kind.items:
        joined = joined_kind(frame, joined, item, node)
    if isinstance(joined, Structure) and joined.kind is list:
        joined = as_rows(frame, joined, node)
    if isinstance(joined, Structure):
        raise frame.error(
            UnsupportedSyntax,
            f"{describe(joined)} in a list in a list of run-time length",
            node,
            instead="numbers or arrays",
        )
    return Rows(joined)


def list_of(name: str, kind: Any) -> List:
    """A list of the core for items of a kind."""
    depth = 1
    while isinstance(kind, Rows):
        kind, depth = kind.item, depth + 1
    return List(name, kind or FLOAT, depth)


def kind_at(place: List, level: int = 0) -> Any:
    """The kind of the items of a list, or of a list in it."""
    return in_rows(place.type, place.depth - 1 - level)


def in_rows(kind: Any, depth: int) -> Any:
    """The kind of lists of lists, so deep, of items of a kind."""
    for _ in range(depth):
        kind = Rows(kind)
    return kind


def kind_inside(kind: Any, level: int) -> Any:
    """The kind of the items of a list in a list."""
    for _ in range(level):
        kind = kind.item if isinstance(kind, Rows) else None
    return kind


def is_open(kind: Any) -> bool:
    """Whether it is not known what the lists in a list hold."""
    while isinstance(kind, Rows):
        kind = kind.item
    return kind is None


def each_type(function: Callable[[Type], Type], kind: Any) -> Any:
    """The same kind with every type replaced."""

    def inside(leaf: Any) -> Any:
        if isinstance(leaf, Rows):
            return Rows(inside(leaf.item))
        return leaf if leaf is None else function(leaf)

    return mapped(inside, kind)


def _words(kind: Any) -> str:
    if isinstance(kind, Rows):
        return "lists"
    return describe(kind) if isinstance(kind, Structure) else f"a value of type {kind}"


def same_kind(a: Any, b: Any) -> bool:
    """Whether two kinds are one, but for the names that go with them."""
    if isinstance(a, Structure) and isinstance(b, Structure):
        pairs = zip(a.items, b.items, strict=False)
        return a.form == b.form and all(same_kind(x, y) for x, y in pairs)
    return bool(a == b)


def kept_kind(t: Type) -> Type:
    """A type as the next attempt can know it: without lengths of this one's arrays."""
    if t.dims is None:
        return t
    known = (VARYING, OPEN)
    dims = (d if d.constant is not None or d in known else OPEN for d in t.dims)
    return replace(t, dims=tuple(dims))
