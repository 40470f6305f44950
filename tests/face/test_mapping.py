"""vmap as users call it: axes, forms of a call, kinds of results, errors."""

import functools
import math
import pickle
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import gradwright as gw

Pair = namedtuple("Pair", "a b")
X = np.array([1.0, 4.0, -1.0, 9.0])
TABLE = np.arange(6.0).reshape(2, 3)


def product(x, w=2.0):
    return x * w


def model(p, x, shift=0.0):
    return p["w"] * x + p["b"] + shift


def power(x, n):
    return np.sum(x, axis=n)


def scaled(x, *, s=1.0, **more):
    return x * s + more.get("z", 0.0)


class Spring:
    w = 3.0

    def force(self, x):
        return self.w * x

    @gw.vmap
    def forces(self, x):
        return self.w * x


def test_axes_of_arguments_and_results() -> None:
    assert gw.vmap(product)(X).tolist() == (2.0 * X).tolist()
    assert gw.vmap(product)(X, X).tolist() == (X * X).tolist()
    assert gw.vmap(product, in_axes=(0, None))(X, 3.0).tolist() == (3.0 * X).tolist()
    assert gw.vmap(product, in_axes=(1, None))(TABLE, 1.0).tolist() == TABLE.T.tolist()
    assert gw.vmap(product, -1, -1)(TABLE, TABLE).tolist() == (TABLE**2).tolist()
    found = gw.vmap(lambda x: {"a": x, "b": (x, [x])}, 0, {"a": 1, "b": (0, -1)})(TABLE)
    assert found["a"].tolist() == found["b"][1][0].tolist() == TABLE.T.tolist()
    assert found["b"][0].tolist() == TABLE.tolist()


def test_axes_inside_of_an_argument() -> None:
    p = {"w": TABLE, "b": 1.0}
    f = gw.vmap(model, in_axes=({"w": 0, "b": None}, 0))
    assert f(p, X[:2]).tolist() == [(TABLE[k] * X[k] + 1.0).tolist() for k in (0, 1)]
    f = gw.vmap(lambda p: p.a * p.b, in_axes=(Pair(0, None),))
    assert f(Pair(X, 2.0)).tolist() == (2.0 * X).tolist()


def test_arguments_by_name_are_mapped_along_the_first_axis() -> None:
    f = gw.vmap(model, in_axes=({"w": None, "b": None}, 1))
    found = f({"w": 1.0, "b": 0.0}, TABLE, shift=np.arange(3.0))
    assert found.tolist() == (TABLE.T + np.arange(3.0)[:, None]).tolist()
    assert gw.vmap(scaled)(X, s=X, z=X).tolist() == (X * X + X).tolist()
    assert gw.vmap(scaled)(X).tolist() == X.tolist()


def test_arguments_behind_a_star() -> None:
    def total(first, *others):
        return first + sum(others)

    f = gw.vmap(total, in_axes=(0, None, 0))
    assert f(X, 1.0, X).tolist() == (X + 1.0 + X).tolist()
    with pytest.raises(gw.ShapeError, match="in_axes of vmap has 3 entries"):
        f(X, 1.0)


def test_methods_and_partial_functions() -> None:
    spring = Spring()
    assert gw.vmap(spring.force)(X).tolist() == (3.0 * X).tolist()
    assert spring.forces(X).tolist() == (3.0 * X).tolist()
    f = gw.vmap(functools.partial(product, w=5.0))
    assert f(X).tolist() == (5.0 * X).tolist()
    g = gw.vmap(functools.partial(model, {"w": 2.0, "b": 0.0}), in_axes=(1,))
    assert g(TABLE).tolist() == (2.0 * TABLE.T).tolist()


def test_as_a_decorator() -> None:
    @gw.vmap
    def twice(x):
        return 2.0 * x

    @gw.vmap(in_axes=1, out_axes=1)
    def turned(x):
        return x[::-1]

    assert twice(X).tolist() == (2.0 * X).tolist()
    assert turned(TABLE).tolist() == TABLE[::-1].tolist()
    assert repr(twice).startswith("<vmap of ")


