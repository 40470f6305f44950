"""Sparse Jacobians: what may not be zero is found first, then few sweeps give it all.

    x x .        columns 0 and 2 in one sweep of the jvp, column 1 in another; or rows,
    . x x        by the pull of a vjp, where fewer sweeps do

At a call the program runs once on sets of elements (`transform.following`): that tells
the places that may not be zero for these very arguments.  Columns that have no row in
common have one colour, and one sweep pushes all columns of a colour.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwright.arguments import flat
from gradwright.colouring import Rows, colours, colours_in, transposed
from gradwright.derived import positions
from gradwright.entry import Entry
from gradwright.pull import Half
from gradwright.specialisation import Specialisation
from gradwright.switches import SWITCHED
from gradwright.transform import following
from gradwright.transform.errors import BackendError
from gradwright.transform.step import Step
from gradwright.transform.structure import put_together, structure_of

Push = Callable[[Any], Any]  # from a flat direction to its flat derivative


class Sweeps:
    """The way to the sparse Jacobians of one function.

    by: "columns", "rows", or "" for whatever needs fewer sweeps.  last: the entry whose
    sweep the last call took, and count how often.
    """

    def __init__(self, target: Any, step: Step) -> None:
        argnums, has_aux = step.argnums, step.has_aux
        self.step = step
        asked = Step("pattern", argnums, has_aux, step.holomorphic)
        self.pattern = Entry(target, asked, compiles=False)
        self.columns = Entry(target, Step("jvp", argnums, has_aux))
        self.rows = Entry(target, Step("vjp", argnums, has_aux))
        self.by = {"jacfwd": "columns", "jacrev": "rows"}.get(step.kind, "")
        self.last = self.rows if self.by == "rows" else self.columns
        self.count = 0

    def call(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The Jacobian of a call, in its structure."""
        csr_array = _csr_array()
        chosen = _chosen(self.pattern, args, keywords)
        leaves = [x for a in chosen.values() for x in flat(a)]
        outputs, aux, rows = self._pattern(args, keywords, leaves)
        push, pull = _directions(self.by, rows, sum(map(np.size, leaves)))
        data, types = self._data(args, keywords, leaves, rows, push, pull)
        lengths = [len(r) for r in rows]
        indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        shape = len(rows), sum(map(np.size, leaves))
        whole = csr_array((data, _joined(rows), indptr), shape=shape)
        heights = _bounds(map(np.size, flat(outputs)))
        widths = _bounds(map(np.size, leaves))
        place = iter(range(len(types)))

        def row(_: Any) -> Any:
            k = next(place)
            part = whole[slice(*heights[k])]
            at = iter(range(len(leaves)))

            def block(x: Any) -> Any:
                t = types[k] if self.by == "columns" else np.asarray(x).dtype
                return part[:, slice(*widths[next(at)])].astype(t)

            found = {n: _mapped(block, a) for n, a in chosen.items()}
            made = tuple(found[n] for n in positions(self.pattern.steps[-1]))
            return made if isinstance(self.step.argnums, tuple) else made[0]

        jacobian = _mapped(row, outputs)
        return (jacobian, aux) if self.step.has_aux else jacobian

    def _pattern(
        self, args: tuple[Any, ...], keywords: dict[str, Any], leaves: list[Any]
    ) -> tuple[Any, Any, Rows]:
        """The results as labels, what stands beside them, and each row's columns."""
        entry, bound = _bound(self.pattern, args, keywords)
        dots, count = [], 0
        for x in leaves:
            numbers = np.arange(count + 1, count + 1 + np.size(x)).reshape(np.shape(x))
            dots.append(numbers if isinstance(x, np.ndarray) else int(numbers))
            count += np.size(x)
        with following.labels(count) as run, np.errstate(all="ignore"):
            found, _, out = _run(entry, bound, dots)
            outputs, aux = found.assemble(out)
            rows = run.elements(_joined(map(np.ravel, flat(outputs))))
        return outputs, aux, rows

    def _data(
        self,
        args: tuple[Any, ...],
        keywords: dict[str, Any],
        leaves: list[Any],
        rows: Rows,
        push: Any,
        pull: Any,
    ) -> tuple[Any, list[Any]]:
        """What stands in the places, row by row, and the dtype of each result."""
        self.last = self.columns if pull is None else self.rows
        entry, bound = _bound(self.last, args, keywords)
        lines = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
        columns = _joined(rows)
        if pull is None:
            sweep, types = _pushes(entry, bound, leaves)
            colour, of, at = push, columns, lines
        else:
            sweep, types = _pulls(entry, bound)
            colour, of, at = pull, lines, columns
        self.count = max(1, colours_in(colour))
        data = np.zeros(len(columns))
        order = np.argsort(colour[of], kind="stable")
        ends = np.searchsorted(colour[of][order], np.arange(1, self.count))
        for c, held in enumerate(np.split(order, ends)):
            found = sweep(colour == c)
            data = data.astype(np.result_type(data, found), copy=False)
            data[held] = found[at[held]]
        self.last.last = self.last.family.last = entry.last
        return data, types()


