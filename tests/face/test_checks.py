"""check_grads: it passes what is right, and sees what is wrong."""

import numpy as np
import pytest

import gradwright as gw
from gradwright import checks


def smooth(x, y):
    return np.sum(np.sin(x) * y), y * y


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x: x**3, (2.0,)),
        (lambda x, n: x**n, (2.0, 3)),
        (smooth, (np.array([0.3, 0.5]), 2.0)),
        (lambda pair: pair[0] * pair[1][0], ((2.0, [3.0]),)),
        (lambda z: z * z, (1.0 + 2.0j,)),
        (lambda x: (x * x, 3, [x]), (1.5,)),
    ],
)
def test_right_derivatives_pass(f, args) -> None:
    gw.check_grads(f, args, order=2)
    gw.check_grads(f, args, modes=["fwd"])
    gw.check_grads(f, args, modes=["rev"])


def decay(amount, rate, steps=30):
    for _ in range(steps):
        amount -= rate * amount
    return amount


def test_arguments_of_unlike_sizes() -> None:
    """A step that suits the large argument would be no step for the small one."""
    gw.check_grads(decay, (8000.0, 0.05), order=2)


def test_a_wrong_tangent_is_seen(monkeypatch) -> None:
    def wrong(f, primals, tangents):
        value, tangent = gw.jvp(f, primals, tangents)
        return value, 1.001 * tangent

    monkeypatch.setattr(checks, "jvp", wrong)
    with pytest.raises(AssertionError, match="jvp of cube is off by"):
        gw.check_grads(cube, (2.0,), modes=["fwd"])
    gw.check_grads(cube, (2.0,), modes=["rev"])


def cube(x):
    return x * x * x


def test_a_wrong_cotangent_is_seen(monkeypatch) -> None:
    def wrong(f, *primals):
        value, pull = gw.vjp(f, *primals)
        return value, lambda bar: tuple(1.001 * g for g in pull(bar))

    monkeypatch.setattr(checks, "vjp", wrong)
    for modes in (["rev"], ["fwd", "rev"]):
        with pytest.raises(AssertionError, match="vjp of cube is off by"):
            gw.check_grads(cube, (2.0,), modes=modes)
    gw.check_grads(cube, (2.0,), modes=["fwd"])


def test_a_wrong_second_derivative_is_seen(monkeypatch) -> None:
    def wrong(f, primals, tangents):
        value, tangent = gw.jvp(f, primals, tangents)
        return value, tangent if f is cube else 1.001 * tangent

    monkeypatch.setattr(checks, "jvp", wrong)
    gw.check_grads(cube, (2.0,), order=1)
    with pytest.raises(AssertionError, match="is off by"):
        gw.check_grads(cube, (2.0,), order=2)


def test_a_derivative_that_is_no_number_is_seen(monkeypatch) -> None:
    monkeypatch.setattr(checks, "jvp", lambda f, p, t: (f(*p), float("nan")))
    with pytest.raises(AssertionError):
        gw.check_grads(cube, (2.0,), modes=["fwd"])


def test_a_jump_is_seen() -> None:
    """The derivative of the path that is taken is not the difference across a jump."""
    with pytest.raises(AssertionError):
        gw.check_grads(lambda x: x if x > 0.0 else x - 1.0, (1e-9,))


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match="modes are 'fwd' and 'rev'"):
        gw.check_grads(cube, (2.0,), modes=["backward"])
    with pytest.raises(ValueError, match="at least one mode"):
        gw.check_grads(cube, (2.0,), modes=[])
