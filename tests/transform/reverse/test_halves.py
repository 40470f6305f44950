"""Functions split in two, and what one half hands to the other."""

from swept import text
from written import written

from gradwright.transform.core import Call, Cell, Store, Tape, Value, is_recursive
from gradwright.transform.notation import notation
from gradwright.transform.reverse.halves import (
    Splits,
    free_values,
    inexact,
    outer_seeds,
    with_stores,
)
from gradwright.transform.types import FLOAT

ROOT = """
    def f(x: float, w: float):
        y = cbrt x
        z = multiply y, w
        return z
"""


def test_residuals_are_returned_and_taken() -> None:
    split = Splits(None).split(written(ROOT), (True, True))
    assert notation(split.forward).splitlines()[0].startswith("def f_forward(")
    assert [r.name for r in split.residuals] == ["y"]
    assert split.needed == [1]
    head, *lines = notation(split.backward).splitlines()
    assert head == "def f_backward(y: float, w: float, z_bar: float):"
    assert lines[:2] == [
        "    y_bar = multiply w, z_bar",
        "    w_bar = multiply y, z_bar",
    ]
    assert lines[-1] == "    return x_bar, w_bar"
    assert len(split.forward.results) == 2
    assert not split.recursive


def test_a_function_that_saves_nothing_is_its_own_forward_half() -> None:
    f = written("def f(x: float, w: float):\n    y = multiply x, w\n    return y")
    split = Splits(None).split(f, (True, True))
    assert split.forward is f
    assert split.residuals == []
    assert notation(split.backward) == text("""
        def f_backward(x: float, w: float, y_bar: float):
            x_bar = multiply w, y_bar
            w_bar = multiply x, y_bar
            return x_bar, w_bar
    """)


def test_only_needed_parameters_are_taken() -> None:
    f = written("def f(x: float, w: float):\n    y = multiply x, w\n    return y")
    split = Splits(None).split(f, (True, False))
    assert split.needed == [1]
    assert [p.name for p in split.backward.params] == ["w", "y_bar"]
    assert len(split.backward.results) == 1


def test_a_split_is_made_once_for_each_kind_of_call() -> None:
    splits, f = Splits(None), written(ROOT)
    both = splits.split(f, (True, True))
    assert splits.split(f, (True, True)) is both
    assert splits.split(f, (True, False)) is not both


def test_what_one_path_defines_is_handed_over_as_none_on_the_other() -> None:
    f = written("""
        def f(x: float, c: bool):
            cell s
            store s, x
            if c:
                y = cbrt x
                z = multiply y, y
                store s, z
            end = load s
            return end
    """)
    split = Splits(None).split(f, (True, False))
    lines = notation(split.forward).splitlines()
    (name,) = (r.name for r in split.residuals)
    assert f"    cell {name}" in lines
    assert f"    store {name}, None" in lines
    assert lines.index(f"    store {name}, None") < lines.index("    if c:")
    assert any(line.startswith(f"        store {name}, ") for line in lines)


def test_a_recursive_function_leaves_its_residuals_on_a_tape() -> None:
    f = written("""
        def f(x: float, c: bool):
            y = multiply x, x
            return y
    """)
    out = Value("out", FLOAT)
    f.body.append(Call((out,), f, tuple(f.params)))  # type: ignore[arg-type]
    f.results = [out]
    assert is_recursive(f)
    split = Splits(None).split(f, (True, False))
    assert split.recursive
    for half in (split.forward, split.backward):
        assert isinstance(half.params[-1], Tape)
        calls = [s.function for s in half.body if isinstance(s, Call)]
        assert calls == [half]  # each half calls itself


def test_the_seeds_of_a_backward_half() -> None:
    f = written("def f(x: float, n: int):\n    y = multiply x, 2.0\n    return y, n")
    bars, seeds = outer_seeds(f)
    assert [b.name for b in bars] == ["y_bar"]
    assert seeds == [bars[0], None]  # an int has no cotangent
    assert inexact(f, (True, False)) == f.params[:1]
    assert inexact(f, (False, False)) == []


def test_what_a_block_reads_but_does_not_define() -> None:
    f = written("""
        def f(x: float, w: float):
            cell s
            y = multiply x, 2.0
            store s, y
            return w
    """)
    x, w = f.params
    assert list(free_values(f.body, f.results)) == [x, w]
    assert list(free_values(f.body[1:], [])) == [x, f.body[0].place]  # type: ignore[attr-defined]


def test_a_store_behind_what_is_handed_over() -> None:
    f = written(ROOT)
    y = f.body[0].out  # type: ignore[attr-defined]
    cell = Cell("y", FLOAT)
    body = with_stores(f.body, {y: cell}, set())
    assert [type(s).__name__ for s in body] == ["Let", "Store", "Let"]
    assert isinstance(body[1], Store)
    assert (body[1].place, body[1].operand) == (cell, y)
