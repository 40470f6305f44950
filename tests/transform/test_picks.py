"""Arrays of indices: which axes they are of, and whether they name a place twice."""

import math

import numpy as np
import pytest

from gradwright.transform.core import At, Index, NewAxis, Pick, Span, Value, Whole
from gradwright.transform.indices import linear
from gradwright.transform.picks import may_repeat, picked_axes, picked_first
from gradwright.transform.types import array

CUBE = np.arange(120.0).reshape(2, 3, 4, 5)
LINE = np.array([1, 0, 1])
MASK = np.ones((3, 4), dtype=bool)


def pick(a: np.ndarray, distinct: bool = False) -> Pick:
    return Pick(Value("places", array(a.dtype, a.shape)), distinct)


AT, ALL = (At(linear(1)), 1), (Span(), slice(None))
NEW, REST = (NewAxis(), None), (Whole(), ...)
P = (pick(LINE), LINE)
P2 = (pick(LINE[:, None]), LINE[:, None])
M = (pick(MASK), MASK)
INDICES = [
    (P,),
    (ALL, P),
    (P, P),
    (ALL, P, P),
    (P, ALL, P),
    (AT, P),
    (AT, ALL, P),
    (P, ALL, AT),
    (REST, P),
    (REST, P, ALL),
    (P, REST, P),
    (NEW, ALL, P2),
    (P, NEW, P),
    (REST, NEW, P),
    (ALL, M),
    (ALL, M, ALL),
]


@pytest.mark.parametrize("parts", INDICES)
def test_where_the_axes_of_the_places_stand(parts) -> None:
    """Along them the coordinates of places change, along the others those of slices."""
    index: Index = tuple(item for item, _ in parts)
    plain = tuple(item for _, item in parts)
    t = array(float, CUBE.shape)
    first, rank = picked_first(t, index)
    for axis, coordinates in enumerate(np.indices(CUBE.shape)):
        picked = coordinates[plain]
        moved = np.moveaxis(picked, range(first, first + rank), range(rank))
        table = moved.reshape(math.prod(moved.shape[:rank]), -1)
        if axis in picked_axes(t, index):
            assert np.array_equal(table, np.repeat(table[:, :1], table.shape[1], 1))
        else:
            assert np.array_equal(table, np.repeat(table[:1], len(table), 0))


@pytest.mark.parametrize(
    ("index", "wanted"),
    [
        ((Span(), At(linear(0))), False),
        ((pick(LINE),), True),
        ((pick(LINE, distinct=True),), False),
        ((pick(MASK),), False),
        ((pick(LINE), pick(LINE, distinct=True)), False),
        ((pick(LINE[:, None]), pick(LINE, distinct=True)), True),  # it is stretched
    ],
)
def test_whether_a_place_may_come_twice(index: Index, wanted: bool) -> None:
    assert may_repeat(index) is wanted
