"""Lists that are known while the program is rewritten: they change as Python's do.

    f = [x, x * x]                 the list is a `Structure`, which its methods change
    f.append(f[0] * f[1])          wherever it is known under a name

A run-time loop or branch that changes one, or an index that asks for an item that only
the run knows, makes it a list of run-time length (see `lists`): a `Promotion` ends the
attempt, and the function is specialised anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gast

from gradwright.transform.core import Value
from gradwright.transform.errors import AliasError, UnsupportedSyntax
from gradwright.transform.indices import Linear
from gradwright.transform.specialise.abstract import Structure, describe, is_operand
from gradwright.transform.specialise.frame import Frame

RESIZING = ("append", "extend", "insert", "pop", "remove", "clear")


class Promotion(Exception):
    """A list that is made at `origin` is of run-time length, with items of a kind."""

    def __init__(self, origin: Any, kind: Kind) -> None:
        self.origin = origin
        self.kind = kind


@dataclass(eq=False)
class Kind:
    """The types of what a list holds: a type, or a structure of them; None: unknown.

    `guessed`: an item was read before any was put in.
    """

    tree: Any = None
    guessed: bool = False


@dataclass(eq=False)
class Birth:
    """Where a list came into being, and the run-time constructs around that place.

    Without an `origin` it is a copy of what a variable holds.  `held` says of what a
    list is an item since.  `given`: the way to it from a parameter.  `promote`: of an
    item of a list of run-time length, what lets that hold such lists.
    """

    origin: Any
    within: tuple[Any, ...]
    held: str | None = None
    given: tuple[Any, ...] | None = None
    promote: Callable[[], Promotion] | None = None

    def promotion(self) -> Promotion:
        """What makes it a list of run-time length."""
        return self.promote() if self.promote else Promotion(self.origin, Kind())


# ---- lists that are known while the program is rewritten ---------------------------


def born(frame: Frame, value: Any, node: Any) -> Any:
    """A list as its expression gives it: known, or of run-time length."""
    program = frame.program
    if not (isinstance(value, Structure) and value.kind is list):
        return value
    if value in program.births or value in program.behind or frame.in_rule:
        return value
    origin = origin_of(frame, node) if _makes_list(node) else None
    return _entered(frame, value, origin, node)


def origin_of(frame: Frame, node: Any) -> Any:
    """What tells the place where a list is made, in every attempt."""
    what = type(node).__name__
    return (frame.site, frame.source.filename, what, *position(node))


def position(node: Any) -> tuple[int, ...]:
    """Where an expression stands in its file."""
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def given(frame: Frame, value: Any, path: tuple[Any, ...]) -> Any:
    """An argument with lists of its own: those of the caller do not change."""
    if not isinstance(value, Structure):
        return value
    pairs = zip(value.labels, value.items, strict=True)
    own = value.of(given(frame, item, (*path, label)) for label, item in pairs)
    if own.kind is not list:
        return own
    node = frame.source.node
    origin = (frame.site, frame.source.filename, node.lineno, "argument", *path)
    made = frame.unit.lists[path] = _entered(frame, own, origin, node)
    if isinstance(made, Structure):
        frame.program.births[made].given = path
    else:
        from gradwright.transform.specialise.lists import named

        named(made, "_".join(map(str, path)))
        made.given = path
    return made


def lists_in(a: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, Structure]]:
    """The lists in an argument, with the way to each."""
    if not isinstance(a, Structure):
        return
    if a.kind is list:
        yield path, a
    for label, item in zip(a.labels, a.items, strict=True):
        yield from lists_in(item, (*path, label))


def _entered(frame: Frame, value: Structure, origin: Any, node: Any) -> Any:
    program = frame.program
    if origin is not None and origin in program.kinds:
        from gradwright.transform.specialise.lists import begin, insert

        made = begin(frame, origin, node)
        for item in value.items:
            insert(frame, made, item, None, node)
        return made
    program.births[value] = Birth(origin, tuple(program.constructs))
    return value


def _makes_list(node: Any) -> bool:
    """Whether an expression gives a list that nobody else has."""
    if isinstance(node, gast.Subscript):
        return isinstance(node.slice, gast.Slice)
    made = gast.List | gast.ListComp | gast.GeneratorExp | gast.BinOp | gast.Call
    return isinstance(node, made)


def change(frame: Frame, a: Structure, items: Any, node: Any) -> None:
    """Let a list hold other items, wherever it is known under a name."""
    birth = may_change(frame, a, node)
    if (own := frame.program.behind.get(a)) is not None:
        names = dict(zip(map(id, a.items), own.items, strict=True))
        items, a = [names.get(id(item), item) for item in items], own
    if birth.within != tuple(frame.program.constructs):
        raise birth.promotion()
    note_change(frame, birth)
    a.items = tuple(_held(frame, item) for item in items)


def _held(frame: Frame, a: Any) -> Any:
    """What is put into a list: the very lists that were read."""
    if not isinstance(a, Structure):
        return a
    own = frame.program.behind.get(a)
    return own or a.holding([_held(frame, item) for item in a.items])


def note_change(frame: Frame, a: Any, appended: bool = False) -> None:
    """A list that a call gives is changed, which whoever else has it would see."""
    where = frame.builder.where
    if a.given is not None and where is not None:
        frame.unit.changed.setdefault(a.given, where)
        if not appended:
            frame.unit.reordered.add(a.given)
        if getattr(a, "path", ()):
            frame.unit.deep.add(a.given)


def note_doubt(frame: Frame, a: Any) -> None:
    """What a list that a call gives holds then is not known as Python has it."""
    if a.given is not None:
        frame.unit.doubtful.add(a.given)


def may_change(frame: Frame, a: Structure, node: Any) -> Birth:
    """Where a list that is about to change came into being."""
    from gradwright.transform.specialise.units import InlineInstead

    birth = frame.program.births.get(frame.program.behind.get(a, a))
    if a.kind is not list:
        raise frame.error(
            UnsupportedSyntax,
            f"gradwright does not rewrite stores into {describe(a)} yet",
            node,
        )
    if birth is None or birth.origin is None:
        if frame.unit is not frame.program.root:
            raise InlineInstead("changes a list that it is given")
        raise frame.error(
            UnsupportedSyntax,
            "a list is changed here that a loop or branch assigns, or that is an item",
            node,
            instead="list(...) of it, under a name of its own",
        )
    if birth.held is not None and birth.held.startswith("'"):
        raise birth.promotion()
    if birth.held is not None:
        raise frame.error(
            AliasError,
            f"a list is changed here that {birth.held} holds",
            node,
            instead="append(list(...)) of it",
        )
    found: Birth = birth
    return found


def note_read(frame: Frame, a: Structure, origin: Any) -> None:
    """What a variable holds is of run-time length once it is changed."""
    frame.program.births[a] = Birth(origin, ("a variable",))


def promote_for(frame: Frame, a: Structure, position: Any, node: Any) -> None:
    """An item that only the run knows: of a list that is of run-time length then."""
    birth = frame.program.births.get(frame.program.behind.get(a, a))
    if birth is None or birth.origin is None or not is_operand(position):
        return
    if isinstance(position, Linear):
        if all(_may_be_known(frame, s, node) for s in position.symbols()):
            return
    elif not isinstance(position, Value):
        return
    raise birth.promotion()


def _may_be_known(frame: Frame, s: Any, node: Any) -> bool:
    """Whether a number may be made known: a parameter's, or that of a loop."""
    loop = getattr(s, "node", None)
    if loop is not None:
        return s.is_known and _name_of(node) not in _resized(loop)
    return s in frame.unit.params


def _name_of(node: Any) -> str | None:
    owner = getattr(node, "value", None)
    return owner.id if isinstance(owner, gast.Name) else None


def _resized(loop: Any) -> set[str]:
    """The names of lists whose length a loop changes."""
    found: set[str] = set()
    for n in gast.walk(loop):
        match n:
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=method)):
                if method in RESIZING:
                    found.add(name)
            case gast.AugAssign(target=gast.Name(id=name)):
                found.add(name)
            case gast.Subscript(value=gast.Name(id=name), ctx=gast.Del()):
                found.add(name)
    return found
