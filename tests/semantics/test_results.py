"""Results are new; gradients have the structure, shape and dtype of their argument."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from semantics.oracle import check, leaves, like, same

import gradwright as gw

XS = np.array([1.0, 2.0, 3.0])


def square_sum(a):
    total = 0.0
    for item in a:
        total = total + np.sum(item * item)
    return np.real(total)


@pytest.mark.parametrize(
    "x",
    [
        2.0,
        np.float64(2.0),
        np.float32(2.0),
        np.float16(2.0),
        np.longdouble(2.0),
        2.0 + 1.0j,
        np.complex64(2.0 + 1.0j),
        np.complex128(2.0 + 1.0j),
        np.array(2.0),
        XS,
        XS.astype(np.float32),
        XS.astype(np.complex64),
        XS[:1],
        XS[:0],
        XS.reshape(1, 3),
        np.ones((2, 0, 3)),
    ],
    ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', '')}{np.shape(x)}",
)
def test_a_gradient_is_of_its_arguments_kind(x: Any) -> None:
    def f(x):
        return np.sum((x * x).real)

    value, gradient = gw.value_and_grad(f)(x)
    same(value, f(x))
    like(gradient, x)
    assert np.allclose(gradient, 2.0 * np.asarray(x))  # that of a complex: 2 z
    like(gw.vjp(f, x)[1](1.0)[0], x)
    # A path without the argument gives a zero of its kind.
    zero = gw.grad(lambda x: 1.0 if np.size(x) > 100 else 2.0)(x)
    like(zero, x)
    assert not np.any(zero)


def test_structures() -> None:
    def f(state, gain):
        position, (speed, mass) = state
        return gain[0] * position * speed + mass[1] * gain[1]

    state = (np.float64(2.0), [3.0, np.array([4.0, 5.0])])
    gradients = check(f, state, [0.5, 1.5])
    assert gradients[0][:1] == (1.5,)
    assert gradients[0][1][1].tolist() == [0.0, 1.5]
    assert type(gradients[0][1]) is list and type(gradients[1]) is list


class Orbit(NamedTuple):
    """A namedtuple of the user's own."""

    radius: Any
    name: str = "moon"


def test_dicts_and_namedtuples() -> None:
    """A gradient is one for one, in its order; found by key where it comes in."""

    def f(model, x):
        for layer in model["layers"]:
            x = layer["w"] * x + layer["b"]
        return np.sum(x * model["orbit"].radius)

    model = {
        "layers": [{"w": 2.0, "b": XS}, {"b": np.float32(1.0), "w": 0.5}],
        "orbit": Orbit(np.array([1.0, 0.5, 2.0])),
        "note": None,
    }
    value, gradient = gw.value_and_grad(f)(model, 3.0)
    assert value == f(model, 3.0)
    assert list(gradient) == list(model) and gradient["note"] is None
    assert [list(g) for g in gradient["layers"]] == [["w", "b"], ["b", "w"]]
    assert type(gradient["orbit"]) is Orbit and gradient["orbit"].name == "moon"
    assert type(gradient["layers"][1]["b"]) is np.float32
    layered = lambda w, r: f({**model, "layers": [{"w": w, "b": r}]}, w)  # noqa: E731
    gw.check_grads(layered, (2.0, XS))

    shuffled = {k: gradient[k] for k in reversed(gradient)}
    _, slope = gw.jvp(f, (model, 3.0), (shuffled, 0.0))
    pulled = gw.vjp(f, model, 3.0)[1](slope)[0]
    squares = sum(float(np.sum(np.square(a))) for a in arrays(gradient))
    assert np.isclose(slope, squares)
    both = zip(arrays(pulled), arrays(gradient), strict=True)
    assert all(np.allclose(a, slope * b) for a, b in both)


def arrays(a: Any) -> list[np.ndarray]:
    if isinstance(a, dict | list | tuple):
        inside = a.values() if isinstance(a, dict) else a
        return [leaf for item in inside for leaf in arrays(item)]
    return [] if a is None or isinstance(a, str) else [np.asarray(a)]