def test_kinds_of_results() -> None:
    single = X.astype(np.float32)

    def kinds(x):
        return x, float(x), int(x), x > 0.0, 1, 1j, None, "text"

    found = gw.vmap(kinds)(single)
    dtypes = [a.dtype.name for a in found[:6]]
    assert dtypes == ["float32", "float64", "int64", "bool", "int64", "complex128"]
    assert found[6:] == (None, "text")


def test_no_samples_at_all() -> None:
    def f(x):
        return x[1:] * 2.0, len(x), math.sqrt(-1.0)

    found = gw.vmap(f)(np.zeros((0, 3)))
    assert [a.shape for a in found] == [(0, 2), (0,), (0,)]
    assert found[1].dtype == np.int64


def test_one_sample() -> None:
    assert gw.vmap(product)(X[:1], X[:1]).tolist() == [1.0]


def test_a_result_that_all_samples_share() -> None:
    f = gw.vmap(lambda x, w: (x * w, w + 1.0), (0, None), (0, None))
    values, shared = f(X, 2.0)
    assert values.tolist() == (2.0 * X).tolist() and shared == 3.0
    assert f(X[:0], 2.0)[1] == 3.0


def test_a_size_that_no_argument_says() -> None:
    f = gw.vmap(product, in_axes=None, axis_size=3)
    assert f(2.0).tolist() == [4.0] * 3


def test_arguments_stay_as_they_are() -> None:
    def f(x, shared):
        x[0] = shared[1]
        shared[1] = 7.0
        return x[0] + shared[1]

    table, shared = TABLE.copy(), np.array([1.0, 2.0])
    assert gw.vmap(f, in_axes=(0, None))(table, shared).tolist() == [9.0, 9.0]
    assert table.tolist() == TABLE.tolist() and shared.tolist() == [1.0, 2.0]


def test_reports_come_sample_by_sample(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        print("begin", x)
        if x > 2.0:
            print("large")
        return x

    gw.vmap(f)(X[:2])
    assert capsys.readouterr().out == "begin 1.0\nbegin 4.0\nlarge\n"


@pytest.mark.parametrize("transform", [gw.vmap, lambda f: gw.jit(gw.vmap(f))])
def test_the_first_sample_that_fails(transform: Any) -> None:
    root = transform(lambda x: math.sqrt(x))
    for _ in range(2):
        with pytest.raises(ValueError, match="math domain error") as e:
            root(X)
        assert e.value.__notes__[-1] == "  in sample 2 of vmap"
        assert "math.sqrt(x)" in e.value.__notes__[0]
    assert root(np.abs(X)).tolist() == np.sqrt(np.abs(X)).tolist()
    with pytest.raises(ValueError, match="math domain error") as e:
        root(X)
    assert e.value.__notes__[-1] == "  in sample 2 of vmap"
    with pytest.raises(ValueError, match="math domain error") as e:
        transform(gw.vmap(lambda x: math.sqrt(x)))(X.reshape(2, 2))
    assert e.value.__notes__[-1] == "  in sample [1, 0] of vmap"


def test_an_exception_in_a_derivative() -> None:
    with pytest.raises(ValueError, match="math domain error") as e:
        gw.grad(lambda x: np.sum(gw.vmap(lambda u: math.sqrt(u))(x)))(X)
    assert e.value.__notes__[-1] == "  in sample 2 of vmap"


def test_a_number_that_the_program_must_know() -> None:
    cube = np.arange(12.0).reshape(2, 3, 2)
    assert gw.vmap(power, in_axes=(0, None))(cube, 1).shape == (2, 3)
    with pytest.raises(gw.UnsupportedSyntax, match=r"axis= of np.sum must be an int"):
        gw.vmap(power)(cube, np.array([0, 1]))


def test_it_pickles() -> None:
    f = pickle.loads(pickle.dumps(gw.vmap(model, ({"w": 0, "b": None}, 0))))
    assert f({"w": X, "b": 1.0}, X).tolist() == (X * X + 1.0).tolist()


# ---- errors ------------------------------------------------------------------------

SIZES = r"axis 0 of the argument x has 4 samples, and axis 0 of the argument w has "


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gw.vmap(product)(X, X[:2]), SIZES + "2"),
        (lambda: gw.vmap(product)(X, X[:1]), SIZES + "1"),
        (lambda: gw.vmap(product)(2.0), "argument x, which is a number"),
        (lambda: gw.vmap(product, 2)(X), "maps axis 2 of the argument x"),
        (lambda: gw.vmap(product, None)(X), "maps none of the arguments"),
        (lambda: gw.vmap(product, (0,))(X, X), "in_axes of vmap has 1 entries"),
        (lambda: gw.vmap(product, ({"a": 0},))(X), "the structure of the argument x"),
        (lambda: gw.vmap(product, 0, 3)(X), "samples along axis 3 of a result"),
        (lambda: gw.vmap(product, 0, (0, 0))(X), "the structure of the result"),
        (lambda: gw.vmap(product, 0, None)(X), "a result that depends on the sample"),
        (
            lambda: gw.vmap(product, axis_size=3)(X),
            "x has 4 samples, and axis_size has 3",
        ),
        (lambda: gw.vmap(lambda x: x[x > 0.0])(TABLE), "may differ from sample"),
    ],
)
def test_what_does_not_fit(call: Any, message: str) -> None:
    with pytest.raises(gw.ShapeError, match=message):
        call()


