"""Types of core values: two kinds of scalars, and arrays with symbolic dims.

Python's numbers are weak in promotion and keep Python's errors; NumPy's scalars carry
a dtype (`1.5 * float32` is float32, `float64(1.5) * float32` is float64):

    >>> print(join(FLOAT, numpy_scalar("float32")))
    np.float32
    >>> print(promote(numpy_scalar("float64"), numpy_scalar("float32")))
    np.float64
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradwright.transform.indices import Linear, linear

VARYING = Linear({"varying": 1})
"""The dim of a cell that holds arrays of different lengths in the course of a loop."""
MIXED = Linear({"mixed": 1})
"""The dim of a cell that holds a number first and arrays later."""

PYTHON_ORDER = ("bool", "int", "float", "complex")


# How NumPy calls the kinds of Python's numbers.
OF_NUMPY = {"float": "float64", "int": "int64", "complex": "complex128"}


@dataclass(frozen=True)
class Type:
    """A scalar or an array; `dims` is None for a scalar, a tuple for an array.

    `python` tells Python's own numbers (and `str`) from NumPy's; an `optional` value
    may also be None, as `best = None` before a search loop.
    """

    dtype: str
    python: bool = False
    dims: tuple[Linear, ...] | None = None
    optional: bool = False
    items: tuple[Type, ...] | None = None  # of what a primitive returns as a tuple

    def __post_init__(self) -> None:
        if not self.python and self.dtype in OF_NUMPY:
            object.__setattr__(self, "dtype", OF_NUMPY[self.dtype])

    @property
    def is_array(self) -> bool:
        return self.dims is not None

    @property
    def is_number(self) -> bool:
        return self.dtype not in ("str", "None", "tuple", "tape")

    @property
    def is_complex(self) -> bool:
        return self.is_number and self._kind == "c"

    @property
    def is_inexact(self) -> bool:
        """Float or complex: what can be differentiated; of a tuple, any item."""
        if self.items is not None:
            return any(t.is_inexact for t in self.items)
        return self.is_number and self._kind in "fc"

    @property
    def is_integer(self) -> bool:
        return self.is_number and self._kind in "iu"

    @property
    def is_bool(self) -> bool:
        return self.is_number and self._kind == "b"

    @property
    def _kind(self) -> str:
        if self.python:
            return {"bool": "b", "int": "i", "float": "f", "complex": "c"}[self.dtype]
        return np.dtype(self.dtype).kind

    @property
    def element(self) -> Type:
        """The type of one element, as indexing gives it."""
        return replace(self, dims=None)

    @property
    def rank(self) -> int:
        return len(self.dims) if self.dims is not None else 0

    def weak(self) -> Any:
        """What NumPy's promotion rules take: a Python class or a dtype."""
        if self.python:
            return {"bool": bool, "int": int, "float": float, "complex": complex}[
                self.dtype
            ]
        return np.dtype(self.dtype)

    def __str__(self) -> str:
        name = self.dtype if self.python else f"np.{self.dtype}"
        if self.is_array:
            name = f"array of {self.dtype} with {self.rank} axes"
        if self.items is not None:
            name = f"tuple of {len(self.items)}"
        return f"{name} or None" if self.optional else name


BOOL, INT, FLOAT, COMPLEX = (Type(name, python=True) for name in PYTHON_ORDER)
TEXT = Type("str", python=True)
NONE = Type("None", python=True)


def numpy_scalar(dtype: Any) -> Type:
    """The type of a NumPy scalar of this dtype."""
    return Type(np.dtype(dtype).name)


def array(dtype: Any, dims: tuple[Linear | int, ...]) -> Type:
    """The type of an array of this dtype and these dims."""
    return Type(np.dtype(dtype).name, dims=tuple(linear(d) for d in dims))


def tuple_of(items: tuple[Type, ...]) -> Type:
    """The type of what a primitive with several results returns."""
    return Type("tuple", python=True, items=items)


def of_number(value: Any) -> Type | None:
    """The type of a run-time number or string; None for anything else, arrays too."""
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return numpy_scalar(value.dtype)
    for cls, result in ((bool, BOOL), (int, INT), (float, FLOAT), (complex, COMPLEX)):
        if type(value) is cls:
            return result
    return TEXT if type(value) is str else None


def promote(*operands: Type) -> Type:
    """NumPy's result type of an operation on these, Python's where all are Python's."""
    if all(t.python for t in operands):
        order = max(PYTHON_ORDER.index(t.dtype) for t in operands)
        return (BOOL, INT, FLOAT, COMPLEX)[order]
    examples = [t.weak()(0) if t.python else t.weak() for t in operands]
    return numpy_scalar(np.result_type(*examples))


def broadcast(*operands: Type) -> tuple[Linear, ...] | None:
    """The dims of an elementwise result: NumPy's rule on symbols; None for scalars.

    Only the constant 1 stretches; two dims that are not provably equal are taken to
    be equal, which NumPy itself checks when the program runs.
    """
    arrays = [t.dims for t in operands if t.dims is not None]
    if not arrays:
        return None
    result: list[Linear] = []
    for k in range(max(map(len, arrays)), 0, -1):
        met = [dims[-k] for dims in arrays if len(dims) >= k]
        long = [d for d in met if d.constant != 1] or met
        result.append(next((d for d in long if not is_mixed(d)), long[0]))
    return tuple(result)


def fills(own: Type, shape: Type) -> bool:
    """Whether an operand has the whole shape; dims that met are taken to be equal."""
    if own.rank != shape.rank:
        return False
    pairs = zip(own.dims or (), shape.dims or (), strict=True)
    return all(d.constant != 1 or f.constant == 1 for d, f in pairs)


def is_mixed(dim: Linear) -> bool:
    """Whether it is of what a cell holds that may have been a number."""
    places = (getattr(getattr(s, "array", None), "of", None) for s in dim.symbols())
    return any(p is not None and MIXED in (p.type.dims or ()) for p in places)


def join(a: Type, b: Type) -> Type | None:
    """The type of a name that is an `a` on one path and a `b` on another.

    int and float give float; Python's number and NumPy's give what NumPy would after
    one operation, and so do a number and an array; None beside a scalar gives an
    optional scalar.  None: no such type.
    """
    if a == b:
        return a
    if NONE in (a, b):
        other = b if a == NONE else a
        return None if other.is_array else replace(other, optional=True)
    optional = a.optional or b.optional
    a, b = replace(a, optional=False), replace(b, optional=False)
    if not (a.is_number and b.is_number):
        return None
    if a.is_array is not b.is_array:  # 0 before a loop that adds arrays
        held, number = (a, b) if a.is_array else (b, a)
        dtype = promote(held.element, number).dtype
        return Type(dtype, dims=(MIXED,) * held.rank, optional=optional)
    if a.rank != b.rank:
        return None
    if a.is_array:
        if a.dtype != b.dtype:
            return None
        pairs = zip(a.dims or (), b.dims or (), strict=True)
        dims = tuple(
            x if x == y else MIXED if MIXED in (x, y) else VARYING for x, y in pairs
        )
        return replace(a, dims=dims, optional=optional)
    return replace(promote(a, b), optional=optional)


def element_dtype(t: Type) -> str:
    """The dtype of an array of such numbers: of Python's, NumPy's usual ones."""
    if not t.python:
        return t.dtype
    return {"float": "float64", "int": "int64", "complex": "complex128"}.get(
        t.dtype, "bool"
    )


def as_numpy(t: Type) -> Type:
    """The type of what NumPy makes of many such numbers."""
    return t if t.is_array or not t.python else numpy_scalar(element_dtype(t))
