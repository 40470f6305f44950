"""Emitted: what a specialisation runs, an emitted module or what stands for it."""

from __future__ import annotations

from typing import Any, Protocol

from gradwright.backends.numpy import load
from gradwright.transform.emit import Late, Module
from gradwright.transform.errors import (
    Location,
    in_users_words,
    note_sample,
    note_user_line,
)

NOTHING: dict[str, Any] = {}


class Runs(Protocol):
    """What runs the values of a call: those of its arguments, and captured ones."""

    def run(self, values: Any, hidden: dict[str, Any], /) -> Any:
        """The results of a call, one or a tuple of several."""


class Runner(Runs, Protocol):
    """What a specialisation runs: an emitted module, or what was compiled of it.

    hands_over_words: among its results is a tape that only machine code can read.
    """

    module: Module | Late
    hands_over_words: bool

    @property
    def is_machine_code(self) -> bool:
        """Whether it does not run as it was emitted."""

    def run(self, values: Any, hidden: dict[str, Any] = ..., /) -> Any:
        """The results of a call, one or a tuple of several."""


class Emitted:
    """An emitted module, loaded; the user's exceptions gain the user's line."""

    hands_over_words = is_machine_code = False

    def __init__(self, module: Module | Late) -> None:
        self.module = module
        self.function = load(module)

    def run(self, values: Any, hidden: dict[str, Any] = NOTHING) -> Any:
        try:
            return self.function(*values, **hidden)
        except Exception as e:
            self.note(e)
            raise

    def note(self, e: BaseException) -> None:
        """Add the user's line for the line of emitted source that raised."""
        filename = self.function.__code__.co_filename
        tb, found = e.__traceback__, None
        numbers: list[int] = []
        while tb is not None:
            code = tb.tb_frame.f_code
            if code.co_filename == filename:
                found = self._place(tb.tb_lineno, code.co_firstlineno) or found
                numbers += [
                    int(tb.tb_frame.f_locals[name])
                    for first, last, name in self.module.samples
                    if first <= tb.tb_lineno <= last and name in tb.tb_frame.f_locals
                ]
            tb = tb.tb_next
        if found is not None:
            if isinstance(e, UnboundLocalError):
                in_users_words(e, found)
            note_user_line(e, found)
        if numbers:
            note_sample(e, numbers)

    def _place(self, line: int, first: int) -> Location | None:
        """The user's line for this line of the function, or the nearest before it."""
        for n in range(line, first - 1, -1):
            if n in self.module.lines:
                return self.module.lines[n]
        return None
