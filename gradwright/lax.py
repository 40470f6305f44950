"""Collectives, under JAX's names: what the samples of a vmap ask of one another.

>>> import numpy as np
>>> import gradwright as gw
>>> share = gw.vmap(lambda x: x / gw.lax.psum(x, "i"), axis_name="i")
>>> share(np.array([1.0, 3.0]))
array([0.25, 0.75])
"""

from __future__ import annotations

from typing import Any

from gradwright.transform.errors import UnsupportedSyntax


def psum(x: Any, axis_name: Any) -> Any:
    """The sum over all samples.

    Args:
        x: A number, an array, or a structure of them.
        axis_name: The name of the vmap's axis.

    Raises:
        UnsupportedSyntax: It is called outside of a vmap with this axis.
    """
    raise _outside("psum", axis_name)


def pmean(x: Any, axis_name: Any) -> Any:
    """The mean over all samples; arguments as for `psum`."""
    raise _outside("pmean", axis_name)


def pmax(x: Any, axis_name: Any) -> Any:
    """The largest over all samples, element by element; arguments as for `psum`."""
    raise _outside("pmax", axis_name)


def pmin(x: Any, axis_name: Any) -> Any:
    """The smallest over all samples, element by element; arguments as for `psum`."""
    raise _outside("pmin", axis_name)


def all_gather(x: Any, axis_name: Any, axis: int = 0) -> Any:
    """The values of all samples, along a new axis."""
    raise _outside("all_gather", axis_name)


def ppermute(x: Any, axis_name: Any, perm: Any) -> Any:
    """The value of another sample; zero where none is sent.

    Args:
        x: A number, an array, or a structure of them.
        axis_name: The name of the vmap's axis.
        perm: Pairs of a source and a destination, known in advance.
    """
    raise _outside("ppermute", axis_name)


def all_to_all(x: Any, axis_name: Any, split_axis: int, concat_axis: int) -> Any:
    """One part of every sample: the k-th of sample i goes to sample k as the i-th.

    Args:
        x: An array with as many parts along `split_axis` as there are samples.
        axis_name: The name of the vmap's axis.
        split_axis: The axis whose parts are sent.
        concat_axis: The axis along which those that are received come to lie.
    """
    raise _outside("all_to_all", axis_name)


def axis_index(axis_name: Any) -> int:
    """The number of the sample."""
    raise _outside("axis_index", axis_name)


def axis_size(axis_name: Any) -> int:
    """How many samples there are."""
    raise _outside("axis_size", axis_name)


def _outside(name: str, axis_name: Any) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"{name} over the axis {axis_name!r}, and there is no vmap with this axis_name",
        instead=f"vmap(..., axis_name={axis_name!r}) round the function that calls it",
    )


for _collective in (
    psum, pmean, pmax, pmin, all_gather, ppermute, all_to_all, axis_index, axis_size,
):  # fmt: skip
    vars(_collective)["__gradwright_kind__"] = _collective.__name__
