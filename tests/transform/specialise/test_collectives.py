"""Collectives in a program: their kinds, what is refused, what they are outside."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import lax

X = np.array([0.5, 2.0, -1.0, 1.5])


def test_kinds_of_results() -> None:
    def f(x):
        above = lax.psum(x > 0.0, "i")
        return above, lax.psum(float(x), "i"), lax.pmean(2, "i"), lax.pmax(int(x), "i")

    found = gw.vmap(f, axis_name="i")(X.astype(np.float32))
    assert [a.dtype.name for a in found] == ["int64", "float64", "int64", "int64"]
    assert [a[0] for a in found] == [3, 3.0, 2, 2]
    single = gw.vmap(lambda x: lax.psum(x, "i"), axis_name="i")(X.astype(np.float32))
    assert single.dtype == np.float32


def test_structures_stay() -> None:
    f = gw.vmap(lambda x: lax.pmax({"a": (x, [x * x])}, "i"), axis_name="i")
    assert f(X)["a"][1][0].tolist() == [4.0] * 4


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: lax.psum(x, x), "psum needs the name of an axis"),
        (lambda x: lax.psum("a", "i"), "psum of what is no number"),
        (lambda x: lax.psum(x, "i", 3), "psum with other arguments than x, axis_name"),
        (lambda x: lax.ppermute(x, "i", [(0, 1), (0, 2)]), "ppermute needs pairs"),
        (lambda x: lax.psum(x, "k"), "psum over the axis 'k', and there is no vmap"),
    ],
)
def test_what_is_refused(f: Any, message: str) -> None:
    with pytest.raises(gw.UnsupportedSyntax, match=message) as e:
        gw.vmap(f, axis_name="i")(X)
    assert "test_collectives.py" in str(e.value)


@pytest.mark.parametrize("name", ["psum", "pmean", "pmax", "pmin", "all_gather"])
def test_outside_of_a_vmap(name: str) -> None:
    with pytest.raises(gw.UnsupportedSyntax, match=f"{name} over the axis 'i', and"):
        getattr(lax, name)(1.0, "i")
    for call in (
        lambda: lax.ppermute(1.0, "i", []),
        lambda: lax.all_to_all(1.0, "i", 0, 0),
        lambda: lax.axis_index("i"),
        lambda: lax.axis_size("i"),
    ):
        with pytest.raises(gw.UnsupportedSyntax, match="there is no vmap with"):
            call()
