"""What the errors say, word for word, and that they behave as Python's own classes."""

import copy
import pickle
import traceback

import pytest

from gradwright.transform import errors
from gradwright.transform.errors import (
    AliasError,
    BackendError,
    EffectError,
    GradwrightError,
    Location,
    MissingRule,
    NotDifferentiable,
    ShapeError,
    SourceError,
    UnsupportedSyntax,
    note_user_line,
)

WITH = Location("models/loss.py", 12, 4, 25, "    with open(name) as f:", "loss")
ADVICE = "open the file outside and pass the numbers"

FAMILY = [
    (SourceError, OSError),
    (UnsupportedSyntax, SyntaxError),
    (MissingRule, NotImplementedError),
    (ShapeError, ValueError),
    (NotDifferentiable, TypeError),
    (AliasError, ValueError),
    (EffectError, ValueError),
    (BackendError, RuntimeError),
]
CLASSES = [GradwrightError, *(ours for ours, _ in FAMILY)]


@pytest.mark.parametrize(("ours", "python"), FAMILY)
def test_each_is_also_a_class_of_python(
    ours: type[GradwrightError], python: type[Exception]
) -> None:
    assert issubclass(ours, python)
    assert issubclass(ours, GradwrightError)
    with pytest.raises(python):
        raise ours("no", at=WITH)


def test_the_family_is_complete() -> None:
    found = [c for c in vars(errors).values() if isinstance(c, type)]
    assert [c for c in found if issubclass(c, GradwrightError)] == CLASSES


# -- What they say ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(
    ("location", "instead", "text"),
    [
        (None, None, "cannot do it"),
        (None, "do it so", "cannot do it\nWrite instead: do it so"),
        (
            WITH,
            None,
            "loss.py:12: cannot do it\n"
            "    with open(name) as f:\n"
            "    ^^^^^^^^^^^^^^^^^^^^^",
        ),
        (
            WITH,
            ADVICE,
            "loss.py:12: cannot do it\n"
            "    with open(name) as f:\n"
            "    ^^^^^^^^^^^^^^^^^^^^^\n"
            "Write instead: open the file outside and pass the numbers",
        ),
        (
            Location("loss.py", 12, 0, 0, "", "loss"),
            "do it so",
            "loss.py:12: cannot do it\nWrite instead: do it so",
        ),
    ],
)
def test_text(
    kind: type[GradwrightError],
    location: Location | None,
    instead: str | None,
    text: str,
) -> None:
    error = kind("cannot do it", at=location, instead=instead)
    assert str(error) == text
    assert error.message == "cannot do it"
    assert error.location == location
    assert error.instead == instead
    assert repr(error) == f"{kind.__name__}('cannot do it')"


@pytest.mark.parametrize(
    ("text", "columns", "excerpt"),
    [
        ("y = f(x)", (4, 8), "    y = f(x)\n        ^^^^"),
        ("        y = f(x)  ", (12, 16), "    y = f(x)\n        ^^^^"),
        ("y = f(x)", (4, 4), "    y = f(x)\n        ^"),  # always one caret
        ("y = f(x)", (4, 99), "    y = f(x)\n        ^^^^"),  # never beyond the line
        ("    y = f(x)", (0, 12), "    y = f(x)\n    ^^^^^^^^"),  # the whole line
        ("\t\ty =\tf(x)", (6, 10), "    y =\tf(x)\n       \t^^^^"),
        ("é = g(ü)", (4, 8), "    é = g(ü)\n        ^^^^"),
        ("'数' + g('数')", (6, 12), "    '数' + g('数')\n           ^^^^^^^"),
        ("'e\u0301' + g(x)", (7, 11), "    'e\u0301' + g(x)\n          ^^^^"),
    ],
)
def test_carets(text: str, columns: tuple[int, int], excerpt: str) -> None:
    assert Location("loss.py", 1, *columns, text, "f").excerpt() == excerpt


