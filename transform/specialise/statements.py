"""What each kind of statement means: bindings, branches, loops, effects."""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import gast

from gradwright.transform import core
from gradwright.transform.build import constant, row
from gradwright.transform.core import (
    Alloc,
    Assert,
    Break,
    Cell,
    For,
    If,
    Operand,
    Place,
    Raise,
    Statement,
    Value,
    While,
    stores,
    type_of,
)
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Linear, linear
from gradwright.transform.language import copied
from gradwright.transform.liveness import after_loop, assigned
from gradwright.transform.normalise import fresh, names
from gradwright.transform.parsing import statements
from gradwright.transform.specialise import listing, lists
from gradwright.transform.specialise.abstract import (
    Clash,
    Counting,
    From,
    Items,
    Listed,
    ListItems,
    Mapped,
    Region,
    Static,
    Structure,
    Zipped,
    as_constant,
    describe,
    is_operand,
)
from gradwright.transform.specialise.bindings import (
    bind,
    change_whole,
    element,
    refuse_store,
    store_item,
)
from gradwright.transform.specialise.builtins import stepwise
from gradwright.transform.specialise.expressions import (
    BINARY,
    as_operand,
    binary,
    closure,
    operate,
    truth,
)
from gradwright.transform.specialise.frame import (
    MOST_UNROLLED,
    STATEMENTS,
    Demand,
    Frame,
)
from gradwright.transform.specialise.regions import iterated
from gradwright.transform.specialise.slots import (
    Construct,
    Fork,
    Presets,
    Restart,
    Slot,
    Trips,
    Unready,
)
from gradwright.transform.types import INT, Type

Handler = Callable[[Frame, Any], None]


def statement(*nodes: type) -> Callable[[Handler], Handler]:
    """Enter a handler in the registry."""

    def register(handler: Handler) -> Handler:
        for node in nodes:
            STATEMENTS[node] = handler
        return handler

    return register


# ---- bindings ----------------------------------------------------------------------


@statement(gast.Pass)
def _pass(frame: Frame, node: Any) -> None:
    pass


@statement(gast.Expr)
def _expression(frame: Frame, node: Any) -> None:
    if not isinstance(node.value, gast.Constant):  # a docstring
        frame.evaluate(node.value)


@statement(gast.Assign)
def _assign(frame: Frame, node: Any) -> None:
    if _accumulates(frame, node):
        return
    match node:
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call()):
            node.value.result = name
    value = frame.evaluate(node.value)
    for target in node.targets:
        bind(frame, target, value)


@statement(gast.AnnAssign)
def _annotated(frame: Frame, node: Any) -> None:
    if node.value is not None:
        bind(frame, node.target, frame.evaluate(node.value))


@statement(gast.AugAssign)
def _augmented(frame: Frame, node: Any) -> None:
    if isinstance(node.target, gast.Subscript):
        value = frame.evaluate(node.value)
        store_item(frame, node.target, value, BINARY[type(node.op)])
        return
    if not isinstance(node.target, gast.Name):
        refuse_store(frame, frame.evaluate(node.target.value), node.target)
    name = node.target.id
    region = frame.region(name)
    if region is not None:
        value = frame.evaluate(node.value)
        change_whole(frame, region, value, BINARY[type(node.op)], node)
        return
    if _add_into(frame, name, node.op, node.value, node):
        return
    old = frame.lookup(name, node)
    value = frame.evaluate(node.value)
    if listing.in_place(frame, BINARY[type(node.op)], old, value, node):
        return
    if isinstance(old, Value) and old.type.is_array:
        raise frame.error(
            UnsupportedSyntax,
            f"gradwright does not rewrite stores into an array yet: "
            f"this changes the array {name} in place",
            node,
            instead=f"{name} = {name} {_sign(node.op)} ...",
        )
    frame.assign(name, binary(frame, BINARY[type(node.op)], old, value, node), node)


def _sign(op: Any) -> str:
    from gradwright.transform.primitives.record import SPELLINGS

    return SPELLINGS[BINARY[type(op)]]


