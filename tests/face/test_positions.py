"""Which arguments a transform is about."""

from typing import Any

import pytest

from gradwright.positions import options_of_jit, positions
from gradwright.transform.errors import NotDifferentiable


def f(x: Any, y: Any, *rest: Any, k: int = 2) -> Any:
    return x * y * k + sum(rest)


def test_positions_by_number_and_name() -> None:
    assert positions("grad", f, -1, None) == 3
    assert positions("grad", f, (0, 1), None) == (0, 1)
    assert positions("grad", f, 0, ("x", "k")) == (0, 3)
    assert positions("grad", f, 7, None) == 7  # behind the star
    with pytest.raises(NotDifferentiable, match="with respect to what"):
        positions("grad", f, "x", None)


def test_options_of_jit() -> None:
    found = options_of_jit(f, static_argnums=(), static_argnames="k", donate_argnums=1)
    assert found == {
        "static_argnums": (),
        "static_argnames": (3,),
        "donate_argnums": (1,),
    }


@pytest.mark.parametrize("k", [2, 3, 5])
def test_what_stands_behind_a_star_is_refused(k: int) -> None:
    with pytest.raises(TypeError, match="behind the star"):
        options_of_jit(f, static_argnums=k)


def test_a_classmethod_counts_without_its_class() -> None:
    class A:
        @classmethod
        def g(cls, x: Any, n: int) -> Any:
            return x * n

    method = vars(A)["g"]
    assert options_of_jit(method, static_argnames="n") == {"static_argnames": (1,)}
