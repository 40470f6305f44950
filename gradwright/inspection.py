"""Looking inside: the source of a transformed function, and every stage before it.

source(grad(f), 2.0)          the gradient for a float
source(f, 2.0, kind="jvp")    what jvp(f, ...) runs;  kind="vjp" likewise
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradwright.callee import steps_of

if TYPE_CHECKING:
    from gradwright.entry import Entry
    from gradwright.specialisation import Specialisation


def source(
    function: Any,
    *args: Any,
    kind: str | None = None,
    stage: str | None = None,
    **keywords: Any,
) -> str:
    """The emitted source for these arguments; without any, of the last call.

    Args:
        function: A transformed function; with `kind` any function.
        args: The arguments of a call.
        kind: "jvp", "vjp" or "linearize", for the source that those run.
        stage: "loops", for the loops that a jitted function is compiled from, or
            "llvm" or "asm", for what becomes of them.
        keywords: Arguments by name.

    Example:
        >>> import gradwright as gw
        >>> def energy(x):
        ...     return 0.5 * x * x
        >>> source(energy, 1.0, kind="jvp").splitlines()[0]
        'def energy_jvp(x, x_dot):'
    """
    entry = entry_of(function, kind)
    found = _find(entry, function, args, keywords)
    if stage is None:
        return found.text
    from gradwright.lowered import text_at

    return text_at(found, stage)


def show(
    function: Any,
    *args: Any,
    kind: str | None = None,
    stage: str | None = None,
    **keywords: Any,
) -> Any:
    """Print the emitted source in colour; in a notebook the cell shows it.

    Returns:
        None in a terminal; in a notebook an object that is displayed as HTML.
    """
    text = source(function, *args, kind=kind, stage=stage, **keywords)
    if _in_notebook():
        return Shown(text)
    from rich.console import Console

    Console().print(_coloured(text))
    return None


def stages(
    function: Any, *args: Any, kind: str | None = None, **keywords: Any
) -> Stages:
    """The program after every stage: your source, normal form, core, emitted source.

    Of a jitted function, also the loops that machine code is made of.
    """
    from gradwright.staging import of

    entry = entry_of(function, kind)
    entry = entry.formed(args, keywords)
    return of(entry, entry.bind(args, keywords))


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


# ---- what to look into -------------------------------------------------------------


def entry_of(function: Any, kind: str | None) -> Entry:
    """The entry of a transformed function, or of jvp or vjp of any function."""
    from gradwright.transforms import Transformed, transformed

    if kind is not None:
        if kind not in ("jvp", "vjp", "linearize"):
            raise ValueError(f"kind is 'jvp', 'vjp' or 'linearize', not {kind!r}")
        return transformed(function, kind).entry
    if not isinstance(function, Transformed):
        raise TypeError(
            f"{getattr(function, '__name__', function)!r} is not transformed: "
            f"pass grad of it, or kind='jvp' or kind='vjp'"
        )
    return function.entry


def _find(
    entry: Entry, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]
) -> Specialisation:
    if args or keywords or not (entry.names or entry.last):
        entry = entry.formed(args, keywords)
        found = entry.of_call(entry.bind(args, keywords))
        entry.family.last = found
        return found
    last = entry.last or entry.family.last
    if last is None:
        name = getattr(function, "__name__", "the function")
        raise ValueError(
            f"{name} has not been called yet: pass example arguments, as in source(1.0)"
        )
    return last


# ---- showing -----------------------------------------------------------------------


def _coloured(text: str) -> Any:
    from rich.syntax import Syntax

    return Syntax(text, "python", theme="ansi_light", background_color="default")


def _in_notebook() -> bool:
    """Whether the caller's output is a notebook's, by what IPython says of itself."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return type(running).__name__ == "ZMQInteractiveShell"


class Shown:
    """A piece of source that a notebook displays in colour."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        import io

        from rich.console import Console

        console = Console(record=True, file=io.StringIO(), width=88)
        console.print(_coloured(self.text))
        return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


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