def _accumulates(frame: Frame, node: Any) -> bool:
    """`s = s + e` is `s += e`."""
    match node:
        case gast.Assign(
            targets=[gast.Name(id=name)],
            value=gast.BinOp(left=gast.Name(id=left), op=op, right=right),
        ) if name == left:
            return _add_into(frame, name, op, right, node)
    return False


def _add_into(frame: Frame, name: str, op: Any, right: Any, node: Any) -> bool:
    """Add to a cell in place, where the name is one and keeps its type."""
    slot = frame.env.get(name)
    if not isinstance(op, gast.Add | gast.Sub) or not isinstance(slot, Slot):
        return False
    if any(isinstance(n, gast.NamedExpr) for n in gast.walk(right)):
        return False
    if not (slot.owner.open and isinstance(slot.content, Cell)):
        return False
    cell_type = slot.content.type
    if not cell_type.is_inexact or cell_type.is_array or cell_type.optional:
        return False
    value = frame.evaluate(right)
    if not is_operand(value) or not _keeps(cell_type, op, type_of(value)):
        old = slot.load(frame)
        frame.assign(name, binary(frame, BINARY[type(op)], old, value, node), node)
        return True
    if isinstance(op, gast.Sub):
        value = frame.builder.operator(operator.neg, value)
    frame.builder.store(slot.content, value, accumulate=True)
    return True


def _keeps(held: Type, op: Any, added: Type) -> bool:
    """Whether a number is of the same type after a sum with another."""
    same = not added.is_array
    return same and row(BINARY[type(op)], 2).type_rule(held, added) == held


@statement(gast.FunctionDef)
def _nested_function(frame: Frame, node: Any) -> None:
    made: Any = closure(frame, node)
    if node.decorator_list:
        raise frame.error(
            UnsupportedSyntax,
            "a decorator on a nested function",
            node.decorator_list[0],
            instead="name = decorator(function) after it",
        )
    frame.assign(node.name, made, node)


@statement(gast.Delete)
def _delete(frame: Frame, node: Any) -> None:
    for target in node.targets:
        if not isinstance(target, gast.Subscript):
            raise frame.refusal(node)
        listing.delete(frame, target)


# ---- branches ----------------------------------------------------------------------


@statement(gast.If)
def _if(frame: Frame, node: Any) -> None:
    test = truth(frame, frame.evaluate(node.test), node.test)
    if isinstance(test, bool):
        frame.run(node.body if test else node.orelse)
        return
    live = frame.liveness.after[id(node)]
    inside = frame.liveness.inside[id(node)]
    names = [n for n in assigned(node.body + node.orelse) if n in live]

    def write(construct: Construct) -> None:
        _open_slots(frame, construct, [n for n in names if n in inside], names)
        fork = Fork(frame)
        written = [_branch(frame, b, fork) for b in (node.body, node.orelse)]
        construct.settle()
        missing = [b for b in written if isinstance(b, Unready)]
        if len(missing) == 2:
            raise missing[0]
        then, orelse = ([] if isinstance(b, Unready) else b for b in written)
        fork.meet()
        _allocate(frame, construct)
        frame.builder.add(If(test, then, orelse))
        frame.builder.forget({p for b in (then, orelse) for s in b for p in stores(s)})

    _construct(frame, node, write)
    for n in assigned(node.body + node.orelse):
        if n not in live and not _is_open(frame, n):
            frame.env.pop(n, None)


def _is_open(frame: Frame, name: str) -> bool:
    held = frame.env.get(name)
    return isinstance(held, Slot) and held.owner.open


def _branch(frame: Frame, body: list[Any], fork: Fork) -> list[Statement] | Unready:
    """A branch as a block, or what it reads that has no type yet."""
    env = dict(frame.env)
    fork.begin()
    try:
        block = frame.block(lambda: frame.run(body))
    except Unready as e:
        return e
    finally:
        frame.env.clear()
        frame.env.update(env)
    if not (body and isinstance(body[-1], gast.Break | gast.Raise)):
        fork.end()
    return block


