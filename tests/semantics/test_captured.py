"""Captured numbers are read at every call; what else changed is rewritten anew."""

import functools
import math
import types
from typing import Any

import numpy as np
import pytest
from semantics.inside import entries

import gradwright as gw

GAIN = 2.0
POWER = 2
PHASE = 1.0 + 0.0j
PAIR = (1.0, 2.0)
WEIGHTS = np.array([1.0, 2.0])
ITEMS = [1.0, 2.0]
SETTINGS = {"rate": 3.0, "order": 2, "inner": {"depth": 1.0}}
MODE = "fast"
NOTHING = None


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Each test counts its own specialisations."""
    gw.clear_caches()


@pytest.fixture
def bind(monkeypatch: pytest.MonkeyPatch):
    """Rebind globals of this module for one test."""

    def rebind(**names: Any) -> None:
        for name, value in names.items():
            monkeypatch.setitem(globals(), name, value)

    return rebind


# ---- numbers and arrays --------------------------------------------------------------


def test_a_global_number(bind) -> None:
    g = gw.grad(lambda x: GAIN * x)
    assert g(1.0) == 2.0
    bind(GAIN=5.0)
    assert g(1.0) == 5.0
    assert entries(g) == 1
    assert gw.jvp(lambda x: GAIN * x, (1.0,), (1.0,)) == (5.0, 5.0)


def test_a_global_int(bind) -> None:
    g = gw.grad(lambda x: x**POWER * POWER)
    assert g(3.0) == 12.0
    bind(POWER=3)
    assert g(3.0) == 81.0
    assert entries(g) == 1


def test_a_global_changes_its_type(bind) -> None:
    g = gw.grad(lambda x: np.real(GAIN * x * np.conjugate(GAIN)))
    assert g(1.0) == 4.0
    bind(GAIN=1j)
    assert (g(1.0), type(g(1.0))) == (1.0, float)
    bind(GAIN=3)
    assert g(1.0) == 9.0
    bind(GAIN=np.float32(0.5))
    assert g(1.0) == 0.25


def test_an_array_becomes_a_number_and_another_length(bind) -> None:
    g = gw.grad(lambda x: np.sum(WEIGHTS * x))
    assert g(1.0) == 3.0
    bind(WEIGHTS=np.array([1.0, 2.0, 4.0]))
    assert g(1.0) == 7.0
    assert entries(g) == 1  # a length is no reason to rewrite
    bind(WEIGHTS=5.0)
    assert g(1.0) == 5.0
    bind(WEIGHTS=np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert g(1.0) == 10.0


def test_an_array_that_is_changed_in_place(bind) -> None:
    bind(WEIGHTS=np.array([1.0, 2.0]))

    def f(x):
        s = 0.0
        for w in WEIGHTS:
            s += w * x * x
        return s

    g = gw.grad(f)
    assert g(1.0) == 6.0
    _, pull = gw.vjp(f, 1.0)
    WEIGHTS[0] = 10.0
    assert g(1.0) == 24.0
    assert pull(1.0) == (6.0,)  # vjp has read it


def test_a_tuple_of_numbers(bind) -> None:
    def f(x):
        s = 0.0
        for p in PAIR:
            s += p * x
        return s + PAIR[-1] * len(PAIR)

    g = gw.value_and_grad(f)
    assert g(1.0) == (7.0, 3.0)
    bind(PAIR=(3.0, 4.0))
    assert g(1.0) == (15.0, 7.0)
    bind(PAIR=(3.0, 4.0, 5.0))
    assert g(1.0) == (27.0, 12.0)
    bind(PAIR=(3, 4.5))
    assert g(1.0) == (16.5, 7.5)
    bind(PAIR=np.array([1.0, 2.0]))
    assert g(1.0) == (7.0, 3.0)


def test_a_list_that_grows(bind) -> None:
    bind(ITEMS=[1.0, 2.0])

    def f(x):
        s = 0.0
        for item in ITEMS:
            s += item * x
        return s * len(ITEMS)

    g = gw.grad(f)
    assert g(1.0) == 6.0
    ITEMS[0] = 5.0
    assert g(1.0) == 14.0
    ITEMS.append(3.0)
    assert g(1.0) == 30.0
    ITEMS.clear()
    assert g(1.0) == 0.0


def test_a_dict(bind) -> None:
    bind(SETTINGS={"rate": 3.0, "order": 2, "inner": {"depth": 1.0}})

    def f(x):
        y = SETTINGS["rate"] * x ** SETTINGS["order"] * SETTINGS["inner"]["depth"]
        return y * 100.0 if "boost" in SETTINGS else y

    g = gw.grad(f)
    assert g(1.0) == 6.0
    SETTINGS["rate"] = 5.0
    SETTINGS["order"] = 3
    assert g(1.0) == 15.0
    SETTINGS["inner"]["depth"] = 2.0
    assert g(1.0) == 30.0
    SETTINGS["inner"] = {"depth": 3.0}
    assert g(1.0) == 45.0
    SETTINGS["boost"] = True
    assert g(1.0) == 4500.0
    del SETTINGS["rate"]
    with pytest.raises(KeyError, match="rate"):
        g(1.0)


def test_cells_of_a_closure() -> None:
    def make():
        gain, shift = 2.0, 1.0

        def f(x):
            return gain * x + shift * x

        def change(value):
            nonlocal gain
            gain = value

        return f, change

    f, change = make()
    g = gw.grad(f)
    assert g(1.0) == 3.0
    change(5.0)
    assert g(1.0) == 6.0
    other, _ = make()  # another closure of the same code
    assert gw.grad(other)(1.0) == 3.0
    assert g(1.0) == 6.0


def test_defaults() -> None:
    def f(x, gain=2.0, *, shift=1.0):
        return gain * x + shift * x

    def outer(x):
        return f(x) * 2.0

    g, h = gw.grad(f), gw.grad(outer)
    assert (g(1.0), h(1.0)) == (3.0, 6.0)
    f.__defaults__ = (5.0,)
    assert (g(1.0), h(1.0)) == (6.0, 12.0)
    f.__kwdefaults__ = {"shift": 2.0}
    assert (g(1.0), h(1.0)) == (7.0, 14.0)


def test_two_closures_of_one_code_have_their_own_defaults() -> None:
    made = []
    for k in (2.0, 3.0):

        def f(x, k=k):
            return k * x

        made.append(f)
    assert [gw.grad(f)(1.0) for f in made] == [2.0, 3.0]
    first, second = made
    assert gw.grad(lambda x: first(x) * 10.0 + second(x))(1.0) == 23.0


def test_attributes_of_a_module() -> None:
    module = types.ModuleType("constants")
    module.gravity = 9.81
    module.tables = types.ModuleType("tables")
    module.tables.density = 2.0
    g = gw.grad(lambda x: module.gravity * x * module.tables.density)
    assert g(1.0) == 2.0 * 9.81
    module.gravity = 1.5
    assert g(1.0) == 3.0
    module.tables.density = 4.0
    assert g(1.0) == 6.0
    module.gravity = 2
    assert g(1.0) == 8.0
    del module.gravity
    with pytest.raises(AttributeError, match="gravity"):
        g(1.0)


def test_attributes_of_a_class_and_of_a_function() -> None:
    class Config:
        rate = 2.0

    def helper(x):
        return x * helper.scale

    helper.scale = 10.0
    g = gw.grad(lambda x: Config.rate * helper(x))
    assert g(1.0) == 20.0
    Config.rate = 3.0
    assert g(1.0) == 30.0
    helper.scale = 100.0
    assert g(1.0) == 300.0


def test_attributes_of_an_object() -> None:
    lens = types.SimpleNamespace(index=1.5, radii=np.array([1.0, 2.0]))
    g = gw.grad(lambda x: lens.index * x * lens.radii[1])
    assert g(1.0) == 3.0
    lens.index = 2.0
    lens.radii[1] = 4.0
    assert g(1.0) == 8.0


def test_captured_numbers_are_not_differentiated() -> None:
    """The derivative is that of the arguments, whatever was captured."""
    inner = 3.0

    def f(x):
        return inner * inner * x

    assert gw.grad(f)(inner) == 9.0
    assert gw.jvp(f, (inner,), (1.0,)) == (27.0, 9.0)


def test_math_and_numpy_constants() -> None:
    def f(x):
        return math.pi * x + np.e * x + (x if math.inf > x else 0.0)

    value, gradient = gw.value_and_grad(f)(1.0)
    assert (value, gradient) == (f(1.0), math.pi + np.e + 1.0)


# ---- what is checked -----------------------------------------------------------------


def square(x):
    return x * x


def cube(x):
    return x * x * x


def test_a_helper_that_is_redefined(bind) -> None:
    g = gw.grad(lambda x: square(x) + 1.0)
    assert g(2.0) == 4.0
    bind(square=cube)
    assert g(2.0) == 12.0
    bind(square=math.exp)
    assert g(2.0) == math.exp(2.0)


def test_a_helpers_helper_that_is_redefined(bind) -> None:
    def outer(x):
        s = 0.0
        for _ in range(3):
            s += middle(x)
        return s

    g = gw.grad(outer)
    assert g(2.0) == 12.0
    bind(square=cube)
    assert g(2.0) == 36.0


def middle(x):
    return square(x)


def test_code_that_is_replaced() -> None:
    def f(x):
        return x * x

    def other(x):
        return x * x * x

    def outer(x):
        return f(x) * 2.0

    g, h = gw.grad(f), gw.grad(outer)
    assert (g(2.0), h(2.0)) == (4.0, 8.0)
    f.__code__ = other.__code__
    assert (g(2.0), h(2.0)) == (12.0, 24.0)


def test_a_string(bind) -> None:
    g = gw.grad(lambda x: x * 2.0 if MODE == "fast" else x * 3.0)
    assert g(1.0) == 2.0
    bind(MODE="".join(["fa", "st"]))  # equal, not identical
    assert g(1.0) == 2.0
    bind(MODE="slow")
    assert g(1.0) == 3.0


def test_none(bind) -> None:
    g = gw.grad(lambda x: x if NOTHING is None else x * NOTHING)
    assert g(1.0) == 1.0
    bind(NOTHING=4.0)
    assert g(1.0) == 4.0
    bind(NOTHING=None)
    assert g(1.0) == 1.0


def test_a_class_attribute_that_is_a_function() -> None:
    class Law:
        rule = staticmethod(square)

        @staticmethod
        def other(x):
            return x * 10.0

    g = gw.grad(lambda x: Law.rule(x) + Law.other(x))
    assert g(2.0) == 14.0
    Law.rule = staticmethod(cube)
    assert g(2.0) == 22.0


def test_a_name_that_hides_a_builtin(bind) -> None:
    g = gw.grad(lambda x: max(x, 3.0))
    assert g(5.0) == 1.0
    bind(max=lambda a, b: a * b)
    assert g(5.0) == 3.0


def test_builtins_under_another_name() -> None:
    largest, pair = max, tuple

    def pick(f, a, b):
        return f(a, b)

    def f(x):
        taken = isinstance(pair([x, x]), tuple)
        return (largest(x, 3.0) + 10.0 * pick(min, x, 3.0)) * (x if taken else 0.0)

    assert gw.value_and_grad(f)(5.0) == (175.0, 40.0)


def test_a_partial() -> None:
    scale = functools.partial(lambda k, x: k * x * x, 3.0)
    assert gw.grad(scale)(2.0) == 12.0
    assert gw.grad(lambda x: scale(x) + x)(2.0) == 13.0


def test_a_name_that_is_deleted(bind, monkeypatch: pytest.MonkeyPatch) -> None:
    g = gw.grad(lambda x: GAIN * x)
    assert g(1.0) == 2.0
    monkeypatch.delitem(globals(), "GAIN")
    with pytest.raises(NameError, match="name 'GAIN' is not defined"):
        g(1.0)


# ---- what a function may not change --------------------------------------------------

CALLS = 0


def counts(x):
    global CALLS
    CALLS += 1
    return x * CALLS


def remembers(x):
    ITEMS.append(x)
    return x * x


def writes(x):
    ITEMS[0] = x
    return x * x


def updates(x):
    SETTINGS["rate"] = x
    return x * x


def adds(x):
    SETTINGS["rate"] += x
    return x * x


def labels(x):
    square.last = x
    return x * x


def stores(x):
    WEIGHTS[0] = x
    return x * x


@pytest.mark.parametrize(
    "f", [counts, remembers, writes, updates, adds, labels, stores]
)
@pytest.mark.parametrize("mode", ["grad", "jvp", "vjp"])
def test_captured_objects_may_not_be_changed(f, mode: str) -> None:
    calls = {
        "grad": lambda: gw.grad(f)(2.0),
        "jvp": lambda: gw.jvp(f, (2.0,), (1.0,)),
        "vjp": lambda: gw.vjp(f, 2.0),
    }
    with pytest.raises(gw.EffectError) as caught:
        calls[mode]()
    assert caught.value.location.function == f.__name__
    assert (CALLS, ITEMS, WEIGHTS.tolist()) == (0, [1.0, 2.0], [1.0, 2.0])
    assert SETTINGS["rate"] == 3.0


def test_slices_of_a_captured_array_beside_tangents() -> None:
    """The lengths of what was captured are not looked for among the tangents."""
    weights = np.array([1.0, 2.0, 4.0])

    def f(x, gain):
        return gain * np.sum(x * weights[1:])

    x = np.array([0.5, 0.25])
    assert gw.jvp(f, (x, 2.0), (x, 1.0)) == (4.0, 6.0)
    np.testing.assert_array_equal(gw.grad(f)(x, 2.0), [4.0, 8.0])


def test_a_slice_of_a_captured_array_may_reach_beyond_it() -> None:
    """Lengths are those that the array has at the call."""
    weights = np.array([1.0, 2.0, 3.0])

    def f(x):
        return x * np.sum(weights[:5]) * len(weights[:5])

    g = gw.grad(f)
    assert g(2.0) == 18.0
    weights = np.arange(6.0)
    assert g(2.0) == 50.0
    weights = np.array([2.0, 4.0])
    assert g(2.0) == 12.0


def test_a_recursion_over_slices_of_a_captured_array() -> None:
    weights = np.array([0.5, -1.5])

    def power(x, ws):
        return x if len(ws) == 0 else ws[0] * power(x * x, ws[1:])

    def f(x):
        return power(x, weights[:-1][-2:])

    assert gw.grad(f)(3.0) == 3.0
