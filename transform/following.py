"""What the elements of a program depend on, while it runs: sets by number.

A label is the number of a set of elements of the inputs: 0 is the empty one, label k
the k-th element alone, and the labels after those are unions of two.  Beside each array
of the program runs an array of labels, and beside each number a label:

    y = x[1:] * x[:-1]     ->     y_dot = following.shaped(y, x_dot[:-1], x_dot[1:])

What is not known by element depends on all elements of its operands: nothing is missed.
Sets are written out at the end, for the results only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

FEW = 24  # elements that are sooner done one by one than by NumPy
_run = threading.local()


class Labels:
    """The sets of one run, each a union of two earlier ones; equal unions are one."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.parts: list[tuple[int, int]] = []
        self.known: dict[tuple[int, int], int] = {}

    def union(self, a: int, b: int) -> int:
        """The label of the union of two sets."""
        if a == b or not b:
            return a
        if not a:
            return b
        if a < b:
            a, b = b, a
        if a > self.count and b in self.parts[a - self.count - 1]:
            return a
        found = self.known.get((a, b))
        if found is None:
            self.parts.append((a, b))
            found = self.known[a, b] = self.count + len(self.parts)
        return found

    def unions(self, a: Any, b: Any) -> Any:
        """The labels of the unions, element by element."""
        a, b = np.broadcast_arrays(a, b)
        if a.size <= FEW:
            pairs = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
            found = [self.union(x, y) for x, y in pairs]
            return np.array(found, np.int64).reshape(a.shape)
        out = np.maximum(a, b)
        differ = (a != b) & (np.minimum(a, b) != 0)
        if differ.any():
            pairs = (out[differ] << 32) | np.minimum(a, b)[differ]
            each, places = np.unique(pairs, return_inverse=True)
            found = [self.union(p >> 32, p & 0xFFFFFFFF) for p in each.tolist()]
            out[differ] = np.array(found, np.int64)[places]
        return out

    def joined(self, a: Any) -> Any:
        """The unions along the last axis."""
        while a.shape[-1] > 1:
            half = a.shape[-1] // 2
            both = self.unions(a[..., :half], a[..., half : 2 * half])
            a = np.concatenate([both, a[..., 2 * half :]], axis=-1)
        return a[..., 0] if a.shape[-1] else np.zeros(a.shape[:-1], np.int64)

    def elements(self, labels: Any) -> list[Any]:
        """For each label the elements of its set, counted from 0, in order."""
        wanted = set(labels.tolist()) - {0}
        uses: dict[int, int] = dict.fromkeys(wanted, 2)
        waiting = list(wanted)
        while waiting:
            for part in self._parts(waiting.pop()):
                if part not in uses:
                    waiting.append(part)
                uses[part] = uses.get(part, 0) + 1
        sets: dict[int, set[int]] = {}
        for label in sorted(k for k, n in uses.items() if n > 1):
            sets[label] = self._gathered(label, sets)
        none = np.empty(0, np.int64)
        arrays = {k: np.sort(np.fromiter(sets[k], np.int64)) - 1 for k in wanted}
        return [arrays.get(k, none) for k in labels.tolist()]

    def _parts(self, label: int) -> tuple[int, ...]:
        return self.parts[label - self.count - 1] if label > self.count else ()

    def _gathered(self, label: int, sets: dict[int, set[int]]) -> set[int]:
        """The elements of a set, by those of its parts that are written out already."""
        if label <= self.count:
            return {label}
        found: set[int] = set()
        waiting = list(self._parts(label))
        while waiting:
            part = waiting.pop()
            if part <= self.count:
                found.add(part)
            elif part in sets:
                found |= sets[part]
            else:
                waiting.extend(self._parts(part))
        return found


@contextmanager
def labels(count: int) -> Iterator[Labels]:
    """The labels of a run with so many elements of inputs."""
    before = getattr(_run, "labels", None)
    _run.labels = made = Labels(count)
    try:
        yield made
    finally:
        _run.labels = before


# ---- what emitted programs call ----------------------------------------------------


def union(*dots: Any) -> int:
    """The label of a number that is made of several numbers."""
    run: Labels = _run.labels
    label = 0
    for dot in dots:
        label = run.union(label, int(dot))
    return label


def shaped(y: Any, *dots: Any) -> Any:
    """The labels of what is made of its operands element by element."""
    run: Labels = _run.labels
    if not isinstance(y, np.ndarray) and all(np.ndim(dot) == 0 for dot in dots):
        return union(*dots)
    found: Any = np.int64(0)
    try:
        for dot in dots:
            found = run.unions(found, np.asarray(dot, np.int64))
        return _like(y, np.broadcast_to(found, np.shape(y)))
    except ValueError:
        return everything(y, *dots)


def everything(y: Any, *dots: Any) -> Any:
    """The labels where each element depends on all elements of the operands."""
    run: Labels = _run.labels
    flat = [np.ravel(np.asarray(dot, np.int64)) for dot in dots]
    label = run.joined(np.concatenate([np.zeros(1, np.int64), *flat]))
    return _like(y, np.broadcast_to(label, np.shape(y)))


