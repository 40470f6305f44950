"""What is promised and not kept yet is refused or absent: never wrong in silence."""

import traceback
from collections import defaultdict
from pathlib import Path

import pytest
from semantics.not_yet import NOT_YET

import gradwright as gw

HERE = Path(__file__).with_name("not_yet.py")


def test_the_list() -> None:
    """Print it, by what is waited for."""
    waiting: dict[str, list[str]] = defaultdict(list)
    for words, entry in NOT_YET.items():
        waiting[entry.on].append(words)
    for what, promises in waiting.items():
        print(f"\n{what}:", *promises, sep="\n    ")
    assert all(words.count(": ") == 1 for words in NOT_YET)


@pytest.mark.parametrize("words", NOT_YET)
def test_it_is_refused(words: str) -> None:
    """By one of our errors, with the user's line, or since the name does not exist."""
    with pytest.raises((gw.GradwrightError, AttributeError, TypeError)) as caught:
        NOT_YET[words].attempt()
    error = caught.value
    if isinstance(error, gw.GradwrightError):
        here = error.location is not None and error.location.filename == str(HERE)
        named = "the argument " in str(error) or "Orbit" in str(error)
        assert here or named, error
    else:  # raised by the attempt itself, not from inside the library
        last = traceback.extract_tb(error.__traceback__)[-1]
        assert last.filename == str(HERE), error
        assert "has no attribute" in str(error) or "unexpected keyword" in str(error)
