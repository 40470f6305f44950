"""The only places where these tests look inside a transformed function."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradwright as gw


def entries(g: gw.Transformed) -> int:
    """How many specialisations there are of a transformed function."""
    return sum(map(len, g.entry.family.known.values()))


def emitted(g: gw.Transformed) -> Callable[..., Any]:
    """The emitted function that the latest call has run."""
    return g.entry.last.forward.function


def file_of(g: gw.Transformed) -> Path:
    """The file that it was loaded from."""
    return Path(emitted(g).__code__.co_filename)
