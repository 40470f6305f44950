"""Views, arrays that are passed twice, and stores into them, behave as in NumPy."""

import numpy as np
import pytest
from semantics.oracle import check

import gradwright as gw


def product(a, b):
    s = 0.0
    for k in range(len(a)):
        s += a[k] * b[-1 - k]
    return s


def test_one_array_passed_twice() -> None:
    xs = np.array([1.0, 2.0, 4.0])
    first, second = check(product, xs, xs)
    assert first.tolist() == second.tolist() == [4.0, 2.0, 1.0]
    assert not np.shares_memory(first, second)


def test_overlapping_arguments() -> None:
    xs = np.array([1.0, 2.0, 4.0, 8.0])
    first, second = check(product, xs[1:], xs[:-1])
    assert first.tolist() == [4.0, 2.0, 1.0]
    assert second.tolist() == [8.0, 4.0, 2.0]


def test_an_argument_that_is_also_captured() -> None:
    xs = np.array([1.0, 2.0, 4.0])

    def f(a):
        return product(a, xs)

    assert gw.grad(f)(xs).tolist() == [4.0, 2.0, 1.0]


def test_two_names_of_one_array() -> None:
    def f(xs):
        ys = xs
        zs = ys[1:]
        return np.sum(xs * xs) + np.sum(ys) * zs[0]

    (gradient,) = check(f, np.array([1.0, 2.0, 4.0]))
    assert gradient.tolist() == [4.0, 13.0, 10.0]


@pytest.mark.parametrize(
    "part",
    [
        lambda xs: xs[1:],
        lambda xs: xs[:-1],
        lambda xs: xs[::2],
        lambda xs: xs[::-1],
        lambda xs: xs[::-1][1:-1],
        lambda xs: xs[-2:1:-1],
        lambda xs: xs[1:100],
        lambda xs: xs[3:1],
        lambda xs: xs[...],
        lambda xs: xs[None, 1:],
        lambda xs: xs[1:, None],
    ],
)
def test_views_and_views_of_views(part) -> None:
    def f(xs):
        ys = part(xs)
        return np.sum(ys * ys) + 3.0 * np.sum(part(xs * xs))

    check(f, np.array([1.0, 2.0, 3.0, 5.0, 7.0]))


def test_rows_and_columns() -> None:
    def f(table):
        row, column = table[1], table[:, 0]
        corner = table[:2, 1:]
        return row[0] * np.sum(column) + corner[0, -1] ** 2 * table[-1, -1]

    check(f, np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]))


def test_a_view_that_is_kept_over_the_trips_of_a_loop() -> None:
    def f(table):
        row, s = table[0], 0.0
        for k in range(1, len(table)):
            s += row[0] * table[k, 1]
            row = table[k]
        return s + row[1]

    check(f, np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))


def test_buffers_that_change_places() -> None:
    def f(a, b, n):
        for _ in range(n):
            a, b = b, a * 2.0
        return a[0] * b[1]

    for n in range(4):
        check(f, np.array([1.0, 2.0]), np.array([3.0, 5.0]), n)


@pytest.mark.parametrize("layout", ["C", "F"])
def test_the_layout_makes_no_difference(layout: str) -> None:
    def f(table):
        s = 0.0
        for row in table:
            s = s * 0.5 + row[0] * row[-1]
        return s

    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], order=layout)
    (gradient,) = check(f, table)
    assert gradient.tolist() == [[0.5, 0.25], [2.0, 1.5], [6.0, 5.0]]
    check(f, table[::-1])
    check(f, table.T[:, :2])


# ---- stores --------------------------------------------------------------------------


def stored_into(xs):
    xs[0] = 2.0 * xs[1]
    return np.sum(xs * xs)


