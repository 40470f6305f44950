"""What a callable stands for: decorators, methods, partials, builtins."""

import functools
import math
import operator

import numpy as np
import pytest

import gradwright as gw
from gradwright.callee import Callee


def spring(stiffness, x, offset=0.0):
    return 0.5 * stiffness * x * x + offset * x


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def energy(self, x):
        return self.stiffness * x * x

    def __call__(self, x):
        return self.energy(x)

    @gw.grad
    @staticmethod
    def inner_static(x):
        return x * x

    @staticmethod
    @gw.grad
    def outer_static(x):
        return x * x

    @gw.grad
    @classmethod
    def inner_class(cls, x):
        return x * x

    @gw.grad(argnums=1)
    def force(self, x):
        return self.stiffness * x * x


def test_partials() -> None:
    assert gw.grad(functools.partial(spring, 3.0))(2.0) == 6.0
    both = functools.partial(spring, 3.0, offset=1.0)
    assert gw.grad(both)(2.0) == 7.0
    assert gw.jvp(both, (2.0,), (1.0,)) == (8.0, 7.0)
    assert gw.vjp(both, 2.0)[1](1.0) == (7.0,)
    twice = functools.partial(functools.partial(spring, 3.0), 2.0)
    assert gw.grad(twice)(1.0) == 2.0  # by the offset
    assert gw.grad(gw.grad(functools.partial(spring, 3.0)))(2.0) == 3.0


def test_bound_methods() -> None:
    soft, hard = Spring(1.0), Spring(3.0)
    assert gw.grad(soft.energy)(2.0) == 4.0
    assert gw.grad(hard.energy)(2.0) == 12.0
    assert gw.jvp(hard.energy, (2.0,), (1.0,)) == (12.0, 12.0)
    assert gw.vjp(hard.energy, 2.0)[1](0.5) == (6.0,)
    hard.stiffness = 5.0
    assert gw.grad(hard.energy)(2.0) == 20.0


def test_decorated_methods() -> None:
    made = Spring(3.0)
    assert Spring.inner_static(2.0) == made.inner_static(2.0) == 4.0
    assert Spring.outer_static(2.0) == made.outer_static(2.0) == 4.0
    assert Spring.inner_class(2.0) == made.inner_class(2.0) == 4.0
    assert made.force(2.0) == 12.0
    assert Spring.force(made, 2.0) == 12.0


def test_an_object_that_can_be_called_is_refused() -> None:
    with pytest.raises(gw.SourceError, match="type Spring is no function") as caught:
        gw.grad(Spring(1.0))(2.0)
    assert "spring.__call__" in str(caught.value)
    assert gw.grad(Spring(1.0).__call__)(2.0) == 4.0


def test_a_memo_is_seen_through() -> None:
    @functools.lru_cache
    def f(x):
        return x * x

    assert gw.grad(f)(2.0) == 4.0


def test_wraps_names_another_function() -> None:
    """What is differentiated is what the name is bound to."""

    def plain(x):
        return x * x

    @functools.wraps(plain)
    def doubled(x):
        return 2.0 * plain(x)

    assert gw.grad(doubled)(3.0) == 12.0

    slope = gw.grad(lambda x: x * x * x)

    @functools.wraps(slope)
    def double_slope(x):
        return 2.0 * slope(x)

    assert gw.grad(double_slope)(2.0) == 24.0


@pytest.mark.parametrize(
    ("f", "args", "wanted"),
    [
        (math.sin, (0.5,), math.cos(0.5)),
        (np.sin, (0.5,), math.cos(0.5)),
        (abs, (-2.0,), -1.0),
        (math.atan2, (3.0, 4.0), 4.0 / 25.0),
        (operator.mul, (3.0, 4.0), 4.0),
        (operator.neg, (3.0,), -1.0),
    ],
)
def test_callables_with_a_row(f, args, wanted) -> None:
    assert gw.grad(f)(*args) == pytest.approx(wanted)
    assert gw.jvp(f, args, tuple(1.0 for _ in args))[0] == f(*args)


def test_reductions_with_a_row() -> None:
    assert gw.grad(np.sum)(np.ones(3)).tolist() == [1.0, 1.0, 1.0]


def test_callables_without_one() -> None:
    with pytest.raises(gw.SourceError, match="print"):
        gw.grad(print)(2.0)


def test_positions_count_what_is_bound() -> None:
    callee = Callee(gw.value_and_grad(functools.partial(spring, 3.0), argnums=(0, 1)))
    assert callee.function is spring
    assert callee.bound == (3.0,)
    assert callee.names == ["x", "offset"]
    assert callee.steps[0].argnums == (1, 2)
