"""Dead code: what goes with its last reader, and what stays for what it might raise."""

import math
import textwrap

import numpy as np
import pytest
from written import written

import gradwright as gw
from gradwright.transform.deadcode import drop_dead
from gradwright.transform.notation import notation

DROPPED = {
    "a part that the next statement reads again": (
        """
        def f(x: array of float64 with 1 axes, i: int):
            a = load x[i]  # user
            b = load x[i]
            return b
        """,
        """
        def f(x: array of float64 with 1 axes, i: int):
            b = load x[i]
            return b
        """,
    ),
    "values nobody reads": (
        """
        def f(x: float):
            a = multiply x, x  # user
            b = multiply a, x  # user
            return x
        """,
        """
        def f(x: float):
            return x
        """,
    ),
    "a store that is overwritten": (
        """
        def f(x: float):
            cell s
            store s, x
            store s, 2.0
            a = load s
            return a
        """,
        """
        def f(x: float):
            cell s
            store s, 2.0
            a = load s
            return a
        """,
    ),
    "a tape that nobody pops": (
        """
        def f(x: float, n: int):
            tape t
            for k in range(0, n, 1):
                push t, x
            return x
        """,
        """
        def f(x: float, n: int):
            return x
        """,
    ),
    "a tape whose pops nobody reads": (
        """
        def f(x: float, n: int):
            tape t
            for k in range(0, n, 1):
                push t, x
            for k in range(0, n, 1):
                v = pop t
            return x
        """,
        """
        def f(x: float, n: int):
            return x
        """,
    ),
    "round and round for nothing": (
        """
        def f(x: float, n: int):
            cell s
            store s, x
            for k in range(0, n, 1):
                a = load s
                b = multiply a, x
                store s, b
            return x
        """,
        """
        def f(x: float, n: int):
            return x
        """,
    ),
    "one branch of two": (
        """
        def f(x: float, y: float):
            cell s
            store s, x
            big = gt x, y
            if big:
                a = multiply x, y
                store s, a
            else:
                b = multiply y, y
            c = load s
            return c
        """,
        """
        def f(x: float, y: float):
            cell s
            store s, x
            big = gt x, y
            if big:
                a = multiply x, y
                store s, a
            c = load s
            return c
        """,
    ),
    "what could raise in the derivative alone": (
        """
        def f(x: float):
            a = exp x
            b = divide 1.0, x
            return x
        """,
        """
        def f(x: float):
            return x
        """,
    ),
}

KEPT = {
    "a store in a loop that the loop reads first": """
        def f(x: float, n: int):
            cell s
            store s, x
            cell t
            store t, 0.0
            for k in range(0, n, 1):
                a = load s
                add t, a
                b = multiply a, x
                store s, b
            c = load t
            return c
    """,
    "a store that is added to": """
        def f(x: float, y: float):
            cell s
            store s, x
            add s, y
            a = load s
            return a
    """,
    "what a break leaves with": """
        def f(x: float, n: int):
            cell s
            store s, 0.0
            for k in range(0, n, 1):
                store s, x
                big = gt x, 2.0
                if big:
                    break
                store s, 3.0
            a = load s
            return a
    """,
    "every push, for the sake of one live pop": """
        def f(x: float, n: int):
            tape t
            cell s
            store s, 0.0
            for k in range(0, n, 1):
                push t, x
            for k in range(0, n, 1):
                v = pop t
                add s, v
            a = load s
            return a
    """,
    "a parameter's tape, that the caller reads": """
        def f(x: float, t: tape):
            push t, x
            return x
    """,
    "the user's division": """
        def f(x: float, y: float):
            a = divide x, y  # user
            return x
    """,
    "the user's power of minus one": """
        def f(x: float):
            a = power x, -1.0  # user
            return x
    """,
    "the user's index": """
        def f(x: float, xs: array):
            a = load xs[3]  # user
            return x
    """,
    "effects, exceptions and what they read": """
        def f(x: float, n: int):
            for k in range(0, n, 1):
                a = multiply x, x
                effect print a
                big = gt a, 2.0
                if big:
                    b = multiply a, a
                    raise ValueError b
            return x
    """,
}

GONE = {
    "a division by what is not zero": "a = divide x, 2.0  # user",
    "a power that is not negative": "a = power x, 2.0  # user",
    "a product": "a = multiply x, x  # user",
}


@pytest.mark.parametrize(("before", "after"), DROPPED.values(), ids=DROPPED)
def test_dropped(before: str, after: str) -> None:
    f = written(before)
    drop_dead(f)
    assert notation(f) == textwrap.dedent(after).strip()


@pytest.mark.parametrize("program", KEPT.values(), ids=KEPT)
def test_kept(program: str) -> None:
    f = written(program)
    before = notation(f)
    drop_dead(f)
    assert notation(f) == before


@pytest.mark.parametrize("line", GONE.values(), ids=GONE)
def test_the_users_own_goes_where_it_cannot_raise(line: str) -> None:
    f = written(f"def f(x: float):\n    {line}\n    return x")
    drop_dead(f)
    assert f.body == []


@pytest.mark.parametrize("y", [-1.0, np.float64(-1.0)])
def test_what_python_raises_for_numbers_of_numpy_too(y: float) -> None:
    def f(x: float, y: float) -> float:
        math.sqrt(y)
        return 2.0 * x

    with pytest.raises(ValueError, match="math domain error"):
        gw.grad(f)(1.0, y)
