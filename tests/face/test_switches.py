"""What is switched on for a block, a thread, or for all."""

import threading
from typing import Any

import pytest

import gradwright as gw
from gradwright.emitted import Emitted
from gradwright.switches import SWITCHED


@gw.jit
def double(x: float) -> float:
    return 2.0 * x


def runs_source(f: Any) -> bool:
    return f.entry.as_source.last is not None


def test_disable_jit_runs_the_source() -> None:
    f = gw.jit(lambda x: 3.0 * x)
    assert f(2.0) == 6.0
    with gw.disable_jit():
        assert gw.config.disable_jit
        assert f(2.0) == 6.0
        assert isinstance(f.entry.as_source.last.forward, Emitted)
        with gw.disable_jit(False):
            assert not gw.config.disable_jit
            assert f(2.0) == 6.0
    assert not gw.config.disable_jit and not SWITCHED.any


def test_disable_jit_holds_for_every_transform() -> None:
    f = gw.jit(lambda x, n: x**n, static_argnums=1)
    with gw.disable_jit():
        assert gw.grad(f)(3.0, 2) == 6.0
        assert gw.jvp(f, (3.0, 2), (1.0, 0)) == (9.0, 6.0)
        value, pull = gw.vjp(f, 3.0, 2)
        assert (value, pull(1.0)[0]) == (9.0, 6.0)
        assert isinstance(pull.backward, Emitted)


def test_a_block_is_of_its_thread() -> None:
    seen: list[bool] = []

    def look() -> None:
        seen.append(gw.config.disable_jit)
        with gw.disable_jit(False):
            seen.append(double(1.0) == 2.0)

    with gw.disable_jit():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert gw.config.disable_jit
    assert seen == [False, True]


def test_config_is_for_all_threads_that_have_no_block() -> None:
    seen: list[bool] = []
    gw.config.update("disable_jit", True)
    try:
        with gw.disable_jit(False):
            assert not gw.config.disable_jit
            thread = threading.Thread(target=lambda: seen.append(gw.config.disable_jit))
            thread.start()
            thread.join()
        assert seen == [True] and SWITCHED.any
        assert double(1.5) == 3.0 and runs_source(double)
    finally:
        gw.config.update("disable_jit", False)
    assert not SWITCHED.any
    assert "disable_jit=False" in repr(gw.config)


def test_a_switch_that_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="'jit' is none of disable_jit"):
        gw.config.update("jit", True)
    with pytest.raises(AttributeError, match="'enable' is none of"):
        gw.config.enable


def test_an_error_ends_the_block() -> None:
    with pytest.raises(ZeroDivisionError), gw.debug_nans():
        gw.jit(lambda x: 1.0 / x)(0.0)
    assert not gw.config.debug_nans and not SWITCHED.any


def test_as_a_decorator() -> None:
    @gw.disable_jit()
    def look() -> bool:
        return gw.config.disable_jit

    assert look() and look() and not gw.config.disable_jit
