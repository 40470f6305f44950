"""What each kind of expression means: Python's evaluation on abstract values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import gast
import numpy as np

from gradwright.transform import core
from gradwright.transform.build import constant, loosen, row
from gradwright.transform.core import (
    Alloc,
    Cell,
    Const,
    If,
    Operand,
    Value,
    type_of,
)
from gradwright.transform.errors import MissingRule, UnsupportedSyntax
from gradwright.transform.indices import Dim, Linear, linear, multiply
from gradwright.transform.primitives.record import SPELLINGS, TABLE, Primitive
from gradwright.transform.primitives.structural import DISPLAY, FORMAT
from gradwright.transform.specialise import gathering, listing, lists
from gradwright.transform.specialise.abstract import (
    BoundMethod,
    Closure,
    Listed,
    Static,
    Structure,
    as_constant,
    describe,
    is_operand,
    leaves,
    mapped,
)
from gradwright.transform.specialise.arrays import call_signed
from gradwright.transform.specialise.births import origin_of
from gradwright.transform.specialise.builtins import (
    iterable,
)
from gradwright.transform.specialise.calls import call
from gradwright.transform.specialise.frame import (
    CONSTANT_MODULES,
    EXPRESSIONS,
    Frame,
    ProgramError,
    lift,
)
from gradwright.transform.specialise.generators import consume
from gradwright.transform.specialise.methods import call_function, number_attribute
from gradwright.transform.specialise.slots import Fork, Unready
from gradwright.transform.specialise.structures import (
    DICT_METHODS,
    dict_of,
    known_key,
    mapping,
    pairs_of,
    structure_attribute,
    structure_item,
)
from gradwright.transform.specialise.subscripts import (
    array_item,
    number_item,
    region_item,
)
from gradwright.transform.structure import put_together
from gradwright.transform.types import (
    BOOL,
    TEXT,
    array,
    is_mixed,
    join,
)

BINARY = {
    gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul,
    gast.Div: operator.truediv, gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod, gast.Pow: operator.pow, gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_, gast.BitOr: operator.or_, gast.BitXor: operator.xor,
    gast.LShift: operator.lshift, gast.RShift: operator.rshift,
}  # fmt: skip
UNARY = {
    gast.UAdd: operator.pos, gast.USub: operator.neg, gast.Not: operator.not_,
    gast.Invert: operator.invert,
}  # fmt: skip
COMPARISONS = {
    gast.Lt: operator.lt, gast.LtE: operator.le, gast.Gt: operator.gt,
    gast.GtE: operator.ge, gast.Eq: operator.eq, gast.NotEq: operator.ne,
    gast.Is: operator.is_, gast.IsNot: operator.is_not,
}  # fmt: skip

Handler = Callable[[Frame, Any], Any]
NEVER = Static("never")  # the value of a branch that raises


def expression(*nodes: type) -> Callable[[Handler], Handler]:
    """Enter a handler in the registry."""

    def register(handler: Handler) -> Handler:
        for node in nodes:
            EXPRESSIONS[node] = handler
        return handler

    return register


# ---- operands ----------------------------------------------------------------------


def as_operand(frame: Frame, a: Any, node: Any) -> Operand:
    """A run-time operand from an abstract value, or an error naming what it is."""
    if is_operand(a):
        return a  # type: ignore[no-any-return]
    raise frame.error(
        UnsupportedSyntax, f"a number is needed here, and this is {describe(a)}", node
    )


def operate(frame: Frame, function: Any, node: Any, *values: Any) -> Any:
    """The row of a callable applied to abstract values."""
    if not _takes_sequences(function):
        for v in values:
            if isinstance(v, Structure | Listed):
                kind = v.kind.__name__ if isinstance(v, Structure) else "list"
                text = f"must be real number, not {kind}"
                raise ProgramError(TypeError(text))
    signed = TABLE.signed(function, len(values))
    if signed is not None:
        return call_signed(frame, signed, list(values), {}, node)
    operands = [display(frame, v, node) for v in values]
    if (
        any(type_of(o) == TEXT for o in operands)
        and function not in COMPARISONS.values()
    ):
        raise through_text(frame, node)
    p = TABLE.find(function, len(operands))
    if p is None:
        raise frame.error(
            MissingRule,
            f"there is no rule for {_spelled(function)} of {len(operands)} operands",
            node,
            instead="a function with a rule, or one of your own in plain Python",
        )
    if frame.in_rule:
        p = _twin(p, operands)
    loose = assume_equal_dims(frame, operands)
    try:
        out = frame.builder.let(p, *operands)
        if loose and isinstance(out, Value):
            loosen(out, frame.builder.definition[out], loose)
        return out
    except TypeError as e:
        kinds = " and ".join(str(type_of(o)) for o in operands)
        raise frame.error(
            UnsupportedSyntax, f"{p.spelling} of {kinds}: {e}", node
        ) from None


def _takes_sequences(function: Any) -> bool:
    """Whether a callable turns a tuple or list of numbers into an array."""
    module = getattr(function, "__module__", None) or ""
    return (
        function in SPELLINGS
        or isinstance(function, np.ufunc)
        or module.startswith("numpy")
    )


def through_text(frame: Frame, node: Any) -> Exception:
    """The error for a number that becomes text on its way to the result."""
    return frame.error(
        UnsupportedSyntax,
        "a number is turned into text here, and text has no derivative",
        node,
        instead="an f-string inside print, if it is only to be shown",
    )


def _spelled(function: Any) -> str:
    module = getattr(function, "__module__", None) or ""
    short = getattr(function, "__name__", None)
    name = getattr(function, "__qualname__", None) or short
    return f"{module}.{name}".lstrip(".") if name else repr(function)


def _twin(p: Primitive, operands: list[Operand]) -> Primitive:
    """In a rule: Python's own function where all operands are Python's numbers."""
    types = [type_of(o) for o in operands]
    if not p.spelling.startswith("np.") or not all(t.python for t in types):
        return p
    return TABLE.twin(p, "cmath" if any(t.is_complex for t in types) else "math")


def assume_equal_dims(frame: Frame, operands: list[Operand]) -> list[int]:
    """Remember which dims of parameters must be equal; the entry checks them.

    Returns the axes, counted from the last one, of which the entry cannot know.
    """
    loose = []
    shapes = [t.dims for t in map(type_of, operands) if t.dims]
    _refuse_unequal(shapes)
    for k in range(1, max(map(len, shapes), default=0) + 1):
        met = [s[-k] for s in shapes if len(s) >= k and s[-k].constant != 1]
        if not frame.program.findings.loose:
            met = [d for d in met if _is_of_array(frame, d)]
        pairs = [(met[0], other) for other in met[1:] if other != met[0]]
        seen = [pair for pair in pairs if all(map(frame.unit.sees, pair))]
        frame.unit.assume_equal(seen)
        if len(seen) < len(pairs) and not frame.in_rule:
            loose.append(k)
    return loose


def _is_of_array(frame: Frame, dim: Linear) -> bool:
    """Whether what has the length is an array for sure, and no number.

    What a cell holds or a call returns may have been a number (`transform/mixed.py`).
    """
    arrays = [s.array for s in dim.symbols() if isinstance(s, Dim)]
    known = frame.builder.definition.keys() | set(frame.unit.params)
    return not is_mixed(dim) and all(a in known for a in arrays)


def _refuse_unequal(shapes: list[tuple[Linear, ...]]) -> None:
    """NumPy's own error for shapes that are known not to fit together."""
    known = [tuple(d.constant for d in dims) for dims in shapes]
    if any(None in dims for dims in known):
        return
    try:
        np.broadcast_shapes(*known)  # type: ignore[arg-type]
    except ValueError:
        words = " ".join(str(dims).replace(" ", "") for dims in known)
        text = f"operands could not be broadcast together with shapes {words} "
        raise ProgramError(ValueError(text)) from None


