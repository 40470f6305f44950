"""A builder appends core statements to a block: types inferred, constants folded.

Every transform writes core through one of these, so that no statement is without its
type and the user's line:

    >>> from gradwright.transform.primitives import arithmetic
    >>> b = Builder(folds=True)
    >>> b.multiply(constant(2.0), constant(1.0))
    Const(value=2.0, ...)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from gradwright.transform.core import (
    Cell,
    Const,
    Index,
    Let,
    Load,
    Operand,
    Place,
    Statement,
    Store,
    Value,
    type_of,
)
from gradwright.transform.errors import Location, MissingRule
from gradwright.transform.indices import Dim, Linear, symbol
from gradwright.transform.primitives.record import TABLE, Primitive
from gradwright.transform.template import Hole, Sequence, Template
from gradwright.transform.types import (
    COMPLEX,
    FLOAT,
    INT,
    MIXED,
    VARYING,
    Type,
    array,
    of_number,
)

NOUNS = {
    "+": "total", "-": "difference", "*": "product", "/": "quotient", "**": "power",
    "//": "quotient", "%": "remainder", "np.where": "chosen", "not": "otherwise",
}  # fmt: skip

PARTS = ("np.real", "np.imag", "np.conjugate", "np.conj")
CONDITIONS = {  # of each comparison: what it says, and what it says of zero
    ">": ("above", "positive"), ">=": ("above", "positive"),
    "<": ("below", "negative"), "<=": ("below", "negative"),
    "==": ("equal", "zero"), "!=": ("different", "nonzero"),
    "is": ("same", "zero"), "is not": ("different", "nonzero"),
}  # fmt: skip
SWAPPED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


def constant(value: Any, text: str | None = None) -> Operand:
    """A literal as an operand; a Python int is a linear form."""
    if type(value) is int and text is None:
        return Linear({}, value)
    type_ = of_number(value)
    assert type_ is not None
    return Const(value, type_, text)


def is_const(operand: Any, value: Any) -> bool:
    """Whether an operand is this literal number."""
    if isinstance(operand, Linear):
        return bool(operand.constant == value)
    return isinstance(operand, Const) and bool(operand.value == value)


class Builder:
    """Writes into `block`; `where` and `adjoint` go on every statement.

    `folds` evaluates operations on literals and drops factors of one and terms of
    zero: right in derivative code, not in the user's own arithmetic.
    """

    def __init__(self, folds: bool = False) -> None:
        self.block: list[Statement] = []
        self.where: Location | None = None
        self.adjoint = False
        self.folds = folds
        self.quiet = False
        self.known: dict[Place, Value] = {}
        self.made: dict[Any, Value] = {}
        self.definition: dict[Value, Let | Load] = {}
        self.lengths: dict[Any, Linear] = {}  # of slices, and of what masks pick

    def add(self, s: Statement) -> Statement:
        s.where, s.adjoint = s.where or self.where, self.adjoint
        self.block.append(s)
        return s

    @contextmanager
    def nested(self, block: list[Statement]) -> Iterator[list[Statement]]:
        """Write into another block; what is known on entry stays known in it only."""
        outer = self.block, dict(self.known), dict(self.made), dict(self.lengths)
        self.block = block
        try:
            yield block
        finally:
            self.block, self.known, self.made, self.lengths = outer

    def forget(self, places: set[Place]) -> None:
        """These places were stored into: what was loaded from them is old."""
        for p in places & set(self.known):
            del self.known[p]

    # ---- statements ------------------------------------------------------------

    def let(
        self,
        p: Primitive,
        *operands: Operand,
        attribute: Any = None,
        type: Type | None = None,
        name: str | None = None,
    ) -> Operand:
        """The result of one primitive; an int comes back as a linear form."""
        folded = fold(p, operands) if self.folds and p.is_operator else None
        if folded is not None:
            return folded
        if self.folds and attribute is None and p.function in self.algebra:
            written: Operand = self.algebra[p.function](p, *operands)
            return written
        return self.raw(p, *operands, attribute=attribute, type=type, name=name)

    def raw(
        self,
        p: Primitive,
        *operands: Operand,
        attribute: Any = None,
        type: Type | None = None,
        name: str | None = None,
    ) -> Operand:
        """The result of one primitive as it stands; the same one is made only once."""
        if type is None:
            type = p.type_rule(*map(type_of, operands))
        if self.folds and p.spelling in PARTS and type_of(operands[0]).python:
            type = COMPLEX if type.is_complex else FLOAT  # z.real, z.conjugate()
        key = (p, operands, attribute)
        if self.folds and key in self.made:
            return _operand(self.made[key])
        out = Value(name or noun(p, operands), type)
        out.type = with_own_dims(out)
        s = Let(out, p, operands, attribute)
        s.quiet = self.quiet
        if p.signature is None and (axes := _loose_axes(operands)):
            loosen(out, s, axes)
        self.add(s)
        self.made[key] = out
        self.definition[out] = s
        return _operand(out)

    def load(self, place: Place, unsure: bool = False) -> Operand:
        """The present content of a cell; `unsure` if it may hold nothing yet."""
        if place not in self.known:
            out = place.content()
            out.type = with_own_dims(out)
            s = Load(out, place, unsure=unsure)
            self.definition[out] = s
            self.add(s)
            self.known[place] = out
        return _operand(self.known[place])

    def element(
        self,
        source: Place | Value,
        index: Index,
        type: Type,
        name: str,
        safe: bool = False,
    ) -> Operand:
        """source[index]."""
        out = Value(name, type)
        out.type = with_own_dims(out)
        s = Load(out, source, index, safe)
        self.add(s)
        self.definition[out] = s
        return _operand(out)

    def store(
        self,
        place: Place,
        operand: Operand,
        index: Index = (),
        accumulate: bool = False,
    ) -> None:
        if accumulate and self.folds and is_const(operand, 0):
            return
        if isinstance(place, Cell) and not index and not accumulate:
            operand = convert(operand, place.type)
        self.add(Store(place, operand, index, accumulate))
        self.known.pop(place, None)

    # ---- arithmetic ------------------------------------------------------------

    def operator(self, function: Any, *operands: Operand) -> Operand:
        """The row of an operator applied to operands."""
        return self.let(row(function, len(operands)), *operands)

    def add_up(self, a: Operand, b: Operand) -> Operand:
        return self.operator(operator.add, a, b)

    def negate(self, a: Operand) -> Operand:
        return self.operator(operator.neg, a)

    def multiply(self, a: Operand, b: Operand) -> Operand:
        return self.operator(operator.mul, a, b)

    def scale(self, partial: Operand, cotangent: Operand) -> Operand:
        """The product of the two; what is more than a name comes second."""
        if self.negated(partial) is None and partial in self.definition:
            return self.multiply(cotangent, partial)
        return self.multiply(partial, cotangent)

    @property
    def algebra(self) -> dict[Any, Any]:
        """How the derivative's own operations are written; signs and factors go out."""
        return {
            operator.mul: self._product,
            operator.truediv: self._quotient,
            operator.add: self._sum,
            operator.sub: self._difference,
            operator.neg: self._negative,
            np.transpose: self._transposed,
        }

    def made_by(self, a: Operand, function: Any) -> tuple[Operand, ...]:
        """The operands of the operation that made a value here; none if another did."""
        d = self.definition.get(a) if isinstance(a, Value) else None
        if isinstance(d, Let) and d.primitive.function is function:
            return d.operands
        return ()

    def negated(self, a: Operand) -> Operand | None:
        """The operand b where a is -b, else None."""
        c = literal(a)
        if c is not None and c < 0:
            return constant(-c)
        made = self.made_by(a, operator.neg)
        return made[0] if made and self.is_near(a) else None

    def factor(self, a: Operand) -> tuple[float, Operand | None]:
        """The pair c, b where a is c * b for a literal c; b is None where a is one."""
        if (c := literal(a)) is not None:
            return c, None
        if (made := self.made_by(a, operator.neg)) and self.is_near(a):
            c, rest = self.factor(made[0])
            return -c, rest
        made = self.made_by(a, operator.mul)
        if made and (c := literal(made[0])) is not None and self.may_split(a):
            return c, made[1]
        return 1, a

    def may_split(self, a: Any) -> bool:
        """Whether a literal factor may leave a product: not one with a name."""
        return not a.name.endswith("_bar")

    def is_near(self, a: Any) -> bool:
        """Whether a value's sign may be told from where it is used."""
        return True

    def is_here(self, a: Any) -> bool:
        """Whether a value is made in this block: a division stays where it raises."""
        return any(t is self.definition.get(a) for t in self.block)

    def times(self, c: float, a: Operand) -> Operand:
        """The product c * a, the sign outside."""
        if c < 0:
            return self._negative(row(operator.neg, 1), self.times(-c, a))
        made = self.made_by(a, operator.truediv)
        d = literal(made[1]) if made and c != 1 else None
        if d and len(repr(c / d)) < 6 and c / d * d == c:
            return self.times(c / d, made[0])
        if isinstance(c, int) and type_of(a).is_inexact:
            c = float(c)
        p = row(operator.mul, 2)
        folded = fold(p, (constant(c), a))
        return folded if folded is not None else self.raw(p, constant(c), a)

    def _product(self, p: Primitive, a: Operand, b: Operand) -> Operand:
        """The product a * b; a literal comes first.

        y * (1 / b) is y / b, and (y / b) * (g / y) is g / b.
        """
        if isinstance(a, Linear) and isinstance(b, Linear):
            return self.raw(p, a, b)
        (c, x), (d, y) = self.factor(a), self.factor(b)
        if x is None or y is None:
            rest = y if x is None else x
            return constant(c * d) if rest is None else self.times(c * d, rest)
        for u, v in ((x, y), (y, x)):
            made = self.made_by(u, operator.truediv)
            if made and (e := literal(made[0])) is not None and self.is_here(u):
                inner = self.let(row(operator.truediv, 2), v, made[1])
                return self.times(c * d * e, inner)
            under = self.made_by(v, operator.truediv)
            is_number = (
                made and isinstance(made[0], Value) and not made[0].type.is_array
            )
            if is_number and under and made[0] is under[1] and self.is_here(u):
                inner = self.let(row(operator.truediv, 2), under[0], made[1])
                return self.times(c * d, inner)
        return self.times(c * d, self.raw(p, x, y)) if c * d != 1 else self.raw(p, x, y)

    def _quotient(self, p: Primitive, a: Operand, b: Operand) -> Operand:
        minus_a, minus_b = self.negated(a), self.negated(b)
        if minus_a is None and minus_b is None:
            return self.raw(p, a, b)
        inner = self.let(
            p, a if minus_a is None else minus_a, b if minus_b is None else minus_b
        )
        return (
            inner if minus_a is not None and minus_b is not None else self.negate(inner)
        )

    def _negative(self, p: Primitive, a: Operand) -> Operand:
        minus = self.negated(a)
        if minus is not None:
            return minus
        c = literal(a)
        return constant(-c) if c is not None else self.raw(p, a)

    def _transposed(self, p: Primitive, a: Operand) -> Operand:
        """The transpose: of b.T it is b, of x @ y.T y @ x.T, of np.diag(v) that."""
        made = self.definition.get(a) if isinstance(a, Value) else None
        if isinstance(made, Let) and _is_diagonal(made):
            return a
        if isinstance(made, Let) and made.primitive is p and made.attribute is None:
            return made.operands[0]
        if isinstance(made, Let) and type_of(a).rank == 2 and self.may_split(a):
            turned = tuple(reversed(made.operands))
            dims = tuple(reversed(type_of(a).dims or ()))
            out = replace(type_of(a), dims=dims)
            if made.primitive.function is np.outer and made.attribute is None:
                return self.raw(made.primitive, *turned, type=out)
            is_product = made.primitive.function is operator.matmul
            is_product = is_product and all(type_of(o).rank == 2 for o in turned)
            if is_product and any(self.made_by(o, np.transpose) for o in turned):
                x, y = (self._transposed(p, o) for o in turned)
                return self.raw(made.primitive, x, y, type=out)
        dims = tuple(reversed(type_of(a).dims or ()))
        return self.raw(p, a, type=replace(type_of(a), dims=dims))

    def _sum(self, p: Primitive, a: Operand, b: Operand) -> Operand:
        minus_a, minus_b = self.negated(a), self.negated(b)
        if minus_a is not None and minus_b is not None:
            return self.negate(self.add_up(minus_a, minus_b))
        if minus_b is not None:
            return self.operator(operator.sub, a, minus_b)
        if minus_a is not None:
            return self.operator(operator.sub, b, minus_a)
        together = self.together(a, b, 1)
        return self.raw(p, *self._bare(a, b)) if together is None else together

    def _difference(self, p: Primitive, a: Operand, b: Operand) -> Operand:
        minus_a, minus_b = self.negated(a), self.negated(b)
        if minus_b is not None:
            return self.add_up(a, minus_b)
        if minus_a is not None and literal(a) is None:
            return self.negate(self.add_up(minus_a, b))
        together = self.together(a, b, -1)
        return self.raw(p, *self._bare(a, b)) if together is None else together

    def _bare(self, a: Operand, b: Operand) -> tuple[Operand, Operand]:
        """The terms of a sum, `1.0 * n` as `n` where the other one is inexact."""

        def bare(o: Operand, other: Operand) -> Operand:
            made = self.made_by(o, operator.mul)
            whole = bool(made) and isinstance(made[1], Linear) and is_const(made[0], 1)
            return made[1] if whole and type_of(other).is_inexact else o

        return bare(a, b), bare(b, a) if bare(a, b) is a else b

    def together(self, a: Operand, b: Operand, sign: int) -> Operand | None:
        """The sum c * x + d * x as one product; c * x may be a term of a sum."""
        (c, x), (d, y) = self.factor(a), self.factor(b)
        if x is None or y is None:
            return None
        if x == y and c + sign * d != 0:
            return self.times(c + sign * d, x)
        for function, other in ((operator.add, 1), (operator.sub, -1)):
            made = self.made_by(a, function)
            if made:
                c, x = self.factor(made[1])
                total = c * other + sign * d
                if x == y and total > 0:
                    return self.add_up(made[0], self.times(total, y))
                if x == y and total < 0:
                    return self.operator(operator.sub, made[0], self.times(-total, y))
                inner = self.together(made[0], b, sign)
                if inner is not None:
                    return self.operator(function, inner, made[1])
        return None


