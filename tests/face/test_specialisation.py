"""One specialisation: what it relies on, and the user's line where it raises."""

import gc
import types
import weakref

import numpy as np
import pytest

import gradwright as gw


def helper(x):
    return x * x


def test_a_helper_that_is_exchanged(monkeypatch) -> None:
    g = gw.grad(lambda x: helper(x))
    assert g(3.0) == 6.0
    monkeypatch.setitem(globals(), "helper", lambda x: x * x * x)
    assert g(3.0) == 27.0


def test_the_code_of_a_helper_that_is_exchanged() -> None:
    def inner(x):
        return x * x

    def other(x):
        return 5.0 * x

    g = gw.grad(lambda x: inner(x))
    assert g(3.0) == 6.0
    inner.__code__ = other.__code__
    assert g(3.0) == 5.0


def test_a_default_of_a_helper_that_is_exchanged() -> None:
    def inner(x, k=2.0, *, n=1.0):
        return k * x * n

    g = gw.grad(lambda x: inner(x))
    assert g(3.0) == 2.0
    inner.__defaults__ = (4.0,)
    assert g(3.0) == 4.0
    inner.__kwdefaults__["n"] = 10.0
    assert g(3.0) == 40.0
    inner.__defaults__ = (4,)  # of another type
    assert g(3.0) == 40.0


def test_text_and_objects_that_change() -> None:
    settings = types.SimpleNamespace(mode="plain", gain=2.0)
    g = gw.grad(lambda x: settings.gain * x if settings.mode == "plain" else x * x)
    assert g(3.0) == 2.0
    settings.gain = 4.0
    assert g(3.0) == 4.0
    settings.mode = "square"
    assert g(3.0) == 6.0
    settings = types.SimpleNamespace(mode="plain", gain=1.0)
    assert g(3.0) == 1.0


def test_methods_of_captured_objects() -> None:
    class Law:
        def __init__(self, gain):
            self.gain = gain

        def value(self, x):
            return self.gain * x * x

    law = Law(1.0)
    g = gw.grad(lambda x: law.value(x))
    assert g(3.0) == 6.0
    first = g.entry.last
    law.gain = 2.0
    assert g(3.0) == 12.0
    assert g.entry.last is first  # a bound method is new at every look
    law = Law(5.0)
    assert g(3.0) == 30.0


def test_two_functions_that_share_a_variable() -> None:
    def make(gain):
        def inner(x):
            return gain * x

        return lambda x: gain * inner(x)

    assert [gw.grad(make(k))(1.0) for k in (2.0, 3.0)] == [4.0, 9.0]


def one_line(x):
    return 1.0 / x


def two_lines(x):
    y = x - 2.0
    return 1.0 / y


def in_a_branch(x):
    if x > 1.0:
        z = x - 2.0
        return z / (x - 2.0)
    return x


@pytest.mark.parametrize(
    ("f", "x", "line"),
    [
        (one_line, 0.0, "return 1.0 / x"),
        (two_lines, 2.0, "return 1.0 / y"),
        (in_a_branch, 2.0, "return z / (x - 2.0)"),
    ],
)
def test_exceptions_name_the_users_line(f, x, line) -> None:
    calls = (
        lambda: gw.grad(f)(x),
        lambda: gw.value_and_grad(f)(x),
        lambda: gw.jvp(f, (x,), (1.0,)),
        lambda: gw.vjp(f, x)[1](1.0),
    )
    for call in calls:
        with pytest.raises(ZeroDivisionError) as caught:
            call()
        assert caught.value.__notes__ == [
            f"  in {f.__name__}, test_specialisation.py:"
            f"{caught.value.__notes__[0].split(':')[1]}: {line}"
        ]


def test_lengths_that_do_not_go_together() -> None:
    g = gw.grad(lambda xs, ys: np.sum(xs * ys))
    assert g(np.ones(3), np.ones(3)).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(
        ValueError, match=r"broadcast together with shapes \(2,\) \(3,\)"
    ):
        g(np.ones(2), np.ones(3))


def test_a_captured_list_is_not_kept_alive() -> None:
    class Data(np.ndarray):
        pass

    def make():
        batch = [np.ones(3).view(Data), 2.0]
        return (lambda x: batch[1] * x), weakref.ref(batch[0])

    f, array = make()
    assert gw.grad(f)(3.0) == 2.0
    del f
    gc.collect()
    assert array() is None


def test_a_property_that_gives_another_object_every_time() -> None:
    class Box:
        @property
        def law(self):
            return lambda x: x * x

    box = Box()
    with pytest.raises(gw.EffectError, match="another object at every look"):
        gw.grad(lambda x: box.law(x))(3.0)


def test_a_global_that_is_deleted(monkeypatch) -> None:
    monkeypatch.setitem(globals(), "PASSING", 2.0)
    g = gw.grad(lambda x: PASSING * x)  # noqa: F821
    assert g(1.0) == 2.0
    monkeypatch.delitem(globals(), "PASSING")
    with pytest.raises(NameError, match="PASSING"):
        g(1.0)
