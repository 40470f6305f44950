"""Every row that takes arrays, against NumPy: values, types, dims, derivatives.

A new row is tested by being in the table: nothing here names it.  A sample's arrays and
numbers become parameters of a small program, what else it has stands as literals.
"""

import ast
import inspect
import itertools
import linecache
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.arguments import pattern_of
from gradwright.transform import source as sources
from gradwright.transform.core import type_of
from gradwright.transform.indices import Dim, Linear
from gradwright.transform.primitives import load_rows
from gradwright.transform.primitives.record import (
    TABLE,
    Primitive,
    Sample,
    spelling_of,
)
from gradwright.transform.specialise import specialise
from gradwright.transform.types import FLOAT, of_number

load_rows()


def composed(function: Any, samples: tuple[Any, ...]) -> Primitive:
    """A composition as if it were a row."""
    signature = inspect.signature(TABLE.compositions[function])
    name = spelling_of(function)
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        name = f"np.{function.__self__.__name__}.{function.__name__}"
    return Primitive(
        name,
        function,
        name,
        "composition",
        type_rule=lambda *_: FLOAT,
        samples=samples,
        signature=signature,
        complex_too=True,
    )


ROWS: list[Primitive] = [
    *(p for p in TABLE.rows.values() if p.signature is not None),
    *(composed(f, samples) for f, samples in TABLE.composed.items() if samples),
]
SMOOTH = [p for p in ROWS if p.kind != "constant"]
CONSTANT = [p for p in ROWS if p.kind == "constant"]


