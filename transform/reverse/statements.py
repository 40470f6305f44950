"""The adjoints of straight-line statements: primitives, loads, stores, pushes and pops.

y = u * v     ->   u_bar += y_bar * v;  v_bar += u * y_bar
x = load c    ->   c_bar += x_bar
store c, v    ->   v_bar += c_bar;  c_bar = 0
push t, v     ->   v_bar += pop(t_bar)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gradwright.transform.build import constant, row
from gradwright.transform.core import (
    AddUp,
    Alloc,
    At,
    Buffer,
    Cell,
    Const,
    If,
    Index,
    Let,
    List,
    Load,
    Operand,
    Pick,
    Place,
    Pop,
    Push,
    Span,
    Statement,
    Store,
    Tape,
    Value,
    Whole,
    type_of,
    walk,
)
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Dim, Linear, linear
from gradwright.transform.mixed import is_array
from gradwright.transform.picks import may_repeat
from gradwright.transform.primitives.collectives import (
    INDEX,
    PERMUTE,
    PMAX,
    PMIN,
    PSUM,
    TO_ALL,
    Along,
    no_derivative,
)
from gradwright.transform.primitives.structural import (
    CAST,
    CONJUGATE,
    COPY,
    DISPLAY,
    FORMAT,
    IS_ONE,
    ITEM,
    NAMED,
    SPREAD,
    SUM_TO,
)
from gradwright.transform.reverse.cotangents import (
    bar_of_place,
    begin_bar,
    collect,
    filled,
    find_bar,
    give,
    note_kind,
    read_bar,
    settled,
    summed,
)
from gradwright.transform.reverse.lists import (
    in_shape_of,
    reverse_array,
    reverse_part,
    reverse_push_of_list,
)
from gradwright.transform.reverse.primals import (
    begin_saved,
    must_save,
    need,
    need_index,
    owner_of,
    put_back,
    tape_of,
)
from gradwright.transform.reverse.state import Block, part_type, region, zero
from gradwright.transform.reverse.winners import is_swap, of_winners, swapped_back
from gradwright.transform.rules import (
    SELECTIONS,
    Access,
    if_it_counts,
    is_singular,
    real_part,
    reduction_partial,
    shape_of,
    with_axes,
)
from gradwright.transform.specialise.abstract import Static, Structure
from gradwright.transform.template import Hole, Template, holes
from gradwright.transform.types import Type, fills

if TYPE_CHECKING:
    from gradwright.transform.reverse.sweep import Sweep


def reverse_let(sweep: Sweep, s: Let) -> bool:
    """The adjoint; whether it raises wherever the statement itself would."""
    if s.out not in sweep.active:
        return False
    g: Any = (
        collect(sweep, s.out)
        if s.out.type.items is None
        else sweep.block.items.pop(s.out, None)
    )
    if g is None:
        return False
    p = s.primitive
    sweep.builder.quiet = s.quiet
    if p in (NAMED, CAST, COPY):
        give(sweep, s.operands[0], g, s.out.type)
    elif p is CONJUGATE:
        give(sweep, s.operands[0], sweep.builder.let(CONJUGATE, g), s.out.type)
    elif p is DISPLAY:
        reverse_display(sweep, s, g)
    elif p is SPREAD:
        o, g = s.operands[0], filled(sweep, s, g)
        give(sweep, o, settled(sweep, s, o, g), s.out.type)
    elif p is SUM_TO:
        wide = type_of(s.operands[0])
        give(sweep, s.operands[0], widened(sweep, g, s, wide), wide)
    elif p is ITEM:
        (whole,) = s.operands
        sweep.block.items.setdefault(whole, {})[s.attribute] = g
    elif p.kind in ("linear", "multilinear", "general"):
        reverse_signed(sweep, s, g)
    elif p.kind == "collective":
        reverse_collective(sweep, s, in_full(sweep, s, g))
    elif p is not FORMAT:
        reverse_partials(sweep, s, g)
    sweep.builder.quiet = False
    return p.covered


def reverse_collective(sweep: Sweep, s: Let, g: Operand) -> None:
    """What all samples made of an operand comes back from all of them."""
    (x,), along, b = s.operands, s.attribute, sweep.builder
    t = type_of(x)
    if s.primitive in (PMAX, PMIN):
        raise no_derivative(s)
    if s.primitive is PSUM:
        c = b.let(PSUM, g, attribute=along, type=s.out.type, name="total_bar")
    elif s.primitive is PERMUTE:
        back = replace(along, perm=tuple((j, i) for i, j in along.perm))
        c = b.let(PERMUTE, g, attribute=back, type=s.out.type, name="back")
    elif s.primitive is TO_ALL:
        back = replace(along, split=along.concat, concat=along.split)
        c = b.let(TO_ALL, g, attribute=back, type=t, name="back")
    else:
        total = b.let(PSUM, g, attribute=along, type=s.out.type, name="total_bar")
        k = b.let(INDEX, attribute=Along(along.name), name="axis_index")
        index: Index = (*[Span()] * along.axis, At(k))
        part = replace(s.out.type, dims=t.dims)
        assert isinstance(total, Value)
        c = b.element(total, index, part, f"{total.name}_part", safe=True)
    give(sweep, x, c, type_of(c))


def reverse_signed(sweep: Sweep, s: Let, g: Any) -> None:
    """What the rule of an array primitive gives to each of its operands."""
    p = s.primitive
    assert p.rule is not None
    template = p.template(s.attribute)

    def shape(j: int) -> Operand:
        return shape_of(s.operands[j], lambda d: need(sweep, d))

    is_linear = p.kind == "linear"  # whose rule cannot read more than shapes
    access = Access(shape if is_linear else lambda j: need(sweep, s.operands[j]), shape)
    extra = {"y": lambda: result_of(sweep, s), "y_bar": lambda: in_full(sweep, s, g)}
    for k, name in enumerate(p.operands):
        positions = holes(template[name])
        if not any(s.operands[j] in sweep.active for j in positions):
            continue
        found = sweep.rules.signed(p.rule, k, template, access, extra)
        parts = found.items if isinstance(found, Structure) else (found,)
        for j, c in zip(positions, parts, strict=True):
            if is_linear and isinstance(g, Value) and g in sweep.masked:
                sweep.masked.add(c)
            if s.loose:
                c = as_long_as(sweep, s.operands[j], c)
            give(sweep, s.operands[j], c, type_of(s.operands[j]))


def as_long_as(sweep: Sweep, o: Operand, c: Operand) -> Operand:
    """What a rule makes of lengths it takes for equal, where one of them may be 1."""
    if not isinstance(o, Value) or not o.type.is_array:
        return c
    if type_of(c).is_array:
        c = unstretched(sweep, c, o)
    t = replace(type_of(c), dims=o.type.dims)
    whole = sweep.builder.let(SPREAD, c, need(sweep, o), type=t)
    if isinstance(whole, Value):
        whole.loose = True
    return whole


def result_of(sweep: Sweep, s: Let) -> Any:
    """The result as a rule takes it: an operand, or a tuple of them."""
    if s.out.type.items is None:
        return need(sweep, s.out)
    items = sweep.items.get(s.out, {})
    parts = [
        need(sweep, items[k])
        if k in items
        else sweep.builder.let(ITEM, need(sweep, s.out), attribute=k, type=t)
        for k, t in enumerate(s.out.type.items)
    ]
    return Structure(tuple, tuple(parts))


def in_full(sweep: Sweep, s: Let, g: Any) -> Any:
    """The cotangent in the result's shape; of several results None where none came."""
    if not isinstance(g, dict):
        return in_shape(sweep, g, s.out.type, s.out)

    def part(k: int, t: Type) -> Any:
        if k not in g and s.primitive.kind != "linear":
            return Static(None)
        item = sweep.items.get(s.out, {}).get(k)
        if item is None:  # it is not used, and was dropped
            made = sweep.builder.let(ITEM, need(sweep, s.out), attribute=k, type=t)
            assert isinstance(made, Value)
            item = made
        return in_shape(sweep, g.get(k, zero(t)), item.type, item)

    types = s.out.type.items or ()
    return Structure(tuple, tuple(part(k, t) for k, t in enumerate(types)))