def _construct(frame: Frame, node: Any, write: Callable[[Construct], None]) -> None:
    """Write a runtime branch or loop, from the start again when a name widens."""
    while True:
        construct = Construct(frame.presets.setdefault(id(node), Presets()))
        before = Fork(frame)
        env, length = dict(frame.env), len(frame.builder.block)
        known, versions = dict(frame.builder.known), dict(frame.program.versions)
        moves = dict(frame.program.moves)
        try:
            is_run_time = id(node) not in frame.unrolled
            with frame.program.inside(construct) if is_run_time else nullcontext():
                write(construct)
            construct.open = False
            return
        except Restart as e:
            if e.construct is not construct:
                raise
        except Demand as e:
            if getattr(e.symbol, "construct", None) is not construct:
                raise
            frame.unrolled.add(id(node))
        del frame.builder.block[length:]
        frame.builder.known, frame.program.versions = known, versions
        frame.program.moves = moves
        frame.env.clear()
        frame.env.update(env)
        before.begin()


def _open_slots(
    frame: Frame, construct: Construct, started: list[str], names: list[str]
) -> None:
    """Slots for the names that a construct assigns; `started` ones keep their value."""
    for name in names:
        if _is_open(frame, name):
            continue
        old = frame.env.get(name)
        if isinstance(old, Region) and name not in frame.stored.rebound:
            continue  # it is only stored into
        slot = Slot(name, construct)
        construct.slots.append(slot)
        if isinstance(old, Region):
            slot.go_on(old, None)
            frame.env[name] = slot
            continue
        since = old.node if isinstance(old, Slot) else None
        held = _gone_on(old.content, construct) if isinstance(old, Slot) else None
        if isinstance(old, Slot) and held is not None:
            slot.go_on(held, since)
            slot.marker = old.marker
            frame.env[name] = slot
            continue
        if name in started and name in frame.env:
            try:
                value = frame.held(name)
            except Unready:
                frame.env[name] = slot
                continue
            construct.entering = True
            with frame.builder.nested([]) as scratch:
                slot.store(frame, value, since)
            construct.entering = False
            construct.first.extend(scratch)
        frame.env[name] = slot


def _gone_on(held: Any, construct: Construct) -> Any:
    """What a name held in a construct that has ended: it lives on in the same cells."""
    if isinstance(held, Structure):
        slots = []
        for old in held.items:
            content = _gone_on(old.content, construct)
            if content is None:
                return None
            slot = Slot(old.name, construct)
            slot.go_on(content, old.node)
            slots.append(slot)
        return held.of(slots)
    if isinstance(held, Clash | Listed | Region):
        return held
    if not isinstance(held, Cell):
        return None
    wider = construct.presets.kinds.get(held.name)
    if isinstance(wider, Type):
        held.type = wider
    return held


def _allocate(frame: Frame, construct: Construct) -> None:
    """The cells of a construct begin before it, with the values on entry."""
    for cell in construct.allocated:
        frame.builder.add(Alloc(cell))
    for s in construct.first:
        frame.builder.add(s)
        s.where = None  # no line of the user's says it


# ---- loops -------------------------------------------------------------------------


@statement(gast.For)
def _for(frame: Frame, node: Any) -> None:
    items = stepwise(frame, frame.evaluate(node.iter), node.iter)
    if isinstance(items, Structure):
        unroll(frame, node, list(items.items))
        return
    if isinstance(items, Mapped) and isinstance(items.items, Structure):
        unroll(frame, node, list(items.items.items), items.function)
        return
    if isinstance(items, Counting) and frame.is_library:
        unroll(frame, node, _known_items(frame, items, node))
        return
    _run_time_loop(frame, node, items)


class LoopSymbol(Value):
    """The variable of a runtime loop; knows its loop, should a constant be wanted."""

    is_known = False  # the loop may be written out
    ends: tuple[Linear, Linear] | None = None  # the least and the greatest it can be

    def __init__(self, name: str, node: Any, construct: Construct, users: bool) -> None:
        super().__init__(name, INT, users)
        self.node = node
        self.construct = construct


