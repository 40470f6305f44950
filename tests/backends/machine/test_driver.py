"""The driver: its text, its frames, and what it refuses."""

import numpy as np
import pytest
from loop_core import array_of, doubled

from gradwright.backends import machine
from gradwright.backends.machine import driver
from gradwright.backends.machine.arrays import layout_of
from gradwright.transform.core import At, Function, Load, Value
from gradwright.transform.errors import BackendError
from gradwright.transform.indices import linear


def test_a_layout_has_a_kernel_of_its_own() -> None:
    made = machine.compile(doubled())
    x = np.arange(6.0)
    made.run((x,), {})
    assert [layouts for layouts, _ in made.kernels] == [("C",)]
    assert made.run((x[::2],), {}).tolist() == [0, 4, 8]
    assert [layouts for layouts, _ in made.kernels] == [("C",), ("S",)]


def test_layouts() -> None:
    a = np.zeros((3, 4))
    assert [layout_of(x) for x in (a, a.T, a[:, 1:], a[0], a[:, 0])] == list("CFSCS")


def test_only_known_kinds_pass_unseen() -> None:
    made = machine.compile(doubled())
    made.run_unseen((np.ones(3),), {})
    for other in (np.ones(3, np.float32), np.ones((3, 1)), np.ones(1), np.array(1.0)):
        with pytest.raises(driver.OtherKind):
            made.run_unseen((other,), {})


def test_a_dtype_that_is_equal_to_another_is_taken() -> None:
    made = machine.compile(doubled())
    named = np.dtype(np.float64, metadata={"unit": "m"})
    assert made.run((np.arange(3.0).astype(named),), {}).tolist() == [0, 2, 4]
    with pytest.raises(BackendError, match="an array of int64 with 1 axes for 'x'"):
        made.run((np.arange(3),), {})


def test_frames_wait_for_the_next_call() -> None:
    made = machine.compile(doubled())
    for _ in range(5):
        made.run((np.ones(3),), {})
    assert len(made.usual.frames) == 1
    for _ in range(2 * driver.MOST_FRAMES):
        made.usual.give(made.usual.new())
    assert len(made.usual.frames) == driver.MOST_FRAMES


def test_too_long_an_axis_is_refused() -> None:
    x = array_of("x", 1)
    v = Value("v", x.type.element)
    first = Function("first", [x], [Load(v, x, (At(linear(0)),))], [v])
    long = np.broadcast_to(np.ones(1), (2**50,))
    with pytest.raises(BackendError, match="along an axis"):
        machine.compile(first).run((long,), {})
