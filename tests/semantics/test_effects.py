"""Effects happen in program order, once per call of the transformed function."""

import random
import time
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw

MODES = {
    "grad": lambda f, x: gw.grad(f)(x),
    "value_and_grad": lambda f, x: gw.value_and_grad(f)(x),
    "jvp": lambda f, x: gw.jvp(f, (x,), (1.0,)),
    "vjp": lambda f, x: gw.vjp(f, x)[1](1.0),
}
over_modes = pytest.mark.parametrize("mode", MODES)


def helper(x):
    print("helper", x)
    return x * x


def reports(x):
    print("start", x, sep="=")
    total = 0.0
    for k in range(3):
        if k == 1:
            print(f"  skip {k}")
            continue
        total += helper(x + k)
        print(k, total, end=";\n")
    while total > 20.0:
        total *= 0.5
        print("half", f"{total:8.3f}", total > 20.0)
    print()
    print("unused", x - 1.0, None, "text", 3, True)
    return total


@over_modes
@pytest.mark.parametrize("x", [1.5, 4.0])
def test_print(mode: str, x: float, capsys: pytest.CaptureFixture[str]) -> None:
    reports(x)
    wanted = capsys.readouterr().out
    MODES[mode](reports, x)
    assert capsys.readouterr().out == wanted
    MODES[mode](reports, x)  # and so at every call
    assert capsys.readouterr().out == wanted


def test_print_happens_in_the_forward_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    _, pull = gw.vjp(reports, 1.5)
    assert capsys.readouterr().out
    pull(1.0)
    pull(2.0)
    assert not capsys.readouterr().out


def test_print_in_a_second_derivative(capsys: pytest.CaptureFixture[str]) -> None:
    """Once per call, however often the function is differentiated."""
    reports(1.5)
    wanted = capsys.readouterr().out
    assert gw.grad(gw.grad(reports))(1.5) == 4.0
    assert capsys.readouterr().out == wanted


def test_a_print_before_an_exception(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        print("before")
        y = 1.0 / (x - 1.0)
        print("after")
        return y

    for mode in MODES.values():
        with pytest.raises(ZeroDivisionError):
            mode(f, 1.0)
        assert capsys.readouterr().out == "before\n"


def test_nothing_runs_before_a_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        print("before")
        with open("file") as file:
            return x * len(file.read())

    with pytest.raises(gw.GradwrightError):
        gw.grad(f)(1.0)
    assert not capsys.readouterr().out


def test_a_loop_that_only_prints(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x, n):
        for k in range(n):
            print(k)
        return x

    for n in range(3):
        check(f, 2.0, n)
        capsys.readouterr()
        gw.grad(f)(2.0, n)
        assert capsys.readouterr().out == "".join(f"{k}\n" for k in range(n))


def test_a_branch_that_only_prints(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        if x > 1.0:
            print("large")
        elif x > 0.0:
            print("small")
        return x * x

    for x, shown in ((2.0, "large\n"), (0.5, "small\n"), (-1.0, "")):
        assert gw.grad(f)(x) == 2.0 * x
        assert capsys.readouterr().out == shown


@over_modes
def test_assert(mode: str) -> None:
    def f(x):
        assert x > 0.0, f"x is {x}"
        y = x * x
        assert y < 100.0
        return y

    MODES[mode](f, 2.0)
    with pytest.raises(AssertionError, match=r"x is -2\.0"):
        MODES[mode](f, -2.0)
    with pytest.raises(AssertionError):
        MODES[mode](f, 20.0)


# ---- what is refused -----------------------------------------------------------------

SHARED_GENERATOR = random.Random(1)


def global_random(x):
    return x + np.random.normal()


def legacy_random(x):
    return x + np.random.rand()


def python_random(x):
    return x + random.random()


def own_random(x):
    return x + SHARED_GENERATOR.random()


def clock(x):
    return x + time.time()


def counter(x):
    return x + time.perf_counter()


def evaluated(x):
    return eval("x * x")


def executed(x):
    exec("y = x")
    return x


def compiled(x):
    compile("x", "f", "eval")
    return x


def opened(x):
    file = open("file")
    return x + len(file.read())


def asked(x):
    return x + float(input())


def all_globals(x):
    return x + len(globals())


def all_locals(x):
    return x + len(locals())


REFUSED = [
    global_random, legacy_random, python_random, own_random, clock, counter, evaluated,
    executed, compiled, opened, asked, all_globals, all_locals,
]  # fmt: skip


@over_modes
@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_hidden_state_is_refused(f: Any, mode: str) -> None:
    before = np.random.get_state()[1].tolist(), SHARED_GENERATOR.getstate()
    with pytest.raises(gw.EffectError) as caught:
        MODES[mode](f, 2.0)
    assert caught.value.location.function == f.__name__
    assert (np.random.get_state()[1].tolist(), SHARED_GENERATOR.getstate()) == before
