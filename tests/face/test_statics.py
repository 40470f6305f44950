"""Static arguments: by type and content."""

import dataclasses
import enum
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from semantics.inside import entries

import gradwright as gw
from gradwright.statics import static_kind


class Scheme(enum.Enum):
    EULER = 1
    HEUN = 2


@dataclasses.dataclass(frozen=True)
class Options:
    """A hashable object of the user's."""

    order: int = 2
    shift: float = 0.5


class Pair(NamedTuple):
    first: Any
    second: Any


def product(x: Any, n: Any) -> Any:
    return x * n


NUMBERS = [
    1, 1.0, True, 0, 0.0, -0.0, False, 2j, math.nan, math.inf, 2**70,
    np.float32(1.0), np.float64(1.0), np.int64(1), np.bool_(True),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["cpu", "numpy"])
def test_numbers_are_told_apart_by_type_and_bits(backend: str) -> None:
    gw.clear_caches()
    f = gw.jit(product, static_argnums=1, backend=backend)
    for _ in range(2):
        for n in NUMBERS:
            if backend == "cpu" and type(n) is int and n > 2**64:
                continue
            found, wanted = f(3.0, n), product(3.0, n)
            assert type(found) is type(wanted)
            assert np.array_equal(found, wanted, equal_nan=True)
            assert np.signbit(np.real(found)) == np.signbit(np.real(wanted))
    assert entries(f) == len(NUMBERS) - (backend == "cpu")


def test_kinds() -> None:
    kinds = [static_kind(n, "n") for n in NUMBERS]
    assert len(set(kinds)) == len(NUMBERS)
    for a, b in [
        ((1, 2.0), (1, 2)),
        ((0.0,), (-0.0,)),
        (Pair(1, 2), (1, 2)),
        (frozenset({1}), frozenset({True})),
        (Options(2), Options(True)),
        ("a", b"a"),
        (None, ()),
    ]:
        assert static_kind(a, "n") != static_kind(b, "n")
    for make in (lambda: (1, "a", None), lambda: Options(3), lambda: Pair(1, (2.5,))):
        assert static_kind(make(), "n") == static_kind(make(), "n")


def test_what_is_static_chooses() -> None:
    def step(x: Any, how: Any, f: Any = math.sin, options: Any = (1, 2.0, "a")) -> Any:
        if how == "wave":
            return f(x) * options[1]
        return x ** options[0] if how is None else -x

    g = gw.jit(step, static_argnames=("how", "f", "options"))
    for _ in range(2):
        assert g(1.0, "wave") == 2.0 * math.sin(1.0)
        assert g(1.0, "wave", math.cos) == 2.0 * math.cos(1.0)
        assert g(1.0, "wave", lambda x: x + 1.0) == 4.0
        assert g(2.0, None, options=(3, 0.0, "b")) == 8.0
        assert g(2.0, how=7) == -2.0


def test_objects() -> None:
    def advanced(x: Any, scheme: Scheme, options: Options) -> Any:
        rate = 1.0 if scheme is Scheme.EULER else 0.5
        return rate * x**options.order + options.shift

    f = gw.jit(advanced, static_argnums=(1, 2))
    for _ in range(2):
        assert f(3.0, Scheme.EULER, Options()) == 9.5
        assert f(3.0, Scheme.HEUN, Options(shift=1.0)) == 5.5
        assert f(3.0, Scheme.EULER, Options(3)) == 27.5


def test_a_loop_over_a_static_number_is_written_out() -> None:
    f = gw.jit(lambda x, n: [x * k for k in range(n)], static_argnums=1)
    assert f(2.0, 3) == [0.0, 2.0, 4.0]
    assert f(2.0, 1) == [0.0]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([1], "the static argument n is a list, which has no hash"),
        ({"a": 1}, "the static argument n is a dict, which has no hash"),
        (np.ones(2), "the static argument n is an array"),
        ((1, np.ones(2)), r"the static argument n\[1\] is an array"),
        (Pair(1, []), "the static argument n.second is a list"),
    ],
)
def test_what_cannot_be_static(bad: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        gw.jit(product, static_argnums=1)(2.0, bad)
