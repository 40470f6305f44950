"""The map, on one page: from a user's function to the source that runs.

    user function -> source -> normalise -> specialise -> forward | reverse
                  -> simplify -> emit -> backend

`build` takes a function and the kinds of its arguments through all of it.  Transforms
nest: the innermost is applied first, and a transform that the program itself calls goes
through `apply`, on the program's own core.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from gradwright.batches import of_batch, one_sample, refuse_unbound
from gradwright.derive import derive
from gradwright.derived import Derived, arranged, check_result
from gradwright.transform.begin import begin_whole
from gradwright.transform.calls import inline, knotted
from gradwright.transform.cleared import join_stores
from gradwright.transform.core import (
    Function,
    Substitution,
    Value,
    copied,
    program,
)
from gradwright.transform.custom import Wanted, has_rules
from gradwright.transform.emit import Late, Module, emit
from gradwright.transform.errors import AliasError, Location, UnsupportedSyntax
from gradwright.transform.in_place import (
    is_only_copied,
    store_in_arguments,
    undecided,
)
from gradwright.transform.indices import Linear
from gradwright.transform.interface import trim
from gradwright.transform.ownership import are_apart, own_results
from gradwright.transform.simplify import simplify
from gradwright.transform.source import Source
from gradwright.transform.specialise import Specialised, specialise
from gradwright.transform.specialise.abstract import Static, leaves
from gradwright.transform.specialise.handing_back import OnlyItself
from gradwright.transform.step import Step
from gradwright.transform.trips import count_by_tapes
from gradwright.uncollected import uncollected

if TYPE_CHECKING:
    from gradwright.transform.lowering.lower import Lowered

HANDED_BACK = "Changes {} of the caller; what these hold then comes behind the result."
FASTMATH = "fastmath: compiled arithmetic may be reordered and contracted."


@dataclass(eq=False)
class Built:
    """What the entry needs to run a specialisation.

    compiled: its functions in loops, where they become machine code.  changes: what it
    changes of the caller's, and where, so that the user's function itself is run.
    threads: how many may share the samples of a vmap.  steps: the transforms.
    seconds: what each part of the way has taken.
    """

    derived: Derived
    specialised: Specialised
    module: Module | Late
    backward: Module | None = None
    compiled: tuple[Lowered, ...] = ()
    fastmath: bool = False
    threads: int = 1
    steps: tuple[Step, ...] = ()
    changes: tuple[str, Location] | None = None
    seconds: dict[str, float] = field(default_factory=dict)


@uncollected()
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
    built = _build(steps, source, arguments, exact)
    if _are_apart(built):  # an axis of the samples is better than that, where it can be
        other = _build(steps, source, arguments, exact, side_by_side=False)
        return other if other.derived.is_lifted else built
    return built


def _are_apart(built: Built) -> bool:
    """Whether samples were to stand side by side, and do not."""
    if not any(step.kind == "vmap" and step.how is None for step in built.steps):
        return False
    from gradwright.transform.lowering.lanes import are_apart

    functions = [low.function for low in built.compiled]
    return any(f is None or are_apart(f) for f in functions)


def _build(
    steps: Sequence[Step],
    source: Source,
    arguments: dict[str, Any],
    exact: bool,
    side_by_side: bool = True,
) -> Built:
    start = time.perf_counter()
    compiled = is_compiled(steps)
    fastmath = compiled and any(step.fastmath for step in steps)
    how = exact, compiled, side_by_side
    derived, specialised = _derived_for_call(steps, source, arguments, *how)
    changed = _changed(steps, derived, specialised)
    changes = store_in_place(steps, derived, specialised)
    settle_functions(derived)
    lowered: tuple[Lowered, ...] = ()
    rewritten = time.perf_counter()
    if compiled and changed is None:
        o = changes.operand
        equal = tuple((o(a), o(b)) for a, b in specialised.equal_dims)
        natural = tuple(map(o, specialised.at_least_zero))
        lowered = _lowered(derived, equal, natural)
    in_loops = time.perf_counter()
    module: Module | Late
    backward: Module | None = None
    is_late = len(lowered) == 1 and lowered[0].function is not None
    if is_late and not derived.function.hidden:
        kept = replace(derived, arguments=[], result=None)  # no objects of the user's
        module = Late(lambda: _emitted(kept, fastmath)[0])  # it runs in loops
    else:
        module, backward = (*_emitted(derived, fastmath), None)[:2]  # type: ignore[assignment]
    built = Built(derived, specialised, module, backward, lowered, fastmath)
    built.changes = changed
    built.steps, built.threads = tuple(steps), _threads(steps)
    emitting = time.perf_counter() - in_loops
    built.seconds["rewriting"] = rewritten - start + emitting
    if compiled:
        built.seconds["lowering"] = in_loops - rewritten
    return built


def _derived_for_call(
    steps: Sequence[Step],
    source: Source,
    arguments: dict[str, Any],
    exact: bool,
    compiled: bool,
    side_by_side: bool,
) -> tuple[Derived, Specialised]:
    """The core; of a function that is only compiled, with the lists that it changes.

    Where that cannot be, the function itself will run.
    """
    of = partial(
        derived_of, steps, source, arguments,
        exact=exact, whole=compiled, side_by_side=side_by_side,
    )  # fmt: skip
    if compiled and _is_as_written(steps):
        try:
            derived, specialised = of(hands_back=True)
        except (AliasError, UnsupportedSyntax, OnlyItself):
            return of()
        if _may_be_handed_back(derived.function, specialised):
            return derived, specialised
    return of()


def _may_be_handed_back(function: Function, specialised: Specialised) -> bool:
    """Whether nobody can tell what is handed back from what Python leaves there."""
    if not specialised.handed_back:
        return True
    ours = copied(function)
    had = {
        leaf
        for c in specialised.handed_back
        if not c.is_new
        for leaf in leaves(specialised.given_at(c.way))
    }
    first = sum(not isinstance(a, Static) for a in leaves(specialised.result))
    return are_apart(simplify(ours), first, had)


def _threads(steps: Sequence[Step]) -> int:
    """How many threads may share the samples."""
    return max((step.threads for step in steps), default=1)


def _emitted(derived: Derived, fastmath: bool) -> tuple[Module, ...]:
    tidy(derived)
    return emit_derived(derived, fastmath)


def is_compiled(steps: Sequence[Step]) -> bool:
    """Whether it runs as machine code: jit says so, the outermost one that says."""
    jits = [step for step in steps if step.kind == "jit"]
    said = [step.backend for step in jits if step.backend is not None]
    return bool(jits) and "numpy" not in said[-1:]


def store_in_place(
    steps: Sequence[Step], derived: Derived, specialised: Specialised
) -> Substitution:
    """Store into the caller's arrays what may be; what stands for a parameter then."""
    stored = _stored_in_place(steps, derived, specialised)
    given_away = not _is_as_written(steps)
    return store_in_arguments(derived.function, stored, given_away)