def plainer(sweep: Sweep, own: Type, t: Type) -> Iterator[Linear]:
    """The lengths of a cotangent, those of parameters where the primal has them."""
    for d, wanted in zip(own.dims or (), t.dims or (), strict=True):
        arrays = [s.array for s in wanted.symbols() if isinstance(s, Dim)]
        known = len(arrays) == len(wanted.terms)
        known = known and all(a in sweep.function.params for a in arrays)
        yield wanted if known else d


def in_shape(sweep: Sweep, g: Operand, t: Type, like: Value) -> Operand:
    """A cotangent in the whole shape of what it is of."""
    if not t.is_array:
        return g
    if fills(type_of(g), t):
        if isinstance(g, Value) and g.type.is_array:
            g.type = replace(g.type, dims=tuple(plainer(sweep, g.type, t)))
        return g
    return sweep.builder.let(
        SPREAD, g, need(sweep, like), type=replace(t, dtype=type_of(g).dtype)
    )


def widened(sweep: Sweep, g: Operand, s: Let, wide: Type) -> Operand:
    """The transpose of a sum over stretched axes: the cotangent, stretched."""
    x = s.operands[0]
    return sweep.builder.let(
        SPREAD, g, need(sweep, x), type=replace(type_of(g), dims=wide.dims)
    )