@pytest.mark.parametrize(
    ("filename", "shown"),
    [
        ("loss.py", "loss.py:3"),
        ("home/models/loss.py", "loss.py:3"),
        ("<ipython-input-1-abc>", "<ipython-input-1-abc>:3"),
        ("<doctest models/loss.py[0]>", "<doctest models/loss.py[0]>:3"),
    ],
)
def test_only_the_name_of_the_file_is_shown(filename: str, shown: str) -> None:
    location = Location(filename, 3, 0, 1, "x", "f")
    assert str(location) == shown
    assert str(ShapeError("no", at=location)).startswith(f"{shown}: no\n")


# -- How they behave -------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(("location", "instead"), [(WITH, ADVICE), (None, None)])
@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies_say_the_same(kind, location, instead, again) -> None:
    error = kind("cannot do it", at=location, instead=instead)
    error.add_note("in sample 3")
    other = again(error)
    assert type(other) is kind
    assert other is not error
    assert str(other) == str(error)
    assert other.args == error.args
    assert other.location == location
    assert other.instead == instead
    assert other.__notes__ == ["in sample 3"]


def test_unsupported_syntax_has_what_editors_look_for() -> None:
    error = UnsupportedSyntax("cannot", at=WITH, instead=ADVICE)
    for other in (error, pickle.loads(pickle.dumps(error))):
        assert other.filename == "models/loss.py"
        assert (other.lineno, other.end_lineno) == (12, 12)
        assert (other.offset, other.end_offset) == (5, 26)  # counted from 1
        assert other.text == "    with open(name) as f:"
        assert other.msg == f"cannot\nWrite instead: {ADVICE}"


def test_unsupported_syntax_without_a_place() -> None:
    error = UnsupportedSyntax("cannot")
    assert (error.filename, error.lineno, error.text) == (None, None, None)
    assert error.msg == "cannot"


def shown_by_python(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error))


def test_a_traceback_shows_the_whole_of_unsupported_syntax() -> None:
    error = UnsupportedSyntax("cannot do it", at=WITH, instead=ADVICE)
    assert shown_by_python(error) == (
        '  File "models/loss.py", line 12\n'
        "    with open(name) as f:\n"
        "    ^^^^^^^^^^^^^^^^^^^^^\n"
        "gradwright.transform.errors.UnsupportedSyntax: cannot do it\n"
        f"Write instead: {ADVICE}\n"
    )
    assert shown_by_python(UnsupportedSyntax("cannot do it", instead="this")) == (
        "gradwright.transform.errors.UnsupportedSyntax: cannot do it\n"
        "Write instead: this\n"
    )


def test_a_traceback_shows_the_whole_of_the_others() -> None:
    error = ShapeError("cannot do it", at=WITH, instead=ADVICE)
    assert shown_by_python(error) == (
        f"gradwright.transform.errors.ShapeError: {error}\n"
    )


def test_locations_are_values() -> None:
    assert copy.deepcopy(WITH) == WITH
    assert len({WITH, copy.copy(WITH)}) == 1
    with pytest.raises(AttributeError):
        WITH.line = 13  # type: ignore[misc]


# -- The user's own exceptions ---------------------------------------------------------


def test_the_users_line_is_noted_once() -> None:
    error = ValueError("math domain error")
    first = Location("models/loss.py", 7, 8, 19, "    y = math.log(x)", "f")
    later = Location("models/loss.py", 9, 11, 15, "    return f(x)", "loss")
    for location in (first, first, later, first):
        note_user_line(error, location)
    assert error.__notes__ == [
        "  in f, loss.py:7: y = math.log(x)",
        "  in loss, loss.py:9: return f(x)",
    ]
    assert str(error) == "math domain error"


def test_the_users_notes_are_kept() -> None:
    error = ValueError("math domain error")
    error.add_note("sample 3")
    note_user_line(error, WITH)
    assert error.__notes__ == [
        "sample 3",
        "  in loss, loss.py:12: with open(name) as f:",
    ]