def display(frame: Frame, a: Any, node: Any) -> Operand:
    """An operand; a (nested) tuple or list of numbers becomes an array, as in NumPy."""
    if isinstance(a, Listed):
        return lists.as_array(frame, a, node)  # type: ignore[no-any-return]
    if not isinstance(a, Structure):
        return as_operand(frame, as_constant(a), node)
    if a.keys is not None:
        return as_operand(frame, a, node)
    is_listed = any(isinstance(leaf, Listed) for leaf in leaves(a))
    items = [] if is_listed else [as_operand(frame, leaf, node) for leaf in leaves(a)]
    if is_listed or any(type_of(i).is_array for i in items):
        rows = Structure(list, tuple(display(frame, i, node) for i in a.items))
        return call_function(frame, np.stack, [rows], {}, node)  # type: ignore[no-any-return]
    shape = _shape(frame, a, node)
    if not items:
        return frame.builder.let(DISPLAY, attribute=shape, type=array(float, shape))
    types = [type_of(i) for i in items]
    dtype = np.result_type(
        *(np.array(t.weak()(0)) if t.python else t.weak() for t in types)
    )
    return frame.builder.let(
        DISPLAY, *items, attribute=shape, type=array(dtype, shape), name="values"
    )


def _shape(frame: Frame, a: Structure, node: Any) -> tuple[int, ...]:
    shapes = {
        _shape(frame, i, node) if isinstance(i, Structure) else () for i in a.items
    }
    if len(shapes) > 1:
        raise frame.error(
            UnsupportedSyntax, "the rows of this array differ in length", node
        )
    return (len(a.items), *(shapes.pop() if shapes else ()))


