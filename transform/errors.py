"""One family of errors: what went wrong, the user's line, what to write instead.

Every refusal of gradwright is raised in one form, and reads the same everywhere:

    >>> line = "    with open(name) as f:"
    >>> place = Location("loss.py", 12, 4, 25, line, "loss")
    >>> print(UnsupportedSyntax(
    ...     "cannot differentiate a 'with' block",
    ...     at=place,
    ...     instead="open the file outside and pass the numbers",
    ... ))
    loss.py:12: cannot differentiate a 'with' block
        with open(name) as f:
        ^^^^^^^^^^^^^^^^^^^^^
    Write instead: open the file outside and pass the numbers

What the user's own program raises keeps Python's class and message; it only gains a
note that shows the line (`note_user_line`).
"""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Location:
    """A piece of one line of the user's source.

    Columns count characters from 0, `end_column` is the first one behind the piece;
    `text` is the whole line, indented as the user wrote it.
    """

    filename: str
    line: int
    column: int
    end_column: int
    text: str
    function: str

    def __str__(self) -> str:
        """File and line, as `loss.py:12`; the folders are left out."""
        # names such as "<doctest a/b[0]>" are no paths
        is_path = not self.filename.startswith("<")
        name = os.path.basename(self.filename) if is_path else self.filename
        return f"{name}:{self.line}"

    def excerpt(self) -> str:
        """The line and a row of carets under the piece, both indented by four."""
        shown = self.text.strip()
        indent = len(self.text) - len(self.text.lstrip())
        start = max(self.column - indent, 0)
        before, piece = shown[:start], shown[start : max(self.end_column - indent, 0)]
        # a tab stays a tab, so that the carets stand right for any width of it
        blank = "".join("\t" if c == "\t" else " " * _width(c) for c in before)
        carets = "^" * max(sum(map(_width, piece)), 1)
        return f"    {shown}\n    {blank}{carets}"


def _width(character: str) -> int:
    """The columns that a terminal gives to a character."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class GradwrightError(Exception):
    """The base of all errors that gradwright itself raises.

    Args:
        message: What went wrong, in the user's words.
        at: Where, if it is a matter of one place in the user's source.
        instead: What to write instead; printed behind "Write instead: ".
    """

    def __init__(
        self, message: str, *, at: Location | None = None, instead: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.location = at
        self.instead = instead

    def __str__(self) -> str:
        lines = [self.message]
        if self.location is not None:
            lines = [f"{self.location}: {self.message}"]
            if self.location.text.strip():
                lines.append(self.location.excerpt())
        if self.instead is not None:
            lines.append(f"Write instead: {self.instead}")
        return "\n".join(lines)

    # Exceptions pickle by their positional arguments, and ours are keywords.
    def __reduce__(self) -> tuple[Any, ...]:
        parts = type(self), self.message, self.location, self.instead
        return _rebuild, parts, self.__dict__


def _rebuild(
    kind: type[GradwrightError],
    message: str,
    location: Location | None,
    instead: str | None,
) -> GradwrightError:
    return kind(message, at=location, instead=instead)


class SourceError(GradwrightError, OSError):
    """A function's source cannot be had, or is no longer what the function runs."""


class UnsupportedSyntax(GradwrightError, SyntaxError):
    """A statement or expression that cannot be rewritten rightly."""

    def __init__(
        self, message: str, *, at: Location | None = None, instead: str | None = None
    ) -> None:
        super().__init__(message, at=at, instead=instead)
        # Tracebacks do not call str() on a SyntaxError: they lay out these.
        if instead is not None:
            self.msg = f"{message}\nWrite instead: {instead}"
        if at is not None:
            self.filename, self.text = at.filename, at.text
            self.lineno = self.end_lineno = at.line
            self.offset, self.end_offset = at.column + 1, at.end_column + 1


class MissingRule(GradwrightError, NotImplementedError):
    """A called function has neither a row in the table nor source to rewrite."""


class ShapeError(GradwrightError, ValueError):
    """Shapes that do not fit, or a rank that is not known where it must be."""


class NotDifferentiable(GradwrightError, TypeError):
    """A derivative is asked for where the program has none, as of an integer."""


class AliasError(GradwrightError, ValueError):
    """Two names share memory where a store through one would falsify the other."""


class EffectError(GradwrightError, ValueError):
    """The program changes what it captured, or has an effect that is not allowed."""


class BackendError(GradwrightError, RuntimeError):
    """A compiler, device or communicator is missing or has failed."""


class CompileWarning(UserWarning):
    """A jitted function runs as its emitted source: it has no machine code.

    Or as the user's own function, where that changes a list of the caller.
    """


def in_users_words(error: UnboundLocalError, location: Location) -> None:
    """Say the user's name where the emitted source had to choose another.

    Example:
        >>> error = UnboundLocalError("cannot access local variable 'max_1' where ...")
        >>> in_users_words(error, Location("loss.py", 7, 8, 19, "    y = 2 * max", "f"))
        >>> str(error)
        "cannot access local variable 'max' where ..."
    """
    found = re.search(r"'(\w+)'", str(error))
    if found is None:
        return
    words, name = set(re.findall(r"\w+", location.text)), found[1]
    while name not in words:
        shorter = re.sub(r"_(\d+|dot|bar)$", "", name)
        if shorter == name:
            break
        name = shorter
    if name in words:
        error.args = (str(error).replace(found[0], f"'{name}'", 1),)
        error.name = name


def note_sample(exception: BaseException, numbers: list[int]) -> None:
    """Note which sample of a vmap an exception is of, in nested ones one in another.

    Example:
        >>> error = ValueError("math domain error")
        >>> note_sample(error, [2])
        >>> error.__notes__
        ['  in sample 2 of vmap']
    """
    at = str(numbers[0]) if len(numbers) == 1 else str(numbers)
    exception.add_note(f"  in sample {at} of vmap")


def note_user_line(exception: BaseException, location: Location) -> None:
    """Note the user's line on an exception of the user's program, once per line.

    Example:
        >>> error = ValueError("math domain error")
        >>> place = Location("loss.py", 7, 8, 19, "    y = math.log(x)", "f")
        >>> note_user_line(error, place)
        >>> error.__notes__
        ['  in f, loss.py:7: y = math.log(x)']
    """
    note = f"  in {location.function}, {location}: {location.text.strip()}"
    if note not in getattr(exception, "__notes__", ()):
        exception.add_note(note)
