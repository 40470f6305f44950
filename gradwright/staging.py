"""The program after every stage of its rewriting, as text."""

from __future__ import annotations

from typing import Any

import gast

from gradwright.derived import Derived
from gradwright.inspection import Stages
from gradwright.lowered import text_at
from gradwright.pipeline import derived_of, finish, is_compiled, store_in_place
from gradwright.transform import source as sources
from gradwright.transform.errors import BackendError
from gradwright.transform.layout import unparse
from gradwright.transform.normalise import normalise
from gradwright.transform.notation import notation


def of(entry: Any, args: tuple[Any, ...]) -> Stages:
    """Run the pipeline once more, and keep the text of every stage."""
    texts: dict[str, str] = {}
    source = sources.read(entry.function)
    first, last = source.node.lineno, source.node.end_lineno
    texts["source"] = "\n".join(source.line(n) for n in range(first, last + 1))
    texts["normalise"] = unparse(gast.gast_to_ast(normalise(source.node)))
    found, _ = entry.find(args)  # settles which parameters must be known

    def watch(title: str, derived: Derived) -> None:
        if title == "specialise":  # once more, with what was found to be needed
            for later in [*texts][2:]:
                del texts[later]
        while title in texts:  # grad of grad
            title += " again"
        texts[title] = _notation(derived)

    exact = entry.family.by_length
    patterns = entry.patterns(args, exact)
    whole = is_compiled(entry.steps)
    apart = not found.is_lifted
    derived, known = derived_of(
        entry.steps, source, patterns, watch, exact, whole, side_by_side=apart
    )
    store_in_place(entry.steps, derived, known)
    finish(derived)
    texts["simplify"] = _notation(derived)
    texts["emit"] = found.text
    if entry.is_jitted:
        try:
            texts["loops"] = text_at(found, "loops")
        except BackendError as e:
            texts["loops"] = "\n".join(f"# {line}" for line in str(e).splitlines())
    return Stages(texts)


def _notation(derived: Derived) -> str:
    return "\n".join(notation(f) for f in derived.functions())
