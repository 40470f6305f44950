"""Partial evaluation: plain Python on abstract arguments becomes a core function.

    def f(x, n):                      Function f(x: float, n: int)
        s = 0.0                           Alloc(s); Store(s, 0.0)
        for k in range(n):      ->        For(k, 0, n, 1, [
            s += x * k                        Let(product, mul, [x, k]),
        return s                              Store(s, product, accumulate)])
                                          Load(s_1, s)          results: [s_1]

Enters: a `Source` and what is known of each argument.  Leaves: a `Specialised`.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from gradwright.transform.core import Function, Value
from gradwright.transform.core import program as functions_of
from gradwright.transform.custom import Wanted
from gradwright.transform.errors import AliasError, Location, UnsupportedSyntax
from gradwright.transform.indices import Dim, Linear
from gradwright.transform.mixed import may_stretch
from gradwright.transform.primitives import load_common
from gradwright.transform.source import Source
from gradwright.transform.specialise import bindings, expressions, statements
from gradwright.transform.specialise.abstract import (
    Path,
    Static,
    Structure,
    as_constant,
    leaves,
    mapped,
)
from gradwright.transform.specialise.aliases import refuse_old_views
from gradwright.transform.specialise.births import Promotion, given
from gradwright.transform.specialise.findings import Findings
from gradwright.transform.specialise.frame import Demand, Frame, Program
from gradwright.transform.specialise.handing_back import Changed, HandingBack, WayTo, at
from gradwright.transform.specialise.listing import refuse_results
from gradwright.transform.specialise.regions import (
    copied_parameters,
    read_once,
    stored_parameters,
)
from gradwright.transform.specialise.rows import refuse_changed_rows
from gradwright.transform.specialise.slots import Unready
from gradwright.transform.specialise.units import run_body
from gradwright.transform.types import Type


@dataclass(eq=False)
class Specialised:
    """A core function and how the outside world fits it.

    `result` is the structure of the results: operands and static leaves.  `hidden` are
    captured numbers and arrays, by parameter; `guards` are captured objects that must
    be the same at every call; `equal_dims` are pairs of dims of parameters that the
    program takes to be equal, `at_least_zero` lengths that it takes not to be negative;
    `inputs` are the parameters that a call gives, `stored` those that the program
    stores into, by their names, with where.  `changed` are lists of arguments that it
    changes, by the way to them, with where; `captured` the lists that it captured.
    `handed_back`: what changed lists hold afterwards, whose items are results, too.
    `deep`: the changed ones in which lists have changed.
    """

    function: Function
    arguments: dict[str, Any]
    result: Any
    hidden: list[tuple[Path, Value]]
    guards: list[tuple[Path, Any]]
    equal_dims: list[tuple[Linear, Linear]]
    at_least_zero: list[Linear]
    inputs: list[Any]
    stored: list[tuple[Value, str, Location]]
    changed: dict[tuple[Any, ...], Location]
    captured: list[Path]
    handed_back: list[Changed]
    deep: set[tuple[Any, ...]]

    def given_at(self, way: WayTo) -> Any:
        """An argument, or what is in it, at the end of a way."""
        return at(self.arguments, way)


class Stretches(Exception):
    """What may be a number meets arrays of several lengths where it is an array."""


class NeedsValue(Exception):
    """A parameter's value must be known: specialise again with it static."""

    def __init__(self, parameter: str, location: Location) -> None:
        self.parameter = parameter
        self.location = location


def specialise(
    source: Source,
    arguments: dict[str, Any],
    apply: Callable[..., Any] | None = None,
    exact: bool = False,
    wanted: set[Any] | None = None,
    hands_back: bool = False,
) -> Specialised:
    """Rewrite a function for arguments of these types.

    Args:
        source: The function's source.
        arguments: By parameter name, a `Type`, a `Static`, or a `Structure` of those.
        apply: Called for a transform that the program itself calls.
        exact: The lengths of captured arrays are numbers, as they are now.
        wanted: The keys of the user's rules for all samples that are needed; one that
            a vmap in the program needs is put in.
        hands_back: It gives back what lists of the caller's hold that it has changed.

    Raises:
        NeedsValue: A parameter is used where a constant is needed.
        NeedsLengths: So are lengths, which are no numbers as they are not `exact`.
    """
    wanted = set() if wanted is None else wanted
    how = exact, wanted, hands_back
    try:
        return _specialise(source, arguments, apply, *how, False)
    except (AliasError, UnsupportedSyntax):
        return _specialise(source, arguments, apply, *how, True)


def _specialise(
    source: Source,
    arguments: dict[str, Any],
    apply: Callable[..., Any] | None,
    exact: bool,
    wanted: set[Any],
    hands_back: bool,
    wary: bool,
) -> Specialised:
    """Rewrite a function; if `wary`, what an operator may change is an array's part.

    `q = u[-1]; q *= 2.0` changes u where u has two axes.  Most often it has one.
    """
    load_common()
    kinds: dict[Any, Any] = {}
    findings = Findings(wary)
    while True:
        try:
            how = exact, wanted, hands_back, findings
            return _attempt(source, arguments, apply, *how, kinds)
        except Stretches:
            assert not findings.loose
            findings = Findings(wary, loose=True)
        except Promotion as e:
            known = kinds.get(e.origin)
            found = e.kind.tree, e.kind.guessed
            assert known is None or (known.tree, known.guessed) != found
            kinds[e.origin] = e.kind
        except Wanted as e:
            assert e.key not in wanted
            wanted.add(e.key)


