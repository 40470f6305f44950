"""A jitted function before and after compiling: its texts, and what a call costs.

jit(f).lower(*args) gives a `Lowered`, with its texts; its .compile() an `Executable`,
which can be called, and says what a call costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.transform.errors import BackendError
from gradwright.transform.indices import Dim

if TYPE_CHECKING:
    from gradwright.entry import Entry
    from gradwright.specialisation import Specialisation

STAGES = "source", "core", "loops", "llvm", "asm"


class Lowered:
    """A function for arguments of some kinds, on its way to machine code."""

    def __init__(
        self, entry: Entry, found: Specialisation, args: tuple[Any, ...]
    ) -> None:
        self._entry, self._found = entry, found
        self._args = tuple(map(_outline, args))

    def as_text(self, stage: str = "loops") -> str:
        """The program at one stage.

        Args:
            stage: "source", the emitted source; "core", what it is in the language of
                the transforms; "loops", after lowering, as Python; "llvm" and "asm",
                of machine code.

        Raises:
            ValueError: There is no such stage.
            BackendError: The function has no machine code, and so no such text.
        """
        if stage == "core":
            from gradwright.staging import of

            return of(self._entry, self._args)["simplify"]
        return text_at(self._found, stage)

    def compile(self) -> Executable:
        """Machine code for arguments of these kinds."""
        return Executable(self._entry, self._found, self._args)

    def __repr__(self) -> str:
        return f"<lowered {self._found.forward.module.name}>"


class Executable(Lowered):
    """Machine code for arguments of some kinds; what it does is counted.

    The counts are those of the loops, not of what a processor makes of them: a number
    that stays in a register was read once for each time that the loops read it.
    """

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """The result of a call.

        Raises:
            TypeError: The arguments are of other kinds than it was compiled for.
        """
        entry = self._entry
        given = entry.bind(args, keywords)
        wanted, found = entry.key(self._args), entry.key(given)
        if wanted != found:
            from gradwright.reports import why

            raise TypeError(
                f"{entry.function.__name__} was compiled for other arguments: "
                f"{why(entry.names, found, [wanted])}"
            )
        return entry.call(args, keywords)

    def as_text(self, stage: str = "asm") -> str:
        """The program at one stage; without one, as it runs."""
        return super().as_text(stage)

    def cost_analysis(self) -> dict[str, Any]:
        """What a call does, for arguments of these lengths.

        Returns:
            "flops", operations on floats; "transcendentals", calls of exp, sin and the
            like; "bytes read" and "bytes written", of arrays; "library calls", such as
            of LAPACK, whose own work is not counted. Each is a number, or None where
            only the run knows; under "formulas" each is in terms of the arguments.
            Where a program branches, the longer way counts.
        """
        return self._analysis("counts")

    def memory_analysis(self) -> dict[str, Any]:
        """The bytes of memory that a call needs.

        Returns:
            "arguments", "outputs", "tape", for what a reverse sweep needs again, and
            "workspace", all other arrays; each as for `cost_analysis`.
        """
        return self._analysis("memory")

    def _analysis(self, kind: str) -> dict[str, Any]:
        from gradwright.transform.lowering.counts import Counting, add

        (values,) = [self._entry.leaves(self._args)]
        numbers: dict[str, int | None] = {}
        formulas: dict[str, list[str]] = {}
        for runner in _runners(self._found):
            function = runner.lowered.function
            counting = Counting(function, _name)
            found = add({}, getattr(counting, kind)())
            given = dict(zip(function.params, values, strict=False))

            def of(s: Any, given: dict[Any, Any] = given) -> int | None:
                if isinstance(s, Dim):
                    a = given.get(s.array)
                    return None if a is None else int(np.shape(a)[s.axis])
                return given.get(s)

            for k, f in found.items():
                n = f.value(of)
                before = numbers.get(k, 0)
                numbers[k] = None if n is None or before is None else before + n
                formulas.setdefault(k, []).append(f.text(_name))
        texts = {k: " + ".join(p for p in f if p != "0") for k, f in formulas.items()}
        return {**numbers, "formulas": {k: t or "0" for k, t in texts.items()}}


def text_at(found: Specialisation, stage: str) -> str:
    """The text of a specialisation at a stage behind the core."""
    if stage not in STAGES:
        raise ValueError(f"stage is one of {', '.join(STAGES)}, not {stage!r}")
    if stage == "source":
        return found.text
    return "\n\n".join(_text(runner, stage) for runner in _runners(found))


def _runners(found: Specialisation) -> list[Any]:
    """What was compiled: a function, or the two halves of a split."""
    runners: list[Any] = [r for r in (found.forward, found.backward) if r is not None]
    for runner in runners:
        lowered = getattr(runner, "lowered", None)
        if lowered is None or lowered.function is None:
            why = getattr(lowered, "refusal", None)
            raise BackendError(
                f"{runner.module.name} has no machine code, and runs as its source"
                + (f": {why}" if why else "")
            )
    return runners


def _text(runner: Any, stage: str) -> str:
    if stage == "loops":
        from gradwright.transform.emit import emit

        return emit(runner.lowered.function).text
    return runner.machine.usual.as_text(stage)  # type: ignore[no-any-return]


def _name(s: Any) -> str:
    """A symbol as a user knows it: an int by its name, a length as Python says it."""
    if isinstance(s, Dim):
        name = _name(s.array)
        return f"len({name})" if s.axis == 0 else f"{name}.shape[{s.axis}]"
    name = getattr(s, "settled", None) or s.name
    assert isinstance(name, str)
    return name


def _outline(a: Any) -> Any:
    """An argument's kind and lengths, without its memory."""
    from gradwright.results import outline

    return outline(a)
