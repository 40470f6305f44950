"""jit: its options, and where it may stand."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import gradwright as gw

XS = np.array([0.5, 1.0, 2.0])


def waves(x: Any) -> Any:
    return np.sum(np.sin(x) * x**2)


def net(p: Any, x: Any) -> Any:
    h = x
    for _ in range(3):
        h = np.tanh(p["W"] * h + p["b"])
    return np.sum(h * h), {"h": h, "name": "net"}


def stored(x: Any) -> Any:
    x[0] = 2.0 * x[1]
    return np.sum(x * x)


class Spring:
    """An object with jitted methods of every kind."""

    rest = 1.5

    def __init__(self, stiffness: float) -> None:
        self.stiffness = stiffness

    @gw.jit
    def energy(self, x: float) -> float:
        return 0.5 * self.stiffness * x * x

    @gw.jit(static_argnums=2)
    def power(self, x: float, n: int) -> float:
        return self.stiffness * x**n

    @gw.jit
    @staticmethod
    def double(x: float) -> float:
        return 2.0 * x

    @gw.jit(static_argnames="n")
    @classmethod
    def stretched(cls, x: float, n: int) -> float:
        return cls.rest * x**n


def test_every_place_round_other_transforms() -> None:
    wanted = gw.grad(waves)(XS)
    curved = gw.hessian(waves)(XS)
    for g in (gw.grad(gw.jit(waves)), gw.jit(gw.grad(waves)), gw.jacrev(gw.jit(waves))):
        assert np.allclose(g(XS), wanted, rtol=1e-14)
    for h in (gw.hessian(gw.jit(waves)), gw.jit(gw.jacfwd(gw.jacrev(waves)))):
        assert np.allclose(h(XS), curved, rtol=1e-13)
    value, slope = gw.jvp(gw.jit(waves), (XS,), (XS,))
    assert np.allclose([value, slope], [waves(XS), wanted @ XS])
    gradient, product = gw.hvp(gw.jit(waves), (XS,), (XS,))
    assert np.allclose(gradient, wanted) and np.allclose(product, curved @ XS)


def test_results_beside_the_value() -> None:
    p = {"W": np.array([0.5, 0.25, 1.0]), "b": 0.1}
    wanted, beside = gw.grad(net, has_aux=True)(p, XS)
    for g in (
        gw.jit(gw.grad(net, has_aux=True)),
        gw.grad(gw.jit(net), has_aux=True),
        gw.jit(gw.jit(gw.grad(gw.jit(net), has_aux=True))),
    ):
        found, aux = g(p, XS)
        assert np.allclose(found["W"], wanted["W"])
        assert found["b"] == pytest.approx(wanted["b"])
        assert aux["name"] == "net" and np.allclose(aux["h"], beside["h"])


@pytest.mark.parametrize("n", [0, 3])
def test_halves_with_and_without_tapes(n: int) -> None:
    def squared(x: Any, n: int) -> Any:
        for _ in range(n):
            x = x * np.sin(x)
        return x

    for f in (waves, lambda x: squared(x, n)):
        value, pull = gw.vjp(f, XS)
        found, pulled = gw.vjp(gw.jit(f), XS)
        assert np.allclose(found, value)
        assert np.allclose(pulled(found)[0], pull(value)[0])
        assert np.allclose(pulled(found)[0], pull(value)[0])  # once more
        found, push = gw.linearize(gw.jit(f), XS)
        assert np.allclose(push(XS), gw.jvp(f, (XS,), (XS,))[1])


def test_halves_whose_lengths_are_those_of_the_other() -> None:
    for f in (lambda x: 2.0 * x, np.sqrt, lambda x: (x, x * x[::-1]), lambda x: x[1:]):
        value, pull = gw.vjp(f, XS)
        found, pulled = gw.vjp(gw.jit(f), XS)
        assert np.allclose(pulled(found)[0], pull(value)[0])
        assert type(pulled.backward).__name__ == "Compiled"
        assert "Emitted" not in type(pulled.backward.machine).__name__


def test_the_warning_stands_at_the_call() -> None:
    def f(x: float) -> float:
        print(x)
        return 2.0 * x

    with pytest.warns(UserWarning, match="runs as its emitted source") as caught:
        assert gw.jit(f)(2.0) == 4.0
    assert caught[0].filename == __file__


compiled = gw.jit(waves)


def test_inside_of_a_program_it_is_a_part_of_it() -> None:
    def f(x: Any) -> Any:
        square = gw.jit(lambda y: y * y, fastmath=True)
        return square(compiled(x)) + gw.grad(gw.jit(waves))(x) @ x

    def plain(x: Any) -> Any:
        return waves(x) ** 2 + gw.grad(waves)(x) @ x

    assert np.allclose(gw.grad(f)(XS), gw.grad(plain)(XS))
    assert np.allclose(gw.jit(f)(XS), plain(XS))


def test_methods() -> None:
    soft, stiff = Spring(2.0), Spring(8.0)
    for _ in range(2):
        assert soft.energy(3.0) == 9.0
        assert stiff.energy(3.0) == 36.0
        assert soft.power(3.0, 2) == 18.0
        assert soft.power(3.0, n=3) == 54.0
        assert soft.double(4.0) == Spring.double(4.0) == 8.0
        assert soft.stretched(2.0, 2) == Spring.stretched(2.0, n=2) == 6.0
    soft.stiffness = 4.0
    assert soft.energy(3.0) == 18.0
    assert gw.jit(soft.energy)(3.0) == 18.0
    assert gw.grad(soft.energy)(3.0) == 12.0
    assert gw.grad(soft.power)(3.0, 2) == 24.0


def test_static_arguments_with_transforms() -> None:
    scaled = gw.jit(lambda x, n: n * x**2, static_argnums=1)
    assert gw.grad(scaled)(3.0, 2.0) == 12.0
    assert gw.jvp(scaled, (3.0, 2.0), (1.0, 5.0)) == (18.0, 12.0)
    assert gw.vjp(scaled, 3.0, 2.0)[1](1.0) == (12.0, None)
    assert gw.linearize(scaled, 3.0, 2.0)[1](1.0, 0.0) == 12.0
    assert scaled.source(1.0, 4.0).splitlines()[0] == "def function(x):"


def test_a_donated_array_is_not_copied() -> None:
    for transform in (
        gw.jit(gw.grad(stored), donate_argnums=0),
        gw.grad(gw.jit(stored, donate_argnums=0)),
        gw.jit(gw.grad(stored), donate_argnums=-1, backend="numpy"),
    ):
        x = np.array([1.0, 2.0, 3.0])
        assert transform(x).tolist() == [0.0, 20.0, 6.0]
        assert x.tolist() == [4.0, 2.0, 3.0]
        assert "copy" not in transform.source(x)


def test_a_donated_array_is_copied_where_it_is_read_as_it_was() -> None:
    def f(x: Any, y: Any) -> Any:
        first = x * y
        x[0] = np.sum(x * x)
        return np.sum(first * x)

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    found = gw.jit(gw.grad(f, argnums=(0, 1)), donate_argnums=0)(x.copy(), y)
    for a, b in zip(found, gw.grad(f, argnums=(0, 1))(x, y), strict=True):
        assert np.allclose(a, b)


def test_without_donation_the_array_stays() -> None:
    x = np.array([1.0, 2.0, 3.0])
    assert gw.jit(gw.grad(stored))(x).tolist() == [0.0, 20.0, 6.0]
    assert x.tolist() == [1.0, 2.0, 3.0]


def test_an_array_that_cannot_be_stored_into() -> None:
    x = np.ones(3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only") as caught:
        gw.jit(stored)(x)
    assert "x[0] = 2.0 * x[1]" in caught.value.__notes__[0]
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_backends() -> None:
    for backend in (None, "cpu", "numpy"):
        assert gw.jit(waves, backend=backend)(XS) == pytest.approx(waves(XS))
    lowered = gw.jit(waves, backend="numpy")
    with pytest.raises(gw.BackendError, match="is not compiled"):
        lowered.lower(XS)
    outer = gw.jit(gw.jit(waves, backend="numpy"), backend="cpu")
    assert outer.lower(XS).as_text("loops")


def test_it_can_be_copied_and_pickled() -> None:
    again = pickle.loads(pickle.dumps(gw.jit(waves, fastmath=True)))
    assert again.__gradwright__.fastmath
    assert again(XS) == pytest.approx(waves(XS))
    assert copy.deepcopy(compiled)(XS) == pytest.approx(waves(XS))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"static_argnums": 3}, "static_argnums of jit of f(x, n): it has no argument"),
        ({"static_argnames": "k"}, "'k' is none of its parameters"),
        ({"donate_argnums": "x"}, "donate_argnums of jit of f(x, n): 'x' is none"),
        ({"static_argnums": 0.5}, "0.5 is no position and no name"),
        ({"static_argnums": 0, "donate_argnums": (0,)}, "static or donated"),
    ],
)
def test_wrong_options(options: Any, words: str) -> None:
    def f(x: float, n: int) -> float:
        return x * n

    with pytest.raises(TypeError) as caught:
        gw.jit(f, **options)
    assert words in str(caught.value)