def _attempt(
    source: Source,
    arguments: dict[str, Any],
    apply: Callable[..., Any] | None,
    exact: bool,
    wanted: set[Any],
    hands_back: bool,
    findings: Findings,
    kinds: dict[Any, Any],
) -> Specialised:
    """Rewrite a function, with these lists of run-time length."""
    called_too = [
        leaf for a in arguments.values() for leaf in leaves(a) if _is_function(leaf)
    ]
    called = (source.function, *(leaf.value for leaf in called_too))
    program = Program(apply, called, exact, findings)
    program.kinds, program.wanted = kinds, wanted
    root = program.root
    name = str(source.node.name).replace("<lambda>", "function")
    root.name = root.function.name = name
    program.separate.add(source.node)
    frame = Frame(program, root, source, None, None)

    def parameter(name: str, known: Any) -> Any:
        if isinstance(known, Structure):
            named = zip(known.labels, known.items, strict=True)
            return known.of([parameter(f"{name}_{k}", i) for k, i in named])
        return root.param(name, known) if isinstance(known, Type) else known

    bound = {name: parameter(name, known) for name, known in arguments.items()}
    count = len(root.params)
    frame.env.update({name: given(frame, a, (name,)) for name, a in bound.items()})
    copies = copied_parameters(frame)
    handing_back = HandingBack(frame) if hands_back else None
    handed_back: list[Changed] = []
    try:
        value = run_body(frame)
        if handing_back is not None:
            value, handed_back = handing_back.of(value, bound)
        refuse_results(frame, value, frame.node.body[-1])
    except Demand as e:
        raise _as_needed(e, bound) from None
    except Unready:
        raise frame.error(
            UnsupportedSyntax, "this recursion never comes to an end", source.node
        ) from None
    value = Structure(tuple, (value, *(c.items for c in handed_back)))
    f = root.function
    hidden = list(program.hidden.values())
    f.params = [*root.params[:count], *(p for p in root.params[count:])]
    f.hidden = {p: path for path, p in _hidden_values(hidden)}
    f.body = root.builder.block
    again = read_once(f)
    value = mapped(lambda x: again.get(x, x), mapped(as_constant, value))
    stored, others = stored_parameters(f, copies)
    held = {place: p for p, place in copies.values()}
    lent = {held.get(a, a): name for a, name in root.lent.items()}
    stored = {name: p for p, name in lent.items() if p in f.params} | stored
    results = mapped(lambda x: others.get(x, x), value)
    f.results = [x for x in leaves(results) if not isinstance(x, Static)]
    result, *items = results.items
    pairs = zip(handed_back, items, strict=True)
    handed_back = [replace(c, items=found) for c, found in pairs]
    f.filename = source.filename
    refuse_old_views(f, program.own)
    refuse_changed_rows(f)
    if not findings.loose and any(map(may_stretch, functions_of(f))):
        raise Stretches
    checked = [
        (a, b)
        for a, b in root.equal_dims
        if _of_parameters(a, f) and _of_parameters(b, f)
    ]
    return Specialised(
        f,
        bound,
        result,
        _hidden_values(hidden),
        list(program.guards.values()),
        checked,
        [form for form in root.at_least_zero if _of_parameters(form, f)],
        [p for p in f.params if p not in f.hidden],
        [(p, name, source.location(source.node)) for name, p in stored.items()],
        root.changed,
        list(program.captured.values()),
        handed_back,
        root.deep,
    )


def _is_function(leaf: Any) -> bool:
    return isinstance(leaf, Static) and type(leaf.value) is types.FunctionType


def _hidden_values(hidden: list[tuple[Path, Any]]) -> list[tuple[Path, Value]]:
    def value(p: Any) -> Value:
        held = next(p.symbols()) if isinstance(p, Linear) else p
        assert isinstance(held, Value)
        return held

    return [(path, value(p)) for path, p in hidden]


def _of_parameters(form: Linear, f: Function) -> bool:
    return all(isinstance(s, Dim) and s.array in f.params for s in form.symbols())


def _as_needed(e: Demand, bound: dict[str, Any]) -> Exception:
    for name, a in bound.items():
        for leaf in leaves(a):
            if isinstance(leaf, Linear) and e.symbol in set(leaf.symbols()):
                return NeedsValue(name, e.location)
    return UnsupportedSyntax(
        f"the number {e.symbol.name} is needed here before the program runs",
        at=e.location,
        instead="a literal, or a parameter of the function that is transformed",
    )


__all__ = [
    "NeedsValue",
    "Specialised",
    "bindings",
    "expressions",
    "specialise",
    "statements",
]
