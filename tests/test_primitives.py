"""Every row of the table: complete, typed, right; by itself and through the library.

A new row is tested by being in the table: nothing here names it.
"""

import ast
import cmath
import inspect
import itertools
import linecache
import math
import textwrap
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import special as scipy_special

import gradwright as gw
from gradwright.transform.errors import NotDifferentiable
from gradwright.transform.primitives import load_rows, record
from gradwright.transform.primitives.record import CLIP, TABLE, Primitive, is_written
from gradwright.transform.primitives.special import digamma
from gradwright.transform.types import array, of_number, promote

load_rows()

# What has no row, and why.
SEQUENCES = "of a whole sequence; its result is not that of a plain loop"
LEFT_OUT = {
    math.frexp: "two results, one of them an integer",
    math.fsum: SEQUENCES,
    math.prod: SEQUENCES,
    math.dist: SEQUENCES,
    getattr(math, "sumprod", None): SEQUENCES,
    np.isnat: "of dates",
}

Row = tuple[Primitive, int | None]


def row_id(value: Any) -> str:
    """A readable name of a row, as `math.log of 2`."""
    if isinstance(value, tuple) and isinstance(value[0], Primitive):
        p, arity = value
        plain = f"operator.{getattr(p.function, '__name__', '')}"
        return f"{plain if p.is_operator else p.spelling} of {arity}"
    return repr(value)


# Rows with a signature have a file of their own.
ROWS: list[Row] = [
    (p, arity) for (_, arity), p in TABLE.rows.items() if p.signature is None
]
SMOOTH = [r for r in ROWS if r[0].kind == "elementwise"]
ELEMENTWISE = [r for r in ROWS if r[0].kind == "elementwise"]
LINEAR = [r for r in ROWS if r[0].kind == "linear"]
CONSTANT = [r for r in ROWS if r[0].kind == "constant"]
WITH_KINKS = [r for r in ELEMENTWISE if r[0].kinks]
COMPLEX_TOO = [r for r in SMOOTH if r[0].complex_too]


def over_rows(rows: list[Row]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", rows, ids=row_id)


def is_python(p: Primitive) -> bool:
    """Whether a callable gives Python's numbers for Python's numbers."""
    return not p.spelling.startswith("np.")


def is_active(value: Any) -> bool:
    """Whether an operand can be differentiated."""
    return isinstance(value, float | complex | np.inexact) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "fc"
    )


def is_complex(value: Any) -> bool:
    return bool(np.iscomplexobj(value))


# ---- a rule as the engine reads it -------------------------------------------------


class Twins:
    """NumPy, but math and cmath for Python's own numbers, as in derivative code."""

    def __getattr__(self, name: str) -> Any:
        of_numpy = getattr(np, name)
        if not TABLE.knows(of_numpy):
            return of_numpy

        def call(*operands: Any) -> Any:
            p = TABLE.find(of_numpy, len(operands))
            if p and all(type(x) in (bool, int, float, complex) for x in operands):
                module = "cmath" if any(map(is_complex, operands)) else "math"
                return TABLE.twin(p, module).function(*operands)
            return of_numpy(*operands)

        return call


def as_read(rule: Any) -> Callable[..., Any]:
    """The rule with NumPy's functions exchanged for Python's own where they fit."""
    return types.FunctionType(
        rule.__code__, {**rule.__globals__, "np": Twins()}, argdefs=rule.__defaults__
    )


def takes_result(p: Primitive) -> bool:
    return "y" in inspect.signature(p.rule or (lambda: None)).parameters


