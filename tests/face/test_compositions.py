"""Every transform of every other one, in pairs and triples, and deeper in one variable.

A chain of transforms is held to plain loops over samples, or to central differences, of
the chain without its last one; which is a chain of this test itself, or the program. So
each number goes back to programs that Python runs as they are.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gradwright as gw
from gradwright import lax

Function = Callable[..., Any]
Shape = tuple[int, ...]


# ---- programs ----------------------------------------------------------------------


def flux(u):
    if u < 0.6:
        return -u * u * u
    y = math.exp(-u)
    if u > 2.0:
        y += 0.5 * u
    return y + math.sin(u)


def halved(x):
    n, total = 0, 0.0
    while x > 0.2:
        total += x * x * x
        x = 0.5 * x - 0.01 * n
        n += 1
        if n > 30:
            break
    return total + x


def stored(x):
    out = np.zeros(3)
    for i in range(3):
        out[i] = x * (i + 1.0)
        if i > 0 and out[i] > out[i - 1]:
            out[i] -= out[i - 1] * x
    out[1:] += out[:-1]
    return np.sum(out * out)


def listed(x):
    total, ys = 0.0, []
    for k in range(3):
        ys.append(x * k + x * x)
    for y in ys:
        total += y * y
    return total


def helper(x, a):
    for _ in range(2):
        x = a * math.sin(x)
    return x


def called(x):
    return helper(x, 2.0) + helper(x, 3.0) * x


def inner_gradient(x):
    return x * gw.grad(lambda y: y**3 * x)(x)


def inner_gradient_plain(x):
    return 3.0 * x**4


def row(x):
    return np.sum(np.sin(x) * x[0])


def changed(x):
    x[0] = x[1] * x[0]
    return np.sum(x**3)


def turned(x):
    return np.tanh(np.array([[0.5, -1.0], [2.0, 0.3]]) @ x) * x[::-1]


def solved(x):
    a = np.outer(x, x) + np.diag(2.0 + x)
    return x @ np.linalg.solve(a, np.cos(x))


@gw.custom_jvp
def with_jvp(x, y):
    return np.sin(x) * y


@with_jvp.defjvp
def _(primals, tangents):
    x, y = primals
    x_dot, y_dot = tangents
    return with_jvp(x, y), np.cos(x) * y * x_dot + np.sin(x) * y_dot


@gw.custom_vjp
def with_vjp(x, y):
    return np.sin(x) * y


def with_vjp_fwd(x, y):
    return with_vjp(x, y), (x, y)


def with_vjp_bwd(kept, g):
    x, y = kept
    return g * np.cos(x) * y, g * np.sin(x)


with_vjp.defvjp(with_vjp_fwd, with_vjp_bwd)


@gw.custom_vmap
def with_vmap(x, y):
    return np.sin(x) * y


@with_vmap.def_vmap
def _(axis_size, in_batched, x, y):
    assert in_batched[0]
    return np.sin(x) * y, True


def of_jvp(x):
    return with_jvp(x * x, x) + with_jvp(x, 2.0)


def of_vjp(x):
    return with_vjp(x * x, x) + with_vjp(x, 2.0)


def of_vmap(x):
    return with_vmap(x * x, x) + with_vmap(x, 2.0)


def of_rules(x):
    return np.sin(x * x) * x + np.sin(x) * 2.0


def of_a_rule_inside(x):
    return np.sum(gw.vmap(with_vmap, (0, None))(x * x, x[0]) * x)


def of_a_rule_inside_plain(x):
    return np.sum(np.sin(x * x) * x[0] * x)


# Each collective, under its vmap, and the same on whole arrays.
def summed(x):
    return np.sum(gw.vmap(lambda a: a * a * lax.psum(np.sin(a), "i"), axis_name="i")(x))


def summed_plain(x):
    return np.sum(x * x * np.sum(np.sin(x)))


def meant(x):
    return np.sum(gw.vmap(lambda a: (a - lax.pmean(a, "i")) ** 3, axis_name="i")(x) * x)


def meant_plain(x):
    return np.sum((x - np.mean(x)) ** 3 * x)


def most(x):
    return gw.vmap(lambda a: a * lax.pmax(a * a, "i"), axis_name="i")(x)


def most_plain(x):
    return x * np.max(x * x)


def least(x):
    return np.sum(gw.vmap(lambda a: a / lax.pmin(a, "i"), axis_name="i")(x))


def least_plain(x):
    return np.sum(x / np.min(x))


def gathered(x):
    f = gw.vmap(lambda a: np.sum(lax.all_gather(a * a, "i") * a), axis_name="i")
    return np.sum(f(x) * x)


def gathered_plain(x):
    return np.sum(np.sum(x * x) * x * x)


def permuted(x):
    f = gw.vmap(lambda a: lax.ppermute(a * a, "i", [(0, 1), (1, 0)]) * a, axis_name="i")
    return np.sum(f(x) ** 2)


def permuted_plain(x):
    return np.sum((x[::-1] ** 2 * x) ** 2)


def exchanged(x):
    def f(r):
        return lax.all_to_all(r * r, "i", 0, 0)

    return np.sum(gw.vmap(f, axis_name="i")(np.outer(x, np.sin(x))) * x)


def exchanged_plain(x):
    return np.sum((np.outer(x, np.sin(x)) ** 2).T * x)


def numbered(x):
    def f(a):
        return a ** (2 + lax.axis_index("i")) * lax.axis_size("i")

    return gw.vmap(f, axis_name="i")(x)


def numbered_plain(x):
    return np.array([x[0] ** 2, x[1] ** 3]) * 2


PLAIN: dict[Function, Function] = {
    inner_gradient: inner_gradient_plain,
    of_jvp: of_rules,
    of_vjp: of_rules,
    of_vmap: of_rules,
    of_a_rule_inside: of_a_rule_inside_plain,
    summed: summed_plain,
    meant: meant_plain,
    most: most_plain,
    least: least_plain,
    gathered: gathered_plain,
    permuted: permuted_plain,
    exchanged: exchanged_plain,
    numbered: numbered_plain,
}  # what Python itself runs, where it cannot run the program
OF_NUMBERS = [
    flux, halved, stored, listed, called, inner_gradient, of_jvp, of_vjp, of_vmap,
]  # fmt: skip
TO_ARRAYS = [turned, most, numbered]
OF_ARRAYS = [
    row, changed, solved, of_a_rule_inside, summed, meant, least, gathered, permuted,
    exchanged, *TO_ARRAYS,
]  # fmt: skip
PROGRAMS = [*OF_NUMBERS, *OF_ARRAYS]
COLLECTIVES = [summed, meant, most, least, gathered, permuted, exchanged, numbered]
OF_EVERY_PAIR = [f for f in PROGRAMS if f not in COLLECTIVES]


# ---- transforms --------------------------------------------------------------------

FORWARD = {"jvp", "jacfwd", "hessian"}
ORDER = {"vmap": 0, "jit": 0, "hessian": 2}
NAMES = [
    "grad", "value_and_grad", "jvp", "vjp", "jacfwd", "jacrev", "hessian", "vmap",
    "jit",
]  # fmt: skip


class Chain:
    """Transforms of a program, innermost first, with the shapes that go in and out.

    outs: the shapes of the results, two of value_and_grad.
    """

    def __init__(self, f: Function, names: tuple[str, ...], backend: Any) -> None:
        self.names, self.inner = names, None
        if not names:
            self.function = f
            self.given: Shape = () if f in OF_NUMBERS else (2,)
            self.outs: tuple[Shape, ...] = ((2,) if f in TO_ARRAYS else (),)
            return
        self.inner = inner = chain_of(f, names[:-1], backend)
        g, name, given, outs = inner.function, names[-1], inner.given, inner.outs
        self.given = (2, *given) if name == "vmap" else given
        self.outs = {
            "grad": (given,),
            "value_and_grad": ((), given),
            "jvp": outs,
            "vjp": (given,),
            "jacfwd": tuple((*o, *given) for o in outs),
            "jacrev": tuple((*o, *given) for o in outs),
            "hessian": tuple((*o, *given, *given) for o in outs),
            "vmap": tuple((2, *o) for o in outs),
            "jit": outs,
        }[name]
        self.function = _applied(name, g, given, outs, backend)


def _applied(
    name: str, g: Function, given: Shape, outs: tuple[Shape, ...], backend: Any
) -> Function:
    if name == "jit":
        return gw.jit(g, backend=backend)  # type: ignore[no-any-return]
    along = np.ones(given)[()]
    bars = tuple(np.ones(o)[()] for o in outs)
    bar = bars if len(outs) > 1 else bars[0]
    if name == "jvp":
        return lambda x: gw.jvp(g, (x,), (along,))[1]
    if name == "vjp":
        return lambda x: gw.vjp(g, x)[1](bar)[0]
    return getattr(gw, name)(g)  # type: ignore[no-any-return]


@functools.cache
def chain_of(f: Function, names: tuple[str, ...], backend: Any) -> Chain:
    """A chain, each one made once."""
    return Chain(f, names, backend)


def makes_sense(f: Function, names: Sequence[str]) -> bool:
    """By type: a gradient is of one number, a Hessian of one result.

    A function with a vjp of the user's has no forward mode. No order is above three.
    """
    if f is of_vjp and FORWARD & {*names}:
        return False
    if sum(ORDER.get(n, 1) for n in names) > 3:
        return False
    for k, name in enumerate(names):
        outs = chain_of(f, tuple(names[:k]), "numpy").outs
        if name in ("grad", "value_and_grad") and outs != ((),):
            return False
        if name == "hessian" and len(outs) > 1:
            return False
    return True


# ---- what is expected --------------------------------------------------------------


def expected(chain: Chain, f: Function, x: Any) -> tuple[Any, ...]:
    """Loops or differences of the chain without its last transform."""
    assert chain.inner is not None
    name, g = chain.names[-1], chain.inner.function
    if not chain.inner.names:
        g = PLAIN.get(f, f)

    def run(x: Any) -> tuple[Any, ...]:
        return flat(g(np.array(x)[()]))

    if name == "jit":
        return run(x)
    if name == "vmap":
        return tuple(np.stack(parts) for parts in zip(*map(run, x), strict=True))
    if name == "hessian":
        return differences(lambda x: differences(run, x, 3e-4), x, 3e-4)
    columns = differences(run, x, 1e-6)
    axes = tuple(range(-np.ndim(x), 0))
    if name == "value_and_grad":
        return (*run(x), *columns)
    if name == "jvp":
        return tuple(np.sum(c, axis=axes) for c in columns)
    if name == "vjp":
        rows = (np.sum(c, axis=tuple(range(c.ndim - np.ndim(x)))) for c in columns)
        return (sum(rows),)
    return columns


def differences(f: Function, x: Any, step: float) -> tuple[Any, ...]:
    """Central differences of each result, the axes of the argument behind its own."""
    parts = []
    for at in np.ndindex(np.shape(x)):
        d = np.zeros(np.shape(x))
        d[at] = step
        pairs = zip(f(x + d), f(x - d), strict=True)
        parts.append([(a - b) / (2.0 * step) for a, b in pairs])
    return tuple(
        np.stack(columns, axis=-1).reshape(np.shape(columns[0]) + np.shape(x))
        for columns in zip(*parts, strict=True)
    )


def flat(a: Any) -> tuple[Any, ...]:
    return a if isinstance(a, tuple) else (a,)


def argument(shape: Shape) -> Any:
    return (0.45 + 0.31 * np.arange(math.prod(shape)).reshape(shape))[()]


def hold(f: Function, names: tuple[str, ...], backend: Any) -> None:
    chain = chain_of(f, names, backend)
    x = argument(chain.given)
    found = flat(chain.function(np.array(x)[()]))
    assert tuple(map(np.shape, found)) == chain.outs
    near = 2e-4 if names[-1] == "hessian" else 2e-6
    for a, b in zip(found, expected(chain, f, x), strict=True):
        scale = 1.0 + float(np.max(np.abs(b)))
        assert_allclose(a, b, atol=near * scale, rtol=0, err_msg=f"{f} {names}")


# ---- in every order ----------------------------------------------------------------


def of_length(length: int) -> Iterator[tuple[str, ...]]:
    return itertools.product(NAMES, repeat=length)


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f: Function) -> None:
    x = argument(chain_of(f, (), "numpy").given)
    jitted = gw.jit(f, backend="numpy")
    assert_allclose(jitted(np.array(x)[()]), PLAIN.get(f, f)(np.array(x)[()]))


@pytest.mark.parametrize("f", OF_EVERY_PAIR)
def test_pairs(f: Function) -> None:
    for names in [*of_length(1), *of_length(2)]:
        if makes_sense(f, names):
            hold(f, names, "numpy")


def test_pairs_of_collectives() -> None:
    """Each transform with each of them, and each pair with one of them, in turns."""
    for f, names in itertools.product(COLLECTIVES, of_length(1)):
        if makes_sense(f, names):
            hold(f, names, "numpy")
    waiting = itertools.cycle(COLLECTIVES)
    for names in of_length(2):
        f = next(waiting)
        if makes_sense(f, names):
            hold(f, names, "numpy")


@pytest.mark.parametrize("last", NAMES)
def test_triples(last: str) -> None:
    """Each triple with one program, in turns."""
    waiting = itertools.cycle(PROGRAMS)
    for names in of_length(3):
        f = next(waiting)
        if names[-1] == last and makes_sense(f, names):
            hold(f, names, "numpy")


@pytest.mark.parametrize("name", ["grad", "vmap"])
def test_pairs_in_machine_code(name: str) -> None:
    waiting = itertools.cycle([of_vmap, turned, stored, summed, flux, of_jvp])
    for other in NAMES:
        names = (name, other, "jit")
        f: Function = next(waiting)
        if makes_sense(f, names):
            hold(f, names, None)


# ---- the fourth order --------------------------------------------------------------


def quintic(x):
    y = 1.0
    for _ in range(5):
        y = y * x
    return y


def kept(x):
    powers = np.zeros(6)
    powers[0] = 1.0
    for k in range(5):
        powers[k + 1] = powers[k] * x
    return powers[5]


def by_halves(x):
    y, n = 1.0, 5
    while n > 0:
        if n % 2 == 1:
            y *= x
        x, n = x * x, n // 2
    return y


@gw.custom_jvp
def fifth(x):
    return x**5


@fifth.defjvp
def _(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return fifth(x), 5.0 * x**4 * x_dot


def ruled(x):
    return with_all(x) * x


@gw.custom_vmap
def with_all(x):
    return x**4


@with_all.def_vmap
def _(axis_size, in_batched, x):
    return x * x * x * x, True


FIRST = ["grad", "jvp", "vjp", "jacfwd", "jacrev"]
FIFTH = [quintic, kept, by_halves, fifth, ruled]


def of_one(name: str, f: Function) -> Function:
    """The derivative of a function of one number."""
    derivative = INSIDE[name]
    return lambda x: derivative(f, x)


@pytest.mark.parametrize("first", FIRST)
def test_the_fourth_order_in_one_variable(first: str) -> None:
    """Every pair round every pair of one kind: the fourth derivative of x**5."""
    waiting = itertools.cycle(FIFTH)
    for second, third in itertools.product(FIRST, repeat=2):
        f: Function = next(waiting)
        others = (second, third, second)
        for name in (first, *others):
            f = of_one(name, f)
        assert f(0.7) == pytest.approx(120.0 * 0.7, rel=1e-12), (first, others)


@pytest.mark.parametrize("f", FIFTH)
def test_the_fourth_order_for_all_samples(f: Function) -> None:
    xs = np.array([0.7, 1.5, -1.0])
    fourth = gw.vmap(gw.grad(gw.jacfwd(gw.hessian(f))))
    assert_allclose(fourth(xs), 120.0 * xs)
    assert_allclose(gw.jit(fourth)(xs), 120.0 * xs)

    def total(xs):
        return np.sum(gw.vmap(gw.grad(gw.grad(f)))(xs))

    assert_allclose(gw.hessian(total)(xs), np.diag(120.0 * xs), atol=1e-12)


# ---- perturbations are told apart ----------------------------------------------------

INSIDE: dict[str, Function] = {
    "grad": lambda f, x: gw.grad(f)(x),
    "jvp": lambda f, x: gw.jvp(f, (x,), (1.0,))[1],
    "vjp": lambda f, x: gw.vjp(f, x)[1](1.0)[0],
    "jacfwd": lambda f, x: gw.jacfwd(f)(x),
    "jacrev": lambda f, x: gw.jacrev(f)(x),
    "vmap": lambda f, x: gw.vmap(gw.grad(f))(np.array([1.0, 1.0]) * x)[1],
}


@pytest.mark.parametrize("outer", FIRST)
@pytest.mark.parametrize("inner", INSIDE)
def test_what_the_inner_derivative_captures(outer: str, inner: str) -> None:
    derivative = INSIDE[inner]

    def f(x):
        return x * derivative(lambda y: x + y, 1.0)

    def g(x):
        return x * derivative(lambda y: x * y * y, x)

    for program, expected in ((f, 1.0), (g, 6.0 * 1.5**2)):
        found = of_one(outer, program)(1.5)
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("outer", FIRST)
def test_three_of_them(outer: str) -> None:
    for middle, inner in itertools.product([*INSIDE.values()][:4], repeat=2):

        def f(x, middle=middle, inner=inner):
            return x * middle(lambda y: y * inner(lambda z: x * y * z, y), x)

        assert of_one(outer, f)(1.5) == pytest.approx(6.0 * 1.5**2)
