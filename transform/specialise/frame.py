"""The state of a specialisation: programs, units (core functions) and frames (calls).

A `Frame` runs one call of one user function abstractly: it maps names to abstract
values and writes core statements into the unit it belongs to.  What each kind of node
does stands in `expressions`, `statements` and `calls`, entered in the registries here.
"""

from __future__ import annotations

import builtins
import cmath
import itertools
import math
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from gradwright.transform import language
from gradwright.transform import source as sources
from gradwright.transform.build import Builder, constant
from gradwright.transform.core import (
    Const,
    Function,
    List,
    Load,
    Raise,
    Statement,
    Tape,
    Value,
    type_of,
)
from gradwright.transform.errors import (
    EffectError,
    GradwrightError,
    Location,
    SourceError,
    UnsupportedSyntax,
)
from gradwright.transform.indices import Dim, Linear, is_length, linear, symbol
from gradwright.transform.liveness import Liveness, analyse
from gradwright.transform.normalise import normalise
from gradwright.transform.primitives.structural import NAMED
from gradwright.transform.source import Source
from gradwright.transform.specialise.abstract import (
    Clash,
    Listed,
    Path,
    Region,
    Static,
    Structure,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.specialise.findings import Findings
from gradwright.transform.specialise.slots import Presets, Slot, Trips, Unready
from gradwright.transform.structure import structure_of
from gradwright.transform.types import INT, Type, array, of_number

EXPRESSIONS: dict[type, Callable[[Frame, Any], Any]] = {}
STATEMENTS: dict[type, Callable[[Frame, Any], None]] = {}
CONSTANT_MODULES = (math, cmath, np)
MOST_UNROLLED = 256
LIBRARY = "gradwright.transform.primitives."
FREE = (
    "cannot access free variable '{}' where it is not associated with a value "
    "in enclosing scope"
)
UNBOUND = "cannot access local variable '{}' where it is not associated with a value"


class ProgramError(Exception):
    """An error that Python itself raises here, should the program get here."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Demand(Exception):
    """A number is needed now: its loop is unrolled or its parameter made static."""

    def __init__(self, symbol: Value, location: Location) -> None:
        self.symbol = symbol
        self.location = location
        self.parameter: str | None = None  # of the function that has it, once known


class NeedsLengths(Exception):
    """What the program makes of an array depends on lengths that are not known yet."""


@dataclass(eq=False)
class Capture:
    """What a unit sees of its callers: a parameter, and how a caller finds it."""

    param: Any
    operand_in: Callable[[Frame], Any]


class Unit:
    """A core function while it is written."""

    def __init__(self, name: str, caller: Frame | None) -> None:
        self.name = name
        self.caller = caller
        self.builder = Builder()
        self.params: list[Value | Tape | List] = []
        self.captures: dict[Any, Capture] = {}
        self.borrowed: list[Capture] = []  # of the rules of a custom derivative
        self.function = Function(name, [], [], [])
        self.result: Any = None  # structure of the results, once known
        self.value: Any = None  # the same, as operands of the unit
        self.arguments: dict[str, Any] = {}
        self.done = False
        self.is_recursive = False
        self.stands_alone = False  # it is differentiated as it is
        self.unready = False  # it was called before its result was known
        self.stored: dict[str, Value] = {}  # parameters that it copies and stores into
        self.lists: dict[Any, Any] = {}  # of arguments, by the way to each
        self.changed: dict[Any, Location] = {}  # those of them that change, and where
        self.deep: set[Any] = set()  # in lists in them
        self.reordered: set[Any] = set()  # otherwise than by more items at the end
        self.doubtful: set[Any] = set()  # as only Python itself knows
        self.lent: dict[Any, str] = {}  # arrays to derivatives that store, as what
        self.own_results: set[int] = set()  # those that share memory with nothing
        self.waits_for: set[Unit] = set()  # units whose result a branch needs
        self.equal_dims: dict[tuple[Linear, Linear], None] = {}
        self.at_least_zero: dict[Linear, None] = {}

    def param(self, name: str, value: Any) -> Any:
        """A parameter for a run-time number or array, or for its type."""
        v = Value(name, value, users=True)
        if v.type.is_array and v.type.dims is not None:
            dims = (
                symbol(Dim(v, k)) if d.constant in (None, -1) else d
                for k, d in enumerate(v.type.dims)
            )
            v.type = array(v.type.dtype, tuple(dims))
        self.params.append(v)
        return symbol(v) if v.type == INT else v

    def assume_equal(
        self, pairs: Iterable[tuple[Linear, Linear]], stretch: bool = True
    ) -> None:
        """Dims that are taken to be equal; the entry checks what it can see.

        Without `stretch` a 1 must meet a 1.
        """
        for a, b in pairs:
            known = a.constant is not None and b.constant is not None
            may_differ = stretch and 1 in (a.constant, b.constant)
            if a != b and not known and not may_differ:
                self.equal_dims.setdefault((a, b))

    def assume_length(self, form: Linear) -> None:
        """A length that follows from others is taken not to be negative."""
        if form.constant is None and self.sees(form) and not is_length(form):
            self.at_least_zero.setdefault(form)

    def seen_from(self, operands: list[Any]) -> Callable[[Linear], Linear]:
        """How a caller sees a form of this unit's parameters, given these operands."""
        given = dict(zip(self.params, operands, strict=False))

        def put(s: Any) -> Linear:
            operand = given.get(s.array if isinstance(s, Dim) else s)
            if isinstance(s, Dim) and isinstance(operand, Value) and operand.type.dims:
                return operand.type.dims[s.axis]
            return operand if isinstance(operand, Linear) else symbol(s)

        return lambda form: form.substitute(put)

    def assume_of_call(self, callee: Unit, operands: list[Any]) -> None:
        """What a called function takes for granted, of the operands of this call."""
        seen = callee.seen_from(operands)
        self.assume_equal((seen(a), seen(b)) for a, b in list(callee.equal_dims))
        for form in list(callee.at_least_zero):
            self.at_least_zero.setdefault(seen(form))

    def sees(self, form: Linear) -> bool:
        """Whether a form is of dims of the parameters alone."""
        return all(
            isinstance(s, Dim) and s.array in self.params for s in form.symbols()
        )

    def knows_unlike_one(self, form: Linear) -> bool:
        """Whether it is a length of an argument: there is a specialisation for a 1."""
        is_own = self.caller is None and self.sees(form)
        return is_own and form == symbol(next(form.symbols()))


class Program:
    """What all frames of one specialisation share."""

    def __init__(
        self,
        apply: Callable[..., Any] | None = None,
        given: tuple[Any, ...] = (),
        exact: bool = False,
        findings: Findings | None = None,
    ) -> None:
        self.findings = findings or Findings()
        self.root = Unit("", None)
        self.given = given  # the function that is called, and those among its arguments
        self.apply = apply  # runs a transform met inside the program
        self.exact = exact  # lengths of captured arrays are numbers
        self.hidden: dict[Any, tuple[Path, Any]] = {}
        self.guards: dict[Any, tuple[Path, Any]] = {}
        self.chose = False  # a rule has chosen between arrays, by element
        self.iterated: set[Any] = set()  # arrays that a loop goes over
        self.begun: dict[Any, Region] = {}  # the array that a value has become
        self.in_rows: set[Any] = set()  # of those, that lie in memory row by row
        self.copied: set[Value] = set()  # values that do, made by y.copy()
        self.own: set[Value] = set()  # results of calls that share memory with nothing
        self.units: dict[Any, Unit] = {}
        self.inlined: set[Any] = set()
        self.reasons: dict[Any, str] = {}  # why they cannot stand alone
        self.separate: set[Any] = set()
        self.kinds: dict[Any, Any] = {}  # of lists of run-time length, by origin
        self.wanted: set[Any] = set()  # rules for all samples, by their keys
        self.captured: dict[Any, Path] = {}  # lists that were captured
        self.births: dict[Structure, Any] = {}  # of the other lists
        self.behind: dict[Structure, Structure] = {}  # of which it shows the arrays
        self.versions: dict[Any, int] = {}  # how often a variable got another list
        self.guesses: dict[Any, Listed] = {}  # items of lists of which none is known
        self.used: list[tuple[Listed, tuple[Any, ...]]] = []  # lists in lists
        self.moves: dict[Any, tuple[int, int]] = {}  # of items that are lists; appends
        self.widened: set[Any] = set()  # cells of ints that are floats there, say
        self.constructs: list[Any] = []  # run-time loops and branches around
        self.tests: dict[int, set[Any]] = {}  # where only the truth is asked for
        self.comprehensions: dict[int, Any] = {}  # as loops
        self.normal: dict[int, tuple[Any, gast.FunctionDef, Liveness]] = {}

    def guard(self, key: Any, path: Path, read: Callable[[Any], Any]) -> None:
        """Whatever `read` finds at the path must stay as it is now."""
        found = Path(
            path.name, (path.key, key), lambda root=None: read(path.read(root))
        )
        self.guards.setdefault(found.key, (found, found.read()))

    def guard_length(self, a: Static) -> None:
        """The type and length of a captured object were relied upon."""
        if a.path is not None:
            self.guard("length", a.path, lambda v: (type(v).__name__, len(v)))

    def guard_member(self, a: Static, key: Any) -> None:
        """What a captured object holds was relied upon."""
        if a.path is not None:
            self.guard(("in", key), a.path, lambda v: key in v)

    @contextmanager
    def inside(self, construct: Any) -> Iterator[None]:
        """Specialise what is in a run-time loop or branch."""
        self.constructs.append(construct)
        try:
            yield
        finally:
            self.constructs.pop()

    def hold(self, a: Any, holder: str) -> None:
        """The lists in a structure are copied elsewhere, and do not change now."""
        if isinstance(a, Structure):
            a = self.behind.get(a, a)
            if a in self.births:
                self.births[a].held = holder
            for item in a.items:
                self.hold(item, holder)

    def guard_code(self, f: Any) -> None:
        """The code of a called function was rewritten."""
        path = Path(f.__name__, ("code", id(f)), self.finder(f))
        self.guard("code", path, lambda v: v.__code__)

    def finder(self, f: Any) -> Callable[..., Any]:
        """How the entry finds a function again: one that is given, or this very one."""
        found = weakref.ref(f)
        places = [k for k, g in enumerate(self.given) if g is f]
        if places:
            return lambda root=None: found() if root is None else root[places[0]]
        return lambda root=None: found()

    def normal_form(self, node: gast.FunctionDef) -> tuple[gast.FunctionDef, Liveness]:
        """The function rewritten by `normalise`, and its live names; once each."""
        if id(node) not in self.normal:
            tree = normalise(node)
            self.normal[id(node)] = (node, tree, analyse(tree))
        return self.normal[id(node)][1:]


class Frame:
    """One call, specialised: names to abstract values, statements into its unit."""

    def __init__(
        self,
        program: Program,
        unit: Unit,
        source: Source,
        enclosing: Frame | None,
        caller: Frame | None,
    ) -> None:
        self.program = program
        self.unit = unit
        self.source = source
        self.enclosing = enclosing
        self.caller = caller
        self.env: dict[str, Any] = {}
        self.site: tuple[Any, ...] = caller.site if caller is not None else ()
        self.locals = program.findings.locals(source.node)
        self.stored = program.findings.stored(source)
        self.current: Any = None  # the statement under way
        self.unsure = program.findings.unsure(source.node)
        self.presets: dict[int, Presets] = {}
        self.unrolled: set[int] = set()
        self.loops: list[Trips] = []  # those around what is specialised
        self.in_rule = False
        self.of_arrays = False  # a rule whose operands include arrays

    @property
    def node(self) -> gast.FunctionDef:
        """The function in normal form."""
        return self.program.normal_form(self.source.node)[0]

    @property
    def liveness(self) -> Liveness:
        return self.program.normal_form(self.source.node)[1]

    @property
    def builder(self) -> Builder:
        return self.unit.builder

    @property
    def is_library(self) -> bool:
        """Whether it is a rule or composition: its loops are over what is known."""
        return (self.source.function.__module__ or "").startswith(LIBRARY)

    @property
    def speaks(self) -> bool:
        """Whether its lines and names are the user's own."""
        return not self.in_rule and not self.is_library

    def scope(self, names: list[str]) -> Frame:
        """The scope of a comprehension: its own names, those around it."""
        inner = Frame(self.program, self.unit, self.source, self, self.caller)
        inner.in_rule, inner.of_arrays = self.in_rule, self.of_arrays
        inner.site = self.site
        inner.locals = frozenset(names)
        return inner

    # ---- running ---------------------------------------------------------------

    def run(self, body: list[Any]) -> None:
        """Specialise statements in order."""
        for s in body:
            handler = STATEMENTS.get(type(s))
            if handler is None:
                raise self.refusal(s)
            if self.speaks:
                self.builder.where = self.source.location(s)
            self.current = s
            try:
                handler(self, s)
            except (Unready, ProgramError) as e:
                if self.in_rule:
                    raise
                self.raise_there(e)
                return

    def raise_there(self, e: Unready | ProgramError) -> None:
        """Write the exception that Python raises at this point of the program."""
        if isinstance(e, ProgramError):
            message = tuple(map(_as_literal, e.error.args))
            self.builder.add(Raise(type(e.error), message))
        elif e.unbound is not None:
            text = UNBOUND.format(e.unbound)
            self.builder.add(Raise(UnboundLocalError, (constant(text),)))
        else:
            raise e

    def evaluate(self, node: Any) -> Any:
        """The abstract value of an expression."""
        handler = EXPRESSIONS.get(type(node))
        if handler is None:
            raise self.refusal(node)
        from gradwright.transform.specialise.births import born

        return born(self, handler(self, node), node)

    def block(self, body: Callable[[], None]) -> list[Statement]:
        """What `body` writes, as a block of its own."""
        with self.builder.nested([]) as block:
            where = self.builder.where
            body()
            self.builder.where = where
        return block

    # ---- names -----------------------------------------------------------------

    def lookup(self, name: str, node: Any) -> Any:
        """The abstract value of a name, by Python's own scoping."""
        if name in self.env:
            return self.readable(self.held(name, self.is_unsure(node)), node)
        if name in self.locals:
            raise Unready(name)
        if self.enclosing is not None and name in self.enclosing.all_names():
            return self.readable(import_name(self, self.enclosing, name, node), node)
        return self.captured(name, node)

    def held(self, name: str, unsure: bool = False) -> Any:
        """What a bound name stands for, read or not: it may be a clash."""
        held = self.env[name]
        return held.load(self, unsure) if isinstance(held, Slot) else self.now(held)

    def now(self, held: Any) -> Any:
        """The same, with what each region in it holds now."""
        if isinstance(held, Region):
            return self.read(held)
        if not any(isinstance(a, Region) for a in leaves(held)):
            return held
        seen = held.of(map(self.now, held.items))
        self.program.behind[seen] = held
        return seen

    def region(self, name: str) -> Region | None:
        """The region that a local name stands for; None where it is something else."""
        held = self.env.get(name)
        held = held.content if isinstance(held, Slot) else held
        return held if isinstance(held, Region) else None

    def read(self, region: Region) -> Value:
        """What an array that is stored into holds now."""
        out = Value(region.place.name, region.type)
        s = Load(out, region.place, region.index)
        self.builder.definition[out] = s
        self.builder.add(s)
        return out

    def is_widened(self, a: Any) -> bool:
        """Whether a number may be of another kind in Python: an int, no float."""
        made = self.builder.definition.get(a) if isinstance(a, Value) else None
        return isinstance(made, Load) and made.source in self.program.widened

    def readable(self, value: Any, node: Any) -> Any:
        """A value that is read here: it must be of one kind on all paths to here."""
        for leaf in leaves(value):
            if isinstance(leaf, Clash):
                raise self.error(
                    UnsupportedSyntax,
                    leaf.text,
                    node,
                    instead="give the two their own names, "
                    "or the same type on every path",
                )
        return value

    def is_unsure(self, node: Any) -> bool:
        """Whether a read of a local may find it unbound."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        return (line, column) in self.unsure

    def all_names(self) -> set[str]:
        outer = self.enclosing.all_names() if self.enclosing else set()
        return set(self.env) | set(self.locals) | outer

    def captured(self, name: str, node: Any) -> Any:
        """A free name of the real function: a cell, a global or a builtin."""
        f = self.source.function
        find = self.program.finder(f)
        if name in f.__code__.co_freevars:
            path = self.cell_path(name, find)
        elif name in f.__globals__:
            key = ("global", id(f.__globals__), name)
            path = Path(name, key, lambda root=None: find(root).__globals__[name])
        else:
            scope = Path(
                name, ("scope", id(f.__globals__)), lambda r=None: find(r).__globals__
            )
            self.program.guard(("in", name), scope, lambda v: name in v)
            if hasattr(builtins, name):
                return Static(getattr(builtins, name))
            raise ProgramError(NameError(f"name '{name}' is not defined"))
        try:
            value = path.read()
        except ValueError:  # an empty cell
            empty = Path(
                name, (path.key, "empty"), lambda root=None: _is_empty(path, root)
            )
            self.program.guards.setdefault(empty.key, (empty, True))
            raise ProgramError(NameError(FREE.format(name))) from None
        return self.wrap(value, path)

    def cell_path(self, name: str, find: Callable[..., Any]) -> Path:
        """A variable of an enclosing function; two functions that share it have one."""
        f, (called, *_) = self.source.function, self.program.given
        cell = _cell(f, name)
        shared = called is not f and cell is _cell(called, name)
        if not shared:
            key = ("cell", id(cell))
            return Path(
                name, key, lambda root=None: _cell(find(root), name).cell_contents
            )
        whole = self.program.finder(called)
        same = Path(
            name,
            ("shared", id(cell)),
            lambda r=None: _cell(find(r), name) is _cell(whole(r), name),
        )
        self.program.guards.setdefault(same.key, (same, True))
        return Path(
            name, ("cell", id(cell)), lambda r=None: _cell(whole(r), name).cell_contents
        )

    def wrap(self, value: Any, path: Path) -> Any:
        """A captured object: numbers and arrays become hidden inputs, others guards."""
        if isinstance(value, tuple) and (held := structure_of(value)) is not None:
            return self.opened(Static(value, path), held)
        type_ = type_of_input(value)
        if type_ is None or type_.dtype == "str":
            self.program.guards.setdefault(path.key, (path, value))
            if type(value) is list:
                self.program.captured[path.key] = path
            return Static(value, path)
        if self.program.exact and type_.is_array:
            self.program.guard("shape", path, np.shape)
            type_ = array(type_.dtype, value.shape)
        return self.hidden_input(value, path, type_)

    def opened(self, a: Static, held: Structure | None = None) -> Structure | None:
        """A captured tuple, list or dict as a structure; None for anything else.

        It must have the same length, or the same keys, at every call.
        """
        held = held or structure_of(a.value)
        if held is None or a.path is None:
            return held and held.of(map(lift, held.items))
        if held.keys is None:
            self.program.guard_length(a)
        else:
            self.program.guard("keys", a.path, lambda v: (type(v).__name__, *v))
        keys = range(len(held.items)) if held.keys is None else held.keys
        named = zip(keys, held.items, strict=True)
        return held.of([self.wrap(v, a.path.item(k)) for k, v in named])

    def hidden_input(self, value: Any, path: Path, type_: Type) -> Any:
        program = self.program
        if path.key not in program.hidden:
            param = program.root.param(path.name, type_)
            program.hidden[path.key] = (path, param)
        return import_operand(self, program.root, program.hidden[path.key][1])

    def assign(self, name: str, value: Any, node: Any) -> None:
        """Bind a name: store into its slot, or remember what it stands for."""
        from gradwright.transform.specialise import regions
        from gradwright.transform.specialise.lists import given_up
        from gradwright.transform.specialise.lists import named as name_list

        if isinstance(value, Listed):
            value = given_up(self, value, node)
        held = self.env.get(name)
        if isinstance(held, Slot) and held.owner.open:
            if regions.is_carried(self, held, value):
                regions.carry(self, held, value, node)
            else:
                held.store(self, regions.for_slot(self, name, value, node), node)
            return
        value = regions.bound(self, name, value, node)
        if isinstance(value, Listed) and self.speaks:
            name_list(value, name)
        if isinstance(value, Const) and value.type.is_inexact and value.text is None:
            value = self.named_constant(name, value)
        if isinstance(value, Linear):
            value = self.named_form(name, value)
        named = self.in_rule or self.speaks
        if named and isinstance(value, Value) and not value.users:
            value.name, value.users = name, self.speaks
        self.env[name] = value

    def named_constant(self, name: str, value: Const) -> Any:
        """`g = 9.81` stays a statement, so that the source says g."""
        if not self.speaks:
            return value
        return self.builder.let(NAMED, value, type=value.type, name=name)

    def named_form(self, name: str, form: Linear) -> Linear:
        """`p = k + int(z)` stays a statement where a part of it has no name."""
        made = self.builder.definition
        if not self.speaks or all(s not in made or s.users for s in form.symbols()):
            return form
        if form.terms == {(whole := next(form.symbols())): 1} and not form.offset:
            whole.name, whole.users = name, True
            return form
        new = self.builder.let(NAMED, form, type=INT, name=name)
        assert isinstance(new, Linear)
        next(new.symbols()).users = True
        return new

    # ---- numbers known now -----------------------------------------------------

    def static_int(self, value: Any, node: Any, what: str) -> int:
        """An int that must be known now; demands it where it is not."""
        if isinstance(value, Linear):
            if value.constant is not None:
                return value.constant
            for s in value.symbols():
                if isinstance(s, Value):
                    raise Demand(s, self.location(node))
        if isinstance(value, Const) and isinstance(value.value, bool):
            return int(value.value)
        raise self.error(
            UnsupportedSyntax, f"{what} must be an int known in advance", node
        )

    # ---- errors ----------------------------------------------------------------

    def source_of(self, function: Any, node: Any) -> Source:
        """The source of a function that is used here.

        Raises:
            SourceError: It has none; the error shows where it is used.
        """
        try:
            return sources.read(function)
        except SourceError as e:
            e.location = e.location or self.location(node)
            raise

    def location(self, node: Any) -> Location:
        return self.source.location(node)

    def error(
        self,
        kind: type[GradwrightError],
        message: str,
        node: Any,
        instead: str | None = None,
    ) -> GradwrightError:
        return kind(message, at=self.location(node), instead=instead)

    def refusal(self, node: Any, part: Any = None) -> GradwrightError:
        """The error for a node, or for a part of it, that is not in the language."""
        message, instead = language.refusal(part or node)
        kind = EffectError if isinstance(node, gast.Global) else UnsupportedSyntax
        return self.error(kind, message, node, instead)


# ---- values of other frames and units ----------------------------------------------


def import_name(frame: Frame, owner: Frame, name: str, node: Any) -> Any:
    """What `name` of an enclosing frame stands for, seen from this frame's unit."""
    if frame.unit is owner.unit:
        if name in owner.env or name in owner.locals:
            held = owner.env.get(name)
            if held is None:
                raise ProgramError(NameError(FREE.format(name)))
            return held.load(frame) if isinstance(held, Slot) else frame.now(held)
        return owner.lookup(name, node)
    caller = frame.unit.caller
    if caller is None:
        raise frame.error(
            UnsupportedSyntax, f"'{name}' belongs to a call that has ended", node
        )
    from gradwright.transform.specialise.units import InlineInstead

    positions = itertools.count()
    outer = import_name(caller, owner, name, node)
    if any(isinstance(leaf, Listed) for leaf in leaves(outer)):
        raise InlineInstead("captures a list whose length only the run knows")

    def capture(leaf: Any) -> Any:
        k = next(positions)

        def again(other: Frame) -> Any:
            return list(leaves(import_name(other, owner, name, node)))[k]

        return _capture(frame.unit, leaf, (id(owner), name, k), again)

    return mapped(capture, outer)


def import_operand(frame: Frame, owner: Unit, operand: Any) -> Any:
    """An operand of an outer unit, handed in through the units between."""
    if frame.unit is owner:
        return operand
    caller = frame.unit.caller
    assert caller is not None
    outer = import_operand(caller, owner, operand)
    return _capture(
        frame.unit, outer, operand, lambda other: import_operand(other, owner, operand)
    )


def _capture(unit: Unit, outer: Any, key: Any, again: Callable[[Frame], Any]) -> Any:
    """A parameter of the unit for an operand of its caller.

    `again` finds that operand as any other caller of the unit has it.
    """
    if not is_operand(outer) or isinstance(outer, Const):
        return outer
    if isinstance(outer, Linear) and outer.constant is not None:
        return outer
    if key not in unit.captures:
        name = outer.name if isinstance(outer, Value) else name_of_linear(outer)
        unit.captures[key] = Capture(unit.param(name, type_of(outer)), again)
    return unit.captures[key].param


def name_of_linear(form: Linear) -> str:
    """A name for a parameter that holds a linear form."""
    symbols = list(form.symbols())
    if len(symbols) == 1 and isinstance(symbols[0], Value):
        return symbols[0].name
    return "count"


def _as_literal(a: Any) -> Any:
    """What an exception says, as a literal; an int key stays an int."""
    return constant(a if type(a) in (int, float, bool) else str(a))


def lift(value: Any) -> Any:
    """A plain object known now, as an abstract value; a length is one already."""
    if isinstance(value, Linear):
        return value
    if isinstance(value, bool | int | float | complex):
        return constant(value)
    if is_operand(value):
        return value
    held = structure_of(value)
    return Static(value) if held is None else held.of(map(lift, held.items))


def type_of_input(value: Any) -> Type | None:
    """The type of a run-time argument, or None where it is no number or array."""
    if type(value) is np.ndarray and value.dtype.kind in "biufc":
        dims = tuple(linear(1 if n == 1 else -1) for n in value.shape)
        return array(value.dtype, dims)
    return of_number(value)


def _is_empty(path: Path, root: Any) -> bool:
    """Whether a free variable has no value yet."""
    try:
        path.read(root)
    except ValueError:
        return True
    return False


def _cell(f: Any, name: str) -> Any:
    """The cell of a free variable of a function; None where it has no such variable."""
    free = f.__code__.co_freevars
    return f.__closure__[free.index(name)] if name in free else None
