"""What an expression of the user's program stands for while it is specialised.

An operand of the core (a `Value`, a `Linear`, a `Const`) is a run-time number, string
or array.  Everything else is known: a `Static` object, a `Structure` that is taken
apart, a `Closure`, an iterable.  A `Slot` is a variable that a runtime loop or branch
assigns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gradwright.transform.core import At, Buffer, Const, Index, Operand, Value
from gradwright.transform.indices import Linear
from gradwright.transform.source import Source
from gradwright.transform.structure import Structure as Structure
from gradwright.transform.types import NONE, TEXT, Type


class Path:
    """How the entry finds a captured object again at every call.

    `read` is handed the function that is called and those among its arguments, of which
    there may be several of one code, and keeps none of them alive; without them, it
    starts at those that were specialised.
    """

    def __init__(self, name: str, key: Any, read: Callable[..., Any]) -> None:
        self.name = name  # the user's spelling of the last step
        self.key = key  # equal for equal paths
        self.read = read

    def attribute(self, name: str) -> Path:
        return Path(
            name, (self.key, "." + name), lambda f=None: getattr(self.read(f), name)
        )

    def item(self, k: Any) -> Path:
        name = f"{self.name}_{k}" if isinstance(k, int) else str(k)
        return Path(name, (self.key, k), lambda f=None: self.read(f)[k])


@dataclass(eq=False)
class Static:
    """An object known now; `path` is how it was captured, None if it was not."""

    value: Any
    path: Path | None = None


@dataclass(eq=False)
class Closure:
    """A nested function or lambda, with the frame whose variables it sees."""

    source: Source
    frame: Any
    defaults: tuple[Any, ...]
    keyword_defaults: dict[str, Any]


@dataclass(eq=False)
class Clash:
    """What a name holds that is one thing on one path and another on another.

    `text` says what the two are, for the error of whoever reads the name.
    """

    text: str


@dataclass(eq=False)
class BoundMethod:
    """x.name of a number or an array before its call; None is Python's `.conjugate`."""

    owner: Any
    function: Any


@dataclass(eq=False)
class Counting:
    """range(start, stop, step)."""

    start: Operand
    stop: Operand
    step: Operand
    backwards: bool = False


@dataclass(eq=False)
class Items:
    """The elements of an array along its first axis, in order or reversed."""

    array: Value
    backwards: bool = False


@dataclass(frozen=True)
class Moves:
    """How often items of a list had been moved, and appended, when one was found there.

    appended: None where it is counted from the front.  within: the run-time constructs
    around that place.
    """

    moved: int
    appended: int | None
    within: tuple[Any, ...]


@dataclass(eq=False)
class Listed:
    """A list whose length only the run knows: a list of the core, or several.

    origin: where it is made.  kind: what is known of its items.  tree: the list of the
    core, or a structure of them in the form of the items; None where no item is known.
    within: the run-time constructs in which it is made.  version: how often a variable
    had been given another list when it was read from there; None elsewhere.  given: of
    a list that a call gives, the way to it from the parameter.  path: of a list in
    another one, where it stands in that.  moves: how often items of that one had been
    moved by then.
    """

    origin: Any
    kind: Any
    tree: Any
    within: tuple[Any, ...]
    named: bool = False
    version: int | None = None
    given: tuple[Any, ...] | None = None
    path: tuple[At, ...] = ()
    moves: Moves | None = None


@dataclass(frozen=True)
class Rows:
    """The kind of items that are lists themselves, of such items; None: unknown."""

    item: Any


@dataclass(eq=False)
class ListItems:
    """The items of a list of run-time length, in order or reversed."""

    listed: Listed
    backwards: bool = False


@dataclass(eq=False)
class Zipped:
    """zip(...) of runtime iterables; `enumerate` is a zip with a count from `start`."""

    parts: tuple[Any, ...]


@dataclass(eq=False)
class Generator:
    """A generator expression, through which one goes once, where it is made.

    frame: whose variables it sees.  items: what its first clause goes over.  within:
    the run-time constructs around it.
    """

    node: Any
    frame: Any
    items: Any
    within: tuple[Any, ...]
    spent: bool = False


@dataclass(eq=False)
class Mapped:
    """What `function` gives for each of some items, when its turn comes.

    target: what a generator expression calls such an item.
    """

    items: Any
    function: Callable[[Any], Any]
    target: Any = None


@dataclass(eq=False)
class From:
    """itertools.count(start): the numbers that `enumerate` gives."""

    start: Operand


def is_operand(a: Any) -> bool:
    """Whether it can stand in a core statement as it is."""
    return isinstance(a, Value | Linear | Const)


def leaves(a: Any) -> Iterator[Any]:
    """The abstract values inside a structure, depth first."""
    if isinstance(a, Structure):
        for item in a.items:
            yield from leaves(item)
    else:
        yield a


def of_caller(a: Any) -> Iterator[Any]:
    """What a function of the program cannot be handed: it is the caller's own.

    A list of run-time length, a generator, and what goes over an array or numbers.
    """
    for leaf in leaves(a):
        match leaf:
            case Listed() | ListItems() | Items() | From() | Generator() | Mapped():
                yield leaf
            case Zipped():
                yield from (leaf for part in leaf.parts for _ in of_caller(part))
            case Counting():
                bounds = (leaf.start, leaf.stop, leaf.step)
                if any(getattr(b, "constant", None) is None for b in bounds):
                    yield leaf
            case BoundMethod() if isinstance(leaf.owner, Value | Linear | Listed):
                yield leaf


def mapped(function: Callable[[Any], Any], a: Any) -> Any:
    """The same structure with every leaf replaced."""
    if isinstance(a, Structure):
        return a.of(mapped(function, item) for item in a.items)
    return function(a)


def as_constant(a: Any) -> Any:
    """None and strings as core constants, where a runtime name may hold them."""
    if isinstance(a, Static) and a.value is None:
        return Const(None, NONE)
    if isinstance(a, Static) and isinstance(a.value, str):
        return Const(a.value, TEXT)
    return a


@dataclass(eq=False)
class Region:
    """An array that is stored into, or a basic part of one."""

    place: Buffer
    index: Index = ()
    part: Type | None = None  # None for the whole

    @property
    def type(self) -> Type:
        return self.place.type if self.part is None else self.part


ITERABLES = {
    Counting: "a range",
    Items: "the items of an array",
    Listed: "a list of run-time length",
    ListItems: "the items of a list",
    Zipped: "a zip",
    Generator: "a generator expression",
    Mapped: "the items of a generator expression",
    From: "a count",
    BoundMethod: "a method",
}


def describe(a: Any) -> str:
    """A value in a user's words, for messages."""
    match a:
        case Structure():
            return f"a {a.kind.__name__} of {len(a.items)}"
        case Static(value=None):
            return "None"
        case Static():
            name = getattr(a.value, "__qualname__", None) or repr(a.value)
            return f"{type(a.value).__name__} {name}"
        case Closure():
            return f"the function {a.source.node.name}"
        case Linear():
            return "an int"
        case Value() | Const():
            return f"a value of type {a.type}"
    return ITERABLES.get(type(a), f"a {type(a).__name__.lower()}")
