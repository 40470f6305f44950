"""The garbage collector rests while a program is rewritten, and only then."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import gradwright as gw
from gradwright.uncollected import uncollected


def test_it_rests_while_a_program_is_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradwright import pipeline

    at_work = []

    def derived_of(*args: Any, **keywords: Any) -> Any:
        at_work.append(gc.isenabled())
        return known(*args, **keywords)

    known = pipeline.derived_of
    monkeypatch.setattr(pipeline, "derived_of", derived_of)
    assert gw.grad(lambda x: 3.0 * x)(2.0) == 3.0
    assert at_work == [False]
    assert gc.isenabled()


def test_it_is_at_work_again_after_an_error() -> None:
    with pytest.raises(gw.GradwrightError):
        gw.grad(lambda x: open("of no value").read())(2.0)
    assert gc.isenabled()


def test_who_had_stopped_it_finds_it_stopped() -> None:
    gc.disable()
    try:
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_first_of_two_sets_it_to_work() -> None:
    first, second = uncollected(), uncollected()
    with first:
        second.__enter__()
    assert gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()
