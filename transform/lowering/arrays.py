"""Array statements while they are lowered: rows by what their elements are.

y = np.exp(-x)         the element at i is exp(-x[i])           computed
z = x[1:-1].T          the element at i, j is x[j + 1, i]        moved
s = np.sum(x, axis=0)  sums over places                          reduced
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.transform.build import Builder, row
from gradwright.transform.core import (
    Buffer,
    Const,
    Let,
    Library,
    Load,
    Operand,
    Pick,
    Store,
    Value,
    leaves,
    type_of,
)
from gradwright.transform.indices import Dim, Linear, linear, symbol
from gradwright.transform.lowering.nests import (
    Domain,
    Places,
    Scope,
    accesses,
    is_injective,
    variables,
)
from gradwright.transform.lowering.program import Lowering, Shape
from gradwright.transform.lowering.regions import region
from gradwright.transform.lowering.unbound import asks_for_none
from gradwright.transform.lowering.views import VIEWS, Region
from gradwright.transform.primitives.record import TABLE
from gradwright.transform.primitives.structural import (
    CAST,
    COPY,
    DISPLAY,
    IS_ONE,
    ITEM,
    NAMED,
    SPREAD,
    STOPPED,
    SUM_TO,
)
from gradwright.transform.rules import Access, Rules
from gradwright.transform.shapes import infer
from gradwright.transform.types import (
    VARYING,
    Type,
    array,
    element_dtype,
    numpy_scalar,
)

NUMPY_BOOL = numpy_scalar(bool)
# What takes a number for an array without axes, and has a rule for arrays only.
ASKED = (
    np.any, np.all, np.count_nonzero, np.argmax, np.argmin, np.quantile, np.flip,
)  # fmt: skip

Rule = Callable[[Lowering, Let, dict[str, Any]], None]
RULES: dict[Any, Rule] = {}


def lowers(*functions: Any) -> Callable[[Rule], Rule]:
    """The rule of rows that take their arguments by a signature."""

    def register(f: Rule) -> Rule:
        for function in functions:
            RULES[function] = f
        return f

    return register


def lower_let(L: Lowering, s: Let) -> None:
    """One operation, of arrays or on numbers."""
    p = s.primitive
    if s.out.type.is_array:  # it may be what a number of Python's was spread to
        dtype = np.dtype(s.out.type.dtype).name
        s.out.type = replace(s.out.type, dtype=dtype, python=False)
    operands = tuple(map(L.operand, s.operands))
    if asks_for_none(L, s):
        return
    if p in (NAMED, STOPPED, COPY) and s.out.type.is_array:
        L.is_same(s.out, operands[0])
    elif p is SPREAD:
        spread(L, s.out, operands[0], _spread_shape(L, *operands))
    elif p is DISPLAY:
        display(L, s, operands)
    elif p is IS_ONE:
        length = L.shape(operands[0])[s.attribute]
        L.add(Let(s.out, row(operator.eq, 2), (length, linear(1))))
        note_truth(L, s.out, operator.eq, length, linear(1))
    elif p is SUM_TO:
        RULES[SUM_TO](L, s, {"operands": operands})
    elif p is ITEM:
        (whole,) = s.operands
        assert isinstance(whole, Value)
        item = L.parts[whole][s.attribute]
        if s.out.type.is_array:
            L.is_same(s.out, item)
        else:
            L.add(Let(s.out, NAMED, (item,)))
    elif p.signature is not None and (
        s.out.type.is_array
        or s.out.type.items
        or any(type_of(o).is_array for o in operands)
    ):
        signed(L, s, operands)
    elif p.signature is not None and (p.kind == "reduction" or p.function in ASKED):
        signed(L, s, (_as_array(L, operands[0]), *operands[1:]))
    elif s.out.type.is_array:
        elementwise(L, s, operands)
    elif any(type_of(o).is_array for o in operands):
        raise L.refuse(p.spelling)
    else:
        if p.function in (operator.eq, operator.ne):
            note_truth(L, s.out, p.function, *operands)
        L.add(Let(s.out, p, operands, s.attribute))


def note_truth(L: Lowering, out: Value, function: Any, a: Operand, b: Operand) -> None:
    """What is known of two ints that are compared."""
    if isinstance(a, Linear) and isinstance(b, Linear):
        if L.forms.are_equal(a, b):
            L.truth[out] = function is operator.eq
        elif L.forms.differ(a, b) or (L.adjoint and L.assume_unlike(a, b)):
            L.truth[out] = function is operator.ne


# ---- element by element ------------------------------------------------------------


def elementwise(L: Lowering, s: Let, operands: tuple[Operand, ...]) -> None:
    """The element is the operation on the elements."""
    shape = L.together([L.shape(o) for o in operands])
    arrays = [o for o in operands if isinstance(o, Value) and o.type.is_array]
    if all(o in L.flags for o in arrays):
        L.flags[s.out] = [f for o in arrays for f in L.flags[o]]
        L.spread[s.out] = {k for o in arrays for k in L.spread.get(o, ())}
    given = tuple(L.stretched(o, shape) for o in operands)
    element = s.out.type.element

    def at(w: Scope, places: Places) -> Operand:
        found = tuple(g(w, places) for g in given)
        attribute = s.attribute
        if s.primitive is CAST:
            attribute = replace(attribute, dims=None)
        return w.let(s.primitive, found, element, s.out.name, attribute)

    L.is_computed(s.out, shape, at, operands, cheap=s.primitive is CAST)


def moved(
    L: Lowering, out: Value, source: Operand, move: Any, shape: Shape, reads: Any = ()
) -> None:
    """The element is one of the source, at another place."""

    def at(w: Scope, places: Places) -> Operand:
        return L.at(w, source, move(w, places))

    L.is_computed(out, shape, at, (source, *reads), cheap=is_cheap(L, source))


def is_cheap(L: Lowering, o: Any) -> bool:
    """Whether the elements of an operand are as good as loads."""
    return not isinstance(o, Value) or o not in L.sources or L.sources[o].cheap


def _spread_shape(L: Lowering, operand: Operand, like: Operand) -> Shape:
    """The shape of an array; where a number may stand for it, that of the operand."""
    shapes = [L.shape(like), L.shape(operand)]
    return L.together(shapes) if like in L.mixed else shapes[0]


def spread(L: Lowering, out: Value, operand: Operand, shape: Shape) -> None:
    """A number, or what broadcasts, in a shape."""
    given = L.stretched(operand, shape)

    def at(w: Scope, places: Places) -> Operand:
        return cast(w, given(w, places), out.type.element)

    L.is_computed(out, shape, at, (operand,), cheap=is_cheap(L, operand))


def cast(w: Scope, o: Operand, type: Type) -> Operand:
    """A number as another kind of number."""
    if type_of(o) == type:
        return o
    return w.let(CAST, (o,), type, "value", type)


def truth(w: Scope, o: Operand) -> Operand:
    """Whether a number is not zero."""
    t = type_of(o)
    if t.is_bool:
        return o
    zero = Const(t.weak()(0) if t.python else t.weak().type(0), t)
    return w.let(row(operator.ne, 2), (o, zero), NUMPY_BOOL, "is_nonzero")


def display(L: Lowering, s: Let, operands: tuple[Operand, ...]) -> None:
    """An array of numbers that are written out."""
    shape = tuple(map(linear, s.attribute))
    place = L.room(s.out.name, s.out.type, shape)
    for k, o in enumerate(operands):
        at = tuple(linear(int(n)) for n in np.unravel_index(k, s.attribute))
        w = Scope()
        w.store(place, at, cast(w, o, s.out.type.element))
        for t in w.block:
            L.add(t)
    L.is_memory(s.out, place, shape)


# ---- rows with a signature ---------------------------------------------------------


def _as_array(L: Lowering, o: Operand) -> Operand:
    """A number as an array without axes, which reductions take."""
    t = type_of(o)
    if t.is_array or not t.is_number or t.optional:
        return o
    whole = Value(getattr(o, "name", "number"), array(element_dtype(t), ()))
    L.is_computed(whole, (), lambda w, places: o, tuple(leaves(o)), cheap=True)
    return whole


def signed(L: Lowering, s: Let, operands: tuple[Operand, ...]) -> None:
    """A row of array functions."""
    p = s.primitive
    L.no_spread(operands)
    arguments = p.template(s.attribute).filled(lambda k: operands[k])
    of_part = any(arguments.get(n) is not None for n in ("where", "initial"))
    if p.function in RULES and not of_part:
        RULES[p.function](L, s, arguments)
    elif p.function in VIEWS and operands:
        found = VIEWS[p.function](L, L.shape(operands[0]), arguments)
        shape = L.settled_shape(s.out, found.shape)
        moved(L, s.out, operands[0], found.move, shape, found.reads)
        is_turned = arguments.get("axes") in (None, (1, 0)) and len(shape) == 2
        if p.function is np.transpose and is_turned:
            assert isinstance(operands[0], Value)
            L.turned[s.out] = operands[0]
    elif p.function in TABLE.loops:
        written_out(L, s, arguments)
    else:
        call_library(L, s, operands)


def call_library(L: Lowering, s: Let, operands: tuple[Operand, ...]) -> None:
    """A function of NumPy on whole arrays, which stand in memory."""
    p = s.primitive
    if p.ragged:
        raise L.refuse(p.spelling)
    marks: dict[Linear, Linear] = {}
    types = [_type_here(L, o, marks) for o in operands]

    def run(examples: list[Any]) -> Any:
        return p.call(p.template(s.attribute).filled(lambda k: examples[k]))

    given = p.template(s.attribute).filled(lambda k: types[k])
    meets = tuple(p.meets(**given)) if p.meets is not None else ()
    found: Any = infer(run, types, meets) if p.result is None else p.result(**given)
    lengths = {m: n for n, m in marks.items()}

    def length(form: Linear) -> Linear:
        return L.form(form.substitute(lambda t: lengths.get(symbol(t), symbol(t))))

    several = isinstance(found, tuple | list)
    outs: list[Any] = []
    born: list[tuple[Value, Buffer]] = []
    held: list[Value] = []
    for t in found if several else [found]:
        out = Value(p.name, t) if several else s.out
        if not t.is_array:
            outs.append(out)
            held.append(out)
            continue
        held.append(out)
        if VARYING in t.dims:  # its shape is what comes out
            place = Buffer(out.name, out.type, ())
            dims = tuple(symbol(Dim(place, k)) for k in range(t.rank))
            place.like, place.type = dims, replace(t, dims=dims)
            L.exact.add(place)
            L.born.add(place)
            born.append((out, place))
        else:
            shape = L.settled_shape(out, tuple(map(length, t.dims)))
            place = L.room(out.name, out.type, shape, exactly=True)
            L.is_memory(out, place, shape)
        outs.append(place)
    if several:
        L.parts[s.out] = held
    L.add(Library(tuple(outs), p, tuple(map(L.whole_memory, operands)), s.attribute))
    for out, place in born:
        assert isinstance(place.like, tuple)
        shape = tuple(L.let(NAMED, n) for n in place.like)
        L.is_memory(out, place, shape)


def _type_here(L: Lowering, o: Operand, marks: dict[Linear, Linear]) -> Any:
    """The type of an operand, with a mark for every length; an int as itself."""
    if isinstance(o, Linear):
        return o
    t = type_of(o)
    if not t.is_array:
        return t
    dims = [
        n
        if n.constant is not None
        else marks.setdefault(n, symbol(("length", len(marks))))
        for n in L.shape(o)
    ]
    return replace(t, dims=tuple(dims))


def written_out(L: Lowering, s: Let, arguments: dict[str, Any]) -> None:
    """A row that stands for plain Python: that, lowered in its place."""
    b = Builder()
    b.where, b.adjoint = L.where, True
    rules = Rules(b)
    template = s.primitive.template(s.attribute)
    here = [_as_here(L, o) for o in s.operands]
    access = Access(lambda k: here[k], lambda k: here[k])
    function = TABLE.loops[s.primitive.function]
    result = rules.signed(function, 0, template, access, {})
    L.write(b.block, result)
    L.is_same(s.out, L.operand(result)) if s.out.type.is_array else L.add(
        Let(s.out, NAMED, (L.operand(result),))
    )


def _as_here(L: Lowering, o: Operand) -> Operand:
    """An operand whose type has the shape that it has here."""
    if isinstance(o, Linear):
        return L.form(o)
    if not isinstance(o, Value) or not o.type.is_array:
        return o
    out = Value(o.name, replace(o.type, dims=L.shape(o)))
    L.uses[out] = 2
    L.is_same(out, o)
    return out


# ---- parts of arrays ---------------------------------------------------------------


def load_part(L: Lowering, s: Load) -> None:
    """A number out of an array, or a part of one, or all of it."""
    source = s.source
    L.no_spread((source,))
    if s.out.type.is_array and not s.index:
        alias(L, s.out, source)
        return
    found = region(L, L.shape_of(source), s.index, s.out.type.dims)
    reads = (L.backing(source), *found.reads)
    if s.out.type.is_array:

        def at(w: Scope, places: Places) -> Operand:
            return element_of(L, w, source, found.move(w, places), s.out)

        shape = L.settled_shape(s.out, found.shape)
        if any(isinstance(i, Pick) for i in s.index) and not s.adjoint and not s.safe:
            L.careful.add(s.out)
        L.is_computed(s.out, shape, at, reads, cheap=is_cheap(L, source))
        return
    w = Scope()
    element = element_of(L, w, source, found.move(w, ()), s.out)
    L.number(s.out, w, element)


def alias(L: Lowering, out: Value, source: Any) -> None:
    """A place, or a value, under another name; kept where it changes."""
    shape = L.shape_of(source)

    def at(w: Scope, places: Places) -> Operand:
        return element_of(L, w, source, places, out)

    L.whole[out] = L.backing(source)
    L.is_computed(out, shape, at, (L.backing(source),), cheap=is_cheap(L, source))


def element_of(L: Lowering, w: Scope, source: Any, at: Places, out: Value) -> Operand:
    """An element of a value or of a place's memory."""
    if isinstance(source, Value):
        return L.at(w, source, at)
    place = L.backing(source)
    return w.load(place, at, out.type.element, out.name)


