"""Cells that begin as None, and Python's own error for a read that comes too early."""

from swept import text
from written import written

from gradwright.transform.core import (
    Alloc,
    Cell,
    Function,
    Load,
    Raise,
    Statement,
    walk,
)
from gradwright.transform.notation import notation
from gradwright.transform.reverse.placeholders import with_placeholders

PROGRAM = """
    def f(x: float, n: int):
        cell s
        for k in range(0, n, 1):
            a = load s
            store s, x
        end = load s
        return end
"""


def cell_of(f: Function) -> Cell:
    (cell,) = (s.place for s in f.body if isinstance(s, Alloc))
    assert isinstance(cell, Cell)
    return cell


def loads(f: Function) -> list[Load]:
    return [s for s in walk(f.body) if isinstance(s, Load)]


def test_a_cell_begins_as_none() -> None:
    f = written(PROGRAM)
    cell = cell_of(f)
    body = with_placeholders(f.body, {cell})
    assert notation(Function("f", f.params, body, f.results)) == text("""
        def f(x: float, n: int):
            cell s
            store s, None
            for k in range(0, n, 1):
                a = load s
                store s, x
            end = load s
            return end
    """)


def test_a_read_that_may_come_too_early_still_raises() -> None:
    f = written(PROGRAM)
    inside, after = loads(f)
    after.unsure = True
    body = with_placeholders(f.body, {cell_of(f)})
    lines = notation(Function("f", f.params, body, f.results)).splitlines()
    assert lines[-6:-3] == [
        "    s_1 = load s",
        "    is_unbound = is_ s_1, None",
        "    if is_unbound:",
    ]
    assert lines[-2] == "    end = load s"
    (raised,) = (s for s in walk(body) if isinstance(s, Raise))
    assert raised.exception is UnboundLocalError
    assert "variable 's'" in str(raised.operands[0])
    assert not inside.unsure


def test_a_check_stands_inside_the_block_of_its_read() -> None:
    f = written(PROGRAM)
    loads(f)[0].unsure = True
    body = with_placeholders(f.body, {cell_of(f)})
    assert not any(isinstance(s, Raise) for s in body)
    assert any(isinstance(s, Raise) for s in walk(body))


def test_other_cells_stay_as_they_are() -> None:
    f = written(PROGRAM)
    body: list[Statement] = f.body
    assert with_placeholders(body, set()) is body
    other = Cell("other", cell_of(f).type)
    shown = notation(f)
    f.body = with_placeholders(body, {other})
    assert notation(f) == shown
