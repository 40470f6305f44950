"""Stores into arrays: value, gradient and jvp are those of NumPy's array."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from semantics.oracle import check, differences, near

import gradwright as gw

X = np.array([0.7, -0.35, 1.2, 0.51])
A = np.array([[0.3, 0.8, -0.2], [0.6, -0.7, 0.25], [1.1, 0.15, 0.35]])


def prefix_sums(x):
    s = np.zeros(len(x))
    s[0] = x[0]
    for i in range(1, len(x)):
        s[i] = s[i - 1] * 0.5 + np.sin(x[i]) * s[i - 1]
    return np.sum(s**2)


def gauss_seidel(x, n):
    u = x.copy()
    for _ in range(n):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) + 0.1 * u[i] ** 2
    return np.sum(u * u)


def negative_steps(x):
    y = x * x
    y[::-1] = x * y[0]
    y[3:0:-1] *= x[:3]
    y[2:0:-1] -= y[2:0:-1] * x[0]
    return np.sum(y * x)


def views_of_views(x):
    y = x * x
    inner = y[1:]
    inner[0] = x[0] * inner[1]
    part = inner[1]
    inner[1] = part * x[1]
    return np.sum(inner * x[1:]) + y[1] * part


def a_view_outlives_a_store(x):
    y = x * 1.0
    tail = y[1:]
    squares = tail * tail
    y[1:] = squares
    tail += x[0]
    return np.sum(tail * squares)


def operators(x):
    y = np.exp(x)
    y **= 2
    y /= x[2]
    y -= x
    y += y[::-1]
    y[0] /= y[1]
    y[1:3] **= 2.0
    y[2] -= y[3]
    return np.sum(y * x)


def of_itself(x):
    y = x * 1.0
    y[:] += y[:] * y[2]
    y[1:] -= x[1:] * y[1]
    return np.sum(y * y)


def masks(x):
    y = x * 1.0
    y[x > 0.6] = x[0] * x[0]
    y[y < 0.0] *= 3.0 * x[1]
    y[~(y < 0.4)] += y[1]
    return np.sum(y**3)


def a_mask_of_what_it_changes(x):
    y = x * 1.0
    for k in range(3):
        y[y > 0.4] *= x[k]
    return np.sum(y * y)


def an_index_from_what_it_changes(x):
    y = x * 1.0
    for _ in range(3):
        k = np.argmax(y)
        y[k] = y[k] * 0.3 * x[1]
    return np.sum(y * x)


def a_branch_that_stores(x, n):
    y = np.ones(3)
    for k in range(n):
        if x[k % len(x)] > 0.0:
            y[k % 3] += x[k % len(x)] ** 2
        else:
            y[(k + 1) % 3] = y[k % 3] * x[0]
            if k > 4:
                break
    return y[0] * y[1] + y[2]


def a_while_loop(x):
    y = x * 1.0
    while y[0] < 50.0:
        y[0] *= 2.0 * x[2]
        y[1] += y[0]
    return y[1] * y[0]


def sums_of_what_was_read_before(x):
    y = x * 1.0
    s = 0.0
    for k in range(3):
        s += y[k] * x[k] ** 2
    for k in range(3):
        y[x > 0.6] += x[k]
    return np.sum(y * y) * s


def arrays_into_rows(x):
    rows = np.zeros((5, 4))
    total = 0.0
    for t in range(4):
        rows[t + 1] = np.tanh(rows[t] * x[t] + x)
        total += rows[t + 1] @ x
    rows[:, 1] *= rows[-1, 0]
    rows[2] = x[0]
    return total + np.sum(rows * rows)


def an_overwritten_element(x):
    y = x * 1.0
    a = y[0] * y[1]
    y[0] = 3.0 * x[1]
    b = y[0] * a * y[0]
    y[0] = b
    return y[0] * a * b


def a_swap(x):
    y = x * x
    for k in range(2):
        t = y[k]
        y[k] = y[-1 - k] * x[0]
        y[-1 - k] = t
    y[0], y[1] = y[1] * y[0], y[0]
    return np.sum(y * x)


def cholesky(a):
    a = a @ a.T + 4.0 * np.eye(3)
    n = len(a)
    lower = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= lower[i, k] * lower[j, k]
            lower[i, j] = np.sqrt(s) if i == j else s / lower[j, j]
    return np.sum(np.log(np.diag(lower))) + lower[-1, 0]


def elimination(a):
    b = a @ a.T + 4.0 * np.eye(3)
    for k in range(3):
        for i in range(k + 1, 3):
            f = b[i, k] / b[k, k]
            b[i, k:] -= f * b[k, k:]
            b[i, k] = f
    return np.sum(b * b)


def made_by_a_helper(x):
    def squares(x):
        y = np.ones(4)
        y[1:] = x[1:] * x[:-1]
        return y

    y = squares(x)
    y[2] = y[1] ** 2
    z = squares(y)
    return np.sum(y * z)


def numbers_of_another_dtype(x):
    y = np.arange(4)
    y[1] += 3
    z = np.zeros(4, dtype=complex)
    z[0] = x[0] + 1j * x[1]
    z[1:] = y[1:] * x[1:]
    z *= 1j * x[2]
    return np.sum(np.abs(z) ** 2) + np.sum(z.imag * x)


def parts_of_parts(x):
    y = x * 2.0
    inner = y[1:-1]
    odd = y[::-1][::2]
    for k in range(len(inner)):
        inner[k] = inner[k] ** 2 + y[k]
    odd[1:] *= inner[0]
    return np.sum(y * y) + odd[0]


def rows_of_a_vector(x):
    y = np.sin(x)
    table = y.reshape(2, 2)
    table[1] += table[0] ** 2
    table.T[1] = table[:, 0] * x[1]
    y.ravel()[2] *= 3.0
    np.flip(y)[1:] *= y[1:]
    y[:, None][3] *= 2.0
    return np.sum(table * np.array([[1.0, 2.0], [3.0, 4.0]])) * y[1]


def columns_as_rows(a):
    b = a * 2.0
    b.T[0] = b.T[1] ** 2
    turned = np.swapaxes(b, 0, 1)
    turned[1] *= turned[0]
    b[None][0, 2] = b[1] * b[0]
    return np.sum(b * b) + turned[2, 0]


def flattened(x):
    y = x.flatten()
    y[2] = y[1] * x[2]
    return np.sum(y * y) + x[2]


def interior(u):
    return u[1:-1]


def scaled(u, c):
    u *= c


def smoothed(u, w):
    for i in range(1, len(u) - 1):
        u[i] = w * u[i] + (1.0 - w) * u[i - 1] * u[i + 1]
    return u


def mixed_up(u, v):
    u[0] = v[1] * 2.0
    v[2] = u[0] ** 2


def helpers_that_store(x):
    y = x.copy()
    middle = interior(y)
    middle[:] = middle**2
    scaled(middle, 2.0)
    smoothed(y, 0.3)
    smoothed(y[::-1], x[0])
    return np.sum(y * y)


def one_array_twice_for_a_helper(x):
    y, z = x * 1.0, x * 2.0
    mixed_up(y, y)
    mixed_up(z, y)
    mixed_up(y[::-1], z[1:])
    return np.sum(y * z)


def results_that_are_arguments(x):
    a = smoothed(x * 2.0, 0.3)
    b = smoothed(np.sin(x), 0.2)
    c = smoothed(a, 0.1)
    c[0] = a[2] * 3.0
    return np.sum(a * b) + c[0]


def a_closure_that_stores(x):
    y = np.zeros(len(x))

    def step(k):
        y[k] = x[k] * y[k - 1] + 1.0

    for k in range(1, len(x)):
        step(k)
    return np.sum(y * y)


def a_second_name(x):
    z = x * 1.0
    y = z
    y[0] = 2.0 * z[1]
    return np.sum(y * z * x)


def a_value_of_length_one(x):
    y = x * 1.0
    y -= np.diff(y**2)
    return np.sum(y * y)


def the_run_knows_what_is_stretched(x, k):
    y = x * 1.0
    y[k:] = np.sin(y[:k])
    return np.sum(y * y)


def numbers_beside_places(x):
    b = x * 1.0
    b[0][::-2, [3, 0]] *= 0.7
    b[1][None, np.arange(3) > 0] *= b[0, 0, 0]
    return np.sum(b * b)


def places_in_views(x):
    places = np.array([2, 0, 2, 1])
    y = np.concatenate([x, x * 2.0])
    y[::-1][places] = x**2
    y[1:][places] *= x[0]
    y.reshape(2, 4)[[0, 0], [1, 1]] = x[1:3] * y[0]
    return np.sum(y * y)


def halves_of_what_changes(x):
    y = x * 1.0
    low, high = np.split(y, 2)
    t = np.sin(low) * np.cos(high)
    y *= y
    return np.sum(t * y[:2])


def changes_its_argument(x):
    x[0] = x[1] * x[2]
    x[1:] *= x[0]
    return np.sum(x**2)


def derivatives_of_what_changes_its_argument(x):
    y = x * 1.0
    y[0] = 2.0
    slope = gw.grad(changes_its_argument)(y)
    value, change = gw.jvp(changes_its_argument, (x,), (y,))
    return np.sum(slope * y) + value * change


def arrays_in_lists_and_dicts(x):
    a, b = x * 1.0, x * 2.0
    pair = [a, b]
    tank = {"low": np.zeros(4), "high": x**2}
    for u in pair:
        u[0] = u[1] ** 2
    pair[0][1] = pair[1][0] * tank["high"][2]
    a[2] *= b[1]
    tank["low"][1] = tank["high"][0]
    tank["high"][:] *= a
    return np.sum(pair[0] * pair[1]) + np.sum(tank["low"] + tank["high"])


def rows_of_a_loop(a):
    b = a * 1.0
    for row in b:
        row /= np.sum(row**2)
    for k, row in enumerate(b):
        row[0] += b[k - 1, 1]
    for one, other in zip(b, b[::-1]):
        one *= other
    return np.sum(b * a)


def a_view_without_axes(x):
    a = x[:1] * x[1]
    one = np.squeeze(a)
    one[()] *= np.cos(x[0])
    one[...] += x[1] ** 2
    one += one * x[2]
    return np.sum(a**2)


def axes_in_front_of_what_is_stored(x):
    y, a = x * x, np.outer(x, x)
    y[1:] = np.sin(x[:1])[None, None]
    a[0] = np.cos(x)[None, None]
    a[1:, 1] = np.exp(x)[None, 1:]
    a[[2, 1], [0, 0]] = x[None, :2]
    return np.sum(y * x) + np.sum(a * a)


def a_flat_view_stored_into_rows(x):
    y = np.outer(x, x)[::-1].copy()
    row, column = np.argsort(-x)[:, None], np.argsort(x)
    at = np.broadcast_to(row, y.shape), np.broadcast_to(column, y.shape)
    y.T[at[0].ravel(), at[1].ravel()] = np.squeeze(y.reshape(-1)[None], axis=0)
    return np.sum(y * np.arange(y.size).reshape(y.shape))


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (prefix_sums, (X,)),
    (gauss_seidel, (X, 0)),
    (gauss_seidel, (X, 3)),
    (negative_steps, (X,)),
    (views_of_views, (X,)),
    (a_view_outlives_a_store, (X,)),
    (operators, (X,)),
    (of_itself, (X,)),
    (masks, (X,)),
    (a_mask_of_what_it_changes, (X,)),
    (an_index_from_what_it_changes, (X,)),
    (a_branch_that_stores, (X, 0)),
    (a_branch_that_stores, (X, 7)),
    (a_while_loop, (X,)),
    (sums_of_what_was_read_before, (X,)),
    (arrays_into_rows, (X,)),
    (an_overwritten_element, (X,)),
    (a_swap, (X,)),
    (cholesky, (A,)),
    (elimination, (A,)),
    (made_by_a_helper, (X,)),
    (numbers_of_another_dtype, (X,)),
    (parts_of_parts, (X,)),
    (rows_of_a_vector, (X,)),
    (columns_as_rows, (A,)),
    (flattened, (X,)),
    (helpers_that_store, (X,)),
    (one_array_twice_for_a_helper, (X,)),
    (results_that_are_arguments, (X,)),
    (a_closure_that_stores, (X,)),
    (a_second_name, (X,)),
    (a_value_of_length_one, (X[:2],)),
    (the_run_knows_what_is_stretched, (X, 1)),
    (the_run_knows_what_is_stretched, (X, 2)),
    (numbers_beside_places, (np.sin(np.arange(24.0).reshape(2, 3, 4)),)),
    (places_in_views, (X,)),
    (halves_of_what_changes, (X,)),
    (derivatives_of_what_changes_its_argument, (X,)),
    (arrays_in_lists_and_dicts, (X,)),
    (rows_of_a_loop, (A,)),
    (a_view_without_axes, (X,)),
    (axes_in_front_of_what_is_stored, (X,)),
    (a_flat_view_stored_into_rows, (X,)),
]
NAMES = [f.__name__ for f, _ in PROGRAMS]


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=NAMES)
def test_against_differences(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    kept = args[0].copy()
    check(f, *args)
    assert np.array_equal(args[0], kept)


SECOND = [p for p in PROGRAMS if p[0] is not numbers_of_another_dtype]


@pytest.mark.parametrize(("f", "args"), SECOND, ids=[f.__name__ for f, _ in SECOND])
def test_second_order(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    x, others = args[0], args[1:]

    def along(x):
        return np.sum(gw.grad(f)(x, *others) * x)

    gradient = gw.grad(along)(x)
    slope = differences(along, (x,), (np.ones_like(x),))
    near(np.sum(gradient), slope, 1e-5, "second order and differences")


def test_a_repeated_store_keeps_the_last() -> None:
    def f(x):
        y = np.zeros(2)
        for k in range(len(x)):
            y[k % 2] = x[k] ** 2
        return y[0] + 3.0 * y[1]

    gradient = gw.grad(f)(X)
    assert np.array_equal(gradient, [0.0, 0.0, 2.0 * X[2], 6.0 * X[3]])


def test_an_index_out_of_bounds_raises_as_in_numpy() -> None:
    def f(x):
        y = x * 1.0
        y[4] = 1.0
        return np.sum(y)

    with pytest.raises(IndexError):
        gw.grad(f)(X)


def test_an_empty_array_is_filled() -> None:
    def table(x):
        rows = np.empty((len(x), 2))
        for i in range(len(x)):
            rows[i] = np.array([x[i], x[i] ** 2])
        return np.sum(rows * rows)

    np.testing.assert_allclose(gw.grad(table)(X), 2.0 * X + 4.0 * X**3)

    def filled(x):
        y = np.empty_like(x)
        y[:] = 3.0
        return np.sum(y * x)

    np.testing.assert_array_equal(gw.grad(filled)(X), np.full_like(X, 3.0))


def test_a_hessian_through_sweeps_in_place() -> None:
    """Forward over reverse, where what an array begins with does not vary."""

    def membrane(load):
        u = np.zeros(len(load) + 2)
        for _ in range(2):
            for i in range(1, len(load) + 1):
                u[i] = 0.5 * (u[i - 1] + u[i + 1]) + load[i - 1] - 0.05 * u[i] ** 3
            u[1:-1] *= 1.0 + 0.1 * load
        return np.sum(u**2)

    h = 1e-5
    slope = gw.grad(membrane)
    rows = [(slope(X + h * e) - slope(X - h * e)) / (2 * h) for e in np.eye(len(X))]
    np.testing.assert_allclose(gw.hessian(membrane)(X), rows, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("f", "args"), SECOND, ids=[f.__name__ for f, _ in SECOND])
def test_the_hessian_is_of_one_sweep_at_a_time(
    f: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    """No trip over the unit vectors sees what another has stored."""
    slope, x = gw.grad(f), args[0]
    units = np.eye(x.size).reshape(x.size, *x.shape)
    columns = [gw.jvp(lambda x: slope(x, *args[1:]), (x,), (e,))[1] for e in units]
    found = np.moveaxis(gw.hessian(f)(*args).reshape(*x.shape, x.size), -1, 0)
    np.testing.assert_allclose(found, columns, rtol=1e-9, atol=1e-9)


# ---- flat names of arrays that lie in memory row by row ----------------------------


def part_of_zeros(X):
    y = np.zeros(X.shape)
    y.ravel()[1:4] = X[0] * X[1]
    return np.sum(y * y * X)


def named_and_read_back(X):
    y = (X.T * 2.0).T.copy()
    r = y.reshape(-1)
    r[2] = r[1] * r[0]
    r[3:] += r[:3]
    return np.sum((y.T @ y).T @ X.T @ X)


def in_a_loop_by_number(X):
    y = np.zeros((2, 3))
    r = y.ravel()
    for k in range(6):
        r[k] = X[k // 3, k % 3] ** 2 + (r[k - 1] if k else 0.0)
    return np.sum(y * X)


def of_a_part(X):
    y = np.ones((2, 2, 3))
    y[1].ravel()[2:5] = X[0]
    y[0:1].reshape(3, 2)[1] = X[1, :2]
    return np.sum(y * y * X)


def of_a_range(X):
    y = np.arange(6.0).reshape(2, 3)
    y[0] = X[1]
    y.ravel()[4] = X[1, 1] * X[0, 2]
    return np.sum(y * y * X)


def by_picks(X):
    y = np.array([[X[0, 0], X[0, 1]], [X[1, 0], 1.0]])
    y.reshape(-1)[[0, 2]] = X[0, :2] * X[1, 1]
    y.ravel()[y.ravel() > 0.9] *= X[0, 1]
    np.add.at(y.ravel(), [0, 0, 3], X[0] * X[1])
    return np.sum(y * y * X[0, 0])


def in_a_helper(X):
    def put(y, v):
        y.ravel()[1:4] = v

    y = X.T.copy()
    put(y, X[0] * X[1])
    return np.sum(y * y * X.T)


FLAT = [
    part_of_zeros, named_and_read_back, in_a_loop_by_number, of_a_part, of_a_range,
    by_picks, in_a_helper,
]  # fmt: skip


@pytest.mark.parametrize("f", FLAT)
@pytest.mark.parametrize("order", ["C", "F"])
def test_flat_names(f: Callable[..., Any], order: str) -> None:
    """However the arrays lie in memory that come in."""
    X = np.array([[0.7, -0.35, 1.2], [0.51, -0.8, 0.25]], order=order)
    direction = np.array([[0.3, -1.1, 0.7], [0.4, 0.2, -0.6]], order=order)
    check(f, X)

    def slope(X):
        return np.sum(gw.grad(f)(X) * direction)

    check(slope, X, exact=False)


def test_a_cotangent_that_lies_otherwise() -> None:
    def f(X):
        y = np.zeros((2, 3))
        y.ravel()[1:4] = X[0] * X[1]
        return y

    X = np.array([[0.7, -0.35, 1.2], [0.51, -0.8, 0.25]])
    bars = [gw.vjp(f, X)[1](np.array(X, order=order))[0] for order in "CF"]
    assert np.array_equal(*bars)
    dots = [gw.jvp(f, (X,), (np.array(X, order=order),))[1] for order in "CF"]
    assert np.array_equal(*dots)


def it_is_an_argument(X):
    X.ravel()[1:4] = X[0]
    return np.sum(X)


def it_is_laid_out_like_another(X):
    y = np.copy(X)
    y.ravel()[1:4] = X[0]
    return np.sum(y)


def it_is_bound_anew(X):
    y = X.copy()
    for _ in range(2):
        y = (y.T * 2.0).T
        y.ravel()[1:4] = X[0]
    return np.sum(y)


def it_is_a_column(X):
    y = X.copy()
    y[:, 1].ravel()[1:] = X[0, 0]
    return np.sum(y)


def it_is_turned(X):
    y = X.copy()
    y.T.ravel()[1:4] = X[0]
    return np.sum(y)


@pytest.mark.parametrize(
    "f",
    [
        *(it_is_an_argument, it_is_laid_out_like_another, it_is_bound_anew),
        *(it_is_a_column, it_is_turned),
    ],
)
def test_a_flat_name_that_may_be_of_a_copy_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(gw.GradwrightError, match="ravel"):
        gw.grad(f)(np.ones((2, 3)))


def test_a_store_into_one_array_or_another_is_refused() -> None:
    def f(x):
        u, w = x * 1.0, x * 2.0
        v = u if x[0] > 0.0 else w
        v[0] = x[1]
        return np.sum(u * w)

    with pytest.raises(gw.AliasError, match="one array or another") as caught:
        gw.grad(f)(X)
    assert "v = u if x[0] > 0.0 else w" in str(caught.value)


@pytest.mark.parametrize("part", [lambda y: y[::-1], lambda y: y[None, ::-1][0]])
def test_a_part_of_an_array_stored_under_a_mask_of_it_is_refused(part: Any) -> None:
    def f(x, copied):
        y = x * x
        y[y > 0.0] = np.copy(part(y)) if copied else part(y)
        return np.sum(y * x)

    check(lambda x: f(x, True), X)
    with pytest.raises(gw.AliasError, match="under a mask") as caught:
        gw.grad(lambda x: f(x, False))(X)
    assert "y[y > 0.0] = " in str(caught.value)


def an_array_into_an_element(y, x):
    y[0, 0] = x


def a_number_at_too_many_places(y, x):
    y[0, 0, 0] = x[0]


def rows_under_a_mask(y, x):
    y[y > 0.5] = x[None]


def a_sum_with_more_axes(y, x):
    np.add(x[None, None], 1.0, out=y)


def a_product_with_more_axes(y, x):
    y[0] *= x[None]


def a_difference_with_more_axes(y, x):
    y[0, 1:] -= x[None, 1:]


@pytest.mark.parametrize(
    "store",
    [
        an_array_into_an_element, a_number_at_too_many_places, rows_under_a_mask,
        a_sum_with_more_axes, a_product_with_more_axes, a_difference_with_more_axes,
    ],
)  # fmt: skip
def test_stores_that_numpy_refuses(store: Any) -> None:
    def f(x):
        y = np.outer(x, x)
        store(y, x)
        return np.sum(y * x)

    with pytest.raises(Exception) as numpys:
        f(X)
    for run in (gw.grad(f), gw.jit(f), gw.jit(gw.grad(f))):
        with pytest.raises(numpys.type):
            run(X)


def test_what_does_not_change_is_read_once() -> None:
    def f(x):
        y = x * 1.0
        y[0] = x[1]
        length = np.sqrt(np.dot(y, y))
        y /= length
        return np.sum(y * y * x)

    gradient = gw.grad(f)
    check(f, X)
    gradient(X)
    assert gradient.source().count(".copy()") == 1
