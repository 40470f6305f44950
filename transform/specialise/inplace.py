"""Functions that change an array: what they store, and where.

    np.copyto(y, x, where=m)      y[m] = x[m]
    np.add(a, b, out=y)           y[...] = a + b
    np.log(x, out=y, where=m)     y[m] = np.log(x[m])
    np.add.at(y, cells, x)        a store that adds, also where a place comes twice

Each is found by the callable or, as a method, by its name; it returns what NumPy does.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradwright.transform.core import (
    At,
    Const,
    For,
    Index,
    Let,
    Operand,
    Pick,
    Span,
    Value,
    type_of,
)
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Linear, linear
from gradwright.transform.picks import may_repeat
from gradwright.transform.primitives.record import UFUNCS
from gradwright.transform.primitives.structural import CAST, COPY, makes_anew
from gradwright.transform.specialise.abstract import Region, Static, Structure
from gradwright.transform.specialise.bindings import element, refuse_store
from gradwright.transform.specialise.frame import Frame, ProgramError
from gradwright.transform.specialise.methods import METHODS, call_function
from gradwright.transform.specialise.regions import (
    WHOLE,
    begin,
    must_fit,
    store,
    view_of,
)
from gradwright.transform.specialise.subscripts import (
    as_index,
    item_of,
    part_now,
    stored_region,
)
from gradwright.transform.types import INT, Type, broadcast, numpy_scalar

Call = Callable[[Frame, list[Any], dict[str, Any], Any], Any]

IN_PLACE: dict[Any, Call] = {}
NOTHING = Static(None)
OPERATORS = {ufunc: f for f, ufunc in UFUNCS.items()}


def in_place(*functions: Any) -> Callable[[Call], Call]:
    """Enter the meaning of a callable that changes its first argument."""

    def register(handler: Call) -> Call:
        IN_PLACE.update(dict.fromkeys(functions, handler))
        return handler

    return register


def method(name: str) -> Callable[[Call], Call]:
    """Enter the meaning of a method that changes its array."""

    def register(handler: Call) -> Call:
        METHODS[name] = lambda frame, y, arguments, keywords, node: handler(
            frame, [y, *arguments], keywords, node
        )
        return handler

    return register


def meaning(f: Any, arguments: list[Any], keywords: dict[str, Any]) -> Call | None:
    """The meaning of a call that changes an array; None where it changes none."""
    owner = getattr(f, "__self__", None)
    if isinstance(owner, np.ufunc):
        return partial(store_at, owner) if f.__name__ == "at" else None
    module = getattr(f, "__module__", None) or ""
    if not (isinstance(f, np.ufunc) or module.startswith("numpy")):
        return None
    if _is_given(_out(f, arguments, keywords)):
        return partial(call_with_out, f)
    if isinstance(f, np.ufunc):
        return partial(call_where, f) if "where" in keywords else None
    return IN_PLACE.get(f)


# ---- what is changed ---------------------------------------------------------------


def target(frame: Frame, y: Any, node: Any) -> Region:
    """The array that a call changes, or a part of one; a new one becomes a region."""
    held = stored_region(frame, y)
    if held is not None:
        return held
    made = frame.builder.definition.get(y) if isinstance(y, Value) else None
    if isinstance(made, Let) and makes_anew(made.primitive) and not y.users:
        return begin(frame, y.name, y)
    refuse_store(frame, y, node)


def now(frame: Frame, region: Region) -> Value:
    """What an array holds behind a call that changed it."""
    out = frame.read(region)
    frame.builder.definition[out].safe = True
    return out


def bound(
    name: str, signature: str, arguments: list[Any], keywords: dict[str, Any]
) -> list[Any]:
    """The arguments of a call in the order of its parameters; None for a default."""
    parameters = inspect.signature(eval(f"lambda {signature}: None"))
    try:
        given = parameters.bind(*arguments, **keywords)
    except TypeError as e:
        raise ProgramError(TypeError(f"{name}() {e}")) from None
    return [given.arguments.get(p) for p in parameters.parameters]


def operand_of(frame: Frame, a: Any, node: Any) -> Operand:
    """An argument as a number or an array."""
    from gradwright.transform.specialise.expressions import display

    return display(frame, a, node)


def store_all(frame: Frame, y: Region, value: Any, node: Any) -> None:
    """y[...] = value."""
    store(frame, y, WHOLE, operand_of(frame, value, node), node)


def must_take(frame: Frame, y: Region, value: Operand) -> None:
    """NumPy's error of `np.copyto` where a value is not cast to the array's dtype."""
    t, own = type_of(value), np.dtype(y.type.dtype)
    if not np.can_cast(t.weak(), own, casting="same_kind"):
        what, given = (
            ("array data", t.dtype) if t.is_array else ("scalar", np.dtype(t.weak()))
        )
        text = (
            f"Cannot cast {what} from dtype('{given}') to dtype('{own}') "
            "according to the rule 'same_kind'"
        )
        raise ProgramError(TypeError(text))


# ---- under a mask ------------------------------------------------------------------


def _is_given(a: Any) -> bool:
    return a is not None and not (isinstance(a, Static) and a.value is None)


def _is_everywhere(mask: Any) -> bool:
    """Whether a `where=` leaves nothing out."""
    return not _is_given(mask) or (isinstance(mask, Const) and mask.value is True)


def under(frame: Frame, y: Region, mask: Any, node: Any) -> Pick:
    """The places of an array where a mask holds, which may have to be stretched."""
    where = operand_of(frame, mask, node)
    if not type_of(where).is_bool:
        held = type_of(where).dtype
        text = f"a mask of truth values is needed here, and this holds {held}"
        raise frame.error(UnsupportedSyntax, text, node)
    return Pick(_in_shape(frame, where, y.type, node), True)


def picked(frame: Frame, a: Any, y: Region, at: Pick, node: Any) -> Any:
    """The elements of an operand for the places of an array where a mask holds."""
    operand = operand_of(frame, a, node)
    if not type_of(operand).rank:
        return operand
    whole = _in_shape(frame, operand, y.type, node)
    return item_of(frame, whole, (at,), node)


def _in_shape(frame: Frame, a: Operand, t: Type, node: Any) -> Any:
    """An operand, stretched to the shape of an array where it has another one."""
    pairs = list(zip(type_of(a).dims or (), t.dims or (), strict=False))
    fits = all(_is_as_long(frame, d, own) for d, own in pairs)
    if type_of(a).rank == t.rank and fits:
        return a
    shape = Structure(tuple, tuple(t.dims or ()))
    return call_function(frame, np.broadcast_to, [a, shape], {}, node)


# ---- out= and where= ---------------------------------------------------------------


def _out(f: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """The array that a function puts its result into, if it is given one."""
    places = f.nin if isinstance(f, np.ufunc) else 2 if f is np.dot else None
    if places is not None and len(arguments) > places:
        return arguments[places]
    return keywords.get("out")


def call_with_out(
    f: Any, frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """The result of a function, put into an array, which is returned."""
    out = _out(f, arguments, keywords)
    if isinstance(out, Structure) and len(out.items) == 1:
        (out,) = out.items
    if "out" not in keywords:
        arguments = arguments[:-1]
    others = {k: a for k, a in keywords.items() if k != "out"}
    y = target(frame, out, node)
    mask = others.pop("where", None) if isinstance(f, np.ufunc) else None
    if _is_everywhere(mask):
        result = operand_of(
            frame, call_function(frame, f, arguments, others, node), node
        )
        _must_be_like(frame, f, y, result, node)
        store_all(frame, y, result, node)
        return now(frame, y)
    at = under(frame, y, mask, node)
    parts = [picked(frame, a, y, at, node) for a in arguments]
    result = operand_of(frame, call_function(frame, f, parts, others, node), node)
    must_fit(type_of(result), y, f)
    store(frame, y, (at,), result, node)
    return now(frame, y)


def _must_be_like(frame: Frame, f: Any, y: Region, result: Operand, node: Any) -> None:
    """An output takes a result of its kind and shape; a ufunc's may be stretched."""
    t = type_of(result)
    if isinstance(f, np.ufunc):
        if f.signature is not None and t.rank > y.type.rank:
            text = f"out= with fewer axes than the result of np.{f.__name__}"
            raise frame.error(
                UnsupportedSyntax, text, node
            )  # NumPy takes some of these
        must_fit(t, y, f)
        return
    if t.rank != y.type.rank:
        text = f"output array has {y.type.rank} axes, and the result {t.rank}"
        raise ProgramError(ValueError(text))
    if t.dtype != y.type.dtype:
        raise frame.error(
            UnsupportedSyntax,
            f"out= is an array of {y.type.dtype}, and the result is one of {t.dtype}",
            node,
            instead="an array of the result's dtype",
        )
    pairs = zip(t.dims or (), y.type.dims or (), strict=True)
    frame.unit.assume_equal(pairs, stretch=False)


