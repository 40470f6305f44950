"""The two sweeps of one function: which statements may follow which, what is found."""

from typing import Any

import pytest
from swept import forward_of, swept, text
from written import written

from gradwright.transform.build import constant
from gradwright.transform.core import Load, Store, walk
from gradwright.transform.reverse.halves import Splits
from gradwright.transform.reverse.state import Block
from gradwright.transform.reverse.sweep import Sweep

ORDER = {
    "a store before a read": (
        """
        store s, x
        end = load s
        """,
        False,
    ),
    "a store after a read": (
        """
        end = load s
        store s, x
        """,
        True,
    ),
    "the next trip of one loop": (
        """
        for k in range(0, n, 1):
            store s, x
            end = load s
        """,
        True,
    ),
    "the other branch": (
        """
        if c:
            end = load s
        else:
            store s, x
        """,
        False,
    ),
    "a place that begins in every trip": (
        """
        for k in range(0, n, 1):
            cell s
            store s, x
            end = load s
        """,
        False,
    ),
}


@pytest.mark.parametrize("title", ORDER)
def test_what_may_follow_what(title: str) -> None:
    statements, expected = ORDER[title]
    body = text(statements).replace("\n", "\n    ")
    begin = "" if "cell s" in statements else "    cell s\n"
    sweep = swept(f"def f(x: float, n: int, c: bool):\n{begin}    {body}\n    return x")
    found: list[Any] = list(walk(sweep.function.body))
    (store,) = (s for s in found if isinstance(s, Store))
    (load,) = (s for s in found if isinstance(s, Load))
    assert sweep.may_follow(store, load) is expected


def test_the_forward_sweep_is_the_program_and_pushes() -> None:
    assert forward_of("""
        def f(x: float, n: int):
            cell s
            store s, x
            for k in range(0, n, 1):
                a = load s
                y = multiply a, a
                store s, y
            end = load s
            return end
    """) == text("""
        cell s
        store s, x
        tape s_tape
        for k in range(0, n, 1):
            a = load s
            y = multiply a, a
            s_1 = load s
            push s_tape, s_1
            store s, y
        end = load s
    """)


def test_only_what_is_asked_for_is_active() -> None:
    f = written("""
        def f(x: float, w: float):
            y = multiply x, 2.0
            z = multiply w, y
            return z
    """)
    x, w = f.params
    sweep = Sweep(f, [w], [constant(1.0)], Splits(None))  # type: ignore[list-item]
    assert {v.name for v in sweep.active} == {"w", "z"}
    assert x not in sweep.active
    assert len(sweep.bars) == 1


def test_the_primal_is_not_changed() -> None:
    f = written("""
        def f(x: float, n: int):
            cell s
            store s, x
            for k in range(0, n, 1):
                a = load s
                y = multiply a, a
                store s, y
            end = load s
            return end
    """)
    before = list(walk(f.body))
    swept(f)
    assert list(walk(f.body)) == before  # the same statements


def test_what_is_known_inside_a_block_stays_there() -> None:
    sweep = swept("def f(x: float):\n    y = multiply x, 2.0\n    return y")
    outer, writes = sweep.block, sweep.builder.block
    inner = Block([], sweep.root, False)
    with pytest.raises(KeyError), sweep.inside(inner):
        assert sweep.block is inner
        assert sweep.builder.block is inner.reverse
        raise KeyError
    assert sweep.block is outer
    assert sweep.builder.block is writes