def _is_as_written(steps: Sequence[Step]) -> bool:
    """Whether a function is not transformed, only compiled."""
    return all(step.kind == "jit" for step in steps)


def _changed(
    steps: Sequence[Step], derived: Derived, specialised: Specialised
) -> tuple[str, Location] | None:
    """What it changes of the caller's that only the function itself can, and where."""
    if not _is_as_written(steps):
        return None
    if not specialised.handed_back:
        for at in specialised.changed.values():
            return "a list of the caller is changed here", at
    for p in _stored_in_place(steps, derived, specialised):
        late = undecided(derived.function, p)
        if late is not None:
            text = f"whether this is the caller's '{p.name}' is known only when it runs"
            return text, late
    return None


def _stored_in_place(
    steps: Sequence[Step], derived: Derived, specialised: Specialised
) -> list[Value]:
    """The parameters that are stored into without a copy of them.

    A function that is only compiled stores into the caller's arrays, as it says.  A
    derivative does where the caller has given them away and it reads none of them as
    they were.
    """
    stored = [p for p, *_ in specialised.stored]
    if _is_as_written(steps):
        return stored if steps else []
    if derived.split is not None:
        return []
    donated = {k for step in steps for k in step.donated}
    arguments = list(specialised.arguments.values())
    given = [leaf for k in donated for leaf in leaves(arguments[k])]
    return [
        p
        for p in stored
        if any(p is leaf for leaf in given) and is_only_copied(derived.function, p)
    ]


