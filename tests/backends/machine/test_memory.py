"""Arrays of a kernel's own: buffers, workspace, tapes that grow, results."""

import operator
import tracemalloc
from typing import Any

import numpy as np
import pytest
from loop_core import (
    F64,
    array_of,
    buffer,
    doubled,
    element,
    growing,
    let,
    loop,
    triangle,
    whole,
)

from gradwright.backends import machine
from gradwright.transform.core import (
    Alloc,
    At,
    Buffer,
    Call,
    Cell,
    Function,
    Load,
    Statement,
    Store,
    Value,
)
from gradwright.transform.indices import Dim, Linear, linear, symbol
from gradwright.transform.types import INT, array


def run(f: Function, *args: Any) -> Any:
    return machine.compile(f).run(args, {})


# ---- sizes that are known ----------------------------------------------------------


@pytest.mark.parametrize("blank", [False, True])
def test_a_result_is_fresh(blank: bool) -> None:
    made = machine.compile(doubled(blank))
    x = np.arange(5.0)
    first = made.run((x,), {})
    second = made.run((x + 1,), {})
    assert first.tolist() == [0, 2, 4, 6, 8] and second.tolist() == [2, 4, 6, 8, 10]
    assert not np.may_share_memory(first, second)
    assert first.flags.owndata and first.flags.writeable


def test_workspace_begins_anew_and_grows_with_the_lengths() -> None:
    n = Value("n", INT)
    half = let(operator.floordiv, symbol(n), linear(2))
    room = buffer("room", symbol(half.out), linear(3))
    total = Cell("total", F64)

    def fill(i: Linear) -> list[Statement]:
        return [Store(room, i, (At(i), At(linear(2))), accumulate=True)]

    def add(i: Linear) -> list[Statement]:
        a = element(room, i, linear(2))
        return [a, Store(total, a.out, accumulate=True)]

    def again(_: Linear) -> list[Statement]:
        size = symbol(half.out)
        return [Alloc(room), loop(size, fill), loop(size, add)]

    v = Value("total", F64)
    body = [half, Alloc(total), Store(total, linear(0)), loop(linear(3), again)]
    made = machine.compile(Function("f", [n], [*body, Load(v, total)], [v]))
    for size in (4, 1000, 0, 1, 6):
        assert made.run((size,), {}) == 3 * sum(range(size // 2))
    frames = made.usual.frames
    assert len(frames) == 1 and frames[0].room.nbytes >= 8 * 3 * 500


def test_a_negative_length_raises_numpys_error() -> None:
    n = Value("n", INT)
    out = buffer("out", symbol(n))
    load, result = whole(out)
    made = machine.compile(Function("f", [n], [Alloc(out), load], [result]))
    assert made.run((3,), {}).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        made.run((-1,), {})


DTYPES = "bool int8 uint16 int32 uint64 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_every_dtype(dtype: str) -> None:
    x = array_of("x", 2, dtype)
    out = Buffer("out", x.type, x)

    def rows(i: Linear) -> list[Statement]:
        def columns(j: Linear) -> list[Statement]:
            a = element(x, i, j)
            return [a, Store(out, a.out, (At(i), At(j)))]

        return [loop(symbol(Dim(x, 1)), columns)]

    load, result = whole(out)
    body = [Alloc(out), loop(symbol(Dim(x, 0)), rows), load]
    made = machine.compile(Function("copied", [x], body, [result]))
    values = np.arange(-6, 6).reshape(3, 4)
    a = (values if dtype != "bool" else values > 0).astype(dtype)
    if a.dtype.kind == "c":
        a = a * a.dtype.type(1 - 2j)
    for given in (a, a.T, a[::-1, ::2], np.asfortranarray(a), a[:0], a[:1, 1:2]):
        found = made.run((given,), {})
        assert found.dtype == given.dtype and found.flags.c_contiguous
        np.testing.assert_array_equal(found, given)


# ---- sizes that are known late -----------------------------------------------------


@pytest.mark.parametrize("limit", [0, 1, 4, 5, 100, 10_000])
def test_a_tape_grows_and_comes_out(limit: int) -> None:
    found, count = run(growing(), limit)
    assert count == limit
    np.testing.assert_array_equal(found, np.arange(float(limit)))


def test_what_malloc_gave_is_given_back() -> None:
    made = machine.compile(growing())
    made.run((100_000,), {})
    before = memory()
    for _ in range(300):
        made.run((100_000,), {})
    assert memory() - before < 50_000  # kilobytes; each call makes 800 of them


def memory() -> int:
    """The memory of this process in kilobytes."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4


def test_a_buffer_of_a_loop_begins_anew() -> None:
    assert run(triangle(), 10) == 45.0
    assert run(triangle(), 0) == 0.0


def test_a_failure_frees_what_is_held() -> None:
    f = growing()
    x = array_of("x", 1)
    miss = element(x, symbol(f.params[0]))
    f.params.append(x)
    f.body.append(miss)
    made = machine.compile(f)
    before = 0
    for k in range(300):
        with pytest.raises(IndexError):
            made.run((100_000, np.ones(3)), {})
        before = memory() if k == 5 else before
    assert memory() - before < 50_000


# ---- calls -------------------------------------------------------------------------


def test_a_call_stores_into_its_callers_buffer() -> None:
    n, at = Value("n", INT), Value("at", INT)
    inner = Buffer("inner", array("float64", (linear(0),)), (linear(0),))
    store = Store(inner, symbol(at), (At(symbol(at)),))
    callee = Function("store", [inner, at], [store], [])  # type: ignore[list-item]
    out = buffer("out", symbol(n))

    def body(i: Linear) -> list[Statement]:
        return [Call((), callee, (out, i))]  # type: ignore[arg-type]

    load, result = whole(out)
    f = Function("f", [n], [Alloc(out), loop(symbol(n), body), load], [result])
    assert run(f, 4).tolist() == [0, 1, 2, 3]


def test_a_call_gives_an_array() -> None:
    inner = doubled()
    x = array_of("x", 1)
    once, twice = Value("once", x.type), Value("twice", x.type)
    body: list[Statement] = [Call((once,), inner, (x,)), Call((twice,), inner, (once,))]
    f = Function("quadruple", [x], body, [twice])
    made = machine.compile(f)
    for a in (np.arange(3.0), np.arange(6.0)[::-2], np.ones(0)):
        np.testing.assert_array_equal(made.run((a,), {}), 4 * a)


def test_one_array_twice_comes_out_as_two() -> None:
    f = doubled()
    load, again = whole(f.body[-1].source)  # type: ignore[attr-defined]
    f.body.append(load)
    f.results.append(again)
    a, b = run(f, np.arange(3.0))
    assert a.tolist() == b.tolist() and not np.may_share_memory(a, b)


def test_an_argument_comes_out_itself() -> None:
    x = array_of("x", 1)
    a = np.arange(3.0)
    assert run(Function("same", [x], [], [x]), a) is a


def test_a_call_keeps_no_array_of_the_users() -> None:
    made = machine.compile(doubled())
    made.run((np.ones(10),), {})
    tracemalloc.start()
    made.run((np.ones(100_000),), {})
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 100_000