# ---- literals and names ------------------------------------------------------------


@expression(gast.Constant)
def _constant(frame: Frame, node: Any) -> Any:
    if isinstance(node.value, bool | int | float | complex):
        return constant(node.value)
    return Static(node.value)


@expression(gast.Name)
def _name(frame: Frame, node: Any) -> Any:
    return frame.lookup(node.id, node)


@expression(gast.Tuple)
def _tuple(frame: Frame, node: Any) -> Any:
    return Structure(tuple, tuple(spread(frame, node.elts)))


@expression(gast.List)
def _list(frame: Frame, node: Any) -> Any:
    """A list; only the run knows its length where `*` has items of the run."""
    starred = [isinstance(n, gast.Starred) for n in node.elts]
    if not any(starred):
        return Structure(list, tuple(map(frame.evaluate, node.elts)))
    parts: list[Any] = []
    for n, is_starred in zip(node.elts, starred, strict=True):
        value = frame.evaluate(n.value if is_starred else n)
        if is_starred:
            value = listing.items_of(frame, value, n)
        is_one = not is_starred or not isinstance(value, Structure)
        parts += [(is_starred, value)] if is_one else [(False, v) for v in value.items]
    if not any(is_starred for is_starred, _ in parts):
        return Structure(list, tuple(value for _, value in parts))
    made = lists.begin(frame, origin_of(frame, node), node)
    for is_starred, value in parts:
        if is_starred:
            listing.extend(frame, made, value, node)
        else:
            lists.insert(frame, made, value, None, node)
    return made


@expression(gast.Dict)
def _dict(frame: Frame, node: Any) -> Any:
    pairs: list[tuple[Any, Any]] = []
    for k, v in zip(node.keys, node.values, strict=True):
        if k is None:
            pairs += pairs_of(mapping(frame, frame.evaluate(v), v))
        else:
            key = known_key(frame, frame.evaluate(k), k)
            pairs.append((key, frame.evaluate(v)))
    return dict_of(pairs)


def spread(frame: Frame, nodes: list[Any]) -> list[Any]:
    """The values of expressions, starred ones taken apart."""
    values: list[Any] = []
    for n in nodes:
        if isinstance(n, gast.Starred):
            inner = iterable(frame, frame.evaluate(n.value), n.value)
            if not isinstance(inner, Structure):
                raise frame.error(
                    UnsupportedSyntax,
                    f"'*' of {describe(inner)}, whose length may vary",
                    n,
                )
            values.extend(inner.items)
        else:
            values.append(frame.evaluate(n))
    return values


@expression(gast.Lambda)
def _lambda(frame: Frame, node: Any) -> Any:
    body = gast.Return(value=node.body)
    gast.copy_location(body, node.body)
    made = gast.FunctionDef(
        name="<lambda>", args=node.args, body=[body], decorator_list=[], returns=None,
        type_comment=None, type_params=[],
    )  # fmt: skip
    gast.copy_location(made, node)
    return closure(frame, made)


