"""Collectives in a program: psum(x, "i") and its relatives, until a vmap writes them.

psum(tree, "i")   ->   a Let of PSUM for every number and array in the tree
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

from gradwright.transform.core import Const, Value, type_of
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import Dim, Linear, linear, symbol
from gradwright.transform.primitives.collectives import (
    GATHER,
    INDEX,
    PERMUTE,
    PMAX,
    PMIN,
    PSUM,
    SIZE,
    TO_ALL,
    Along,
)
from gradwright.transform.specialise.abstract import (
    Static,
    Structure,
    is_operand,
    mapped,
)
from gradwright.transform.specialise.frame import Frame
from gradwright.transform.types import Type, array, as_numpy

PARAMETERS = {
    "psum": ("x", "axis_name"),
    "pmean": ("x", "axis_name"),
    "pmax": ("x", "axis_name"),
    "pmin": ("x", "axis_name"),
    "all_gather": ("x", "axis_name", "axis"),
    "ppermute": ("x", "axis_name", "perm"),
    "all_to_all": ("x", "axis_name", "split_axis", "concat_axis"),
    "axis_index": ("axis_name",),
    "axis_size": ("axis_name",),
}
SAME = {"psum": PSUM, "pmean": PSUM, "pmax": PMAX, "pmin": PMIN, "ppermute": PERMUTE}


def call_collective(
    frame: Frame, kind: str, arguments: list[Any], keywords: dict[str, Any], node: Any
) -> Any:
    """A collective of every number and array in a structure."""
    names = PARAMETERS[kind]
    given = dict(zip(names, arguments, strict=False)) | keywords
    if len(arguments) > len(names) or not {*given} <= {*names}:
        text = f"{kind} with other arguments than {', '.join(names)}"
        raise frame.error(UnsupportedSyntax, text, node)
    name = given.get("axis_name")
    if not isinstance(name, Static | Const) or name.value is None:
        text = f"{kind} needs the name of an axis that is known in advance"
        raise frame.error(UnsupportedSyntax, text, node)
    along = Along(name.value)
    if kind in ("axis_index", "axis_size"):
        primitive = INDEX if kind == "axis_index" else SIZE
        return frame.builder.let(primitive, attribute=along, name=kind)
    if kind == "all_gather":
        along = replace(along, axis=_int(frame, given.get("axis", linear(0)), node))
    elif kind == "all_to_all":
        split, concat = (
            _int(frame, given.get(n), node) for n in ("split_axis", "concat_axis")
        )
        along = replace(along, split=split, concat=concat)
    elif kind == "ppermute":
        along = replace(along, perm=_pairs(frame, given.get("perm"), node))

    def each(leaf: Any) -> Any:
        if not is_operand(leaf) or not type_of(leaf).is_number:
            raise frame.error(UnsupportedSyntax, f"{kind} of what is no number", node)
        return _one(frame, kind, leaf, along)

    x = given["x"]
    return mapped(each, (isinstance(x, Static) and frame.opened(x)) or x)


def _int(frame: Frame, a: Any, node: Any) -> int:
    found: int = frame.static_int(a, node, "this axis")
    return found


def _pairs(frame: Frame, a: Any, node: Any) -> tuple[tuple[int, int], ...]:
    """The pairs of a permutation, which must be known."""
    held = (isinstance(a, Static) and frame.opened(a)) or a
    found = []
    if isinstance(held, Structure):
        for pair in held.items:
            if isinstance(pair, Structure) and len(pair.items) == 2:
                source, target = (frame.static_int(i, node, "perm") for i in pair.items)
                found.append((source, target))
    sources, targets = ({p[k] for p in found} for k in (0, 1))
    complete = isinstance(held, Structure) and len(found) == len(held.items)
    if not complete or len(sources) < len(found) or len(targets) < len(found):
        text = "ppermute needs pairs of a source and a destination, each of them once"
        raise frame.error(UnsupportedSyntax, text, node)
    return tuple(found)


def _one(frame: Frame, kind: str, x: Any, along: Along) -> Any:
    b = frame.builder
    t = as_numpy(type_of(x))
    if kind in ("psum", "pmean") and isinstance(x, Linear) and x.constant is not None:
        size = b.let(SIZE, attribute=Along(along.name), name="axis_size")
        return x if kind == "pmean" else b.operator(operator.mul, x, size)
    if kind in ("psum", "pmean") and t.is_bool:
        t = replace(t, dtype="int64")
    if kind == "all_gather":
        k = along.axis % (t.rank + 1)
        return _gathered(frame, x, t, replace(along, axis=k))
    if kind == "all_to_all":
        split, concat = (k % max(t.rank, 1) for k in (along.split, along.concat))
        dims = list(t.dims or ())
        length = dims.pop(split)
        dims.insert(concat, length)
        along = replace(along, split=split, concat=concat)
        t = replace(t, dims=tuple(dims))
        return b.let(TO_ALL, x, attribute=along, type=t, name="parts")
    name = x.name if isinstance(x, Value) else "value"
    y = b.let(SAME[kind], x, attribute=along, type=t, name=f"{name}_{kind}")
    if kind != "pmean":
        return y
    size = b.let(SIZE, attribute=Along(along.name), name="axis_size")
    return b.operator(operator.truediv, y, size)


def _gathered(frame: Frame, x: Any, t: Type, along: Along) -> Any:
    """All samples of a value, of which there is a number that only a vmap knows."""
    dims = list(t.dims or ())
    dims.insert(along.axis, linear(-1))
    name = f"{getattr(x, 'name', 'value')}_all"
    made = frame.builder.let(
        GATHER, x, attribute=along, type=array(t.dtype, tuple(dims)), name=name
    )
    assert isinstance(made, Value)
    dims[along.axis] = symbol(Dim(made, along.axis))
    made.type = replace(made.type, dims=tuple(dims))
    return made