def _is_diagonal(s: Let) -> bool:
    """Whether it makes a matrix that is zero off its diagonal."""
    f = s.primitive.function
    if f not in (np.diag, np.eye) or s.out.type.rank != 2 or s.attribute is None:
        return False
    given = dict(s.attribute.arguments)
    return given["k"] == 0 and given.get("M") is None


def loosen(out: Value, made: Any, axes: list[int]) -> None:
    """Give a result lengths of its own along axes, counted from the last one."""
    rank = out.type.rank
    dims = list(out.type.dims or ())
    for k in axes:
        dims[rank - k] = symbol(Dim(out, rank - k))
    if dims:
        out.type = replace(out.type, dims=tuple(dims))
    out.loose = made.loose = True


def _loose_axes(operands: tuple[Operand, ...]) -> list[int]:
    """The axes along which a loose operand meets one of another length."""
    if not any(isinstance(o, Value) and o.loose for o in operands):
        return []
    shapes = [t.dims for t in map(type_of, operands) if t.dims]
    found = []
    for k in range(1, max(map(len, shapes), default=0) + 1):
        met = {s[-k] for s in shapes if len(s) >= k and s[-k].constant != 1}
        if len(met) > 1 and any(_is_loose(d) for d in met):
            found.append(k)
    return found