def _run_time_loop(frame: Frame, node: Any, items: Any) -> None:
    def write(construct: Construct) -> None:
        if id(node) in frame.unrolled:
            function = items.function if isinstance(items, Mapped) else _itself
            unroll(frame, node, _known_items(frame, items, node), function)
            return
        s = _header(frame, node, items, construct)

        def first() -> None:
            bind(frame, node.target, item_in(frame, items, s))
            _bind_inside(frame, node, s)

        with iterated(frame, items):
            s.body = _loop_body(frame, node, construct, first)
        listing.refuse_resized(items, s, frame, node)
        _allocate(frame, construct)
        frame.builder.add(s)
        frame.builder.forget(stores(s))

    _construct(frame, node, write)
    _close(frame, node)


def _loop_body(
    frame: Frame, node: Any, construct: Construct, first: Callable[[], None]
) -> list[Statement]:
    """The body of a runtime loop; slots for what it carries or leaves behind."""
    inside, live = frame.liveness.inside[id(node)], frame.liveness.after[id(node)]
    bound = assigned(_targets(node))
    names = [
        n
        for n in assigned([*_targets(node), *node.body])
        if n in live or (n in inside and n not in bound)
    ]
    _open_slots(frame, construct, names, names)
    trips = Trips(frame, construct)
    changed: set[Place] = {
        c for n in assigned(node.body) for c in _cells(frame.env.get(n))
    }

    def run() -> None:
        frame.builder.forget(changed)
        first()
        frame.run(node.body)

    slots = {n: frame.env[n] for n in names}
    frame.loops.append(trips)
    try:
        body = frame.block(run)
        frame.env.update(slots)
        lists.refuse_moved(frame, construct)
        trips.close()
    except Unready:
        construct.settle()
        raise
    finally:
        frame.loops.pop()
    construct.settle()
    return body


def _bind_inside(frame: Frame, node: Any, s: For) -> None:
    """A loop variable that only the loop itself binds is read as what it is, inside.

    Its slot is for after the loop.
    """
    rebound = set(assigned(node.body))
    if isinstance(node.target, gast.Name) and node.target.id not in rebound:
        slot = frame.env.get(node.target.id)
        if isinstance(slot, Slot) and isinstance(slot.content, Cell):
            stored = frame.builder.block[-1]
            assert isinstance(stored, core.Store)
            frame.env[node.target.id] = stored.operand


def _targets(node: Any) -> list[Any]:
    return [node.target] if isinstance(node, gast.For) else []


def _cells(held: Any) -> list[Cell]:
    if not isinstance(held, Slot):
        return []
    match held.content:
        case Cell():
            return [held.content]
        case Structure():
            return [c for slot in held.content.items for c in _cells(slot)]
    return []


def _close(frame: Frame, node: Any) -> None:
    """Names that only the loop used are gone after it."""
    live = frame.liveness.after[id(node)]
    for n in assigned([*_targets(node), *node.body]):
        if n not in live and not _is_open(frame, n):
            frame.env.pop(n, None)


def _header(frame: Frame, node: Any, items: Any, construct: Construct) -> For:
    """The loop over positions that a loop over items is."""
    target = node.target
    if isinstance(items, Mapped):
        items, target = items.items, items.target
    counts = isinstance(items, Counting)
    target = target if counts else None
    if isinstance(items, Zipped) and isinstance(items.parts[0], From):
        from_zero = items.parts[0].start == linear(0)
        if from_zero and isinstance(node.target, gast.Tuple):
            target = node.target.elts[0]
    named = isinstance(target, gast.Name)
    name = target.id if isinstance(target, gast.Name) else "i"
    symbol_ = LoopSymbol(name, node, construct, users=named)
    if counts:
        bounds = (items.start, items.stop, items.step)
        symbol_.is_known = all(getattr(b, "constant", 0) is not None for b in bounds)
        symbol_.ends = _ends(*bounds)
        return For(symbol_, items.start, items.stop, items.step, [], items.backwards)
    backwards = isinstance(items, Items | ListItems) and items.backwards
    length = length_of(frame, items, node)
    return For(symbol_, linear(0), length, linear(1), [], backwards)


def _ends(start: Any, stop: Any, step: Any) -> tuple[Linear, Linear] | None:
    """Between which numbers a range lies that is not empty."""
    if not all(isinstance(a, Linear) for a in (start, stop, step)):
        return None
    if step.constant is None:
        return None
    return (start, stop - 1) if step.constant > 0 else (stop + 1, start)


