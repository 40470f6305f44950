"""Control flow in its one form: what is rewritten, what is not, and that it still runs.

Before and after are compared as printed source, so that a rewrite can be reviewed
where it stands. Random programs then run in both forms and must do the same.
"""

import ast
import textwrap
from collections.abc import Callable, Iterator

import gast
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwright.transform.normalise import names, normalise

REWRITTEN = {
    # ------------------------------------------------------------------ return
    "the end returns None": (
        """
        def f(x):
            x[0] = 1
        """,
        """
        def f(x):
            x[0] = 1
            return None
        """,
    ),
    "nothing returns": (
        """
        def f(x):
            raise ValueError(x)
        """,
        """
        def f(x):
            raise ValueError(x)
            return None
        """,
    ),
    "nothing ends": (
        """
        def f(x):
            while True:
                g(x)
            h(x)
            return x
        """,
        """
        def f(x):
            while True:
                g(x)
            return None
        """,
    ),
    "the rest becomes the else": (
        """
        def f(x):
            if x < 0:
                return -x
            y = x + 1
            return y * y
        """,
        """
        def f(x):
            if x < 0:
                result = -x
            else:
                y = x + 1
                result = y * y
            return result
        """,
    ),
    "the rest becomes the body": (
        """
        def f(x):
            if x < 0:
                x = -x
            else:
                return 0
            return x
        """,
        """
        def f(x):
            if x < 0:
                x = -x
                result = x
            else:
                result = 0
            return result
        """,
    ),
    "a chain stays flat": (
        """
        def f(x):
            if x < 0:
                return -1
            if x > 0:
                return 1
            return 0
        """,
        """
        def f(x):
            if x < 0:
                result = -1
            elif x > 0:
                result = 1
            else:
                result = 0
            return result
        """,
    ),
    "the rest moves into the middle of a chain": (
        """
        def f(a, b):
            if a:
                return 1
            elif b:
                x = 2
            else:
                return 3
            g(x)
            return x + 1
        """,
        """
        def f(a, b):
            if a:
                result = 1
            elif b:
                x = 2
                g(x)
                result = x + 1
            else:
                result = 3
            return result
        """,
    ),
    "a branch that raises has no end": (
        """
        def f(x):
            if x < 0:
                raise ValueError
            elif x == 0:
                return 1
            return x / 2
        """,
        """
        def f(x):
            if x < 0:
                raise ValueError
            elif x == 0:
                result = 1
            else:
                result = x / 2
            return result
        """,
    ),
    "two branches that may go on": (
        """
        def f(a, b):
            if a:
                x = 1
            elif b:
                return 2
            else:
                x = 3
            return x + 1
        """,
        """
        def f(a, b):
            returned = False
            if a:
                x = 1
            elif b:
                result = 2
                returned = True
            else:
                x = 3
            if not returned:
                result = x + 1
            return result
        """,
    ),
    "one flag for all depths": (
        """
        def f(a, b, c):
            if a:
                if b:
                    if c:
                        return 1
                    g()
                h()
            return 2
        """,
        """
        def f(a, b, c):
            returned = False
            if a:
                if b:
                    if c:
                        result = 1
                        returned = True
                    else:
                        g()
                if not returned:
                    h()
            if not returned:
                result = 2
            return result
        """,
    ),
    "the same name needs no other": (
        """
        def f(x):
            if x < 0:
                x = -x
                return x
            x = x + 1
            return x
        """,
        """
        def f(x):
            if x < 0:
                x = -x
            else:
                x = x + 1
            return x
        """,
    ),
    "a procedure returns None": (
        """
        def f(x, n):
            if n == 0:
                return
            for i in range(n):
                if x[i] < 0:
                    return
                x[i] = 0
        """,
        """
        def f(x, n):
            if not n == 0:
                for i in range(n):
                    if x[i] < 0:
                        break
                    else:
                        x[i] = 0
            return None
        """,
    ),
    "nothing left to pass over": (
        """
        def f(x):
            if x[0]:
                if x[1]:
                    return
                g(x)
            return
        """,
        """
        def f(x):
            if x[0]:
                if not x[1]:
                    g(x)
            return
        """,
    ),
    "equal constants of different types differ": (
        """
        def f(x):
            if x:
                return 1
            return True
        """,
        """
        def f(x):
            if x:
                result = 1
            else:
                result = True
            return result
        """,
    ),
    "new names are new": (
        """
        def f(result, xs):
            for x in xs:
                if x:
                    return x
            return result(returned_1, lambda returned: 0)
        """,
        """
        def f(result, xs):
            returned_2 = False
            for x in xs:
                if x:
                    result_1 = x
                    returned_2 = True
                    break
            if not returned_2:
                result_1 = result(returned_1, lambda returned: 0)
            return result_1
        """,
    ),
    # -------------------------------------------------------- return in a loop
    "a return in a loop": (
        """
        def f(xs):
            for x in xs:
                if x > 0:
                    return x
                g(x)
            h()
            return -1
        """,
        """
        def f(xs):
            returned = False
            for x in xs:
                if x > 0:
                    result = x
                    returned = True
                    break
                else:
                    g(x)
            if not returned:
                h()
                result = -1
            return result
        """,
    ),
    "a return in two loops": (
        """
        def f(xs):
            for x in xs:
                for y in x:
                    if y:
                        return y
                g(x)
        """,
        """
        def f(xs):
            returned = False
            for x in xs:
                for y in x:
                    if y:
                        result = y
                        returned = True
                        break
                if returned:
                    break
                else:
                    g(x)
            if not returned:
                result = None
            return result
        """,
    ),
    "a name found by loops": (
        """
        def f(xs, best):
            for x in xs:
                for best in x:
                    if best > 0:
                        return best
            return best
        """,
        """
        def f(xs, best):
            for x in xs:
                returned = False
                for best in x:
                    if best > 0:
                        returned = True
                        break
                if returned:
                    break
            return best
        """,
    ),
    "endless, left by return only": (
        """
        def f(x):
            while True:
                y = g(x)
                if abs(y - x) < 1e-9:
                    return y + 1
                x = y
        """,
        """
        def f(x):
            while True:
                y = g(x)
                if abs(y - x) < 1e-9:
                    result = y + 1
                    break
                else:
                    x = y
            return result
        """,
    ),
    "endless in a loop": (
        """
        def f(xs):
            for x in xs:
                while True:
                    if g(x):
                        return x
            return 0
        """,
        """
        def f(xs):
            returned = False
            for x in xs:
                while True:
                    if g(x):
                        result = x
                        returned = True
                        break
                break
            if not returned:
                result = 0
            return result
        """,
    ),
    "some paths of a branch in a loop return": (
        """
        def f(xs):
            for x in xs:
                if x > 0:
                    if x > 9:
                        return x
                    g(x)
                h(x)
            return 0
        """,
        """
        def f(xs):
            returned = False
            for x in xs:
                if x > 0:
                    if x > 9:
                        result = x
                        returned = True
                    else:
                        g(x)
                if returned:
                    break
                else:
                    h(x)
            if not returned:
                result = 0
            return result
        """,
    ),
    # ------------------------------------------------------------------- break
    "what follows a break moves": (
        """
        def f(x):
            while True:
                if x > 9:
                    g(x)
                    break
                x = x + 1
                h(x)
            return x
        """,
        """
        def f(x):
            while True:
                if x > 9:
                    g(x)
                    break
                else:
                    x = x + 1
                    h(x)
            return x
        """,
    ),
    "some paths of a branch break": (
        """
        def f(xs):
            for x in xs:
                if x > 0:
                    if x > 9:
                        break
                    g(x)
                h(x)
            return xs
        """,
        """
        def f(xs):
            for x in xs:
                broken = False
                if x > 0:
                    if x > 9:
                        broken = True
                    else:
                        g(x)
                if broken:
                    break
                else:
                    h(x)
            return xs
        """,
    ),
    "all jumps at once": (
        """
        def f(xs):
            for x in xs:
                if a(x):
                    if b(x):
                        continue
                    elif c(x):
                        break
                    elif d(x):
                        return 1
                g(x)
            return h()
        """,
        """
        def f(xs):
            returned = False
            for x in xs:
                broken = False
                skipped = False
                if a(x):
                    if b(x):
                        skipped = True
                    elif c(x):
                        broken = True
                    elif d(x):
                        result = 1
                        returned = True
                if returned:
                    break
                elif broken:
                    break
                elif not skipped:
                    g(x)
            if not returned:
                result = h()
            return result
        """,
    ),
    # ---------------------------------------------------------------- continue
    "continue": (
        """
        def f(xs):
            for x in xs:
                if x < 0:
                    continue
                g(x)
            return xs
        """,
        """
        def f(xs):
            for x in xs:
                if not x < 0:
                    g(x)
            return xs
        """,
    ),
    "continue, turned round exactly": (
        """
        def f(xs, seen):
            for x in xs:
                if x is None:
                    continue
                g(x)
            for x in xs:
                if x not in seen:
                    continue
                g(x)
            for x in xs:
                if not x:
                    continue
                g(x)
            for x in xs:
                if x is xs is None:
                    continue
                g(x)
            return xs
        """,
        """
        def f(xs, seen):
            for x in xs:
                if x is not None:
                    g(x)
            for x in xs:
                if x in seen:
                    g(x)
            for x in xs:
                if x:
                    g(x)
            for x in xs:
                if not x is xs is None:
                    g(x)
            return xs
        """,
    ),
    "a chain of continues stays flat": (
        """
        def f(xs):
            for x in xs:
                if x < 0:
                    continue
                if x is None:
                    continue
                g(x)
                h(x)
            return xs
        """,
        """
        def f(xs):
            for x in xs:
                if x < 0:
                    pass
                elif x is not None:
                    g(x)
                    h(x)
            return xs
        """,
    ),
    "an if after a continue is no elif if more follows": (
        """
        def f(xs):
            for x in xs:
                if x < 0:
                    continue
                if x > 9:
                    g(x)
                h(x)
            return xs
        """,
        """
        def f(xs):
            for x in xs:
                if not x < 0:
                    if x > 9:
                        g(x)
                    h(x)
            return xs
        """,
    ),
    "continue after a statement": (
        """
        def f(xs):
            while xs:
                if g(xs):
                    xs = h(xs)
                    continue
                k(xs)
            return xs
        """,
        """
        def f(xs):
            while xs:
                if g(xs):
                    xs = h(xs)
                else:
                    k(xs)
            return xs
        """,
    ),
    "continue with nothing to skip": (
        """
        def f(xs):
            for x in xs:
                if g(x):
                    continue
            for x in xs:
                continue
            return xs
        """,
        """
        def f(xs):
            for x in xs:
                if g(x):
                    pass
            for x in xs:
                pass
            return xs
        """,
    ),
    "some paths of a branch continue": (
        """
        def f(xs):
            for x in xs:
                if x > 0:
                    if x > 9:
                        continue
                    g(x)
                h(x)
            return xs
        """,
        """
        def f(xs):
            for x in xs:
                skipped = False
                if x > 0:
                    if x > 9:
                        skipped = True
                    else:
                        g(x)
                if not skipped:
                    h(x)
            return xs
        """,
    ),
    "nested loops have flags of their own": (
        """
        def f(xs):
            for x in xs:
                if x:
                    for y in x:
                        if y:
                            if y > 0:
                                continue
                            g(y)
                        h(y)
                    if x > 0:
                        continue
                h(x)
            return xs
        """,
        """
        def f(xs):
            for x in xs:
                skipped = False
                if x:
                    for y in x:
                        skipped_1 = False
                        if y:
                            if y > 0:
                                skipped_1 = True
                            else:
                                g(y)
                        if not skipped_1:
                            h(y)
                    if x > 0:
                        skipped = True
                if not skipped:
                    h(x)
            return xs
        """,
    ),
    # -------------------------------------------------------------------- else
    "else without a break just follows": (
        """
        def f(xs):
            for x in xs:
                g(x)
            else:
                h(xs)
            return xs
        """,
        """
        def f(xs):
            for x in xs:
                g(x)
            h(xs)
            return xs
        """,
    ),
    "else with a break": (
        """
        def f(xs):
            while xs:
                if g(xs):
                    break
                xs = xs[1:]
            else:
                h()
            return xs
        """,
        """
        def f(xs):
            broken = False
            while xs:
                if g(xs):
                    broken = True
                    break
                else:
                    xs = xs[1:]
            if not broken:
                h()
            return xs
        """,
    ),
    "else with a return in the loop": (
        """
        def f(xs):
            for x in xs:
                if g(x):
                    return x
            else:
                h()
            return 0
        """,
        """
        def f(xs):
            returned = False
            for x in xs:
                if g(x):
                    result = x
                    returned = True
                    break
            if not returned:
                h()
                result = 0
            return result
        """,
    ),
    "else with a break and a return": (
        """
        def f(xs):
            for x in xs:
                if g(x):
                    return x
                if h(x):
                    break
            else:
                return 1
            return 2
        """,
        """
        def f(xs):
            returned = False
            broken = False
            for x in xs:
                if g(x):
                    result = x
                    returned = True
                    break
                elif h(x):
                    broken = True
                    break
            if not returned:
                if not broken:
                    result = 1
                else:
                    result = 2
            return result
        """,
    ),
    "the else of an inner loop leaves the outer": (
        """
        def f(xs):
            for x in xs:
                for y in x:
                    if y:
                        break
                else:
                    continue
                break
            return x
        """,
        """
        def f(xs):
            for x in xs:
                broken = False
                for y in x:
                    if y:
                        broken = True
                        break
                if broken:
                    break
            return x
        """,
    ),
    "some paths of the else of an inner loop leave the outer": (
        """
        def f(xs):
            for x in xs:
                for y in x:
                    if y:
                        break
                else:
                    if x:
                        break
                    g(x)
                h(x)
            return x
        """,
        """
        def f(xs):
            for x in xs:
                broken = False
                for y in x:
                    if y:
                        broken = True
                        break
                broken_1 = False
                if not broken:
                    if x:
                        broken_1 = True
                    else:
                        g(x)
                if broken_1:
                    break
                else:
                    h(x)
            return x
        """,
    ),
    "the else of an endless loop is dead": (
        """
        def f(x):
            while True:
                if g(x):
                    break
            else:
                h()
            return x
        """,
        """
        def f(x):
            while True:
                if g(x):
                    break
            return x
        """,
    ),
    # ---------------------------------------------------------------- the rest
    "the head of a while assigns": (
        """
        def f(g):
            while (x := g()) > 0:
                if x == 1:
                    continue
                h(x)
            else:
                h(0)
            return g
        """,
        """
        def f(g):
            while True:
                if (x := g()) > 0:
                    if not x == 1:
                        h(x)
                else:
                    break
            h(0)
            return g
        """,
    ),
    "the head of a while assigns, with a break": (
        """
        def f(g):
            while (x := g()):
                if h(x):
                    break
            else:
                k()
            return g
        """,
        """
        def f(g):
            broken = False
            while True:
                if (x := g()):
                    if h(x):
                        broken = True
                        break
                else:
                    break
            if not broken:
                k()
            return g
        """,
    ),
    "dead code": (
        """
        def f(x):
            if x:
                raise ValueError
                g(x)
            for y in x:
                break
                g(y)
            while True:
                if y:
                    continue
                    g(y)
                return x
                g(y)
            g(x)
            return 1
        """,
        """
        def f(x):
            if x:
                raise ValueError
            for y in x:
                break
            while True:
                if not y:
                    break
            return x
        """,
    ),
    "inside blocks that no jump leaves": (
        """
        def f(xs):
            with g():
                for x in xs:
                    if x:
                        continue
                    h(x)
            try:
                if xs:
                    for x in xs:
                        h(x)
                    else:
                        g()
            except ValueError:
                for x in xs:
                    continue
            match xs:
                case []:
                    while xs:
                        continue
            return xs
        """,
        """
        def f(xs):
            with g():
                for x in xs:
                    if not x:
                        h(x)
            try:
                if xs:
                    for x in xs:
                        h(x)
                    g()
            except ValueError:
                for x in xs:
                    pass
            match xs:
                case []:
                    while xs:
                        pass
            return xs
        """,
    ),
    # ----------------------------------------------------- generator expressions
    "a loop over a generator expression is its own loop": (
        """
        def f(xs, y):
            for x in (x * y for x in xs if x > 0 if y):
                if x > 9:
                    break
                y = y + x
            return y
        """,
        """
        def f(xs, y):
            for x_1 in xs:
                if x_1 > 0:
                    if y:
                        x = x_1 * y
                        if x > 9:
                            break
                        else:
                            y = y + x
            return y
        """,
    ),
    "a break leaves all loops of a generator expression": (
        """
        def f(xs, y):
            for z in (a * b for a in xs for b in a):
                if z:
                    break
            else:
                y = 0
            return y
        """,
        """
        def f(xs, y):
            broken = False
            for a in xs:
                broken_1 = False
                for b in a:
                    z = a * b
                    if z:
                        broken_1 = True
                        break
                if broken_1:
                    broken = True
                    break
            if not broken:
                y = 0
            return y
        """,
    ),
}