def _is_loose(dim: Linear) -> bool:
    return any(isinstance(s, Dim) and s.array.loose for s in dim.symbols())


def noun(p: Primitive, operands: tuple[Operand, ...]) -> str:
    """What the result of an operation is called: `product`, `x_is_positive`."""
    if p.spelling not in CONDITIONS:
        return NOUNS.get(p.spelling, p.name)
    (left, right), spelling = operands, p.spelling
    if not _called(left) and _called(right):
        left, right, spelling = right, left, SWAPPED.get(spelling, spelling)
    name, words = _called(left), CONDITIONS[spelling]
    says = f"is_{words[1] if is_const(right, 0) else words[0]}"
    return f"{name}_{says}" if name else says


def _called(o: Operand) -> str:
    """The name of an operand that has one of its own."""
    if isinstance(o, Linear) and len(o.terms) == 1 and not o.offset:
        (o,) = o.symbols()
    if not isinstance(o, Value) or o.name in NOUNS.values():
        return ""
    return o.name


def literal(o: Operand) -> float | None:
    """The value of a literal real number of Python, else None."""
    if isinstance(o, Linear):
        return o.constant
    if isinstance(o, Const) and o.text is None and type(o.value) in (int, float):
        return o.value if math.isfinite(o.value) else None
    return None


