"""The adjoints of branches and loops."""

import pytest
from swept import forward_of, reverse_of, swept, text
from written import written

from gradwright.transform.core import For, Value
from gradwright.transform.indices import linear, symbol
from gradwright.transform.reverse.control import is_independent, last_of, times
from gradwright.transform.types import INT

SQUARED = """
            a = load s
            y = multiply a, a
            store s, y"""


def loop(header: str, more: str = "") -> str:
    return f"""
    def f(x: float, n: int, m: int, c: bool):
        cell s
        store s, x
        {header}:{SQUARED}{more}
        end = load s
        return end
"""


BREAK = """
            b = lt y, 4.0
            if b:
                break"""


def test_a_branch_is_taken_again() -> None:
    assert reverse_of("""
        def f(x: float, c: bool):
            cell s
            if c:
                y = multiply x, 2.0
                store s, y
            else:
                z = multiply x, 3.0
                store s, z
            end = load s
            return end
    """) == text("""
        cell s_bar
        store s_bar, 0.0
        add s_bar, 1.0
        cell x_bar
        store x_bar, 0.0
        if c:
            s_bar_1 = load s_bar
            store s_bar, 0.0
            product = multiply 2.0, s_bar_1
            add x_bar, product
        else:
            s_bar_2 = load s_bar
            store s_bar, 0.0
            product_1 = multiply 3.0, s_bar_2
            add x_bar, product_1
        x_bar_1 = load x_bar
        return x_bar_1
    """)


@pytest.mark.parametrize(
    ("header", "back"),
    [
        ("for k in range(0, n, 1)", "for k_1 in reversed(range(0, n, 1)):"),
        ("for k in range(3, n, m)", "for k_1 in reversed(range(3, n, m)):"),
        ("for k in reversed(range(0, n, 1))", "for k_1 in range(0, n, 1):"),
    ],
)
def test_trips_come_in_the_opposite_order(header: str, back: str) -> None:
    assert back in reverse_of(loop(header)).splitlines()
    assert "trips" not in forward_of(loop(header))


@pytest.mark.parametrize(
    ("header", "back"),
    [
        ("for k in range(3, n, 1)", "for k_1 in reversed(range(3, trips_1 + 3, 1)):"),
        ("for k in range(0, n, 2)", "for k_1 in reversed(range(0, 2 * trips_1, 2)):"),
        ("for k in range(0, n, m)", "for k_1 in reversed(range(0, product, m)):"),
        ("for k in reversed(range(0, n, 1))", "for k_1 in range(n - trips_1, n, 1):"),
    ],
)
def test_a_loop_that_is_left_counts_its_trips(header: str, back: str) -> None:
    assert back in reverse_of(loop(header, BREAK)).splitlines()
    forward = forward_of(loop(header, BREAK)).splitlines()
    begun = forward.index("store trips, 0")
    assert begun < forward.index("    add trips, 1") < forward.index("    a = load s")


def test_a_count_inside_a_loop_is_taped() -> None:
    program = """
    def f(x: float, n: int):
        cell s
        store s, x
        for k in range(0, n, 1):
            while:
                a = load s
                t = lt a, 9.0
            test t:
                b = load s
                y = multiply b, b
                store s, y
        end = load s
        return end
    """
    assert "    push trips_tape, trips_1" in forward_of(program).splitlines()
    lines = reverse_of(program).splitlines()
    k = lines.index("    trips_2 = pop trips_tape")
    assert lines[k - 1] == "for k_1 in reversed(range(0, n, 1)):"
    assert lines[k + 1] == "    for _ in range(0, trips_2, 1):"


ALONE = {
    "only adds": ("add s, y", True),
    "reads what it adds to": ("add s, y\n            b = load s", False),
    "overwrites": ("store s, y", False),
    "is left": ("add s, y\n            break", False),
    "prints": ("add s, y\n            effect print y", False),
}


@pytest.mark.parametrize("title", ALONE)
def test_an_independent_loop(title: str) -> None:
    statements, expected = ALONE[title]
    sweep = swept(f"""
    def f(x: float, n: int):
        cell s
        store s, x
        for k in range(0, n, 1):
            y = multiply x, x
            {statements}
        end = load s
        return end
    """)
    (found,) = (s for s in sweep.function.body if isinstance(s, For))
    assert is_independent(sweep, sweep.root, found) is expected
    if expected:  # one loop is the pair of the other, and nothing is taped
        again = [s for s in sweep.reverse if isinstance(s, For)]
        assert [s.pair for s in again] == [found]
        assert not sweep.tapes


def test_the_product_of_counts() -> None:
    sweep = swept(loop("for k in range(0, n, 1)"))
    n, m = (symbol(Value(name, INT)) for name in "nm")
    assert times(sweep, n, linear(3)) == n * 3
    length = len(sweep.builder.block)
    product = times(sweep, n, m)
    assert product.constant is None
    assert len(sweep.builder.block) == length + 1  # a statement of its own


@pytest.mark.parametrize("step", [1, -1])
def test_where_the_last_items_begin(step: int) -> None:
    f = written("def f(x: float):\n    return x")
    sweep = swept(f)
    n, stop = (symbol(Value(name, INT)) for name in ("n", "stop"))
    s = For(Value("k", INT), linear(0), stop, linear(step), [], backwards=True)
    assert last_of(sweep, s, n) == stop - n * step
