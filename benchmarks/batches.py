"""Many samples and whole Jacobians, compiled: what they cost, beside JAX where it is.

    OMP_NUM_THREADS=1 taskset -c 0 python benchmarks/batches.py

Both run in one process, in turns, and each figure is the median of several calls. JAX
needs a number of trips that is known before: where samples loop as often as they like,
it makes the most of all for each, and drops what is too much.
"""

import importlib.util
import statistics
import time

import numpy as np
from rich.console import Console
from rich.table import Table

import gradwright as gw

CALLS = 15
MOST = 100
rng = np.random.default_rng(0)


# ---- the programs ------------------------------------------------------------------


def hares(animals, rates, steps):
    """Hares and lynxes by Runge and Kutta's method: the hares squared, and lynxes."""
    x, y, dt = animals[0], animals[1], 0.02
    a, b, c, d = rates[0], rates[1], rates[2], rates[3]
    for _ in range(steps):
        k1, l1 = x * (a - b * y), y * (d * x - c)
        u, w = x + 0.5 * dt * k1, y + 0.5 * dt * l1
        k2, l2 = u * (a - b * w), w * (d * u - c)
        u, w = x + 0.5 * dt * k2, y + 0.5 * dt * l2
        k3, l3 = u * (a - b * w), w * (d * u - c)
        u, w = x + dt * k3, y + dt * l3
        k4, l4 = u * (a - b * w), w * (d * u - c)
        x = x + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        y = y + dt / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4)
    return x * x + y


def swung(angle, steps):
    """A pendulum, each for as long as it likes."""
    speed = 0.0
    for _ in range(steps):
        speed = speed - 0.1 * np.sin(angle)
        angle = angle + 0.1 * speed
    return angle


def layer(x, w):
    return np.tanh(w @ x) * np.sin(x)


def energy(x, w):
    return np.sum(np.tanh(w @ np.sin(x)) ** 2)


def valley(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def peers():
    """The same in JAX: functions of the same arguments, by name."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def rates_of(z, rates):
        x, y = z
        return jnp.stack([x * (rates[0] - rates[1] * y), y * (rates[3] * x - rates[2])])

    def hares(z, rates, steps):
        def step(_, z):
            k1 = rates_of(z, rates)
            k2 = rates_of(z + 0.01 * k1, rates)
            k3 = rates_of(z + 0.01 * k2, rates)
            k4 = rates_of(z + 0.02 * k3, rates)
            return z + 0.02 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

        z = jax.lax.fori_loop(0, steps, step, z)
        return z[0] * z[0] + z[1]

    def swung(angle, steps):
        def step(state, trip):
            angle, speed = state
            later = speed - 0.1 * jnp.sin(angle)
            moved = angle + 0.1 * later
            goes_on = trip < steps
            state = jnp.where(goes_on, moved, angle), jnp.where(goes_on, later, speed)
            return state, None

        return jax.lax.scan(step, (angle, 0.0), jnp.arange(MOST))[0][0]

    def layer(x, w):
        return jnp.tanh(w @ x) * jnp.sin(x)

    def energy(x, w):
        return jnp.sum(jnp.tanh(w @ jnp.sin(x)) ** 2)

    def valley(x):
        return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    several = jax.vmap(jax.grad(hares, (0, 1)), (0, 0, None))
    made = {
        "hares": jax.jit(several, static_argnums=2),
        "swung": jax.jit(jax.vmap(jax.grad(swung))),
        "jacrev": jax.jit(jax.jacrev(layer)),
        "jacfwd": jax.jit(jax.jacfwd(layer)),
        "hessian": jax.jit(jax.hessian(energy)),
        "hessian of a band": jax.jit(jax.hessian(valley)),
    }
    return {name: waiting(jax, f) for name, f in made.items()}


def waiting(jax, f):
    """A function whose results are there when it returns."""
    return lambda *args: jax.block_until_ready(f(*args))


X, W = rng.normal(size=100), rng.normal(size=(100, 100)) / 10
ANIMALS, RATES = rng.uniform(0.5, 1.5, (10_000, 2)), rng.uniform(0.5, 1.5, (10_000, 4))
ANGLES, STEPS = rng.normal(size=10_000), rng.integers(0, MOST, 10_000)

# By name: ours, the arguments, and the most that it may take of JAX's time.
CASES = {
    "hares": (gw.vmap(gw.grad(hares, (0, 1)), (0, 0, None)), (ANIMALS, RATES, 20), 0.3),
    "swung": (gw.vmap(gw.grad(swung)), (ANGLES, STEPS), 0.3),
    "jacrev": (gw.jacrev(layer), (X, W), 1.0),
    "jacfwd": (gw.jacfwd(layer), (X, W), 1.0),
    "hessian": (gw.hessian(energy), (X, W), 1.0),
    "hessian of a band": (gw.hessian(valley), (X,), 1.0),
}


# ---- the measurement ---------------------------------------------------------------


def medians(functions, args):
    """Milliseconds of a call of each, in turns."""
    times = [[] for _ in functions]
    for f in functions:
        f(*args)
    for _ in range(CALLS):
        for f, spent in zip(functions, times, strict=True):
            start = time.perf_counter()
            f(*args)
            spent.append((time.perf_counter() - start) * 1e3)
    return [statistics.median(spent) for spent in times]


def main():
    theirs = peers() if importlib.util.find_spec("jax") else {}
    table = Table("compiled", "ms", "JAX", "ratio", "budget", "")
    for column in table.columns[1:5]:
        column.justify = "right"
    for name, (f, args, budget) in CASES.items():
        functions = [gw.jit(f), *([theirs[name]] if theirs else [])]
        found = medians(functions, args)
        row = [name, f"{found[0]:.3f}"]
        if theirs:
            ratio = found[0] / found[1]
            verdict = "[green]within" if ratio <= budget else "[red]over"
            row += [f"{found[1]:.3f}", f"{ratio:.3f}", f"{budget:g}", verdict]
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
