"""Every row of the table on scalars, compiled, beside its own callable."""

import cmath
import math
import operator
import warnings
from typing import Any

import numpy as np
import pytest
from by_machine import Call, is_as, kind, outcome, program, run

import gradwright as gw
from gradwright.backends.machine.rows import find
from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.primitives import load_rows
from gradwright.transform.primitives.record import TABLE, Primitive

load_rows()

ROWS = [
    (p, arity)
    for (_, arity), p in TABLE.rows.items()
    if p.signature is None and p.kind in ("elementwise", "constant")
]
KINDS: dict[str, Any] = {
    "python": lambda x: x,
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "int": int,
    "int64": np.int64,
    "int32": np.int32,
    "uint8": lambda x: np.uint8(abs(int(x.real))),
    "bool": lambda x: bool(int(x.real)),
    "complex": complex,
    "complex128": np.complex128,
    "complex64": np.complex64,
}
# How far compiled code may be from what is called: the C library, not NumPy's loops or
# CPython's own ways; those that are plain arithmetic are exact.
FAR = {
    "gamma": 12, "lgamma": 128, "sinc": 4, "power": 4, "logaddexp": 4, "logaddexp2": 4,
    "log_to_base": 2, "rect": 4, "angle": 4, "hypot": 1, "degrees": 1, "radians": 1,
}  # fmt: skip
EXACT = {
    "add", "subtract", "multiply", "negative", "positive", "square", "remainder",
    "fmod", "modulus", "absolute", "copysign", "larger", "smaller", "maximum",
    "minimum", "extreme", "clip", "as_float", "as_floating", "as_complex",
    "complex_of_parts", "where", "heaviside", "nextafter", "floordiv", "ieee_remainder",
}  # fmt: skip
# What compiled code refuses, and why.
NOT_COMPILED = {
    ("round", 2): "Python rounds the decimal digits of a float",
    ("np.round", 2): "digits of a float",
    ("np.around", 2): "digits of a float",
}


FLOATING = "python", "float64", "complex", "complex128"


def ulps(p: Primitive, operands: tuple[Any, ...]) -> float:
    if p.kind == "constant" or p.name in EXACT:
        return (
            0.0
            if not any(isinstance(x, complex | np.complexfloating) for x in operands)
            else 4
        )
    if any(isinstance(x, complex | np.complexfloating) for x in operands):
        return 16
    return FAR.get(p.name, 2)


def of_kind(name: str) -> tuple[list[Call], list[Any]]:
    """The calls of all rows with operands of a kind that succeed, and their results."""
    calls: list[Call] = []
    wanted = []
    for p, arity in ROWS:
        if (p.spelling, arity) in NOT_COMPILED:
            continue
        for sample in p.samples:
            if None in sample or (p.spelling == "cmath.log" and name not in FLOATING):
                continue  # cmath.log(0, 2) is NaN
            try:
                operands = tuple(KINDS[name](x) for x in sample)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    out = p.type_rule(*map(kind, operands))
                    found = p.function(*operands)
            except Exception:
                continue
            if isinstance(found, tuple) or (
                isinstance(found, int) and not -(2**63) <= found < 2**63
            ):
                continue
            if out.dims is None and type(found) is not type(
                out.weak()(0) if out.python else out.weak().type(0)
            ):
                continue
            calls.append((p, operands))
            wanted.append(found)
    return calls, wanted


def test_every_row_has_its_operation() -> None:
    missing = [p.spelling for p, _ in ROWS if find(p) is None]
    assert not missing, "give each a column `scalar`, or an operation"


@pytest.mark.parametrize("name", list(KINDS))
def test_rows_are_as_their_callables(name: str) -> None:
    calls, wanted = of_kind(name)
    calls, wanted = compiling(calls, wanted)
    found = run(program(calls), [x for _, operands in calls for x in operands])
    wrong = [
        f"{p.spelling}{operands} is {a!r}, not {b!r}"
        for (p, operands), a, b in zip(calls, found, wanted, strict=True)
        if not is_as(a, b, ulps(p, operands))
    ]
    assert not wrong, "\n".join(wrong)


