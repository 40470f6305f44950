"""The derivatives that users call: grad, value_and_grad, jvp, vjp; and looking inside.

Each returns or works through a `Transformed` function, which only remembers what to
do: the rewriting happens at the first call with a new kind of argument.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradwright import inspection
from gradwright.positions import must_be_callable, positions
from gradwright.transform.errors import BackendError, NotDifferentiable
from gradwright.transform.step import Step

if TYPE_CHECKING:
    from gradwright.entry import Entry
    from gradwright.sparse import Sweeps


def _entry(target: Any, *more: Step) -> Entry:
    """The way to a function's specialisations, and with it the whole pipeline."""
    # Imported at the first call: a program that only asks does not wait for it.
    from gradwright.entry import Entry

    return Entry(target, *more)


class Transformed:
    """A function and a transform of it: callable, with its source to look at."""

    __slots__ = ("__dict__", "__weakref__", "_entry", "_step")
    __wrapped__: Any

    def __init__(self, function: Any, step: Step) -> None:
        functools.update_wrapper(self, function, updated=())
        self.__wrapped__ = function
        self._step = step
        self._entry: Entry | None = None

    # No part of __dict__, which functools.wraps copies to functions of another meaning.
    @property
    def __gradwright__(self) -> Step:
        return self._step

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.__wrapped__)

    @property
    def entry(self) -> Entry:
        """The way to the specialisations of this function."""
        if self._entry is None:
            self._entry = _entry(self)
        return self._entry

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        entry = self._entry or self.entry
        try:
            return entry.fast(entry, args, keywords)
        except Exception as e:
            if not entry.may_be_lifted:
                raise
            failed = e
        return entry.in_a_loop(failed, args, keywords)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if isinstance(self.__wrapped__, staticmethod):
            return self
        if isinstance(self.__wrapped__, classmethod):
            return type(self)(self.__wrapped__.__get__(instance, owner), self._step)
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return inspection.describe(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.__wrapped__, self._step)

    def lower(self, *args: Any, **keywords: Any) -> Any:
        """This function for arguments of these kinds: its texts, its machine code.

        Returns:
            An object with `as_text(stage)`, stage being "source", "core", "loops",
            "llvm" or "asm"; its `compile()` gives a callable with `as_text()`,
            `cost_analysis()` and `memory_analysis()`.

        Raises:
            BackendError: The function is not jitted.

        Example:
            >>> import gradwright as gw
            >>> import numpy as np
            >>> def smooth(u, n):
            ...     for k in range(n):
            ...         u = 0.5 * u + 1.0
            ...     return np.sum(u)
            >>> compiled = gw.jit(smooth).lower(np.ones(8), 10).compile()
            >>> compiled(np.ones(8), 10)
            np.float64(15.9921875)
            >>> cost = compiled.cost_analysis()
            >>> cost["flops"], cost["formulas"]["flops"]
            (168, '2 * len(u) * n + len(u)')
        """
        entry = self.entry
        if not entry.is_jitted:
            raise BackendError(
                f"{self!r} is not compiled", instead="jit of it, as in jit(f).lower(x)"
            )
        return entry.lower(args, keywords)

    def source(self, *args: Any, **keywords: Any) -> str:
        """The source that runs for these arguments, or for those of the last call."""
        return inspection.source(self, *args, **keywords)

    def show(self, *args: Any, **keywords: Any) -> Any:
        """Print the source in colour; in a notebook, as HTML."""
        return inspection.show(self, *args, **keywords)

    def stages(self, *args: Any, **keywords: Any) -> inspection.Stages:
        """The program after every stage of its rewriting."""
        return inspection.stages(self, *args, **keywords)


class Sparse(Transformed):
    """A function and its sparse Jacobian, put together at each call.

    Its source is that of the sweep: by columns, or as the last call had it.
    """

    __slots__ = ("_sweeps",)

    def __init__(self, function: Any, step: Step) -> None:
        super().__init__(function, step)
        self._sweeps: Sweeps | None = None

    @property
    def sweeps_of(self) -> Sweeps:
        """The way to its sweeps."""
        if self._sweeps is None:
            from gradwright.sparse import Sweeps

            self._sweeps = Sweeps(self.__wrapped__, self._step)
        return self._sweeps

    @property
    def entry(self) -> Entry:
        return self.sweeps_of.last

    @property
    def sweeps(self) -> int:
        """How many sweeps the last call took."""
        return self.sweeps_of.count

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.sweeps_of.call(args, keywords)


