"""The loops of lowered programs, as tests/golden/loops holds them."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles, texts

import gradwright as gw

PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {}


def wavy(*shape: int) -> Any:
    return np.sin(1.0 + 1.7 * np.arange(float(math.prod(shape)))).reshape(shape)


def program(*args: Any, of: Any = lambda f: f) -> Any:
    """Register a function, or what a transform makes of it."""

    def register(f: Any) -> Any:
        PROGRAMS[f.__name__] = (of(f), args)
        return f

    return register


@program(wavy(5, 6), 3, of=gw.grad)
def stencil(u, steps):
    u, v = u.copy(), u.copy()
    for _ in range(steps):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u, v = v, u
    return np.sum(u * u)


@program(wavy(4, 3), wavy(8, 3), wavy(8, 2), of=lambda f: gw.grad(f, (1, 2)))
def gated(xs, W, U):
    h = np.zeros(2)
    c = np.zeros(2)
    for x in xs:
        z = W @ x + U @ h
        i, f, o, g = z[:2], z[2:4], z[4:6], z[6:]
        c = c / (1.0 + np.exp(-f)) + np.tanh(g) / (1.0 + np.exp(-i))
        h = np.tanh(c) / (1.0 + np.exp(-o))
    return np.sum(h * h)


@program(wavy(3, 4), wavy(4, 2), of=lambda f: gw.grad(f, (0, 1)))
def product(a, b):
    return np.sum(np.tanh(a @ b))


@program(wavy(70), np.arange(70) % 4, of=lambda f: gw.vmap(gw.grad(f)))
def swing(angle, steps):
    """Samples side by side, each of its own length."""
    speed = 0.0
    for _ in range(steps):
        speed = speed - 0.1 * np.sin(angle)
        angle = angle + 0.1 * speed
    return angle


@program(wavy(3, 4), of=gw.grad)
def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    return -np.sum(np.log(p[:, 0]))


@program(wavy(4, 3), np.abs(wavy(4)) + 0.5, of=gw.grad)
def bodies(x, m):
    energy = 0.0
    for i in range(len(m)):
        for j in range(i):
            d = x[i] - x[j]
            energy -= m[i] * m[j] / math.sqrt(np.sum(d * d) + 0.01)
    return energy


@program(wavy(5))
def prefix_sums(x):
    s = np.zeros(len(x) + 1)
    for k in range(len(x)):
        s[k + 1] = s[k] + x[k]
    return s


@program(wavy(3, 3) @ wavy(3, 3).T + 3.0 * np.eye(3), of=gw.grad)
def cholesky(a):
    n = a.shape[0]
    low = np.zeros((n, n))
    for j in range(n):
        s = a[j, j] - np.sum(low[j, :j] ** 2)
        low[j, j] = math.sqrt(s)
        for i in range(j + 1, n):
            low[i, j] = (a[i, j] - np.sum(low[i, :j] * low[j, :j])) / low[j, j]
    return np.sum(np.log(np.diagonal(low)))


@program(wavy(4, 2), 0.9 * np.eye(2), wavy(2), of=lambda f: gw.grad(f, 1))
def filtered(ys, F, x):
    P = np.eye(2)
    loss = 0.0
    for y in ys:
        x = F @ x
        P = F @ P @ F.T + 0.1 * np.eye(2)
        K = P @ np.linalg.inv(P + 0.5 * np.eye(2))
        r = y - x
        x = x + K @ r
        P = P - K @ P
        loss = loss + np.sum(r * r)
    return loss


@program(np.array([0.5, 0.2, -0.1, 0.3]))
def durbin(r):
    n = len(r)
    y = np.zeros(n)
    y[0] = -r[0]
    alpha, beta = -r[0], 1.0
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        alpha = -(r[k] + np.sum(r[:k][::-1] * y[:k])) / beta
        y[:k] = y[:k] + alpha * y[:k][::-1]
        y[k] = alpha
    return y


@program(wavy(6), of=gw.grad)
def masked(x):
    y = x[x > 0.0]
    return np.sum(y * y) + np.sum(np.where(x < 0.0, np.exp(x), 0.0))


@program(wavy(4), 3)
def listed(x, n):
    xs = []
    for k in range(n):
        xs.append(math.sin(x[k]))
    return np.array(xs) * 2.0


@program(0.4, 5, of=gw.grad)
def until(x, n):
    k = 0
    while k < n and x < 3.0:
        x = x + math.sin(x) * 0.5
        k += 1
    return x


@pytest.mark.parametrize("name", PROGRAMS)
def test_loops(name: str, golden: Callable[[str, str], None]) -> None:
    f, args = PROGRAMS[name]
    lines = "\n\n".join(texts(f, *args)).splitlines()
    kept = [line for line in lines if "# test_loops.py" not in line]
    golden(f"loops/{name}.py", "\n".join(kept) + "\n")


def test_no_golden_is_left_over() -> None:
    kept = sorted((Path(__file__).parent / "golden" / "loops").glob("*.py"))
    assert [p.stem for p in kept if p.stem not in PROGRAMS] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str) -> None:
    """As loops and as machine code, what the uncompiled program gives."""
    f, args = PROGRAMS[name]
    assert_compiles(f, *args)