def compiling(calls: list[Call], wanted: list[Any]) -> tuple[list[Call], list[Any]]:
    """Without those that compiled code refuses for this kind, which must be complex."""
    from gradwright.backends.machine.kernel import translated
    from gradwright.transform.core import Function, Let, Value

    kept = []
    refused: dict[Any, bool] = {}
    for call, w in zip(calls, wanted, strict=True):
        p, operands = call
        types = tuple(map(kind, operands))
        if (p, types) not in refused:
            given = tuple(Value("x", t) for t in types)
            out = Value("y", p.type_rule(*types))
            f = Function("row", list(given), [Let(out, p, given)], [out])
            try:
                translated(f, (None,) * len(given))
                refused[p, types] = False
            except UnsupportedSyntax:
                refused[p, types] = True
                assert any(t.is_complex for t in types), p
        if not refused[p, types]:
            kept.append((call, w))
    return [c for c, _ in kept], [w for _, w in kept]


# ---- edges -------------------------------------------------------------------------

FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e308, -1e308, 5e-324, math.inf, -math.inf,
    math.nan,
]  # fmt: skip
INTS = [0, 1, -1, 2, -3, 7, 63, 64, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)]
COMPLEX = [0j, 1 + 0j, -1 + 2j, 0.5 - 0.25j, 1e200 + 1e200j, complex(math.inf, 1)]
OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
    operator.mod, operator.pow, operator.lt, operator.le, operator.gt, operator.ge,
    operator.eq, operator.ne, max, min,
]  # fmt: skip
ON_INTS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
UNARY = [
    operator.neg, operator.pos, operator.not_, abs, bool, float, int, round,
    math.floor, math.ceil, math.trunc, math.isqrt, math.factorial,
]  # fmt: skip


def fits(found: Any, p: Primitive, operands: tuple[Any, ...]) -> bool:
    """Whether a result is one that compiled code has: 64 bits, of the row's kind."""
    out = p.type_rule(*map(kind, operands))
    if isinstance(found, tuple):
        return True
    if isinstance(found, int) and not isinstance(found, bool):
        return out.is_integer and -(2**63) <= found < 2**63
    return isinstance(found, complex) <= out.is_complex and (
        not isinstance(found, float) or not out.is_integer
    )


def check(p: Primitive, every: list[tuple[Any, ...]], far: float) -> None:
    """Each of several calls, with what it raises; the kinds are the same in all."""
    made = program([(p, every[0])])
    wrong = []
    for operands in every:
        wanted = outcome(p.function, *operands)
        found = outcome(lambda *x: made.run(x, {}), *operands)
        if p.function in (max, min) and not isinstance(found, tuple):
            wanted = type(found)(wanted)  # of an int and a float it is a float
        if not fits(wanted, p, operands):
            good = isinstance(found, tuple) and issubclass(
                found[0], OverflowError | RuntimeError
            )
        elif isinstance(wanted, tuple) and isinstance(found, tuple):
            good = found == wanted
        elif isinstance(found, tuple):
            exact = p.function is not operator.truediv  # of ints beyond 2**53
            good = not exact and any(abs(x) > 2**53 for x in operands)
        else:
            good = is_as(found, wanted, far)
        if not good:
            wrong.append(f"{p.spelling}{operands} is {found!r}, not {wanted!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("function", [*OPERATORS, *ON_INTS], ids=str)
def test_operators_at_the_edges(function: Any) -> None:
    p = TABLE.find(function, 2)
    assert p is not None
    far = 2.0 if function is operator.pow else 0.0
    if function not in ON_INTS:
        check(p, [(a, b) for a in FLOATS for b in FLOATS], far)
        check(p, [(a, b) for a in INTS for b in FLOATS], far)
        check(p, [(a, b) for a in FLOATS for b in INTS], far)
    small = (
        [i for i in INTS if abs(i) < 2**31]
        if function in (operator.pow, operator.lshift)
        else INTS
    )
    check(p, [(a, b) for a in INTS for b in small], far)


@pytest.mark.parametrize("function", UNARY, ids=str)
def test_functions_of_one_at_the_edges(function: Any) -> None:
    p = TABLE.find(function, 1)
    assert p is not None
    if function not in (math.isqrt, math.factorial):
        check(p, [(x,) for x in FLOATS], 0.0)
    check(p, [(x,) for x in INTS if function is not math.factorial or x < 70], 0.0)


MATH = [
    p
    for p, arity in ROWS
    if p.spelling.startswith("math.")
    and arity in (1, 2)
    and p.kind == "elementwise"
    and p.function is not math.ldexp
]


@pytest.mark.parametrize("p", MATH, ids=lambda p: f"{p.spelling} {len(p.samples[0])}")
def test_math_at_the_edges(p: Primitive) -> None:
    arity = len(p.samples[0])
    points = FLOATS if arity == 1 else FLOATS[::1]
    every = (
        [(x,) for x in points]
        if arity == 1
        else [(a, b) for a in points for b in points]
    )
    check(p, every, FAR.get(p.name, 1.0))


@pytest.mark.parametrize(
    "function",
    [
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.pow,
        operator.eq,
        operator.ne,
    ],
    ids=str,
)
def test_complex_operators(function: Any) -> None:
    p = TABLE.find(function, 2)
    assert p is not None
    far = 64.0 if function is operator.pow else 4.0
    points = COMPLEX[:4] if function is operator.pow else COMPLEX
    for convert in (complex, np.complex128):
        every = [(convert(a), convert(b)) for a in points for b in points]
        if function is operator.pow and convert is np.complex128:
            every = [(a, b) for a, b in every if a != 0]
        check(p, every, far)


DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
).split()


