"""Trips: which loops run to the end of a tape, and which count."""

import pytest

import gradwright as gw


def doubled(x):
    while x < 50.0:
        x = x * x + 0.5
    return x


def with_a_break(x):
    while True:
        y = x * x
        if y > 50.0:
            break
        x = y + x
    return x


def with_a_last_trip(x):
    while True:
        x = x * x
        if x > 50.0:
            x = 3.0 * x
            break
    return x


def with_two_ends(x):
    while x < 50.0:
        y = x * x
        if y > 30.0:
            break
        x = y + x
    return x


def on_some_trips(x):
    y = x
    while y < 50.0:
        if y > 3.0:
            y = y * y
        else:
            y = 2.0 * y
    return y


def counting_itself(x):
    steps = 0
    while x < 50.0:
        x = x * x + 0.5
        steps += 1
    return x / steps


def in_a_loop(x):
    for _ in range(2):
        while x < 50.0:
            x = x * x + 0.5
        x = 0.02 * x
    return x


@pytest.mark.parametrize(
    ("f", "is_counted"),
    [
        (doubled, False),
        (with_a_break, True),
        (with_a_last_trip, True),
        (with_two_ends, False),
        (on_some_trips, False),
        (counting_itself, False),
        (in_a_loop, True),
    ],
)
def test_trips(f, is_counted: bool) -> None:
    x = 1.3
    text = gw.grad(f).source(x)
    assert ("trips = 0" in text) is is_counted, text
    assert ("_tape:" in text) is not is_counted, text
    slope = (f(x + 1e-7) - f(x - 1e-7)) / 2e-7
    assert gw.grad(f)(x) == pytest.approx(slope, rel=1e-5)