def store_part(L: Lowering, s: Store, operand: Operand) -> None:
    """All of some memory, or a part of it."""
    place = L.backing(s.place)
    shape = L.shape_of(s.place)
    found = region(L, shape, s.index, None) if s.index else None
    domain = found.shape if found else shape
    if type_of(operand).is_array:
        L.meet(L.shape(operand), domain)
    given = L.stretched(operand, domain)
    unordered = s.adjoint
    overlaps = place in L.touched(operand) and not in_step(
        L, place, operand, found, domain
    )
    if overlaps and isinstance(operand, Value):
        operand = L.written_out(operand)
        given = L.stretched(operand, domain)
    L.settle({place})

    def write(w: Scope, places: tuple[Linear, ...]) -> None:
        value = given(w, places)
        at = found.move(w, places) if found else places
        w.store(place, at, value, s.accumulate, unordered and s.accumulate)

    L.root(domain, write)


def in_step(
    L: Lowering, place: Any, operand: Any, found: Region | None, domain: Domain
) -> bool:
    """Whether the operand reads each element of the place just before it is stored."""
    own = variables(len(domain))
    places = tuple(map(symbol, own))
    w = Scope()
    L.stretched(operand, domain)(w, places)
    at = found.move(w, places) if found else places
    met = [a for a in accesses(w.block) if a.place is place]
    return is_injective(at, set(own)) and all(a.at == at for a in met)