def over_rows(rows: list[Primitive]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("p", rows, ids=lambda p: p.spelling)


# ---- programs of one call ----------------------------------------------------------

COUNTER = itertools.count()
VALUE, RESULTS = "{}", "({})"  # the results as they are; what of them is determined


@dataclass
class Program:
    """A function of the operands of a sample, and the operands themselves."""

    p: Primitive
    call: str
    operands: list[Any]

    def function(self, form: str = VALUE) -> Any:
        """The call in a function of its operands, or of a number that it leaves."""
        names = [f"x{k}" for k in range(len(self.operands))] or ["unused"]
        call = self.call
        helpers = HELPERS
        seen = self.p.determined
        if (
            seen is not None
            and form is not VALUE
            and any(map(is_complex, self.operands))
        ):
            call = f"{seen.__name__}({call})"
            helpers = f"{HELPERS}\n\n{inspect.getsource(seen)}"
        text = (
            f"import numpy as np\n\n\n{helpers}\n\n"
            f"def f({', '.join(names)}):\n    return {form.format(call)}\n"
        )
        filename = f"<array row {next(COUNTER)}: {self.p.spelling}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        scope: dict[str, Any] = {"__name__": "rows", "Any": Any}
        exec(compile(text, filename, "exec"), scope)
        return scope["f"]

    @property
    def inputs(self) -> tuple[Any, ...]:
        return tuple(self.operands) or (1.0,)

    @property
    def active(self) -> tuple[int, ...]:
        return tuple(k for k, x in enumerate(self.operands) if is_inexact(x))

    def of(self, change: Callable[[Any], Any]) -> "Program":
        """The same call of changed operands."""
        return Program(self.p, self.call, [change(x) for x in self.operands])


def is_inexact(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "fc"


def is_complex(x: Any) -> bool:
    return bool(np.iscomplexobj(x))


def program_of(p: Primitive, sample: Any) -> Program:
    """A sample as a call with names for its operands."""
    assert p.signature is not None
    given = sample if isinstance(sample, Sample) else Sample(tuple(sample), {})
    operands: list[Any] = []

    def named(x: Any) -> str:
        operands.append(x)
        return f"x{len(operands) - 1}"

    def written(name: str, a: Any) -> str:
        if name in p.sequences or is_of_arrays(a):
            left, right = "()" if isinstance(a, tuple) else "[]"
            comma = "," * (len(a) == 1 and isinstance(a, tuple))
            return left + ", ".join(map(named, a)) + comma + right
        if isinstance(a, np.ndarray) or (name in p.operands and is_inexact(a)):
            return named(a)
        return (
            f"np.{a.__name__}" if isinstance(a, type) and a not in PLAIN else shown(a)
        )

    parameters = list(p.signature.parameters.values())
    texts = []
    for k, a in enumerate(given.args):
        q = parameters[min(k, len(parameters) - 1)]
        starred = next(
            (s for s in parameters[: k + 1] if s.kind is s.VAR_POSITIONAL), q
        )
        texts.append(written(starred.name, a))
    texts += [f"{name}={written(name, a)}" for name, a in given.keywords.items()]
    if p.is_operator:
        return Program(p, f"{texts[0]} {p.spelling} {texts[1]}", operands)
    return Program(p, f"{p.spelling}({', '.join(texts)})", operands)


def is_of_arrays(a: Any) -> bool:
    return isinstance(a, tuple | list) and any(isinstance(i, np.ndarray) for i in a)


PLAIN = (int, float, bool, complex)


def shown(a: Any) -> str:
    if isinstance(a, float) and not np.isfinite(a):
        return f"float('{a}')".replace("float('inf')", "np.inf").replace(
            "float('-inf')", "-np.inf"
        )
    return a.__name__ if isinstance(a, type) else repr(a)


def programs(p: Primitive) -> list[Program]:
    return [program_of(p, s) for s in p.samples]


def turned(x: Any) -> Any:
    """A real operand off the real axis, each element by its own angle."""
    if not is_inexact(x) or is_complex(x):
        return x
    angles = 0.4 + 0.3 * np.arange(np.size(x)).reshape(np.shape(x))
    found = x * np.exp(1j * angles)
    return complex(found) if isinstance(x, float) else found


def all_kinds(p: Primitive) -> Iterator[Program]:
    """The samples, and where the callable takes them complex numbers."""
    for program in programs(p):
        yield program
        other = program.of(turned)
        if p.complex_too and program.active and runs(other):
            yield other


def runs(program: Program) -> bool:
    try:
        plainly(program)
    except (TypeError, ValueError, IndexError, np.linalg.LinAlgError):
        return False
    return True


def plainly(program: Program) -> Any:
    """What NumPy makes of the call, in silence: of the mean of nothing, say."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return program.function()(*program.inputs)


SCALAR = "total({})"


def total(y: Any) -> Any:
    """One real number in which every result is, with its imaginary part too."""
    return sum([part(v) for v in y]) if isinstance(y, tuple | list) else part(y)


def part(v: Any) -> Any:
    bent = np.sum(np.sin(0.7 * v + 0.3))
    return np.real((1.0 - 0.6j) * bent) if np.iscomplexobj(v) else bent


HELPERS = "\n\n".join(map(inspect.getsource, (total, part)))

# ---- values ------------------------------------------------------------------------


def flat(y: Any) -> list[Any]:
    """The results of a call, one by one."""
    return [*y] if isinstance(y, tuple | list) else [y]


def assert_same(found: Any, expected: Any) -> None:
    """The same bits, dtypes and kinds of number."""
    assert type(found) is type(expected)
    for a, b in zip(flat(found), flat(expected), strict=True):
        assert type(a) is type(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def assert_close(found: Any, expected: Any, tolerance: float = 1e-9) -> None:
    kinds = {np.asarray(v).dtype.name for v in (found, expected)}
    if kinds & {"float32", "complex64"}:
        tolerance = max(tolerance, 2e-4)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@over_rows(ROWS)
def test_the_value_is_numpys_to_the_bit(p: Primitive) -> None:
    for program in all_kinds(p):
        f = program.function()
        assert_same(value_of(program, f), f(*program.inputs))


def value_of(program: Program, f: Any) -> Any:
    """What the rewritten function gives beside its tangent."""
    directions = tuple(directions_of(program))
    value, _ = gw.jvp(f, program.inputs, directions)
    return value


def directions_of(program: Program, seed: float = 0.0) -> Iterator[Any]:
    """Tangents of the operands, none of them round."""
    for k, x in enumerate(program.inputs):
        v = np.cos(np.arange(np.size(x)) + k + 0.5 + seed).reshape(np.shape(x))
        if is_complex(x):
            v = v + 1j * np.sin(3.0 * v)
        if not is_inexact(x):
            yield np.zeros_like(x)
        elif isinstance(x, np.ndarray):
            yield projected(program.p, v.astype(x.dtype))
        else:
            yield type(x)(v)


def projected(p: Primitive, v: Any) -> Any:
    """A tangent as the row takes it, symmetric, say."""
    return v if p.onto is None else p.onto(v)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "columns first": np.asfortranarray,
    "every other": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": lambda x: x[..., ::-1].copy()[..., ::-1],
    "read only": lambda x: np.broadcast_to(x, x.shape),
}


@over_rows(SMOOTH)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_operands_of_every_layout(p: Primitive, layout: str) -> None:
    program = programs(p)[0]
    if not any(np.ndim(x) for x in program.operands):
        return
    change = LAYOUTS[layout]
    other = program.of(lambda x: change(x) if np.ndim(x) else x)
    f = other.function()
    assert_same(value_of(other, f), f(*other.inputs))
    assert_close_all(gradients(other), gradients(program))


def gradients(program: Program) -> Any:
    f = program.function(SCALAR)
    return gw.grad(f, argnums=program.active)(*program.inputs)


def assert_close_all(found: Any, expected: Any) -> None:
    for a, b in zip(found, expected, strict=True):
        assert_close(a, b)


# ---- types and dims ----------------------------------------------------------------


def inferred(program: Program) -> tuple[list[Any], list[Any]]:
    """The parameters of the specialised program, and its results."""
    f = program.function()
    names = list(inspect.signature(f).parameters)
    kinds = {n: pattern_of(x, n) for n, x in zip(names, program.inputs, strict=True)}
    found = specialise(sources.read(f), kinds).function
    return found.params, found.results


def lengths(t: Any, params: list[Any], inputs: tuple[Any, ...]) -> Any:
    """Dims as numbers for these inputs; None where one is left open."""
    places = {q: x for q, x in zip(params, inputs, strict=False)}

    def length(form: Linear) -> int | None:
        total = form.offset
        for s, c in form.terms.items():
            if not (isinstance(s, Dim) and s.array in places):
                return None
            total += c * places[s.array].shape[s.axis]
        return total

    return tuple(map(length, t.dims or ()))


def resized(program: Program) -> Iterator[Program]:
    """The same call with each length of its arrays changed, wherever it stands."""
    found = {n for x in program.operands for n in np.shape(x)}
    for n in sorted(found - {1}):
        for m in (0, 1, n + 1, 11):
            yield program.of(lambda x, n=n, m=m: with_length(x, n, m))


def with_length(x: Any, n: int, m: int) -> Any:
    """Every axis of length n as long as m: elements repeated or left out."""
    for axis, length in enumerate(np.shape(x)):
        if length == n:
            x = np.take(x, np.arange(m) % max(n, 1), axis) if n or not m else None
            if x is None:
                return None
    return x


@over_rows([p for p in ROWS if not p.shares_memory and p.kind != "composition"])
def test_a_result_shares_memory_with_no_operand(p: Primitive) -> None:
    """Else it is a `view`, and a store into it is one into the operand."""
    for program in all_kinds(p):
        operands = [np.asarray(x) for x in program.operands if np.ndim(x)]
        for result in flat(program.function()(*program.inputs)):
            assert not any(np.may_share_memory(result, x) for x in operands)


@over_rows(ROWS)
def test_the_type_and_dims_are_those_that_come_out(p: Primitive) -> None:
    for original in all_kinds(p):
        made: dict[Any, Any] = {}
        for program in (original, *resized(original)):
            if any(x is None for x in program.operands) or not runs(program):
                continue
            if p.ragged and not any(np.size(x) for x in program.operands):
                continue  # even the dtype depends on whether there is an element
            ones = tuple(
                np.shape(x) and [n == 1 for n in x.shape] for x in program.inputs
            )
            if str(ones) not in made:
                made[str(ones)] = inferred(program)
            params, results = made[str(ones)]
            actual = flat(plainly(program))
            for o, y in zip(results, actual, strict=True):
                t = type_of(o)
                assert isinstance(y, np.ndarray) == t.is_array
                if not t.is_array:
                    assert of_number(y) == t
                    continue
                assert t.rank == y.ndim
                assert t.dtype == y.dtype.name
                for n, m in zip(
                    y.shape, lengths(t, params, program.inputs), strict=True
                ):
                    assert m is None or max(m, 0) == n  # a slice of nothing is empty


# ---- derivatives -------------------------------------------------------------------


def slope(f: Callable[[Any], Any], inputs: Any, directions: Any) -> Any:
    """The change of what f gives along directions: differences of sixth order."""
    h = 3e-4

    def at(k: int) -> list[Any]:
        moved = [
            x + k * h * v if is_inexact(x) else x
            for x, v in zip(inputs, directions, strict=True)
        ]
        return flat(f(*moved))

    near, middle, far = (
        [np.subtract(a, b) if is_inexact(a) else 0.0 for a, b in zip(at(k), at(-k))]
        for k in (1, 2, 3)
    )
    return [
        (45 * a - 9 * b + c) / (60 * h)
        for a, b, c in zip(near, middle, far, strict=True)
    ]


@over_rows(SMOOTH)
def test_the_tangent_is_what_differences_say(p: Primitive) -> None:
    for program in all_kinds(p):
        if not program.active:
            continue
        f = program.function(RESULTS)
        for seed in (0.0, 1.1):
            along = tuple(directions_of(program, seed))
            _, found = gw.jvp(f, program.inputs, along)
            expected = slope(f, program.inputs, along)
            for a, b in zip(flat(found), expected, strict=True):
                assert_close(a, b, 1e-8)


@over_rows(SMOOTH)
def test_cotangents_are_the_transpose_of_tangents(p: Primitive) -> None:
    """Along a tangent, sum(x_bar * x_dot) is sum(y_bar * y_dot), of real parts."""
    for program in all_kinds(p):
        if not program.active:
            continue
        f = program.function(RESULTS)
        along = tuple(directions_of(program))
        _, tangents = gw.jvp(f, program.inputs, along)
        y, pull = gw.vjp(f, *program.inputs)
        bars = tuple(map(cotangent_of, itertools.count(), flat(y)))
        found = pull(like(y, bars))
        paired = 0.0
        for x, x_bar, v in zip(program.inputs, found, along, strict=True):
            if is_inexact(x):
                assert np.shape(x_bar) == np.shape(x)
                assert np.asarray(x_bar).dtype == np.asarray(x).dtype
                paired += np.sum(x_bar * v).real
        expected = sum(
            np.sum(a * b).real
            for a, b, v in zip(bars, flat(tangents), flat(y), strict=True)
            if is_inexact(v)
        )
        assert_close(paired, expected, 1e-10)


def like(y: Any, items: tuple[Any, ...]) -> Any:
    """Items in the structure of a result."""
    if not isinstance(y, tuple | list):
        return items[0]
    return type(y)(*items) if hasattr(y, "_fields") else type(y)(items)


def cotangent_of(k: int, y: Any) -> Any:
    """A cotangent of a result, none of whose elements is round."""
    v = np.cos(2.0 * np.arange(np.size(y)) - k + 0.2).reshape(np.shape(y))
    v = v - 0.4j * v[::-1] if is_complex(y) and np.ndim(y) else v
    return v.astype(y.dtype) if isinstance(y, np.ndarray) else type(y)(v)


@over_rows(SMOOTH)
def test_second_order(p: Primitive) -> None:
    for program in all_kinds(p):
        if not program.active or not all(map(is_inexact, program.inputs)):
            continue
        f = program.function(SCALAR)
        slopes = gw.grad(f, argnums=program.active)
        along = tuple(directions_of(program))
        _, found = gw.jvp(slopes, program.inputs, along)
        expected = slope(slopes, program.inputs, along)
        for a, b in zip(found, expected, strict=True):
            assert_close(a, b, 1e-6)


@over_rows([p for p in SMOOTH if p.kind == "general"])
def test_each_of_several_results_by_itself(p: Primitive) -> None:
    for program in programs(p):
        results = program.function()(*program.inputs)
        if not isinstance(results, tuple):
            continue
        along = tuple(directions_of(program))
        for k in range(len(results)):
            f = program.function(f"total(({{}})[{k}])")
            found = gw.grad(f, argnums=program.active)(*program.inputs)
            moved = [along[j] for j in program.active]
            paired = sum(np.sum(a * v) for a, v in zip(found, moved, strict=True))
            assert_close(paired, slope(f, program.inputs, along)[0], 1e-8)


@over_rows([p for p in SMOOTH if p.kinks])
def test_kinks_have_the_slopes_that_are_promised(p: Primitive) -> None:
    for operands, promised in p.kinks:
        program = program_of(p, operands)
        with np.errstate(all="raise"):
            found = gw.grad(program.function(), argnums=program.active)(*operands)
        for a, b in zip(found, promised, strict=True):
            np.testing.assert_array_equal(a, b)


SHORT = {"float64": np.float32, "complex128": np.complex64}


@over_rows(SMOOTH)
def test_single_precision_stays_single(p: Primitive) -> None:
    for program in all_kinds(p):
        if not program.active:
            continue
        short = program.of(in_single)
        f = short.function()
        y = f(*short.inputs)
        assert_same(value_of(short, f), y)
        given = [short.inputs[k] for k in short.active]
        for x, x_bar in zip(given, gradients(short), strict=True):
            assert type(x_bar) is type(x)
            assert np.asarray(x_bar).dtype == np.asarray(x).dtype
        assert_close_all(gradients(short), gradients(program))


def in_single(x: Any) -> Any:
    short = SHORT.get(np.asarray(x).dtype.name)
    return x if short is None else np.asarray(x).astype(short)[()]


# ---- rows without a derivative -----------------------------------------------------


@over_rows(CONSTANT)
def test_rows_with_a_reason_have_zero_derivatives(p: Primitive) -> None:
    for program in programs(p):
        if not program.active or len(program.operands) > 1:
            continue
        f = program.function("2.0 * np.sum(x0) + total({})")
        (x,) = program.inputs
        _, y_dot = gw.jvp(f, (x,), (np.ones_like(x),))
        assert y_dot == 2.0 * np.size(x)
        np.testing.assert_array_equal(gw.grad(f)(x), np.full_like(x, 2.0))


@over_rows(CONSTANT)
def test_rows_without_a_derivative_say_why(p: Primitive) -> None:
    assert p.reason
    assert p.rule is None


# ---- the form of a rule ------------------------------------------------------------


@over_rows(SMOOTH)
def test_a_rule_is_assignments_and_a_return(p: Primitive) -> None:
    """What else stood in one would not be quoted."""
    for rule in filter(None, (p.rule, p.tangent)):  # a composition has none
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(rule))).body
        assert isinstance(node, ast.FunctionDef)
        said, *body, last = node.body
        assert isinstance(said, ast.Expr)
        assert all(isinstance(s, ast.Assign) for s in body)
        assert isinstance(last, ast.Return)
        known = {*p.operands, *(p.signature or inspect.signature(rule)).parameters}
        dots = {f"{n}_dot" for n in p.operands}
        assert {*inspect.signature(rule).parameters} <= known | dots | {"y", "y_bar"}


# ---- cotangents that are narrower than what they are of ------------------------------


def mean_beside_a_row(a, y):
    return np.sum(np.mean(a, axis=1) * y)


def means_beside_a_row(a, y):
    return np.sum(np.mean(a[None] + a[:, None], axis=(1, 3))[..., None] * y)


def deviation_where_it_is_large(a, y):
    s = np.std(a, axis=1)
    return np.sum(np.where(s > 0.55, s, 0.0)) + np.sum(y)


def larger_means(a, y):
    return np.sum(np.maximum(0.2, np.mean(a[:, 0], axis=-1)) * a[0, :2, 1] * y[0])


def part_of_a_split_mean(a, y):
    means = np.split(np.mean(a[0], axis=-2, keepdims=True), 1, axis=0)[0]
    return np.sin(means)[0, 2] * y[0]


def mean_of_a_display(a, y):
    x = np.mean(np.array([a[0, 0, 0], y[1]]), axis=0)
    return np.sum(np.cos(x).cumprod())


@pytest.mark.parametrize(
    "f",
    [
        mean_beside_a_row,
        means_beside_a_row,
        deviation_where_it_is_large,
        larger_means,
        part_of_a_split_mean,
        mean_of_a_display,
    ],
)
def test_a_cotangent_of_fewer_axes_or_elements_stretches(f: Any) -> None:
    a = np.sin(1.0 + 1.7 * np.arange(24.0)).reshape(2, 4, 3)
    gw.check_grads(f, (a, np.array([0.4, -1.1, 0.7])))


def every_other_by_einsum(a):
    return np.sum(np.einsum("ij,ij->i", a[::2], a) ** 2)


def every_other_by_vecdot(a):
    return np.sum(np.vecdot(a[::2], a) ** 2)


def every_other_by_cross(a):
    return np.sum(np.cross(a, a[::2]) ** 2)


@pytest.mark.parametrize(
    "f", [every_other_by_einsum, every_other_by_vecdot, every_other_by_cross]
)
@pytest.mark.parametrize("rows", [1, 2])
def test_a_length_that_only_the_run_knows_may_be_one(f: Any, rows: int) -> None:
    gw.check_grads(f, (np.sin(1.0 + 1.7 * np.arange(3.0 * rows)).reshape(rows, 3),))


def test_the_diagonal_of_no_rows_is_empty() -> None:
    def size(a):
        return 0.5 * np.diagonal(a).size + np.sum(a)

    assert gw.value_and_grad(size)(np.ones((0, 1)))[0] == 0.0
    assert gw.value_and_grad(size)(np.ones((4, 1)))[0] == 4.5


def no_axes_of_one(a):
    return np.sum(np.squeeze(np.diff(a, axis=0))[0])


def no_axes_of_a_part(a):
    return np.sum(np.squeeze(a[a[:, 0] > 0.9]) ** 2)


def test_axes_of_length_one_that_go_are_known() -> None:
    two, three = np.array([[1.0, 2.0], [0.5, 1.5]]), np.ones((3, 2))
    assert gw.grad(no_axes_of_one)(two).tolist() == [[-1.0, 0.0], [1.0, 0.0]]
    assert gw.grad(no_axes_of_one)(three)[:2].tolist() == [[-1.0, -1.0], [1.0, 1.0]]
    assert gw.grad(no_axes_of_a_part)(three).tolist() == [[2.0, 2.0]] * 3
    with pytest.raises(ValueError, match=r"np\.squeeze .* 1 needs an axis"):
        gw.grad(no_axes_of_a_part)(two)
