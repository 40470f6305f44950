"""The adjoint of a call: one half in the forward sweep, the other in the reverse."""

from swept import swept
from written import written

from gradwright.transform.core import Alloc, Call, Function, Tape, Value, walk
from gradwright.transform.reverse.calls import tape_bar
from gradwright.transform.types import FLOAT

ROOT = """
    def g(t: float):
        y = sqrt t
        z = multiply y, 3.0
        return z
"""
LINEAR = "def g(t: float):\n    y = multiply t, 3.0\n    return y"


def calling(callee: Function, used: bool = True) -> Function:
    """The function f(x, w) = g(x) * w, or x * w where the result is not used."""
    f = written("def f(x: float, w: float):\n    y = multiply x, w\n    return y")
    x, w = f.params
    out = Value("out", FLOAT)
    call = Call((out,), callee, (x,))
    if used:
        f.body[0].operands = (out, w)  # type: ignore[attr-defined]
    f.body.insert(0, call)
    return f


def calls(block: list[object]) -> list[Call]:
    return [s for s in walk(block) if isinstance(s, Call)]  # type: ignore[arg-type]


def test_the_halves_take_the_place_of_the_call() -> None:
    sweep = swept(calling(written(ROOT)))
    (forward,), (backward,) = calls([*sweep.forward]), calls([*sweep.reverse])
    assert forward.function.name == "g_forward"
    assert backward.function.name == "g_backward"
    assert forward.outs[0].name == "out"
    # what the one hands over is what the other takes, then the cotangent of the result
    assert backward.operands == (forward.outs[1], sweep.function.params[1])
    assert len(backward.outs) == 1
    assert backward.outs[0] is sweep.bars[0]


def test_a_call_that_saves_nothing_stays() -> None:
    callee = written(LINEAR)
    sweep = swept(calling(callee))
    (forward,), (backward,) = calls([*sweep.forward]), calls([*sweep.reverse])
    assert forward.function is callee
    assert len(forward.outs) == 1
    assert backward.function.name == "g_backward"


def test_a_call_that_does_not_count_has_no_backward_half() -> None:
    callee = written(ROOT)
    sweep = swept(calling(callee, used=False))
    assert [s.function for s in calls([*sweep.forward])] == [callee]
    assert calls([*sweep.reverse]) == []


def test_every_round_hands_over_the_same_values() -> None:
    sweep = swept(calling(written(ROOT)))
    (handed,) = sweep.residuals.values()
    (forward,) = calls([*sweep.forward])
    assert list(forward.outs[1:]) == handed


def test_a_tape_that_nothing_flows_to_has_an_empty_one_beside_it() -> None:
    sweep = swept("def f(x: float):\n    return x")
    tape = Tape("t", FLOAT)
    with sweep.inside(sweep.root):
        bar = tape_bar(sweep, tape)
    assert bar.name == "t_bar"
    assert isinstance(sweep.root.reverse[-1], Alloc)
    assert sweep.root.reverse[-1].place is bar