def reverse_partials(sweep: Sweep, s: Let, g: Operand) -> None:
    """Add the product of g and each partial to the operand it is of."""
    shape, g = s.out.type, filled(sweep, s, g)
    for k, o in enumerate(s.operands):
        if o not in sweep.active:
            continue
        along = g
        if s.primitive.function is np.where:
            c = chosen(sweep, s, k, g)
        elif s.primitive.kind == "reduction":
            partial = reduction_partial(sweep.rules, s, lambda x: need(sweep, x))
            template = s.primitive.template(s.attribute)
            along = with_axes(sweep.builder, template, g, type_of(o))
            c = sweep.builder.scale(partial, along)
        else:
            partial = sweep.rules.partial(
                s.primitive,
                k,
                lambda j: need(sweep, s.operands[j]),
                lambda: need(sweep, s.out),
            )
            c = scaled(sweep, partial, g)
        c = where_it_counts(sweep, s, g, along, c)
        if s.loose and isinstance(o, Value) and o.type.is_array:
            c = unstretched(sweep, in_shape(sweep, c, shape, s.out), o)
        if s.primitive.kind == "reduction":
            give(sweep, o, c, type_of(o))
        else:
            give(sweep, o, settled(sweep, s, o, c), shape)


def unstretched(sweep: Sweep, c: Operand, o: Value) -> Operand:
    """The sum over axes along which the operand turns out to have length one."""
    b = sweep.builder
    like = need(sweep, o)
    lead = type_of(c).rank - o.type.rank
    for k, dim in enumerate(like.type.dims or ()):
        if dim.constant is not None:
            continue
        full = list(type_of(c).dims or ())
        full[lead + k] = dim  # it is that of the operand either way
        t = replace(type_of(c), dims=tuple(full))
        summed = Cell(f"{o.name}_bar", t, choice=True)
        if o in sweep.mixed.unsure:
            is_one = b.let(IS_ONE, like, attribute=k)
        else:
            is_one = b.operator(operator.eq, need(sweep, dim), linear(1))
        axis = Template((("x", Hole(0)), ("axis", lead + k), ("keepdims", True)))
        b.add(Alloc(summed))
        with b.nested([]) as then:
            total = b.let(row(np.sum, 1), c, attribute=axis, type=t)
            b.store(summed, total)
        with b.nested([]) as orelse:
            b.store(summed, c)
        b.add(If(is_one, then, orelse))
        c = b.load(summed)
    return c


