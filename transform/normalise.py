"""Control flow with one way out: one `return`, no `continue`, `break` only at a tail.

Enters the syntax tree of a function; leaves a new one that does the same, with the
statements rearranged and the expressions untouched, but for a `not` before a condition.
In it

* exactly one `return` stands, as the last statement;
* there is no `continue`, and no loop has an `else`;
* a `break` ends the body of its loop, or a branch of an `if` that itself ends such a
  block: what stood after the `if` has moved into its other branch;
* the head of a `while` assigns nothing (no `:=`);
* no loop goes over a generator expression: it is the loops that this is;
* no operand of the `and` or `or` of an `if` but the first assigns;
* nothing but the `return` stands after a statement that never falls through.

A flag appears only where moving statements cannot do it: a branch jumps on some of its
paths and something follows; a `return` leaves a loop after which the function goes on;
a loop with a `break` has an `else`. It starts right before the statement after which it
is tested. Names that are new occur nowhere else in the function.

Nested functions and classes stay as they are. So does a `with`, `try` or `match` that a
`return`, `break` or `continue` leaves, and any `async` statement: the above does not
hold for them, and a later stage refuses them.

>>> before = '''
... def first_above(xs, level):
...     for x in xs:
...         if x != x:
...             continue
...         if x > level:
...             return x
...     return level
... '''
>>> print(gast.unparse(normalise(gast.parse(before).body[0])))
def first_above(xs, level):
    returned = False
    for x in xs:
        if x != x:
            pass
        elif x > level:
            result = x
            returned = True
            break
    if not returned:
        result = level
    return result
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

import gast

from gradwright.transform.language import copied
from gradwright.transform.parsing import statements

Block = list[gast.stmt]

# How a block may end, and the flags that remember how it did. Their order is the order
# of the tests.
FALLS, RETURNS, BREAKS, CONTINUES = "falls", "returns", "breaks", "continues"
FLAGS = {RETURNS: "returned", BREAKS: "broken", CONTINUES: "skipped"}
JUMPS = {gast.Return: RETURNS, gast.Break: BREAKS, gast.Continue: CONTINUES}
OPPOSITES = {
    gast.Is: gast.IsNot,
    gast.IsNot: gast.Is,
    gast.In: gast.NotIn,
    gast.NotIn: gast.In,
}


@dataclass(frozen=True)
class Place:
    """Where a block stands, which decides what becomes of its jumps.

    Attributes:
        taken: The names that a new flag may not have.
        result: The name that a `return` assigns; None where it need not.
        tail: Whether a `break` may end the block.
        flags: For each jump that is tested later on, its flag.
    """

    taken: Set[str]
    result: str | None
    tail: bool = False
    flags: Mapping[str, str] = field(default_factory=dict)


def normalise(node: gast.FunctionDef) -> gast.FunctionDef:
    """Rewrite the control flow of a function so that it has one way out.

    Args:
        node: The function, which is left alone.

    Returns:
        A new function that does the same, in the form that the module describes.
    """
    node = copied(node)
    Flattened(node).generic_visit(node)
    if FALLS in ways(node.body):
        node.body.append(code("return None", node.body[-1]))
    exits = list(returns(node.body))
    last = exits[-1] if exits else code("return None", node.body[-1])
    taken, result = names(node), None
    if not same_value(exits) and (len(exits) > 1 or last not in node.body):
        result = fresh("result", taken)
        last = code(f"return {result}", last)
    node.body = [*block(node.body, Place(taken, result)), last]
    return node


def names(node: gast.AST) -> set[str]:
    """All names that a piece of code mentions, of whatever scope; not attributes."""
    found: set[str] = set()
    for part in gast.walk(node):
        if isinstance(part, gast.Global | gast.Nonlocal):
            found.update(part.names)
        values = (getattr(part, key, None) for key in ("id", "name", "asname", "rest"))
        found.update(value for value in values if isinstance(value, str))
    return found


def used_names(*parts: gast.AST) -> Counter[str]:
    """How often each name stands in pieces of code."""
    found = (n for part in parts for n in gast.walk(part) if isinstance(n, gast.Name))
    return Counter(n.id for n in found)


def fresh(base: str, taken: Set[str]) -> str:
    """The name itself, or with the first number that makes it new."""
    name, count = base, 0
    while name in taken:
        count += 1
        name = f"{base}_{count}"
    return name


# ------------------------------------------------------------------------- analysis


def ways(stmts: Block) -> set[str]:
    """How a block may end: it falls through, or jumps.

    To raise is no way to end: a block that always does has none.
    """
    found = {FALLS}
    for stmt in stmts:
        found = found - {FALLS} | ways_of(stmt)
        if FALLS not in found:
            break
    return found


def ways_of(stmt: gast.stmt) -> set[str]:
    """How one statement may end."""
    if type(stmt) in JUMPS:
        return {JUMPS[type(stmt)]}
    if isinstance(stmt, gast.Raise):
        return set()
    if isinstance(stmt, gast.If):
        return ways(stmt.body) | ways(stmt.orelse)
    if not isinstance(stmt, gast.For | gast.While):
        return {FALLS}
    inside = ways(stmt.body)
    broken = {FALLS} if BREAKS in inside else set()
    exhausted = set() if is_endless(stmt) else ways(stmt.orelse)
    return inside & {RETURNS} | broken | exhausted


def is_endless(loop: gast.stmt) -> bool:
    """Whether a loop is a `while True`, which its head never ends."""
    test = loop.test if isinstance(loop, gast.While) else None
    return isinstance(test, gast.Constant) and bool(test.value)


def returns(stmts: Block) -> Iterator[gast.Return]:
    """The `return`s of a block that can be reached, in the order of the source."""
    for stmt in stmts:
        if isinstance(stmt, gast.Return):
            yield stmt
        if isinstance(stmt, gast.If | gast.For | gast.While):
            yield from returns(stmt.body)
            yield from returns([] if is_endless(stmt) else stmt.orelse)
        if FALLS not in ways_of(stmt):
            break


def same_value(exits: list[gast.Return]) -> bool:
    """Whether all the `return`s give the same name, or the same constant."""
    values = [stmt.value or gast.Constant(None, None) for stmt in exits]
    plain = all(isinstance(value, gast.Name | gast.Constant) for value in values)
    return plain and len({gast.dump(value) for value in values}) <= 1


# -------------------------------------------------------------------- rearrangement


def block(stmts: Block, place: Place) -> Block:
    """The block in its new form, which is empty where its jumps have nothing to do."""
    out: Block = []
    for index, stmt in enumerate(stmts):
        rest = stmts[index + 1 :]
        if type(stmt) in JUMPS:
            return out + jump(stmt, place)
        if isinstance(stmt, gast.For | gast.While):
            return out + loop(stmt, rest, place)
        if isinstance(stmt, gast.If) and assigns_later(stmt.test):
            apart, place = taken_apart(stmt, place)
            return out + block(apart + rest, place)
        if isinstance(stmt, gast.If) and not ways_of(stmt) <= {FALLS}:
            return out + branch(stmt, rest, place)
        out.append(compound(stmt, place))
        if FALLS not in ways_of(stmt):
            break
    return out


def jump(node: gast.stmt, place: Place) -> Block:
    """What a `return`, `break` or `continue` becomes."""
    way = JUMPS[type(node)]
    out: Block = []
    if way == RETURNS and place.result:
        value = node.value or code("None", node).value
        out.append(code(f"{place.result} = None", node, value=value))
    if way in place.flags:
        out.append(code(f"{place.flags[way]} = True", node))
    if way != CONTINUES and place.tail:
        out.append(code("break", node))
    return out


def branch(node: gast.If, rest: Block, place: Place) -> Block:
    """An `if` with jumps and the rest of its block, which moves inside if it can."""
    if FALLS not in ways(node.body):
        node.orelse, rest = node.orelse + rest, []
    elif FALLS not in ways(node.orelse):
        node.body, rest = node.body + rest, []
    start, after = Block(), block(rest, place)
    if after:
        start, place, after = flagged(ways_of(node) - {FALLS}, after, place, node)
    first = node.body[0]
    node.body, node.orelse = block(node.body, place), block(node.orelse, place)
    return [*start, node if node.body else without_body(node, first), *after]


def loop(node: gast.For | gast.While, rest: Block, place: Place) -> Block:
    """A loop without its `else`, and the rest of its block."""
    inside, endless = ways(node.body), is_endless(node)
    orelse, node.orelse = [] if endless else node.orelse, []
    start, broken = Block(), {}
    if orelse and BREAKS in inside:
        broken[BREAKS] = flag = fresh(FLAGS[BREAKS], place.taken)
        place = replace(place, taken=place.taken | {flag})
        start = [code(f"{flag} = False", node)]
        orelse = [code(f"if not {flag}: pass", orelse[0], body=orelse)]
    after = block(orelse + rest, place) if BREAKS in inside or not endless else []
    leave = [code("break", node)] if place.tail else []
    if RETURNS in inside and endless and BREAKS not in inside:
        after = leave
    elif RETURNS in inside and after + leave:
        first, place, after = flagged({RETURNS}, after, place, node)
        start = first + start
    flags = {way: flag for way, flag in place.flags.items() if way == RETURNS}
    within = replace(place, tail=True, flags=flags | broken)
    node.body = block(node.body, within) or [code("pass", node.body[0])]
    return [*start, with_plain_head(node, place), *after]


def flagged(
    jumps: Set[str], after: Block, place: Place, node: gast.stmt
) -> tuple[Block, Place, Block]:
    """Let the jumps of a statement pass over what comes after it, by flags.

    Returns:
        What starts the flags, the place within the statement, and what comes after it
        behind the tests of the flags.
    """
    start, flags = Block(), dict(place.flags)
    for way in FLAGS:
        if way in jumps and way not in flags:
            flags[way] = fresh(FLAGS[way], place.taken)
            start.append(code(f"{flags[way]} = False", node))
    for way in reversed(FLAGS):
        if way in jumps and way != CONTINUES and place.tail:
            after = [code(f"if {flags[way]}: break", node, orelse=after)]
        elif way in jumps and after:
            after = [code(f"if not {flags[way]}: pass", node, body=after)]
    taken = place.taken | set(flags.values())
    return start, replace(place, taken=taken, flags=flags, tail=False), after


def compound(stmt: gast.stmt, place: Place) -> gast.stmt:
    """A statement with its blocks in their new form, unless a jump leaves one."""
    if not isinstance(stmt, gast.If | gast.With | gast.Try | gast.TryStar | gast.Match):
        return stmt
    blocks = [
        (part, key)
        for part in (stmt, *getattr(stmt, "handlers", ()), *getattr(stmt, "cases", ()))
        for key in ("body", "orelse", "finalbody")
        if getattr(part, key, None)
    ]
    if all(ways(getattr(part, key)) <= {FALLS} for part, key in blocks):
        for part, key in blocks:
            setattr(part, key, block(getattr(part, key), place))
    return stmt


def without_body(node: gast.If, origin: gast.stmt) -> gast.If:
    """An `if` that only jumped: turned round, or with `pass` before an `elif`."""
    if [type(stmt) for stmt in node.orelse] in ([], [gast.If]):
        node.body = [code("pass", origin)]
    else:
        node.test = inverted(node.test)
        node.body, node.orelse = node.orelse, []
    return node


def assigns_later(test: gast.expr) -> bool:
    """Whether an operand of `and` or `or` that may not be evaluated assigns."""
    if not isinstance(test, gast.BoolOp):
        return False
    parts = (part for v in test.values[1:] for part in gast.walk(v))
    return any(isinstance(part, gast.NamedExpr) for part in parts)


def taken_apart(node: gast.If, place: Place) -> tuple[Block, Place]:
    """`if a and b: ...` as `if a: if b: ...`, or with a flag for the condition."""
    first, *others = node.test.values
    rest = others[0] if len(others) == 1 else gast.BoolOp(node.test.op, others)
    gast.copy_location(rest, node.test)
    is_and = isinstance(node.test.op, gast.And)
    if is_and and not node.orelse:
        inner = code("if True: pass", node, test=rest, body=node.body)
        return [code("if True: pass", node, test=first, body=[inner])], place
    flag = fresh("is_met", place.taken)
    place = replace(place, taken=place.taken | {flag})
    again = [code(f"{flag} = None", node, value=rest)]
    test = f"if {'' if is_and else 'not '}{flag}: pass"
    flags = [code(f"{flag} = None", node, value=first), code(test, node, body=again)]
    chosen = {"body": node.body, "orelse": node.orelse}
    return [*flags, code(f"if {flag}: pass", node, **chosen)], place


def with_plain_head(node: gast.For | gast.While, place: Place) -> gast.For | gast.While:
    """A loop; a test that assigns moves from its head into its body."""
    if isinstance(node, gast.For) or not any(
        isinstance(part, gast.NamedExpr) for part in gast.walk(node.test)
    ):
        return node
    leave = [code("break", node)]
    inside = code("if True: pass", node, test=node.test, body=node.body, orelse=leave)
    body = taken_apart(inside, place)[0] if assigns_later(node.test) else [inside]
    return code("while True: pass", node, body=body)


# ---------------------------------------------------- loops over generator expressions


class Flattened(gast.NodeTransformer):
    """`for a in (f(b) for b in bs if b): ...` as `for b in bs: if b: a = f(b) ...`."""

    def __init__(self, function: gast.FunctionDef) -> None:
        self.taken = names(function)
        self.uses = used_names(function)

    def visit_For(self, node: gast.For) -> gast.For:
        self.generic_visit(node)
        if not isinstance(node.iter, gast.GeneratorExp):
            return node
        made = node.iter
        clauses = [(g.target, g.iter, g.ifs) for g in made.generators]
        self._rename(made)
        first = code("a = None", node, targets=[node.target], value=made.elt)
        body, leaves = [first, *node.body], BREAKS in ways(node.body)
        for k, (target, items, tests) in reversed(list(enumerate(clauses))):
            for test in reversed(tests):
                body = [code("if True: pass", node, test=test, body=body)]
            parts = {"target": target, "iter": items, "body": body}
            body = [code("for a in b: pass", node, **parts)]
            if leaves and k:
                body[0].orelse = [code("continue", node)]
                body.append(code("break", node))
        (outer,) = body
        outer.orelse = node.orelse
        return outer

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.FunctionDef:
        return node

    def _rename(self, made: gast.GeneratorExp) -> None:
        """Names that are the generator's own, and stand elsewhere, are new ones."""
        first, *others = made.generators
        inside = [made.elt, first.target, *first.ifs, *others]
        here = used_names(*inside)
        own = {
            n.id
            for g in made.generators
            for n in gast.walk(g.target)
            if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
        }
        shared = sorted(name for name in own if here[name] < self.uses[name])
        new = {name: fresh(name, self.taken) for name in shared}
        self.taken |= set(new.values())
        for part in inside:
            for n in gast.walk(part):
                if isinstance(n, gast.Name):
                    n.id = new.get(n.id, n.id)


# --------------------------------------------------------------------------- syntax


def inverted(test: gast.expr) -> gast.expr:
    """The opposite of a condition, exact for every value."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    if isinstance(test, gast.Compare) and len(test.ops) == 1:
        opposite = OPPOSITES.get(type(test.ops[0]))
        if opposite:
            test.ops = [opposite()]
            return test
    return gast.copy_location(gast.UnaryOp(gast.Not(), test), test)


def code(text: str, origin: gast.stmt, **parts: gast.AST | Block) -> gast.stmt:
    """A new statement, placed where its origin stands in the user's file.

    Args:
        text: Its source.
        origin: The user's statement from which it comes.
        **parts: What to put in place of fields of the new statement.
    """
    (stmt,) = statements(text)
    for part in gast.walk(stmt):
        gast.copy_location(part, origin)
    for key, value in parts.items():
        setattr(stmt, key, value)
    return stmt
