"""Liveness, as a table: the names that are live after each line."""

import textwrap

import gast
import pytest

from gradwright.transform.language import local_names
from gradwright.transform.liveness import analyse, assigned

# The names behind each "#" are the locals that are live after that statement.
PROGRAMS = {
    "a temporary dies": """
        def f(x):
            t = x * 2  # t
            return t
    """,
    "a carried name": """
        def f(x, n):
            s = 0.0  # n s x
            for k in range(n):
                t = x * k  # s t x
                s = s + t  # s x
            return s
    """,
    "a name that the loop binds anew is not carried": """
        def f(n):
            last = 0  # n y
            for last in range(n):
                y = last  # y
            return y
    """,
    "while reads its test again": """
        def f(x):
            while x > 1:
                y = x / 2  # y
                x = y  # x
            return x
    """,
    "an endless loop is left by break alone": """
        def f(x, y):
            while True:
                x = x / 2  # x
                if x < 1:
                    break
            return x
    """,
    "an endless loop does not pass its head by": """
        def f(x):
            y = 1  # x
            while True:
                y = x  # x y
                if y > 1:
                    break
            return y
    """,
    "what is read after the break": """
        def f(xs, y):
            for x in xs:
                z = y  # x z
                if x > 0:
                    y = x  # y
                    break
                y = z  # y
            return y
    """,
    "both branches": """
        def f(x, y):
            if x:
                z = x  # z
            else:
                z = y  # z
            return z
    """,
    "unpacking kills, a subscript does not": """
        def f(x, a):
            a[0] = x  # a
            b, (c, *d) = a  # b c d
            return b, c, d
    """,
    "augmented assignment reads": """
        def f(x):
            x += 1  # x
            return x
    """,
    "a closure sees later values": """
        def f(x):
            k = 1  # k x
            def g():
                return k  # g k x
            k = 2  # g k x
            return g() + x
    """,
    "nothing after a raise": """
        def f(x):
            y = x  # y
            raise ValueError(y)
    """,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_live_after(program: str) -> None:
    text = textwrap.dedent(program).strip()
    node = gast.parse(text).body[0]
    live = analyse(node)
    found = {}
    for s in gast.walk(node):
        if isinstance(s, gast.stmt) and id(s) in live.after:
            names = live.after[id(s)] & local_names(node)  # not range and its like
            found[s.end_lineno] = " ".join(sorted(names))
    lines = text.splitlines()
    expected = {
        number: line.split("#")[1].strip()
        for number, line in enumerate(lines, 1)
        if "#" in line
    }
    assert {n: found[n] for n in expected} == expected


def test_live_at_the_head_of_a_loop() -> None:
    node = gast.parse(textwrap.dedent(PROGRAMS["a carried name"])).body[0]
    loop = node.body[1]
    assert analyse(node).inside[id(loop)] == {"s", "x"}


def test_assigned() -> None:
    text = """
    a = 1
    for b, c in d:
        if (e := a):
            f.g = h[0] = 2
        def i(j):
            k = 1
    [l for l in a]
    a = lambda m: m
    """
    assert assigned(gast.parse(textwrap.dedent(text)).body) == list("abceil")
