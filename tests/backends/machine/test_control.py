"""Loops as LLVM's vectoriser wants them: tests at the end, no trip that is not made."""

from loop_core import doubled

from gradwright.backends.machine.kernel import translated


def test_a_loop_is_tested_once_before_and_then_at_its_end() -> None:
    text = str(translated(doubled(), ("C",)).module)
    assert text.count("phi ") == 1 and text.count("add nsw") >= 1


def test_what_fails_is_rare() -> None:
    text = str(translated(doubled(), ("C",)).module)
    assert "branch_weights" in text
