"""Every message that a user can meet, beside the smallest program that meets it.

The programs stand in tests/golden/errors, each with its message: to add one, write it
there and run `make golden`, which writes the messages anew, and read what it wrote. A
program defines `f`, and perhaps `args`, which are 2.0 otherwise; or it defines `run`.
"""

import ast
import linecache
import math
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.transform.language import REFUSALS

ROOT = Path(__file__).resolve().parents[1]
FILES = {
    path.stem: path for path in sorted((ROOT / "tests/golden/errors").glob("*.txt"))
}
Case = tuple[str, str, str]  # title, program, message

# Wrong uses of the library itself, where Python's own classes say enough.
MISUSE = TypeError, ValueError, AssertionError


def cases(text: str) -> Iterator[Case]:
    """The programs of a file with their messages."""
    for block in re.split(r"^==== ", text, flags=re.MULTILINE)[1:]:
        title, rest = block.split("\n", 1)
        program, message = rest.split("\n----\n")
        yield title, program + "\n", message.rstrip("\n")


ALL: dict[str, tuple[str, Case]] = {
    case[0]: (name, case)
    for name, path in FILES.items()
    for case in cases(path.read_text(encoding="utf-8"))
}


def error_of(program: str) -> BaseException:
    """What a program raises, as the file loss.py of a user."""
    lines = program.splitlines(keepends=True)
    linecache.cache["loss.py"] = (len(program), None, lines, "loss.py")
    module: Any = types.ModuleType("loss")
    module.__dict__.update(gw=gw, np=np, math=math, xs=np.array([1.0, 2.0, 3.0]))
    sys.modules["loss"] = module
    try:
        exec(compile(program, "loss.py", "exec"), module.__dict__)
        with pytest.raises(Exception) as caught:
            if hasattr(module, "run"):
                module.run()
            else:
                gw.grad(module.f)(*getattr(module, "args", (2.0,)))
        return caught.value
    finally:
        del sys.modules["loss"], linecache.cache["loss.py"]


@pytest.mark.parametrize("name", FILES)
def test_messages(name: str, golden: Callable[[str, str], None]) -> None:
    blocks = []
    for title, program, _ in cases(FILES[name].read_text(encoding="utf-8")):
        error = error_of(program)
        shown = f"{type(error).__name__}: {error}"
        blocks.append(f"==== {title}\n{program}----\n{shown}\n")
    golden(f"errors/{name}.txt", "\n".join(blocks))


@pytest.mark.parametrize("title", ALL)
def test_form(title: str) -> None:
    """One family, with the place in the user's file, and carets under a piece of it."""
    name, (_, program, _) = ALL[title]
    error = error_of(program)
    if name == "misuse":
        assert isinstance(error, MISUSE)
        return
    assert isinstance(error, gw.GradwrightError)
    assert type(error).__name__ in gw.__all__
    assert not getattr(error, "__notes__", [])
    place = error.location
    if place is None:  # of a thing that stands nowhere in the user's text
        assert name in ("source", "arguments")
        return
    line = program.splitlines()[place.line - 1]
    assert (place.filename, place.text) == ("loss.py", line)
    assert line[place.column : place.end_column].strip()
    head, shown, carets, *more = str(error).split("\n")
    assert head == f"loss.py:{place.line}: {error.message}"
    assert shown == "    " + line.strip()
    assert carets.strip("^ ") == "" and "^" in carets and len(carets) <= len(shown)
    assert more == ([f"Write instead: {error.instead}"] if error.instead else [])


def test_titles_are_unique() -> None:
    assert len(ALL) == sum(
        path.read_text(encoding="utf-8").count("\n----\n") for path in FILES.values()
    )


# Those that are not about one of the modes, or about what is differentiated.
OF_EVERY_MODE = [
    title
    for title, (name, (_, program, _)) in ALL.items()
    if name not in ("misuse", "arguments", "transforms") and "def run" not in program
]


