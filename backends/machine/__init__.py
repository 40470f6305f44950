"""Machine code: loop core in, a callable out, through LLVM and Numba.

    kernel     the function that is called, and its frame      (uses body)
    body       each statement                                  (uses the next five)
    memory     the arrays of a function's own
    stacks     tapes whose items are of several kinds
    operations each row of the table on scalars, by kind
    elementary functions of the C library, also in vectors
    arrays     elements by layout, alias scopes
    sites      what fails, and what it raises
    build      a module to machine code
    disk       machine code that another process has made
    driver     Python that calls it
    threads    samples shared out

Loop core is core whose values are numbers, and arrays that are read and stored into
element by element.  Python's numbers keep Python's meaning and errors.
"""

from __future__ import annotations

from gradwright.backends.machine.driver import Machine
from gradwright.backends.machine.program import NONE, Facts
from gradwright.transform.core import Function

__all__ = ["Facts", "Machine", "compile"]


def compile(
    function: Function,
    facts: Facts = NONE,
    fastmath: bool = False,
    threads: int = 1,
) -> Machine:
    """A function of loop core as machine code.

    Args:
        function: Its values are numbers, and arrays read and stored by elements.
        facts: What holds of the lengths of its arguments; `run_unseen` looks whether
            it does.
        fastmath: LLVM may reorder and contract arithmetic of floats, and need not tell
            0.0 from -0.0.
        threads: How many may share the samples of a vmap.

    Returns:
        An object whose `run(values, hidden)` gives the results, as the emitted
        function does: one, or a tuple of several.
    """
    return Machine(function, facts, fastmath, threads)
