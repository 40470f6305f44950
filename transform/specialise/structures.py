"""Structures of the user's program: what is asked of dicts, namedtuples and tuples.

    params["W"]          ->  the item under that key, known now
    params.items()       ->  a tuple of pairs
    p._replace(x=0.0)    ->  a namedtuple with another item

Keys are known when the program is rewritten, as positions are.
"""

from __future__ import annotations

import inspect
import types
import weakref
from typing import Any

import gast

from gradwright.transform.core import Const
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Linear
from gradwright.transform.specialise.abstract import (
    BoundMethod,
    Path,
    Static,
    Structure,
    describe,
)
from gradwright.transform.specialise.births import promote_for
from gradwright.transform.specialise.frame import Frame, ProgramError, lift
from gradwright.transform.structure import is_namedtuple, put_together

# ---- dicts -------------------------------------------------------------------------


def pairs_of(a: Structure) -> list[tuple[Any, Any]]:
    """The keys and items of a dict."""
    return list(zip(a.labels, a.items, strict=True))


def dict_of(pairs: list[tuple[Any, Any]]) -> Structure:
    """A dict; of equal keys the first one's place and the last one's item."""
    try:
        made = dict(pairs)
    except TypeError as e:
        raise ProgramError(e) from None
    return Structure(dict, tuple(made.values()), tuple(made))


def mapping(frame: Frame, a: Any, node: Any) -> Structure:
    """A dict of the program, or a captured one."""
    found = frame.opened(a) if isinstance(a, Static) else a
    if isinstance(found, Structure) and found.keys is not None:
        return found
    raise frame.error(UnsupportedSyntax, f"{describe(a)} in the place of a dict", node)


def known_key(frame: Frame, a: Any, node: Any) -> Any:
    """A key that is known now; demands it where it is a number of the run."""
    match a:
        case Linear():
            return frame.static_int(a, node, "this key")
        case Static() | Const():
            return a.value
        case Structure():
            keys = [known_key(frame, i, node) for i in a.items]
            return put_together(a.kind, keys, a.keys)
    raise frame.error(
        UnsupportedSyntax,
        f"the key is {describe(a)}, which only the run decides",
        node,
        instead="a key that is written in the program, or an array and a position",
    )


# ---- items -------------------------------------------------------------------------


def structure_item(frame: Frame, owner: Structure, node: Any) -> Any:
    """structure[position], structure[key] or a slice."""
    kind = owner.sequence
    if kind is None:
        return _item_of_dict(frame, owner, frame.evaluate(node.slice), node)
    if isinstance(node.slice, gast.Slice):
        bounds = [
            None if b is None else frame.static_int(frame.evaluate(b), b, "this bound")
            for b in (node.slice.lower, node.slice.upper, node.slice.step)
        ]
        return Structure(kind, owner.items[slice(*bounds)])
    position = frame.evaluate(node.slice)
    if kind is list:
        promote_for(frame, owner, position, node)
    k = frame.static_int(position, node, f"the position in a {owner.kind.__name__}")
    if not -len(owner.items) <= k < len(owner.items):
        raise ProgramError(IndexError(f"{kind.__name__} index out of range"))
    return owner.items[k]


def _item_of_dict(frame: Frame, owner: Structure, key: Any, node: Any) -> Any:
    known = known_key(frame, key, node)
    found = dict(pairs_of(owner))
    try:
        return found[known]
    except (KeyError, TypeError) as e:
        raise ProgramError(e) from None


# ---- attributes and methods --------------------------------------------------------


def structure_attribute(frame: Frame, owner: Structure, name: str, node: Any) -> Any:
    """A field or method of a namedtuple, a method of a dict."""
    if owner.keys is not None and name in DICT_METHODS:
        return BoundMethod(owner, DICT_METHODS[name])
    if owner.kind is list:
        from gradwright.transform.specialise.listing import attribute

        return attribute(frame, owner, name, node)
    if is_namedtuple(owner.kind):
        return _attribute_of_namedtuple(frame, owner, name)
    if hasattr(owner.kind, name):
        raise frame.error(
            UnsupportedSyntax,
            f"gradwright does not know .{name} of {describe(owner)} yet",
            node,
        )
    text = f"'{owner.kind.__name__}' object has no attribute '{name}'"
    raise ProgramError(AttributeError(text))


def _attribute_of_namedtuple(frame: Frame, owner: Structure, name: str) -> Any:
    from gradwright.transform.specialise.calls import call

    fields: tuple[str, ...] = owner.kind._fields  # type: ignore[attr-defined]
    if name in fields:
        return owner.items[fields.index(name)]
    if name in NAMEDTUPLE_METHODS:
        return BoundMethod(owner, NAMEDTUPLE_METHODS[name])
    found = weakref.ref(owner.kind)

    def read(root: Any = None) -> Any:
        return inspect.getattr_static(found(), name)

    try:
        held = read()
    except AttributeError:
        text = f"'{owner.kind.__name__}' object has no attribute '{name}'"
        raise ProgramError(AttributeError(text)) from None
    path = Path(name, ("class", id(owner.kind), name), read)
    known = frame.wrap(held, path)
    if isinstance(held, property):
        return call(frame, Static(held.fget), [owner], {}, None)
    if isinstance(held, types.FunctionType):
        return BoundMethod(owner, held)
    return known


def items(
    frame: Frame, owner: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """d.items()."""
    pairs = (Structure(tuple, (lift(k), v)) for k, v in pairs_of(owner))
    return Structure(tuple, tuple(pairs))


def keys(
    frame: Frame, owner: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """d.keys()."""
    return Structure(tuple, tuple(map(lift, owner.keys)))


def values(
    frame: Frame, owner: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """d.values()."""
    return Structure(tuple, owner.items)


def get(
    frame: Frame, owner: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """d.get(key, default)."""
    key, default = (*arguments, Static(None))[:2]
    return dict(pairs_of(owner)).get(known_key(frame, key, node), default)


def replaced(
    frame: Frame, owner: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """p._replace(field=item)."""
    unknown = [k for k in keywords if k not in owner.labels]
    if unknown:
        raise ProgramError(ValueError(f"Got unexpected field names: {unknown!r}"))
    return owner.of(keywords.get(k, item) for k, item in pairs_of(owner))


def as_dict(
    frame: Frame, owner: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """p._asdict()."""
    return dict_of(pairs_of(owner))


def copied(
    frame: Frame, owner: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """d.copy(): nothing stores into either."""
    return owner


DICT_METHODS = {
    "items": items, "keys": keys, "values": values, "get": get, "copy": copied
}  # fmt: skip
NAMEDTUPLE_METHODS = {"_replace": replaced, "_asdict": as_dict}
METHODS = (*DICT_METHODS.values(), *NAMEDTUPLE_METHODS.values())


# ---- making them -------------------------------------------------------------------


def make_namedtuple(
    frame: Frame, cls: Any, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Structure:
    """Point(1.0, y=2.0), by Python's rules for calls."""
    for base in cls.__mro__:
        if "_fields" in vars(base):
            break
        if "__new__" in vars(base) or "__init__" in vars(base):
            raise frame.error(
                UnsupportedSyntax, f"{cls.__name__} has a constructor of its own", node
            )
    signature = inspect.signature(cls.__new__)
    try:
        bound = signature.bind(cls, *arguments, **keywords)
    except TypeError as e:
        raise ProgramError(TypeError(f"{cls.__name__}.__new__() {e}")) from None
    defaults = cls._field_defaults
    given = bound.arguments
    made = (given[f] if f in given else lift(defaults[f]) for f in cls._fields)
    return Structure(cls, tuple(made))