def closure(frame: Frame, node: Any) -> Closure:
    """A nested function: its defaults are evaluated now, its free names later."""
    a = node.args
    keywords = {
        k.id: frame.evaluate(d)
        for k, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)
        if d is not None
    }
    defaults = tuple(frame.evaluate(d) for d in a.defaults)
    return Closure(frame.source.nested(node), frame, defaults, keywords)


@expression(gast.NamedExpr)
def _walrus(frame: Frame, node: Any) -> Any:
    value = frame.evaluate(node.value)
    frame.assign(node.target.id, value, node)
    return frame.lookup(node.target.id, node)


# ---- arithmetic --------------------------------------------------------------------


@expression(gast.BinOp)
def _binary(frame: Frame, node: Any) -> Any:
    left, right = frame.evaluate(node.left), frame.evaluate(node.right)
    return binary(frame, BINARY[type(node.op)], left, right, node)


def binary(frame: Frame, function: Any, a: Any, b: Any, node: Any) -> Any:
    """One binary operator on abstract values."""
    if isinstance(a, Linear) and isinstance(b, Linear):
        return integer(frame, function, a, b, node)
    if (made := listing.sequence(frame, function, a, b, node)) is not None:
        return made
    if isinstance(a, Structure) or isinstance(b, Structure):
        joined = _sequence(frame, function, a, b, node)
        if joined is not None:
            return joined
    if isinstance(a, Static) and isinstance(b, Static):
        return Static(_python(lambda: function(a.value, b.value)))
    texts = [x for x in (a, b) if isinstance(as_constant(x), Const) and _is_text(x)]
    if texts or any(isinstance(x, Value) and x.type == TEXT for x in (a, b)):
        raise through_text(frame, node)
    return operate(frame, function, node, a, b)


def _is_text(a: Any) -> bool:
    return isinstance(a, Static) and isinstance(a.value, str)


def integer(frame: Frame, function: Any, a: Linear, b: Linear, node: Any) -> Any:
    """Python ints: linear where it stays linear, exact where known."""
    if a.constant is not None and b.constant is not None and not frame.in_rule:
        try:
            return constant(function(a.constant, b.constant))
        except (ArithmeticError, ValueError):
            pass  # raised when the program gets there
    if function is operator.add:
        return a + b
    if function is operator.sub:
        return a - b
    if function is operator.mul and (product := multiply(a, b)) is not None:
        return product
    return operate(frame, function, node, a, b)


def _sequence(
    frame: Frame, function: Any, a: Any, b: Any, node: Any
) -> Structure | None:
    """Concatenation and repetition, a dict's union; None where NumPy decides."""
    if isinstance(a, Structure) and isinstance(b, Structure):
        if function is operator.or_ and a.keys is not None and b.keys is not None:
            return dict_of([*pairs_of(a), *pairs_of(b)])
        kind = a.sequence
        if function is operator.add and kind is not None and kind is b.sequence:
            return Structure(kind, a.items + b.items)
    if function is operator.mul:
        for s, n in ((a, b), (b, a)):
            kind = s.sequence if isinstance(s, Structure) else None
            if kind is not None and isinstance(n, Linear):
                times = frame.static_int(
                    n, node, "how often a tuple or list is repeated"
                )
                return Structure(kind, s.items * times)
    if any(isinstance(x, Value) and x.type.is_array for x in (a, b)):
        return None
    raise frame.error(
        UnsupportedSyntax,
        f"{SPELLINGS[function]} of {describe(a)} and {describe(b)}",
        node,
        instead="np.array(...) of it, if arithmetic of its numbers is meant",
    )


@expression(gast.UnaryOp)
def _unary(frame: Frame, node: Any) -> Any:
    if isinstance(node.op, gast.Not):
        test = truth(frame, frame.evaluate(node.operand), node)
        return constant(not test) if isinstance(test, bool) else operate(
            frame, operator.not_, node, test
        )  # fmt: skip
    value = frame.evaluate(node.operand)
    if isinstance(value, Linear):
        if isinstance(node.op, gast.USub):
            return -value
        if isinstance(node.op, gast.UAdd):
            return value
    if isinstance(node.op, gast.USub) and isinstance(value, Const):
        return constant(-value.value, f"-{value.text}" if value.text else None)
    return operate(frame, UNARY[type(node.op)], node, value)


