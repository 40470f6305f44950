"""Binding targets to values: names, unpacking; any other store is refused."""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import gast

from gradwright.transform.build import constant
from gradwright.transform.core import At, If, Operand, Raise, Value, type_of
from gradwright.transform.errors import EffectError, UnsupportedSyntax
from gradwright.transform.indices import Linear, linear
from gradwright.transform.picks import may_repeat
from gradwright.transform.primitives.structural import FORMAT
from gradwright.transform.specialise import regions
from gradwright.transform.specialise.abstract import (
    Generator,
    Listed,
    Region,
    Static,
    Structure,
    describe,
)
from gradwright.transform.specialise.frame import Frame, ProgramError
from gradwright.transform.types import array, numpy_scalar, promote


def bind(frame: Frame, target: Any, value: Any) -> None:
    """Bind a target to a value, with unpacking."""
    match target:
        case gast.Name():
            frame.assign(target.id, value, target)
        case gast.Tuple() | gast.List():
            _unpack(frame, target, value)
        case gast.Subscript():
            store_item(frame, target, value)
        case gast.Attribute():
            refuse_store(frame, frame.evaluate(target.value), target)
        case _:
            raise frame.refusal(target)


def _unpack(frame: Frame, target: Any, value: Any) -> None:
    from gradwright.transform.specialise import lists
    from gradwright.transform.specialise.builtins import iterable
    from gradwright.transform.specialise.gathering import drained

    star = [k for k, t in enumerate(target.elts) if isinstance(t, gast.Starred)]
    if isinstance(value, Generator):
        value = drained(frame, value, target)
    if isinstance(value, Value) and value.type.is_array:
        value = _array_items(frame, value, target, bool(star))
    elif isinstance(value, Listed):
        value = _list_items(frame, value, target, bool(star))
    elif isinstance(value, Structure) or _has_items(value):
        value = iterable(frame, value, target)
    if not isinstance(value, Structure):
        raise frame.error(
            UnsupportedSyntax, f"{describe(value)} is unpacked here", target
        )
    items: list[Any] = list(value.items)
    wanted = len(target.elts) - len(star)
    if len(items) < wanted or (not star and len(items) > wanted):
        few = len(items) < wanted
        text = (
            f"not enough values to unpack (expected {wanted}, got {len(items)})"
            if few
            else f"too many values to unpack (expected {wanted})"
        )
        raise ProgramError(ValueError(text))
    targets = list(target.elts)
    if star:
        k = star[0]
        size = len(items) - wanted
        items[k : k + size] = [Structure(list, tuple(items[k : k + size]))]
        targets[k] = targets[k].value
    items = regions.exchanged(frame, targets, items)
    items = lists.exchanged(frame, targets, items, target)
    for t, item in zip(targets, items, strict=True):
        bind(frame, t, item)


def _has_items(a: Any) -> bool:
    """Whether it is a captured object that has items now."""
    return isinstance(a, Static) and isinstance(a.value, list | dict | str)


def _array_items(frame: Frame, value: Value, target: Any, starred: bool) -> Structure:
    length = (value.type.dims or (linear(0),))[0].constant
    if starred:
        raise frame.error(
            UnsupportedSyntax, "'*' of an array, whose length may vary", target
        )
    wanted = len(target.elts)
    if length is not None and length != wanted:
        text = f"too many values to unpack (expected {wanted})"
        if length < wanted:
            text = f"not enough values to unpack (expected {wanted}, got {length})"
        raise ProgramError(ValueError(text))
    if length is None:
        _check_length(frame, (value.type.dims or (linear(0),))[0], wanted)
    items = (element(frame, value, linear(k), safe=True) for k in range(wanted))
    return Structure(tuple, tuple(items))


def _list_items(frame: Frame, value: Listed, target: Any, starred: bool) -> Structure:
    from gradwright.transform.specialise import lists

    if starred:
        raise frame.error(
            UnsupportedSyntax, "'*' of a list, whose length may vary", target
        )
    wanted = len(target.elts)
    _check_length(frame, lists.length(frame, value), wanted)
    items = (lists.item(frame, value, linear(k), safe=True) for k in range(wanted))
    return Structure(tuple, tuple(items))


def _check_length(frame: Frame, length: Linear, wanted: int) -> None:
    """Python's own error where as many items are unpacked into fewer or more names."""
    b = frame.builder
    few = f"not enough values to unpack (expected {wanted}, got "
    texts = {
        operator.gt: constant(f"too many values to unpack (expected {wanted})"),
        operator.lt: None,
    }
    for test, text in texts.items():
        condition = b.operator(test, length, linear(wanted))
        with b.nested([]) as block:
            if text is None:
                text = b.let(FORMAT, length, attribute=(few, (0, -1, ""), ")"))
            b.add(Raise(ValueError, (text,)))
        b.add(If(condition, block, []))


