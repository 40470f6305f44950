"""The promises that are not kept yet, by name, and what each of them waits for.

Each has an attempt at the feature, a program as users will write it. As long as the
promise stands here the attempt is refused, with the user's line, or the name that it
needs does not exist; the day it succeeds, the promise moves to a test of its own.
"""

import dataclasses
import logging
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import gradwright as gw

LISTS = "lists of run-time length"
OBJECTS = "objects as structures"
DRAWS = "random draws"
RULES = "custom rules and callbacks"
HANDLERS = "exception handlers and context managers"
FILES = "derivatives as files: export and from_source"
MEMORY = "checkpoints and what is stored"


@dataclasses.dataclass(frozen=True)
class Waiting:
    """What a promise waits for, and an attempt at it."""

    on: str
    attempt: Callable[[], Any]


NOT_YET: dict[str, Waiting] = {}


def promise(words: str, on: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Enter an attempt under the words of the promise."""

    def enter(attempt: Callable[[], Any]) -> Callable[[], Any]:
        assert words not in NOT_YET, words
        NOT_YET[words] = Waiting(on, attempt)
        return attempt

    return enter


def square(x):
    return x * x


# ---- Results, Types ------------------------------------------------------------------


@dataclasses.dataclass
class Orbit:
    """A structure of the user's own."""

    radius: float
    speed: float

    def __call__(self, x):
        return x * self.radius

    def energy(self):
        return 0.5 * self.speed**2 - 1.0 / self.radius


@promise("Results: an Orbit for an Orbit", OBJECTS)
def _():
    return gw.grad(lambda orbit: orbit.speed**2 - 1.0 / orbit.radius)(Orbit(1.0, 2.0))


@promise("Results: objects made inside the program", OBJECTS)
def _():
    return gw.grad(lambda x: Orbit(x, 2.0 * x).energy())(2.0)


@promise("Results: a method of an object that is differentiated", OBJECTS)
def _():
    return gw.grad(Orbit.energy)(Orbit(1.0, 2.0))


@promise("Results: an object that can be called", OBJECTS)
def _():
    return gw.grad(Orbit(1.0, 2.0))(2.0)


# ---- Captured values, Effects --------------------------------------------------------


@promise("Captured values: variables of an enclosing function of the program", OBJECTS)
def _():
    def f(x):
        count = 0.0

        def step(y):
            nonlocal count
            count += y
            return count

        return step(x) + step(x)

    return gw.grad(f)(2.0)


@promise("Effects: warnings", HANDLERS)
def _():
    def f(x):
        warnings.warn("large", stacklevel=1)
        return x * x

    return gw.grad(f)(2.0)


@promise("Effects: logging", HANDLERS)
def _():
    def f(x):
        logging.getLogger("f").info("x = %s", x)
        return x * x

    return gw.grad(f)(2.0)


@promise("Effects: draws from a Generator that you pass", DRAWS)
def _():
    return gw.grad(lambda x, rng: x * rng.normal())(2.0, np.random.default_rng(1))


@promise("Effects: nothing is repeated by checkpoint", MEMORY)
def _():
    return gw.grad(gw.checkpoint(square))(2.0)


# ---- Exceptions, Loops ---------------------------------------------------------------


@promise("Exceptions: try and except", HANDLERS)
def _():
    def f(x):
        try:
            y = x / (x - 2.0)
        except ZeroDivisionError:
            y = x * x
        return y

    return gw.grad(f)(2.0)


@promise("Exceptions: with np.errstate", HANDLERS)
def _():
    def f(x):
        with np.errstate(divide="ignore"):
            return 1.0 / x

    return gw.grad(f)(2.0)


@promise("Exceptions: raise ... from another", HANDLERS)
def _():
    def f(x):
        if x > 0.0:
            raise ValueError("no") from None
        return x

    return gw.grad(f)(-2.0)


@promise("Loops: a generator that is consumed in the program", LISTS)
def _():
    def powers(x):
        for k in range(3):
            yield x**k

    def f(x):
        s = 0.0
        for power in powers(x):
            s += power
        return s

    return gw.grad(f)(2.0)


# ---- Source, The emitted text, Cost --------------------------------------------------


@promise("Source: a custom rule of a function without source", RULES)
def _():
    squared = gw.custom_jvp(eval("lambda x: x * x"))
    squared.defjvp(lambda x, dx: (squared(*x), 2.0 * x[0] * dx[0]))

    def f(x):
        return squared(x)

    return gw.grad(f)(2.0)


@promise("Source: a row of the user's own", RULES)
def _():
    return gw.primitive(abs)


@promise("Source: a callback", RULES)
def _():
    return gw.pure_callback(square, 2.0)


@promise("The emitted text: edits of it are ordinary Python", FILES)
def _():
    return gw.from_source(gw.grad(square).source(2.0))


@promise("The emitted text: standalone copies", FILES)
def _():
    return gw.grad(square).export("square.py", 2.0)