def chosen(sweep: Sweep, s: Let, k: int, g: Operand) -> Operand:
    """The cotangent of one side of np.where: zero where the other was taken."""
    sides = (g, constant(0.0)) if k == 1 else (constant(0.0), g)
    return sweep.builder.let(s.primitive, need(sweep, s.operands[0]), *sides)


def where_it_counts(
    sweep: Sweep, s: Let, g: Operand, along: Operand, c: Operand
) -> Operand:
    """No NaN from an element that a choice did not take: its cotangent is zero.

    The contribution `c` is a product of `along`, which is g with the axes of c.
    """
    p, b = s.primitive, sweep.builder
    if not isinstance(c, Value):
        return c
    if p.function in SELECTIONS:
        sweep.masked.add(c)
    elif g in sweep.masked:
        if c.type.is_array and _has_pole(s):
            counts = b.let(row(operator.ne, 2), along, constant(0.0))
            made = b.definition.get(c)
            if isinstance(made, Let):
                made.quiet = True
            c = b.let(row(np.where, 3), counts, c, constant(0.0), type=c.type)
        if isinstance(c, Value):
            sweep.masked.add(c)
    return c


def _has_pole(s: Let) -> bool:
    """Whether a partial may be infinite: its rule divides, or it is a factor inf."""
    rule = s.primitive.rule
    infinite = (isinstance(o, Const) and o.value == math.inf for o in s.operands)
    return (rule is not None and is_singular(rule)) or any(infinite)


def scaled(sweep: Sweep, partial: Operand, g: Operand) -> Operand:
    """The product of a partial and a cotangent; zero where that is a zero of a choice.

    Of arrays `where_it_counts` sees to that, element by element.
    """
    b = sweep.builder
    may_be_infinite = g in sweep.masked and partial in sweep.rules.unbounded
    if not may_be_infinite or type_of(g).is_array or type_of(partial).is_array:
        return b.scale(partial, g)
    counts = b.operator(operator.ne, g, constant(0.0))
    return if_it_counts(b, counts, lambda: b.scale(partial, g))


def reverse_display(sweep: Sweep, s: Let, g: Operand) -> None:
    """Give each operand of a display its element of the cotangent."""
    positions = list(np.ndindex(*s.attribute))
    if type_of(g).rank:
        g = in_shape(sweep, g, s.out.type, s.out)
    for o, position in zip(s.operands, positions, strict=True):
        if o not in sweep.active:
            continue
        if not (isinstance(g, Value) and g.type.rank):
            give(sweep, o, g, type_of(o))
            continue
        index = tuple(At(linear(k)) for k in position)
        name = f"{o.name}_bar" if isinstance(o, Value) else "part"
        part = sweep.builder.element(g, index, g.type.element, name)
        give(sweep, o, part, type_of(part))


def reverse_copy(sweep: Sweep, s: Load) -> None:
    """Add the cotangents of a copy of a tape to those of the tape."""
    bar, more = find_bar(sweep, s.source), find_bar(sweep, s.out)
    assert isinstance(bar, Tape) and isinstance(more, Tape)
    if bar.like is None or s.deep:
        refuse_several(sweep, s)
    sweep.builder.add(AddUp(bar, more))


def reverse_add_up(sweep: Sweep, s: AddUp) -> None:
    """The cotangents of a sum are those of what was added, which nothing else reads."""
    if s.tape not in sweep.active:
        return
    bar = find_bar(sweep, s.tape)
    assert isinstance(bar, Tape)
    if (
        s.operand not in sweep.alloc
        or sweep.loops[sweep.alloc[s.operand]] != sweep.loops[s]
    ):
        refuse_several(sweep, s)
    own = bar_of_place(sweep, sweep.block, s.operand)
    sweep.builder.add(Load(own, bar))