def reduced(y: Any, dot: Any, axis: Any = None) -> Any:
    """The labels of a reduction over axes."""
    run: Labels = _run.labels
    dot = np.asarray(dot, np.int64)
    axes = range(dot.ndim) if axis is None else np.atleast_1d(axis).tolist()
    over = {k % max(dot.ndim, 1) for k in axes}
    kept = [k for k in range(dot.ndim) if k not in over]
    lengths = [dot.shape[k] for k in kept]
    count = int(np.prod([dot.shape[k] for k in sorted(over)], dtype=np.int64))
    turned = np.transpose(dot, [*kept, *sorted(over)]).reshape(*lengths, count)
    found = run.joined(turned)
    if found.size != np.size(y):
        return everything(y, dot)
    return _like(y, found.reshape(np.shape(y)))


def summed(y: Any, dot: Any) -> Any:
    """The labels of a sum over the axes along which y was stretched."""
    dot = np.asarray(dot, np.int64)
    lead = dot.ndim - np.ndim(y)
    if lead < 0:
        return everything(y, dot)
    pairs = enumerate(zip(dot.shape[lead:], np.shape(y), strict=True))
    axes = [lead + k for k, (n, m) in pairs if n != m]
    return reduced(y, dot, (*range(lead), *axes))


def each(tape: list[Any], other: list[Any]) -> list[Any]:
    """The labels of two tapes joined, item by item."""
    return [_both(a, b) for a, b in zip(tape, other, strict=True)]


def _both(a: Any, b: Any) -> Any:
    run: Labels = _run.labels
    if np.ndim(a) == np.ndim(b) == 0:
        return run.union(int(a), int(b))
    return run.unions(np.asarray(a, np.int64), np.asarray(b, np.int64))


def places(dot: Any) -> Any:
    """The number of each element, in the shape of an array."""
    return np.arange(np.size(dot)).reshape(np.shape(dot))


def added(whole: Any, where: Any, dot: Any) -> Any:
    """The labels of an array after an addition to the elements of these numbers."""
    run: Labels = _run.labels
    found = np.array(whole, np.int64)
    flat = found.reshape(-1)
    numbers, dots = np.broadcast_arrays(where, np.asarray(dot, np.int64))
    for k, label in zip(numbers.ravel().tolist(), dots.ravel().tolist(), strict=True):
        flat[k] = run.union(int(flat[k]), label)
    return found


def _like(y: Any, found: Any) -> Any:
    return np.array(found, np.int64) if isinstance(y, np.ndarray) else int(found)


# ---- functions that NumPy runs on any elements -------------------------------------


class Element:
    """An element that is moved, added and multiplied: its label goes along.

    It cannot be asked for anything else, so that a function that does more fails.
    """

    __slots__ = ("label",)

    def __init__(self, label: int) -> None:
        self.label = label

    def __add__(self, other: Any) -> Element:
        if type(other) is not Element:
            return self
        return Element(_run.labels.union(self.label, other.label))

    def __mul__(self, other: Any) -> Any:
        return 0 if type(other) is int and other == 0 else self + other

    def __neg__(self) -> Element:
        return self

    __radd__ = __sub__ = __rsub__ = __add__
    __rmul__ = __mul__
    conjugate = __pos__ = __neg__

    def __bool__(self) -> bool:
        raise TypeError("an element is neither true nor false")

    def __eq__(self, other: object) -> bool:
        raise TypeError("elements are not compared")

    __hash__ = None  # type: ignore[assignment]


def of(dot: Any) -> Any:
    """Labels as elements."""
    made = np.empty(np.shape(dot), object)
    flat = made.reshape(-1)
    for k, label in enumerate(np.ravel(dot).tolist()):
        flat[k] = Element(label)
    return made if made.ndim else made[()]


def factor(a: Any) -> Any:
    """What is multiplied with elements: 0 where it is zero in this run, 1 elsewhere."""
    found = (np.asarray(a) != 0).astype(int).astype(object)
    return found if found.ndim else found[()]


def elements(y: Any, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """The labels of what a function makes of elements, which it moves and adds up."""
    try:
        found = function(*args, **options)
    except (TypeError, ValueError, AttributeError, NotImplementedError):
        found = None
    if isinstance(y, tuple | list):
        parts = found if isinstance(found, tuple | list) else [None] * len(y)
        return [_labels(a, b, args) for a, b in zip(y, parts, strict=True)]
    return _labels(y, found, args)


def _labels(y: Any, found: Any, args: tuple[Any, ...]) -> Any:
    made = np.empty(np.shape(found), object)
    made[...] = found
    if found is None or made.shape != np.shape(y):
        inside = [e.label for e in _inside(args)]
        return everything(y, np.array(inside, np.int64))
    flat = [e.label if type(e) is Element else 0 for e in made.ravel().tolist()]
    return _like(y, np.array(flat, np.int64).reshape(made.shape))


def _inside(a: Any) -> Iterator[Element]:
    """The elements among arguments."""
    if isinstance(a, Element):
        yield a
    elif isinstance(a, tuple | list):
        for item in a:
            yield from _inside(item)
    elif isinstance(a, np.ndarray) and a.dtype == object:
        yield from _inside(a.ravel().tolist())
