"""What is found once about the text of a function."""

from typing import Any

import numpy as np

from gradwright.transform import source as sources
from gradwright.transform.specialise.findings import Findings


def stores(x: Any, n: int) -> Any:
    for k in range(n):
        x[k] = y = 2.0 * k
    return x, y


def calls_itself(x: Any, n: int) -> Any:
    x[n] = 1.0
    return calls_itself(x, n - 1) if n else np.sum(x)


def test_each_is_found_once() -> None:
    findings, source = Findings(), sources.read(stores)
    assert findings.locals(source.node) == {"x", "n", "k", "y"}
    assert len(findings.unsure(source.node)) == 1  # of y, where no trip is made
    assert findings.stored(source).surely == {"x"}
    for find, of in (
        (findings.locals, source.node),
        (findings.unsure, source.node),
        (findings.stored, source),
    ):
        assert find(of) is find(of)


def test_a_function_that_calls_itself() -> None:
    assert Findings().stored(sources.read(calls_itself)).surely == {"x"}