def numbers_of(dtype: str) -> list[Any]:
    t = np.dtype(dtype)
    if t.kind == "b":
        return [np.bool(False), np.bool(True)]
    if t.kind == "f":
        with np.errstate(all="ignore"):
            return [t.type(x) for x in FLOATS]
    info = np.iinfo(t)
    return [t.type(x) for x in (0, 1, 2, 7, info.max, info.min, info.max - 3)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_of_every_dtype(dtype: str) -> None:
    points = numbers_of(dtype)
    calls = []
    wanted = []
    for function in [*OPERATORS, *ON_INTS]:
        p = TABLE.find(function, 2)
        assert p is not None
        for a in points:
            for b in points:
                try:
                    p.type_rule(kind(a), kind(b))
                except (TypeError, OverflowError):
                    continue
                found = outcome(p.function, a, b)
                if isinstance(found, tuple):
                    continue
                calls.append((p, (a, b)))
                wanted.append(found)
    by_row: dict[Any, Any] = {}
    wrong = []
    rows = list(dict.fromkeys(p for p, _ in calls))
    made = program(
        [(p, (points[0], points[0])) for p in rows if p.function is not operator.pow]
    )
    for a in points:
        for b in points:
            got = run(
                made,
                [x for p in rows if p.function is not operator.pow for x in (a, b)],
            )
            by_row[a.tobytes(), b.tobytes()] = dict(
                zip(
                    [p for p in rows if p.function is not operator.pow],
                    got,
                    strict=True,
                )
            )
    for (p, (a, b)), w in zip(calls, wanted, strict=True):
        if p.function is operator.pow:
            continue
        found = by_row[a.tobytes(), b.tobytes()][p]
        if not is_as(found, w):
            wrong.append(f"{p.spelling}{a, b} is {found!r}, not {w!r}")
    assert not wrong, "\n".join(wrong)


def test_names_of_the_modules_are_used() -> None:
    assert cmath and math


CORNERS = [complex(a, b) for a in (0, 1, np.nan, np.inf) for b in (0, -1, np.nan)]


@pytest.mark.parametrize("f", [np.maximum, np.minimum, np.fmax, np.fmin])
@pytest.mark.parametrize("kind", [np.complex128, np.complex64])
def test_the_larger_of_complex_numbers(f: Any, kind: Any) -> None:
    """By real and imaginary parts, NaN as NumPy has it."""
    a = np.repeat(CORNERS, len(CORNERS)).astype(kind)
    b = np.tile(CORNERS, len(CORNERS)).astype(kind)
    with np.errstate(all="ignore"):
        found, wanted = gw.jit(lambda x, y: f(x, y))(a, b), f(a, b)
    np.testing.assert_array_equal(*(z.view(z.real.dtype) for z in (found, wanted)))
