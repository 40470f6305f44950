"""Frames: how names are looked up, what is captured, what a slot holds."""

import types
from typing import Any

import pytest

import gradwright as gw
from gradwright.transform import source
from gradwright.transform.notation import notation
from gradwright.transform.specialise import Specialised, specialise
from gradwright.transform.specialise.frame import type_of_input

SCALE, TITLE, PAIR = 3.0, "a title", (2.0, (5.0, "x"))


def of(f: Any, *args: Any) -> Specialised:
    read = source.read(f)
    names = [a.id for a in read.node.args.args]
    kinds = map(type_of_input, args)
    return specialise(read, dict(zip(names, kinds, strict=True)))


def test_captured_numbers_are_hidden_inputs() -> None:
    def f(x: float) -> float:
        return x * SCALE + PAIR[0] * SCALE + PAIR[1][0]

    found = of(f, 1.0)
    text = notation(found.function).splitlines()[0]
    assert text == "def f(x: float, SCALE: float, PAIR_0: float, PAIR_1_0: float):"
    assert [path.read() for path, _ in found.hidden] == [3.0, 2.0, 5.0]
    assert [p.name for p in found.function.hidden] == ["SCALE", "PAIR_0", "PAIR_1_0"]


def test_other_captured_objects_are_guards() -> None:
    def f(x: float) -> float:
        return x * 2.0 if TITLE == "a title" else x

    found = of(f, 1.0)
    assert not found.hidden
    assert "a title" in [held for _, held in found.guards]
    assert all(path.read() == held for path, held in found.guards)


def test_a_guard_that_fails_makes_it_anew(monkeypatch: Any) -> None:
    def f(x: float) -> float:
        return x * 2.0 if TITLE == "a title" else x

    g = gw.grad(f)
    assert g(1.0) == 2.0
    monkeypatch.setitem(globals(), "TITLE", "another")
    assert g(1.0) == 1.0


def test_a_variable_of_an_enclosing_function() -> None:
    def with_scale(scale: float) -> Any:
        return lambda x: x * scale

    two, five = gw.grad(with_scale(2.0)), gw.grad(with_scale(5.0))
    assert [two(1.0), five(1.0), two(1.0)] == [2.0, 5.0, 2.0]


def test_python_s_own_scopes() -> None:
    """A parameter, a local, an enclosing local, a global, a builtin: in this order."""

    def f(x: float, SCALE: float) -> float:
        len = 2.0

        def inner(t: float) -> float:
            return t * SCALE * len + abs(PAIR[0])

        return inner(x)

    assert gw.grad(f)(1.0, 7.0) == 14.0


UNBOUND = {
    "before its assignment": """
        def f(x):
            y = z * x
            z = x
            return y
        """,
    "on one path": """
        def f(x):
            if x < 0.0:
                z = x
            return z * x
        """,
    "in a loop that does not run": """
        def f(x):
            for k in range(0):
                z = x
            return z * x
        """,
    "in the first trip": """
        def f(x):
            y = x
            for k in range(3):
                if k > 0:
                    z = x
                y = y * z
            return y
        """,
}


@pytest.mark.parametrize("text", UNBOUND.values(), ids=UNBOUND)
def test_an_unbound_name_raises_as_in_python(text: str, tmp_path: Any) -> None:
    f = written(text, tmp_path)
    with pytest.raises(UnboundLocalError) as wanted:
        f(2.0)
    with pytest.raises(UnboundLocalError) as raised:
        gw.grad(f)(2.0)
    assert str(raised.value) == str(wanted.value)


BOUND = {
    "in each branch": """
        def f(x):
            if x < 0.0:
                z = x
            else:
                z = x * x
            return z * x
        """,
    "before each break": """
        def f(x):
            while True:
                z = x * 2.0
                if z > 1.0:
                    break
            return z * x
        """,
}


@pytest.mark.parametrize("text", BOUND.values(), ids=BOUND)
def test_what_is_surely_bound_is_not_asked_for(text: str, tmp_path: Any) -> None:
    f = written(text, tmp_path)
    assert not any(getattr(s, "unsure", False) for s in of(f, 2.0).function.body)
    assert "None" not in gw.grad(f).source(2.0)


def written(text: str, folder: Any) -> Any:
    import textwrap

    path = folder / "program.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    module = types.ModuleType("program")
    exec(compile(path.read_text("utf-8"), str(path), "exec"), module.__dict__)
    return module.f


@pytest.mark.parametrize(
    ("value", "type"),
    [(1, "int"), (True, "bool"), (1.0, "float"), (1.0j, "complex"), (None, "None")],
)
def test_the_type_of_an_input(value: Any, type: str) -> None:
    found = type_of_input(value)
    assert str(found) == type or (found is None and type == "None")
