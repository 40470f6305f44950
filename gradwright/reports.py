"""What is said of the work behind a call, while `log_compiles` or its like is on.

    grad of energy(x: float, v: float): rewriting 0.004 s, lowering 0.001 s, ...
    energy is rewritten: x was float, and is an array of float64 with one axis

All of it goes to the logger "gradwright", as warnings, which Python shows by default.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gradwright.switches import EXPLAIN_CACHE_MISSES, LOG_COMPILES

AXES = "one axis", "{} axes"
LAYOUTS = {"C": "row by row", "F": "column by column", "S": "strided"}


def _warn(text: str, *parts: Any) -> None:
    import logging

    logging.getLogger("gradwright").warning(text, *parts)


def title(function: Any, steps: Sequence[Any]) -> str:
    """What is called: grad of energy."""
    kinds = [step.kind for step in reversed(steps)]
    return " of ".join([*kinds, function.__name__])


def log_compile(
    what: str, names: Iterable[str], kinds: Any, seconds: dict[str, float]
) -> None:
    """A line for a specialisation: its function, kinds and costs, if that is wanted."""
    if not LOG_COMPILES.on:
        return
    given = ", ".join(
        f"{n}: {described(k)}" for n, k in zip(names, kinds, strict=False)
    )
    costs = ", ".join(f"{part} {spent:.3f} s" for part, spent in seconds.items())
    _warn("%s(%s): %s", what, given, costs)


def log_layout(
    what: str, names: Sequence[str], layouts: Sequence[str | None], spent: float
) -> None:
    """A line for machine code for arrays that lie in memory in another way."""
    if not (LOG_COMPILES.on or EXPLAIN_CACHE_MISSES.on):
        return
    pairs = zip(names, layouts, strict=True)
    lie = ", ".join(f"{n} {LAYOUTS[layout]}" for n, layout in pairs if layout)
    _warn(
        "%s: compiled once more, for another layout of its arrays (%s): %.3f s",
        what, lie, spent,
    )  # fmt: skip


# ---- why a call is rewritten anew --------------------------------------------------


def explain_miss(
    what: str, names: Sequence[str], key: Any, known: Iterable[Any]
) -> None:
    """Say how a call differs from the nearest one that is known, if that is wanted."""
    if EXPLAIN_CACHE_MISSES.on:
        _warn("%s is rewritten: %s", what, why(names, key, list(known)))


def why(names: Sequence[str], key: Any, known: list[Any]) -> str:
    """How a key differs from the nearest known one, in words."""
    if not known:
        return "it was not called before"
    if key in known:
        return "what it has captured is of another kind, or another object"
    shapes: tuple[Any, ...] = ()
    if key[0] == "exact":
        _, key, *rest = key
        shapes, others = tuple(rest), [k[1] for k in known if k[0] == "exact"]
        if key in others or not others:
            lengths = ", ".join(
                f"{n} {' and '.join(map(str, s))}"
                for n, s in zip(names, shapes, strict=False)
                if s
            )
            return f"its lengths must be known, and are new: {lengths}"
        known = others
    plain = (k for k in known if k[0] != "exact")
    nearest = min(plain, key=lambda k: _distance(key, k), default=())
    changes = [
        change
        for name, (a, b) in zip(names, _pairs(key, nearest), strict=False)
        for change in _changes(name, a, b)
    ]
    if changes:
        return "; ".join(changes)
    return "other functions among its arguments are one and the same"


def _changes(name: str, a: Any, b: Any) -> Iterator[str]:
    """What is different in an argument: by path, if it has the same structure."""
    if a == b:
        return
    match a, b:
        case (type() as t, tuple(keys), tuple(p), tuple(items)), (
            u, other, q, tuple(others),
        ) if (t, keys, p) == (u, other, q):  # fmt: skip
            for k, i, j in zip(keys, items, others, strict=True):
                yield from _changes(f"{name}[{k!r}]", i, j)
        case (type() as t, tuple(items)), (u, tuple(others)) if (
            t is u and issubclass(t, tuple | list) and len(items) == len(others)
        ):
            for k, (i, j) in enumerate(zip(items, others, strict=True)):
                yield from _changes(f"{name}[{k}]", i, j)
        case _:
            yield f"{name} was {described(b)}, and is {described(a)}"


def _distance(a: Any, b: Any) -> float:
    """How far apart two kinds are: arrays are nearer to each other than to numbers."""
    if a == b:
        return 0.0
    if isinstance(a, tuple) and isinstance(b, tuple) and a and b:
        if isinstance(a[0], np.dtype) and isinstance(b[0], np.dtype):
            return 0.5 + abs(_rank(a) - _rank(b)) + (a[0] != b[0])
        if len(a) == len(b):
            return sum(_distance(i, j) for i, j in zip(a, b, strict=True))
        return 4.0
    return 1.0 if type(a) is type(b) else 3.0


def _rank(kind: tuple[Any, ...]) -> int:
    return -kind[1] if type(kind[1]) is int else len(kind) - 1


def _pairs(key: Any, other: Any) -> list[tuple[Any, Any]]:
    return list(zip(key, other, strict=False))


def described(kind: Any) -> str:
    """What a kind of argument is, in words."""
    match kind:
        case type():
            return kind.__name__
        case ("static", inside):
            return f"static {_value(inside)}"
        case (np.dtype() as dtype, int(rank)) if type(rank) is int:
            return f"an array of {dtype} with {_axes(-rank)}"
        case (np.dtype() as dtype, *ones):
            at = [str(k) for k, is_one in enumerate(ones) if is_one]
            which = f"axis {at[0]}" if len(at) == 1 else f"axes {', '.join(at)}"
            return f"an array of {dtype} with {_axes(len(ones))}, {which} of length one"
        case (type() as t, tuple(keys), tuple(_), tuple(items)) if t is dict:
            pairs = zip(keys, items, strict=True)
            return f"{{{', '.join(f'{k!r}: {described(i)}' for k, i in pairs)}}}"
        case (types.FunctionType, *_):
            return "a function of other code"
        case (type() as t, tuple(items)) if all(map(_is_kind, items)):
            return f"{t.__name__}({', '.join(map(described, items))})"
        case (type() as t, value) if t is str or value is None:
            return repr(value)
        case (type() as t, _):
            return f"another {t.__name__}"
        case (inside, *ints):
            return f"{described(inside)} ({', '.join(map(str, ints))})"
    return repr(kind)


def _is_kind(kind: Any) -> bool:
    return isinstance(kind, type) or (isinstance(kind, tuple) and bool(kind))


def _axes(count: int) -> str:
    return AXES[0] if count == 1 else AXES[1].format(count)


def _value(kind: Any) -> str:
    """A static argument, from what tells it from others."""
    match kind:
        case (type() as t, bytes(bits)) if t in (float, complex):
            parts = np.frombuffer(bits)
            return repr(t(*parts))
        case (type() as t, bytes(bits)) if issubclass(t, np.generic):
            return repr(np.frombuffer(bits, t)[0])
        case (types.FunctionType, *_):
            return "function"
        case (type() as t, tuple(items)) if issubclass(t, tuple):
            return f"{t.__name__}({', '.join(map(_value, items))})"
        case (type(), value, *_):
            return repr(value)
    return repr(kind)
