"""The source of derivatives, as tests/golden holds it, and that those derivatives hold.

Each program's gradient stands in golden/grad (in golden/vjp, where the result is not
one real number) and its forward derivative in golden/jvp.
"""

import ast
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lint import MOST_STATEMENTS, identifiers, lint, statements

import gradwright as gw
from gradwright.transforms import Step, Transformed
from programs import PROGRAMS, Program

COMMENT = re.compile(r"^ *# programs\.py:(\d+)  (.*)$", re.MULTILINE)
STEP = 1e-6  # of the differences, relative to each argument

EVERY_SAMPLE = [
    pytest.param(p, s, id=f"{p.name}-{k}")
    for p in PROGRAMS
    for k, s in enumerate(p.samples)
]


def emitted(program: Program) -> dict[str, str]:
    """The sources of a program's derivatives, by transform."""
    f, arguments = program.function, list(program.samples[0].values())
    wrt = tuple(k for k, a in enumerate(arguments) if is_active(a))
    if isinstance(f(*arguments), float):
        kind, reverse = "grad", gw.grad(f, wrt if len(wrt) > 1 else wrt[0])
    else:
        kind, reverse = "vjp", Transformed(f, Step("vjp", None))
    forward = Transformed(f, Step("jvp", None))
    return {kind: reverse.source(*arguments), "jvp": forward.source(*arguments)}


def is_active(a: Any) -> bool:
    if isinstance(a, tuple):
        return all(map(is_active, a))
    return np.asarray(a).dtype.kind in "fc"


@pytest.fixture(scope="module")
def sources() -> dict[str, dict[str, str]]:
    return {p.name: emitted(p) for p in PROGRAMS}


def each(sources: dict[str, dict[str, str]]) -> Iterator[tuple[Program, str, str]]:
    for p in PROGRAMS:
        for kind, text in sources[p.name].items():
            yield p, kind, text


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_source(program: Program, golden: Callable[[str, str], None]) -> None:
    # Without line numbers, so that another program changes no golden but its own.
    for kind, text in emitted(program).items():
        golden(f"{kind}/{program.name}.py", COMMENT.sub(without_line, text))


def without_line(comment: re.Match[str]) -> str:
    return comment[0].replace(f":{comment[1]}  ", "  ")


def test_no_golden_is_left_over() -> None:
    folder = Path(__file__).parent / "golden"
    names = {p.name for p in PROGRAMS}
    kept = [p for kind in ("grad", "vjp", "jvp") for p in (folder / kind).glob("*.py")]
    assert [p for p in kept if p.stem not in names] == []


def test_comments_show_the_lines_of_the_user(
    sources: dict[str, dict[str, str]],
) -> None:
    lines = (Path(__file__).parent / "programs.py").read_text("utf-8").split("\n")
    wrong = [
        f"{p.name} {kind}: {comment[0].strip()}"
        for p, kind, text in each(sources)
        for comment in COMMENT.finditer(text)
        if not is_shown(comment[2], lines[int(comment[1]) - 1].strip())
    ]
    assert wrong == []


def is_shown(comment: str, line: str) -> bool:
    """Whether a comment shows a line, a long one up to an ellipsis."""
    return comment == line or line.startswith(comment.removesuffix(" ..."))


def test_lint(sources: dict[str, dict[str, str]]) -> None:
    found = [
        f"{kind}/{p.name}.py:{complaint}"
        for p, kind, text in each(sources)
        for complaint in lint(text, identifiers(p.source))
    ]
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def test_gradients_are_short(sources: dict[str, dict[str, str]]) -> None:
    counts = {
        p.name: (statements(ast.parse(text)), statements(ast.parse(p.source)))
        for p, kind, text in each(sources)
        if kind == "grad"
    }
    long = {
        name: ours
        for name, (ours, users) in counts.items()
        if ours > MOST_STATEMENTS * users
    }
    assert not long


