"""Sparse Jacobians: equal to the dense ones, by few sweeps, none of them missed."""

import functools
import pickle
import subprocess
import sys
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.arguments import flat
from programs import PROGRAMS, Program, wavy

Point = namedtuple("Point", "x y")
X = np.array([0.5, 2.0, -1.0, 0.25])
BOTH = [gw.jacfwd, gw.jacrev]
ALL = [gw.jacobian, *BOTH]


def blocks(jacobian: Any) -> Iterator[Any]:
    """The arrays of a sparse Jacobian, one after the other."""
    if isinstance(jacobian, tuple | list | dict):
        inside = jacobian.values() if isinstance(jacobian, dict) else jacobian
        for item in inside:
            yield from blocks(item)
    elif jacobian is not None:
        assert jacobian.format == "csr" and jacobian.has_sorted_indices
        yield jacobian


def same(f: Any, *args: Any, argnums: Any = 0, how: Any = gw.jacobian) -> Any:
    """Hold a sparse Jacobian against the dense one; the function that gives it."""
    sparse = how(f, argnums=argnums, sparse=True)
    found = list(blocks(sparse(*args)))
    for a, b in zip(found, flat(gw.jacfwd(f, argnums)(*args)), strict=True):
        wanted = np.asarray(b).reshape(a.shape)
        np.testing.assert_allclose(a.toarray(), wanted, rtol=1e-9, atol=1e-9)
    return sparse


# ---- bundle adjustment -------------------------------------------------------------


def rotated(w, p):
    angle = np.sqrt(w[0] ** 2 + w[1] ** 2 + w[2] ** 2 + 1e-12)
    k = w / angle
    c = np.cos(angle)
    return p * c + np.cross(k, p) * np.sin(angle) + k * (k @ p) * (1.0 - c)


def seen_one_by_one(cameras, points, camera_of, point_of, seen):
    out = np.zeros((len(camera_of), 2))
    for k in range(len(camera_of)):
        camera = cameras[camera_of[k]]
        p = rotated(camera[:3], points[point_of[k]]) + camera[3:6]
        u = -p[:2] / p[2]
        n = u @ u
        bent = 1.0 + n * (camera[7] + camera[8] * n)
        out[k] = camera[6] * bent * u - seen[k]
    return out


def seen_at_once(cameras, points, camera_of, point_of, seen):
    camera, p = cameras[camera_of], points[point_of]
    w = camera[:, :3]
    angle = np.sqrt(np.sum(w * w, axis=1, keepdims=True) + 1e-12)
    k = w / angle
    c = np.cos(angle)
    along = np.sum(k * p, axis=1, keepdims=True)
    p = p * c + np.cross(k, p) * np.sin(angle) + k * along * (1.0 - c)
    p = p + camera[:, 3:6]
    u = -p[:, :2] / p[:, 2:]
    n = np.sum(u * u, axis=1)
    bent = 1.0 + n * (camera[:, 7] + camera[:, 8] * n)
    return (camera[:, 6] * bent)[:, None] * u - seen