def element(
    frame: Frame, value: Value, position: Operand, safe: bool = False
) -> Operand:
    """array[position] along the first axis, as it is now."""
    rest = (value.type.dims or ())[1:]
    symbols = position.symbols() if isinstance(position, Linear) else ()
    suffix = [s.name for s in symbols if isinstance(s, Value)]
    type_ = array(value.type.dtype, rest) if rest else numpy_scalar(value.type.dtype)
    name = f"{value.name}_{suffix[0] if suffix else 'item'}"
    region = regions.view_of(frame, value)
    if region is None or frame.in_rule:
        return frame.builder.element(value, (At(position),), type_, name, safe)
    index = regions.composed(region, (At(position),))
    return frame.builder.element(region.place, index, type_, name, safe)


def store_item(frame: Frame, target: Any, value: Any, function: Any = None) -> None:
    """Target = value, or `target = function(target, value)` of an operator."""
    from gradwright.transform.specialise import listing
    from gradwright.transform.specialise.expressions import binary, display
    from gradwright.transform.specialise.regions import must_fit, store
    from gradwright.transform.specialise.subscripts import (
        index_of,
        part_now,
        stored_region,
    )

    owner = frame.evaluate(target.value)
    region = stored_region(frame, owner)
    if region is None:
        if function is not None and isinstance(owner, Structure):
            held = _item_held(frame, owner, target)
            if isinstance(held, Value) and held.type.is_array:
                own = stored_region(frame, held)
                if own is None:
                    refuse_store(frame, held, target)
                change_whole(frame, own, value, function, target)
                return
        if isinstance(owner, Listed) or getattr(owner, "kind", None) is list:
            listing.store(frame, owner, target, value, function)
            return
        refuse_store(frame, owner, target)
    index = index_of(frame, target)
    value = regions.as_of_now(frame, value)
    adds = function in (operator.add, operator.sub) and not may_repeat(index)
    if function is None or adds:
        operand = display(frame, value, target)
        if adds and sum(isinstance(i, At) for i in index) < region.type.rank:
            must_fit(promote(region.type, type_of(operand)), region, function)
        if function is operator.sub:
            operand = frame.builder.operator(operator.neg, operand)
        store(frame, region, index, operand, target, adds)
        return
    old = part_now(frame, region, index, target)
    new = display(frame, binary(frame, function, old, value, target), target)
    if type_of(old).is_array:
        must_fit(type_of(new), region, function, type_of(old).rank)
    store(frame, region, index, new, target)


def _item_held(frame: Frame, owner: Structure, target: Any) -> Any:
    """The item of a list or dict that an operator may change in place."""
    from gradwright.transform.specialise.structures import structure_item

    is_slice = isinstance(target.slice, gast.Slice)
    return None if is_slice or owner.kind not in (list, dict) else structure_item(
        frame, owner, target
    )  # fmt: skip


def change_whole(
    frame: Frame, region: Region, value: Any, function: Any, node: Any
) -> None:
    """An operator that changes a whole array of the function's own."""
    from gradwright.transform.specialise.expressions import binary, display

    if function in (operator.add, operator.sub):
        operand = display(frame, regions.as_of_now(frame, value), node)
        regions.must_fit(promote(region.type, type_of(operand)), region, function)
        if function is operator.sub:
            operand = frame.builder.operator(operator.neg, operand)
        regions.store(frame, region, (), operand, node, accumulate=True)
        return
    value = regions.as_of_now(frame, value)
    new = display(frame, binary(frame, function, frame.read(region), value, node), node)
    regions.must_fit(type_of(new), region, function)
    regions.store(frame, region, regions.WHOLE, new, node)


def refuse_store(frame: Frame, owner: Any, target: Any) -> NoReturn:
    """Say why this store is not differentiated: the error always comes."""
    if isinstance(owner, Static) and owner.path is not None:
        raise frame.error(
            EffectError,
            f"this changes {owner.path.name}, which the function captured",
            target,
            instead="pass the value in and return the new one",
        )
    hidden = next((p for p, v in frame.program.hidden.values() if v is owner), None)
    if hidden is not None:
        raise frame.error(
            EffectError,
            f"this changes {hidden.name}, which the function captured",
            target,
            instead="pass the array in and return the new one",
        )
    what = "an array" if isinstance(owner, Value) else describe(owner)
    raise frame.error(
        UnsupportedSyntax, f"gradwright does not rewrite stores into {what} yet", target
    )
