"""What is remembered between calls: the specialisations of each function's code.

One `Family` for each code object, its globals and the transforms of it, so that two
closures of one code share their specialisations; found by identity, gone with the
code, bounded in number, and safe for threads and after a fork.
"""

from __future__ import annotations

import os
import threading
import types
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from gradwright.arguments import objects
from gradwright.transform import source as sources

if TYPE_CHECKING:
    from gradwright.specialisation import Specialisation

MOST_SPECIALISATIONS = 1024
MOST_ALIKE = 8  # of one kind of arguments, told apart by what was captured


class Family:
    """The specialisations of one transform of one function's code.

    known: by the kinds of the arguments, those whose captured objects differ.
    by_value: the parameters whose ints the program needs to know.  by_length: the
    program needs the lengths of all arrays.
    """

    def __init__(self) -> None:
        self.known: dict[Any, tuple[Specialisation, ...]] = {}
        self.by_value: set[str] = set()
        self.by_length = False
        self.last: Specialisation | None = None
        self.entries: weakref.WeakSet[Any] = weakref.WeakSet()  # the ways to these
        self.lock = threading.RLock()

    def add(self, key: Any, made: Specialisation, args: tuple[Any, ...]) -> None:
        """Remember one; it goes when an argument that its key names by id goes."""
        here = weakref.ref(self)

        def forget(_: object) -> None:
            family = here()
            if family is not None:
                family.known.pop(key, None)

        for thing in objects(args):  # a static one is in its key as it is
            try:
                made.keep.append(weakref.ref(thing, forget))
            except (
                TypeError
            ):  # it cannot be referred to weakly: its id must stay its own
                made.keep.append(thing)
        self.known[key] = (made, *self.known.get(key, ()))[:MOST_ALIKE]
        REGISTRY.note(self, key, made)

    def drop(self, key: Any, old: Specialisation) -> None:
        left = tuple(s for s in self.known.get(key, ()) if s is not old)
        if left:
            self.known[key] = left
        else:
            self.known.pop(key, None)

    def clear(self) -> None:
        with self.lock:
            self.known.clear()
            self.last = None
            for entry in [*self.entries]:
                entry.forget()


class Registry:
    """Every family, by the identity of its code; and the order in which they grew."""

    def __init__(self) -> None:
        self.families: dict[Any, tuple[weakref.ref[types.CodeType], Family]] = {}
        self.order: deque[tuple[weakref.ref[Family], Any, weakref.ref[Specialisation]]]
        self.order = deque()
        self.lock = threading.RLock()

    def family(self, function: Any, steps: Any) -> Family:
        """The family of a function's code under these transforms."""
        code = function.__code__
        key = id(code), id(function.__globals__), steps
        with self.lock:
            found = self.families.get(key)
            if found is None:
                families = self.families

                def forget(_: object) -> None:
                    families.pop(key, None)

                found = self.families[key] = weakref.ref(code, forget), Family()
            return found[1]

    def note(self, family: Family, key: Any, made: Specialisation) -> None:
        """Count one more; where there are too many, the longest unused one goes."""
        with self.lock:
            self.order.append((weakref.ref(family), key, weakref.ref(made)))
            for _ in range(2 * len(self.order)):
                if len(self.order) <= MOST_SPECIALISATIONS:
                    break
                oldest = self.order.popleft()
                owner, old = oldest[0](), oldest[2]()
                if owner is None or old is None:
                    continue
                if old.used:
                    old.used = False
                    self.order.append(oldest)
                else:
                    owner.drop(oldest[1], old)

    def clear(self) -> None:
        with self.lock:
            families = [family for _, family in self.families.values()]
            self.order.clear()
        for family in families:  # each takes its own lock, and may wait for a build
            family.clear()

    def renew_locks(self) -> None:
        """After a fork the locks of threads that are no more would stay closed."""
        self.lock = threading.RLock()
        for _, family in self.families.values():
            family.lock = threading.RLock()


REGISTRY = Registry()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=REGISTRY.renew_locks)


def clear_caches() -> None:
    """Forget every specialisation and every source that was read.

    What stands on disk stays: emitted source, and machine code that is found again.

    Example:
        >>> import gradwright as gw
        >>> double = gw.jit(lambda x: 2.0 * x)
        >>> double(1.5)
        3.0
        >>> clear_caches()
        >>> double(1.5)  # rewritten anew
        3.0
    """
    REGISTRY.clear()
    sources.clear_cache()
