"""Algebra: the derivative's own arithmetic, and the user's, which stays as it is."""

import textwrap

import numpy as np
import pytest
from written import written

import gradwright as gw
from gradwright.transform.algebra import rewrite
from gradwright.transform.deadcode import drop_dead
from gradwright.transform.notation import notation

REWRITTEN = {
    "signs go out": (
        """
        minus = negative y
        p = multiply x, minus
        q = subtract x, p
        """,
        """
        product = multiply x, y
        total = add x, product
        """,
    ),
    "two signs are none": (
        """
        a = negative x
        b = negative y
        q = divide a, b
        """,
        """
        q = divide x, y
        """,
    ),
    "factors meet": (
        """
        a = multiply 2.0, x
        b = multiply a, y
        q = multiply b, 0.5
        """,
        """
        product = multiply x, y
        """,
    ),
    "a product of one with itself": (
        """
        p = multiply x, y
        a = add p, x
        q = add a, p
        """,
        """
        p = multiply x, y
        product = multiply 2.0, p
        q = add product, x
        """,
    ),
    "a division stays one": (
        """
        a = divide 1.0, 3.0
        q = multiply a, x
        """,
        """
        quotient = divide x, 3.0
        """,
    ),
    "quotients that cancel": (
        """
        a = divide y, x
        b = divide x, 3.0
        q = multiply b, a
        """,
        """
        quotient = divide y, 3.0
        """,
    ),
    "what is computed twice": (
        """
        a = multiply x, y
        b = multiply x, y
        q = divide a, b
        """,
        """
        a = multiply x, y
        q = divide a, a
        """,
    ),
}


def program(body: str) -> str:
    """A function that returns what its last line defines."""
    inner = textwrap.indent(textwrap.dedent(body).strip("\n "), "    ")
    result = inner.splitlines()[-1].split(" = ")[0]
    return f"def f(x: float, y: float):\n{inner}\n    return {result.strip()}"


def rewritten(text: str) -> str:
    f = written(text)
    rewrite(f)
    drop_dead(f)
    return notation(f)


@pytest.mark.parametrize(("before", "after"), REWRITTEN.values(), ids=REWRITTEN)
def test_rewritten(before: str, after: str) -> None:
    assert rewritten(program(before)) == program(after)


def test_a_function_of_what_the_program_computes_again_is_not() -> None:
    before = """
        a = add x, y
        b = add x, y
        u = sin a
        v = sin b
        q = multiply u, v
    """
    after = """
        a = add x, y
        u = sin a
        q = multiply u, u
    """
    assert rewritten(program(before)) == program(after)


def test_additions_of_equal_terms_are_one() -> None:
    before = """
        cell s
        store s, x
        p = multiply x, y
        for k in range(0, 3, 1):
            add s, p
            add s, p
        q = load s
    """
    after = """
        cell s
        store s, x
        p = multiply x, y
        for k in range(0, 3, 1):
            product = multiply 2.0, p
            add s, product
        q = load s
    """
    assert rewritten(program(before)) == program(after)


def test_an_addition_that_is_read_between_stays() -> None:
    text = program("""
        cell s
        store s, x
        p = multiply x, y
        add s, p
        old = load s
        for k in range(0, 3, 1):
            add s, p
        new = load s
        q = multiply old, new
    """)
    assert rewritten(text) == text


def test_the_last_addition_is_a_sum() -> None:
    before = """
        cell s
        store s, x
        for k in range(0, 3, 1):
            add s, y
        minus = negative x
        add s, minus
        q = load s
    """
    after = """
        cell s
        store s, x
        for k in range(0, 3, 1):
            add s, y
        s_1 = load s
        s_2 = subtract s_1, x
    """
    assert rewritten(program(before)) == program(after)


@pytest.mark.parametrize(
    "line", ["q = multiply x, 1.0", "q = add x, 0.0", "q = multiply 2.0, x"]
)
def test_the_user_s_arithmetic_stays(line: str) -> None:
    text = program(f"{line}  # user")
    assert rewritten(text) == notation(written(text))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_compared_is_the_same_to_the_last_bit(dtype: type) -> None:
    """An extremum is found again among elements that are computed once more."""

    def f(a):
        for row in a:
            t = (0.3 * (0.3 * row * row) * (0.3 * row * row)).max()
        return t

    a = np.linspace(0.1, 0.9, 40).astype(dtype)
    for k in range(len(a)):
        found = gw.grad(f)(a[: k + 1])
        wanted = 4 * 0.027 * a[k] ** 3
        assert found[k] == pytest.approx(wanted, 1e-5)
        assert not found[:k].any()