@pytest.mark.parametrize("title", OF_EVERY_MODE)
def test_the_same_in_every_mode(title: str) -> None:
    """Forward mode and vjp refuse what grad refuses, in the same words."""
    program = ALL[title][1][1]
    error = str(error_of(program))
    for call in ("gw.jvp(f, args, args)", "gw.vjp(f, *args)"):
        given = "" if re.search(r"^args = ", program, re.MULTILINE) else "args = (2.0,)"
        run = f"\n{given}\n\n\ndef run():\n    {call}\n"
        assert str(error_of(program + run)) == error


# ---- text that comes back as a number ------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: float(f"{x:.3f}"),
        lambda x: float("%.3f" % x),  # noqa: UP031  one of the ways to do it
        lambda x: float(str(x)),
        lambda x: float(repr(x)) * x,
        lambda x: float("{:.3f}".format(x)),  # noqa: UP032  another
        lambda x: complex(str(x)).real,
    ],
    ids=range(6),
)
def test_a_number_that_goes_through_text(f: Callable[[float], float]) -> None:
    """It comes back without a derivative: to go on would be silently wrong."""
    with pytest.raises(gw.GradwrightError) as caught:
        gw.grad(f)(2.0)
    assert caught.value.location is not None


def test_a_tuple_is_no_number() -> None:
    for f in (lambda x: math.sin((x, x)), lambda x: abs((x, x)), lambda x: -(x, x)):
        with pytest.raises(TypeError):
            f(2.0)
        with pytest.raises((TypeError, gw.GradwrightError)):
            gw.grad(f)(2.0)


# ---- that none is forgotten ----------------------------------------------------------

# What no program reaches, and why.
UNREACHED = {
    "an async loop": "stands in an async function only, which is refused itself",
    "'await'": "stands in an async function only, which is refused itself",
    "a template string": "Python 3.14",
    "' syntax": "for the syntax of a Python to come",
    " has no machine code for these lengths, and its source cannot read what machine "
    "code has handed over": "of a tape of words, where a half is lowered once more",
    "the call without jit": "stands beside it",
    "' belongs to a call that has ended": "a net under what `calls` sees to",
}


def literals(node: ast.expr | None) -> list[str]:
    """The longest piece of text of a message, whichever way it is put together."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        pieces = [v.value for v in node.values if isinstance(v, ast.Constant)]
        return [max(pieces, key=len)] if pieces else []
    if isinstance(node, ast.IfExp):
        return literals(node.body) + literals(node.orelse)
    if isinstance(node, ast.BinOp):
        return literals(node.left) + literals(node.right)
    return []


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each refusal in a file of the library."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    ours = {name for name in gw.__all__ if isinstance(getattr(gw, name), type)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr == "error":
            parts = [*node.args[1:2], *node.args[3:4]]
        elif isinstance(node.func, ast.Name) and node.func.id in ours:
            parts = node.args[:1]
        else:
            continue
        parts += [k.value for k in node.keywords if k.arg in ("message", "instead")]
        for part in parts:
            for text in literals(part):
                yield node.lineno, text


PLACES = [
    *sorted((ROOT / "transform/specialise").glob("*.py")),
    *sorted((ROOT / "gradwright").glob("*.py")),
]


@pytest.mark.parametrize("path", PLACES, ids=lambda path: path.name)
def test_every_refusal_has_its_program(path: Path) -> None:
    seen = "\n".join(message for _, (_, _, message) in ALL.values())
    missing = [
        f"{path.name}:{line}: {text!r}"
        for line, text in messages(path)
        if text.strip() not in seen and text not in UNREACHED
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("node", REFUSALS)
def test_every_syntax_that_is_refused_has_its_program(node: str) -> None:
    seen = "\n".join(message for _, (_, _, message) in ALL.values())
    words, instead = REFUSALS[node]
    for text in (words, instead):
        assert text is None or text in seen or words in UNREACHED