def _directions(by: str, rows: Rows, count: int) -> tuple[Any, Any]:
    """The colours of the columns, or those of the rows where these are fewer."""
    push = colours(rows, count) if by != "rows" else None
    if by == "columns" or (push is not None and colours_in(push) <= 1):
        return push, None
    pull = colours(transposed(rows, count), len(rows))
    if push is not None and colours_in(push) <= colours_in(pull):
        return push, None
    return None, pull


# ---- sweeps ------------------------------------------------------------------------


def _pushes(
    entry: Entry, bound: tuple[Any, ...], leaves: list[Any]
) -> tuple[Push, Callable[[], list[Any]]]:
    """The jvp of a call: from columns to the sum of these."""
    types: list[Any] = []

    def push(columns: Any) -> Any:
        found, _, out = _run(entry, bound, _apart(columns, leaves))
        dots = flat(found.assemble(out)[1])
        types[:] = [np.asarray(dot).dtype for dot in dots]
        return _joined(map(np.ravel, dots), float)

    return push, lambda: types


def _pulls(
    entry: Entry, bound: tuple[Any, ...]
) -> tuple[Push, Callable[[], list[Any]]]:
    """The pull of a call: from rows to the sum of these."""
    found, hidden, out = _run(entry, bound, [])
    every = list(out) if isinstance(out, tuple) else [out]
    results, residuals = every[: found.count], every[found.count :]
    value, _ = found.assemble(results[0] if found.count == 1 else tuple(results))
    half = Half(
        found, (), (), entry.leaves(bound), hidden, residuals, value, 0, lambda: ""
    )
    outputs = flat(value)

    def pull(rows: Any) -> Any:
        bars = half.run(_apart(rows, outputs))
        return _joined(map(np.ravel, bars), float)

    return pull, lambda: [np.asarray(y).dtype for y in outputs]


def _run(
    entry: Entry, bound: tuple[Any, ...], dots: list[Any]
) -> tuple[Specialisation, dict[str, Any], Any]:
    """What an entry's program gives for the arguments, and others behind them.

    Before that, the specialisation that ran, and the captured numbers it was given.
    """
    found, hidden = entry.find(bound)
    values = [*entry.leaves(bound), *dots]
    found, hidden = entry.fitting(found, hidden, bound, values)
    entry.last = found
    if any(step.donated for step in entry.steps):  # other sweeps need them, too
        found.apart.check(values, hidden)
        values = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
    return found, hidden, entry.run(found, values, hidden)


def _bound(
    entry: Entry, args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Entry, tuple[Any, ...]]:
    """The entry for calls of this form, and the arguments by parameter."""
    entry = entry.formed(args, keywords)
    if SWITCHED.any and entry.is_off:
        entry = entry.as_source
    return entry, entry.bind(args, keywords)


def _chosen(
    entry: Entry, args: tuple[Any, ...], keywords: dict[str, Any]
) -> dict[int, Any]:
    """The arguments that are differentiated, by position."""
    wanted = positions(entry.steps[-1])
    entry, bound = _bound(entry, args, keywords)
    parameters = entry.signature.parameters
    given: list[Any] = []
    for name, a in zip(entry.names, bound, strict=True):
        is_star = parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        given.extend(a if is_star else [a])
    return {k: given[k] for k in wanted if k < len(given)}


# ---- flat and in structure ---------------------------------------------------------


def _mapped(function: Callable[[Any], Any], a: Any) -> Any:
    """The same structure with every number and array replaced."""
    held = structure_of(a)
    if held is not None:
        items = [_mapped(function, item) for item in held.items]
        return put_together(held.kind, items, held.keys)
    return function(a) if flat(a) else a


def _apart(seed: Any, like: Sequence[Any]) -> list[Any]:
    """A flat direction as numbers and arrays of these kinds."""
    made = []
    for (start, stop), x in zip(_bounds(map(np.size, like)), like, strict=True):
        part = seed[start:stop].astype(np.asarray(x).dtype).reshape(np.shape(x))
        made.append(part if isinstance(x, np.ndarray) else type(x)(part[()]))
    return made


def _bounds(sizes: Any) -> list[tuple[int, int]]:
    """Where parts of these sizes begin and end."""
    ends = np.cumsum([0, *sizes]).tolist()
    return list(itertools.pairwise(ends))


def _joined(arrays: Any, dtype: Any = np.int64) -> Any:
    return np.concatenate([np.empty(0, dtype), *arrays])


def _csr_array() -> Any:
    try:
        from scipy.sparse import csr_array
    except ImportError:
        raise BackendError(
            "sparse=True gives arrays of SciPy, which is not installed",
            instead="pip install 'gradwright[jit]'",
        ) from None
    return csr_array