def test_lengths_are_looked_at_in_every_call() -> None:
    f = gw.vmap(product)
    assert f(X, X).tolist() == (X * X).tolist()
    with pytest.raises(gw.ShapeError, match=SIZES + "2"):
        f(X, X[:2])
    sized = gw.vmap(product, axis_size=4)
    assert sized(X).tolist() == (2.0 * X).tolist()
    with pytest.raises(gw.ShapeError, match="has 3 samples, and axis_size has 4"):
        sized(X[:3])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gw.vmap(product, "x"), "in_axes of vmap holds ints and None"),
        (lambda: gw.vmap(product, {"x": 0}), "in_axes of vmap is an int, None, or a"),
        (lambda: gw.vmap(product, 0, 0.5), "out_axes of vmap holds ints and None"),
        (lambda: gw.vmap(product, axis_size=2.0), "axis_size of vmap is an int"),
    ],
)
def test_what_is_no_axis(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_what_cannot_be_stacked() -> None:
    def text(x):
        return "above" if x > 0.0 else "below"

    def listed(x):
        found = []
        while x > 0.0:
            found.append(x)
            x = x - 1.0
        return found

    for f, message in (
        (text, "the result of a sample is a text"),
        (listed, "a list of run-time length is a result here"),
    ):
        with pytest.raises(gw.UnsupportedSyntax, match=message) as e:
            gw.vmap(f)(X)
        assert "test_mapping.py" in str(e.value)


def test_a_sample_that_is_none() -> None:
    def maybe(x):
        if x > 0.0:
            return x

    assert gw.vmap(maybe)(X[:2]).tolist() == X[:2].tolist()
    with pytest.raises(TypeError, match="the result of this sample is None") as e:
        gw.vmap(maybe)(X)
    assert e.value.__notes__[-1] == "  in sample 2 of vmap"


def test_a_report_beside_what_all_samples_share() -> None:
    def f(x, w):
        while w < 3.0:
            print(w)
            w += 1.0
        return w

    with pytest.raises(gw.UnsupportedSyntax, match="while something is reported"):
        gw.vmap(f, in_axes=(0, None), out_axes=None)(X, 2.0)
