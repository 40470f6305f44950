"""A jitted function before and after compiling."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw


def smooth(u: Any, n: int) -> Any:
    for _ in range(n):
        u = 0.5 * u + 1.0
    return np.sum(u)


def solved(L: Any, b: Any) -> Any:
    """Forward substitution: a loop whose length is the variable of another."""
    x = np.zeros_like(b)
    for i in range(len(b)):
        s = b[i]
        for j in range(i):
            s -= L[i, j] * x[j]
        x[i] = s / L[i, i]
    return x


def positive(xs: Any) -> Any:
    found = []
    for x in xs:
        if x > 0.0:
            found.append(x)
    return sum(found)


def energy(A: Any, x: Any, n: int) -> Any:
    y = x
    for _ in range(n):
        y = np.tanh(y) + x
    return np.sum(y * y)


U = np.ones(8)


def test_texts_of_every_stage() -> None:
    lowered = gw.jit(gw.grad(smooth)).lower(U, 3)
    assert "def smooth_grad(u, n):" in lowered.as_text("source")
    assert "smooth_grad(u: array of float64 with 1 axes" in lowered.as_text("core")
    loops = lowered.as_text()
    assert loops == lowered.as_text("loops")
    assert "in range(len(u)):" in loops
    assert 'define i64 @"gradwright_' in lowered.as_text("llvm")
    assert "ret" in lowered.as_text("asm")
    assert lowered.compile().as_text() == lowered.as_text("asm")
    assert repr(lowered) == "<lowered smooth_grad>"
    with pytest.raises(ValueError, match="stage is one of source, core, loops"):
        lowered.as_text("hlo")


def test_the_loops_run() -> None:
    scope: dict[str, Any] = {}
    exec(gw.jit(gw.grad(energy, argnums=1)).lower(U, U, 3).as_text("loops"), scope)
    found = scope["energy_grad"](U, U, 3)
    assert np.allclose(found, gw.grad(energy, argnums=1)(U, U, 3))


def test_the_loops_among_the_stages() -> None:
    f = gw.jit(smooth)
    assert "in range(len(u)):" in f.stages(U, 3)["loops"]
    assert f.source(U, 3, stage="loops") == f.stages(U, 3)["loops"]
    assert "loops" not in list(gw.grad(smooth).stages(U, 3))
    with pytest.raises(gw.BackendError, match="has no machine code"):
        gw.grad(smooth).source(U, 3, stage="loops")


def test_stages_show_what_runs() -> None:
    def f(x: Any) -> Any:
        x[0] = 1.0
        return x[1]

    text = gw.jit(f).stages(U.copy())["emit"]
    assert "copy" not in text and "x[0] = 1.0" in text


def test_what_was_compiled_can_be_called() -> None:
    compiled = gw.jit(smooth).lower(U, 3).compile()
    assert compiled(np.zeros(5), 1) == 5.0
    with pytest.raises(TypeError, match="u was an array of float64 with one axis, and"):
        compiled(np.zeros((2, 2)), 1)
    with pytest.raises(TypeError, match="smooth was compiled for other arguments: n"):
        compiled(U, 1.0)


def test_what_a_call_does() -> None:
    cost = gw.jit(smooth).lower(U, 10).compile().cost_analysis()
    assert cost["flops"] == 2 * 8 * 10 + 8
    assert cost["formulas"]["flops"] == "2 * len(u) * n + len(u)"
    assert cost["transcendentals"] == cost["library calls"] == 0
    assert cost["bytes read"] == 8 * (8 * 10 + 2 * 8)


def test_what_a_loop_in_a_triangle_does() -> None:
    L, b = np.eye(5), np.ones(5)
    cost = gw.jit(solved).lower(L, b).compile().cost_analysis()
    assert cost["flops"] == sum(3 * i + 1 for i in range(5))
    assert cost["formulas"]["flops"] == "3 * (len(b) - 1) * len(b) / 2 + len(b)"


def test_what_only_the_run_knows() -> None:
    cost = gw.jit(positive).lower(U).compile().cost_analysis()
    assert cost["flops"] is None
    assert cost["formulas"]["flops"]
    assert cost["bytes written"] == 64


def test_calls_of_libraries() -> None:
    A, b = np.eye(3), np.ones(3)
    cost = (
        gw.jit(lambda A, b: np.linalg.solve(A, b)).lower(A, b).compile().cost_analysis()
    )
    assert cost["library calls"] == 1
    assert cost["bytes read"] == 8 * (9 + 3)
    A, B = np.ones((40, 50)), np.ones((50, 60))
    for f, *args in ((lambda A, B: A @ B, A, B), (lambda A, B: A.T @ B, A.T.copy(), B)):
        cost = gw.jit(f).lower(*args).compile().cost_analysis()
        assert cost["flops"] == 2 * 40 * 50 * 60


def test_memory() -> None:
    compiled = gw.jit(gw.grad(energy, argnums=1)).lower(U, U, 10).compile()
    memory = compiled.memory_analysis()
    assert memory["arguments"] == 2 * 64
    assert memory["outputs"] == 64
    assert memory["tape"] == 8 * 8 * 10
    assert "max(n, 0)" in memory["formulas"]["tape"]
    assert memory["workspace"] % 64 == 0
    assert compiled.cost_analysis()["transcendentals"] == 80


def test_static_arguments_are_no_sizes() -> None:
    f = gw.jit(smooth, static_argnames="n")
    cost = f.lower(U, 3).compile().cost_analysis()
    assert cost["flops"] == 2 * 8 * 3 + 8
    assert "n" not in cost["formulas"]["flops"].replace("len", "")


def test_only_what_is_jitted_is_lowered() -> None:
    with pytest.raises(gw.BackendError, match=r"<grad of smooth, .*> is not compiled"):
        gw.grad(smooth).lower(U, 3)
