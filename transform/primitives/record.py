"""What a row of the table of primitives is, and the decorators that write one.

A row stands for one or more callables that share their derivative.  Its rule is an
ordinary function of the operands (and of the result, where it has a parameter `y`)
that returns the partial derivatives.  It runs as it stands, and its source is quoted
into derivative code:

    @elementwise(math.atan2, np.arctan2, samples=...)
    def arctan2(a, b):
        r2 = a * a + b * b
        return b / r2, -a / r2

A conditional expression in a rule is quoted as one for scalars, so that what it guards
is not evaluated, and as `np.where` for arrays.  Rows are refused when incomplete.

A row with a `signature` takes arrays, and static arguments by name.  Its rule is a
function of its parameters by name, of the result `y` and of the cotangent `y_bar`, and
returns the cotangent of each operand:

    @linear(np.reshape, signature="x, shape", samples=...)
    def reshape(x, y_bar):
        return np.reshape(y_bar, x.shape)
"""

from __future__ import annotations

import builtins
import inspect
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradwright.transform.template import Hole, Template
from gradwright.transform.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    Type,
    broadcast,
    numpy_scalar,
    of_number,
    promote,
)

Operands = tuple[Any, ...]
TypeRule = Callable[..., Type]

PART = "part"  # in place of a number of operands: those of a reduction with where=
CLIP = np._core.umath.clip  # type: ignore[attr-defined]  # np.clip of both bounds

SPELLINGS: dict[Any, str] = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.matmul: "@",
    operator.truediv: "/",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.pow: "**",
    operator.neg: "-",
    operator.pos: "+",
    operator.invert: "~",
    operator.and_: "&",
    operator.or_: "|",
    operator.xor: "^",
    operator.lshift: "<<",
    operator.rshift: ">>",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
    operator.not_: "not",
    operator.is_: "is",
    operator.is_not: "is not",
}

# What Python's operators and builtins do to NumPy's operands.
UFUNCS: dict[Any, np.ufunc] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: np.power,
    operator.neg: np.negative,
    operator.pos: np.positive,
    operator.invert: np.invert,
    operator.and_: np.bitwise_and,
    operator.or_: np.bitwise_or,
    operator.xor: np.bitwise_xor,
    operator.lshift: np.left_shift,
    operator.rshift: np.right_shift,
    operator.lt: np.less,
    operator.le: np.less_equal,
    operator.gt: np.greater,
    operator.ge: np.greater_equal,
    operator.eq: np.equal,
    operator.ne: np.not_equal,
    abs: np.absolute,
    pow: np.power,
}