# ---- truth, conditions and comparisons ---------------------------------------------


def truth(frame: Frame, a: Any, node: Any) -> bool | Operand:
    """Whether a value is true: known now, or an operand to test at run time."""
    match a:
        case Static():
            return bool(a.value)
        case Structure():
            return bool(a.items)
        case Listed():
            n = lists.length(frame, a)
            return truth(frame, comparison(frame, gast.Gt(), n, linear(0), node), node)
        case Closure() | BoundMethod():
            return True
        case Linear() if a.constant is not None:
            return bool(a.constant)
        case Const() if a.text is None:
            return bool(a.value)
    operand = as_operand(frame, a, node)
    t = type_of(operand)
    if t.is_array:
        raise frame.error(
            UnsupportedSyntax,
            "the truth value of an array is ambiguous",
            node,
            instead="np.where for a choice by element, or .any() or .all() of it",
        )
    return operand


@expression(gast.IfExp)
def _conditional(frame: Frame, node: Any) -> Any:
    test = truth_of_test(frame, node.test)
    if isinstance(test, bool):
        return frame.evaluate(node.body if test else node.orelse)
    if frame.in_rule and frame.of_arrays:
        frame.program.chose = True
        then, orelse = frame.evaluate(node.body), frame.evaluate(node.orelse)
        return operate(frame, np.where, node, test, then, orelse)
    return choose(
        frame,
        test,
        lambda: frame.evaluate(node.body),
        lambda: frame.evaluate(node.orelse),
        node,
        "chosen",
    )


def truth_of_test(frame: Frame, node: Any) -> bool | Operand:
    """The truth of a test; in a rule, an array of truths chooses element by element."""
    value = frame.evaluate(node)
    if frame.in_rule and isinstance(value, Value) and value.type.is_array:
        return value
    return truth(frame, value, node)


def choose(
    frame: Frame,
    test: Operand,
    then: Callable[[], Any],
    orelse: Callable[[], Any],
    node: Any,
    name: str,
) -> Any:
    """The value of whichever branch is taken; only that one is evaluated."""
    env, fork = dict(frame.env), Fork(frame)
    results: list[Any] = []

    def write(branch: Callable[[], Any]) -> list[core.Statement]:
        fork.begin()
        with frame.program.inside(branch):
            block = frame.block(lambda: results.append(_tried(frame, branch)))
        if not isinstance(results[-1], Unready):
            fork.end()
        return block

    written = [write(then), write(orelse)]
    a, b = results
    if isinstance(a, Unready) or isinstance(b, Unready):
        if isinstance(a, Unready) and isinstance(b, Unready):
            raise a
        fork.meet()
        return b if isinstance(a, Unready) else a
    if any(frame.env.get(n) is not env.get(n) for n in frame.env):
        raise frame.error(
            UnsupportedSyntax,
            "':=' where it may not be evaluated",
            node,
            instead="an assignment of its own before this statement",
        )
    fork.meet()
    merged, cells = _merge(frame, a, b, node, name)
    if not cells and not any(written):
        return merged
    for cell, *_ in cells:
        frame.builder.add(Alloc(cell))
    for block, side in zip(written, (0, 1), strict=True):
        with frame.builder.nested(block):
            for cell, *sides in cells:
                frame.builder.store(cell, sides[side])
    frame.builder.add(If(test, *written))
    return mapped(lambda x: frame.builder.load(x) if isinstance(x, Cell) else x, merged)


def _tried(frame: Frame, branch: Callable[[], Any]) -> Any:
    """The value of a branch; where it must raise, the exception is written instead."""
    try:
        return branch()
    except Unready as e:
        if e.unbound is None:
            return e
        frame.raise_there(e)
    except ProgramError as e:
        frame.raise_there(e)
    return NEVER


