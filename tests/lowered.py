"""Programs in loops, run as plain Python where machine code would run.

with in_python() as programs:        what is to be compiled is emitted as Python,
    gw.jit(f)(x)                     and that runs; `programs` holds all of them
with in_both():                      both run at every call, and are compared
    gw.jit(f)(x)
"""

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradwright import cache, compiled, compiling, transforms
from gradwright.backends.numpy import load
from gradwright.transform.core import Function, defines, type_of, walk
from gradwright.transform.emit import emit
from gradwright.transform.lowering.program import LengthsVary

# Of two orders of a sum, per largest element.
CLOSE, COARSE = 1e-12, {"float32": 1e-5, "complex64": 1e-5, "float16": 1e-2}


class Loops:
    """A program of loops as plain Python, called as machine code is."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.hidden = [p for p in function.params if p in function.hidden]
        self.names = [p.settled for p in self.hidden]
        settled = [(p, p.settled) for p in function.params if hasattr(p, "settled")]
        module = emit(function)
        self.own = [p.settled for p in self.hidden]
        for p, name in settled:  # others call them as they did
            p.settled = name
        self.text = module.text
        self.callable = load(module)

    def run(self, values: Any, hidden: dict[str, Any]) -> Any:
        """The results of a call, one or a tuple of several."""
        given = {own: hidden[n] for own, n in zip(self.own, self.names, strict=True)}
        with np.errstate(all="ignore"):
            found = self.callable(*values, **given)
        results = self.function.results
        if len(results) == 1:
            return as_typed(results[0], found)
        return tuple(map(as_typed, results, found or ()))


KINDS: dict[str, Any] = {"float": float, "complex": complex, "int": int, "bool": bool}


def as_typed(result: Any, found: Any) -> Any:
    """A result: memory of loops has NumPy's numbers for those of Python, too.

    And an array without axes is a number there.
    """
    t = type_of(result)
    if t.dims == ():
        return np.asarray(found, t.dtype)  # branches may give it in several
    if t.python and (isinstance(found, np.generic) or t.dtype == "complex"):
        return KINDS[t.dtype](found)  # a real number is a complex one, too
    if not (t.python or t.is_array) and isinstance(found, int | float | complex):
        return np.dtype(t.dtype).type(found)  # of branches, one of which gives it
    return found


class Both(Loops):
    """The same as Python and as machine code, which have to agree."""

    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.machine = MACHINE(function, None)
        made = [v for s in walk(function.body) for v in defines(s)]
        kinds = {v.type.dtype for v in (*function.params, *made)}
        self.close = max(map(closeness, kinds), default=CLOSE)

    def run(self, values: Any, hidden: dict[str, Any]) -> Any:
        wanted = outcome(super().run, copy.deepcopy(values), hidden)
        found = outcome(self.machine.run, values, hidden)
        if isinstance(found, LengthsVary):
            raise found
        assert_alike(found, wanted, self.text, self.close)
        if isinstance(found, Exception):
            raise found
        return found


MACHINE = compiled.machine


def closeness(dtype: str) -> float:
    """How far elements of a dtype may be from each other."""
    return COARSE.get(dtype, CLOSE)


def texts(f: Any, *args: Any) -> list[str]:
    """The loops of a compiled function, as Python, once it ran with these arguments."""
    with in_python() as made:
        compiling.jit(f)(*args)
    return [program.text for program in made]


def assert_compiles(f: Any, *args: Any) -> None:
    """A function gives, as loops and as machine code, what it gives; or raises that."""
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = outcome(f, *mine)
    with in_both() as made:
        found = outcome(compiling.jit(f), *theirs)
    text = "\n\n".join(program.text for program in made)
    if isinstance(wanted, Exception):
        assert type(found) is type(wanted), f"{found!r} for {wanted!r}\n{text}"
    elif isinstance(found, Exception):
        found.add_note(text)
        raise found
    else:
        assert_alike(found, wanted, text)
    assert_alike(theirs, mine, text)


def assert_differentiates(f: Any, *args: Any, argnums: Any = 0) -> None:
    """The gradient of a function is the same compiled."""
    gradient = transforms.grad(f, argnums)
    with np.errstate(all="ignore"):
        wanted = gradient(*args)
    with in_both() as made:
        found = compiling.jit(gradient)(*args)
    assert_alike(found, wanted, "\n\n".join(program.text for program in made))


@contextmanager
def in_python(runner: Any = Loops) -> Iterator[list[Any]]:
    """What is compiled in here runs as plain Python, and is compiled anew."""
    made: list[Any] = []
    cache.clear_caches()

    def machine(function: Function, *options: Any) -> Any:
        made.append(runner(function))
        return made[-1]

    own = {"machine": machine, "facts_of": lambda *_: None}
    kept = {name: getattr(compiled, name) for name in own}
    vars(compiled).update(own)
    try:
        yield made
    finally:
        vars(compiled).update(kept)
        cache.clear_caches()


@contextmanager
def in_both() -> Iterator[list[Any]]:
    """What is compiled in here runs as plain Python too, with the same results."""
    with in_python(Both) as made:
        yield made


def outcome(function: Any, *operands: Any) -> Any:
    """What a function gives, or the exception that it raises."""
    try:
        return function(*operands)
    except Exception as e:
        return e


def assert_alike(found: Any, wanted: Any, text: str = "", close: float = CLOSE) -> None:
    """Two results of one kind and shape, elements equal but for the order of sums."""
    if isinstance(wanted, tuple | list):
        assert type(found) is type(wanted), (found, wanted, text)
        for a, b in zip(found, wanted, strict=True):
            assert_alike(a, b, text, close)
        return
    if isinstance(wanted, Exception):
        assert type(found) is type(wanted), f"{found!r} for {wanted!r}\n{text}"
        return
    if not isinstance(wanted, np.ndarray | np.generic | int | float | complex):
        assert found == wanted
        return
    is_array = isinstance(found, np.ndarray), isinstance(wanted, np.ndarray)
    assert is_array[0] == is_array[1], f"{found!r} for {wanted!r}\n{text}"
    a, b = np.asarray(found), np.asarray(wanted)  # Python's numbers are NumPy's here
    assert (a.dtype, a.shape) == (b.dtype, b.shape), f"{a!r} for {b!r}\n{text}"
    assert is_close(a, b, close), f"{a!r}\nfor\n{b!r}\n{text}"


def is_close(a: np.ndarray, b: np.ndarray, close: float = CLOSE) -> bool:
    """Whether elements are equal, relative to the largest that is finite."""
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    tolerance = max(close, closeness(a.dtype.name))
    size = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
    return bool(
        np.allclose(a, b, rtol=tolerance, atol=tolerance * size, equal_nan=True)
    )