def refuse_several(sweep: Sweep, s: Statement) -> NoReturn:
    """Tapes of tapes, and those that begin anew in every trip of a loop."""
    lines = (t.where for t in walk(sweep.function.body) if t.where is not None)
    raise UnsupportedSyntax(
        "gradwright does not go back yet through several reverse sweeps of "
        "a loop inside a loop",
        at=s.where or next(lines, None),
        instead="jacfwd in the place of jacrev, or a vjp for each cotangent",
    )


def reverse_load(sweep: Sweep, s: Load) -> bool:
    """The adjoint; whether it raises wherever the statement itself would."""
    if s.out not in sweep.active:
        return False
    if isinstance(s.out, Tape):
        assert isinstance(s.source, Tape)
        reverse_copy(sweep, s)
        return False
    if isinstance(s.out, List):
        reverse_part(sweep, s)
        return False
    g = collect(sweep, s.out)
    if g is None:
        return False
    if isinstance(s.source, List) and not s.source.is_item(s.index):
        reverse_array(sweep, s, in_shape(sweep, g, s.out.type, s.out))
        return True
    if isinstance(s.source, Value) and not s.index:
        give(sweep, s.source, g, s.out.type)
        return True
    bar = find_bar(sweep, s.source)
    if bar is None:
        assert isinstance(s.source, Value)
        owner = owner_of(sweep, s.source) or sweep.root
        with sweep.inside(owner):
            bar = begin_bar(sweep, owner, s.source)
    if isinstance(s.source, Value) and not s.source.type.is_complex:
        g = real_part(sweep.builder, g)
    note_kind(sweep, s.source, bar, g)
    if g in sweep.masked:
        sweep.chosen.add(s.source)
    sweep.builder.store(bar, g, need_index(sweep, s.index), accumulate=True)
    return bool(s.index)


def reverse_store(sweep: Sweep, block: Block, k: int, s: Store) -> None:
    """Take the cotangent of the stored operand from the place; keep the old value."""
    b = sweep.builder
    place = s.place
    put_back(sweep, block, {place})
    if is_swap(sweep, block, k, s):
        reverse_swap(sweep, block, k, s)
        return
    if must_save(sweep, s):
        old = sweep.saved.setdefault(s, held(place, s.index))
        read = Load(old, place, s.index, where=s.where)
        block.before.setdefault(k, []).append(read)
        into = s.index or ((Whole(),) if isinstance(place, Buffer) else ())
        if block.top:
            back: list[Statement] = [Store(place, old, into)]
        else:
            tape = tape_of(sweep, old, place.name)
            block.before[k].append(Push(tape, old, where=s.where))
            popped = held(place, s.index)
            back = [Pop(popped, tape), Store(place, popped, need_index(sweep, into))]
        begin_saved(sweep, place)
        read_stored(sweep, block, s)
        block.undo[place] = (k, back)
    if place not in sweep.active:
        return
    bar = find_bar(sweep, place)
    assert bar is not None
    index = need_index(sweep, s.index)
    carried = isinstance(s.operand, Value) and s.operand in sweep.active
    g: Operand | None = None
    if carried:
        t = part_type(place, s.index)
        g = read_bar(sweep, bar) if not index else b.element(bar, index, t, bar.name)
        if isinstance(place, Cell) and place.type.is_array:
            g = whole(sweep, s, g)
        if isinstance(place, List) and isinstance(s.operand, Value):
            g = in_shape_of(sweep, g, s.operand)
        elif index and t.is_array and not s.accumulate:
            g = taken_out(sweep, bar, index, g)
        if place in sweep.chosen and isinstance(g, Value):
            sweep.masked.add(g)
    if not s.accumulate:
        b.store(bar, zero(place.type.element if s.index else place.type), index)
    if g is not None:
        if s.loose and isinstance(s.operand, Value) and s.operand.type.is_array:
            g = unstretched(sweep, g, s.operand)
        give(sweep, s.operand, g, type_of(g))


