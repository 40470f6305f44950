"""Programs that hypothesis writes, their derivatives held against differences.

`make test` judges 1,000 of them, always the same, and more of those that store or keep
lists. By hand, with new ones each time, the second form showing every kind of failure:

    GRADWRIGHT_PROGRAMS=20000 pytest -n 2 tests/test_property.py
    python tests/test_property.py 20000 loops functions
"""

from __future__ import annotations

import hashlib
import json
import linecache
import os
import random
import re
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from coverage_table import Coverage, Watched, coverage_report
from generator import PROFILES, Program, programs, written
from generator.words import apart, copies, together
from hypothesis import HealthCheck, Phase, assume, given, seed, settings

PROGRAMS = int(os.environ.get("GRADWRIGHT_PROGRAMS", "1000"))
PARTS = [(profile, part) for part in range(2) for profile in PROFILES]
PARTS = [part for part in PARTS if part[0] != "lists"]
# There is most to say of these.
PARTS += [(name, part) for name in ("arrays", "stores") for part in range(2, 6)]
LISTS = [("lists", part) for part in range(4)]  # beside the others
TIMES = {"stores": 4, "lists": 3}  # as many: a form is rare, and soon judged
MAY_BE_REFUSED = {"stores": 0.5, "lists": 0.5}  # the share that aliases may forbid
STEP = 2.0**-12
TOLERANCE = 1e-6  # of the differences, per sum of absolute terms
SAME = 1e-9  # of two derivatives that are both exact, likewise

Values = Sequence[Any]


class Skipped(Exception):
    """A program that is not judged: why, in a word or two."""


class NotSmooth(Skipped):
    """A program whose differences say nothing."""


class Refused(Skipped):
    """A program that gradwright refuses by a rule of aliases, or does not rewrite."""


def check(program: Program, api: Any, coverage: Coverage | None = None) -> None:
    """Hold every derivative that `api` gives of a program against differences.

    Raises:
        NotSmooth: a decision changes within the step, or the differences do not agree.
        AssertionError: a derivative, value, type or argument is wrong; the message
            shows the program, its arguments and the source that the library wrote.
    """
    watched = Watched(program.source)
    direction = toward(program.args)
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        want, trace = watched.run(*program.args, *program.options)
        slope = differences(program.in_double(), direction, trace)
        with module_of(program) as f:
            try:
                judge(program, api, f, want, direction, slope)
            except refusals(api) as error:
                raise Refused("refused") from error
            except Exception as error:
                error.add_note(report(program, api, f))
                raise
    if coverage:
        coverage.add(watched, trace)


def refusals(api: Any) -> tuple[type[Exception], ...]:
    names = ("AliasError", "EffectError", "UnsupportedSyntax")
    return tuple(getattr(api, name) for name in names if hasattr(api, name))


def judge(
    program: Program,
    api: Any,
    f: Callable[..., Any],
    want: float,
    direction: Values,
    slope: float,
) -> None:
    """Compare what the library says with the value and the slope."""
    args, argnums = program.args, tuple(range(len(program.args)))
    kept = copies((*args, *program.options))
    # Every other program by `grad`, which leaves the value to the rest.
    value, gradient = want, None
    if len(program.source) % 2:
        gradient = api.grad(f, argnums=argnums)(*args, *program.options)
    else:
        both = api.value_and_grad(f, argnums=argnums)
        value, gradient = both(*args, *program.options)
    jvp_value, tangent = api.jvp(f, args, direction)
    vjp_value, pull = api.vjp(f, *args)
    pulled, pulled_twice = pull(1.0), pull(-2.0)

    for name, got in (("value", value), ("jvp", jvp_value), ("vjp", vjp_value)):
        same = type(got) is type(want) and got == want
        assert same, f"value by {name} is {got!r}, must be {want!r}"
    for name, parts in (("grad", gradient), ("pull", pulled)):
        assert type(parts) is tuple and len(parts) == len(args), (
            f"{name} gives {parts!r}, must be a tuple of {len(args)}"
        )
        for at, (part, arg) in enumerate(zip(parts, args, strict=True)):
            assert are_alike(part, arg), (
                f"{name} of argument {at} is {part!r}, must be like {arg!r}"
            )
            assert np.all(np.isfinite(part)), f"{name} of argument {at} is {part!r}"
    every = (*args, *program.options)
    for at, (arg, old) in enumerate(zip(every, kept, strict=True)):
        same = np.shape(arg) == np.shape(old) and np.array_equal(arg, old)
        assert same, f"argument {at} was changed to {arg!r}"

    along, size = product(gradient, direction)
    size += 1e-3 * (1.0 + abs(want))
    loose = 1e5 if program.is_single else 1.0
    same = SAME * loose * size
    agree(along, slope, max(TOLERANCE, SAME * loose) * size, "gradient and differences")
    agree(tangent, along, same, "jvp and gradient")
    agree(product(pulled, direction)[0], along, same, "vjp and gradient")
    agree(product(pulled_twice, direction)[0], -2.0 * along, same, "second pull")


