"""Labels while a program runs: unions, and sets written out at the end."""

from typing import Any

import numpy as np
import pytest

from gradwright.transform import following
from gradwright.transform.following import Labels, labels


def sets(run: Labels, found: Any) -> Any:
    """Labels as lists of elements, in the shape of an array."""
    flat = [e.tolist() for e in run.elements(np.ravel(found))]
    return flat if np.ndim(found) else flat[0]


def test_unions() -> None:
    run = Labels(3)
    both = run.union(1, 2)
    assert both > 3 and run.union(2, 1) == both
    assert run.union(both, 0) == run.union(0, both) == run.union(both, both) == both
    assert run.union(both, 1) == both
    assert sets(run, run.union(3, both)) == [0, 1, 2]
    assert sets(run, np.array([0, 2, both])) == [[], [1], [0, 1]]
    assert sets(run, np.array([both, run.union(3, both)])) == [[0, 1], [0, 1, 2]]


@pytest.mark.parametrize("count", [0, 1, 5, 40, 300])
def test_unions_of_few_elements_and_of_many(count: int) -> None:
    rng = np.random.default_rng(count)
    run = Labels(6)
    a = rng.integers(0, 7, count)
    for _ in range(3):
        b = rng.integers(0, 7, count)
        wanted = [
            sorted({*x, *y}) for x, y in zip(sets(run, a), sets(run, b), strict=True)
        ]
        a = run.unions(a, b)
        assert sets(run, a) == wanted


def test_a_long_chain_is_written_out_at_once() -> None:
    run = Labels(5000)
    label = 0
    for k in range(5000):
        label = run.union(label, k + 1)
    assert sets(run, label) == list(range(5000))


def test_runs_stand_one_in_another() -> None:
    with labels(2), labels(9) as inner:
        assert following.union(1, 2) == inner.union(1, 2) == 10
    with labels(2) as outer:
        assert following.union(1, np.int64(2), 0) == outer.union(1, 2) == 3
        with pytest.raises(ValueError, match="stop"), labels(9):
            raise ValueError("stop")
        assert following.union(1, 2) == 3


Y = np.zeros((2, 3))
DOT = np.arange(1, 7).reshape(2, 3)


def test_in_the_shape_of_a_value() -> None:
    with labels(6) as run:
        assert following.shaped(2.0, 1) == 1
        assert following.shaped(2.0, np.array([4])) == 4
        assert following.shaped(Y).tolist() == Y.tolist()
        found = following.shaped(Y, DOT[0], DOT[:, :1])
        assert sets(run, found)[4] == [1, 3]
        assert sets(run, following.shaped(np.zeros(2), DOT)) == [[*range(6)]] * 2
        assert sets(run, following.everything(1.0, DOT[0], 5)) == [0, 1, 2, 4]


@pytest.mark.parametrize(
    ("axis", "keepdims", "wanted"),
    [
        (None, False, [0, 1, 2, 3, 4, 5]),
        (0, False, [[0, 3], [1, 4], [2, 5]]),
        (-1, True, [[0, 1, 2], [3, 4, 5]]),
        ((0, 1), True, [[0, 1, 2, 3, 4, 5]]),
        ((), False, [[k] for k in range(6)]),
    ],
)
def test_reductions(axis: Any, keepdims: bool, wanted: Any) -> None:
    with labels(6) as run:
        y = np.sum(DOT * 1.0, axis=axis, keepdims=keepdims)
        assert sets(run, following.reduced(y, DOT, axis)) == wanted
        assert sets(run, following.reduced(np.zeros(4), DOT, 0)) == [[*range(6)]] * 4
        none = following.reduced(np.zeros(3), np.zeros((0, 3), np.int64), 0)
        assert sets(run, none) == [[], [], []]


def test_tapes_are_joined_item_by_item() -> None:
    with labels(6) as run:
        one, two, three = following.each([1, 0.0, DOT[0]], [2.0, DOT[0], DOT[1]])
        assert sets(run, one) == [0, 1]
        assert sets(run, two) == [[0], [1], [2]]
        assert sets(run, three)[2] == [2, 5]


def test_sums_over_stretched_axes() -> None:
    with labels(6) as run:
        assert sets(run, following.summed(1.0, DOT)) == [*range(6)]
        assert sets(run, following.summed(np.zeros((2, 1)), DOT))[1] == [3, 4, 5]
        assert sets(run, following.summed(np.zeros(3), DOT))[0] == [0, 3]
        assert sets(run, following.summed(np.zeros((1, 1, 1)), DOT)) == [[*range(6)]]


def test_additions_at_places_that_come_twice() -> None:
    with labels(6) as run:
        whole = np.array([1, 0, 2])
        where = following.places(whole)[[0, 2, 0]]
        found = following.added(whole, where, np.array([3, 4, 5]))
        assert sets(run, found) == [[0, 2, 4], [], [1, 3]]
        assert whole.tolist() == [1, 0, 2]
        assert sets(run, following.added(whole, where, 6))[2] == [1, 5]


# ---- elements ----------------------------------------------------------------------


def test_elements_are_moved_added_and_multiplied() -> None:
    of, factor = following.of, following.factor
    a = np.array([[1.0, 0.0], [2.0, 3.0]])
    with labels(6) as run:
        made = following.elements(a @ a, np.matmul, of(DOT[:, :2]), factor(a))
        assert sets(run, made) == [[0, 1], [1], [3, 4], [4]]
        made = following.elements(np.zeros(8), np.pad, of(DOT.ravel()), 1)
        assert sets(run, made)[:2] == [[], [0]]
        made = following.elements([Y[:1], Y[1:]], np.split, of(DOT), 2)
        assert [m.tolist() for m in made] == [[[1, 2, 3]], [[4, 5, 6]]]
        assert (
            sets(run, following.elements(1.0, np.dot, of(DOT[0]), factor(Y[0]))) == []
        )
        assert sets(run, following.elements(1.0, np.vdot, of(DOT[0]), of(DOT[1]))) == [
            *range(6)
        ]


def test_what_asks_for_more_depends_on_everything() -> None:
    of = following.of
    for f in (np.sort, np.fft.fft, np.sign, np.round, np.exp, lambda x: x.astype(bool)):
        with labels(6) as run:
            made = following.elements(Y, f, of(DOT))
            assert sets(run, made) == [[*range(6)]] * 6
    with labels(6) as run:
        made = following.elements([Y, Y], np.linalg.slogdet, [of(DOT[0]), of(1)])
        assert [sets(run, m)[0] for m in made] == [[0, 1, 2]] * 2
        made = following.elements(np.zeros(2), np.ravel, of(DOT))  # of another shape
        assert sets(run, made) == [[*range(6)]] * 2
        for f in (lambda e: e == e, lambda e: not e, hash, float):
            with pytest.raises(TypeError):
                f(of(1))
