"""The caller's lists get what a compiled function has put into them.

For a function that appends to `history` and returns a number it is

    def hand_back(out, own):
        result = out[0]
        new = [*out[1:]]
        own[0][:] = new
        return result

where `own` is what the caller gave.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwright.handed import Handed
from gradwright.results import Writer
from gradwright.transform.specialise.abstract import Static
from gradwright.transform.specialise.handing_back import Changed, Own, WayTo
from gradwright.transform.structure import Structure, is_namedtuple


class HandBack:
    """What is done with the results of a function that has changed lists."""

    def __init__(self, result: Any, changed: Sequence[Changed]) -> None:
        """The structure of the user's result, and the lists.

        Their operands are the function's results, in this order.
        """
        writer = _Writer()
        texts = [writer.expression(result), *map(writer.items, changed)]
        self.build = eval(f"lambda out, own: ({', '.join(texts)},)", writer.names)
        self.count = writer.count
        self.ways = writer.ways
        self.changed = list(changed)

    def __call__(self, out: Any, given: dict[str, Any]) -> Any:
        """The user's result; the lists among the arguments are changed by then."""
        own = [_at(given, way) for way in self.ways]
        lists = [_at(given, c.way) for c in self.changed]
        result, *found = self.build((out,) if self.count == 1 else out, own)
        for xs, new, c in zip(lists, found, self.changed, strict=True):
            _change(xs, new, c.depth, c.is_new)
        return result


def _at(given: dict[str, Any], way: WayTo) -> Any:
    """What the caller gave, at the end of a way."""
    a = given[way[0]]
    for label in way[1:]:
        a = getattr(a, label) if is_namedtuple(type(a)) else a[label]
    return a


def _change(xs: list[Any], new: list[Any], depth: int, is_new: bool) -> None:
    """Let a list, and those in it, hold what they hold now."""
    if depth > 1:
        for inner, other in zip(xs, new, strict=False):
            _change(inner, other, depth - 1, is_new)
    elif is_new:
        xs[:] = new
    xs += new[len(xs) :]


class _Writer(Writer):
    """Writes expressions of results and of what the caller gave."""

    def __init__(self) -> None:
        super().__init__({})
        self.ways: list[WayTo] = []
        self.names["as_list"] = _as_list

    def expression(self, template: Any) -> str:
        if isinstance(template, Static) and isinstance(template.value, Own):
            self.ways.append(template.value.way)
            return f"own[{len(self.ways) - 1}]"
        return super().expression(template)

    def items(self, c: Changed) -> str:
        """A list as it is afterwards."""
        if c.row is None:
            return self.expression(c.items)
        columns = [f"as_list({self.expression(a)})" for a in c.items.items]
        if not isinstance(c.row, Structure):
            return columns[0]
        row = _Row()
        item = row.expression(c.row)
        names = "".join(f"{name}, " for name in row.targets)
        self.names |= row.names
        return f"[{item} for {names}in zip({', '.join(columns)})]"


class _Row(Writer):
    """Writes an item of a list of run-time length, of what is in its columns."""

    def __init__(self) -> None:
        super().__init__({})
        self.targets: list[str] = []

    def expression(self, template: Any) -> str:
        if isinstance(template, Structure):
            return super().expression(template)
        self.targets.append(f"part_{len(self.targets)}")
        return self.targets[-1]


def _as_list(column: Any) -> list[Any]:
    """All items of a list of the core, as machine code or the source hands it over."""
    return column.as_list() if isinstance(column, Handed) else list(column)