def agree(got: Any, want: Any, tolerance: float, what: str) -> None:
    assert abs(got - want) <= tolerance, (
        f"{what}: {got!r} and {want!r} differ by {abs(got - want):.1e}, "
        f"more than {tolerance:.1e}"
    )


def are_alike(part: Any, arg: Any) -> bool:
    """Whether a derivative is of the type, shape and dtype of an argument."""
    if type(part) is not type(arg) or np.shape(part) != np.shape(arg):
        return False
    if isinstance(arg, list):
        return all(map(are_alike, part, arg))
    return bool(np.asarray(part).dtype == np.asarray(arg).dtype)


def product(gradient: Values, direction: Values) -> tuple[float, float]:
    """The derivative along a direction, in JAX's convention; the sum of its terms."""
    pairs = zip(apart(gradient), apart(direction), strict=True)
    terms = [np.real(np.ravel(np.multiply(g, d))) for g, d in pairs]
    every = np.concatenate([np.zeros(1), *terms])
    return float(np.sum(every)), float(np.sum(np.abs(every)))


def toward(args: Values) -> tuple[Any, ...]:
    """A direction in the space of the arguments, no component of it near zero."""
    rng = np.random.default_rng(len(args))

    def part(arg: Any) -> Any:
        shape = np.shape(arg)
        value = rng.uniform(0.4, 1.0, shape) * rng.choice([-1.0, 1.0], shape)
        if np.iscomplexobj(arg):
            value = value + 1j * rng.uniform(0.4, 1.0, shape)
        if isinstance(arg, np.ndarray):
            return np.asarray(value).astype(arg.dtype)
        return type(arg)(value)

    return together(map(part, apart(args)), args)


def differences(program: Program, direction: Values, trace: list[Any]) -> float:
    """The slope along a direction by central differences, extrapolated once."""
    watched = Watched(program.source)

    def at(step: float) -> float:
        moved = [
            np.asarray(a + step * d) if isinstance(a, np.ndarray) else a + step * d
            for a, d in zip(apart(program.args), apart(direction), strict=True)
        ]
        given = together(moved, program.args)
        try:
            value, new_trace = watched.run(*given, *program.options)
        except (ArithmeticError, LookupError, ValueError, AssertionError):
            raise NotSmooth("fails within the step") from None
        if new_trace != trace:
            raise NotSmooth("took another path within the step")
        return float(value)

    coarse = (at(STEP) - at(-STEP)) / (2.0 * STEP)
    fine = (at(STEP / 2) - at(-STEP / 2)) / STEP
    best = (4.0 * fine - coarse) / 3.0
    if not abs(best - fine) <= 1e-5 * (0.1 + abs(best)):
        raise NotSmooth("curved too much for the step")
    return best


@contextmanager
def module_of(program: Program) -> Iterator[Callable[..., Any]]:
    """The `f` of a program in a module of its own, whose source can be read."""
    name = f"program_{hashlib.sha1(program.source.encode()).hexdigest()[:10]}"
    filename = f"<{name}>"
    lines = [line + "\n" for line in program.source.splitlines()]
    linecache.cache[filename] = (len(program.source), None, lines, filename)
    module = ModuleType(name)
    sys.modules[name] = module
    try:
        exec(compile("".join(lines), filename, "exec"), module.__dict__)
        yield module.f
    finally:
        del sys.modules[name]
        linecache.cache.pop(filename, None)


