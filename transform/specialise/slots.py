"""The variables that runtime loops and branches assign, and what they hold where.

    if x > 0.0:            at the end of one path `law` holds sin, at the end of the
        law = math.sin     other cos: after the branch it holds a `Clash`, which only
    else:                  a read turns into an error
        law = math.cos

A number or an array has a cell, and is in it on every path; an array that is stored
into has a region, and what the variable is bound to is copied there.  What is known now
has no storage: a slot holds it from its assignment on, along the path that is
specialised.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwright.transform.build import constant
from gradwright.transform.core import (
    Buffer,
    Cell,
    Const,
    Place,
    Statement,
    Value,
    type_of,
)
from gradwright.transform.indices import Linear
from gradwright.transform.specialise.abstract import (
    Clash,
    Closure,
    Listed,
    Region,
    Static,
    Structure,
    as_constant,
    describe,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.types import BOOL, Type, element_dtype, join

if TYPE_CHECKING:
    from gradwright.transform.specialise.frame import Frame


class Unready(Exception):
    """A value is read that has no type yet: this path is left for now.

    With `unbound`, the name has no value on this path at all: Python raises there.
    """

    def __init__(self, unbound: str | None = None) -> None:
        self.unbound = unbound


class Restart(Exception):
    """A construct must be specialised anew: one of its names changed its type."""

    def __init__(self, construct: Construct) -> None:
        self.construct = construct


class Presets:
    """What earlier attempts at a construct found, by name.

    kinds: what has storage before its first assignment, a type where it is a cell;
    None: nothing has.  heads: what a loop's trips leave, where it is not what was held
    before the loop; a clash where that was something else.
    """

    def __init__(self) -> None:
        self.kinds: dict[str, Any] = {}
        self.heads: dict[str, Held] = {}


class Construct:
    """A runtime `if` or loop, owner of the slots that its blocks assign.

    `first` are the statements that give the slots the values they have on entry.
    """

    def __init__(self, presets: Presets) -> None:
        self.presets = presets
        self.slots: list[Slot] = []
        self.allocated: list[Place] = []
        self.first: list[Statement] = []
        self.open = True
        self.entering = False  # the slots get what the names hold on entry

    def settle(self) -> None:
        """Start again where a slot was read before its type was known."""
        kinds = self.presets.kinds
        for slot in self.slots:
            if slot.read_early and slot.name not in kinds:
                stored = _is_storage(slot.content)
                kinds[slot.name] = _kind(slot.content) if stored else None
                raise Restart(self)


def _is_storage(held: Any) -> bool:
    return isinstance(held, Cell | Region | Structure)


def _kind(held: Any) -> Any:
    """What a slot holds, without its storage."""
    if isinstance(held, Structure):
        return held.of(_kind(slot.content) for slot in held.items)
    return held.type if isinstance(held, Cell) else held


class Slot:
    """A variable that a runtime loop or branch assigns: cells, or something static.

    `marker` is a cell that is stored wherever something static is bound, for a read
    where it may not be: what nobody reads is dropped as dead code.
    """

    def __init__(self, name: str, owner: Construct) -> None:
        self.name = name
        self.owner = owner
        self.content: Any = None  # None | Cell | Region | Static ... | Structure
        self.node: Any = None  # the assignment that put it there
        self.storage: list[Any] = []  # cells that do not join, structures of one shape
        self.marker: Cell | None = None
        self.origins: dict[Any, Any] = {}  # of lists that are known, by their form
        self.read_early = False
        self.is_carried = False  # what is read may be of the trip before

    # ---- writing ---------------------------------------------------------------

    def store(self, frame: Frame, value: Any, node: Any = None) -> None:
        """Bind the variable, on the path that is being specialised."""
        if isinstance(value, Structure):
            held = self._structure(value)
            self._enter_list(frame, value)
            frame.program.hold(value, f"'{self.name}'")
            self._hold(held, node)
            if not value.items:
                self._mark(frame)
            for slot, item in zip(held.items, value.items, strict=True):
                slot.store(frame, item, node)
            return
        if isinstance(value, Listed):
            self._mark(frame)
            self._hold(self._listed(frame, value, node), node)
            return
        joined = self._joined(value)
        if joined is None and not is_operand(value):
            self._mark(frame)
            self._hold(value, node)
            return
        cell = self._cell(joined or type_of(value))
        self._hold(cell, node)
        operand = as_constant(value)
        if element_dtype(type_of(operand)) != element_dtype(cell.type):
            frame.program.widened.add(cell)
        frame.builder.store(cell, operand)

    def _enter_list(self, frame: Frame, value: Structure) -> None:
        """Note where a list is made; it is of run-time length where another one is."""
        from gradwright.transform.specialise.births import Kind, Promotion

        birth = frame.program.births.get(value)
        if birth is None or birth.origin is None or birth.promote is not None:
            return
        if isinstance(self.content, Listed):
            raise Promotion(birth.origin, Kind())
        self.origins[value.form] = birth.origin

    def _listed(self, frame: Frame, value: Listed, node: Any) -> Listed:
        """The list of the variable's own, which is now what the value was."""
        from gradwright.transform.specialise import births, lists

        held = self.content
        if isinstance(held, Structure) and held.form in self.origins:
            raise births.Promotion(self.origins[held.form], births.Kind())
        if held is None:
            held = next((h for h in self.storage if isinstance(h, Listed)), None)
        if self.owner.entering:
            return lists.adopted(frame, self.name, value, node)
        if not isinstance(held, Listed):
            held = lists.variable(frame, self, value)
            self.storage.append(held)
        lists.take(frame, self.name, held, value, node)
        return held

    def region(self, frame: Frame, type: Type, node: Any) -> Region:
        """The region that the arrays go to which the variable is bound to."""
        held = [a for a in self.storage if isinstance(a, Region)]
        if not held:
            self._keep(Region(Buffer(self.name, type, tuple(type.dims or ()))))
            held = self.storage[-1:]
        self._mark(frame)
        self._hold(held[0], node)
        return held[0]

    def _keep(self, region: Region) -> None:
        self.owner.allocated.append(region.place)
        self.storage.append(region)

    def _joined(self, value: Any) -> Type | None:
        """The type of a cell for this and for what is held; None if there is none."""
        operand, held = as_constant(value), as_constant(self.content)
        if not is_operand(operand) or _same(self.content, value):
            return None
        known = self._preset if held is None else None
        if isinstance(held, Cell) or is_operand(held):
            known = held.type
        joined = join(known, type_of(operand)) if known is not None else None
        if joined is not None and is_operand(held):  # a text or None: it had no cell
            self._widen(joined)
            return None
        return joined

    def _cell(self, type: Type) -> Cell:
        """The cell for values of a type; the attempt ends where it must be wider."""
        preset = self._preset
        made = Cell(self.name, type if preset is None else preset)
        for cell in [*(c for c in self.storage if isinstance(c, Cell)), made]:
            joined = join(cell.type, type)
            if joined is not None and joined != cell.type:
                self._widen(joined)
            if joined == cell.type and cell is not made:
                return cell
        if join(made.type, type) != made.type:  # it cannot be both
            made.type = type
        self.owner.allocated.append(made)
        self.storage.append(made)
        return made

    def _structure(self, like: Structure) -> Structure:
        """Slots for the items of a structure of this shape."""
        for held in self.storage:
            if isinstance(held, Structure) and held.form == like.form:
                return held
        names = (f"{self.name}_{k}" for k in like.labels)
        made = like.of(Slot(n, self.owner) for n in names)
        self.storage.append(made)
        return made

    def between(self, frame: Frame, one: Held, other: Held) -> Clash:
        """The clash of what is held on one path and on another, in program order."""
        self._promote(one.content, other.content)
        said = []
        for content, node in (one, other):
            if isinstance(content, Clash):
                return content
            if isinstance(content, Cell | Region):
                content = Value(self.name, content.type)
            line = frame.location(node).line if node is not None else 0
            said.append((line, describe(content), f" (line {line})" if line else ""))
        (_, a, at_a), (_, b, at_b) = sorted(said, key=lambda part: part[0])
        return Clash(f"'{self.name}' is {a} on one path{at_a} and {b} on another{at_b}")

    def _promote(self, *contents: Any) -> None:
        """Lists of two lengths are one list of run-time length."""
        from gradwright.transform.specialise.births import Kind, Promotion

        if all(isinstance(c, Structure) and c.kind is list for c in contents):
            for content in contents:
                if content.form in self.origins:
                    raise Promotion(self.origins[content.form], Kind())

    def _hold(self, content: Any, node: Any) -> None:
        self.content, self.node = content, node

    def go_on(self, held: Any, node: Any) -> None:
        """Hold what a variable of a construct that has ended holds, in its cells."""
        self._hold(held, node)
        self.storage.append(held)

    def _widen(self, type: Type) -> None:
        """Specialise the construct anew, with a cell of this type from the start.

        A type that does not join what an earlier attempt found gets a cell of its own.
        """
        preset = self._preset
        wider = type if preset is None else join(preset, type)
        if wider is not None and wider != preset:
            self.owner.presets.kinds[self.name] = wider
            raise Restart(self.owner)

    @property
    def _preset(self) -> Type | None:
        """The type of its first cell, where an earlier attempt found one."""
        kind = self.owner.presets.kinds.get(self.name)
        return kind if isinstance(kind, Type) else None

    # ---- reading ---------------------------------------------------------------

    def load(self, frame: Frame, unsure: bool = False) -> Any:
        """What the variable stands for; a `Clash` is for the reader to refuse."""
        from gradwright.transform.specialise.births import note_read
        from gradwright.transform.specialise.lists import now

        match self.content:
            case Cell():
                return frame.builder.load(self.content, unsure=unsure)
            case Region():
                self._check_marker(frame, unsure)
                return frame.read(self.content)
            case Structure():
                if not self.content.items:
                    self._check_marker(frame, unsure)
                read = mapped(lambda slot: slot.load(frame, unsure), self.content)
                if self.content.form in self.origins:
                    note_read(frame, read, self.origins[self.content.form])
                return read
            case None:
                kinds = self.owner.presets.kinds
                if kinds.get(self.name) is not None:
                    self.begin(kinds[self.name])
                    return self.load(frame, unsure)
                self.read_early = True
                raise Unready(self.name if self.name in kinds else None)
        self._check_marker(frame, unsure)
        if isinstance(self.content, Listed):
            return now(frame, self.content)
        return self.content

    def begin(self, kind: Any) -> None:
        """Hold what an earlier attempt found."""
        if isinstance(kind, Structure):
            self.content = self._structure(kind)
            for slot, item in zip(self.content.items, kind.items, strict=True):
                slot.begin(item)
        elif isinstance(kind, Region):
            self._keep(kind)
            self.content = kind
        else:
            self.content = self._cell(kind) if isinstance(kind, Type) else kind
        if isinstance(kind, Listed):
            self.storage.append(kind)
            self.owner.allocated += leaves(kind.tree)

    # ---- whether something static is bound --------------------------------------

    def _check_marker(self, frame: Frame, unsure: bool) -> None:
        if unsure:
            frame.builder.load(self._marker(), unsure=True)

    def _mark(self, frame: Frame) -> None:
        frame.builder.store(self._marker(), constant(True))

    def _marker(self) -> Cell:
        if self.marker is None:
            self.marker = Cell(self.name, BOOL)
            self.owner.allocated.append(self.marker)
        return self.marker

    # ---- its items, if it is a structure -----------------------------------------

    @property
    def is_read_round(self) -> bool:
        """Whether something known may be read in the next trip of a loop."""
        return self.is_known and (self.is_carried or self.read_early)

    @property
    def is_known(self) -> bool:
        """Whether it holds something without storage, if only inside a structure."""
        if isinstance(self.content, Structure):
            return any(slot.is_known for slot in self.content.items)
        return self.content is not None and not isinstance(self.content, Cell | Region)

    def parts(self) -> Iterator[Slot]:
        """The slot, and those inside it."""
        yield self
        if isinstance(self.content, Structure):
            for slot in self.content.items:
                yield from slot.parts()


