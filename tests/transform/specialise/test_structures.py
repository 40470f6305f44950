"""Structures of the user's program: every way to make one and to look into it."""

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradwright as gw

Point = namedtuple("Point", "x y")
OPTIONS = {"rate": 0.5, "inner": {"gain": 2.0}, 7: 1.5}
PAIR = Point(3.0, 4.0)


class State(NamedTuple):
    """Two numbers with a default, a method, a property and a constant."""

    at: float
    speed: float = 2.0
    scale = 3.0

    def energy(self):
        return 0.5 * self.speed**2 + self.at

    @property
    def double(self):
        return 2.0 * self.at


class Checked(Point):
    def __new__(cls, x, y):
        return super().__new__(cls, x, y)


def total(d, **options):
    s = 0.0
    for k in d:
        s = s + d[k] * options.get("scale", 1.0)
    return s


PROGRAMS: dict[str, Any] = {
    "a display": lambda x: {"a": x, "b": 2.0 * x}["b"],
    "a display with another": lambda x: total({"a": x, **{"b": x * x}, "c": x}),
    "of equal keys the last": lambda x: {"a": 5.0, "b": x, "a": x * x}["a"],  # noqa: F601
    "dict by name": lambda x: dict(a=x, b=2.0)["a"],
    "dict of pairs": lambda x: dict([("a", x), ("b", x * x)], c=x)["b"],
    "dict of a dict": lambda x: total(dict({"a": x}, b=x)),
    "a union": lambda x: total({"a": x, "b": x} | {"b": x * x}),
    "a comprehension": lambda x: total({k: x * n for k, n in zip("ab", (2, 3))}),
    "one with a test": lambda x: total(
        {k: v for k, v in {"a": x, "b": 9.0}.items() if k != "b"}
    ),
    "keys": lambda x: total({k: x for k in {"a": 1, "b": 2}.keys()}),
    "values": lambda x: sum_of({"a": x, "b": x * x}.values()),
    "items": lambda x: sum_of([v * len(k) for k, v in {"aa": x}.items()]),
    "len": lambda x: x * len({"a": 1, "b": x}),
    "in": lambda x: x * x if "a" in {"a": x} and "b" not in {"a": x} else x,
    "get": lambda x: {"a": x}.get("a") * {"a": x}.get("b", 3.0),
    "an int key": lambda x: {1: x, 2: x * x}[2],
    "a tuple key": lambda x: {(0, 1): x * x}[0, 1],
    "sorted": lambda x: sum_of([x * (k + 1) for k in sorted({3: 0, 1: 0})]),
    "isinstance": lambda x: x * x if isinstance({"a": x}, dict) else x,
    "truth": lambda x: x * x if {"a": x} and not {} else x,
    "two stars": lambda x: total({"a": x, "b": x}, **{"scale": 3.0}),
    "captured": lambda x: x * OPTIONS["rate"] * OPTIONS["inner"]["gain"] * OPTIONS[7],
    "captured values": lambda x: x * sum_of(OPTIONS["inner"].values()),
    "captured, looped": lambda x: x * sum_of([1.0 for _ in OPTIONS]),
    "a captured namedtuple": lambda x: x * PAIR.x * PAIR[1],
    "made by position": lambda x: Point(x, 2.0).x * Point(x, 2.0).y,
    "made by name": lambda x: Point(y=x * x, x=x).y,
    "with a default": lambda x: State(x).speed * x,
    "a method": lambda x: State(x, x).energy(),
    "a property": lambda x: State(x).double * x,
    "a constant of the class": lambda x: State(x).scale * x,
    "replaced": lambda x: State(x)._replace(speed=x).energy(),
    "as a dict": lambda x: total(State(x, x * x)._asdict()),
    "its fields": lambda x: x * len(State(x)._fields),
    "taken apart": lambda x: sum_of([a * b for a, b in [Point(x, x)]]),
    "a slice": lambda x: Point(x, x * x)[1:][0],
    "joined": lambda x: sum_of(Point(x, 1.0) + (x * x,)),  # noqa: RUF005
}


def sum_of(items):
    s = 0.0
    for item in items:
        s = s + item
    return s


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    f, x, step = PROGRAMS[name], 1.5, 1e-6
    value, gradient = gw.value_and_grad(f)(x)
    assert value == f(x)
    slope = (f(x + step) - f(x - step)) / (2 * step)
    assert gradient == pytest.approx(slope, rel=1e-8)


def test_a_structure_goes_round_a_loop() -> None:
    def f(s, n):
        for _ in range(n):
            s = {"p": s["p"] + 0.1 * s["v"], "v": s["v"] - 0.1 * s["p"]}
        return s["p"]

    assert gw.grad(f)({"p": 1.0, "v": 2.0}, 1) == {"p": 1.0, "v": 0.1}
    gw.check_grads(f, ({"p": 1.0, "v": 2.0}, 3), order=2)


def test_a_structure_is_chosen() -> None:
    def f(x):
        p = Point(x, x * x) if x > 0.0 else Point(x * x, 1.0)
        return p.y

    assert gw.grad(f)(2.0) == 4.0
    assert gw.grad(f)(-2.0) == 0.0


def test_captured_dicts_are_read_at_every_call(monkeypatch) -> None:
    g = gw.grad(PROGRAMS["captured values"])
    assert g(1.0) == 2.0
    monkeypatch.setitem(OPTIONS["inner"], "gain", 5.0)
    assert g(1.0) == 5.0
    monkeypatch.setitem(OPTIONS["inner"], "more", 1.0)
    assert g(1.0) == 6.0


@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda x: {"a": x}["b"], KeyError("b")),
        (lambda x: {1: x}[2], KeyError(2)),
        (lambda x: {"a": x}.b, AttributeError("'dict' object has no attribute 'b'")),
        (
            lambda x: Point(x, x).z,
            AttributeError("'Point' object has no attribute 'z'"),
        ),
        (lambda x: Point(x), TypeError("Point.__new__() missing a required ar")),
        (lambda x: {[1]: x}, TypeError("unhashable type: 'list'")),
        (lambda x: total(x, **{"scale": 1.0}, scale=2.0), TypeError("got multiple")),
        (lambda x: Point(x, x)._replace(z=x), ValueError("Got unexpected field")),
    ],
    ids=lambda e: repr(e) if isinstance(e, Exception) else "",
)
def test_pythons_own_errors(f: Any, error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        gw.jvp(f, (2.0,), (1.0,))
    assert str(error) in str(caught.value)
    assert "test_structures.py" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: {"ab"[x > 1.0 :]: x}["a"], "must be an int known in advance"),
        (lambda x: {x: 1.0}, "the key is a value of type float"),
        (
            lambda x: np.sum({"a": x}),
            "a number is needed here, and this is a dict of 1",
        ),
        (lambda x: total(x, **x), "a value of type float in the place of a dict"),
        (lambda x: {"a": x}.update(b=x), "does not know .update of a dict of 1 yet"),
        (lambda x: Checked(x, x).x, "Checked has a constructor of its own"),
    ],
)
def test_what_is_refused(f: Any, words: str) -> None:
    with pytest.raises(gw.GradwrightError) as caught:
        gw.grad(f)(2.0)
    assert words in str(caught.value)
