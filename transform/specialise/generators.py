"""Generator expressions that a function consumes on the spot: the loop that runs then.

    lit = all(g(x) < 0 for x in xs)     ->     lit = True
                                               for x in xs:
                                                   if not g(x) < 0:
                                                       lit = False
                                                       break

It is a nested function with names of its own, as in Python, and written in place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gast

from gradwright.transform.errors import UnsupportedSyntax
from gradwright.transform.indices import linear
from gradwright.transform.liveness import assigned
from gradwright.transform.normalise import fresh, names
from gradwright.transform.parsing import statements
from gradwright.transform.specialise.abstract import (
    Closure,
    Mapped,
    Static,
    Structure,
)
from gradwright.transform.specialise.bindings import bind
from gradwright.transform.specialise.builtins import iterable, stepwise
from gradwright.transform.specialise.calls import call, inline
from gradwright.transform.specialise.frame import Frame
from gradwright.transform.specialise.gathering import refuse_assignments


@dataclass(frozen=True)
class Consumer:
    """What a function does with the items of a generator, one by one.

    result: the name of what it returns.  begin, each, end: statements before the loop,
    for each ITEM and behind the loop.  start: a parameter beside the generator, and
    what it is without an argument.
    """

    result: str
    begin: str
    each: str
    end: str = "pass"
    start: tuple[str, int] | None = None


def _of_nothing(f: Any) -> str:
    """The statement that raises what a function raises without any items."""
    try:
        f(())
    except ValueError as e:
        return f"raise ValueError({str(e)!r})"
    raise AssertionError(f)


def _extreme(result: str, sign: str, end: str) -> Consumer:
    """The largest or smallest item: the first one of several that are equal."""
    return Consumer(
        result,
        f"{result} = None",
        f"value = ITEM\nif {result} is None or value {sign} {result}: {result} = value",
        f"if {result} is None: {end}",
    )


CONSUMERS: dict[Any, Consumer] = {
    all: Consumer(
        "every", "every = True", "if not ITEM:\n every = False\n return every"
    ),
    any: Consumer("some", "some = False", "if ITEM:\n some = True\n return some"),
    sum: Consumer("total", "total = start", "total = total + ITEM", start=("start", 0)),
    math.prod: Consumer(
        "product", "product = start", "product = product * ITEM", start=("start", 1)
    ),
    max: _extreme("largest", ">", _of_nothing(max)),
    min: _extreme("smallest", "<", _of_nothing(min)),
}
OR_DEFAULT: dict[Any, Consumer] = {
    max: _extreme("largest", ">", "largest = default"),
    min: _extreme("smallest", "<", "smallest = default"),
}


def consume(frame: Frame, function: Any, node: Any) -> Any:
    """The result of a call with a generator expression; None for any other call.

    The items of a tuple are known: what goes through all of them is one expression.
    """
    f = function.value if isinstance(function, Static) else None
    is_library = frame.in_rule or frame.is_library
    if is_library or not _is_consumed(f, node):
        return None
    generator = node.args[0]
    first, *inner = generator.generators
    items = stepwise(frame, frame.evaluate(first.iter), first.iter)
    is_plain = not inner and not first.ifs and not node.keywords
    known = items.items if isinstance(items, Mapped) else items
    if isinstance(known, Structure) and is_plain and f in (sum, max, min):
        items = iterable(frame, items, first.iter)
        known = Structure(tuple, tuple(_each(frame, generator, items)))
        others = [frame.evaluate(a) for a in node.args[1:]]
        return call(frame, function, [known, *others], {}, node)
    refuse_assignments(frame, generator, node)
    start = _start(frame, f, node)
    consumer = OR_DEFAULT[f] if "default" in start else CONSUMERS[f]
    source = frame.source.nested(_as_function(consumer, generator, node))
    closure = Closure(source, frame, (), {})
    return inline(frame, source, closure, {"items": items, **start}, node)


def _each(frame: Frame, generator: Any, items: Structure) -> Iterator[Any]:
    """The elements for items that are known."""
    (g,) = generator.generators
    inner = frame.scope(assigned([g.target]))
    for item in items.items:
        bind(inner, g.target, item)
        yield inner.evaluate(generator.elt)


def _is_consumed(f: Any, node: Any) -> bool:
    """Whether a call goes through the items of a generator expression."""
    try:
        known = f in CONSUMERS
    except TypeError:  # unhashable
        return False
    return known and bool(node.args) and isinstance(node.args[0], gast.GeneratorExp)


def _start(frame: Frame, f: Any, node: Any) -> dict[str, Any]:
    """The arguments beside the generator, by name."""
    name, value = CONSUMERS[f].start or ("default", None)
    given = {name: linear(value)} if value is not None else {}
    others = [(name, a) for a in node.args[1:]]
    for key, a in [*others, *((k.arg, k.value) for k in node.keywords)]:
        if key != name or f in (all, any) or len(others) > (f is sum):
            raise frame.error(
                UnsupportedSyntax,
                f"gradwright does not know this argument of {f.__name__}() yet",
                a,
            )
        given[key] = frame.evaluate(a)
    return given


# ---- the function ------------------------------------------------------------------


def _as_function(consumer: Consumer, generator: Any, node: Any) -> gast.FunctionDef:
    """The function that consumes a generator; one for each expression."""
    made: gast.FunctionDef | None = getattr(generator, "consumed", None)
    if made is None:
        made = generator.consumed = _function(consumer, generator, node)
    return made


def _function(consumer: Consumer, generator: Any, node: Any) -> gast.FunctionDef:
    taken = names(generator)
    result = getattr(node, "result", consumer.result)  # the name it is bound to
    own = {consumer.result: fresh(result, taken), "value": fresh("value", taken)}
    body = _code(consumer.each, own, node, generator.elt)
    for k, g in reversed(list(enumerate(generator.generators))):
        for test in reversed(g.ifs):
            body = [gast.If(test, body, [])]
        source = g.iter if k else gast.Name("items", gast.Load(), None, None)
        body = [gast.For(g.target, source, body, [], None)]
    last = f"{consumer.end}\nreturn {consumer.result}"
    (made,) = _code("def consume(items, start, default): pass", own, node)
    made.body = [
        *_code(consumer.begin, own, node),
        *body,
        *_code(last, own, node),
    ]
    for n in gast.walk(made):
        if not hasattr(n, "lineno"):
            gast.copy_location(n, node)
    return made


def _code(
    text: str, own: dict[str, str], node: Any, item: Any = None
) -> list[gast.stmt]:
    """Statements where the call stands, with an expression for ITEM."""
    (wrapper,) = statements(f"if True:\n{_indented(text)}")

    class Put(gast.NodeTransformer):
        def visit_Name(self, n: Any) -> Any:
            if n.id == "ITEM":
                return item
            n.id = own.get(n.id, n.id)
            return n

    placed = [n for n in gast.walk(wrapper) if getattr(n, "id", "") != "ITEM"]
    for n in placed:
        gast.copy_location(n, node)
    return [Put().visit(s) for s in wrapper.body]


def _indented(text: str) -> str:
    return "\n".join(f" {line}" for line in text.split("\n"))