@dataclass(frozen=True, eq=False)
class Primitive:
    """One callable of a row.

    name: of the row.  function: the callable itself.  spelling: an operator, a dotted
    name, or for an attribute `.name`.  kind: elementwise, reduction, linear,
    multilinear, general, constant or structural.  type_rule: operand types to result
    type.  rule: partials (elementwise, reduction) or cotangents (linear, multilinear,
    general).  raises: it may raise for Python's numbers, by their values (overflow
    apart).  covered: where it raises its partials raise too.  cheap: recomputed, never
    taped.  scalar: in compiled code, the function of C, or a formula over other rows.
    samples: operands for the tests, or a `Sample`.  kinks: operands to the
    partials promised there.  reason: why a constant row has no derivative.

    Of a row with a signature: operands are the parameters that take arrays or numbers,
    a starred one a sequence of them; runtime are those that may hold ints known when
    the program runs.  choices: by parameter, the values that the rule knows, where it
    does not know all of NumPy's.  numbers: operands that may be no arrays.  tangent:
    of a general row, the tangents that the operands give.
    meets: pairs of dims that must be equal; of one that stretches one may be 1.
    result: its type, where examples do not say it.  ragged: the lengths of the result
    depend on the elements.  unlike_one: the lengths that must not be one, lest the
    result has fewer axes.  view: the result may share memory with an operand.  through:
    it is a view of the first operand, so that a store into it is one into that,
    "always", or for "rows" where that lies in memory row by row.  onto: makes an
    operand, or its tangent, one that the row takes
    (symmetric, say); other tangents are taken for what it makes of them.  determined:
    what of complex results the operands determine (not the phases of vectors).
    """

    name: str
    function: Any
    spelling: str
    kind: str
    type_rule: TypeRule
    rule: Callable[..., Any] | None = None
    raises: bool = False
    covered: bool = True
    cheap: bool = False
    scalar: str | Callable[..., Any] | None = None
    samples: tuple[Operands, ...] = ()
    kinks: tuple[tuple[Operands, Operands], ...] = ()
    complex_too: bool = False
    reason: str = ""
    signature: inspect.Signature | None = None
    operands: tuple[str, ...] = ()
    sequences: tuple[str, ...] = ()
    runtime: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    tangent: Callable[..., Any] | None = None
    meets: Callable[..., Any] | None = None
    stretches: bool = False
    result: Callable[..., Type] | None = None
    ragged: bool = False
    unlike_one: Callable[..., Any] | None = None
    view: bool = False
    through: str = ""
    onto: Callable[..., Any] | None = None
    determined: Callable[..., Any] | None = None

    def __repr__(self) -> str:
        return f"<primitive {self.spelling}>"

    @property
    def shares_memory(self) -> bool:
        """Whether the result may share memory with an operand."""
        return self.view or bool(self.through)

    @property
    def is_operator(self) -> bool:
        return self.function in SPELLINGS

    def template(self, attribute: Template | None) -> Template:
        """The arguments by name; without an attribute they are operands alone."""
        if attribute is not None:
            return attribute
        assert self.signature is not None
        parameters = self.signature.parameters.items()
        return Template(
            tuple(
                (name, Hole(k) if p.default is p.empty else p.default)
                for k, (name, p) in enumerate(parameters)
            )
        )

    def call(self, arguments: dict[str, Any]) -> Any:
        """What the callable itself makes of arguments by name."""
        positional, keywords = self.arranged(arguments)
        return self.function(*positional, **keywords)

    def arranged(self, arguments: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Arguments by name as a call gives them; defaults are left out."""
        assert self.signature is not None
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for name, p in self.signature.parameters.items():
            if p.kind is p.VAR_POSITIONAL:
                positional.extend(arguments[name])
            elif p.default is p.empty:
                positional.append(arguments[name])
            elif arguments[name] is not p.default:
                keywords[name] = arguments[name]
        return positional, keywords


# ---- the table ---------------------------------------------------------------------


class Table:
    """Rows by callable and number of operands; and the other callables of a row.

    `known` are functions of what is known when a program is rewritten, run then;
    `loops` are programs that stand for a row in machine code, and `library` holds the
    callables that machine code calls as they are;
    `apart` are compositions that loop over values when the program runs.
    """

    def __init__(self) -> None:
        self.rows: dict[tuple[Any, int | str | None], Primitive] = {}
        self.families: dict[Any, list[Primitive]] = {}
        self.compositions: dict[Any, Callable[..., Any]] = {}
        self.composed: dict[Any, tuple[Any, ...]] = {}  # their samples
        self.known: dict[Any, Any] = {}
        self.loops: dict[Any, Callable[..., Any]] = {}
        self.library: set[Any] = set()
        self.apart: set[Any] = set()
        self.rest: Callable[[], None] | None = None  # imports what is not here yet

    def add(self, p: Primitive, arity: int | str | None) -> None:
        key = (p.function, arity)
        if key in self.rows:
            raise ValueError(f"two rows for {p.spelling} of {arity} operands")
        self.rows[key] = p
        if p.rule is not None:
            self.families.setdefault(p.rule, []).append(p)

    def ensure(self, function: Any) -> None:
        """Import the rows that a callable of NumPy may have."""
        if self.rest is None:
            return
        module = getattr(function, "__module__", None) or ""
        owner = getattr(function, "__self__", function)  # np.multiply of .outer
        of_numpy = module.startswith("numpy") or function is operator.matmul
        if not (of_numpy or isinstance(owner, np.ufunc)):
            return
        if not any(f is function for f, _ in self.rows):
            self.rest()

    def find(self, function: Any, arity: int) -> Primitive | None:
        """The row of a callable for this many operands."""
        self.ensure(function)
        try:
            fixed = self.rows.get((function, arity))
            return fixed or self.rows.get((function, None))
        except TypeError:  # unhashable: not a key of the table
            return None

    def knows(self, function: Any) -> bool:
        """Whether any row or composition stands for the callable."""
        self.ensure(function)
        try:
            known = any(f is function for f, _ in self.rows)
            return known or function in self.compositions
        except TypeError:
            return False

    def signed(self, function: Any, arity: int) -> Primitive | None:
        """The row of a callable that takes its arguments by a signature."""
        self.ensure(function)
        try:
            p = self.rows.get((function, None))
            if (function, arity) in self.rows:
                return None
        except TypeError:
            return None
        return p if p is not None and p.signature is not None else None

    def of_part(self, function: Any) -> Primitive | None:
        """The row of a reduction of the elements where a mask holds."""
        return self.rows.get((function, PART))

    def twin(self, p: Primitive, module: str) -> Primitive:
        """The same row's callable of another module, where there is one."""
        family = self.families.get(p.rule, [p])
        arity = {id(q): a for (_, a), q in self.rows.items() if q in family}
        for q in family:
            if q.spelling.startswith(module + ".") and arity[id(q)] == arity.get(id(p)):
                return q
        return p


TABLE = Table()


def spelling_of(function: Any) -> str:
    """How a callable is written in emitted source."""
    if function in SPELLINGS:
        return SPELLINGS[function]
    if function is np.abs:
        return "np.abs"
    module = getattr(function, "__module__", None)
    if isinstance(function, np.ufunc) or (module or "").startswith("numpy"):
        prefix = {"numpy.linalg": "np.linalg.", "numpy.fft": "np.fft."}
        return prefix.get(module or "", "np.") + str(function.__name__)
    if module == "builtins":
        return str(function.__name__)
    return f"{module}.{function.__qualname__}"


# ---- type rules --------------------------------------------------------------------


def type_like_operands(*operands: Type) -> Type:
    """Python's or NumPy's promotion; bools count as ints.

    A complex number of Python's takes a np.float64 behind it for a float of Python's.
    """
    match operands:
        case Type(dtype="complex", python=True), Type(dtype="float64", dims=None):
            return COMPLEX
    result = promote(*operands)
    if result == BOOL:
        result = INT
    return _shaped(result, operands)


def _shaped(element: Type, operands: Sequence[Type]) -> Type:
    dims = broadcast(*operands)
    return Type(element.dtype, dims=dims) if dims is not None else element


def type_of_ufunc(ufunc: np.ufunc) -> TypeRule:
    """NumPy's own resolution of a ufunc's result."""

    def rule(*operands: Type) -> Type:
        weak = tuple(np.dtype(bool) if t == BOOL else t.weak() for t in operands)
        out = ufunc.resolve_dtypes((*weak, *[None] * ufunc.nout))[-1]
        return _shaped(numpy_scalar(out), operands)

    return rule


def type_of_example(function: Callable[..., Any]) -> TypeRule:
    """The type of what the callable itself makes of ones."""

    def rule(*operands: Type) -> Type:
        result = of_number(function(*map(_one, operands)))
        if result is None:
            raise TypeError(f"{spelling_of(function)} gives no number")
        return _shaped(result, operands)

    return rule


def type_of_reduction(function: Callable[..., Any]) -> TypeRule:
    """The type of what the callable makes of one element."""
    of_element = type_of_example(function)
    return lambda x: of_element(x.element)


def _one(t: Type) -> Any:
    """The number 1 as this type of scalar."""
    if not t.is_number:
        return {"str": "1", "None": None}[t.dtype]
    return (t.weak() if t.python else t.weak().type)(1)


def type_of_operator(function: Callable[..., Any]) -> TypeRule:
    """What the operator makes of ones; where there are arrays, what its ufunc gives.

    Scalars of both kinds meet in either order: 1j + np.float64(1) is Python's complex,
    np.float64(1) + 1j is NumPy's.
    """
    of_scalars, of_arrays = type_of_example(function), type_of_ufunc(UFUNCS[function])
    return lambda *operands: (
        of_arrays if any(t.is_array for t in operands) else of_scalars
    )(*operands)


def always(result: Type) -> TypeRule:
    """The same Python type whatever the operands."""
    return lambda *operands: result


def type_rule_of(function: Any) -> TypeRule:
    """The rule that a callable's own family has, where a row names none."""
    if isinstance(function, np.ufunc):
        return type_of_ufunc(function)
    if function in UFUNCS:
        return type_of_operator(function)
    if getattr(function, "__module__", None) == "math":
        return always(FLOAT)
    if getattr(function, "__module__", None) == "cmath":
        return always(COMPLEX)
    return type_of_example(function)


# ---- decorators --------------------------------------------------------------------


def _arity(rule: Callable[..., Any]) -> int | None:
    parameters = inspect.signature(rule).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return len([p for p in parameters if p.name != "y"])


def _add_rows(kind: str, callables: Sequence[Any], rule: Any, **columns: Any) -> Any:
    types, arity = columns.pop("type", None), columns.pop("arity", None)
    if not columns["samples"]:
        raise ValueError(f"the row {rule.__name__} lacks its column samples")
    if not inspect.getdoc(rule):
        raise ValueError(f"the row {rule.__name__} lacks its docstring")
    if kind == "general" and columns["tangent"] is None:
        raise ValueError(f"the row {rule.__name__} lacks its column tangent")
    for f in callables:
        columns_of_f = dict(columns)
        if not _can_raise(f):
            columns_of_f["raises"] = False
        p = Primitive(
            name=rule.__name__,
            function=f,
            spelling=spelling_of(f),
            kind=kind,
            type_rule=types or type_rule_of(f),
            rule=rule,
            **columns_of_f,
        )
        TABLE.add(p, arity if p.signature else _arity(rule))
    return rule


def _can_raise(function: Any) -> bool:
    return not (
        isinstance(function, np.ufunc) or spelling_of(function).startswith("np.")
    )


def elementwise(
    *callables: Any,
    samples: Sequence[Any],
    kinks: Sequence[tuple[Any, Any]] = (),
    complex_too: bool = False,
    raises: bool = False,
    covered: bool = True,
    cheap: bool = False,
    scalar: str | Callable[..., Any] | None = None,
    type: TypeRule | None = None,
) -> Callable[[Any], Any]:
    """A row whose result depends, element by element, on its operands.

    The rule returns one partial per operand (a bare one where there is one operand).
    """
    return lambda rule: _add_rows(
        "elementwise",
        callables,
        rule,
        type=type,
        samples=tuple(_tuple(s) for s in samples),
        kinks=tuple((_tuple(a), _tuple(p)) for a, p in kinks),
        complex_too=complex_too,
        raises=raises,
        covered=covered,
        cheap=cheap,
        scalar=scalar,
    )


def linear(
    *callables: Any,
    samples: Sequence[Any],
    type: TypeRule | None = None,
    cheap: bool = True,
    signature: str = "x",
    **columns: Any,
) -> Callable[[Any], Any]:
    """A row that is linear in its operands; the rule gives their cotangents."""
    return lambda rule: _add_signed(
        "linear", callables, rule, signature, samples, type=type, cheap=cheap, **columns
    )


def multilinear(
    *callables: Any, samples: Sequence[Any], signature: str, **columns: Any
) -> Callable[[Any], Any]:
    """A row that is linear in each of its operands, the others held."""
    return lambda rule: _add_signed(
        "multilinear", callables, rule, signature, samples, **columns
    )


def general(
    *callables: Any,
    samples: Sequence[Any],
    signature: str,
    tangent: Callable[..., Any],
    **columns: Any,
) -> Callable[[Any], Any]:
    """A row of arrays that is not linear: its rule gives cotangents of operands.

    `tangent` takes the parameters, the result `y` and the tangents `x_dot`, and gives
    for each operand the tangent that comes from it.
    """
    return lambda rule: _add_signed(
        "general", callables, rule, signature, samples, tangent=tangent, **columns
    )


def reduction(
    *callables: Any,
    samples: Sequence[Any],
    kinks: Sequence[tuple[Any, Any]] = (),
    complex_too: bool = False,
    type: TypeRule | None = None,
    signature: str = "x, axis=None, keepdims=False",
) -> Callable[[Any], Any]:
    """A row over axes of an array; the rule gives the partials, in x's shape.

    The rule takes the result with its axes kept.  A partial that is one number holds
    for every element.
    """
    return lambda rule: _add_signed(
        "reduction",
        callables,
        rule,
        signature,
        samples,
        type=type or type_of_reduction(callables[0]),
        kinks=tuple((_tuple(a), _tuple(p)) for a, p in kinks),
        complex_too=complex_too,
    )


def _add_signed(
    kind: str,
    callables: Sequence[Any],
    rule: Any,
    signature: str,
    samples: Sequence[Any],
    **columns: Any,
) -> Any:
    """Enter the rows of one signature."""
    return _add_rows(
        kind,
        callables,
        rule,
        samples=tuple(s if isinstance(s, Sample) else _tuple(s) for s in samples),
        **_signed(signature, columns),
    )


def _signed(signature: str, columns: dict[str, Any]) -> dict[str, Any]:
    """The columns of a row with a signature; operands are the first parameters."""
    read = inspect.signature(eval(f"lambda {signature}: None"))
    columns.setdefault("operands", tuple(read.parameters)[:1])
    return {
        **columns,
        "signature": read,
        "complex_too": columns.get("complex_too", True),
    }


@dataclass(frozen=True, eq=False)
class Sample:
    """Arguments for a row's tests: positional ones, and others by name."""

    args: tuple[Any, ...]
    keywords: dict[str, Any]


def given(*args: Any, **keywords: Any) -> Sample:
    """A sample as one writes a call."""
    return Sample(args, keywords)


def constant(
    *callables: Any,
    reason: str,
    samples: Sequence[Any],
    name: str | None = None,
    type: TypeRule | None = None,
    raises: bool = False,
    signature: str | None = None,
    **columns: Any,
) -> None:
    """Rows whose derivative is zero by declaration, for this reason.

    Without a signature, samples of several lengths make a row for each number of
    operands.
    """
    if not (reason and samples):
        missing = "samples" if reason else "reason"
        named = name or ", ".join(map(spelling_of, callables))
        raise ValueError(f"the row {named} lacks its column {missing}")
    operands = [s if isinstance(s, Sample) else _tuple(s) for s in samples]
    by_arity: dict[int | None, Any] = {None: operands}
    if signature is None:
        arities = sorted({len(o) for o in operands})  # type: ignore[arg-type]
        by_arity = {n: [o for o in operands if len(o) == n] for n in arities}  # type: ignore[arg-type]
    else:
        columns = _signed(signature, columns)
    for f in callables:
        for arity, fitting in by_arity.items():
            p = Primitive(
                name=name or str(getattr(f, "__name__", f)),
                function=f,
                spelling=spelling_of(f),
                kind="constant",
                type_rule=type or type_rule_of(f),
                raises=raises and _can_raise(f),
                cheap=f in SPELLINGS,
                samples=tuple(fitting),
                reason=reason,
                **columns,
            )
            TABLE.add(p, arity)


def composition(
    *callables: Any, apart: bool = False, samples: Sequence[Any] = ()
) -> Callable[[Any], Any]:
    """Plain Python that a callable stands for: specialised like a user's function.

    Where it is `apart`, its loops are over values of the program's, and it may become a
    function of the program; else it is written out in place.
    """

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        if apart:
            TABLE.apart.add(f)
        for c in callables:
            TABLE.compositions[c] = f
            TABLE.composed[c] = tuple(samples)
        return f

    return register


def loops(*callables: Any) -> Callable[[Any], Any]:
    """What a row is in machine code: plain Python, of loops or of simpler rows.

    It takes the row's parameters by name, and is written out where the row stands.
    """

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        TABLE.loops.update(dict.fromkeys(callables, f))
        return f

    return register


def library(*callables: Any) -> None:
    """Rows that machine code calls as they are, on whole arrays: BLAS, LAPACK, FFTs."""
    TABLE.library.update(callables)


def known(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function for rules, of subscripts and axes: run when a program is rewritten."""
    TABLE.known[f] = f
    return f


def is_written(_: Any) -> bool:
    """For rules: whether an operand is a number that stands in the program.

    Run as plain Python, a rule has no program.
    """
    return False


def has_none(lengths: Any) -> bool:
    """For rules: whether one of the lengths is 0.

    Run when a program is rewritten, those that it does not know are taken to be more.
    """
    return 0 in lengths


def _tuple(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, builtins.tuple) else (x,)


def over(low: float, high: float, points: int = 5) -> tuple[tuple[float], ...]:
    """Samples of one real operand, inside (low, high), none at a round number."""
    step = (high - low) / points
    places = (low + step * (k + 0.43) + 0.007 * math.sin(k) for k in range(points))
    return tuple((x,) for x in places)


def pairs(
    *ranges: tuple[float, float], points: int = 5
) -> tuple[tuple[float, ...], ...]:
    """Samples of several real operands, one interval for each."""
    columns = [over(low, high, points) for low, high in ranges]
    shifted = [c[k % points :] + c[: k % points] for k, c in enumerate(columns)]
    return tuple(tuple(v[0] for v in row) for row in zip(*shifted, strict=True))