def own_value(name: str, type: Type) -> Value:
    """A new value of a type whose dims belong elsewhere: its dims are its own."""
    out = Value(name, type)
    if type.dims is not None:
        dims = (
            d if d.constant == 1 else symbol(Dim(out, k))
            for k, d in enumerate(type.dims)
        )
        out.type = replace(type, dims=tuple(dims))
    return out


def with_own_dims(out: Value) -> Type:
    """The type of a value whose varying dims are its own."""
    if not {VARYING, MIXED}.intersection(out.type.dims or ()):
        return out.type
    dims = (
        symbol(Dim(out, k)) if d in (VARYING, MIXED) else d
        for k, d in enumerate(out.type.dims or ())
    )
    return replace(out.type, dims=tuple(dims))


def _operand(out: Value) -> Operand:
    return Linear({out: 1}) if out.type == INT else out


def row(function: Any, arity: int) -> Primitive:
    """The row of a callable that the engine itself relies on."""
    p = TABLE.find(function, arity)
    if p is None:
        raise MissingRule(f"there is no row for {function} of {arity} operands")
    return p


def reshaped(b: Builder, a: Any, dims: tuple[Linear, ...]) -> Operand:
    """The elements of an array in another shape."""
    known = [d for d in dims if d.constant is None]
    waiting = iter(range(1, 1 + len(known)))
    shape = Sequence(
        tuple,
        tuple(Hole(next(waiting)) if d.constant is None else d.constant for d in dims),
    )
    template = Template((("a", Hole(0)), ("shape", shape)))
    t = array(np.dtype(a.type.dtype), dims)
    return b.raw(row(np.reshape, 2), a, *known, attribute=template, type=t, name=a.name)


