"""Sites: the places of a kernel that may fail, and the exception of each.

A kernel that fails leaves the number of its site and the operands there.  What Python
raises for a row is had by calling the row's own callable on these operands: class and
message are Python's, word by word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradwright.backends.machine.scalars import dtype_of
from gradwright.transform.errors import (
    BackendError,
    Location,
    in_users_words,
    note_user_line,
)
from gradwright.transform.primitives.record import Primitive
from gradwright.transform.types import Type

TOO_LARGE = "an int of compiled code has 64 bits, and this one does not fit"
Error = Callable[[list[Any]], BaseException]


@dataclass(frozen=True)
class Site:
    """kinds: of the operands that the kernel leaves.  error: what they raise."""

    where: Location | None
    kinds: tuple[Type, ...]
    error: Callable[[list[Any]], BaseException]

    def raised(self, words: Any) -> BaseException:
        """The exception of a failure, with the user's line."""
        found = self.error(list(operands(self.kinds, words)))
        if self.where is not None and not isinstance(found, BackendError):
            if isinstance(found, UnboundLocalError):
                in_users_words(found, self.where)
            note_user_line(found, self.where)
        return found


def words_of(t: Type) -> int:
    """How many words of 64 bits a number takes in a frame."""
    count = 2 if t.is_complex else 1
    return count + 1 if t.optional else count


def operands(kinds: tuple[Type, ...], words: Any) -> Iterator[Any]:
    """The numbers that stand in words, of the kinds that the program has."""
    k = 0
    for t in kinds:
        count = words_of(t)
        yield number_in(t, words[k : k + count])
        k += count


def number_in(t: Type, words: Any) -> Any:
    """The number that one or more words hold."""
    if t.optional:
        if words[-1]:
            return None
        t, words = replace(t, optional=False), words[:-1]
    dtype = dtype_of(t)
    values = []
    for w in words:
        if dtype.kind in "fc":
            part = dtype.type(0).real.dtype
            values.append(np.frombuffer(np.int64(w).tobytes(), part)[0])
        else:
            values.append(int(w))
    value: Any = complex(*values) if dtype.kind == "c" else values[0]
    if t.python:
        return {"bool": bool, "int": int, "float": float, "complex": complex}[t.dtype](
            value
        )
    if dtype.kind == "u":
        value %= 2 ** (8 * dtype.itemsize)
    return dtype.type(value)


def of_row(p: Primitive, out: Type) -> Error:
    """What a row's callable raises, or why its result is none of compiled code's."""

    def error(given: list[Any]) -> BaseException:
        with np.errstate(all="ignore"):
            try:
                found = p.function(*given)
            except Exception as e:
                return e.with_traceback(None)
        shown = ", ".join(map(repr, given))
        if type(found) is int and out.is_integer:
            return OverflowError(TOO_LARGE)
        if isinstance(found, complex) and not out.is_complex:
            return BackendError(
                f"{p.spelling} of {shown} is complex, and compiled code has {out} here",
                instead="complex numbers, as in complex(x) ** y",
            )
        return BackendError(
            f"{p.spelling} of {shown} is {found!r}, which compiled code does not give",
            instead="the function without jit for such numbers",
        )

    return error


def at(where: Location | None, error: Error) -> Error:
    """The same, a refusal of ours with the user's line."""

    def located(given: list[Any]) -> BaseException:
        found = error(given)
        if isinstance(found, BackendError):
            found.location = where
        return found

    return located


def too_large(_: list[Any]) -> BaseException:
    """The error of an int that does not fit."""
    return OverflowError(TOO_LARGE)


def out_of_bounds(axis: int) -> Error:
    """NumPy's error for an index that names no element."""

    def error(given: list[Any]) -> BaseException:
        index, size = given
        return IndexError(
            f"index {index} is out of bounds for axis {axis} with size {size}"
        )

    return error


def says(kind: type[BaseException], text: str) -> Error:
    """An exception whose message is known."""
    return lambda _: kind(text)


def unbound(name: str) -> Error:
    """Python's error for a name that holds nothing."""
    return says(
        UnboundLocalError,
        f"cannot access local variable '{name}' where it is not associated with "
        f"a value",
    )


CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}


def formatted(parts: tuple[Any, ...], given: list[Any]) -> str:
    """An f-string: texts, and operands by (position, conversion, specification)."""
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        k, conversion, specification = part
        value = given[k]
        if conversion != -1:
            value = CONVERSIONS[chr(conversion)](value)
        text += format(value, specification)
    return text


def of_user(kind: type[BaseException], arguments: list[Any]) -> Error:
    """The user's own exception: its arguments, which are known, numbers or texts.

    Each argument is `(known,)`, a position among the operands, or the parts of an
    f-string with the position of its first operand.
    """

    def error(given: list[Any]) -> BaseException:
        found = []
        for a in arguments:
            match a:
                case (known,):
                    found.append(known)
                case int(k):
                    found.append(given[k])
                case (parts, first):
                    found.append(formatted(parts, given[first:]))
        return kind(*found)

    return error