def read_stored(sweep: Sweep, block: Block, s: Store) -> None:
    """Have a value from the part that it went into, before that is put back.

    An earlier round has found that it would be pushed otherwise.
    """
    v = s.operand
    if block.top or s.accumulate or not s.index or s.loose:
        return
    if v not in sweep.pushed or v not in block.defined or v in block.provided:
        return
    if not isinstance(v, Value) or v.type.dtype != s.place.type.dtype:
        return
    part = region(s.place.type, s.index)
    is_stretched = part.rank != v.type.rank or linear(1) in (v.type.dims or ())
    if v.type.python or is_stretched or any(isinstance(i, Pick) for i in s.index):
        return
    read = Value(v.name, v.type, v.users)
    sweep.builder.add(Load(read, s.place, need_index(sweep, s.index)))
    block.provided[v] = read
    sweep.repeated.setdefault(s.place, set()).add(s)


def reverse_swap(sweep: Sweep, block: Block, k: int, s: Store) -> None:
    """What changed places changes them back; nothing is kept for it."""
    taken = block.body[block.defined[s.operand]]
    assert isinstance(taken, Load)
    there, here = need_index(sweep, taken.index), need_index(sweep, s.index)
    if must_save(sweep, s):
        block.undo[s.place] = k, swapped_back(s.place, there, here)
    bar = find_bar(sweep, s.place) if s.place in sweep.active else None
    if bar is not None:
        for t in swapped_back(bar, there, here):
            sweep.builder.add(t)


def taken_out(sweep: Sweep, bar: Place, index: Index, part: Operand) -> Operand:
    """The cotangent of what was stored at a part, which itself is cleared next."""
    if may_repeat(index):
        return of_winners(sweep, bar, index, part)
    is_new = any(isinstance(i, Pick) for i in index)
    return part if is_new else sweep.builder.let(COPY, part)


def held(place: Place, index: Index) -> Value:
    """A value for what a place, or a part of one, holds at some time."""
    value = place.content()
    value.type = part_type(place, index)
    return value


def whole(sweep: Sweep, s: Store, g: Operand) -> Operand:
    """The cotangent of what an array cell is given; it may be a plain number yet."""
    o = s.operand
    if not is_array(o):
        return g
    if o in sweep.mixed.all and o not in sweep.mixed.active:
        g = summed(sweep, g, o)  # nobody asks for it where it is a number
    like = need(sweep, o)
    return sweep.builder.let(
        SPREAD, g, like, type=replace(type_of(g), dims=like.type.dims)
    )


def reverse_push(sweep: Sweep, s: Push) -> None:
    """Pop the cotangent that the pop of the primal pushed."""
    if s.tape not in sweep.active:
        return
    bar = find_bar(sweep, s.tape)
    assert isinstance(bar, Tape)
    if isinstance(s.operand, Tape):
        inner = bar_of_place(sweep, sweep.block, s.operand)
        assert isinstance(inner, Tape)
        sweep.builder.add(Pop(inner, bar))
        return
    if isinstance(s.operand, List):
        reverse_push_of_list(sweep, s.operand, bar)
        return
    name = s.operand.name if isinstance(s.operand, Value) else "unused"
    g = Value(f"{name}_bar", replace(s.popped, optional=False))
    sweep.builder.add(Pop(g, bar))
    give(sweep, s.operand, g, g.type)


def reverse_pop(sweep: Sweep, s: Pop) -> None:
    """Push the cotangent of what was popped."""
    if s.tape not in sweep.active:
        return
    bar = find_bar(sweep, s.tape)
    assert isinstance(bar, Tape)
    if isinstance(s.out, Tape | List):
        inner = find_bar(sweep, s.out)
        assert isinstance(inner, Tape | List)
        sweep.builder.add(Push(bar, inner))
        return
    g = collect(sweep, s.out) if s.out in sweep.active else None
    item = replace(s.out.type, optional=False)
    sweep.builder.add(Push(bar, zero(item) if g is None else g, item))
