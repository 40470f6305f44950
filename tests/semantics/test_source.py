"""What is differentiated is what your name is bound to, by the text it was made of."""

import functools
import importlib
import linecache
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from semantics.oracle import check

import gradwright as gw


@pytest.fixture
def module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str, str], ModuleType]]:
    """Write a module of this name and text, or write it anew, and import it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = []

    def write(name: str, text: str) -> ModuleType:
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        importlib.invalidate_caches()
        made.append(name)
        if name in sys.modules:
            return importlib.reload(sys.modules[name])
        return importlib.import_module(name)

    yield write
    for name in made:
        sys.modules.pop(name, None)


# ---- edited since --------------------------------------------------------------------

BEFORE = """
    def f(x):
        return x * x

    def g(x):
        return f(x) * 3.0
"""


def test_a_function_that_was_edited(module, tmp_path: Path) -> None:
    f = module("edited", BEFORE).f
    text = BEFORE.replace("x * x", "x * x * x")
    (tmp_path / "edited.py").write_text(textwrap.dedent(text))
    with pytest.raises(gw.SourceError, match="it was edited since") as caught:
        gw.grad(f)(2.0)
    assert "importlib.reload(edited)" in str(caught.value)
    assert gw.grad(module("edited", text).f)(2.0) == 12.0


def test_a_helper_that_was_edited(module, tmp_path: Path) -> None:
    g = module("edited_helper", BEFORE).g
    text = BEFORE.replace("x * x", "x + x")
    (tmp_path / "edited_helper.py").write_text(textwrap.dedent(text))
    with pytest.raises(gw.SourceError, match="it was edited since"):
        gw.grad(g)(2.0)


def test_an_edit_elsewhere_moves_the_lines(module, tmp_path: Path) -> None:
    """The function is found again, and its lines are those of the text as it is."""
    text = "def f(x):\n    y = x * x\n    return 1.0 / (y - 4.0)\n"
    f = module("moved", text).f
    (tmp_path / "moved.py").write_text(f"# a comment\n\n{text}\nn = 3\n")
    assert gw.grad(f)(1.0) == -2.0 / 9.0
    with pytest.raises(ZeroDivisionError) as caught:
        gw.grad(f)(2.0)
    assert caught.value.__notes__ == ["  in f, moved.py:5: return 1.0 / (y - 4.0)"]


def test_a_function_in_whose_place_another_stands(module, tmp_path: Path) -> None:
    f = module("replaced", BEFORE).f
    (tmp_path / "replaced.py").write_text("def k(x):\n    return x * x * x\n")
    with pytest.raises(gw.SourceError):
        gw.grad(f)(2.0)


def test_what_was_rewritten_goes_on_after_an_edit(module, tmp_path: Path) -> None:
    """The function itself has not changed: the gradient that is there stays right."""
    f = module("goes_on", BEFORE).f
    g = gw.grad(f)
    assert g(2.0) == 4.0
    (tmp_path / "goes_on.py").write_text("def f(x):\n    return x\n")
    assert g(3.0) == 6.0


def test_a_module_that_is_reloaded(module) -> None:
    made = module("reloaded", BEFORE)
    g = gw.grad(lambda x: made.f(x))
    assert g(2.0) == 4.0
    module("reloaded", BEFORE.replace("x * x", "x * x * x"))
    assert g(2.0) == 12.0


# ---- one text in two places ----------------------------------------------------------


def test_one_name_in_two_modules(module) -> None:
    """Two callees of the same name, and of the same place in their files."""
    first = module("law_one", "def law(x):\n    return x ** 2\n")
    second = module("law_two", "def law(x):\n    return x ** 3\n")

    def both(x):
        return first.law(x) + second.law(x)

    assert gw.grad(both)(2.0) == 16.0
    assert gw.grad(first.law)(2.0) == 4.0
    assert gw.grad(second.law)(2.0) == 12.0


def test_one_text_in_two_modules(module) -> None:
    """Their code objects are equal; their globals are not."""
    text = """
        def law(x):
            return x ** power()

        def power():
            return {}
    """
    first = module("same_one", text.format(2))
    second = module("same_two", text.format(3))
    assert first.law.__code__.co_code == second.law.__code__.co_code
    assert gw.grad(first.law)(2.0) == 4.0
    assert gw.grad(second.law)(2.0) == 12.0
    assert gw.grad(lambda x: first.law(x) * second.law(x))(2.0) == 5 * 2.0**4


# ---- lambdas, decorators, methods ----------------------------------------------------


def test_lambdas_on_one_line() -> None:
    f, g, h = lambda x: x, lambda x: x * x, lambda x: x * x * x
    assert [gw.grad(k)(2.0) for k in (f, g, h)] == [1.0, 4.0, 12.0]
    same = [lambda x, k=k: x * k for k in (2.0, 3.0)]
    assert [gw.grad(k)(2.0) for k in same] == [2.0, 3.0]


def test_lambdas_in_a_list_and_in_a_call() -> None:
    laws = [
        lambda x: x + 1.0,
        lambda x: x * 2.0,
        (lambda x: x * 3.0),
    ]
    assert [gw.grad(law)(1.0) for law in laws] == [1.0, 2.0, 3.0]
    assert gw.grad(lambda x: (lambda y: y * y)(x) + (lambda y: y * 5.0)(x))(2.0) == 9.0


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args):
        return 2.0 * f(*args)

    return wrapper


def scaled(factor):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(x):
            return factor * f(x)

        return wrapper

    return decorate


@doubled
def decorated(x):
    return x * x


@scaled(5.0)
@doubled
def twice_decorated(x):
    return x * x


def test_decorators_are_honoured() -> None:
    """functools.wraps points to the undecorated function; the name does not."""
    check(decorated, 3.0)
    assert gw.grad(decorated)(3.0) == 12.0
    assert gw.grad(twice_decorated)(3.0) == 60.0
    assert gw.grad(lambda x: decorated(x) + twice_decorated(x))(3.0) == 72.0


@functools.lru_cache
def remembered(x):
    return x * x


@functools.cache
def remembered_too(x):
    return remembered(x) * 2.0


def test_memos_are_looked_through() -> None:
    assert gw.grad(remembered)(3.0) == 6.0
    assert gw.grad(remembered_too)(3.0) == 12.0
    assert remembered.cache_info().currsize == 0


class Spring:
    """A class whose methods are functions of numbers."""

    stiffness = 3.0

    def energy(self, x):
        return 0.5 * self.stiffness * self.__square(x)

    def __square(self, x):
        return x * x

    @staticmethod
    def force(x):
        return -3.0 * x

    @classmethod
    def of_class(cls, x):
        return cls.stiffness * x * x


def test_methods() -> None:
    spring = Spring()
    assert gw.grad(spring.energy)(2.0) == 6.0
    assert gw.grad(Spring.force)(2.0) == -3.0
    assert gw.grad(Spring.of_class)(2.0) == 12.0
    assert gw.jvp(spring.energy, (2.0,), (1.0,)) == (6.0, 6.0)
    assert gw.grad(lambda x: spring.energy(x) + Spring.force(x))(2.0) == 3.0
    spring.stiffness = 5.0
    assert gw.grad(spring.energy)(2.0) == 10.0


def test_a_method_is_of_its_own_object() -> None:
    soft, stiff = Spring(), Spring()
    stiff.stiffness = 30.0
    assert gw.grad(lambda x: soft.energy(x) + stiff.energy(x))(2.0) == 66.0
    assert [gw.grad(s.energy)(2.0) for s in (soft, stiff)] == [6.0, 60.0]


def test_nested_functions() -> None:
    def outer(x):
        gain = 3.0

        def inner(y, shift=1.0, *, power=2):
            return gain * (y + shift) ** power

        def again(y):
            return inner(y) + inner(y, 2.0, power=3)

        return again(x) + (lambda y: y * gain)(x)

    check(outer, 1.5)


def test_functions_that_make_functions() -> None:
    def make(power):
        def law(x):
            return x**power

        return law

    assert [gw.grad(make(p))(2.0) for p in (2, 3)] == [4.0, 12.0]

    def f(x):
        square, cube = make(2), make(3)
        return square(x) * cube(x)

    check(f, 1.5)


def test_star_arguments() -> None:
    def product(first, *rest, power=1):
        for item in rest:
            first = first * item
        return first**power

    def f(x, y):
        pair = (x, y)
        return product(*pair, 3.0, power=2) + product(x) + product(power=3, first=y)

    check(f, 1.5, 2.5)
    check(product, 1.5, 2.5, 3.5)


# ---- texts that are no files ---------------------------------------------------------

TEXT = "def f(x):\n    assert x > 0.0\n    return x * x * x\n"


def test_a_registered_linecache_entry() -> None:
    """As IPython and doctest do."""
    filename = "<cell 17>"
    linecache.cache[filename] = (len(TEXT), None, TEXT.splitlines(True), filename)
    scope: dict[str, Any] = {}
    exec(compile(TEXT, filename, "exec"), scope)
    try:
        assert gw.grad(scope["f"])(2.0) == 12.0
        with pytest.raises(AssertionError) as caught:
            gw.grad(scope["f"])(-2.0)
        assert caught.value.__notes__ == ["  in f, <cell 17>:2: assert x > 0.0"]
    finally:
        del linecache.cache[filename]


@pytest.mark.parametrize("filename", ["<string>", "<stdin>", "<made up>"])
def test_a_text_that_was_not_kept(filename: str) -> None:
    scope: dict[str, Any] = {}
    exec(compile(TEXT, filename, "exec"), scope)
    with pytest.raises(gw.SourceError, match="f has no source: the text of"):
        gw.grad(scope["f"])(2.0)


def test_a_file_that_is_gone(module, tmp_path: Path) -> None:
    f = module("gone", TEXT).f
    (tmp_path / "gone.py").unlink()
    linecache.checkcache()
    with pytest.raises(gw.SourceError, match=r"gone\.py cannot be read"):
        gw.grad(f)(2.0)


def test_functions_without_source() -> None:
    """They need a row; the error says what else helps."""
    assert gw.grad(lambda x: abs(x))(2.0) == 1.0
    with pytest.raises(gw.MissingRule, match="no rule for") as caught:
        gw.grad(lambda x: x + hash(x))(2.0)
    assert "Write instead: " in str(caught.value)
    with pytest.raises(gw.GradwrightError) as caught:
        gw.grad(hash)(2.0)
    assert "hash" in str(caught.value)