def length_of(frame: Frame, items: Any, node: Any) -> Operand:
    """How many items a runtime iterable has; a zip ends with its shortest."""
    match items:
        case Mapped():
            return length_of(frame, items.items, node)
        case Items():
            length: Linear = (items.array.type.dims or (linear(0),))[0]
            return length
        case ListItems():
            return lists.length(frame, items.listed)
        case Counting() if items.step == linear(1) and not items.backwards:
            count: Operand = binary(frame, operator.sub, items.stop, items.start, node)
            return count
        case Zipped():
            parts = (p for p in items.parts if not isinstance(p, From))
            lengths = list(dict.fromkeys(length_of(frame, p, node) for p in parts))
            shortest = lengths[0]
            for other in lengths[1:]:
                shortest = operate(frame, min, node, shortest, other)
            return shortest
    raise frame.error(UnsupportedSyntax, "zip() of a range with a step", node)


def item_in(frame: Frame, items: Any, s: For) -> Any:
    """What the loop's target is bound to in one iteration."""
    k = Linear({s.symbol: 1})
    match items:
        case Mapped():
            return items.function(item_in(frame, items.items, s))
        case Counting():
            return k
        case Items():
            return element(frame, items.array, k, safe=True)
        case ListItems():
            return lists.item(frame, items.listed, k, safe=True)
        case From():
            return items.start + k if isinstance(items.start, Linear) else binary(
                frame, operator.add, items.start, k, None
            )  # fmt: skip
        case Zipped():
            return Structure(tuple, tuple(_nth(frame, p, s) for p in items.parts))
    raise AssertionError(items)


def _nth(frame: Frame, part: Any, s: For) -> Any:
    """The item of one part of a zip, at the position that the loop counts."""
    if isinstance(part, Mapped):
        return part.function(_nth(frame, part.items, s))
    if isinstance(part, Counting):
        offset = binary(frame, operator.mul, Linear({s.symbol: 1}), part.step, None)
        return binary(frame, operator.add, part.start, offset, None)
    if isinstance(part, Zipped):
        return Structure(tuple, tuple(_nth(frame, p, s) for p in part.parts))
    if isinstance(part, Items) and part.backwards:
        last = binary(
            frame, operator.sub, length_of(frame, part, None), linear(1), None
        )
        position = binary(frame, operator.sub, last, Linear({s.symbol: 1}), None)
        return element(frame, part.array, position, safe=True)
    if isinstance(part, ListItems) and part.backwards:
        last = binary(
            frame, operator.sub, length_of(frame, part, None), linear(1), None
        )
        position = binary(frame, operator.sub, last, Linear({s.symbol: 1}), None)
        return lists.item(frame, part.listed, position, safe=True)
    return item_in(frame, part, s)


def _known_items(frame: Frame, items: Any, node: Any) -> list[Any]:
    """The items of a loop that must be written out: its bounds must be known."""
    what = "the range of a loop that is written out"
    match items:
        case Counting():
            bounds = (items.start, items.stop, items.step)
            start, stop, step = (frame.static_int(b, node, what) for b in bounds)
            numbers = range(start, stop, step)
            if len(numbers) > MOST_UNROLLED:
                raise frame.error(
                    UnsupportedSyntax,
                    f"this loop of {len(numbers)} trips would be written out, "
                    f"because its variable is used where a constant is needed",
                    node,
                    instead=f"at most {MOST_UNROLLED} trips, or an array",
                )
            ordered = reversed(numbers) if items.backwards else numbers
            return [linear(k) for k in ordered]
        case Mapped():
            return _known_items(frame, items.items, node)
    raise frame.error(
        UnsupportedSyntax,
        "the variable of this loop is used where a constant is needed",
        node,
        instead="a loop over range() with known bounds",
    )


def _itself(item: Any) -> Any:
    return item


class _Bind(gast.stmt):
    """target = an item that is known already: a statement of a written-out loop."""

    _fields = ("target",)


@statement(_Bind)
def _bind_item(frame: Frame, node: Any) -> None:
    bind(frame, node.target, node.function(node.item))


