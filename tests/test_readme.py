"""README: its first screen, and what it says is refused."""

import re

import pytest
from pages import ROOT

from gradwright.transform.language import REFUSALS

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_first_screen() -> None:
    """A sentence, a function, its gradient, and two commands: no more than a screen."""
    first, _ = README.split("\n## ", 1)
    assert len(first.splitlines()) <= 60
    after = first.split("```")[-1]
    commands = re.findall(r"^ {4}(.*)$", after, re.MULTILINE)
    assert commands == ["make demo", "make test"]


@pytest.mark.parametrize("words", sorted({words for words, _ in REFUSALS.values()}))
def test_what_is_refused_is_named(words: str) -> None:
    """Every keyword that is refused by name stands in README."""
    for keyword in re.findall(r"(?:^|\s)'([\w@]+)", words):
        assert f"`{keyword}`" in README


def test_what_is_not_there_is_not_there() -> None:
    """The list of what is to come shrinks as it comes."""
    import gradwright

    section = README.split("## What is not there yet")[1].split("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", section))
    assert named
    assert not named & set(dir(gradwright))


@pytest.mark.parametrize(
    "example", sorted(p.name for p in (ROOT / "examples").glob("*.py"))
)
def test_examples_are_named(example: str) -> None:
    assert f"examples/{example}" in README or example == "demo.py"
