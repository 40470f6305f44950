"""The program after every stage of its rewriting, as text."""

from __future__ import annotations

from typing import Any

import gast

from gradwright.inspection import Stages
from gradwright.pipeline import (
    Derived,
    apply,
    call_arguments,
    derive,
    emit_derived,
    steps_of,
)
from gradwright.transform.emit import unparse
from gradwright.transform.normalise import normalise
from gradwright.transform.notation import notation
from gradwright.transform.simplify import simplify
from gradwright.transform.specialise import specialise


def of(transformed: Any, entry: Any, args: tuple[Any, ...]) -> Stages:
    """Run the pipeline once more, and keep the text of every stage."""
    texts: dict[str, str] = {}
    source = entry.source
    first, last = source.node.lineno, source.node.end_lineno
    texts["source"] = "\n".join(source.line(n) for n in range(first, last + 1))
    texts["normalise"] = unparse(gast.gast_to_ast(normalise(source.node)))
    entry.find(args)  # settles which parameters must be known
    patterns = {n: entry.pattern(n, a) for n, a in zip(entry.names, args, strict=True)}
    made = specialise(source, patterns, apply)
    texts["specialise"] = notation(made.function)
    derived = Derived(made.function, call_arguments(made, source), made.result, source)
    for step in steps_of(transformed)[1]:
        derived = derive(derived, step)
        parts = derived.functions()
        texts[step.kind] = "\n".join(notation(p) for p in parts)
    for p in parts:
        simplify(p)
    texts["simplify"] = "\n".join(notation(p) for p in parts)
    texts["emit"] = "\n\n".join(map(str, emit_derived(derived)))
    return Stages(texts)
