"""The map, on one page: from a user's function to the source that runs.

    user function -> source -> normalise -> specialise -> forward | reverse
                  -> simplify -> emit -> backend

`build` takes a function and the kinds of its arguments through all of it.  Transforms
nest: the innermost is applied first, and a transform that the program itself calls goes
through `apply`, on the program's own core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gradwright.derive import derive
from gradwright.derived import Derived, arranged, check_result
from gradwright.transform.begin import begin_whole
from gradwright.transform.calls import inline, knotted
from gradwright.transform.cleared import join_stores
from gradwright.transform.core import Function, Substitution, program
from gradwright.transform.emit import Module, emit
from gradwright.transform.in_place import store_in_arguments
from gradwright.transform.interface import trim
from gradwright.transform.lowering.lower import Lowered
from gradwright.transform.ownership import own_results
from gradwright.transform.simplify import simplify
from gradwright.transform.source import Source
from gradwright.transform.specialise import Specialised, specialise
from gradwright.transform.step import Step
from gradwright.transform.trips import count_by_tapes


@dataclass(eq=False)
class Built:
    """What the entry needs to run a specialisation."""

    derived: Derived
    specialised: Specialised
    module: Module
    backward: Module | None = None
    compiled: tuple[Lowered, ...] = ()


def build(
    steps: Sequence[Step],
    source: Source,
    arguments: dict[str, Any],
    exact: bool = False,
) -> Built:
    """Take a function through the whole pipeline.

    Args:
        steps: The transforms, innermost first.
        source: The source of the user's function.
        arguments: By parameter, `Type`, `Static` or a `Structure` of those.
        exact: The lengths of captured arrays are numbers, as they are now.
    """
    compiled = any(step.kind == "jit" for step in steps)
    derived, specialised = derived_of(
        steps, source, arguments, exact=exact, whole=compiled
    )
    changes = Substitution({})
    if compiled and all(step.kind == "jit" for step in steps):
        stored = [p for p, *_ in specialised.stored]
        changes = store_in_arguments(derived.function, stored)
    settle_functions(derived)
    lowered: tuple[Lowered, ...] = ()
    if compiled:
        o = changes.operand
        equal = tuple((o(a), o(b)) for a, b in specialised.equal_dims)
        natural = tuple(map(o, specialised.at_least_zero))
        lowered = tuple(Lowered(f, equal, natural) for f in derived.functions())
    tidy(derived)
    module, backward = (*emit_derived(derived), None)[:2]
    assert module is not None
    return Built(derived, specialised, module, backward, lowered)


def finish(d: Derived) -> None:
    """What is done once, before the core is written out."""
    settle_functions(d)
    tidy(d)


def settle_functions(d: Derived) -> None:
    """The functions as they are run: with what they need, and results of their own."""
    for f in d.functions():
        simplify(f)
        if d.whole:
            inline(f, everywhere=True)
        knotted(f)
    trim(d.functions(), d.split)
    if d.split is not None:
        own_results(d.split.forward, len(d.function.results))
        own_results(d.split.backward)
    else:
        own_results(d.function)


def tidy(d: Derived) -> None:
    """As a person would write them."""
    for f in d.functions():
        count_by_tapes(f)
        for g in program(f):
            begin_whole(g)
            join_stores(g)


def derived_of(
    steps: Sequence[Step],
    source: Source,
    arguments: dict[str, Any],
    watch: Callable[[str, Derived], None] = lambda title, derived: None,
    exact: bool = False,
    whole: bool = False,
) -> tuple[Derived, Specialised]:
    """The core of the transformed function; `watch` sees it after every transform.

    With `whole`, functions are written out where they are called.
    """
    specialised = specialise(source, arguments, apply, exact)
    derived = Derived(
        specialised.function,
        call_arguments(specialised, source),
        specialised.result,
        source,
        whole=whole,
    )
    watch("specialise", derived)
    check_result(derived)
    for step in steps:
        derived = derive(derived, step)
        watch(step.kind, derived)
    return derived, specialised


def emit_derived(d: Derived) -> tuple[Module, ...]:
    """The emitted module, or the two of a split."""
    return tuple(emit(f) for f in d.functions())


def call_arguments(specialised: Specialised, source: Source) -> list[Any]:
    """The arguments as a call gives them: those behind a star one by one."""
    star = source.node.args.vararg
    found: list[Any] = []
    for name, a in specialised.arguments.items():
        if star is not None and name == star.id:
            found.extend(a.items)
        else:
            found.append(a)
    return found


def apply(
    function: Function,
    arguments: list[Any],
    result: Any,
    steps: tuple[Step, ...],
    source: Source,
) -> Derived:
    """Transforms that the program itself calls."""
    d = arranged(Derived(function, arguments, result, source), function, result)
    for step in steps:
        d = derive(d, step)
    return d
