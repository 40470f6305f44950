"""Nesting: what is written where it is used, and what has to be written before."""

import textwrap

import pytest
from written import written

from gradwright.transform.emit import emit
from gradwright.transform.nesting import only_choice, short_branch

NESTED = {
    "through several operations": (
        """
        def f(x: float):
            a = multiply x, x
            b = add a, 1.0
            c = divide b, x
            return c
        """,
        """
        def f(x):
            return (x * x + 1.0) / x
        """,
    ),
    "twice, where it is short": (
        """
        def f(x: float, y: float):
            half = multiply 0.5, x
            a = power half, y
            b = power y, half
            c = add a, b
            return c
        """,
        """
        def f(x, y):
            return (0.5 * x) ** y + y ** (0.5 * x)
        """,
    ),
    "a pop": (
        """
        def f(x: float, n: int):
            tape t
            for k in range(0, n, 1):
                push t, x
            old = pop t
            y = multiply old, x
            return y
        """,
        """
        def f(x, n):
            t = []
            for _ in range(n):
                t.append(x)
            return t.pop() * x
        """,
    ),
}

WRITTEN = {
    "used twice": (
        """
        def f(x: float):
            a = multiply x, x
            b = add a, a
            return b
        """,
        """
        def f(x):
            a = x * x
            return a + a
        """,
    ),
    "long, and used twice": (
        """
        def f(x: float, y: float):
            a = multiply x, y
            b = add a, x
            c = add b, y
            d = power c, y
            e = power y, c
            g = add d, e
            return g
        """,
        """
        def f(x, y):
            c = x * y + x + y
            return c**y + y**c
        """,
    ),
    "used twice in a loop": (
        """
        def f(x: float, n: int):
            cell s
            store s, 0.0
            for k in range(0, n, 1):
                a = load s
                half = multiply 0.5, x
                b = power half, x
                c = power x, half
                add s, b
                add s, c
            end = load s
            return end
        """,
        """
        def f(x, n):
            s = 0.0
            for _ in range(n):
                half = 0.5 * x
                s += half**x
                s += x**half
            return s
        """,
    ),
    "used in a loop": (
        """
        def f(x: float, n: int):
            a = multiply x, x
            cell s
            store s, 0.0
            for k in range(0, n, 1):
                add s, a
            end = load s
            return end
        """,
        """
        def f(x, n):
            a = x * x
            s = 0.0
            for _ in range(n):
                s += a
            return s
        """,
    ),
    "pops in their order": (
        """
        def f(x: float, n: int):
            tape t
            for k in range(0, n, 1):
                push t, x
            first = pop t
            second = pop t
            y = divide second, first
            return y
        """,
        """
        def f(x, n):
            t = []
            for _ in range(n):
                t.append(x)
            first = t.pop()
            return t.pop() / first
        """,
    ),
}


@pytest.mark.parametrize(
    ("program", "text"),
    [*NESTED.values(), *WRITTEN.values()],
    ids=[*NESTED, *WRITTEN],
)
def test_nesting(program: str, text: str) -> None:
    assert emit(written(program)).text == textwrap.dedent(text).lstrip("\n")


def test_other_branches_are_no_short_circuit() -> None:
    f = written(
        """
        def f(x: float, c: bool):
            cell s
            store s, x
            if c:
                store s, 1.0
            end = load s
            return end
        """
    )
    assert [short_branch(s) for s in f.body] == [None] * len(f.body)
    assert only_choice(f.body[2]) is None  # type: ignore[arg-type]
