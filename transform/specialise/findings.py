"""What is found once about the text of a function, however often it is specialised.

All of it is by node: of nodes that live on, rules for example, it serves every program.
"""

from __future__ import annotations

import threading
from typing import Any

import gast

from gradwright.transform.definite import unsure_reads
from gradwright.transform.language import local_names
from gradwright.transform.source import Source
from gradwright.transform.stored import Stored, stored_names

Position = tuple[int, int]


class Findings:
    """The locals of functions, those that may be unbound, and what is stored into.

    wary: what an operator changes may be a part of an array.  loose: what may be a
    number may be stretched where it is an array, too.
    """

    def __init__(self, wary: bool = True, loose: bool = False) -> None:
        self.wary, self.loose = wary, loose
        self._locals: dict[int, frozenset[str]] = {}
        self._unsure: dict[int, set[Position]] = {}
        self._stored: dict[int, Stored] = {}
        self._nodes: dict[int, Any] = {}  # held, as an id is given out again
        self._lock = threading.RLock()

    def locals(self, node: gast.FunctionDef) -> frozenset[str]:
        """The names that a function binds."""
        if id(node) not in self._locals:
            self._nodes[id(node)] = node
            self._locals[id(node)] = local_names(node)
        return self._locals[id(node)]

    def unsure(self, node: gast.FunctionDef) -> set[Position]:
        """Reads of locals that may be unbound."""
        if id(node) not in self._unsure:
            self._nodes[id(node)] = node
            self._unsure[id(node)] = unsure_reads(node)
        return self._unsure[id(node)]

    def stored(self, source: Source) -> Stored:
        """What a function stores into."""
        key = id(source.node)
        with self._lock:  # nobody else sees what is not found yet
            if key not in self._stored:
                self._nodes[key] = source.node
                self._stored[key] = Stored()  # of one that calls itself
                self._stored[key] = stored_names(source, self.stored, self.wary)
            return self._stored[key]
