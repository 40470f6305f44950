"""Simplify: derivative code before and after, and what must be left alone."""

import textwrap

import numpy as np
import pytest
from written import written

import gradwright as gw
from gradwright.transform.notation import notation
from gradwright.transform.simplify import simplify

REWRITTEN = {
    "zero, then add": (
        """
        def f(x: float, n: int):
            cell s
            store s, 0.0
            add s, x
            for k in range(0, n, 1):
                v = load s
                w = multiply v, x
                store s, w
            end = load s
            return end
        """,
        """
        def f(x: float, n: int):
            cell s
            store s, x
            for k in range(0, n, 1):
                v = load s
                w = multiply v, x
                store s, w
            end = load s
            return end
        """,
    ),
    "a cell that holds one literal": (
        """
        def f(x: float, n: int):
            cell s
            store s, 1.0
            cell t
            store t, 0.0
            for k in range(0, n, 1):
                v = load s
                w = multiply x, v
                add t, w
            end = load t
            return end
        """,
        """
        def f(x: float, n: int):
            cell t
            store t, 0.0
            for k in range(0, n, 1):
                add t, x
            end = load t
            return end
        """,
    ),
    "a cell in one block is a chain of values": (
        """
        def f(x: float, y: float):
            cell s
            store s, x
            a = load s
            b = multiply a, y
            store s, b
            add s, x
            c = load s
            return c
        """,
        """
        def f(x: float, y: float):
            b = multiply x, y
            s = add b, x
            return s
        """,
    ),
    "literals meet": (
        """
        def f(x: float):
            cell s
            store s, 0.0
            add s, 1.0
            a = load s
            b = multiply a, 2.0
            c = multiply b, x
            return c
        """,
        """
        def f(x: float):
            c = multiply 2.0, x
            return c
        """,
    ),
    "zero when each iteration begins": (
        """
        def f(x: float, n: int):
            cell s
            store s, 0.0
            cell t
            store t, 0.0
            for k in range(0, n, 1):
                a = load t
                add s, a
                b = load s
                c = multiply b, x
                add t, c
                store s, 0.0
            end = load t
            return end
        """,
        """
        def f(x: float, n: int):
            cell t
            store t, 0.0
            for k in range(0, n, 1):
                s = load t
                c = multiply s, x
                add t, c
            end = load t
            return end
        """,
    ),
    "the last clear of a loop": (
        """
        def f(x: float, n: int):
            cell s
            store s, x
            cell t
            store t, 0.0
            for k in range(0, n, 1):
                a = load s
                store s, 0.0
                b = multiply a, x
                add s, b
                add t, a
            end = load t
            return end
        """,
        """
        def f(x: float, n: int):
            cell s
            store s, x
            cell t
            store t, 0.0
            for k in range(0, n, 1):
                a = load s
                b = multiply a, x
                store s, b
                add t, a
            end = load t
            return end
        """,
    ),
    "nothing is left of a branch": (
        """
        def f(x: float, y: float):
            big = gt x, y
            cell s
            store s, 0.0
            if big:
                v = multiply x, y
                add s, v
            return x
        """,
        """
        def f(x: float, y: float):
            return x
        """,
    ),
}

LEFT_ALONE = {
    "the user's own cell": """
        def f(x: float, n: int):
            cell s
            store s, 0.0  # user
            add s, x  # user
            for k in range(0, n, 1):
                add s, x  # user
            end = load s  # user
            return end
    """,
    "the user's own arithmetic": """
        def f(x: float):
            a = multiply x, 1.0  # user
            b = add a, 0.0  # user
            return b
    """,
    "read between the clear and the sum": """
        def f(x: float, n: int):
            cell s
            cell t
            store t, 0.0
            for k in range(0, n, 1):
                store s, 0.0
                a = load s
                add s, x
                b = load s
                c = multiply a, b
                add t, c
            end = load t
            return end
    """,
    "added to in a branch": """
        def f(x: float, y: float):
            big = gt x, y
            cell s
            store s, 0.0
            if big:
                add s, x
            end = load s
            return end
    """,
    "cleared before a break": """
        def f(x: float, n: int):
            cell s
            store s, 1.0
            for k in range(0, n, 1):
                big = gt x, 2.0
                store s, 0.0
                if big:
                    break
                store s, x
            end = load s
            return end
    """,
    "zero unless it breaks": """
        def f(x: float, n: int):
            cell s
            cell t
            store s, 0.0
            store t, 0.0
            for k in range(0, n, 1):
                a = load t
                add s, a
                big = gt a, 2.0
                if big:
                    b = load s
                    add t, b
                    break
                c = load s
                add t, c
                store s, 0.0
            end = load t
            return end
    """,
    "cleared behind a break": """
        def f(x: float, n: int):
            cell s
            store s, 1.0
            for k in range(0, n, 1):
                big = gt x, 2.0
                if big:
                    break
                store s, 0.0
            end = load s
            return end
    """,
}


@pytest.mark.parametrize(("before", "after"), REWRITTEN.values(), ids=REWRITTEN)
def test_rewritten(before: str, after: str) -> None:
    assert notation(simplify(written(before))) == textwrap.dedent(after).strip()


@pytest.mark.parametrize("program", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(program: str) -> None:
    before = notation(written(program))
    assert notation(simplify(written(program))) == before


@pytest.mark.parametrize("after", [a for _, a in REWRITTEN.values()], ids=REWRITTEN)
def test_simple_is_simple(after: str) -> None:
    assert notation(simplify(written(after))) == textwrap.dedent(after).strip()


def products_twice(A, C):
    C = np.minimum([np.sin(A).cumprod(), np.sin(A).cumprod()], C)
    return C[1, 1]


def test_a_length_of_what_is_written_once_only() -> None:
    a, c = np.array([[1.0, 1.4], [0.5, 1.4]]), np.array([[0.1] * 4, [-0.2] * 4])
    of_a, of_c = gw.grad(products_twice, (0, 1))(a, c)
    assert not of_a.any()
    assert of_c.tolist() == [[0.0] * 4, [0.0, 1.0, 0.0, 0.0]]
