"""What a block remembers, and small questions about core."""

import pytest
from written import written

from gradwright.transform.build import constant
from gradwright.transform.core import (
    At,
    Break,
    Cell,
    Load,
    NewAxis,
    Span,
    Value,
    Whole,
    walk,
)
from gradwright.transform.indices import linear
from gradwright.transform.reverse.state import (
    Block,
    all_blocks,
    begins_stored,
    break_last,
    is_item,
    own_breaks,
    region,
    statement_at,
    summed_axes,
    zero,
)
from gradwright.transform.types import COMPLEX, FLOAT, array

NESTED = """
    def f(x: float, n: int, c: bool):
        y = multiply x, 2.0
        for k in range(0, n, 1):
            z = add x, 1.0
            if c:
                break
            else:
                for m in range(0, n, 1):
                    break
        return y
"""


def test_a_block_knows_where_its_values_are_defined() -> None:
    f = written(NESTED)
    block = Block(f.body, None, True)
    assert {v.name: k for v, k in block.defined.items()} == {"y": 0}
    inner = Block(f.body[1].body, block, False)  # type: ignore[attr-defined]
    assert {v.name: k for v, k in inner.defined.items()} == {"z": 0}


def test_the_statement_that_is_reversed() -> None:
    block = Block(written(NESTED).body, None, True)
    assert statement_at(block) is None  # behind the last one
    block.at = 1
    assert statement_at(block) is block.body[1]


def test_every_block_is_found() -> None:
    assert [len(b) for b in all_blocks(written(NESTED).body)] == [2, 2, 1, 1, 1]


def test_only_a_loops_own_breaks_leave_it() -> None:
    outer = written(NESTED).body[1]
    breaks = [s for s in walk([outer]) if isinstance(s, Break)]
    assert len(breaks) == 2
    assert own_breaks(outer.body) == breaks[:1]  # type: ignore[attr-defined]


def test_a_break_stays_last() -> None:
    leave = Break()
    (y, _) = written(NESTED).body
    assert break_last([leave, y]) == [y, leave]


@pytest.mark.parametrize(
    ("index", "rank"),
    [
        ((At(linear(0)),), 1),
        ((At(linear(0)), At(linear(1))), 0),
        ((Span(),), 2),
        ((NewAxis(), At(linear(0))), 2),
        ((Whole(), At(linear(0))), 1),
    ],
)
def test_what_an_index_names(index: tuple[object, ...], rank: int) -> None:
    found = region(array("float64", (2, 3)), index)
    assert found.rank == rank
    assert found.is_array == bool(rank)
    assert found.dtype == "float64"


def test_zero_is_of_the_kind() -> None:
    assert zero(FLOAT) == constant(0.0)
    assert zero(COMPLEX) == constant(0j)


def test_the_axes_of_a_stretched_operand() -> None:
    wide = array("float64", (4, 2, 3))
    assert summed_axes(array("float64", (2, 3)), wide) == (1, ())
    assert summed_axes(array("float64", (4, 1, 3)), wide) == (0, (1,))


@pytest.mark.parametrize(
    ("between", "stored"),
    [
        ("y = multiply x, 2.0", True),
        ("y = load s", False),
        ("if c:\n            store s, x", False),  # on one path only
    ],
)
def test_a_cell_that_is_stored_where_it_begins(between: str, stored: bool) -> None:
    f = written(f"""
    def f(x: float, c: bool):
        cell s
        {between}
        store s, x
        end = load s
        return end
    """)
    cell = next(s.source for s in walk(f.body) if isinstance(s, Load))
    assert isinstance(cell, Cell)
    assert begins_stored(f.body, cell) is stored
    assert not begins_stored(f.body, Cell("other", FLOAT))


def test_the_item_of_a_loop_over_an_array() -> None:
    xs = Value("xs", array("float64", (3,)))
    at = (At(linear(0)),)
    assert is_item(Load(Value("x", FLOAT), xs, at, safe=True))
    assert not is_item(Load(Value("x", FLOAT), xs, at))
    assert not is_item(Load(Value("x", FLOAT), Cell("c", FLOAT), safe=True))