def test_a_parameter_that_is_stored_into_is_copied_first() -> None:
    xs = np.array([1.0, 2.0, 3.0])
    assert gw.grad(stored_into)(xs).tolist() == [0.0, 20.0, 6.0]
    assert gw.jvp(stored_into, (xs,), (np.ones(3),))[1] == 26.0
    assert gw.vjp(stored_into, xs)[1](1.0)[0].tolist() == [0.0, 20.0, 6.0]
    assert xs.tolist() == [1.0, 2.0, 3.0]
    assert "copy" in gw.grad(stored_into).source(xs)


def test_an_array_that_is_changed_in_place() -> None:
    def f(xs):
        ys = xs * 2.0
        ys += 1.0
        ys **= 2.0
        return np.sum(ys * xs)

    check(f, np.array([1.0, 2.0, 3.0]))


def test_stores_through_views() -> None:
    def f(xs):
        ys = xs * 1.0
        tail = ys[1:]
        tail[0] = 5.0 * xs[0]
        ys[2] *= tail[0]
        return np.sum(ys * ys) * tail[1]

    check(f, np.array([1.0, 2.0, 3.0]))


def test_overlapping_slices() -> None:
    def f(xs):
        ys = xs * 1.0
        ys[1:] += ys[:-1]
        ys[:-1] *= ys[::-1][1:]
        return np.sum(ys * ys)

    check(f, np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("mode", ["grad", "jvp", "vjp"])
def test_a_stored_parameter_may_not_overlap_another(mode: str) -> None:
    captured = np.array([1.0, 2.0, 3.0])

    def f(xs, ys):
        xs[0] = ys[1]
        return np.sum(xs * ys)

    def g(xs):
        xs[0] = captured[1]
        return np.sum(xs * captured)

    def call(f, *args):
        if mode == "jvp":
            return gw.jvp(f, args, args)
        return gw.grad(f)(*args) if mode == "grad" else gw.vjp(f, *args)

    for function, args in (
        (f, (captured, captured)),
        (f, (captured[1:], captured[:-1])),
        (g, (captured,)),
    ):
        with pytest.raises(gw.AliasError, match="'xs' is stored into, and shares"):
            call(function, *args)
    call(f, captured, captured.copy())
    call(f, captured[:1].repeat(3), captured)
    call(g, captured.copy())


def changed_behind(xs, how):
    """What NumPy sees through a second name, a snapshot does not: it is refused."""
    ys = xs * 1.0
    seen = how(ys)
    ys[1] = 5.0 * xs[0]
    return np.sum(seen * seen)


@pytest.mark.parametrize(
    "how",
    [
        lambda ys: ys,
        lambda ys: ys[1:],
        lambda ys: ys[::-1][1:],
        lambda ys: ys.T,
        lambda ys: ys.reshape(-1),
        lambda ys: np.ravel(ys),
        lambda ys: np.asarray(ys),
        lambda ys: ys.conj(),
        lambda ys: np.split(ys, 2)[1],
        lambda ys: np.einsum("i->i", ys),
        lambda ys: np.broadcast_to(ys, (2, 4)),
        lambda ys: (ys, ys)[1],
        lambda ys: ys if ys[0] > 0.0 else ys * 2.0,
        lambda ys: np.array(ys),
        lambda ys: ys.astype(float),
        lambda ys: np.conj(ys),
        lambda ys: ys[ys > 0.0],
        lambda ys: ys.copy(),
        lambda ys: +ys,
    ],
)
def test_a_second_name_shows_what_was_stored_or_is_refused(how) -> None:
    xs = np.array([1.0, 2.0, 3.0, 4.0])
    try:
        value, gradient = gw.value_and_grad(lambda xs: changed_behind(xs, how))(xs)
    except gw.AliasError:
        assert np.shares_memory(how(xs), xs)
        return
    assert value == changed_behind(xs, how)
    moved = xs + 1e-6 * np.eye(4)[0]
    assert np.isclose(gradient[0], (changed_behind(moved, how) - value) / 1e-6, 1e-4)
