"""One specialisation: an emitted function, what it relies on, and how it is run.

It holds texts, paths and code, never an array of the user's, and captured functions
only weakly: what was captured is found again by its path at every call.
"""

from __future__ import annotations

import operator
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from gradwright.arguments import kind_of
from gradwright.emitted import NOTHING, Emitted, Runner
from gradwright.handed import are_bound
from gradwright.handing_back import HandBack
from gradwright.lengths import fits, length_checks
from gradwright.overlaps import Apart
from gradwright.pipeline import Built
from gradwright.results import as_it_is, assembler
from gradwright.transform.specialise.abstract import Static, leaves

Guard = tuple[Callable[[Any], Any], Callable[[Any, Any, Any], bool], Any]
NUMBERS = (bool, int, float, complex)  # told apart by their spelling: 0.0 from -0.0
LOOKUP_ERRORS = (AttributeError, LookupError, TypeError, ValueError)


def runners(built: Built) -> tuple[Runner, Runner | None]:
    """What runs the function of a specialisation, or the two halves of a split."""
    modules = [m for m in (built.module, built.backward) if m is not None]
    if built.compiled:
        from gradwright.compiled import Compiled

        compiled = [
            Compiled(m, f, built) for m, f in zip(modules, built.compiled, strict=True)
        ]
        built.seconds["compiling"] = sum(c.seconds for c in compiled)
        made: list[Runner] = [*compiled]
        if are_bound(built.derived.functions()) and not all(
            c.is_machine_code for c in compiled
        ):
            made = [Emitted(m) for m in modules]
    else:
        made = [Emitted(m) for m in modules]
    return made[0], made[1] if len(made) > 1 else None


class Specialisation:
    """An emitted function with its checks, and how to put its results together."""

    def __init__(self, built: Built, root: Any) -> None:
        derived, specialised = built.derived, built.specialised
        self.forward, self.backward = runners(built)
        self.guards = [(p.read, *_expected(v, root)) for p, v in specialised.guards]
        back = specialised.handed_back
        for template in (derived.result, *(c.items for c in back)):
            self.guards += _returned(template, root)
        self.hidden = [
            (v.settled, p.read, kind_of(p.read(root)))  # type: ignore[attr-defined]
            for p, v in specialised.hidden
        ]
        self.is_free = not (self.guards or self.hidden)
        self.assemble = assembler(derived.result, derived.fits)
        self.is_as_it_is = self.assemble is as_it_is  # the results need no putting
        self.count = len(
            derived.function.results
        )  # how many results, before those of a split
        self.checks = list(length_checks(built))
        self.fits = fits(self.checks)
        self.is_exact = False  # it is for calls of these very lengths
        self.inputs = len(specialised.inputs)  # before tangents and captured values
        self.apart = Apart(built)
        self.hand_back = HandBack(derived.result, back) if back else None
        # Whether the user's function runs, and no other.
        self.is_itself = built.changes is not None or (
            self.hand_back is not None and not self.forward.is_machine_code
        )
        self.needed = _needed(built)
        # A kernel looks at the kinds of flat arguments itself, where no more is asked.
        self.looks = getattr(self.forward, "looks", False) and not self.apart.stored
        self.is_lifted = built.derived.is_lifted  # arrays have one more axis
        self.used = False  # since the last time that room was made
        self.keep: list[Any] = []  # what it was made for, by identity

    def captured(self, root: Any) -> dict[str, Any] | None:
        """The captured numbers and arrays by name; None where something has changed."""
        if self.is_free:
            return NOTHING
        try:
            for read, same, expected in self.guards:
                if not same(read(root), expected, root):
                    return None
            found = {}
            for name, read, kind in self.hidden:
                value = found[name] = read(root)
                if kind_of(value) != kind:
                    return None
            return found
        except LOOKUP_ERRORS:
            return None

    @property
    def text(self) -> str:
        """The emitted source; of a split, both halves."""
        text = self.forward.module.text
        return text + (f"\n\n{self.backward.module.text}" if self.backward else "")


# ---- what must be the same ---------------------------------------------------------


def _expected(value: Any, root: Any) -> tuple[Callable[[Any, Any, Any], bool], Any]:
    """How a captured object is compared, and with what; it is not kept alive."""
    places = [k for k, f in enumerate(root) if f is value]
    if places:
        return _is_given, places[0]
    if type(value) in (str, int, bool, tuple):
        return _says_the_same, value
    if isinstance(value, types.MethodType):  # a new one at every look
        return _is_method, (value.__func__, *_expected(value.__self__, root))
    if isinstance(value, types.BuiltinMethodType):
        return _is_method_of_c, (value.__name__, *_expected(value.__self__, root))
    try:
        return _is_referred_to, weakref.ref(value)
    except TypeError:  # a list, a dict: what was used of it has guards of its own
        return _is_where_it_was, (id(value), weakref.ref(type(value)))


def _returned(result: Any, root: Any) -> Iterator[Guard]:
    """A given function that comes out again must be the very one."""
    for leaf in leaves(result):
        for k, f in enumerate(root):
            if isinstance(leaf, Static) and leaf.value is f:
                yield operator.itemgetter(k), _is_referred_to, weakref.ref(f)


def _is_given(found: Any, place: int, root: Any) -> bool:
    return found is root[place]


def _says_the_same(found: Any, expected: Any, root: Any) -> bool:
    if found is expected:
        return True
    if type(found) is not type(expected):
        return False
    if type(found) is not tuple:
        return (
            repr(found) == repr(expected)
            if type(found) in NUMBERS
            else found == expected
        )
    return len(found) == len(expected) and all(
        a is b or (type(a) in (*NUMBERS, str, tuple) and _says_the_same(a, b, root))
        for a, b in zip(found, expected, strict=True)
    )


def _is_method(found: Any, expected: tuple[Any, ...], root: Any) -> bool:
    function, same, owner = expected
    return (
        isinstance(found, types.MethodType)
        and found.__func__ is function
        and same(found.__self__, owner, root)
    )


def _is_method_of_c(found: Any, expected: tuple[Any, ...], root: Any) -> bool:
    name, same, owner = expected
    return (
        isinstance(found, types.BuiltinMethodType)
        and found.__name__ == name
        and same(found.__self__, owner, root)
    )


def _is_referred_to(found: Any, expected: weakref.ref[Any], _: Any) -> bool:
    return found is not None and found is expected()


def _is_where_it_was(found: Any, expected: Any, _: Any) -> bool:
    place, kind = expected
    return id(found) == place and type(found) is kind()


def _needed(built: Built) -> list[int | str]:
    """Of a split, the parameters that its backward half takes: positions and names."""
    split, function = built.derived.split, built.derived.function
    if split is None:
        return []
    params = function.params
    return [
        params[k].settled if params[k] in function.hidden else k  # type: ignore[union-attr]
        for k in split.needed
    ]
