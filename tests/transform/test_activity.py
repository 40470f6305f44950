"""Activity: which of the user's names get an adjoint."""

import textwrap
from pathlib import Path

import pytest

from gradwright.transform import source
from gradwright.transform.activity import active, varied
from gradwright.transform.core import Function, Value, leaves
from gradwright.transform.specialise import specialise
from gradwright.transform.types import FLOAT

# name: (program, what varies with x, what of it the result depends on)
PROGRAMS = {
    "a factor of something else": (
        """
        def f(x, y):
            k = y * 2.0
            z = x * k
            return z
        """,
        "x z",
        "x z",
    ),
    "a result nobody returns": (
        """
        def f(x, y):
            w = x * y
            unused = w * y
            z = x + y
            return z
        """,
        "unused w x z",
        "x z",
    ),
    "a comparison stops it": (
        """
        def f(x, y):
            z = y
            if x > 1.0:
                z = y * 2.0
            return z
        """,
        "x",
        "",
    ),
    "a step function stops it": (
        """
        def f(x, y):
            k = y // x
            z = k * y
            return z
        """,
        "x",
        "",
    ),
    "round the loop": (
        """
        def f(x, y):
            s = 0.0
            t = 0.0
            for k in range(3):
                s = s + t
                t = x
            return s
        """,
        "s t x",
        "s t x",
    ),
    "through a branch": (
        """
        def f(x, y):
            if y > 0.0:
                z = x
            else:
                z = y
            return z
        """,
        "x z",
        "x z",
    ),
    "through a call": (
        """
        def f(x, y):
            z = g(y, x)
            w = g(y, y)
            return z * w
        def g(a, b):
            if a > 100.0:
                return g(a - 1.0, b)
            return b
        """,
        "x z",
        "x z",
    ),
}


def core_of(program: str, folder: Path) -> Function:
    path = folder / "program.py"
    path.write_text(textwrap.dedent(program), encoding="utf-8")
    names: dict[str, object] = {}
    exec(compile(path.read_text("utf-8"), str(path), "exec"), names)
    return specialise(source.read(names["f"]), {"x": FLOAT, "y": FLOAT}).function


def users(things: set[object]) -> str:
    """Those that bear a name of the program's, in order."""
    names = {t.name for t in things if hasattr(t, "name")}
    return " ".join(sorted(names & set("k s t unused w x z".split())))


@pytest.mark.parametrize(
    ("program", "varies", "gets_adjoint"), PROGRAMS.values(), ids=PROGRAMS
)
def test_activity(program: str, varies: str, gets_adjoint: str, tmp_path: Path) -> None:
    f = core_of(program, tmp_path)
    x = f.params[0]
    assert isinstance(x, Value)
    results = {v for r in f.results for v in leaves(r)}
    assert users(varied(f, {x})) == varies
    assert users(active(f, {x}, results)) == gets_adjoint