def _lowered(
    d: Derived,
    equal: tuple[tuple[Linear, Linear], ...],
    natural: tuple[Linear, ...],
) -> tuple[Lowered, ...]:
    """The function in loops, or its two halves; the second takes what the first has."""
    from gradwright.transform.lowering.lower import Lowered  # nobody else waits for it

    first, *others = d.functions()
    made = Lowered(first, equal, natural)
    if d.split is None:
        return (made,)
    offset = len(first.results) - len(d.split.residuals)
    handed = {k - offset: layout for k, layout in made.handed.items()}
    return made, *(Lowered(f, equal, natural, handed) for f in others)


def finish(d: Derived) -> None:
    """What is done once, before the core is written out."""
    settle_functions(d)
    tidy(d)


def settle_functions(d: Derived) -> None:
    """The functions as they are run: with what they need, and results of their own."""
    for f in d.functions():
        simplify(f)
        passing = any(g.passes_on or has_rules(g) for g in program(f))
        if d.whole or passing:
            inline(f, everywhere=d.whole, last=True)
            simplify(f)
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
    side_by_side: bool = True,
    hands_back: bool = False,
) -> tuple[Derived, Specialised]:
    """The core of the transformed function; `watch` sees it after every transform.

    With `whole`, functions are written out where they are called; samples that loop
    stand `side_by_side`.  One that `hands_back` gives what lists hold that it changes.
    """
    wanted: set[Any] = set()
    while True:
        try:
            how = whole, side_by_side, hands_back
            return _derived(steps, source, arguments, watch, exact, how, wanted)
        except Wanted as e:
            assert e.key not in wanted
            wanted.add(e.key)


def _derived(
    steps: Sequence[Step],
    source: Source,
    arguments: dict[str, Any],
    watch: Callable[[str, Derived], None],
    exact: bool,
    how: tuple[bool, bool, bool],
    wanted: set[Any],
) -> tuple[Derived, Specialised]:
    """The same, with these of the user's rules for all samples."""
    whole, side_by_side, hands_back = how
    steps, arguments = one_sample(steps, arguments)
    inside = partial(apply, compiled=whole)
    specialised = specialise(source, arguments, inside, exact, wanted, hands_back)
    derived = Derived(
        specialised.function,
        call_arguments(specialised, source),
        specialised.result,
        source,
        whole=whole,
        compiled=whole,
        threads=_threads(steps),
        side_by_side=side_by_side,
    )
    if specialised.handed_back:
        lists = " and ".join(c.words for c in specialised.handed_back)
        derived.notes = (HANDED_BACK.format(lists),)
    watch("specialise", derived)
    check_result(derived)
    for step in steps:
        derived = derive(derived, step)
        if derived.batched is not None:
            specialised = of_batch(specialised, derived)
        watch(step.kind, derived)
    refuse_unbound(derived.functions())
    return derived, specialised


def emit_derived(d: Derived, fastmath: bool = False) -> tuple[Module, ...]:
    """The emitted module, or the two of a split."""
    notes = dict.fromkeys([*d.notes, *([FASTMATH] if fastmath else [])])
    # The forward half last: its names are those by which captured values are given.
    made = [emit(f, "\n".join(notes)) for f in reversed(d.functions())]
    return tuple(reversed(made))


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
    compiled: bool = False,
) -> Derived:
    """Transforms that the program itself calls."""
    d = Derived(function, arguments, result, source, compiled=compiled)
    d = arranged(d, function, result)
    for step in steps:
        d = derive(d, step)
    return d