def call_where(
    f: Any, frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """A ufunc with where= and without out=, which says nothing about the rest."""
    others = {k: a for k, a in keywords.items() if k not in ("where", "out")}
    if _is_everywhere(keywords["where"]):
        return call_function(frame, f, arguments, others, node)
    raise frame.error(
        UnsupportedSyntax,
        "where= without out= leaves elements that nobody has set",
        node,
        instead="out=np.zeros(...) beside it",
    )


def _is_as_long(frame: Frame, length: Linear, wanted: Linear) -> bool:
    """Whether a length is the wanted one; the entry checks it where it can see both.

    What it cannot see may turn out to be a 1, which NumPy stretches.
    """
    if length == wanted:
        return True
    if 1 in (length.constant, wanted.constant):
        return False
    if not (frame.unit.sees(length) and frame.unit.sees(wanted)):
        return False
    frame.unit.assume_equal([(length, wanted)])
    return True


# ---- ufunc.at ----------------------------------------------------------------------


def store_at(
    f: np.ufunc, frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """f.at(y, index, value): item after item, also where a place comes twice."""
    a, places, *values = arguments
    y = target(frame, a, node)
    index = _index(frame, places, node)
    operands = [_as_numpy(frame, operand_of(frame, v, node), y) for v in values]
    if f in (np.add, np.subtract):
        (value,) = operands
        if f is np.subtract:
            value = frame.builder.operator(operator.neg, value)
        store(frame, y, index, value, node, accumulate=True)
    elif may_repeat(index):
        _one_by_one(f, frame, y, index, operands, node)
    else:
        _change(f, frame, y, index, operands, node)
    return NOTHING


def _as_numpy(frame: Frame, a: Operand, y: Region) -> Operand:
    """A number as `ufunc.at` takes it: Python's are not weak there."""
    t = type_of(a)
    dtype = np.dtype(t.weak())
    if not t.python or dtype == y.type.dtype:
        return a
    wanted = numpy_scalar(dtype.name)
    return frame.builder.let(CAST, a, attribute=wanted, type=wanted)


def _index(frame: Frame, places: Any, node: Any) -> Index:
    """What stands for an index among arguments."""
    is_tuple = isinstance(places, Structure) and places.kind is tuple
    items = places.items if is_tuple else (places,)
    return tuple(as_index(frame, i, node) for i in items)


def _change(
    f: np.ufunc, frame: Frame, y: Region, index: Index, operands: list[Any], node: Any
) -> None:
    """y[index] = f(y[index], *operands)."""
    old = part_now(frame, y, index, node)
    new = call_function(frame, OPERATORS.get(f, f), [old, *operands], {}, node)
    store(frame, y, index, operand_of(frame, new, node), node)


def _one_by_one(
    f: np.ufunc, frame: Frame, y: Region, index: Index, operands: list[Any], node: Any
) -> None:
    """The same in a loop over the items of the index, which are written in order."""
    b = frame.builder
    operands = [_apart(frame, o, y) for o in operands]
    lines = [type_of(i.places) for i in index if isinstance(i, Pick)]
    if any(isinstance(i, Span) for i in index) or any(
        t.rank != 1 or t.is_bool for t in lines
    ):
        raise frame.error(
            UnsupportedSyntax,
            f"np.{f.__name__}.at of more than arrays of indices with one axis yet",
            node,
            instead="a loop over the places",
        )
    (count, *_) = broadcast(*lines) or ()
    rank = 1 + y.type.rank - len(index)
    lengths = [t.dims[0] for t in lines if t.dims]
    if not all(n.constant == 1 or _is_as_long(frame, n, count) for n in lengths):
        raise frame.error(
            UnsupportedSyntax,
            f"np.{f.__name__}.at of arrays of indices that may not be equally long",
            node,
            instead="np.broadcast_to(...) of the shorter one",
        )
    operands = [_along(frame, o, rank, count, node) for o in operands]
    symbol = Value("i", INT)
    k = Linear({symbol: 1})

    def item(a: Any, rank: int) -> Any:
        if not isinstance(a, Value) or a.type.rank != rank or not a.type.dims:
            return a
        one = a.type.dims[0].constant == 1  # for every item
        return element(frame, a, linear(0) if one else k, safe=True)

    with b.nested([]) as body:
        at = tuple(At(item(i.places, 1)) if isinstance(i, Pick) else i for i in index)
        _change(f, frame, y, at, [item(o, rank) for o in operands], node)
    b.add(For(symbol, linear(0), count, linear(1), body))
    b.forget({y.place})


def _along(frame: Frame, a: Operand, rank: int, count: Linear, node: Any) -> Any:
    """An operand with one item for each place, or one for all of them."""
    first, *others = type_of(a).dims or (linear(1),)
    if type_of(a).rank != rank or first.constant == 1:
        return a
    if _is_as_long(frame, first, count):
        return a
    shape = Structure(tuple, (count, *others))
    return call_function(frame, np.broadcast_to, [a, shape], {}, node)


def _apart(frame: Frame, a: Any, y: Region) -> Any:
    """An operand as it is before the loop, copied where it is a part of the array."""
    seen = view_of(frame, a)
    is_part = seen is not None and seen.place is y.place
    return frame.builder.let(COPY, a) if is_part else a


# ---- functions ---------------------------------------------------------------------


@in_place(np.copyto)
def copy_to(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """np.copyto(y, x): the elements of another array, everywhere or under a mask."""
    signature = "dst, src, casting=None, where=None"
    a, x, casting, mask = bound("copyto", signature, arguments, keywords)
    if casting is not None and getattr(casting, "value", None) != "same_kind":
        raise frame.error(UnsupportedSyntax, "casting= of np.copyto yet", node)
    y, value = target(frame, a, node), operand_of(frame, x, node)
    must_take(frame, y, value)
    seen = view_of(frame, value) if isinstance(value, Value) else None
    if seen is not None and (seen.place, seen.index) == (y.place, y.index):
        return NOTHING  # NumPy looks at no mask then
    if _is_everywhere(mask):
        store_all(frame, y, value, node)
    else:
        at = under(frame, y, mask, node)
        store(frame, y, (at,), picked(frame, value, y, at, node), node)
    return NOTHING


@method("fill")
def fill(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """y.fill(v): one number everywhere."""
    a, value = bound("fill", "y, value", arguments, keywords)
    store_all(frame, target(frame, a, node), value, node)
    return NOTHING


@method("sort")
def sort(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """y.sort(axis=-1): the elements along an axis, in increasing order."""
    a, *axis = bound("sort", "y, axis=-1", arguments, keywords)
    given = [k for k in axis if k is not None]
    y = target(frame, a, node)
    store_all(frame, y, call_function(frame, np.sort, [a, *given], {}, node), node)
    return NOTHING


@in_place(np.put)
@method("put")
def put(frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any) -> Any:
    """np.put(y, places, v) of an array with one axis."""
    a, places, v = bound("put", "a, ind, v", arguments, keywords)
    y, value = target(frame, a, node), operand_of(frame, v, node)
    at = as_index(frame, places, node)
    given, wanted = type_of(value).dims, None
    if isinstance(at, Pick):
        wanted = type_of(at.places).dims
    known = [d.constant for d in (*(given or ()), *(wanted or ()))]
    repeats = given and None not in known and given != wanted
    if y.type.rank != 1 or repeats:
        raise frame.error(
            UnsupportedSyntax,
            "np.put into more than one axis, or of values that it repeats, yet",
            node,
            instead="y[places] = values",
        )
    store(frame, y, (at,), value, node)
    return NOTHING


@in_place(np.putmask, np.place)
def put_mask(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """np.putmask(y, mask, v), np.place(y, mask, v) of one number v.

    Of an array as large as y, np.putmask takes what stands where the mask holds.
    """
    a, mask, v = bound("putmask", "a, mask, values", arguments, keywords)
    y, value = target(frame, a, node), operand_of(frame, v, node)
    if type_of(value).rank:
        raise frame.error(
            UnsupportedSyntax,
            "np.putmask and np.place of an array yet, which they repeat",
            node,
            instead="y[mask] = values",
        )
    if type_of(operand_of(frame, mask, node)).rank != y.type.rank:
        raise frame.error(
            UnsupportedSyntax,
            "np.putmask and np.place under a mask with other axes",
            node,
            instead="a mask of the array's shape",
        )
    store(frame, y, (under(frame, y, mask, node),), value, node)
    return NOTHING


@in_place(np.fill_diagonal)
def fill_diagonal(
    frame: Frame, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """np.fill_diagonal(y, v) of a matrix: v where the two indices are equal."""
    a, v = bound("fill_diagonal", "a, val", arguments, keywords)
    y, value = target(frame, a, node), operand_of(frame, v, node)
    if y.type.rank != 2 or type_of(value).rank:
        raise frame.error(
            UnsupportedSyntax,
            "np.fill_diagonal of more than two axes, or of an array, yet",
            node,
            instead="a store at np.arange(n)",
        )
    rows, columns = y.type.dims or ()
    size = _smaller(frame, rows, columns, node)
    line = call_function(frame, np.arange, [size], {}, node)
    store(frame, y, (Pick(line, True), Pick(line, True)), value, node)
    return NOTHING


def _smaller(frame: Frame, a: Linear, b: Linear, node: Any) -> Any:
    """The smaller of two lengths."""
    from gradwright.transform.specialise.builtins import BUILTINS

    return a if a == b else BUILTINS[min](frame, [a, b], {}, node)
