"""Static arguments of jit: known when a function is rewritten, part of the program.

    static_kind((1, 0.5))      (tuple, ((int, 1), (float, b"...")))
    static_pattern((1, 0.5))   Structure(tuple, (1, 0.5)), of literals

Values count by type and content, floats by their bits: 1, 1.0 and True are three.
"""

from __future__ import annotations

import dataclasses
import struct
import types
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.transform.structure import item_name, structure_of

if TYPE_CHECKING:
    from gradwright.transform.step import Step

EXACT = (bool, int, str, bytes, type(None), type(...))
HASHED = "a static argument is found again by what it says"


def static_positions(steps: tuple[Step, ...]) -> frozenset[int]:
    """The parameters that any jit among the transforms takes by value."""
    return frozenset(k for step in steps for k in step.static)


def static_kind(a: Any, name: str) -> Any:
    """What tells a static argument from another one; hashable.

    Raises:
        TypeError: It is an array, or has no hash.
    """
    t = type(a)
    if t in EXACT:
        return t, a
    if t is float:
        return t, struct.pack("d", a)
    if t is complex:
        return t, struct.pack("dd", a.real, a.imag)
    if isinstance(a, np.ndarray):
        raise TypeError(
            f"the static argument {name} is an array: {HASHED}, and an array may "
            f"change; pass it as any other argument, or as a tuple"
        )
    if isinstance(a, np.generic):
        return t, a.tobytes()
    held = structure_of(a) if isinstance(a, tuple) else None
    if held is not None:
        named = zip(held.labels, held.items, strict=True)
        return t, tuple([static_kind(i, item_name(held, name, k)) for k, i in named])
    if t is frozenset:
        return t, frozenset(static_kind(i, name) for i in a)
    if t is types.FunctionType:  # closures of one code are of one kind
        return t, id(a.__code__), id(a.__globals__)
    if dataclasses.is_dataclass(t) and t.__hash__ is not None:
        fields = [f.name for f in dataclasses.fields(t) if f.compare]
        held_in = [static_kind(getattr(a, f), f"{name}.{f}") for f in fields]
        return t, a, tuple(held_in)
    try:
        hash(a)
    except TypeError:
        raise TypeError(
            f"the static argument {name} is a {t.__name__}, which has no hash: "
            f"{HASHED}; pass a tuple, or an object that never changes"
        ) from None
    return t, a


def static_pattern(a: Any, name: str, given: tuple[Any, ...] = ()) -> Any:
    """A static argument as `specialise` takes it: literals, structures, objects.

    The attributes of an object are read anew at every call.
    """
    from gradwright.arguments import pattern_of
    from gradwright.transform.build import constant
    from gradwright.transform.specialise.abstract import Path, Static
    from gradwright.transform.types import of_number

    held = structure_of(a) if isinstance(a, tuple) else None
    if held is not None:
        named = zip(held.labels, held.items, strict=True)
        return held.of(
            static_pattern(i, item_name(held, name, k), given) for k, i in named
        )
    found = of_number(a)
    if found is not None and found.is_number:
        return constant(a)
    if a is None or isinstance(a, str | type) or callable(a):
        return pattern_of(a, name, given=given)
    return Static(a, Path(name, ("static", name), reader(a)))


def reader(a: Any) -> Any:
    """Finds an object again without keeping it alive, where that can be."""
    try:
        found = weakref.ref(a)
    except TypeError:
        return lambda root=None: a
    return lambda root=None: found()
