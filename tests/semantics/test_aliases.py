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


def raised(values):
    values[0] *= 2.0


def by_a_subscript(xs, ys):
    xs[0] = ys[1]


def by_an_operator(xs, ys):
    xs *= 2.0


def through_a_view(xs, ys):
    inner = xs[::-1][1:]
    inner[0] = ys[0]


def under_another_name(xs, ys):
    other = xs
    other[:2] += ys[0]


def by_a_helper(xs, ys):
    raised(xs)


def at_places(xs, ys):
    np.add.at(xs, [0, 0], ys[1])


def as_an_output(xs, ys):
    np.multiply(ys, 2.0, out=xs)


def by_copying(xs, ys):
    np.copyto(xs, 0.5, where=ys > 1.5)


def by_filling(xs, ys):
    xs.fill(2.0)


def by_sorting(xs, ys):
    xs[1:].sort()


def in_a_loop(xs, ys):
    for k in range(1, len(ys)):
        xs[k] = 0.5 * xs[k - 1]


def in_a_branch(xs, ys):
    if ys[0] < 0.0:
        xs[0] = 1.0


CHANGED = [
    by_a_subscript,
    by_an_operator,
    through_a_view,
    under_another_name,
    by_a_helper,
    at_places,
    as_an_output,
    by_copying,
    by_filling,
    by_sorting,
    in_a_loop,
    in_a_branch,
]
MODES = {
    "grad": lambda f, *args: gw.grad(f)(*args),
    "value_and_grad": lambda f, *args: gw.value_and_grad(f)(*args),
    "jvp": lambda f, *args: gw.jvp(f, args, args),
    "vjp": lambda f, *args: gw.vjp(f, *args),
    "linearize": lambda f, *args: gw.linearize(f, *args),
    "jacfwd": lambda f, *args: gw.jacfwd(f)(*args),
    "jacrev": lambda f, *args: gw.jacrev(f)(*args),
    "hessian": lambda f, *args: gw.hessian(f)(*args),
    "inside": lambda f, *args: gw.grad(lambda *args: np.sum(gw.grad(f)(*args)))(*args),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("change", CHANGED, ids=lambda f: f.__name__)
def test_two_arrays_that_overlap(change, mode: str) -> None:
    """Whatever changes a parameter, in whatever transform."""

    def f(xs, ys):
        change(xs, ys)
        return np.sum(xs * ys)

    base = np.array([1.0, 3.0, 2.0, 4.0, 0.5])
    kept = base.copy()
    call = MODES[mode]
    for xs, ys in ((base, base), (base[1:], base[:-1]), (base[::-1], base)):
        with pytest.raises(gw.AliasError, match="is stored into, and shares memory"):
            call(f, xs, ys)
    call(f, base, kept)
    call(f, base[:2], base[2:4].copy())
    assert base.tolist() == kept.tolist()


def one_step(ws, gs):
    for w, g in zip(ws, gs, strict=True):
        w -= 0.1 * g
    return np.sum(ws[0] * ws[1])


def by_position(ws, gs):
    for i in range(len(ws)):
        ws[i] *= gs[i]
        ws[i][1:] += ws[i - 1][0]
    return np.sum(ws[0] * ws[1])


def unpacked(ws, gs):
    a, b = ws
    a[0] = b[1]
    return np.sum(ws[0] * ws[1] * gs[0])


def in_a_dict(ws, gs):
    params = {"w": ws, "g": gs}
    for k in range(3):
        params["w"][0][k] = params["g"][1][k] * params["w"][1][k - 1]
    return np.sum(ws[0] * ws[1])


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("f", [one_step, by_position, unpacked, in_a_dict])
def test_arrays_of_a_structure_are_copied_first(f, kind) -> None:
    """The caller's stay as they are, and none may be two of them."""
    xs = np.array([1.0, 3.0, 2.0, 0.5])
    given = [kind([xs, 2.0 * xs]), kind([xs[::-1].copy(), xs**2])]
    if f is by_position and kind is tuple:
        with pytest.raises(gw.UnsupportedSyntax, match="a tuple of 2"):
            gw.grad(f)(*given)
        return
    gw.check_grads(f, tuple(given))
    assert xs.tolist() == [1.0, 3.0, 2.0, 0.5]
    with pytest.raises(gw.AliasError, match=r"'ws\[0\]' is stored into, and shares"):
        gw.grad(f)(kind([xs, xs]), given[1])
    with pytest.raises(gw.AliasError, match=r"'ws\[0\]' is stored into, and shares"):
        gw.grad(f)(given[0], kind([xs, xs]))


def test_arrays_that_overlap_in_a_structure() -> None:
    def f(xs, params):
        xs[0] *= 2.0
        return np.sum(xs * params["b"][0])

    xs = np.array([1.0, 2.0])
    with pytest.raises(gw.AliasError, match="is stored into, and shares memory"):
        gw.grad(f)(xs, {"a": 1.0, "b": [xs]})
    assert gw.grad(f)(xs, {"a": 1.0, "b": [xs * 1.0]}).tolist() == [2.0, 2.0]


# ---- lists ---------------------------------------------------------------------------


def appends(xs, ys):
    xs.append(2.0 * ys[0])


def pops(xs, ys):
    xs.pop()


def sets_an_item(xs, ys):
    xs[0] = ys[1]


def sets_a_slice(xs, ys):
    xs[1:] = [3.0, ys[0]]


def grows(xs, ys):
    xs += ys


def appends_in_a_loop(xs, ys):
    for k in range(len(ys)):
        xs.insert(k, ys[k] ** 2)


def changes_an_alias(xs, ys):
    zs = xs
    zs.reverse()


def hands_it_to_a_helper(xs, ys):
    raised(xs)


LISTS = [
    appends,
    pops,
    sets_an_item,
    sets_a_slice,
    grows,
    appends_in_a_loop,
    changes_an_alias,
    hands_it_to_a_helper,
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("change", LISTS, ids=lambda f: f.__name__)
def test_one_list_for_two_arguments(change, mode: str) -> None:
    """A list that is changed is no other argument, and no part of one."""

    def f(xs, ys):
        change(xs, ys)
        return sum(xs) * sum(ys)

    def g(pair, ys):
        change(pair[0], ys)
        return sum(pair[0]) * sum(ys)

    xs = [1.0, 2.0]
    call = MODES[mode]
    if mode == "inside":
        call = lambda f, *args: gw.jvp(lambda *a: gw.jvp(f, a, a)[1], args, args)  # noqa: E731
    for h, args in (
        (f, (xs, xs)),
        (g, ((xs, 1.0), xs)),
        (g, ((xs, [3.0, xs]), [1.0, 2.0])),
    ):
        with pytest.raises(gw.AliasError, match="is changed, and is the same list"):
            call(h, *args)
    call(f, xs, [1.0, 2.0])
    call(g, (xs, 1.0), [1.0, 2.0])
    assert xs == [1.0, 2.0]


CAPTURED = [1.0, 2.0]


def test_a_list_that_is_also_captured() -> None:
    def f(xs):
        xs.append(xs[0])
        return sum(xs) * sum(CAPTURED)

    assert gw.grad(f)([1.0, 2.0]) == [6.0, 3.0]
    with pytest.raises(gw.AliasError, match="'xs' is changed, and is the same list"):
        gw.grad(f)(CAPTURED)


def test_one_list_that_is_only_read() -> None:
    def f(xs, ys):
        zs = xs[:]
        zs.append(ys[0])
        zs += ys
        return sum(zs) * sum(ys)

    xs = [1.0, 2.0]
    assert gw.grad(f)(xs, xs) == gw.grad(f)(xs, [1.0, 2.0]) == [3.0, 3.0]


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