UNCHANGED = {
    "straight line": """
        def f(x):
            '''Docstring.'''
            y = x + 1
            return y * y
        """,
    "a bare return": """
        def f(x):
            x[0] = 1
            return
        """,
    "branches": """
        def f(x):
            if x < 0:
                x = -x
            elif x > 9:
                raise ValueError
            else:
                pass
            return x
        """,
    "loops": """
        def f(x, n):
            for i in range(n):
                while x > i:
                    x = x / 2
            return x
        """,
    "break at the tail": """
        def f(xs):
            for x in xs:
                if x > 0:
                    g(x)
                elif x is None:
                    h(x)
                    break
                else:
                    break
            return xs
        """,
    "an assignment in a condition": """
        def f(x):
            if (y := g(x)) > 0:
                h(y)
            return y
        """,
    "nested functions and classes": """
        def f(xs):

            def g(x):
                if x:
                    return 1
                for y in x:
                    continue

            class C:
                for x in xs:
                    continue
            return g
        """,
    "blocks that a jump leaves": """
        def f(xs):
            for x in xs:
                with g(x):
                    if x:
                        continue
                    h(x)
                match x:
                    case 0:
                        break
            try:
                return g(xs)
            finally:
                h(xs)
            return xs
        """,
    "a loop in a block that a jump leaves": """
        def f(xs):
            with g():
                for x in xs:
                    continue
                return 1
            return xs
        """,
}