def partials(p: Primitive, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The rule's partial derivatives, one for each operand."""
    assert p.rule is not None
    y = (p.function(*operands),) if takes_result(p) else ()
    result = as_read(p.rule)(*operands, *y)
    return result if isinstance(result, tuple) else (result,)


def tree_of(rule: Any) -> ast.FunctionDef:
    node = ast.parse(textwrap.dedent(inspect.getsource(rule))).body[0]
    assert isinstance(node, ast.FunctionDef)
    node.decorator_list = []
    return node


def compiled(node: ast.FunctionDef, scope: dict[str, Any]) -> Callable[..., Any]:
    module = ast.fix_missing_locations(ast.Module([node], []))
    scope = dict(scope)
    exec(compile(module, f"<{node.name}>", "exec"), scope)
    return scope[node.name]  # type: ignore[no-any-return]


def of_arrays(rule: Any) -> Callable[..., Any]:
    """The rule with its conditional expressions as choices by element."""

    class Chosen(ast.NodeTransformer):
        def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
            self.generic_visit(node)
            where = ast.Attribute(ast.Name("np", ast.Load()), "where", ast.Load())
            return ast.Call(where, [node.test, node.body, node.orelse], [])

        def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
            self.generic_visit(node)
            name = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
            both = ast.Attribute(ast.Name("np", ast.Load()), name, ast.Load())
            return ast.Call(both, list(node.values), [])

    return compiled(Chosen().visit(tree_of(rule)), rule.__globals__)


def single(rule: Any, k: int) -> tuple[Callable[..., Any], bool]:
    """The k-th partial alone, without what it does not need; and whether it uses y."""
    node = tree_of(rule)
    result = node.body[-1]
    assert isinstance(result, ast.Return)
    if isinstance(result.value, ast.Tuple):
        result.value = result.value.elts[k]
    wanted = names_in(result)
    kept: list[ast.stmt] = [result]
    for s in reversed(node.body[:-1]):
        if isinstance(s, ast.Assign) and names_in(s.targets[0]) & wanted:
            wanted |= names_in(s)
            kept.insert(0, s)
    node.body = kept
    return compiled(node, {**rule.__globals__, "np": Twins()}), "y" in wanted


def names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


# ---- differences -------------------------------------------------------------------


# Dtypes of few digits, and how far apart two numbers of them may be.
SHORT = {"float16": 1e-2, "float32": 1e-5, "complex64": 1e-5}


def slope(f: Callable[[Any], Any], x: Any, direction: Any = 1.0) -> Any:
    """df/dx along a direction: central differences of sixth order."""
    is_short = np.asarray(f(x)).dtype.name in SHORT
    h = 0.25 if is_short else 1e-3 * max(1.0, abs(x))
    near, middle, far = (
        f(x + k * h * direction) - f(x - k * h * direction) for k in (1, 2, 3)
    )
    return (45 * near - 9 * middle + far) / (60 * h)


def along(p: Primitive, operands: tuple[Any, ...], k: int) -> Callable[[Any], Any]:
    """The callable as a function of its k-th operand."""
    return lambda x: p.function(*operands[:k], x, *operands[k + 1 :])


def assert_close(actual: Any, expected: Any, tolerance: float = 1e-9) -> None:
    dtypes = {np.asarray(v).dtype.name for v in (actual, expected)}
    tolerance = max(tolerance, *(SHORT.get(name, 0.0) for name in dtypes))
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def real_samples(p: Primitive) -> list[tuple[Any, ...]]:
    return [s for s in p.samples if not any(map(is_complex, s))]


def real_kinks(p: Primitive) -> list[tuple[Any, Any]]:
    return [k for k in p.kinks if not any(map(is_complex, k[0]))]


def complex_samples(p: Primitive) -> list[tuple[Any, ...]]:
    """The samples turned off the real axis, for callables that take them there."""

    def turned(x: Any) -> Any:
        if not is_active(x) or is_complex(x):
            return x
        return x * (0.9 + 0.4j)

    samples = [tuple(map(turned, s)) for s in p.samples]
    try:
        p.function(*samples[0])
    except TypeError:
        return []
    return samples


# ---- values and types --------------------------------------------------------------

SCALARS = [
    bool, int, float, complex,
    np.bool, np.int64, np.float32, np.float64, np.complex64, np.complex128,
]  # fmt: skip
DTYPES = [np.bool, np.int64, np.float32, np.float64, np.complex128]


def as_kind(value: Any, kind: Any) -> Any:
    """A sample as another kind of number: one that is not zero stays so."""
    if value is None:
        return None
    if kind in (bool, np.bool):
        return kind(True)
    if kind in (int, np.int64):
        return kind(max(1, round(abs(value))))
    if kind in (float, np.float32, np.float64):
        return kind(value.real)
    return kind(value)


def as_array(value: Any, dtype: Any) -> np.ndarray[Any, Any]:
    return np.array([as_kind(value, dtype)] * 3)


def all_kinds(p: Primitive, arity: int) -> Iterator[list[Any]]:
    """Candidates for each choice of operand kinds: from samples, and small numbers."""
    makers: list[Callable[[Any], Any]] = [
        *(lambda v, c=c: as_kind(v, c) for c in SCALARS),
        *(lambda v, d=d: as_array(v, d) for d in DTYPES),
    ]
    plain = [s for s in p.samples if not any(isinstance(x, np.ndarray) for x in s)]
    bases = [*plain[:2], (1,) * arity, (2,) * arity]
    for chosen in itertools.product(makers, repeat=arity):
        yield [
            tuple(make(x) for make, x in zip(chosen, base, strict=True))
            for base in bases
        ]


def type_of(value: Any) -> Any:
    if value is None:
        return record.Type("None", python=True)
    if isinstance(value, np.ndarray):
        return array(value.dtype, value.shape)
    return of_number(value)


def is_power_by_value(p: Primitive, operands: tuple[Any, ...], result: Any) -> bool:
    """`array ** np.int64(2)`: up to NumPy 2.1 its dtype depends on the exponent."""
    is_mixed = isinstance(result, np.ndarray) and isinstance(operands[-1], np.integer)
    return p.spelling in ("**", "pow") and is_mixed


@over_rows(ROWS)
def test_the_callable_runs_on_its_samples(row: Row) -> None:
    p, arity = row
    for sample in p.samples:
        assert arity is None or len(sample) == arity
        p.function(*sample)


@over_rows([r for r in ROWS if r[1] is not None])
def test_the_type_rule_says_what_comes_out(row: Row) -> None:
    p, arity = row
    assert arity is not None
    seen = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for candidates in all_kinds(p, arity):
            for operands in candidates:
                try:
                    result = p.function(*operands)
                except (TypeError, ValueError, ArithmeticError):
                    continue
                try:
                    inferred = p.type_rule(*map(type_of, operands))
                except NotDifferentiable:
                    break  # refused on purpose
                if is_power_by_value(p, operands, result):
                    break
                seen += 1
                shown = f"{p.spelling} of {operands}: {result!r} is no {inferred}"
                if isinstance(result, np.ndarray):
                    assert inferred.rank == result.ndim, shown
                    assert inferred.dtype == result.dtype.name, shown
                elif p.function in (max, min):  # one of the two, whichever it is
                    assert promote(type_of(result), inferred) == inferred, shown
                else:
                    assert type_of(result) == inferred, shown
                break
    assert seen


# ---- derivatives, by the rule alone ------------------------------------------------


@over_rows(ELEMENTWISE)
@pytest.mark.parametrize("kind", [float, np.float64])
def test_partials_are_what_differences_say(row: Row, kind: Any) -> None:
    p, _ = row
    for sample in real_samples(p):
        operands = sample if kind is float else numpy_scalars(sample)
        with np.errstate(all="raise"):
            found = partials(p, operands)
        assert len(found) == len(operands)
        for k, x in enumerate(operands):
            if is_active(x):
                assert_close(found[k], slope(along(p, operands, k), x))


@over_rows(ELEMENTWISE)
def test_partials_of_arrays_are_those_of_their_elements(row: Row) -> None:
    p, _ = row
    samples = [*real_samples(p), *(point for point, _ in real_kinks(p))]
    if not samples:
        return
    operands = tuple(map(np.array, zip(*samples, strict=True)))
    with np.errstate(all="ignore"):
        try:
            y = p.function(*operands)
        except (TypeError, ValueError):
            return  # a function of numbers only
        found = of_arrays(p.rule)(*operands, *((y,) if takes_result(p) else ()))
    found = found if isinstance(found, tuple) else (found,)
    expected = [partials(p, numpy_scalars(s)) for s in samples]
    for k in range(len(operands)):
        column = [e[k] for e in expected]
        np.testing.assert_allclose(np.broadcast_to(found[k], len(samples)), column)


@over_rows(COMPLEX_TOO)
def test_partials_are_right_for_complex_numbers(row: Row) -> None:
    p, _ = row
    for operands in complex_samples(p):
        for found in (partials(p, operands), partials(p, numpy_scalars(operands))):
            for k, x in enumerate(operands):
                if not is_active(x):
                    continue
                for direction in (1, 1j):
                    expected = slope(along(p, operands, k), x, direction)
                    tangent = found[k] * direction
                    is_real = not is_complex(p.function(*operands))
                    assert_close(tangent.real if is_real else tangent, expected)


def numpy_scalars(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    kinds = {float: np.float64, complex: np.complex128}
    return tuple(kinds.get(type(x), lambda x: x)(x) for x in operands)


def test_every_row_that_says_complex_too_takes_complex_numbers() -> None:
    families = {p.rule for p, _ in COMPLEX_TOO}
    tested = {p.rule for p, _ in COMPLEX_TOO if complex_samples(p)}
    assert families == tested


def takes_complex(p: Primitive) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return bool(complex_samples(p))
        except np.exceptions.ComplexWarning:  # drops what it cannot keep
            return False


def test_every_row_of_complex_numbers_says_so() -> None:
    """But for NumPy's order of complex numbers, of which no derivative is promised."""
    silent = {p.function for p, _ in SMOOTH if takes_complex(p) and not p.complex_too}
    assert silent == {np.maximum, np.minimum, np.fmax, np.fmin, CLIP}


@over_rows(LINEAR)
def test_transposes(row: Row) -> None:
    p, _ = row
    assert p.rule is not None
    for (v,) in p.samples:
        for y_bar in (1.3, 0.4 - 0.7j):
            if not is_complex(p.function(v)):
                y_bar = y_bar.real
            direct = y_bar * p.function(v)
            assert_close((p.rule(y_bar) * v).real, direct.real)


@over_rows(WITH_KINKS)
@pytest.mark.parametrize("kind", [float, np.float64])
def test_kinks_are_as_promised(row: Row, kind: Any) -> None:
    p, _ = row
    for point, promised in p.kinks if takes_complex(p) else real_kinks(p):
        operands = point if kind is float else numpy_scalars(point)
        with np.errstate(all="raise"):
            found = partials(p, operands)
        np.testing.assert_array_equal(found, promised)


# ---- flags -------------------------------------------------------------------------

REALS = (-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, math.inf, -math.inf, math.nan)
INTEGERS = (-2, -1, 0, 1, 2, 3)
UNREALS = (
    0j, 1 + 0j, -1 + 0j, 1j, -1j, 2 + 0j, complex(1, math.inf), complex(math.inf, 1),
    complex(math.inf, math.inf), complex(-math.inf, -math.inf),
)  # fmt: skip
RAISED = (ValueError, ZeroDivisionError)


def raising_points(p: Primitive, arity: int) -> Iterator[tuple[Any, ...]]:
    """Where the callable raises by the values of its operands."""
    for pool in (REALS, INTEGERS, UNREALS):
        for operands in itertools.product(pool, repeat=arity):
            try:
                p.function(*operands)
            except RAISED:
                yield operands
            except (TypeError, OverflowError):
                continue


PYTHONS = [r for r in ROWS if is_python(r[0]) and r[1] is not None]


@over_rows(PYTHONS)
def test_raises_is_said_when_and_only_when_it_can(row: Row) -> None:
    p, arity = row
    assert arity is not None
    can = next(raising_points(p, arity), None) is not None
    if p.spelling.startswith("cmath."):  # where math's raises, it may be said to
        can = can or any(q.raises for q in TABLE.families.get(p.rule, ()))
    assert p.raises == can


def test_numpys_functions_do_not_raise() -> None:
    assert not any(p.raises for p, _ in ROWS if not is_python(p))


@over_rows([r for r in PYTHONS if r[0].raises and r[0].covered and r[0].rule])
def test_partials_raise_where_a_covered_callable_does(row: Row) -> None:
    p, arity = row
    assert arity is not None
    for operands in raising_points(p, arity):
        for k, x in enumerate(operands):
            partial, uses_result = single(p.rule, k)
            if uses_result or not is_active(x):
                continue  # the result itself is computed, and raises
            with pytest.raises((*RAISED, OverflowError)):
                partial(*operands, *(() if not takes_result(p) else (math.nan,)))


@over_rows([r for r in PYTHONS if r[0].rule and r[0].kind == "elementwise"])
def test_pythons_numbers_stay_pythons(row: Row) -> None:
    p, _ = row
    for sample in [*real_samples(p), *(point for point, _ in real_kinks(p))]:
        for d in partials(p, sample):
            assert type(d) in (int, float, complex)


@over_rows(CONSTANT)
def test_constant_rows_say_why(row: Row) -> None:
    p, _ = row
    assert p.reason
    assert p.rule is None


# ---- the form of a rule ------------------------------------------------------------

RULES = {p.rule.__name__: p for p, _ in ROWS if p.rule}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_can_be_quoted(name: str) -> None:
    """Assignments and a return, of operators and of callables that have rows."""
    rule = RULES[name].rule
    assert rule is not None
    node = tree_of(rule)
    *body, last = node.body[1:]  # the first is the docstring
    assert all(isinstance(s, ast.Assign) for s in body)
    assert isinstance(last, ast.Return)
    known = {a.arg for a in node.args.args}
    known |= {
        n for s in body if isinstance(s, ast.Assign) for n in names_in(s.targets[0])
    }
    for n in ast.walk(node):
        if isinstance(n, ast.Call):
            f = eval(ast.unparse(n.func), rule.__globals__)
            own = getattr(f, "__module__", None) == rule.__module__
            is_row = f is is_written or TABLE.find(f, len(n.args))
            assert own or is_row, ast.unparse(n)
        elif isinstance(n, ast.IfExp | ast.BoolOp):
            for test in n.values if isinstance(n, ast.BoolOp) else [n.test]:
                asks = ast.unparse(test).startswith(("np.iscomplexobj(", "is_written("))
                assert asks or isinstance(test, ast.Compare | ast.Name | ast.BoolOp)
    called = {ast.unparse(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}
    assert names_in(node) - known <= {"np", "math", "cmath", *called}


# ---- the table itself --------------------------------------------------------------


def nothing(x: float) -> float:
    """The number 0."""
    return 0.0


def undocumented(x):
    return 0.0


OF_X: dict[str, Any] = {"signature": "x"}
GENERAL: dict[str, Any] = {**OF_X, "tangent": nothing}


@pytest.mark.parametrize(
    ("define", "column"),
    [
        (lambda: record.elementwise(len, samples=())(nothing), "samples"),
        (lambda: record.elementwise(len, samples=(1.0,))(undocumented), "docstring"),
        (lambda: record.linear(len, samples=())(nothing), "samples"),
        (lambda: record.reduction(len, samples=())(nothing), "samples"),
        (lambda: record.multilinear(len, samples=(), **OF_X)(nothing), "samples"),
        (lambda: record.multilinear(len, samples=(1.0,), **OF_X)(undocumented), "doc"),
        (lambda: record.general(len, samples=(), **GENERAL)(nothing), "samples"),
        (lambda: record.general(len, samples=(1.0,), **GENERAL)(undocumented), "doc"),
        (
            lambda: record.general(len, samples=(1.0,), **OF_X, tangent=None)(nothing),
            "tangent",
        ),
        (lambda: record.constant(len, reason="", samples=(1,)), "reason"),
        (lambda: record.constant(len, reason="a length", samples=()), "samples"),
    ],
)
def test_an_incomplete_row_is_refused(define: Any, column: str) -> None:
    with pytest.raises(ValueError, match=f"lacks its (column )?{column}"):
        define()
    assert not TABLE.knows(len)


def test_a_second_row_is_refused() -> None:
    with pytest.raises(ValueError, match=r"two rows for np\.sin"):
        record.elementwise(np.sin, samples=(1.0,))(nothing)


def public_callables(module: Any) -> list[Any]:
    found = (getattr(module, n) for n in dir(module) if not n.startswith("_"))
    return [f for f in found if callable(f)]


def test_every_function_of_math_is_in_the_table_or_left_out() -> None:
    functions = public_callables(math) + public_callables(cmath)
    missing = [f for f in functions if not TABLE.knows(f) and f not in LEFT_OUT]
    assert not missing


def test_every_ufunc_is_in_the_table_or_left_out() -> None:
    missing = [
        f
        for f in public_callables(np)
        if isinstance(f, np.ufunc)
        and (f.nargs <= 3 and f.nout == 1)
        and not TABLE.knows(f)
        and f not in LEFT_OUT
    ]
    assert not missing


def test_nothing_is_left_out_that_has_a_row() -> None:
    assert not [f for f in LEFT_OUT if TABLE.knows(f)]


def test_operators_and_ufuncs_share_their_rows() -> None:
    for function, ufunc in record.UFUNCS.items():
        arity = ufunc.nargs - 1
        mine, other = TABLE.find(function, arity), TABLE.find(ufunc, arity)
        assert mine and other
        assert mine.kind == other.kind


# ---- programs of the library -------------------------------------------------------


@pytest.mark.parametrize("a", [7.3, -7.3, 0.6, -0.0, 7, -7])
@pytest.mark.parametrize("b", [2.1, -2.1, 0.2, 3, -3])
def test_divmod(a: Any, b: Any) -> None:
    for f in (divmod, np.divmod):
        assert repr(TABLE.compositions[f](a, b)) == repr(f(a, b))


def test_modf() -> None:
    for x in (3.7, -3.7, 2.0, -2.0, 0.0, -0.0, -0.5, math.inf, -math.inf, math.nan, 3):
        assert repr(TABLE.compositions[math.modf](x)) == repr(math.modf(x))


def test_polar() -> None:
    for z in (3 + 4j, -1j, -2.5 + 0j, 0j):
        assert TABLE.compositions[cmath.polar](z) == cmath.polar(z)


def test_loops_over_values() -> None:
    compositions = TABLE.compositions
    values = [1, 2, 3.5, np.float64(0.25)]
    assert compositions[sum](values) == sum(values)
    assert compositions[sum](values, 10) == sum(values, 10)
    assert compositions[sum]([]) == 0
    for truths in ([], [0.0], [0.0, 2], [1, 2]):
        assert compositions[any](truths) is any(truths)
        assert compositions[all](truths) is all(truths)


def test_digamma_is_scipys() -> None:
    xs = [
        *np.linspace(0.01, 20, 700),
        *np.linspace(-9.99, -0.01, 700),
        1e-8,
        -1e-8,
        1e9,
    ]
    for x in map(float, xs):
        expected = float(scipy_special.digamma(x))
        assert digamma(x) == pytest.approx(expected, rel=1e-13, abs=1e-13)
    assert digamma(math.inf) == math.inf
    assert math.isnan(digamma(-math.inf))
    assert math.isnan(digamma(math.nan))
    for pole in (0.0, -1.0, -2.0, -3, -1e17):
        with pytest.raises(ZeroDivisionError):
            digamma(pole)


@pytest.mark.parametrize(
    "x", [1e-9, 1e-4, 0.01, 0.049, 0.0499999, 0.05, 0.1, 0.5, -0.03]
)
def test_sinc_keeps_its_digits(x: float) -> None:
    p = TABLE.find(np.sinc, 1)
    assert p is not None
    terms = [
        (-1) ** k
        * 2
        * k
        * math.pi ** (2 * k)
        * x ** (2 * k - 1)
        / math.factorial(2 * k + 1)
        for k in range(1, 25)
    ]
    assert partials(p, (x,))[0] == pytest.approx(math.fsum(terms), rel=1e-12)


# ---- through the library -----------------------------------------------------------

COUNTER = itertools.count()


def program(p: Primitive, sample: tuple[Any, ...], form: str = "{}") -> Any:
    """A function of the active operands, from source; the others stand as literals."""
    names = [n for n, x in zip("abc", sample, strict=False) if is_active(x)]
    written = [
        n if is_active(x) else repr(x) for n, x in zip("abc", sample, strict=False)
    ]
    if not p.is_operator:
        called = f"{p.spelling}({', '.join(written)})"
    elif len(written) == 1:
        called = f"({p.spelling} {written[0]})"
    else:
        called = f" {p.spelling} ".join(written)
    text = (
        "import cmath\nimport math\n\nimport numpy as np\n\n\n"
        f"def f({', '.join(names)}):\n    return {form.format(called)}\n"
    )
    filename = f"<row {next(COUNTER)}: {p.spelling}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    scope: dict[str, Any] = {"__name__": "rows"}
    exec(compile(text, filename, "exec"), scope)
    return scope["f"]


def active(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(filter(is_active, operands))


def like(y: Any, value: complex) -> Any:
    return np.full_like(y, value) if isinstance(y, np.ndarray) else type(y)(value)


def tangents_of(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        type(x)((0.7 - 0.3j) * (k + 1)) if is_complex(x) else type(x)(0.7 * (k + 1))
        for k, x in enumerate(operands)
    )


def samples_through(p: Primitive) -> list[tuple[Any, ...]]:
    """Few samples of each kind of scalar that the row is for."""
    real = real_samples(p)[:2]
    turned = complex_samples(p)[:1] if p.complex_too else []
    return [*real, numpy_scalars(p.samples[0]), *turned, *map(numpy_scalars, turned)]


@over_rows(ELEMENTWISE)
def test_jvp_and_vjp_follow_the_rule(row: Row) -> None:
    p, _ = row
    for operands in samples_through(p):
        f, inputs = program(p, operands), active(operands)
        expected_y = f(*inputs)
        tangents = tangents_of(inputs)
        y, y_dot = gw.jvp(f, inputs, tangents)
        assert type(y) is type(expected_y)
        assert repr(y) == repr(expected_y)
        used = [
            d
            for d, x in zip(partials(p, operands), operands, strict=True)
            if is_active(x)
        ]
        expected = sum(d * v for d, v in zip(used, tangents, strict=True))
        assert_close(y_dot, expected if is_complex(y) else expected.real, 1e-12)
        y, pull = gw.vjp(f, *inputs)
        assert repr(y) == repr(expected_y)
        y_bar = like(y, 1.3 - 0.4j if is_complex(y) else 1.3)
        bars = pull(y_bar)
        assert [type(b) for b in bars] == [type(x) for x in inputs]
        paired = sum(b * v for b, v in zip(bars, tangents, strict=True))
        assert_close(paired.real, (y_bar * y_dot).real, 1e-12)


@over_rows([r for r in ELEMENTWISE if real_samples(r[0])])
def test_gradients_through_arrays(row: Row) -> None:
    p, _ = row
    samples = real_samples(p)
    if any(not is_active(x) for s in samples for x in s):
        samples = samples[:1] * 3
    columns = [np.array(c) for c in zip(*samples, strict=True)]
    mixed = [c if is_active(c) else c[0].item() for c in columns]
    try:
        y = p.function(*mixed)
    except (TypeError, ValueError):
        return  # a function of numbers only
    if is_complex(y) or not isinstance(y, np.ndarray):
        return
    f = program(p, tuple(mixed), "np.sum({})")
    inputs = active(tuple(mixed))
    everything = tuple(range(len(inputs)))
    found = gw.grad(f, argnums=everything)(*inputs)
    expected = np.array([partials(p, s) for s in samples], dtype=float).T
    wanted = [e for e, x in zip(expected, mixed, strict=True) if is_active(x)]
    for g, e, x in zip(found, wanted, inputs, strict=True):
        assert g.shape == x.shape
        assert g.dtype == x.dtype
        assert_close(g, e, 1e-12)


def firsts() -> list[Row]:
    """One row of each family for Python's numbers, and one for NumPy's."""
    seen: dict[Any, Row] = {}
    for p, arity in ELEMENTWISE:
        if real_samples(p) and not is_complex(p.function(*real_samples(p)[0])):
            seen.setdefault((p.rule, is_python(p)), (p, arity))
    return list(seen.values())


@over_rows(firsts())
def test_second_order(row: Row) -> None:
    p, _ = row
    sample = real_samples(p)[1]
    f, inputs = program(p, sample), active(sample)
    if np.asarray(f(*inputs)).dtype != np.float64:
        return
    for i, j in itertools.product(range(len(inputs)), repeat=2):
        first = gw.grad(f, argnums=i)
        found = gw.grad(first, argnums=j)(*inputs)

        def moved(v: float, i: Any = first, j: int = j) -> Any:
            return i(*inputs[:j], v, *inputs[j + 1 :])

        assert_close(found, slope(moved, inputs[j]), 1e-7)


@over_rows([r for r in WITH_KINKS if real_kinks(r[0])])
@pytest.mark.parametrize("kind", [float, np.float64])
def test_kinks_through_the_library(row: Row, kind: Any) -> None:
    p, _ = row
    for point, promised in real_kinks(p):
        operands = tuple(map(kind, point))
        f = program(p, operands)
        if is_complex(f(*operands)):
            continue  # has no gradient
        everything = tuple(range(len(operands)))
        with np.errstate(all="raise"):
            found = gw.grad(f, argnums=everything)(*operands)
        np.testing.assert_array_equal(found, promised)


@over_rows(LINEAR)
def test_linear_rows_through_the_library(row: Row) -> None:
    p, _ = row
    f = program(p, (1j,))
    for (z,) in p.samples:
        for x in (z, np.complex128(z), z.real, np.float64(z.real), np.array([z, -z])):
            v = x * (0.7 + 0.2j if is_complex(x) else 0.7)
            y, y_dot = gw.jvp(f, (x,), (v,))
            assert repr(y) == repr(f(x))
            assert_close(y_dot, f(v), 1e-12)
            y_bar = like(y, 1.3 - 0.4j if is_complex(y) else 1.3)
            (x_bar,) = gw.vjp(f, x)[1](y_bar)
            assert is_complex(x_bar) == is_complex(x)
            assert_close(np.sum(x_bar * v).real, np.sum(y_bar * y_dot).real, 1e-12)


def test_second_derivative_of_sinc_at_zero() -> None:
    p = TABLE.find(np.sinc, 1)
    assert p is not None
    f = program(p, (0.5,))
    assert gw.grad(gw.grad(f))(0.0) == pytest.approx(-(math.pi**2) / 3, rel=1e-14)


@pytest.mark.parametrize("function", [math.pow, np.power])
def test_powers_are_right_to_second_order_at_exponent_zero(function: Any) -> None:
    p = TABLE.find(function, 2)
    assert p is not None
    f = program(p, (1.6, 0.5))
    for i, j in ((0, 1), (1, 0)):
        found = gw.grad(gw.grad(f, argnums=i), argnums=j)(1.6, 0.0)
        assert found == pytest.approx(1 / 1.6, rel=1e-12)


@over_rows([r for r in CONSTANT if r[1] == 1])
def test_constant_rows_have_zero_derivatives(row: Row) -> None:
    p, _ = row
    (x,) = p.samples[0]
    if not is_active(x) or is_complex(x):
        return
    f = program(p, (x,), "2.0 * a + {}" if np.ndim(x) == 0 else "2.0 * np.sum(a) + {}")
    y, y_dot = gw.jvp(f, (x,), (np.ones_like(x) if np.ndim(x) else type(x)(1),))
    assert repr(y) == repr(f(x))
    assert y_dot == 2.0 * np.size(x)
