"""Functions of a program: one for each layout of its arrays, called by registers."""

from loop_core import array_of, doubled

from gradwright.backends.machine.kernel import translated
from gradwright.transform.core import Call, Function, Value


def test_a_function_is_made_for_each_layout() -> None:
    inner, x = doubled(), array_of("x", 1)
    once, twice = Value("once", x.type), Value("twice", x.type)
    f = Function(
        "f", [x], [Call((once,), inner, (x,)), Call((twice,), inner, (x,))], []
    )
    assert len(translated(f, ("C",)).instances) == 1
    f.body[1] = Call((twice,), inner, (once,))
    assert len(translated(f, ("S",)).instances) == 2
