"""The programs that hypothesis writes, and the check that judges by them.

A stand-in for the library takes derivatives by differences, rightly or wrongly.
"""

from __future__ import annotations

import ast
import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from coverage_table import Coverage, Watched, coverage_report
from generator import PROFILES, Program, programs
from generator.words import apart, copies, together
from hypothesis import HealthCheck, Phase, find, given, seed, settings
from test_property import NotSmooth, check, judge_many, module_of, product, survey

QUICK = settings(
    max_examples=60,
    derandomize=False,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
Function = Callable[..., Any]


def in_double(f: Function, args: Any) -> tuple[Function, Any]:
    """A function and its arguments in double precision."""
    source = "".join(linecache.getlines(f.__code__.co_filename))
    double = Program(source, tuple(args)).in_double()
    space: dict[str, Any] = {}
    exec(double.source, space)
    return space["f"], double.args


def of_kind(value: Any, like: Any) -> Any:
    """A value as an array of the same dtype, or as a number of the same type."""
    if isinstance(like, np.ndarray):
        return np.asarray(value, like.dtype)
    return type(like)(value)


class Differences:
    """The library's four functions, by differences; `wrong` spoils one thing."""

    def __init__(
        self, wrong: Callable[[Any], Any] = lambda x: x, where: str = ""
    ) -> None:
        self.wrong, self.where = wrong, where

    def _spoil(self, where: str, value: Any) -> Any:
        return self.wrong(value) if where == self.where else value

    def _gradient(self, f: Function, given: Any, rest: Any = ()) -> tuple[Any, ...]:
        f, whole = in_double(f, given)
        args, given_parts = apart(whole), apart(given)

        def slope(at: int, unit: Any, h: float) -> float:
            ends = []
            for step in (h * unit, -h * unit):
                moved = args[at] + step
                if isinstance(args[at], np.ndarray):
                    moved = np.asarray(moved)
                ends.append([*args[:at], moved, *args[at + 1 :], *rest])
            n = len(args)
            ahead, behind = (
                f(*copies(together(end[:n], whole)), *copies(end[n:])) for end in ends
            )
            return float(ahead - behind) / (2.0 * h)

        def derivative(at: int, unit: Any) -> float:
            return (4.0 * slope(at, unit, 1e-4) - slope(at, unit, 2e-4)) / 3.0

        def part(at: int, arg: Any) -> Any:
            units = np.eye(np.size(arg)).reshape(np.size(arg), *np.shape(arg))
            every = np.array([derivative(at, unit) for unit in units], float)
            if np.iscomplexobj(arg):
                every = every - 1j * np.array([derivative(at, 1j * u) for u in units])
            return np.reshape(every, np.shape(arg))

        parts = [part(at, arg) for at, arg in enumerate(args)]
        every = map(of_kind, parts, given_parts)
        return together(every, given)

    def grad(self, f: Function, argnums: tuple[int, ...]) -> Function:
        return lambda *args: self.value_and_grad(f, argnums)(*args)[1]

    def value_and_grad(self, f: Function, argnums: tuple[int, ...]) -> Function:
        def both(*args: Any) -> tuple[Any, Any]:
            n = len(argnums)
            gradient = self._gradient(f, args[:n], args[n:])
            value = f(*copies(args))
            return self._spoil("value", value), self._spoil("grad", gradient)

        return both

    def jvp(self, f: Function, primals: Any, tangents: Any) -> tuple[Any, Any]:
        tangent = product(self._gradient(f, primals), tangents)[0]
        return f(*copies(primals)), self._spoil("jvp", tangent)

    def vjp(self, f: Function, *args: Any) -> tuple[Any, Function]:
        gradient = self._spoil("vjp", self._gradient(f, args))
        value = f(*copies(args))
        return value, lambda bar: together(
            (of_kind(bar * g, g) for g in apart(gradient)), gradient
        )


def off(gradient: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(part + 1e-3 for part in gradient)


def opposite(gradient: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(-part for part in gradient)


def one_dropped(gradient: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*gradient[:-1], 0.0 * gradient[-1])


def as_numpy(gradient: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.asarray(part)[()] for part in gradient)


def each(profile: str, body: Callable[[Program], None]) -> None:
    """Run the body for some programs of a profile."""
    seed(0)(QUICK(given(programs(profile))(body)))()


@pytest.mark.parametrize("profile", PROFILES)
def test_programs_run(profile: str) -> None:
    """They end, finite and real, and leave their arguments alone."""

    def runs(program: Program) -> None:
        assert max(map(len, program.source.splitlines())) < 600
        with module_of(program) as f, np.errstate(all="raise", under="ignore"):
            value = f(*program.given)
            watched, _ = Watched(program.source).run(*program.args, *program.options)
            assert f(*program.given[: len(program.args)]) == value
        assert isinstance(value, float) and abs(value) < 1e4
        assert type(watched) is type(value) and watched == value

    each(profile, runs)


@pytest.mark.parametrize("profile", PROFILES)
def test_right_derivatives_pass(profile: str) -> None:
    coverage = Coverage()
    judge_many(profile, 60, 3, Differences(), coverage)
    assert coverage.programs == 60
    assert coverage.skipped.total() < 20
    assert "60 programs" in coverage_report(coverage)


FAULTS = {
    "grad of the wrong sign": (opposite, "grad", "gradient and differences"),
    "grad without an argument": (one_dropped, "grad", "gradient and differences"),
    "grad off by 1e-3": (off, "grad", "gradient and differences"),
    "grad of NumPy's kind": (as_numpy, "grad", "must be like"),
    "jvp off by 1e-8": (lambda x: x * (1.0 + 1e-7), "jvp", "jvp and gradient"),
    "vjp without an argument": (one_dropped, "vjp", "vjp and gradient"),
    "value a bit off": (lambda x: x + 1e-9, "value", "value by value"),
    "value of another kind": (lambda x: np.float32(x), "value", "value by value"),
}
EXAMPLES = [
    Program("def f(x, y):\n    return x * y + 0.5 * y * y", (0.7, 1.3)),
    Program("def f(z, y):\n    return (z * z).real * y", (0.4 + 0.9j, 1.1)),
    Program(
        "def f(y, xs):\n    for x in xs:\n        y = y * x + x\n    return y * 1.0",
        (0.3, np.array([0.5, -1.2])),
    ),
]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("program", EXAMPLES, ids=["numbers", "complex", "array"])
def test_faults_are_found(fault: str, program: Program) -> None:
    wrong, where, message = FAULTS[fault]
    if len(program.source) % 2 and where == "value":
        program = Program(program.source + " ", program.args)
    check(program, Differences())
    with pytest.raises(AssertionError, match=message) as caught:
        check(program, Differences(wrong, where))
    (note,) = caught.value.__notes__
    assert program.source in note and "no source" in note


def test_survey_counts_failures(capsys: pytest.CaptureFixture[str]) -> None:
    assert survey(20, ["loops", "complex"], Differences()) == 0
    failed = survey(20, ["vectors"], Differences(opposite, "vjp"))
    printed = capsys.readouterr().out
    assert f"{failed} times AssertionError in agree: vjp and gradient" in printed
    assert f"{failed} of 20 programs failed" in printed


def test_changed_arguments_are_found() -> None:
    class Careless(Differences):
        def vjp(self, f: Function, *args: Any) -> tuple[Any, Function]:
            result = super().vjp(f, *args)
            args[1][0] = 7.0
            return result

    program = Program(EXAMPLES[2].source, (0.3, np.array([0.5, -1.2])))
    with pytest.raises(AssertionError, match="argument 1 was changed"):
        check(program, Careless())


@pytest.mark.parametrize(
    ("body", "x"),
    [
        ("return x if x < 0.5 else 2.0 * x", 0.5),
        ("return abs(x) * x + x", 1e-5),
        ("return max(x, 0.5)", 0.5),
        ("return x % 0.5", 1.5),
        ("k = 0\n    while x > 0.25 * k:\n        k += 1\n    return x * k", 1.0),
        ("return 2.0 * x and x", 0.0),
        ("return x * math.floor(x)", 2.0),
        ("return np.max(np.array([x, 0.5]))", 0.5),
    ],
)
def test_paths_that_change_are_seen(body: str, x: float) -> None:
    source = f"import math\nimport numpy as np\n\ndef f(x):\n    {body}"
    with pytest.raises(NotSmooth, match="another path"):
        check(Program(source, (x,)), Differences())


def test_curvature_is_seen() -> None:
    program = Program(
        "import math\n\ndef f(x):\n    return math.sin(900.0 * x)", (0.1,)
    )
    with pytest.raises(NotSmooth, match="curved"):
        check(program, Differences())


@pytest.mark.parametrize(
    ("profile", "form", "lines"),
    [
        ("loops", ast.While, 9),
        ("loops", ast.Continue, 10),
        ("branches", ast.BoolOp, 6),
        ("functions", ast.Lambda, 7),
        ("vectors", ast.Slice, 5),
        ("arrays", ast.Slice, 5),
    ],
)
def test_programs_shrink(profile: str, form: type[ast.AST], lines: int) -> None:
    """The smallest program that has a form has little else."""

    def has(program: Program) -> bool:
        return any(
            isinstance(node, form) for node in ast.walk(ast.parse(program.source))
        )

    small = find(
        programs(profile),
        has,
        random=random.Random(1),
        settings=settings(
            QUICK, max_examples=500, phases=[Phase.generate, Phase.shrink]
        ),
    )
    assert len(small.source.splitlines()) <= lines, small


def test_the_same_seed_writes_the_same_programs() -> None:
    """Seeded by hand, as `make test` seeds them."""
    runs: list[list[str]] = []
    for _ in range(2):
        sources: list[str] = []
        each("functions", lambda program: sources.append(program.source))
        runs.append(sources)
    assert runs[0] == runs[1]
