"""NumPy's own array objects, as kernels read them."""

import ctypes

import numpy as np
import pytest

from gradwright.backends.machine import arrays, driver
from gradwright.transform.errors import BackendError


def test_where_an_array_object_holds_what() -> None:
    a = np.zeros((3, 5), np.int16)[:, ::2]

    def word(offset: int) -> int:
        return ctypes.c_int64.from_address(id(a) + offset).value

    assert word(arrays.DATA) == a.ctypes.data
    assert word(arrays.RANK) & 0xFFFFFFFF == 2
    assert word(arrays.DTYPE) == id(a.dtype)
    dims = (ctypes.c_int64 * 2).from_address(word(arrays.DIMS))
    strides = (ctypes.c_int64 * 2).from_address(word(arrays.STRIDES))
    assert tuple(dims) == a.shape and tuple(strides) == a.strides


def test_another_form_of_arrays_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    driver._check_objects()
    monkeypatch.setattr(arrays, "DATA", arrays.DTYPE)
    with pytest.raises(BackendError, match="another form"):
        driver._check_objects()