def _merge(
    frame: Frame, a: Any, b: Any, node: Any, name: str
) -> tuple[Any, list[tuple[Cell, Operand, Operand]]]:
    """One abstract value for two: cells where they differ at run time."""
    if a is not b and _are_alike(a, b):
        for held in (a, b):
            frame.program.hold(held, "what a condition has chosen")
        items = zip(a.items, b.items, strict=True)
        pairs = [_merge(frame, x, y, node, name) for x, y in items]
        cells = [c for _, inner in pairs for c in inner]
        return a.of(m for m, _ in pairs), cells
    if a is b or (is_operand(a) and is_operand(b) and a == b):
        return a, []
    if isinstance(a, Static) and isinstance(b, Static) and a.value is b.value:
        return a, []
    if a is NEVER or b is NEVER:
        return (b if a is NEVER else a), []
    x, y = as_constant(a), as_constant(b)
    joined = join(type_of(x), type_of(y)) if is_operand(x) and is_operand(y) else None
    if joined is None:
        raise frame.error(
            UnsupportedSyntax,
            f"this is {describe(a)} or {describe(b)}, depending on the condition",
            node,
            instead="if and else around what uses it",
        )
    cell = Cell(name, joined, choice=True)
    return cell, [(cell, x, y)]


def _are_alike(a: Any, b: Any) -> bool:
    """Whether two are structures of one form."""
    both = isinstance(a, Structure) and isinstance(b, Structure)
    return both and a.form == b.form


@expression(gast.BoolOp)
def _boolean(frame: Frame, node: Any) -> Any:
    is_and = isinstance(node.op, gast.And)
    if frame.in_rule and frame.of_arrays:
        return _chain_of_truths(frame, is_and, node)
    return _chain(frame, is_and, node.values, node)


def _chain_of_truths(frame: Frame, is_and: bool, node: Any) -> Any:
    """In a rule, arrays of truths are joined element by element."""
    joined = None
    for n in node.values:
        a = frame.evaluate(n)
        known = known_value(a)
        if known and bool(known[0]) is not is_and:
            return a
        if not known:
            join = np.logical_and if is_and else np.logical_or
            joined = a if joined is None else operate(frame, join, node, joined, a)
    return constant(is_and) if joined is None else joined


def _chain(frame: Frame, is_and: bool, nodes: list[Any], node: Any) -> Any:
    first = frame.evaluate(nodes[0])
    if isinstance(first, Listed) and gathering.is_test(frame, node):
        first = truth(frame, first, node)
        first = constant(first) if isinstance(first, bool) else first
    if len(nodes) == 1:
        return first
    return short_circuit(
        frame, is_and, first, lambda: _chain(frame, is_and, nodes[1:], node), node
    )


def short_circuit(
    frame: Frame, is_and: bool, first: Any, rest: Callable[[], Any], node: Any
) -> Any:
    """`first and rest()` or `first or rest()`."""
    test = truth(frame, first, node)
    if isinstance(test, bool):
        return rest() if test is is_and else first
    name = "both" if is_and else "either"
    if is_and:
        return choose(frame, test, rest, lambda: first, node, name)
    return choose(frame, test, lambda: first, rest, node, name)


@expression(gast.Compare)
def _compare(frame: Frame, node: Any) -> Any:
    left = frame.evaluate(node.left)

    def link(k: int, left: Any) -> Any:
        right = frame.evaluate(node.comparators[k])
        result = comparison(frame, node.ops[k], left, right, node)
        if k + 1 == len(node.ops):
            return result
        return short_circuit(frame, True, result, lambda: link(k + 1, right), node)

    return link(0, left)


def comparison(frame: Frame, op: Any, a: Any, b: Any, node: Any) -> Any:
    """One comparison; known now where both sides are."""
    if isinstance(op, gast.In | gast.NotIn):
        return _membership(frame, op, a, b, node)
    function = COMPARISONS[type(op)]
    if isinstance(op, gast.Is | gast.IsNot):
        return _identity(frame, function, a, b, node)
    known = _known_comparison(function, a, b)
    if known is not None:
        return constant(known)
    has_array = any(isinstance(x, Value) and x.type.is_array for x in (a, b))
    if (isinstance(a, Structure) or isinstance(b, Structure)) and not has_array:
        raise frame.error(UnsupportedSyntax, "tuples are compared here", node)
    x, y = as_constant(a), as_constant(b)
    if any(is_operand(v) and type_of(v) == TEXT for v in (x, y)):
        p = row(function, 2)
        return frame.builder.let(p, as_operand(frame, x, node), y, type=BOOL)
    return operate(frame, function, node, a, b)