def _same(held: Any, value: Any) -> bool:
    """Whether a slot that holds one holds the other as well."""
    if held is value:
        return True
    if isinstance(held, Region) and isinstance(value, Region):
        return held.place is value.place and held.index == value.index
    if isinstance(held, Closure) and isinstance(value, Closure):
        # It sees variables as they are when it is called; its defaults are its own.
        mine = [*held.defaults, *held.keyword_defaults.values()]
        its = [*value.defaults, *value.keyword_defaults.values()]
        return _made(held) == _made(value) and all(map(_same, mine, its))
    if isinstance(held, Const | Linear):
        return bool(held == value)
    if not (isinstance(held, Static) and isinstance(value, Static)):
        return False
    a, b = held.value, value.value
    return a is b or (isinstance(a, str) and isinstance(b, str) and a == b)


def _made(a: Closure) -> tuple[Any, int, int]:
    """Where a function is made; a loop that is written out has copies of the node."""
    return a.frame, a.source.node.lineno, a.source.node.col_offset


# ---- paths that part and meet ------------------------------------------------------


class Held(NamedTuple):
    """What a slot holds at one point of the program, and since which assignment."""

    content: Any
    node: Any


NOTHING = Held(None, None)

State = dict[Slot, Held]


def state(frame: Frame) -> State:
    """What every slot that can still be assigned holds now."""
    held = (a for a in frame.env.values() if isinstance(a, Slot) and a.owner.open)
    return {s: Held(s.content, s.node) for slot in held for s in slot.parts()}