def parse(source: str) -> gast.FunctionDef:
    """The function that the source defines."""
    (function,) = gast.parse(textwrap.dedent(source)).body
    return function


def printed(function: gast.FunctionDef) -> str:
    """The source of a function, in one style."""
    return ast.unparse(gast.gast_to_ast(function))


def blocks(block: list[gast.stmt]) -> Iterator[list[gast.stmt]]:
    """A block and all blocks nested in it, not those of nested functions."""
    yield block
    for stmt in block:
        if not isinstance(stmt, gast.FunctionDef | gast.ClassDef):
            for key in ("body", "orelse", "finalbody"):
                yield from blocks(getattr(stmt, key, []))
            for part in [*getattr(stmt, "handlers", []), *getattr(stmt, "cases", [])]:
                yield from blocks(part.body)


def tails(block: list[gast.stmt]) -> Iterator[gast.stmt]:
    """The last statements of a block, looking into `if`s."""
    if block:
        yield block[-1]
        if isinstance(block[-1], gast.If):
            yield from tails(block[-1].body)
            yield from tails(block[-1].orelse)


def check_form(function: gast.FunctionDef) -> None:
    """Assert all that the module promises of a normalised function."""
    nested = list(blocks(function.body))
    inside = [stmt for block in nested for stmt in block]
    loops = [stmt for stmt in inside if isinstance(stmt, gast.For | gast.While)]
    breaks = {id(stmt) for stmt in inside if isinstance(stmt, gast.Break)}
    in_place = {id(stmt) for loop in loops for stmt in tails(loop.body)}
    assert [s for s in inside if isinstance(s, gast.Return)] == function.body[-1:]
    assert not any(isinstance(stmt, gast.Continue) for stmt in inside)
    assert not any(loop.orelse for loop in loops)
    assert breaks <= in_place
    for block in [function.body[:-1], *nested[1:]]:
        assert not any(isinstance(s, gast.Break | gast.Raise) for s in block[:-1])
    for loop in loops:
        if isinstance(loop, gast.While):
            assert not any(isinstance(p, gast.NamedExpr) for p in gast.walk(loop.test))
    for part in gast.walk(function):
        if "lineno" in part._attributes:
            assert part.lineno and part.end_lineno, gast.dump(part)
            assert part.col_offset is not None and part.end_col_offset is not None