def convert(operand: Operand, type: Type) -> Operand:
    """An integer literal where a float is wanted is written as one."""
    if isinstance(operand, Linear) and operand.constant is not None:
        if type.python and type.dtype in ("float", "complex"):
            return constant(
                (float if type.dtype == "float" else complex)(operand.constant)
            )
        if type.is_inexact:
            return constant(float(operand.constant))
    return operand


def fold(p: Primitive, operands: tuple[Operand, ...]) -> Operand | None:
    """The value of an operator on Python literals, or an identity; None: neither."""
    values = [
        o.constant
        if isinstance(o, Linear)
        else o.value
        if isinstance(o, Const)
        else None
        for o in operands
    ]
    if not p.is_operator:
        return None
    if p.function is operator.truediv and values[0] == 1:
        return None  # 1 / 3.0 says more than 0.3333333333333333
    if all(isinstance(v, bool | int | float | complex) for v in values):
        try:
            result = p.function(*values)
        except ArithmeticError:
            return None
        return constant(result)
    if len(operands) != 2:
        return None
    a, b = operands
    f = p.function
    if f is operator.mul and (is_const(a, 1) or is_const(b, 1)):
        return _kept(b if is_const(a, 1) else a, operands, p)
    if f is operator.mul and (is_const(a, 0) or is_const(b, 0)):
        scalars = not any(type_of(o).is_array for o in operands)
        return constant(0.0) if scalars else None
    if f in (operator.add, operator.sub) and is_const(b, 0):
        return _kept(a, operands, p)
    if f is operator.add and is_const(a, 0):
        return _kept(b, operands, p)
    if f in (operator.truediv, operator.pow) and is_const(b, 1):
        return _kept(a, operands, p)
    if f is operator.pow and is_const(b, 0):
        return constant(1.0)
    return None


def _kept(o: Operand, operands: tuple[Operand, ...], p: Primitive) -> Operand | None:
    """The operand itself where dropping the operation keeps the shape and the kind."""
    result = p.type_rule(*map(type_of, operands))
    here = type_of(o)
    same = here.rank == result.rank and (
        here.is_complex == result.is_complex
        and (here.is_inexact or not result.is_inexact)
    )
    if isinstance(o, Linear) and o.constant is not None and result in (FLOAT, COMPLEX):
        return convert(o, result)
    return o if same else None