class Fork:
    """Paths that part at one point of the program and meet at another."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.parting = state(frame)
        self.ends: list[State] = []

    def begin(self) -> None:
        """Hold what was held where the paths part."""
        _return_to(self.parting)

    def end(self) -> None:
        """Come to the end of a path."""
        self.ends.append(state(self.frame))

    def meet(self) -> None:
        """Hold what is held at the ends of all paths; there may be none."""
        for slot, held in meeting(self.frame, self.ends).items():
            slot.content, slot.node = held


def meeting(frame: Frame, ends: list[State]) -> State:
    """What is held behind paths with these ends, but for what no path assigned."""
    found: State = {}
    for slot in {s: None for end in ends for s in end}:
        held = [end.get(slot, NOTHING) for end in ends]
        there = [h for h in held if h.content is not None]
        slot.is_carried = slot.is_carried or len(there) < len(held)
        for other in there:
            one = found.setdefault(slot, other)
            if not _same(one.content, other.content):
                found[slot] = Held(slot.between(frame, one, other), None)
    return found


def _return_to(then: State) -> None:
    """Hold what was held then; what was nothing keeps the storage that it got."""
    for slot, held in then.items():
        if held.content is not None or not _is_storage(slot.content):
            slot.content, slot.node = held


class Trips:
    """The paths of a loop: from its head to its head again, or out of it."""

    def __init__(self, frame: Frame, construct: Construct) -> None:
        self.frame = frame
        self.construct = construct
        heads = construct.presets.heads
        for slot in state(frame):
            brought = heads.get(slot.name, NOTHING)
            if isinstance(brought.content, Clash):
                slot.content = brought.content
            elif brought.content is not None and slot.content is None:
                slot.begin(brought.content)
                slot.node = brought.node
        self.head = state(frame)
        self.exits = [self.head]

    def leave(self) -> None:
        """Come to a break."""
        self.exits.append(state(self.frame))

    def close(self) -> None:
        """Come to the head again: start anew if it was taken to hold something else."""
        heads, end = self.construct.presets.heads, state(self.frame)
        for slot, held in end.items():
            at_head = self.head.get(slot, held)
            if at_head.content is None and not slot.is_read_round:
                continue
            if _same(at_head.content, held.content):
                continue
            kind = _kind(held.content)
            if at_head.content is not None:
                kind = slot.between(self.frame, at_head, held)
            if heads.get(slot.name, NOTHING).content is not kind:
                heads[slot.name] = Held(kind, held.node)
                raise Restart(self.construct)
        for slot, held in meeting(self.frame, [*self.exits, end]).items():
            slot.content, slot.node = held
