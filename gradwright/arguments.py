"""The arguments of a call: their kinds, their types, and the numbers inside them.

kind_of((2.0, np.ones((1, 3))))      (tuple, (float, (dtype("float64"), True, False)))
[*flat((2.0, [3, "text"]))]          [2.0, 3]
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gradwright.transform.structure import is_namedtuple, item_name, structure_of

PLAIN = frozenset(
    {float, int, bool, complex, np.float64, np.float32, np.complex128, np.int64}
)


def kind_of(a: Any) -> Any:
    """What of an argument decides which specialisation it gets; hashable."""
    t = type(a)
    if t in PLAIN:
        return t
    if t is np.ndarray:
        shape = a.shape
        if 1 in shape:
            return (a.dtype, *[n == 1 for n in shape])
        return a.dtype, -len(shape)  # no rank is equal to False or True
    if t is tuple or t is list:
        return t, tuple([kind_of(i) for i in a])
    if t is dict:  # keys may be equal that are of two types, as 1 and True
        return t, (*a,), (*map(type, a),), tuple([kind_of(i) for i in a.values()])
    if a is None or t is str:
        return t, a
    if isinstance(a, np.generic):
        return t
    if isinstance(a, tuple) and is_namedtuple(t):
        return t, tuple([kind_of(i) for i in a])
    if t is types.FunctionType:  # closures of one code are of one kind
        return t, id(a.__code__), id(a.__globals__)
    return t, id(a)


def items_of(a: Any) -> Iterable[Any] | None:
    """What is inside of a tuple, list, dict or namedtuple; None of anything else."""
    t = type(a)
    if t is tuple or t is list:
        return a  # type: ignore[no-any-return]
    if t is dict:
        return a.values()  # type: ignore[no-any-return]
    return a if isinstance(a, tuple) and is_namedtuple(t) else None


def is_by_identity(a: Any) -> bool:
    """Whether the kind of an argument says which object it is, and no more."""
    t = type(a)
    if t in PLAIN or t in (np.ndarray, str) or a is None:
        return False
    return not isinstance(a, np.generic) and items_of(a) is None


def objects(a: Any) -> Iterator[Any]:
    """The objects inside an argument whose identity its kind names."""
    inside = items_of(a)
    if inside is not None:
        for item in inside:
            yield from objects(item)
    elif type(a) is types.FunctionType:
        yield a.__code__
    elif is_by_identity(a):
        yield a


def functions_in(a: Any) -> list[types.FunctionType]:
    """The functions inside an argument."""
    found: list[types.FunctionType] = []
    _functions_in(a, found)
    return found


def _functions_in(a: Any, found: list[types.FunctionType]) -> None:
    t = type(a)
    if t is np.ndarray or t in PLAIN:
        return
    inside = items_of(a)
    if inside is not None:
        for item in inside:
            _functions_in(item, found)
    elif t is types.FunctionType:
        found.append(a)


def sharing(given: tuple[Any, ...]) -> Any:
    """Which of several functions are one and the same."""
    ids = [id(f) for f in given]
    return tuple([ids.index(i) for i in ids])


def flat(a: Any) -> list[Any]:
    """The numbers and arrays inside an argument."""
    found: list[Any] = []
    _flat(a, found)
    return found


def _flat(a: Any, found: list[Any]) -> None:
    t = type(a)
    if t is np.ndarray or t in PLAIN:
        found.append(a)
        return
    inside = items_of(a)
    if inside is not None:
        for item in inside:
            _flat(item, found)
    elif isinstance(a, np.generic | int | float | complex):
        found.append(a)


def ints_in(a: Any) -> tuple[int, ...]:
    """The Python ints inside an argument whose value must be known."""
    return tuple(leaf for leaf in flat(a) if type(leaf) is int)


def shapes_in(a: Any) -> tuple[Any, ...]:
    """The shapes of the arrays inside an argument."""
    return tuple(v.shape for v in flat(a) if isinstance(v, np.ndarray))


def with_lengths(pattern: Any, a: Any) -> Any:
    """A pattern of an argument, the lengths of its arrays as numbers."""
    from gradwright.transform.specialise.abstract import mapped
    from gradwright.transform.types import Type, array

    arrays = iter(v for v in flat(a) if isinstance(v, np.ndarray))

    def exact(leaf: Any) -> Any:
        if isinstance(leaf, Type) and leaf.is_array:
            return array(leaf.dtype, next(arrays).shape)
        return leaf

    return mapped(exact, pattern)


def is_inexact(a: Any) -> bool:
    """Whether a number or array is float or complex."""
    if isinstance(a, np.ndarray | np.generic):
        return a.dtype.kind in "fc"
    return isinstance(a, float | complex)


def pattern_of(
    a: Any, name: str, by_value: bool = False, given: tuple[Any, ...] = ()
) -> Any:
    """An argument as `specialise` takes it: a type, a structure, or a static object.

    A function is found again at every call, by its place among those that are `given`.
    """
    from gradwright.transform.errors import NotDifferentiable
    from gradwright.transform.indices import Linear
    from gradwright.transform.specialise.abstract import Path, Static
    from gradwright.transform.specialise.frame import type_of_input

    held = structure_of(a)
    if held is not None:
        named = zip(held.labels, held.items, strict=True)
        inside = (
            pattern_of(i, item_name(held, name, k), by_value, given) for k, i in named
        )
        return held.of(inside)
    if by_value and type(a) is int:
        return Linear({}, a)
    found = type_of_input(a)
    if found is not None and found.dtype != "str":
        return found
    if type(a) is types.FunctionType:
        k = [g is a for g in given].index(True)
        found_again = weakref.ref(a)

        def read(root: Any = None) -> Any:
            return found_again() if root is None else root[k]

        return Static(a, Path(name, ("given", k), read))
    if a is None or isinstance(a, str | type) or callable(a):
        return Static(a)
    kind = f"a {type(a).__name__}"
    if type(a) is np.ndarray:
        kind = f"an array of dtype {a.dtype}"
    raise NotDifferentiable(
        f"the argument {name} is {kind}: gradwright takes numbers, "
        f"arrays, strings, functions, None, and tuples, lists, dicts and "
        f"namedtuples of these"
    )
