"""Looking inside: the source of a transformed function, and every stage before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gradwright.pipeline import steps_of


def source(transformed: Any, *args: Any, **keywords: Any) -> str:
    """The emitted source for these arguments; without any, of the last call."""
    found = _find(transformed, args, keywords)
    backward = found.built.backward
    return found.module.text + (f"\n\n{backward.text}" if backward else "")


def show(transformed: Any, *args: Any, **keywords: Any) -> Any:
    """Print the emitted source in colour; in a notebook it is shown as HTML."""
    from rich.console import Console
    from rich.syntax import Syntax

    text = source(transformed, *args, **keywords)
    Console().print(Syntax(text, "python", theme="ansi_light", background_color="default"))


def stages(transformed: Any, *args: Any, **keywords: Any) -> Stages:
    """The program after every stage: your source, normal form, core, emitted source."""
    from gradwright.stages import of

    entry = transformed.entry
    return of(transformed, entry, entry.bind(args, keywords))


def describe(transformed: Any) -> str:
    """What it is of what, and where: <grad of loss, model.py:12>."""
    user, steps = steps_of(transformed)
    kinds = " of ".join(s.kind for s in reversed(steps))
    name = getattr(user, "__qualname__", repr(user))
    code = getattr(user, "__code__", None)
    if code is None:
        return f"<{kinds} of {name}>"
    file = code.co_filename.rsplit("/", 1)[-1]
    return f"<{kinds} of {name}, {file}:{code.co_firstlineno}>"


def _find(transformed: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    entry = transformed.entry
    if args or keywords:
        return entry.find(entry.bind(args, keywords))
    if entry.last is None:
        entry.open()
        if not entry.names:
            return entry.find(())
        raise ValueError(
            f"{describe(transformed)} has not been called yet: "
            f"pass example arguments, as in .source(1.0)"
        )
    return entry.last


@dataclass
class Stages:
    """Titles and texts, in the order of the pipeline; printing it prints them all."""

    texts: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, title: str) -> str:
        return self.texts[title]

    def __iter__(self) -> Any:
        return iter(self.texts)

    def __str__(self) -> str:
        rulers = (f"# ---- {title} ".ljust(86, "-") for title in self.texts)
        return "\n".join(
            f"{ruler}\n{text.rstrip()}\n"
            for ruler, text in zip(rulers, self.texts.values(), strict=True)
        )

    __repr__ = __str__
