"""A parameter that a function stores into may not share memory with another array.

The derivative stores into a copy of it; what else lies in the same memory would change
in the function itself and not there.  It is checked at a call, as nobody knows sooner.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.pipeline import Built
from gradwright.transform.errors import AliasError


class Apart:
    """The parameters that are stored into, against the other arrays of a call."""

    def __init__(self, built: Built) -> None:
        specialised = built.specialised
        inputs = specialised.inputs
        self.count = len(inputs)
        self.stored = [
            (inputs.index(p), name, at) for p, name, at in specialised.stored
        ]

    def check(self, values: Any, hidden: dict[str, Any]) -> None:
        """Refuse a call whose arrays overlap."""
        for k, name, at in self.stored:
            others = [*values[:k], *values[k + 1 : self.count], *hidden.values()]
            for other in others:
                if isinstance(other, np.ndarray) and np.may_share_memory(
                    values[k], other
                ):
                    raise AliasError(
                        f"'{name}' is stored into, and shares memory with another "
                        f"array of this call",
                        at=at,
                        instead=f"a copy of the array for '{name}'",
                    )
