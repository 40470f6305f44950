"""Frames: where arguments, results and operands of a failure stand."""

from loop_core import doubled, growing

from gradwright.backends.machine.kernel import translated
from gradwright.backends.machine.program import DTYPES, Frame
from gradwright.transform.core import Function, Value
from gradwright.transform.types import COMPLEX, FLOAT


def test_words_of_a_frame() -> None:
    z, x = Value("z", COMPLEX), Value("x", FLOAT)
    frame = Frame(Function("f", [z, x], [], [x, z]))
    assert frame.unseen == DTYPES
    assert frame.arguments == [DTYPES + 1, DTYPES + 3]
    assert frame.results == [DTYPES + 4, DTYPES + 5]
    assert frame.failure == DTYPES + 7


def test_arrays_have_a_dtype_and_results_a_place() -> None:
    frame = Frame(doubled())
    assert [str(d) for d in frame.dtypes] == ["float64"]
    assert frame.arguments == [DTYPES + 2] and frame.given == {0: DTYPES + 3}


def test_a_site_makes_room_for_its_operands() -> None:
    frame = translated(growing(), (None,)).frame
    assert frame.size >= frame.failure
