"""The adjoints of straight-line statements."""

import pytest
from swept import reverse_of, text

ADJOINTS = {
    "a product": (
        """
        def f(x: float, y: float):
            p = multiply x, y
            return p
        """,
        """
        return y, x
        """,
    ),
    "a load and a store": (
        """
        def f(x: float):
            cell s
            store s, x
            a = load s
            y = multiply a, 3.0
            return y
        """,
        """
        cell s_bar
        store s_bar, 0.0
        add s_bar, 3.0
        s_bar_1 = load s_bar
        store s_bar, 0.0
        return s_bar_1
        """,
    ),
    "an element": (
        """
        def f(x: array, k: int):
            a = load x[k]
            y = multiply a, a
            return y
        """,
        """
        buffer x_bar
        a_bar = multiply 2.0, a
        add x_bar[k], a_bar
        x_bar_1 = load x_bar
        return x_bar_1
        """,
    ),
    "a sum in place": (
        """
        def f(x: float, y: float):
            cell s
            store s, x
            add s, y
            end = load s
            return end
        """,
        """
        cell s_bar
        store s_bar, 0.0
        add s_bar, 1.0
        s_bar_1 = load s_bar
        store s_bar, 0.0
        return s_bar_1, s_bar_1
        """,
    ),
    "a push and a pop": (
        """
        def f(x: float, t: tape):
            push t, x
            a = pop t
            y = multiply a, a
            return y
        """,
        """
        a_bar = multiply 2.0, a
        push t_bar, a_bar
        x_bar = pop t_bar
        return x_bar
        """,
    ),
    "what does not reach the result": (
        """
        def f(x: float, w: float):
            y = multiply x, 2.0
            z = sqrt w
            return y
        """,
        """
        return 2.0, 0.0
        """,
    ),
}


@pytest.mark.parametrize("title", ADJOINTS)
def test_adjoint(title: str) -> None:
    program, adjoint = ADJOINTS[title]
    assert reverse_of(program) == text(adjoint)


def test_a_store_puts_back_what_it_overwrote() -> None:
    """In a loop, where the operand is read from the cell that is overwritten."""
    shown = reverse_of("""
        def f(x: float, n: int):
            cell s
            store s, x
            for k in range(0, n, 1):
                a = load s
                y = multiply a, a
                store s, y
            end = load s
            return end
    """).splitlines()
    back, again = shown.index("    store s, s_2"), shown.index("    a_1 = load s")
    assert shown.index("    s_2 = pop s_tape") < back < again
