"""The function that vjp returns."""

import numpy as np
import pytest

import gradwright as gw

WEIGHTS = np.array([1.0, 2.0])


def weighted(x):
    total = 0.0
    for w in WEIGHTS:
        total += w * x * x
    return total


def test_what_changes_later_is_not_seen(monkeypatch) -> None:
    weights = WEIGHTS.copy()
    monkeypatch.setitem(globals(), "WEIGHTS", weights)
    xs = np.array([1.0, 2.0])
    _, pull = gw.vjp(weighted, 2.0)
    value, of_array = gw.vjp(lambda xs: xs * xs * weights, xs)
    weights[0] = 100.0
    xs[:] = value[:] = 100.0
    assert pull(1.0) == (12.0,)
    assert type(pull(1.0)[0]) is float
    assert of_array(np.ones(2))[0].tolist() == [2.0, 8.0]


def test_it_may_be_called_again() -> None:
    def powers(x, n):
        for _ in range(n):
            x = x * x
        return x

    _, pull = gw.vjp(powers, 1.5, 3)
    assert pull(1.0) == pull(1.0)
    assert pull(2.0)[0] == 2.0 * pull(1.0)[0]
    assert pull(1.0)[1] == 0


def test_gradients_of_one_call_share_no_memory() -> None:
    seed = np.ones(2)
    _, pull = gw.vjp(lambda a, b: a + b, np.ones(2), np.ones(2))
    arrays = [seed, *pull(seed), *pull(seed)]
    for k, a in enumerate(arrays):
        assert not any(np.shares_memory(a, b) for b in arrays[:k])


def test_a_tape_does_not_hold_the_callers_array() -> None:
    def f(xs, n):
        ys = xs
        for _ in range(n):
            ys = ys * ys
        return ys

    xs = np.array([1.5, 2.0])
    _, pull = gw.vjp(f, xs, 2)
    before = pull(np.ones(2))[0].tolist()
    xs[:] = 7.0
    assert pull(np.ones(2))[0].tolist() == before


def test_a_cotangent_has_the_structure_of_the_value() -> None:
    _, pull = gw.vjp(lambda x, y: (x * y, [x, y]), 2.0, 3.0)
    assert pull((1.0, [0.0, 1.0])) == (3.0, 3.0)
    for wrong in (1.0, (1.0, 2.0), (1.0, [1.0]), (1.0, [1.0, "text"])):
        with pytest.raises(ValueError, match="does not have the structure"):
            pull(wrong)


def test_ints_inside_a_tuple_whose_value_is_needed() -> None:
    def pick(pair):
        return (1.0, 2.0, 3.0)[pair[0]] * pair[1]

    assert gw.vjp(pick, (1, 3.0))[1](1.0) == ((0, 2.0),)
    ((number, array),) = gw.vjp(pick, (2, np.ones(2)))[1](np.ones(2))
    assert (number, array.tolist()) == (0, [3.0, 3.0])


def test_looking_at_it() -> None:
    _, pull = gw.vjp(weighted, 2.0)
    assert repr(pull).startswith("<pull of <vjp of weighted, test_pull.py:")
    assert "def weighted_backward(" in pull.source()


def test_errors_in_the_backward_half_name_the_users_line() -> None:
    def root(x):
        return 1.0 / x

    with pytest.raises(ZeroDivisionError) as caught:
        gw.vjp(root, 0.0)
    assert "return 1.0 / x" in caught.value.__notes__[0]


def test_a_function_without_arguments() -> None:
    value, pull = gw.vjp(lambda: 3.0)
    assert (value, pull(1.0)) == (3.0, ())


def fifth(x):
    y = 1.0
    for _ in range(5):
        y = y * x
    return y


def pulled(g):
    bar = np.float64(1.0)
    return lambda x: gw.vjp(g, x)[1](bar)[0]


def test_captured_numbers_of_one_name_reach_the_forward_half() -> None:
    """The other half needs one of them alone, and calls it by the plain name."""
    value, pull = gw.vjp(gw.grad(pulled(pulled(fifth))), 0.7)
    assert value == pytest.approx(60.0 * 0.7**2)
    assert pull(1.0) == (pytest.approx(120.0 * 0.7),)
