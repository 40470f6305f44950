"""Layout: lines of at most 88 columns, broken as black breaks them."""

import ast
import textwrap

import pytest

from gradwright.transform.errors import Location
from gradwright.transform.layout import WIDTH, broken, printed, text_of, unparse

LONG = {
    "a signature": (
        "def a_rather_long_name(first_parameter, second_parameter, "
        "third_parameter, the_fourth_one):",
        """
        def a_rather_long_name(
            first_parameter, second_parameter, third_parameter, the_fourth_one
        ):
        """,
    ),
    "a signature of more than a line": (
        f"def f({', '.join(f'a_long_parameter_{k}' for k in range(6))}):",
        """
        def f(
            a_long_parameter_0,
            a_long_parameter_1,
            a_long_parameter_2,
            a_long_parameter_3,
            a_long_parameter_4,
            a_long_parameter_5,
        ):
        """,
    ),
    "a call": (
        "    value = function_of_many(argument_number_one, "
        "argument_number_two, argument_number_3)",
        """
            value = function_of_many(
                argument_number_one, argument_number_two, argument_number_3
            )
        """,
    ),
    "a sum": (
        f"total = {' + '.join(f'factor_{k} * another_{k}' for k in range(4))}",
        """
        total = (
            factor_0 * another_0
            + factor_1 * another_1
            + factor_2 * another_2
            + factor_3 * another_3
        )
        """,
    ),
    "a returned tuple": (
        f"return {', '.join(f'a_result_of_some_length_{k}' for k in range(4))}",
        """
        return (
            a_result_of_some_length_0,
            a_result_of_some_length_1,
            a_result_of_some_length_2,
            a_result_of_some_length_3,
        )
        """,
    ),
    "many targets": (
        f"{', '.join(f'a_target_number_{k}' for k in range(5))} = function(x, y)",
        """
        (
            a_target_number_0,
            a_target_number_1,
            a_target_number_2,
            a_target_number_3,
            a_target_number_4,
        ) = function(x, y)
        """,
    ),
    "a condition": (
        "if the_first_condition_of_all < 1.0 and the_second_condition > "
        "2.0 and the_third_one_of_all:",
        """
        if (
            the_first_condition_of_all < 1.0
            and the_second_condition > 2.0
            and the_third_one_of_all
        ):
        """,
    ),
    "a comprehension": (
        "the_name = [first + second for first, second in "
        "zip(a_tape_that_has_a_name, another_tape_like_that)]",
        """
        the_name = [
            first + second
            for first, second in zip(a_tape_that_has_a_name, another_tape_like_that)
        ]
        """,
    ),
    "a string is not broken": (
        'print("a, long, text, with, commas, and (brackets that, never, '
        'close, or, open)", first_one)',
        """
        print(
            "a, long, text, with, commas, and (brackets that, never, close, or, open)",
            first_one,
        )
        """,
    ),
}


@pytest.mark.parametrize(("line", "lines"), LONG.values(), ids=LONG)
def test_long_lines(line: str, lines: str) -> None:
    expected = textwrap.dedent(lines).strip("\n")
    margin = line[: len(line) - len(line.lstrip())]
    assert broken(line) == [margin + text for text in expected.splitlines()]


@pytest.mark.parametrize("line", ["x = 1", "# " + 100 * "a", "    return a, b"])
def test_left_alone(line: str) -> None:
    assert broken(line) == [line]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("'text'", '"text"'),
        ("'say \"so\"'", "'say \"so\"'"),
        ("x**2", "x**2"),
        ("(x + 1) ** n", "(x + 1) ** n"),
        ("-x**2", "-x**2"),
        ("2.0 * x.real**-1", "2.0 * x.real**-1"),
    ],
)
def test_text(source: str, text: str) -> None:
    assert text_of(ast.parse(source, mode="eval").body) == text


def function(text: str) -> ast.FunctionDef:
    node = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


def test_a_function_is_printed_as_it_was_read() -> None:
    text = textwrap.dedent(
        """\
        def f(a, b, *, c):
            for k in range(a):
                if b:
                    c += 1
                elif c:
                    break
                else:
                    with d:
                        pass
            while True:
                return a, b
        """
    )
    assert "\n".join(printed(function(text), False).lines) + "\n" == text


def test_what_says_nothing_is_left_out() -> None:
    text = """
        def f(a):
            a = a
            if a:
                b = b
            else:
                c = 1
            while c:
                c = c
    """
    lines = printed(function(text), False).lines
    assert lines == [
        "def f(a):",
        "    if not a:",
        "        c = 1",
        "    while c:",
        "        pass",
    ]


def test_comments_show_the_user_s_line_once_and_fit() -> None:
    tree = function("def f(x):\n    y = x\n    z = x\n    return z")
    line = "z = " + " + ".join(["x"] * 60)
    where = Location("/some/where/loss.py", 12, 0, 5, line, "loss")
    for s in tree.body[1:]:
        s.where, s.adjoint = where, True  # type: ignore[attr-defined]
    made = printed(tree, True)
    assert made.lines[1] == "    # forward sweep"
    assert made.lines[3] == "    # reverse sweep"
    assert made.lines[4].startswith("    # loss.py:12  z = x + x")
    assert made.lines[4].endswith(" ...")
    assert len(made.lines[4]) <= WIDTH
    assert [n for n, place in made.locations.items() if place is where] == [6, 7]


def test_unparse_breaks_long_lines() -> None:
    tree = ast.parse(LONG["a call"][0].strip())
    assert unparse(tree).splitlines()[0] == LONG["a call"][0].strip()
