"""jit: what runs compiled, for which calls, and what is seen of a call's arguments."""

import threading
from typing import Any

import numpy as np
import pytest

import gradwright as gw


@gw.jit
def total(A: Any) -> Any:
    found = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            found += A[i, j]
    return found


@gw.jit
def dot(x: Any, y: Any) -> Any:
    found = 0.0
    for a, b in zip(x, y, strict=False):
        found += a * b
    return found


@gw.jit
def paired(x: Any, y: Any) -> Any:
    found = 0.0
    for i in range(len(x)):
        found += x[i] * y[i]
    return found


BASE = np.arange(24.0).reshape(4, 6)
frozen = BASE.copy()
frozen.flags.writeable = False
unaligned = np.frombuffer(b"\0" + BASE.tobytes(), np.uint8)[1:].view(np.float64)
LAYOUTS = {
    "rows": BASE,
    "columns": np.asfortranarray(BASE),
    "transposed": BASE.T,
    "strided": BASE[::2, 1::3],
    "backwards": BASE[::-1, ::-1],
    "read-only": frozen,
    "repeated": np.broadcast_to(BASE[0], (3, 6)),
    "unaligned": unaligned.reshape(4, 6),
    "no rows": BASE[:0],
    "no columns": BASE[:, :0],
    "one row": BASE[1:2],
    "one column": BASE[:, 1:2],
    "one element": BASE[1:2, 1:2],
}


@pytest.mark.parametrize("name", list(LAYOUTS))
def test_arrays_of_every_layout(name: str) -> None:
    A = LAYOUTS[name]
    for _ in range(2):  # the second call is found by the classes alone
        assert total(A) == A.sum()
    assert total(BASE) == BASE.sum()


def test_one_call_after_another_of_other_kinds() -> None:
    for dtype in (np.float64, np.float32, np.int64, np.complex128, np.float64):
        for A in (BASE, BASE[:1], BASE.T, BASE[:0]):
            found = total(A.astype(dtype))
            assert found == A.sum()
            wanted = float if A.size == 0 else dtype
            assert isinstance(found, wanted | np.generic)
    with pytest.raises(IndexError, match="tuple index out of range"):
        total(BASE.ravel())
    assert total(BASE) == BASE.sum()


def test_lengths_that_differ() -> None:
    x = np.arange(4.0)
    for _ in range(2):
        assert dot(x, x) == 14.0
        assert dot(x, x[:2]) == 1.0
        assert paired(x, x) == 14.0
        assert paired(x[:2], x) == 1.0
        with pytest.raises(IndexError, match="index 2 is out of bounds"):
            paired(x, x[:2])


@pytest.mark.parametrize("x", [2.0, 3, True, np.float64(2.5), np.float32(0.5), 1 + 2j])
def test_numbers_of_every_kind_one_after_another(x: Any) -> None:
    f = gw.jit(lambda x: x * 2)
    for y in (x, 2.0, 3, x):
        assert f(y) == y * 2 and type(f(y)) is type(y * 2)


scale = 2.0


def scaled(x: float) -> float:
    return x * scale


def test_captured_numbers_are_read_at_every_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    f = gw.jit(scaled)
    assert f(3.0) == 6.0
    monkeypatch.setitem(globals(), "scale", 5.0)
    assert f(3.0) == 15.0
    monkeypatch.setitem(globals(), "scale", 2)
    assert f(3.0) == 6.0
    monkeypatch.setitem(globals(), "scale", np.float32(0.5))
    assert f(3.0) == 1.5


def test_a_static_argument_is_looked_at_each_time() -> None:
    @gw.jit(static_argnums=1)
    def f(x: float, n: int) -> float:
        return x * n

    assert [f(2.0, n) for n in (3, 3, 4, 4, 3)] == [6.0, 6.0, 8.0, 8.0, 6.0]


def test_a_structure_goes_in_and_out() -> None:
    @gw.jit
    def f(p: Any) -> Any:
        return {"a": p["a"] + 1, "b": (p["b"], None, "text")}

    assert f({"a": 1, "b": 2.5}) == {"a": 2, "b": (2.5, None, "text")}


def test_a_store_into_an_argument_is_made() -> None:
    @gw.jit
    def f(x: Any) -> Any:
        x[0] = 1.0
        return x[1]

    x = np.zeros(3)
    assert f(x) == 0.0
    assert x[0] == 1.0


def test_several_threads_call_at_once() -> None:
    arrays = [np.full((50, 40), float(k)) for k in range(8)]
    wrong: list[Any] = []

    def work(k: int) -> None:
        A = arrays[k] if k % 2 else arrays[k].T
        for _ in range(300):
            if total(A) != 2000.0 * k:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_thread_that_fails_disturbs_no_other() -> None:
    found: list[Any] = []

    @gw.jit
    def f(x: float, n: int) -> float:
        if n == 3:
            raise ValueError(f"three of {x}")
        return x / n

    def work(k: int) -> None:
        for _ in range(200):
            try:
                found.append(f(float(k), k) == 1.0)
            except ValueError as e:
                found.append(str(e) == "three of 3.0" and k == 3)
            except ZeroDivisionError:
                found.append(k == 0)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 1200 and all(found)


def test_the_source_of_a_compiled_function() -> None:
    assert total(BASE) == BASE.sum()
    assert "found += A[i, j]" in total.source(BASE)
    assert "jit of total" in repr(total)


# ---- lists of the caller -------------------------------------------------------------


def recorded(x: Any, history: Any) -> Any:
    for k in range(3):
        x = 0.5 * x
        history.append(x)
    history[0] = k
    return x


def swapped(x: Any, *, pair: Any) -> Any:
    pair[0], pair[1] = pair[1], pair[0]
    return x * pair[0]


def test_a_list_of_the_caller_that_is_changed() -> None:
    """As the function itself does, and the caller is told; not by a derivative."""
    history: list[Any] = [7.0]
    with pytest.warns(gw.CompileWarning, match="a list of the caller is changed here"):
        assert gw.jit(recorded)(8.0, history) == 1.0
    assert history == [2, 4.0, 2.0, 1.0]
    assert gw.jit(gw.grad(recorded))(8.0, history) == 0.125
    assert history == [2, 4.0, 2.0, 1.0]


def traded(x: Any, theirs: Any) -> Any:
    mine = [x]
    for _ in range(3):
        mine, theirs = theirs, mine
        mine.append(0.5)
    return x


def given_on(x: Any, theirs: Any) -> Any:
    mine = [x]
    for k in range(3):
        if k == 1:
            mine = theirs
            theirs = [x]
        mine.append(0.5)
    return x


@pytest.mark.parametrize("f", [traded, given_on])
def test_a_list_of_the_caller_that_is_changed_by_another_name(f: Any) -> None:
    wanted, found = [7.0], [7.0]
    f(8.0, wanted)
    with pytest.warns(gw.CompileWarning, match="a list of the caller is changed here"):
        gw.jit(f)(8.0, found)
    assert found == wanted


def test_an_array_in_a_list_of_the_caller_stays_itself() -> None:
    a, b = np.ones(2), np.zeros(2)
    pair = [a, b]
    f = gw.jit(swapped, backend="numpy")  # it says nothing: nobody asked for more
    for _ in range(2):
        f(3.0, pair=pair)
    assert pair[0] is a and pair[1] is b
