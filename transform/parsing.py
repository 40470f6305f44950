"""Python's parser, for one thread at a time.

CPython 3.11 counts the depth of the trees that it makes in one place for all threads:
where two of them parse at once it may raise a SystemError.
"""

from __future__ import annotations

import threading
from typing import Any

import gast

PARSER = threading.Lock()


def statements(text: str) -> list[Any]:
    """The statements of a text."""
    with PARSER:
        body: list[Any] = gast.parse(text).body
    return body
