"""Rows of the table as compiled programs, for the tests.

program([(p, (2.0, 3.0)), ...])    one kernel of one row after another, each with
                                   operands of its own
"""

from typing import Any

import numpy as np

from gradwright.backends import machine
from gradwright.entry import Entry
from gradwright.pipeline import derived_of, emit_derived, finish
from gradwright.results import assembler
from gradwright.transform import source as sources
from gradwright.transform.core import Function, Let, Operand, Value
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.types import Type, of_number

Call = tuple[Primitive, tuple[Any, ...]]


def program(calls: list[Call]) -> Any:
    """A machine whose results are those of the calls, one after the other."""
    params: list[Any] = []
    body: list[Any] = []
    results: list[Operand] = []
    for p, operands in calls:
        types = [kind(x) for x in operands]
        given = tuple(Value("x", t) for t in types)
        params += given
        out = Value("y", p.type_rule(*types))
        body.append(Let(out, p, given))
        results.append(out)
    return machine.compile(Function("rows", params, body, results))


def compiled(function: Any) -> Any:
    """A function of numbers, loops and elements, compiled as its core stands."""
    entry = Entry(function)

    def call(*args: Any) -> Any:
        source = sources.read(function)
        derived, _ = derived_of((), source, entry.patterns(args))
        finish(derived)
        emit_derived(derived)  # which settles the names
        made = machine.compile(derived.function)
        assemble = assembler(derived.result, derived.fits)
        return assemble(made.run(tuple(entry.leaves(args)), {}))

    return call


def kind(x: Any) -> Type:
    """The type of a number."""
    found = of_number(x)
    assert found is not None
    return found


def run(made: Any, operands: list[Any]) -> list[Any]:
    """The results of a program, as a list."""
    found = made.run(tuple(operands), {})
    return list(found) if isinstance(found, tuple) else [found]


def outcome(function: Any, *operands: Any) -> Any:
    """What a function gives, or what it raises, as class and message."""
    with np.errstate(all="ignore"):
        try:
            return function(*operands)
        except Exception as e:
            return type(e), str(e)


def is_as(found: Any, wanted: Any, ulps: float = 0.0) -> bool:
    """Whether two results are of one kind and value: NaN, signs of zero and all."""
    if isinstance(wanted, tuple):
        return bool(found == wanted)
    if isinstance(wanted, np.ndarray):
        return isinstance(found, np.ndarray) and is_as(found[()], wanted[()], ulps)
    if type(found) is not type(wanted):
        return False
    if isinstance(wanted, complex | np.complexfloating):
        size = abs(wanted)
        return all(
            is_as_float(a, b, ulps, size)
            for a, b in ((found.real, wanted.real), (found.imag, wanted.imag))
        )
    if isinstance(wanted, float | np.floating):
        return is_as_float(found, wanted, ulps)
    return bool(found == wanted)


def is_as_float(a: Any, b: Any, ulps: float, size: Any = None) -> bool:
    if np.isnan(b):
        return bool(np.isnan(a))
    if a == b:
        return bool(np.signbit(a) == np.signbit(b)) or (size is not None and ulps > 0)
    if not ulps or not (np.isfinite(a) and np.isfinite(b)):
        return False
    single = isinstance(b, np.float32)
    largest = max(abs(b), abs(size) if size is not None and np.isfinite(size) else 0)
    step = np.spacing(np.float32(largest) if single else np.float64(largest))
    return bool(abs(float(a) - float(b)) <= ulps * float(step))
