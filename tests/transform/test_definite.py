"""Definite assignment: the reads marked with ? are the unsure ones, and no others."""

import re
import textwrap

import gast
import pytest

from gradwright.transform.definite import unsure_reads

PROGRAMS = {
    "both branches": """
        def f(x):
            if x > 0:
                y = 1
            else:
                y = 2
            return y
    """,
    "one branch": """
        def f(x):
            if x > 0:
                y = 1
            return ?y
    """,
    "a branch that leaves": """
        def f(x):
            if x > 0:
                y = 1
            else:
                raise ValueError
            return y
    """,
    "a loop may run no times": """
        def f(xs):
            for x in xs:
                y = x
            return ?x, ?y
    """,
    "the else of a loop": """
        def f(xs):
            for x in xs:
                if x > 1:
                    found = x
                    break
            else:
                found = 0
            return found
    """,
    "break before the assignment": """
        def f(xs):
            while True:
                if xs:
                    break
                y = 1
            return ?y
    """,
    "an endless loop runs": """
        def f(x):
            while True:
                y = x
                if y > 1:
                    break
            return y
    """,
    "continue": """
        def f(xs):
            for x in xs:
                if x:
                    continue
                y = 1
                z = y
            return 0
    """,
    "short circuit": """
        def f(x):
            if x and (y := x):
                return ?y
            return (z := x) and z
    """,
    "the second operand may not run": """
        def f(x):
            a = x and (y := x)
            return ?y
    """,
    "a conditional expression": """
        def f(x):
            a = (y := 1) if x else 2
            return ?y
    """,
    "augmented assignment": """
        def f(x):
            ?y += x
            return y
    """,
    "a read before the first assignment": """
        def f(x):
            z = ?y
            y = x
            return y
    """,
    "globals and comprehensions are not locals": """
        def f(x):
            return y + sum(k for k in x)
    """,
    "parameters of every kind": """
        def f(a, /, b, *c, d, **e):
            return a, b, c, d, e
    """,
    "code behind a return": """
        def f(x):
            return x
            return y
            y = 1
    """,
    "unpacking and stars": """
        def f(x):
            a, (b, *c) = x
            return a, b, c
    """,
    "a nested function": """
        def f(x):
            def g(t=?y):
                return h
            y = 1
            return g
    """,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_unsure_reads(program: str) -> None:
    marked = textwrap.dedent(program)
    expected = set()
    lines = []
    for number, line in enumerate(marked.splitlines(), 1):
        while (at := re.search(r"\?", line)) is not None:
            expected.add((number, at.start()))
            line = line[: at.start()] + line[at.end() :]
        lines.append(line)
    assert unsure_reads(gast.parse("\n".join(lines)).body[0]) == expected
