"""Rules of custom derivatives that do not go with their function."""

from typing import Any

import pytest

import gradwright as gw


def made(jvp: Any = None, fwd: Any = None, bwd: Any = None) -> Any:
    @gw.custom_vjp
    def f(x, y):
        return x * y

    if jvp is not None:
        f.defjvp(jvp)
    if fwd is not None:
        f.defvjp(fwd, bwd)
    return f


def kept(x, y):
    return x * y, (x, y)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (made(lambda p, t: p[0]), "the jvp rule of f returns"),
        (
            made(lambda p, t: (p[0], (t[0], t[1]))),
            "the tangent of the jvp rule of f is",
        ),
        (made(lambda p, t: (p, t[0])), "the value of the jvp rule of f is"),
        (made(None, lambda x, y: x * y, lambda r, g: (g, g)), "the forward rule of f"),
        (
            made(None, kept, lambda r, g: (g,)),
            "the backward rule of f returns a tuple of",
        ),
        (
            made(None, kept, lambda r, g: ((g, g), g)),
            "a cotangent of the backward rule",
        ),
    ],
)
def test_rules_of_another_form(f: Any, message: str) -> None:
    with pytest.raises(gw.UnsupportedSyntax, match=message):
        gw.grad(f)(2.0, 3.0)


def test_a_rule_is_a_function() -> None:
    with pytest.raises(gw.NotDifferentiable, match="defjvp needs a function"):
        made(jvp=3.0)
    with pytest.raises(
        gw.NotDifferentiable, match="custom derivative needs a function"
    ):
        gw.custom_jvp(3.0)
