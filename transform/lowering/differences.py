"""What differs from sample to sample in a loop over them, and what they all share.

    for i in range(n):
        k = 2 * m                   shared
        x = a[i]                    another one in every sample
        while x < b[k]:             some go on longer than others
            x = x * x

Where samples part, whatever is stored into is another one in each, as some have no part
in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gradwright.transform.core import (
    Assert,
    Break,
    Cell,
    For,
    If,
    Let,
    Load,
    Resize,
    Statement,
    Store,
    Value,
    While,
    blocks,
    leaves,
    reads,
)
from gradwright.transform.deadcode import may_raise


@dataclass
class Differences:
    """What is not the same in every lane.

    values: numbers and names.  ways: the branches and loops that samples take
    differently.  left: the loops that some leave while others go on.
    """

    index: Value
    own: set[Any]
    stored: set[Any]
    values: set[Any] = field(default_factory=set)
    ways: set[int] = field(default_factory=set)
    left: set[int] = field(default_factory=set)

    def differs(self, operand: Any) -> bool:
        """Whether an operand is another in every lane."""
        return any(v in self.values for v in leaves(operand))

    def look(self, body: list[Statement]) -> None:
        """Look through a sample until no more is found."""
        self.values.add(self.index)
        while True:
            known = len(self.values), len(self.ways), len(self.left)
            self._block(body, False, [])
            if known == (len(self.values), len(self.ways), len(self.left)):
                return

    def _block(self, body: list[Statement], apart: bool, loops: list[Any]) -> None:
        """Look through a block.

        Args:
            body: Its statements.
            apart: Whether some samples have no part in it.
            loops: Those around it, and whether samples have parted within them.
        """
        for s in body:
            self._statement(s, apart, loops)

    def _statement(self, s: Statement, apart: bool, loops: list[Any]) -> None:
        match s:
            case Let():
                if any(map(self.differs, s.operands)) or (apart and may_raise(s)):
                    self.values.add(s.out)
            case Load():
                differs = s.source in self.values or s.source in self.own
                differs |= s.source in self.stored or (apart and not _is_sure(s))
                if differs or any(map(self.differs, reads(s))):
                    self.values.add(s.out)
            case Store(place=Cell() as place):
                if apart or self.differs(s.operand):
                    self.values.add(place)
            case If() if grows(s):
                pass
            case If():
                if self.differs(s.condition):
                    self.ways.add(id(s))
                parted = id(s) in self.ways
                inner = [(f, p or parted) for f, p in loops]
                for b in blocks(s):
                    self._block(b, apart or parted, inner)
            case For() | While():
                self._loop(s, apart, loops)
            case Assert():
                self._block(s.header, True, loops)
            case Break():
                loop, parted = loops[-1]
                if parted:
                    self.ways.add(id(loop))
                    self.left.add(id(loop))

    def _loop(self, s: For | While, apart: bool, loops: list[Any]) -> None:
        if isinstance(s, For):
            operands = [s.start, s.stop, s.step]
            if self.differs(s.start) or self.differs(s.step):
                self.values.add(s.symbol)
        else:
            operands = [s.condition]
        if any(map(self.differs, operands)):
            self.ways.add(id(s))
        for b in blocks(s):
            self._block(b, apart or id(s) in self.ways, [*loops, (s, False)])


def _is_sure(s: Load) -> bool:
    """Whether a load cannot fail."""
    return not s.unsure and (s.safe or not s.index)


def grows(s: Statement) -> bool:
    """Whether a branch gives an array more room."""
    return isinstance(s, If) and any(isinstance(t, Resize) for t in s.then)
