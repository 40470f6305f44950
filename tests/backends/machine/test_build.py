"""A module through Numba: what is set of LLVM's options, and what comes out."""

import llvmlite.binding as llvm
import pytest

from gradwright.backends.machine import build
from gradwright.backends.machine.kernel import translated
from gradwright.transform.core import Function, Value
from gradwright.transform.types import FLOAT


def same() -> Function:
    x = Value("x", FLOAT)
    return Function("same", [x], [], [x])


def test_the_name_says_what_is_computed_and_not_how_it_is_called() -> None:
    f = same()
    text, name = build.text_of(translated(f, (None,)))
    f.name, f.params[0].name = "other", "y"
    assert build.text_of(translated(f, (None,))) == (text, name)
    assert name in text
    x = Value("x", FLOAT)
    g = Function("same", [x], [], [x, x])
    assert build.text_of(translated(g, (None,)))[1] != name


def test_options_are_set_for_ours_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(llvm, "set_option", lambda _, option: seen.append(option))
    monkeypatch.setattr(llvm, "parse_assembly", fails)
    with pytest.raises(Exception, match="no module"):
        build.compiled(*build.text_of(translated(same(), (None,))))
    assert seen == [*build.OFF, *build.ON_AGAIN]


def fails(_: str) -> None:
    raise ValueError("no module")