@pytest.mark.parametrize(("before", "after"), REWRITTEN.values(), ids=REWRITTEN)
def test_rewritten(before: str, after: str) -> None:
    function = parse(before)
    untouched = gast.dump(function, include_attributes=True)
    new = normalise(function)
    assert printed(new) == printed(parse(after))
    assert printed(normalise(new)) == printed(new)
    assert gast.dump(function, include_attributes=True) == untouched
    check_form(new)


@pytest.mark.parametrize("source", UNCHANGED.values(), ids=UNCHANGED)
def test_unchanged(source: str) -> None:
    assert printed(normalise(parse(source))) == printed(parse(source))


def test_locations_are_those_of_the_user() -> None:
    new = normalise(
        parse(
            """\
            def f(xs):
                for x in xs:
                    if x < 0:
                        continue
                    if x > 0:
                        return x
                else:
                    g()
            """
        )
    )
    inside = [stmt for block in blocks(new.body) for stmt in block]
    assert sorted((stmt.lineno, head(stmt)) for stmt in inside) == [
        (2, "for x in xs:"),
        (2, "if not returned:"),
        (2, "result = None"),
        (2, "return result"),
        (2, "returned = False"),
        (3, "if x < 0:"),
        (4, "pass"),
        (5, "if x > 0:"),
        (6, "break"),
        (6, "result = x"),
        (6, "returned = True"),
        (8, "g()"),
    ]