def unroll(
    frame: Frame,
    node: Any,
    items: list[Any],
    function: Callable[[Any], Any] = _itself,
) -> None:
    """Write a loop out; a break sets a flag that skips the items that follow.

    The target is bound to what the function gives for an item, when its turn comes.
    """
    with iterated(frame, items):
        _unroll(frame, node, items, function)


def _unroll(
    frame: Frame, node: Any, items: list[Any], function: Callable[[Any], Any]
) -> None:
    breaks = any(isinstance(n, gast.Break) for n in _own_statements(node.body))
    if not breaks:
        for item in items:
            bind(frame, node.target, function(item))
            frame.run(node.body)
        return
    flag = fresh("stopped", names(frame.node))
    frame.assign(flag, constant(False), node)
    rest: list[Any] = []
    for item in reversed(items):
        bound = gast.copy_location(_Bind(target=node.target), node)
        bound.item, bound.function = item, function
        body = _flagged([copied(s) for s in node.body], flag)
        skip = statements(f"if not {flag}: pass")[0]
        skip.body = rest
        rest = [bound, *body, *([_located(skip, node)] if rest else [])]
    after_loop(frame.liveness, rest, frame.liveness.after[id(node)])
    frame.run(rest)


def _located(new: Any, origin: Any) -> Any:
    for n in [new, *gast.walk(new.test)]:
        gast.copy_location(n, origin)
    return new


def _flagged(body: list[Any], flag: str) -> list[Any]:
    """The body with every break of this loop turned into `flag = True`."""
    result = []
    for s in body:
        if isinstance(s, gast.Break):
            stop = statements(f"{flag} = True")[0]
            for n in gast.walk(stop):
                gast.copy_location(n, s)
            s = stop
        elif isinstance(s, gast.If):
            s.body, s.orelse = _flagged(s.body, flag), _flagged(s.orelse, flag)
        result.append(s)
    return result


def _own_statements(body: list[Any]) -> list[Any]:
    """Statements of a loop body without those of inner loops."""
    found = []
    for s in body:
        found.append(s)
        if isinstance(s, gast.If):
            found += _own_statements(s.body) + _own_statements(s.orelse)
    return found


@statement(gast.While)
def _while(frame: Frame, node: Any) -> None:
    def write(construct: Construct) -> None:
        condition: list[Any] = []

        def test() -> None:
            condition.append(truth(frame, frame.evaluate(node.test), node.test))

        header: list[Statement] = []

        def first() -> None:
            header.extend(frame.block(test))

        body = _loop_body(frame, node, construct, first)
        (result,) = condition
        _allocate(frame, construct)
        if result is False:
            frame.builder.block += header
            return
        tested = constant(True) if result is True else result
        s = While(header, tested, body)
        frame.builder.add(s)
        frame.builder.forget(stores(s))

    _construct(frame, node, write)
    _close(frame, node)


@statement(gast.Break)
def _break(frame: Frame, node: Any) -> None:
    frame.builder.add(Break())
    frame.loops[-1].leave()


# ---- effects -----------------------------------------------------------------------


@statement(gast.Assert)
def _assert(frame: Frame, node: Any) -> None:
    test = truth(frame, frame.evaluate(node.test), node.test)
    if test is True:
        return
    message: list[Operand] = []

    def write() -> None:
        if node.msg is not None:
            text = as_constant(frame.evaluate(node.msg))
            message.append(as_operand(frame, text, node.msg))

    header = frame.block(write)
    condition = constant(False) if test is False else test
    frame.builder.add(Assert(condition, header, message[0] if message else None))


@statement(gast.Raise)
def _raise(frame: Frame, node: Any) -> None:
    if node.exc is None or node.cause is not None:
        raise frame.error(UnsupportedSyntax, "a bare 'raise' or 'raise ... from'", node)
    arguments: list[Any] = []
    made = node.exc
    if isinstance(made, gast.Call):
        arguments = [frame.evaluate(a) for a in made.args]
        made = made.func
    cls = frame.evaluate(made)
    if not (isinstance(cls, Static) and isinstance(cls.value, type)):
        raise frame.error(UnsupportedSyntax, f"{describe(cls)} is raised here", node)
    operands = tuple(as_operand(frame, as_constant(a), node) for a in arguments)
    frame.builder.add(Raise(cls.value, operands))