def _known_comparison(function: Any, a: Any, b: Any) -> bool | None:
    if isinstance(a, Linear) and isinstance(b, Linear):
        difference = (a - b).constant
        return None if difference is None else bool(function(difference, 0))
    known = [known_value(x) for x in (a, b)]
    if all(len(k) == 1 for k in known):
        return bool(_python(lambda: function(*known[0], *known[1])))
    return None


def known_value(a: Any) -> tuple[Any, ...]:
    """The value of what is known now, in a tuple; an empty one for the rest."""
    if isinstance(a, Static | Const):
        return (a.value,)
    if isinstance(a, Linear) and a.constant is not None:
        return (a.constant,)
    if isinstance(a, Structure):
        inner = [known_value(item) for item in a.items]
        if all(len(k) == 1 for k in inner):
            return (put_together(a.kind, (k[0] for k in inner), a.keys),)
    return ()


def _identity(frame: Frame, function: Any, a: Any, b: Any, node: Any) -> Any:
    for x, y in ((a, b), (b, a)):
        if isinstance(y, Static):
            if isinstance(x, Static):
                return constant(bool(function(x.value, y.value)))
            if is_operand(x) and y.value is None and type_of(x).optional:
                none = as_constant(y)
                return frame.builder.let(row(function, 2), x, none, type=BOOL)
            return constant(function is operator.is_not)
    raise frame.error(
        UnsupportedSyntax, "'is' between numbers or arrays", node, instead="=="
    )


def _membership(frame: Frame, op: Any, a: Any, b: Any, node: Any) -> Any:
    negated = isinstance(op, gast.NotIn)
    if isinstance(b, Static):
        key = a.constant if isinstance(a, Linear) else getattr(a, "value", None)
        if isinstance(a, Static) or key is not None:
            frame.program.guard_member(b, key)
            return constant((key in b.value) is not negated)
    if isinstance(b, Listed) or (isinstance(b, Value) and b.type.rank == 1):
        is_in = listing.contains(frame, b, a, node)
        return operate(frame, operator.not_, node, is_in) if negated else is_in
    if not isinstance(b, Structure):
        raise frame.error(UnsupportedSyntax, f"'in' {describe(b)}", node)
    if b.keys is not None:
        is_key = known_key(frame, a, node) in b.keys
        return constant(is_key is not negated)
    found: Any = constant(False)
    for item in reversed(b.items):
        equal = comparison(frame, gast.Eq(), a, item, node)
        found = short_circuit(frame, False, equal, partial(_itself, found), node)
    return operate(frame, operator.not_, node, found) if negated else found


def _itself(value: Any) -> Any:
    return value


# ---- subscripts and attributes -----------------------------------------------------


@expression(gast.Subscript)
def _subscript(frame: Frame, node: Any) -> Any:
    region = frame.region(getattr(node.value, "id", ""))
    if region is not None:
        return region_item(frame, region, node)
    owner = frame.evaluate(node.value)
    match owner:
        case Structure():
            return structure_item(frame, owner, node)
        case Listed():
            return lists.subscript(frame, owner, node)
        case Value() if owner.type.is_array:
            return array_item(frame, owner, node)
        case Value() if owner.type.is_number and not owner.type.python:
            return number_item(frame, owner, node)
        case Static():
            return _static_item(frame, owner, node)
    lists.promote_guess(frame, owner)
    raise frame.error(UnsupportedSyntax, f"{describe(owner)} has no elements", node)


def _static_item(frame: Frame, owner: Static, node: Any) -> Any:
    key = known_key(frame, frame.evaluate(node.slice), node)
    value = _python(lambda: owner.value[key])
    if owner.path is None:
        return lift(value)
    return frame.wrap(value, owner.path.item(key))


def _python(compute: Callable[[], Any]) -> Any:
    """What Python itself computes now; its error is raised when the program runs."""
    try:
        return compute()
    except Exception as e:
        raise ProgramError(e) from None


