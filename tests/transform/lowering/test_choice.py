"""What is asked at run time of lengths: which one is stretched, what does not go."""

from typing import Any

import numpy as np
import pytest
from lowered import assert_compiles

X = np.array([0.7, -1.3, 2.1, 0.4])


def added(x, a, b):
    return x[a:] * 2.0 + x[b:]


def stored(x, a, b):
    y = x.copy()
    y[a:] = x[b:] * 2.0
    return y


@pytest.mark.parametrize("f", [added, stored])
@pytest.mark.parametrize(("a", "b"), [(1, 1), (3, 0), (0, 3), (1, 2), (4, 3), (4, 4)])
def test_lengths_meet(f: Any, a: int, b: int) -> None:
    assert_compiles(f, X, a, b)