def report(program: Program, api: Any, f: Callable[..., Any]) -> str:
    """The program, and what the library made of it."""
    argnums = tuple(range(len(program.args)))
    try:
        written = api.grad(f, argnums=argnums).source(*program.args, *program.options)
    except Exception as error:
        written = f"no source: {type(error).__name__}: {error}"
    return f"{program!r}\ndirection {toward(program.args)!r}\n\n{written}"


def judge_many(
    profile: str, count: int, start: int | str, api: Any, coverage: Coverage
) -> None:
    """Judge so many programs of a profile."""

    @seed(start)
    @settings(
        max_examples=count,
        derandomize=False,
        database=None,
        deadline=None,
        phases=[Phase.generate],  # to shrink a program takes minutes
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(profile))
    def each(program: Program) -> None:
        try:
            check(program, api, coverage)
        except Skipped as why:
            if isinstance(why, Refused) and profile not in MAY_BE_REFUSED:
                raise
            coverage.skipped[str(why)] += 1
            assume(False)

    each()
    refused = coverage.skipped["refused"]
    most = MAY_BE_REFUSED.get(profile, 0.0) * (refused + coverage.programs)
    assert refused <= most, f"{refused} programs refused beside {coverage.programs}"


@pytest.mark.parametrize(("profile", "part"), [*PARTS, *LISTS])
def test_programs(
    profile: str, part: int, request: pytest.FixtureRequest, testrun_uid: str
) -> None:
    """Each part judges its programs; the last to finish, what all of them covered."""
    import gradwright as gw

    coverage = Coverage()
    start = part if PROGRAMS == 1000 else random.randrange(2**32)
    count = PROGRAMS // len(PARTS) * TIMES.get(profile, 1)
    judge_many(profile, count, start, gw, coverage)

    folder = request.config.cache.mkdir("programs")
    mine = {"run": testrun_uid, **vars(coverage)}
    (folder / f"{profile}-{part}.json").write_text(json.dumps(mine))
    if total := every_part(folder, testrun_uid):
        table = coverage_report(total)
        (folder / "coverage.txt").write_text(table, encoding="utf-8")
        print(table)
        missing = total.missing() if PROGRAMS >= 1000 else []
        assert not missing, f"no program has {', '.join(missing)}"


def every_part(folder: Path, run: str) -> Coverage | None:
    """What all parts of a run covered, once all are there."""
    total = Coverage()
    for profile, part in [*PARTS, *LISTS]:
        path = folder / f"{profile}-{part}.json"
        record = json.loads(path.read_text()) if path.exists() else {}
        if record.pop("run", None) != run:
            return None
        total += Coverage.of(record)
    return total


def survey(count: int, profiles: Sequence[str], api: Any) -> int:
    """Judge new programs one by one, and show each kind of failure at its smallest."""
    start, coverage = random.randrange(2**32), Coverage()
    refused: Counter[str] = Counter()
    failures: dict[str, list[tuple[int, Exception]]] = {}
    for at in range(count):
        profile = profiles[at % len(profiles)]
        program = written(random.Random(f"{start} {at}"), profile)
        try:
            check(program, api, coverage)
        except NotSmooth as why:
            coverage.skipped[str(why)] += 1
        except Refused as why:
            coverage.skipped[str(why)] += 1
            refused[f"{profile}: {in_short(why.__cause__)}"] += 1
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{type(error).__name__} in {place.name}: {in_short(error)}"
            failures.setdefault(kind, []).append((len(program.source), error))
    for kind, every in sorted(failures.items(), key=lambda item: len(item[1])):
        _, shown = min(every, key=lambda pair: pair[0])
        print(f"---- {len(every)} times {kind}\n\n{shown}")
        print(*getattr(shown, "__notes__", ()), sep="\n")
    failed = sum(map(len, failures.values()))
    for kind, times in refused.most_common():
        print(f"refused {times} times in {kind}")
    print(coverage_report(coverage))
    print(f"{failed} of {count} programs failed (seed {start})")
    return failed


def in_short(error: BaseException | None) -> str:
    """The first line of what an error says, without names and numbers."""
    line = str(error).partition("\n")[0]
    return re.sub(r"'\w+'|\S*\d\S*", "#", line)[:80]


def main(count: str = "1000", *profiles: str) -> None:
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("GRADWRIGHT_CACHE_DIR", cache)
        import gradwright as gw

        sys.exit(survey(int(count), profiles or tuple(PROFILES), gw) > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