PUSHES = {
    "gauss_seidel": 0,
    "diffusion": 1,  # the slice, which the rate multiplies
    "relaxed": 0,
    "prefix_sums": 0,
    "deposit": 0,
    "leaky": 0,
    "smoothed": 1,
    "cheapest_path": 1,
    "log_determinant": 2,  # one for each of two stores
}


def test_what_stores_keep(sources: dict[str, dict[str, str]]) -> None:
    """A linear stencil keeps nothing; a nonlinear one an element for each store."""
    found = {name: sources[name]["grad"].count(".append(") for name in PUSHES}
    assert found == PUSHES


def test_the_text_is_the_same_in_every_process(
    sources: dict[str, dict[str, str]],
) -> None:
    script = "import test_golden; print(test_golden.fingerprint())"
    expected = fingerprint(sources)
    for seed in "1", "2":
        environment = os.environ | {"PYTHONHASHSEED": seed}
        made = subprocess.run(
            [sys.executable, "-c", script],
            cwd=Path(__file__).parent,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert made.stdout.strip() == expected


def fingerprint(sources: dict[str, dict[str, str]] | None = None) -> str:
    if sources is None:
        sources = {p.name: emitted(p) for p in reversed(PROGRAMS)}
    text = "".join(text for _, _, text in each(sources))
    return hashlib.sha256(text.encode()).hexdigest()


# ---- what the sources compute ------------------------------------------------------


@pytest.mark.parametrize(("program", "sample"), EVERY_SAMPLE)
def test_derivatives(program: Program, sample: dict[str, Any]) -> None:
    f, arguments = program.function, tuple(sample.values())
    direction = toward(arguments, np.random.default_rng(1))

    def along(step: float) -> np.ndarray:
        return flat(f(*shifted(arguments, direction, step)))

    value, value_dot = gw.jvp(f, arguments, direction)
    assert flat(value).tolist() == along(0.0).tolist()
    slope = (along(STEP) - along(-STEP)) / (2.0 * STEP)
    np.testing.assert_allclose(flat(value_dot), slope, rtol=1e-6, atol=1e-8)

    value, pull = gw.vjp(f, *arguments)
    assert flat(value).tolist() == along(0.0).tolist()
    value_bar = toward(value, np.random.default_rng(2))
    slope = inner(value_bar, value_dot)
    assert list(map(np.shape, pull(value_bar))) == list(map(np.shape, arguments))
    np.testing.assert_allclose(inner(pull(value_bar), direction), slope, rtol=1e-9)

    if isinstance(value, float):
        wrt = tuple(k for k, a in enumerate(arguments) if is_active(a))
        gradient = gw.grad(f, wrt)(*arguments)
        chosen = tuple(direction[k] for k in wrt)
        np.testing.assert_allclose(inner(gradient, chosen), value_dot, rtol=1e-9)


def toward(a: Any, rng: np.random.Generator) -> Any:
    """A direction for an argument, about as large as the argument itself."""
    if isinstance(a, tuple):
        return tuple(toward(item, rng) for item in a)
    if isinstance(a, np.ndarray):
        return rng.normal(size=a.shape)
    if isinstance(a, complex):
        return complex(*rng.normal(size=2))
    return float(rng.normal()) * (a or 1.0) if isinstance(a, float) else 0


def shifted(a: Any, direction: Any, step: float) -> Any:
    if isinstance(a, tuple):
        return tuple(shifted(x, d, step) for x, d in zip(a, direction, strict=True))
    return a + step * direction if is_active(a) else a


def flat(a: Any) -> np.ndarray:
    return np.concatenate([np.ravel(i) for i in (a if isinstance(a, tuple) else (a,))])


def inner(a: Any, b: Any) -> float:
    if isinstance(a, tuple):
        return sum(inner(x, y) for x, y in zip(a, b, strict=True))
    return float(np.sum(np.real(np.multiply(a, b))))