@expression(gast.Attribute)
def _attribute(frame: Frame, node: Any) -> Any:
    owner = frame.evaluate(node.value)
    name = node.attr
    if isinstance(owner, Static):
        return _static_attribute(frame, owner, name, node)
    if isinstance(owner, Structure):
        return structure_attribute(frame, owner, name, node)
    if isinstance(owner, Listed):
        return listing.attribute(frame, owner, name, node)
    if is_operand(owner):
        if name in listing.METHODS:
            lists.promote_guess(frame, owner)
        return number_attribute(frame, owner, name, node)
    raise frame.error(
        UnsupportedSyntax, f"{describe(owner)} has no attribute {name}", node
    )


def _static_attribute(frame: Frame, owner: Static, name: str, node: Any) -> Any:
    if type(owner.value) is dict and name in DICT_METHODS:
        return BoundMethod(mapping(frame, owner, node), DICT_METHODS[name])
    value = _python(lambda: getattr(owner.value, name))
    if any(owner.value is m for m in CONSTANT_MODULES):
        if isinstance(value, float | int | complex) and not isinstance(value, bool):
            prefix = "np" if owner.value is np else owner.value.__name__
            return constant(value, f"{prefix}.{name}")
        return lift(value)
    if (getattr(owner.value, "__name__", "") or "").split(".")[0] in ("numpy", "scipy"):
        return lift(value)
    if owner.path is None:
        return lift(value)
    return frame.wrap(value, owner.path.attribute(name))


# ---- text --------------------------------------------------------------------------


CONVERSIONS: dict[int, Callable[[Any], Any]] = {
    ord("s"): str,
    ord("r"): repr,
    ord("a"): ascii,
}


@expression(gast.JoinedStr)
def _f_string(frame: Frame, node: Any) -> Any:
    parts: list[Any] = []
    operands: list[Operand] = []
    for piece in node.values:
        if isinstance(piece, gast.Constant):
            parts.append(piece.value)
            continue
        value = as_constant(frame.evaluate(piece.value))
        spec = _format_spec(frame, piece)
        if isinstance(value, Static):
            shown = CONVERSIONS.get(piece.conversion, _itself)(value.value)
            parts.append(format(shown, spec))
            continue
        parts.append((len(operands), piece.conversion, spec))
        operands.append(as_operand(frame, value, piece))
    return frame.builder.let(FORMAT, *operands, attribute=tuple(parts), name="text")


def _format_spec(frame: Frame, piece: Any) -> str:
    if piece.format_spec is None:
        return ""
    if all(isinstance(v, gast.Constant) for v in piece.format_spec.values):
        return "".join(v.value for v in piece.format_spec.values)
    raise frame.error(UnsupportedSyntax, "a format that is itself computed", piece)


@expression(gast.Call)
def _call(frame: Frame, node: Any) -> Any:
    function = frame.evaluate(node.func)
    consumed = consume(frame, function, node)
    if consumed is not None:
        return consumed
    arguments = spread(frame, node.args)
    keywords: dict[str, Any] = {}
    for k in node.keywords:
        given = frame.evaluate(k.value)
        pairs = [(k.arg, given)]
        if k.arg is None:
            pairs = pairs_of(mapping(frame, given, k.value))
        for name, value in pairs:
            if name in keywords:
                text = f"got multiple values for keyword argument '{name}'"
                raise ProgramError(TypeError(f"{_called(function)}() {text}"))
            keywords[name] = value
    return call(frame, function, arguments, keywords, node)


def _called(function: Any) -> str:
    """The name by which Python's own errors call a function."""
    if isinstance(function, Closure):
        return str(function.source.node.name)
    return str(getattr(getattr(function, "value", None), "__qualname__", "function"))


@expression(gast.GeneratorExp)
def _generator(frame: Frame, node: Any) -> Any:
    made = gathering.generator(frame, node)
    return made if frame.speaks else gathering.drained(frame, made, node)


@expression(gast.ListComp)
def _comprehension(frame: Frame, node: Any) -> Any:
    return gathering.drained(frame, gathering.generator(frame, node), node, list)


@expression(gast.DictComp)
def _dict_comprehension(frame: Frame, node: Any) -> Any:
    pair = gast.copy_location(gast.Tuple([node.key, node.value], gast.Load()), node)
    made = gathering.generator(frame, node)
    found = [p.items for p in gathering.written_out(made, pair)]
    return dict_of([(known_key(frame, k, node), v) for k, v in found])