def observations(count: int, cameras: int, points: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(3)
    taken = 0.1 * rng.normal(size=(cameras, 9))
    taken[:, 5] -= 5.0
    taken[:, 6] += 500.0
    of = rng.integers(0, cameras, count), rng.integers(0, points, count)
    return taken, rng.normal(size=(points, 3)), *of, rng.normal(size=(count, 2))


@pytest.mark.parametrize("f", [seen_one_by_one, seen_at_once])
def test_bundle_adjustment(f: Any) -> None:
    args = observations(60, 4, 20)
    assert same(f, *args, argnums=(0, 1)).sweeps <= 20
    many = observations(1000, 20, 200)
    sparse = gw.jacobian(f, argnums=(0, 1), sparse=True)
    by_camera, by_point = sparse(*many)
    assert sparse.sweeps <= 20
    assert by_camera.shape == (2000, 180) and by_camera.nnz == 2000 * 9
    assert by_point.shape == (2000, 600) and by_point.nnz == 2000 * 3
    rows = [0, 777, 1999]
    cut = [a if k < 2 else a[[r // 2 for r in rows]] for k, a in enumerate(many)]
    dense = gw.jacrev(seen_at_once, argnums=(0, 1))(*cut)
    for found, wanted in zip((by_camera, by_point), dense, strict=True):
        whole = wanted.reshape(6, -1)[[0, 3, 5]]
        np.testing.assert_allclose(found[rows].toarray(), whole, rtol=1e-9, atol=1e-9)


# ---- patterns ----------------------------------------------------------------------


def bends(x):
    return np.sin(x[2:]) - 2.0 * x[1:-1] + x[:-2] ** 2


def bends_in_a_loop(x):
    y = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        y[i] = x[i - 1] * x[i] - x[i + 1]
    return y


def each(x):
    return np.exp(x) * x + 1.0


def picked(x, at):
    return x[at] * x[at[::-1]]


def gathered(x, cells):
    r = np.zeros(len(x))
    np.add.at(r, cells[:, 0], x[cells[:, 0]] - x[cells[:, 1]])
    np.add.at(r, cells[:, 1], x[cells[:, 1]] ** 2)
    return r


def counted(x, cells):
    r = np.zeros((len(x), 2))
    for i, j in cells:
        r[i, 0] += x[j]
        r[:, 1] += x[i] * x[j]
    return r


def taken_by_value(x):
    y = x.copy()
    for i in range(len(x)):
        if x[i] > 0.0:
            y[i] = x[i] * x[0]
        else:
            y[i] = 3.0
    return y


def until_small(x):
    y = x.copy()
    k = 0
    while y[0] > 0.1 and k < 3:
        y[1:] = 0.5 * y[:-1] * y[1:]
        y[0] *= 0.5
        k += 1
    return y


def all_of_it(x):
    return np.sum(x * x) * np.ones(2)


def one_number(x):
    s = 0.0
    for a in x:
        s += a * a
    return s


def through_a_list(x):
    parts = []
    for a in x:
        parts.append(a * a)
    parts.pop()
    return np.array(parts) * x[0]


def tables(x):
    t = x.reshape(2, 2).T
    return np.concatenate([t @ np.array([1.0, 0.0]), np.cumsum(t[0])])


def factors(x):
    inner = np.diag(np.array([1.0, 2.0, 0.0, 3.0]))
    return inner @ x + np.einsum("ij,j->i", inner, x * x)


def recursive(x, n):
    return x if n == 0 else recursive(x * x[::-1], n - 1)


def in_cells(x):
    a, b = 0.0, x[1]
    for k in range(4):
        a, b = b, a * x[k]
    return np.array([a, b])


def solved(x):
    return np.linalg.solve(np.eye(2) + np.outer(x[:2], x[:2]), x[2:])


AT = np.array([3, 0, 3, 1])
CELLS = np.array([[0, 1], [1, 2], [0, 1], [3, 0]])
PATTERNS: list[tuple[Any, tuple[Any, ...], int]] = [
    (bends, (wavy(30),), 3),
    (bends_in_a_loop, (wavy(30),), 3),
    (each, (wavy(5),), 1),
    (each, (np.ones((0, 3)),), 1),
    (picked, (X, AT), 2),
    (gathered, (wavy(6), CELLS), 4),
    (counted, (X, CELLS), 4),
    (taken_by_value, (X,), 2),
    (until_small, (X,), 4),
    (all_of_it, (wavy(40),), 2),
    (one_number, (wavy(40),), 1),
    (through_a_list, (X,), 2),
    (tables, (X,), 2),
    (factors, (X,), 1),
    (recursive, (X, 2), 2),
    (in_cells, (X,), 2),
    (solved, (X,), 2),
]


@pytest.mark.parametrize(
    ("f", "args", "most"), PATTERNS, ids=lambda a: getattr(a, "__name__", "")
)
def test_patterns(f: Any, args: tuple[Any, ...], most: int) -> None:
    assert same(f, *args).sweeps <= most
    for how in BOTH:
        same(f, *args, how=how)


def test_only_the_branch_that_is_taken_counts() -> None:
    sparse = gw.jacobian(taken_by_value, sparse=True)
    assert sparse(X).nnz == 5
    assert sparse(-X).nnz == 2
    assert gw.jacobian(lambda x: np.where(x > 0.0, x, x[0]), sparse=True)(X).nnz == 4


def test_zeros_of_the_run_are_not_followed_into_products() -> None:
    band = np.diag(np.ones(50)) - np.diag(np.ones(49), 1)
    assert same(lambda x: band @ x, wavy(50)).sweeps == 2


def by_floats(program: Program) -> Iterator[tuple[tuple[Any, ...], tuple[int, ...]]]:
    for sample in program.samples:
        args = tuple(sample.values())
        found = [
            k
            for k, a in enumerate(args)
            if flat(a) and all(np.asarray(x).dtype.kind == "f" for x in flat(a))
        ]
        if found:
            yield args, tuple(found)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_every_program_of_the_corpus(program: Program) -> None:
    for args, argnums in by_floats(program):
        same(program.function, *args, argnums=argnums, how=gw.jacfwd)


# ---- results -----------------------------------------------------------------------


@pytest.mark.parametrize("how", ALL)
def test_structures(how: Any) -> None:
    def f(p, scale):
        return {"pair": Point(p.x * scale["a"], None), "y": [p.y * p.y, "text"]}

    args = Point(2.0, X), {"b": 1.0, "a": 3.0}
    jac = how(f, argnums=(1, 0), sparse=True)(*args)
    assert list(jac) == ["pair", "y"] and jac["pair"].y is None
    by_scale, by_p = jac["pair"].x
    assert list(by_scale) == ["b", "a"] and type(by_p) is Point
    assert by_scale["a"].toarray().tolist() == [[2.0]]
    assert by_p.y.shape == (1, 4) and by_p.y.nnz == 0
    (first, text) = jac["y"]
    assert text == "text" and first[1].y.toarray().tolist() == np.diag(2 * X).tolist()


@pytest.mark.parametrize("how", ALL)
def test_shapes(how: Any) -> None:
    table = np.arange(6.0).reshape(2, 3)
    assert how(lambda t: t * t, sparse=True)(table).shape == (6, 6)
    assert how(lambda t: np.sum(t), sparse=True)(table).shape == (1, 6)
    assert how(lambda x: x * table, sparse=True)(2.0).shape == (6, 1)
    assert how(lambda x: x * x, sparse=True)(np.ones((0, 2))).shape == (0, 0)
    none = how(lambda x: np.ones(3), sparse=True)(X)
    assert none.shape == (3, 4) and none.nnz == 0


@pytest.mark.parametrize("how", ALL)
def test_kinds(how: Any) -> None:
    single = X.astype(np.float32)
    assert how(lambda x: x * x, sparse=True)(single).dtype == np.float32
    assert how(lambda x: x * x, sparse=True)(np.float32(2.0)).dtype == np.float32
    assert how(lambda x: x * x, sparse=True)(2.0).dtype == np.float64


def test_the_ways_to_ask() -> None:
    def f(x, *others, power=2):
        return x * others[1] ** power, {"seen": x}

    jac = gw.jacobian(f, argnums=2, has_aux=True, sparse=True)
    found, aux = jac(X, 1.0, 2.0 * X, power=3)
    assert found.toarray().tolist() == np.diag(12.0 * X**3).tolist()
    assert aux["seen"].tolist() == X.tolist()
    by_name, _ = gw.jacobian(f, argnames=("x",), has_aux=True, sparse=True)(X, 1.0, X)
    assert by_name[0].toarray().tolist() == np.diag(X**2).tolist()
    part = gw.jacobian(functools.partial(f, X), 1, True, sparse=True)
    assert part(1.0, X)[0].toarray().tolist() == np.diag(2.0 * X * X).tolist()
    twice = gw.jacobian(each, argnums=(0, 0), sparse=True)(X)
    assert (
        len(twice) == 2 and twice[0].toarray().tolist() == twice[1].toarray().tolist()
    )

    class Model:
        rate = 2.0

        @gw.jacobian(sparse=True, argnums=1)
        def run(self, x):
            return self.rate * x

        @gw.jacobian(sparse=True)
        @classmethod
        def of_class(cls, x):
            return cls.rate * x

    assert Model().run(X).toarray().tolist() == (2.0 * np.eye(4)).tolist()
    assert Model.of_class(X).toarray().tolist() == (2.0 * np.eye(4)).tolist()
    again = pickle.loads(pickle.dumps(gw.jacobian(np.sin, sparse=True)))
    np.testing.assert_allclose(again(X).toarray(), np.diag(np.cos(X)))
    assert repr(gw.jacobian(each, sparse=True)).startswith("<jacobian of each, ")


RATE = 2.0


def test_captured_numbers_are_read_at_each_call(monkeypatch: Any) -> None:
    jac = gw.jacobian(lambda x: RATE * x, sparse=True)
    assert jac(X).toarray().tolist() == (2.0 * np.eye(4)).tolist()
    monkeypatch.setitem(globals(), "RATE", 0.0)
    assert jac(X).toarray().tolist() == np.zeros((4, 4)).tolist()


def test_with_other_transforms() -> None:
    def energy(x):
        return np.sum((x[1:] - x[:-1] ** 2) ** 2)

    hessian = gw.jacobian(gw.grad(energy), sparse=True)
    dense = gw.hessian(energy)(wavy(20))
    np.testing.assert_allclose(hessian(wavy(20)).toarray(), dense)
    assert hessian.sweeps == 3
    assert same(gw.vmap(lambda u: u * u[::-1]), wavy(5, 2)).sweeps == 2

    @gw.custom_jvp
    def bent(x):
        return np.sin(x)

    bent.defjvp(lambda x, x_dot: (np.sin(x[0]), np.cos(x[0]) * x_dot[0]))
    same(lambda x: bent(x) * x[0], X)


@pytest.mark.parametrize("f", [bends_in_a_loop, all_of_it])
def test_sweeps_are_machine_code_under_jit(f: Any) -> None:
    sparse = gw.jacobian(gw.jit(f), sparse=True)
    x = wavy(30)
    np.testing.assert_allclose(sparse(x).toarray(), gw.jacrev(f)(x).reshape(-1, 30))
    assert sparse.entry.is_jitted and sparse.entry.last.forward.is_machine_code
    with gw.disable_jit():
        np.testing.assert_allclose(sparse(x).toarray(), gw.jacrev(f)(x).reshape(-1, 30))


def test_what_is_given_away_stands_for_all_sweeps() -> None:
    def changed(x):
        x[1:] = x[1:] * x[:-1]
        return x

    x = X.copy()
    wanted = gw.jacrev(changed)(X)
    found = gw.jacobian(gw.jit(changed, donate_argnums=0), sparse=True)(x)
    np.testing.assert_allclose(found.toarray(), wanted)
    np.testing.assert_allclose(gw.jacobian(changed, sparse=True)(x).toarray(), wanted)
    assert x.tolist() == X.tolist()


def test_the_source_is_that_of_the_sweep() -> None:
    sparse = gw.jacobian(bends, sparse=True)
    assert gw.source(sparse, X).startswith(
        "import numpy as np\n\n\ndef bends_jvp(x, x_"
    )
    sparse = gw.jacobian(one_number, sparse=True)
    assert sparse.sweeps == 0
    sparse(X)
    assert sparse.sweeps == 1 and "def one_number_backward(" in sparse.source()
    assert "one_number_backward" in str(sparse.stages(X))
    assert "bends_jvp" in gw.jacfwd(bends, sparse=True).source(X)
    assert "bends_backward" in gw.jacrev(bends, sparse=True).source(X)


def test_an_exception_is_the_programs_own() -> None:
    def f(x):
        if x[0] < 0.0:
            raise ValueError("below")
        return x * x

    with pytest.raises(ValueError, match="below") as caught:
        gw.jacobian(f, sparse=True)(-X)
    assert "test_sparse.py" in caught.value.__notes__[0]


# ---- what is refused ---------------------------------------------------------------


def test_inside_programs_it_is_refused() -> None:
    with pytest.raises(gw.UnsupportedSyntax, match="with these arguments"):
        gw.grad(lambda x: gw.jacobian(each, sparse=True)(x))(X)
    jac = gw.jacobian(each, sparse=True)
    for use in (gw.grad(lambda x: jac(x)), gw.jit(jac), gw.vmap(jac), gw.grad(jac)):
        with pytest.raises(gw.NotDifferentiable, match="put together at a call"):
            use(X)


def test_complex_numbers_are_refused() -> None:
    for f, holomorphic in ((lambda z: z * z, True), (lambda z: abs(z), False)):
        with pytest.raises(gw.NotDifferentiable, match="for real numbers"):
            gw.jacobian(f, holomorphic=holomorphic, sparse=True)(1.0 + 2.0j)
    with pytest.raises(gw.NotDifferentiable, match="returns real numbers"):
        gw.jacfwd(lambda x: x * 1j, sparse=True)(X)
    with pytest.raises(gw.NotDifferentiable, match="is of complex numbers"):
        gw.jacobian(each, holomorphic=True, sparse=True)(X)


def test_scipy_is_imported_at_the_call() -> None:
    program = (
        "import gradwright as gw, sys, numpy as np\n"
        "jac = gw.jacobian(np.sin, sparse=True)\n"
        "assert 'scipy' not in sys.modules and 'gradwright.sparse' not in sys.modules\n"
        "print(jac(np.zeros(2)).nnz)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert done.stdout.split() == [b"2"], done.stderr