def head(stmt: gast.stmt) -> str:
    """The first line of a statement."""
    return ast.unparse(gast.gast_to_ast(stmt)).partition("\n")[0]


def test_names_of_every_kind() -> None:
    function = parse(
        """
        def f(a, *b, c=d, **e):
            global g
            import h.i as j
            k.attribute(keyword="text")
            try:
                def l(m): ...
            except n as o:
                lambda p: q
            match r:
                case s, *t:
                    pass
                case {"key": u, **v}:
                    pass
        """
    )
    assert names(function) == {*"fabcdegjklmnopqrstuv", "h.i"}


# ------------------------------------------------------------------ random programs

LONG = 60


class Stopped(Exception):
    """What the random programs raise."""


class Trace:
    """What a program did, and the answers to the questions that it asked.

    An answer depends on all that happened before, so that a condition that is evaluated
    twice, or out of turn, sends the program another way.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.seen: list[int] = []

    def note(self, number: int) -> int:
        """Note that a statement ran; a program that runs for too long stops."""
        self.seen.append(number)
        if len(self.seen) > LONG:
            raise Stopped("too long")
        return number

    def ask(self, number: int) -> bool:
        """Answer the question of a condition."""
        return bool(self.bits >> self.note(number) * 7 % 5 + len(self.seen) & 1)


class Writer:
    """Writes one random function.

    Attributes:
        choose: Draws a number below its argument.
        kinds: Which kinds of `return` it writes: all of them, or those of one name.
        count: The number of the newest statement: statements and questions are
            numbered, and a trace is made of these numbers.
    """

    def __init__(self, choose: Callable[[int], int]) -> None:
        self.choose = choose
        self.kinds = [slice(None), slice(None), slice(1, 2), slice(2, 3)][choose(4)]
        self.count = 0

    def number(self) -> int:
        """The number of the next statement or question."""
        self.count += 1
        return self.count

    def function(self) -> str:
        """The source of the function."""
        body = self.block(depth=0, loops=0, closed=False)
        return "\n".join(["def f(note, ask):", "    x = 0", *body])

    def block(self, depth: int, loops: int, closed: bool) -> list[str]:
        """A few statements; `closed` is a block that no `return` may leave."""
        lines = [
            line
            for _ in range(1 + self.choose(3 if depth < 2 else 2))
            for line in self.statement(depth, loops, closed)
        ]
        return ["    " + line for line in lines]

    def statement(self, depth: int, loops: int, closed: bool) -> list[str]:
        """A statement; nearer to the leaves, more of them are simple."""
        simple = [self.simple, self.jump, self.jump]
        nested = [*[self.branch] * 3, *[self.loop] * 3, self.guard]
        kinds = simple + nested if depth < 3 else simple
        return kinds[self.choose(len(kinds))](depth, loops, closed)

    def simple(self, depth: int, loops: int, closed: bool) -> list[str]:
        number = self.number()
        forms = [f"note({number})", f"x = note({number})", f"result = note({number})"]
        return [forms[self.choose(3)]]

    def jump(self, depth: int, loops: int, closed: bool) -> list[str]:
        """Any way to end a block, mostly under a condition."""
        forms = ["break", "continue"] * 2 if loops else []
        if not closed:
            forms += [f"return note({self.number()})", "return", "return x"][self.kinds]
        if not forms or not self.choose(8):
            forms = [f"raise Stopped({self.number()})"]
        form = forms[self.choose(len(forms))]
        if not self.choose(4):
            return [form]
        return [f"if {self.condition(loops)}:", "    " + form]

    def branch(self, depth: int, loops: int, closed: bool) -> list[str]:
        lines = []
        for keyword in ["if", *["elif"] * self.choose(3)]:
            lines.append(f"{keyword} {self.condition(loops)}:")
            lines += self.block(depth + 1, loops, closed)
        if self.choose(2):
            lines += ["else:", *self.block(depth + 1, loops, closed)]
        return lines

    def loop(self, depth: int, loops: int, closed: bool) -> list[str]:
        ask = f"ask({self.number()})"
        heads = [
            f"for i{loops} in range({self.choose(4)}):",
            f"for i{loops} in range(3):",
            f"while {ask}:",
            f"while {ask} and not ask({self.number()}):",
            f"while (x := {ask}):",
            "while True:",
        ]
        # a note first, so that an endless loop reaches its limit
        lines = [
            heads[self.choose(len(heads))],
            f"    i{loops} = note({self.number()})",
        ]
        lines += self.block(depth + 1, loops + 1, closed)
        if not self.choose(3):
            lines += ["else:", *self.block(depth + 1, loops, closed)]
        return lines

    def guard(self, depth: int, loops: int, closed: bool) -> list[str]:
        """A `try` or `with` that nothing leaves but exceptions."""
        body = self.block(depth + 1, loops=0, closed=True)
        number = self.number()
        if self.choose(2):
            return ["with Guard():", *body]
        return ["try:", *body, "finally:", f"    note({number})"]

    def condition(self, loops: int) -> str:
        """A condition: a question, or one about the counter of a loop around it."""
        number = self.number()
        if loops and not self.choose(3):
            return f"i{self.choose(loops)} % 3 == {self.choose(3)}"
        forms = [f"ask({number})", f"not ask({number})", f"(x := ask({number}))"]
        return forms[self.choose(3)]


class Guard:
    """A context without effect."""

    def __enter__(self) -> None: ...

    def __exit__(self, *exception: object) -> None: ...


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Functions of any control flow, dead code included."""
    return Writer(lambda limit: draw(st.integers(0, limit - 1))).function()


def outcome(source: str, bits: int) -> tuple[object, list[int]]:
    """What the program returns or raises, and its trace."""
    space: dict[str, object] = {"Stopped": Stopped, "Guard": Guard}
    exec(source, space)
    trace = Trace(bits)
    try:
        result = space["f"](trace.note, trace.ask)  # type: ignore[operator]
    except Stopped as error:
        result = type(error), error.args
    return result, trace.seen


@given(programs(), st.lists(st.integers(0, 2**LONG - 1), min_size=3, max_size=3))
@settings(max_examples=500, deadline=None)
def test_random_programs_do_the_same(source: str, runs: list[int]) -> None:
    new = normalise(parse(source))
    check_form(new)
    assert printed(normalise(new)) == printed(new)
    for bits in runs:
        assert outcome(printed(new), bits) == outcome(source, bits)
