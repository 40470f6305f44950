"""What NumPy itself makes of example arrays: kinds, ranks, and dims as linear forms.

    np.concatenate of dims (n,) and (m,)     ->     float64, dims (n + m,)

A callable is run on small arrays of the operands' types, once with a length for every
symbol and once more for each symbol with that length changed: how the lengths of the
result follow gives its dims.  A length that does not follow linearly is left open.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradwright.transform.indices import Linear
from gradwright.transform.types import (
    VARYING,
    Type,
    array,
    numpy_scalar,
    of_number,
)

# The lengths of examples: the first, and how far they are apart; the second for an axis
# that is cut evenly.  Each in both orders: of n - k, one may be no length.
ATTEMPTS = ((7, 4), (60, 60))
REFUSED = (ValueError, IndexError, MemoryError, np.linalg.LinAlgError)
Meets = Iterable[tuple[Linear, Linear]]


def infer(
    run: Callable[[list[Any]], Any],
    operands: Sequence[Type | Linear],
    meets: Meets = (),
    ragged: bool = False,
    ones: bool = False,
) -> Any:
    """The type of what `run` makes of operands: tuples and lists of types, and types.

    Args:
        run: Takes the operands as a list of numbers and arrays.
        operands: Their types; a linear form for an int.
        meets: Pairs of dims that are equal, or one of them 1.
        ragged: The lengths of the result depend on the elements.
        ones: A dim that meets a 1 is 1 itself: nothing is stretched.

    Raises:
        Whatever NumPy raises for operands of these types.
    """
    same = _united(meets, ones)
    symbols = _symbols(operands, same)
    refused: Exception | None = None
    for attempt, sizes in _attempts(symbols, operands, same):
        try:
            base, taken = _run(run, operands, sizes, same), attempt
            break
        except (ValueError, IndexError) as e:
            refused = refused or e
    else:
        assert refused is not None
        raise refused
    lengths = _lengths(base)
    if not lengths:
        return _typed(base, iter(()))
    dims: list[Linear | None] = [None] * len(lengths)
    if not ragged:
        dims = _followed(run, operands, sizes, taken, same, lengths)
    return _typed(base, iter(VARYING if d is None else d for d in dims))


def _followed(
    run: Callable[[list[Any]], Any],
    operands: Sequence[Type | Linear],
    sizes: dict[Any, int],
    attempt: tuple[int, int],
    same: dict[Any, Linear],
    lengths: list[int],
) -> list[Linear | None]:
    """Every length as a linear form of the symbols; None where it is none."""
    first, step = attempt
    forms = [Linear({}, n) for n in lengths]
    crooked: set[int] = set()
    try:
        for s in sizes:
            moved = _lengths(_run(run, operands, {**sizes, s: sizes[s] + step}, same))
            for k, (n, m) in enumerate(zip(lengths, moved, strict=True)):
                slope, rest = divmod(m - n, step)
                if rest:
                    return [None] * len(lengths)
                forms[k] = forms[k] + Linear({s: slope}, -slope * sizes[s])
    except REFUSED:
        return [None] * len(lengths)
    for symbols in (list(sizes), list(sizes)[::-1]):
        others = _examples_of(symbols, first + 2 * step, 3 * step)
        if not all(_is_natural(o, others, same) for o in operands):
            continue
        try:
            found = _lengths(_run(run, operands, others, same))
        except REFUSED:
            continue  # lengths that do not go together
        pairs = enumerate(zip(forms, found, strict=True))
        crooked |= {k for k, (f, n) in pairs if _value(f, others) != n}
    crooked |= _crooked_when_empty(run, operands, sizes, same, forms)
    return [None if k in crooked else f for k, f in enumerate(forms)]


def _crooked_when_empty(
    run: Callable[[list[Any]], Any],
    operands: Sequence[Type | Linear],
    sizes: dict[Any, int],
    same: dict[Any, Linear],
    forms: list[Linear],
) -> set[int]:
    """Lengths that are others where all arrays are empty: that of a (n, 1)'s diagonal.

    No array is empty where a form would be negative: the entry checks that.
    """
    empty = dict.fromkeys(sizes, 0)
    wanted = [_value(form, empty) for form in forms]
    try:
        found = _lengths(_run(run, operands, empty, same))
    except REFUSED:
        return set()
    if len(found) != len(wanted) or min(wanted) < 0:
        return set()
    return {k for k, n in enumerate(found) if n != wanted[k]}


def _attempts(
    symbols: list[Any], operands: Sequence[Type | Linear], same: dict[Any, Linear]
) -> list[tuple[tuple[int, int], dict[Any, int]]]:
    """Lengths to try in turn; last, those for which a length would be negative."""
    orders = [symbols, symbols[::-1]] if len(symbols) > 1 else [symbols]
    found = [(a, _examples_of(s, *a)) for a in ATTEMPTS for s in orders]

    def has_negative(attempt: Any) -> bool:
        return not all(_is_natural(o, attempt[1], same) for o in operands)

    return sorted(found, key=has_negative)


# ---- symbols and sizes -------------------------------------------------------------


def _examples_of(symbols: list[Any], first: int, step: int) -> dict[Any, int]:
    """A length for every symbol, no two alike."""
    return {s: first + step * k for k, s in enumerate(symbols)}


def _united(meets: Meets, ones: bool) -> dict[Any, Linear]:
    """What to put for a symbol so that dims that meet are equal."""
    same: dict[Any, Linear] = {}
    for a, b in meets:
        difference = _resolved(a, same) - _resolved(b, same)
        if 1 in (a.constant, b.constant) and not ones:
            continue
        s = next(filter(partial(_divides, difference), difference.terms), None)
        if s is not None:
            c = difference.terms[s]
            others = {k: -n // c for k, n in difference.terms.items() if k != s}
            same[s] = Linear(others, -difference.offset // c)
    return same


def _divides(form: Linear, symbol: Any) -> bool:
    """Whether what a symbol is, where a form is zero, has no fractions."""
    c = form.terms[symbol]
    return all(n % c == 0 for n in (*form.terms.values(), form.offset))


def _resolved(form: Linear, same: dict[Any, Linear]) -> Linear:
    while any(s in same for s in form.symbols()):
        form = form.substitute(lambda s: same.get(s, Linear({s: 1})))
    return form


def _symbols(operands: Sequence[Type | Linear], same: dict[Any, Linear]) -> list[Any]:
    found: dict[Any, None] = {}
    for o in operands:
        for form in (o,) if isinstance(o, Linear) else o.dims or ():
            found.update(dict.fromkeys(_resolved(form, same).symbols()))
    return list(found)


def _is_natural(operand: Type | Linear, sizes: Any, same: dict[Any, Linear]) -> bool:
    """Whether no length of an operand would be negative."""
    dims = () if isinstance(operand, Linear) else operand.dims or ()
    return all(_value(_resolved(d, same), sizes) >= 0 for d in dims)


def _value(form: Linear, sizes: dict[Any, int]) -> int:
    return form.offset + sum(c * sizes[s] for s, c in form.terms.items())


# ---- examples ----------------------------------------------------------------------


def _run(
    run: Callable[[list[Any]], Any],
    operands: Sequence[Type | Linear],
    sizes: dict[Any, int],
    same: dict[Any, Linear],
) -> Any:
    def length(form: Linear) -> int:
        return max(_value(_resolved(form, same), sizes), 0)

    examples = [
        _value(_resolved(o, same), sizes)
        if isinstance(o, Linear)
        else example(o, tuple(map(length, o.dims or ())))
        for o in operands
    ]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return run(examples)


def example(t: Type, shape: tuple[int, ...]) -> Any:
    """The number 1 as this kind of scalar; an array that no solver refuses."""
    if t.dims is None:
        return t.weak()(1) if t.python else np.dtype(t.dtype).type(1)
    if t.is_integer:
        return np.zeros(shape, t.dtype)  # indices that lie inside any axis
    if len(shape) < 2:
        return np.ones(shape, t.dtype)
    unit = np.eye(shape[-2], shape[-1], dtype=t.dtype)
    return np.broadcast_to(unit, shape).copy()


# ---- results -----------------------------------------------------------------------


def _lengths(result: Any) -> list[int]:
    if isinstance(result, tuple | list):
        return [n for item in result for n in _lengths(item)]
    return list(result.shape) if isinstance(result, np.ndarray) else []


def _typed(result: Any, dims: Any) -> Any:
    """Types in place of numbers and arrays."""
    if isinstance(result, tuple | list):
        items = [_typed(item, dims) for item in result]
        return (
            type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
        )
    if isinstance(result, np.ndarray):
        return array(result.dtype, tuple(next(dims) for _ in result.shape))
    if isinstance(result, np.generic):
        return numpy_scalar(result.dtype)
    found = of_number(result)
    if found is None:
        raise TypeError(f"{type(result).__name__} is no number and no array")
    return found