def grad(
    fun: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Any:
    """The gradient of a function that returns one real number.

    Args:
        fun: The function; left out, `grad(...)` is a decorator.
        argnums: Which arguments to differentiate: an int, or a tuple for several.
        has_aux: The function returns (value, aux), and so the gradient function
            returns (gradient, aux).
        argnames: The arguments by name, in place of argnums.
        holomorphic: Arguments and result are complex, and the function is holomorphic
            in them: the result is its complex derivative.
        allow_int: Ints and bools in an argument are passed over; a zero of their kind
            stands in their place.

    Returns:
        A function of the same arguments; its result has the structure, shape and
        dtype of the argument. For a complex argument it is df/dx - i df/dy.

    Raises:
        NotDifferentiable: At the call, if the argument or the result is not a float.

    Example:
        >>> def energy(x):
        ...     return 0.5 * x * x
        >>> grad(energy)(3.0)
        3.0
        >>> grad(lambda p: p["a"] * p["b"])({"a": 2.0, "b": 3.0})
        {'a': 3.0, 'b': 2.0}
    """
    step = Step("grad", argnums, has_aux, holomorphic, allow_int)  # type: ignore[arg-type]
    return _make(fun, step, argnames)


def value_and_grad(
    fun: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Any:
    """The value and the gradient, from one forward sweep; arguments as for `grad`.

    Example:
        >>> def energy(x):
        ...     return 0.5 * x * x
        >>> value_and_grad(energy)(3.0)
        (4.5, 3.0)
    """
    step = Step("value_and_grad", argnums, has_aux, holomorphic, allow_int)  # type: ignore[arg-type]
    return _make(fun, step, argnames)


def jacfwd(
    fun: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
    sparse: bool = False,
) -> Any:
    """The Jacobian of a function, column by column: for few arguments, many results.

    Args:
        fun: The function, of any numbers and arrays; left out, it is a decorator.
        argnums: Which arguments to differentiate: an int, or a tuple for several.
        has_aux: The function returns (value, aux), and so the Jacobian function
            returns (jacobian, aux).
        holomorphic: As for `grad`.
        argnames: The arguments by name, in place of argnums.
        sparse: As for `jacobian`, with a sweep for each colour of columns.

    Returns:
        A function of the same arguments. Its result has the structure of the value
        and, in the place of each number or array in that, the structure of the
        argument; the shapes there are those of the two, one behind the other.

    Raises:
        NotDifferentiable: At the call, if the argument or the result is not a float.
        EffectError: At the call, if the function prints or warns, which it would do
            for every column.

    Example:
        >>> def polar(x, y):
        ...     return {"r": x * x + y * y, "slope": y / x}
        >>> jacfwd(polar, argnums=(0, 1))(1.0, 2.0)
        {'r': (2.0, 4.0), 'slope': (-2.0, 1.0)}
    """
    step = Step("jacfwd", argnums, has_aux, holomorphic, sparse=sparse)  # type: ignore[arg-type]
    return _make(fun, step, argnames)


def jacrev(
    fun: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
    sparse: bool = False,
) -> Any:
    """The Jacobian of a function, row by row: for many arguments, few results.

    Arguments and result are those of `jacfwd`. The function itself runs once. With
    `sparse` it is the Jacobian of `jacobian`, with a sweep for each colour of rows.

    Example:
        >>> jacrev(lambda p: (p[0] * p[1], p[0]))((2.0, 3.0))
        ((3.0, 2.0), (1.0, 0.0))
    """
    step = Step("jacrev", argnums, has_aux, holomorphic, sparse=sparse)  # type: ignore[arg-type]
    return _make(fun, step, argnames)


def jacobian(
    fun: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
    sparse: bool = False,
) -> Any:
    """The Jacobian of a function: `jacrev`, or with `sparse` by as few sweeps as do.

    Args:
        fun: The function, of any numbers and arrays; left out, it is a decorator.
        argnums: Which arguments to differentiate: an int, or a tuple for several.
        has_aux: The function returns (value, aux), and so the Jacobian function
            returns (jacobian, aux).
        holomorphic: As for `grad`; not with sparse.
        argnames: The arguments by name, in place of argnums.
        sparse: Find at each call where the Jacobian may not be zero, for these very
            arguments and the branches they take; colour its columns or its rows,
            whichever needs fewer colours; and run one sweep for each colour.

    Returns:
        A function of the same arguments. Its result is that of `jacrev`. With sparse
        each block of it, of a result y by an argument x, is a `scipy.sparse.csr_array`
        of shape (y.size, x.size): the dense block, its axes laid out in C order. What
        is stored may be zero; what is not stored is. `sweeps` of that function is how
        many the last call took, and its source is that of a sweep.

    Raises:
        NotDifferentiable: At the call, if the argument or the result is not a float;
            with sparse, if it is complex.
        EffectError: At the call with sparse, if the function prints or warns.
        BackendError: At the call with sparse, SciPy is not installed.

    Example:
        >>> import numpy as np
        >>> def bends(x):
        ...     return x[2:] - 2.0 * x[1:-1] + x[:-2] ** 2
        >>> jac = jacobian(bends, sparse=True)
        >>> jac(np.ones(6)).toarray()
        array([[ 2., -2.,  1.,  0.,  0.,  0.],
               [ 0.,  2., -2.,  1.,  0.,  0.],
               [ 0.,  0.,  2., -2.,  1.,  0.],
               [ 0.,  0.,  0.,  2., -2.,  1.]])
        >>> jac.sweeps
        3
    """
    kind = "jacobian" if sparse else "jacrev"
    step = Step(kind, argnums, has_aux, holomorphic, sparse=sparse)  # type: ignore[arg-type]
    return _make(fun, step, argnames)


def hessian(
    fun: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
) -> Any:
    """The second derivatives of a function: jacfwd of jacrev, with its arguments.

    Example:
        >>> import numpy as np
        >>> hessian(lambda x: x[0] * x[1])(np.array([2.0, 3.0]))
        array([[0., 1.],
               [1., 0.]])
    """
    if fun is None:
        return lambda f: hessian(f, argnums, has_aux, holomorphic, argnames=argnames)
    options = {"has_aux": has_aux, "holomorphic": holomorphic, "argnames": argnames}
    return jacfwd(jacrev(fun, argnums, **options), argnums, **options)  # type: ignore[arg-type]


def _make(fun: Any, step: Step, argnames: Any) -> Any:
    if fun is None:
        return lambda f: _make(f, step, argnames)
    must_be_callable(step.kind, fun)
    argnums = positions(step.kind, fun, step.argnums, argnames)
    made = Sparse if step.sparse else Transformed
    return made(fun, replace(step, argnums=argnums))


# ---- forward and reverse -----------------------------------------------------------


def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> Any:
    """The value and its derivative along a direction: forward mode.

    Args:
        fun: The function, of any numbers and arrays.
        primals: Its arguments, a tuple or list.
        tangents: A direction for each, of its structure; an int's is not looked at.
        has_aux: The function returns (value, aux), and aux comes out last.

    Returns:
        (value, tangent), the tangent with the structure of the value; or
        (value, tangent, aux).

    Example:
        >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
        (6.0, 3.0)
    """
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise NotDifferentiable("jvp takes its primals and tangents as tuples or lists")
    must_be_callable("jvp", fun)
    entry = _entry(fun, Step("jvp", None, has_aux))
    return entry.jvp(tuple(primals), tuple(tangents))


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value and a function that pulls cotangents back: reverse mode.

    Args:
        fun: The function, of any numbers and arrays.
        primals: Its arguments.
        has_aux: The function returns (value, aux), and aux comes out last.

    Returns:
        (value, pull) or (value, pull, aux): pull takes a cotangent with the structure
        of the value and returns a tuple, one cotangent for each argument; it may be
        called again, and `pull.source()` is its text.

    Example:
        >>> value, pull = vjp(lambda x, y: x * y, 2.0, 3.0)
        >>> value, pull(1.0)
        (6.0, (3.0, 2.0))
    """
    must_be_callable("vjp", fun)
    from gradwright.pull import Pull

    entry = _entry(fun, Step("vjp", None, has_aux))
    of = transformed(fun, "vjp")
    value, pull, aux = entry.split(primals, Pull, lambda: repr(of))
    return (value, pull, aux) if has_aux else (value, pull)


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value and a function that pushes tangents forward from there.

    The function itself runs once, and what its derivative needs is kept.

    Args:
        fun: The function, of any numbers and arrays.
        primals: Its arguments.
        has_aux: The function returns (value, aux), and aux comes out last.

    Returns:
        (value, push) or (value, push, aux): push takes a tangent for each argument
        and returns the tangent of the value; it may be called any number of times.

    Example:
        >>> value, push = linearize(lambda x, y: x * y, 2.0, 3.0)
        >>> value, push(1.0, 0.0), push(0.0, 1.0)
        (6.0, 3.0, 2.0)
    """
    must_be_callable("linearize", fun)
    from gradwright.pull import Push

    entry = _entry(fun, Step("linearize", None, has_aux))
    of = transformed(fun, "linearize")
    value, push, aux = entry.split(primals, Push, lambda: repr(of))
    return (value, push, aux) if has_aux else (value, push)


def hvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> Any:
    """The gradient, and the Hessian times a vector, which is never built.

    Args:
        fun: A function that returns one real number.
        primals: Its arguments, a tuple or list; all of them are differentiated.
        tangents: What the Hessian is multiplied with, one for each argument.

    Returns:
        (gradient, product), each a tuple with one entry for each argument, or that
        entry alone where there is one argument.

    Example:
        >>> hvp(lambda x, y: x * x * y, (2.0, 3.0), (1.0, 0.0))
        ((12.0, 4.0), (6.0, 4.0))
    """
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise NotDifferentiable("hvp takes its primals and tangents as tuples or lists")
    count = len(primals)
    return jvp(grad(fun, tuple(range(count)) if count != 1 else 0), primals, tangents)


def stop_gradient(x: Any) -> Any:
    """The argument as it is, and its derivative zero.

    Args:
        x: A number, an array, or a structure of them.

    Example:
        >>> grad(lambda x: x * stop_gradient(x))(3.0)
        3.0
    """
    return x


def transformed(fun: Any, kind: str, has_aux: bool = False) -> Transformed:
    """The jvp or vjp of a function as an object."""
    must_be_callable(kind, fun)
    return Transformed(fun, Step(kind, None, has_aux))


for _transform in (
    grad, value_and_grad, jvp, vjp, jacfwd, jacrev, hessian, linearize, hvp,
    stop_gradient,
):  # fmt: skip
    vars(_transform)["__gradwright_kind__"] = _transform.__name__

vars(jacobian)["__gradwright_kind__"] = "jacrev"