def test_results_may_be_dicts() -> None:
    def f(x):
        return x * x, {"value": x, "word": "up", "inner": (None, [Orbit(2.0 * x)])}

    gradient, aux = gw.grad(f, has_aux=True)(2.0)
    assert gradient == 4.0
    assert aux == {"value": 2.0, "word": "up", "inner": (None, [Orbit(4.0)])}
    assert list(aux) == ["value", "word", "inner"]
    value, pull = gw.vjp(lambda x: {"a": x, "b": 3.0 * x}, 2.0)
    assert value == {"a": 2.0, "b": 6.0}
    assert pull({"b": 1.0, "a": 10.0}) == (13.0,)


def test_results_with_text_and_none_and_functions() -> None:
    def f(x):
        y = x * x
        return y, ("grows" if x > 0.0 else "falls", None, square_sum, [y, 1])

    for x, word in ((2.0, "grows"), (-2.0, "falls")):
        gradient, aux = gw.grad(f, has_aux=True)(x)
        assert (gradient, aux) == (2.0 * x, (word, None, square_sum, [4.0, 1]))
        value, tangent = gw.jvp(f, (x,), (1.0,))
        assert value == f(x)
        assert tangent[0] == 2.0 * x
        assert gw.vjp(f, x)[0] == f(x)


PROGRAMS = {
    "the argument": lambda xs: xs,
    "a view": lambda xs: xs[1:],
    "the argument twice": lambda xs: (xs, xs),
    "a view of a new array": lambda xs: ((ys := xs * 2.0), ys[1:]),
    "one of two": lambda xs: xs if xs[0] > 0.0 else xs * 2.0,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_tangents_share_no_memory(name: str) -> None:
    f = PROGRAMS[name]
    xs, dots = XS.copy(), np.ones(3)
    value, tangent = gw.jvp(f, (xs,), (dots,))
    apart(xs, dots, *leaves(value), *leaves(tangent))
    again = gw.jvp(f, (xs,), (dots,))
    apart(*leaves(value), *leaves(again))

    value, pull = gw.vjp(f, xs)
    seed = tuple(np.ones_like(v) for v in leaves(value))
    bars = [pull(seed if isinstance(value, tuple) else seed[0]) for _ in range(2)]
    apart(xs, *leaves(value), *seed, *leaves(bars[0]), *leaves(bars[1]))


def test_values_do_not_share_memory_with_what_was_captured() -> None:
    def f(x):
        return XS if x > 0.0 else XS * 2.0

    value, _ = gw.jvp(f, (1.0,), (1.0,))
    assert value.tolist() == XS.tolist()
    apart(value, XS, gw.vjp(f, 1.0)[0])


def test_two_gradients_share_no_memory() -> None:
    def f(a, b):
        return np.sum(a + b)

    first, second = gw.grad(f, argnums=(0, 1))(XS, XS)
    apart(first, second)
    first *= 0.0
    assert second.tolist() == [1.0, 1.0, 1.0]
    seed = np.ones(3)
    _, pull = gw.vjp(lambda a, b: a + b, XS, XS)
    apart(seed, *pull(seed), *pull(seed))


def test_a_result_may_be_changed() -> None:
    """What the caller does with one result is not seen in the next."""
    g = gw.grad(lambda xs: np.sum(xs * np.array([1.0, 2.0, 3.0])))
    first = g(XS)
    first[:] = 100.0
    assert g(XS).tolist() == [1.0, 2.0, 3.0]

    value, pull = gw.vjp(lambda xs: xs * xs, XS)
    value[:] = 100.0
    pull(np.ones(3))[0][:] = 100.0
    assert pull(np.ones(3))[0].tolist() == [2.0, 4.0, 6.0]


def apart(*arrays: Any) -> None:
    """Refuse arrays of which two share memory."""
    arrays = tuple(a for a in arrays if isinstance(a, np.ndarray))
    assert len(arrays) > 1
    for (j, a), (k, b) in itertools.combinations(enumerate(arrays), 2):
        assert not np.shares_memory(a, b), f"arrays {j} and {k} share memory"
