"""Which arrays a function may change, as its text says."""

import textwrap
from dataclasses import replace

import gast
import pytest

from gradwright.transform import source as sources
from gradwright.transform.stored import Stored, stored_names

SURELY = {
    "y[0] = x": {"y"},
    "y[1:][0] += x": {"y"},
    "y[0], z[1] = x": {"y", "z"},
    "v = y[1:]\nw = v[1:]\nw[0] = x": {"y", "v", "w"},
    "for y[0] in x: pass": {"y"},
    "y = x[0]": set(),
    "v, w = y\nw[0] = x": {"y", "w"},
}
MAYBE = {
    "y += x": {"y"},
    "y.a += x": set(),
    "np.copyto(y, x)": {"y"},
    "np.add.at(y[1:], i, x)": {"y"},
    "copyto(y, x)": {"y"},
    "y[0].sort()": {"y"},
    "y.fill(x)": {"y"},
    "sort(y)": set(),
    "np.sum(x, out=y)": {"y"},
    "np.divmod(x, a, out=(y, z))": {"y", "z"},
    "np.add(x, a, y)": {"y"},
    "np.sin(x, y)": {"y"},
    "np.dot(x, a, y)": {"y"},
    "np.dot(x, a)": set(),
    "np.clip(x, a, b)": set(),
    "v = y[1:]\nnp.copyto(v, x)": {"y", "v"},
}


def found(text: str) -> Stored:
    body = textwrap.indent(text, "    ")
    node = gast.parse(f"def f(x, a, b, i, s):\n{body}\n    return s").body[0]
    source = replace(sources.read(found), node=node)
    return stored_names(source, lambda _: Stored())


@pytest.mark.parametrize("text", SURELY)
def test_names_that_a_subscript_stores_into(text: str) -> None:
    assert found(text).surely == SURELY[text]


@pytest.mark.parametrize("text", MAYBE)
def test_names_that_an_operator_or_a_call_may_change(text: str) -> None:
    assert found(text).maybe == MAYBE[text]
