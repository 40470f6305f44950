"""The lint of emitted source: what it complains of, and what it leaves alone."""

import ast
import textwrap

import pytest
from lint import identifiers, lint, statements

USERS = {"f", "x", "y", "w", "n"}

# Each a body of `def f_grad(x, y, w, n)`, or a whole module; and the complaints.
BAD = {
    "syntax": ("x = = 2", ["2: invalid syntax"]),
    # ------------------------------------------------------------------ layout
    "wide": (f"return {' + '.join(['x'] * 20 + ['y'])}", ["2: 92 columns"]),
    "blank": ("x = y + \\\n    w   \nreturn x", ["3: blanks at the end of the line"]),
    "wide comment": (f"# {'y' * 90}\nreturn x", ["2: 96 columns"]),
    "crowded": (
        """
        def f_forward(x):
            return x

        def f_grad(x):
            return f_forward(x)
        """,
        ["4: two blank lines should stand before f_grad"],
    ),
    # ----------------------------------------------------------------- modules
    "imports": (
        """
        import os
        import math
        from math import sin


        def f_grad(x):
            return sin(x) + len(os.sep)
        """,
        [
            "1: imports os",
            "2: math is imported and never used",
            "3: imports from math",
        ],
    ),
    "helpers": (
        """
        def three():
            return 3.0


        def f_backward(x, y):
            return three() * x


        def f_forward(x):
            return x


        def g(x):
            return x


        def f_grad(x):
            return f_backward(x, x)
        """,
        [
            "1: three is a helper without parameters",
            "5: the parameter y of f_backward is never read",
            "13: g is never called",
        ],
    ),
    # ------------------------------------------------------------------- names
    "undefined": ("return x + z", ["2: z is not defined"]),
    "unused": ("x_bar = y\nreturn x", ["2: x_bar is assigned and never read"]),
    "overwritten": ("x = y\nx = w\nreturn x", ["2: x is assigned and never read"]),
    "overwritten either way": (
        """
        x = w
        if y > 0.0:
            x = y
        else:
            x = 2.0
        return x
        """,
        ["2: x is assigned and never read"],
    ),
    "one of two": ("x, y = y, x\nreturn x", ["2: y is assigned and never read"]),
    "cleared last": (
        """
        x_bar = 1.0
        for _ in range(n):
            y += x_bar
            x_bar = 2.0
            x_bar = w
        return y
        """,
        ["5: x_bar is assigned and never read"],
    ),
    "never iterated again": (
        """
        while True:
            y = x * y
            if y > w:
                x = y
                break
        return y
        """,
        ["5: x is assigned and never read"],
    ),
    "added in vain": (
        """
        x_bar = 1.0
        x_bar += y
        return y
        """,
        ["3: x_bar is assigned and never read"],
    ),
    "index": (
        """
        for i in range(n):
            x = x * y
        return x
        """,
        ["2: i is assigned and never read"],
    ),
    "tape": (
        """
        x_tape = []
        for _ in range(n):
            x_tape.append(x)
            x = x * x
        return x
        """,
        ["4: x_tape is stored into and never read"],
    ),
    "array": (
        """
        w_bar = [x]
        w_bar[0] += x
        return y
        """,
        ["3: w_bar is stored into and never read"],
    ),
    # -------------------------------------------------------- idle expressions
    "alone": ("x\nreturn x", ["2: x stands alone"]),
    "again": (
        """
        x[0]
        return x[0] * y
        """,
        ["2: x[0] stands alone, and is evaluated elsewhere too"],
    ),
    # ------------------------------------------------------------- single uses
    "product": (
        """
        product = x * y
        return product + w
        """,
        ["2: product is used once, and fits where it is used"],
    ),
    "numbered": (
        """
        total_1 = x + y
        w *= total_1
        return w
        """,
        ["2: total_1 is used once, and fits where it is used"],
    ),
    "condition": (
        """
        gt = x > y
        if gt:
            x = y
        return x
        """,
        ["2: gt is used once, and fits where it is used"],
    ),
    "elif would do": (
        """
        if x > y:
            le = x <= y
            assert le
        return x
        """,
        ["3: le is used once, and fits where it is used"],
    ),
    "bounds": (
        """
        count = n - 1
        for _ in range(count):
            x = x * y
        return x
        """,
        ["2: count is used once, and fits where it is used"],
    ),
    "pop": (
        """
        y_tape = [x]
        popped = y_tape.pop()
        return popped * x
        """,
        ["3: popped is used once, and fits where it is used"],
    ),
    "past other names": (
        """
        product = x / y
        w = w * w
        w_bar = w + w
        return product * w_bar
        """,
        ["2: product is used once, and fits where it is used"],
    ),
    "one name for two things": (
        """
        product = x * y
        w += product
        product = x * w
        return product + y
        """,
        [
            "2: product is used once, and fits where it is used",
            "4: product is used once, and fits where it is used",
        ],
    ),
    "a sum into a branch that is taken later": (
        """
        total = x + y
        return total if w > 0.0 else 0.0
        """,
        ["2: total is used once, and fits where it is used"],
    ),
}  # fmt: skip

GOOD = {
    "the user's names": "y = x * x\nx_bar = y + w\nx_bar_1 = x_bar * y\nreturn x_bar_1",
    "used twice": "product = x * y\nreturn product * product",
    "assigned twice": """
        chosen = x
        if x > y:
            chosen = y
        return chosen
        """,
    "assigned twice, once for both": """
        chosen = x
        if x > y:
            w = chosen
            chosen = y
        return chosen * w
        """,
    "assigned in a branch as well": """
        half = x
        if x > y:
            half = y
            w += half
        return half * w
        """,
    "carried around a loop": """
        term = x
        for _ in range(n):
            term_1 = term
            term = y * y
            w += term_1
        return w
        """,
    "does not fit": f"""
        product = {" * ".join(["x"] * 12)}
        return product + {" * ".join(["y"] * 12)}
        """,
    "what it reads changes": "product = x * y\nx = w\nreturn product * x",
    "what it reads changes inside": """
        product = x * y
        if w > y:
            x = w
        return product * x
        """,
    "the array it reads is stored into": "item = x[0]\nx[0] = y\nreturn item * x",
    "into a loop": """
        product = x * y
        for _ in range(n):
            w = w * product
        return w
        """,
    "into the test of a loop": """
        root = x ** 0.5
        while w < root:
            w = w * y
        return w
        """,
    "what may raise, past a break": """
        for _ in range(n):
            quotient = x / y
            if w > y:
                break
            w += quotient
        return w
        """,
    "what may raise, into a branch": """
        quotient = x / y
        return quotient if w > 0.0 else 0.0
        """,
    "what may raise, past an effect": "quotient = x / y\nprint(w)\nreturn quotient",
    "pops in their order": """
        w_tape = [x, y]
        popped = w_tape.pop()
        w = w_tape.pop()
        return popped * w * w
        """,
    "pops in their order, on one line": """
        w_tape = [x, y]
        popped = w_tape.pop()
        return w_tape.pop() / popped
        """,
    "indices that are read, and one that is not": """
        for i in range(n):
            for _ in range(i):
                x = x * y
        return x
        """,
    "cleared for the next pass": """
        x_bar = 1.0
        for _ in range(n):
            y += x_bar
            x_bar = 0.0
        return y
        """,
    "kept for after the break": """
        while True:
            y_1 = y
            y = y * x
            if y > w:
                break
        return y_1
        """,
    "a call that may raise": "abs(x)\nreturn y",
    "helpers": """
        import math
        import numpy as np


        def g_forward(x, tape):
            tape.append(x)
            return math.sin(x)


        def g_backward(x_bar, tape):
            return x_bar * math.cos(tape.pop())


        def f_grad(x):
            tape = []
            w = g_forward(x, tape)
            x_bar = g_backward(2.0 * w, tape)
            return np.float64(x_bar)
        """,
    "calls in their order": """
        def g_backward(x, tape):
            return x * tape.pop()


        def f_grad(x):
            tape = [x, x]
            first = g_backward(x, tape)
            second = g_backward(x, tape)
            return second / first + second
        """,
}


def module(sample: str) -> str:
    text = textwrap.dedent(sample).strip("\n")
    if "def " not in text:
        text = "def f_grad(x, y, w, n):\n" + textwrap.indent(text, "    ")
    return text + "\n"


@pytest.mark.parametrize(("sample", "complaints"), BAD.values(), ids=BAD)
def test_complains(sample: str, complaints: list[str]) -> None:
    assert lint(module(sample), USERS) == complaints


@pytest.mark.parametrize("sample", GOOD.values(), ids=GOOD)
def test_leaves_alone(sample: str) -> None:
    assert lint(module(sample), USERS) == []


def test_complains_of_the_end_of_the_file() -> None:
    complaints = ["2: the file should end with one newline"]
    assert lint("def f_grad(x):\n    return x", USERS) == complaints


def test_statements_are_counted_inside_functions() -> None:
    source = '''
def f(x):
    """The docstring does not count."""

    def g(y):
        if y > 0:
            return y
        return -y

    x, y = g(x), 1.0
    return x + y
'''
    assert statements(ast.parse(source)) == 7


def test_identifiers_are_those_of_all_functions() -> None:
    sources = "def f(x):\n    return g(x)", "def g(y, *, z=1):\n    w = y"
    assert identifiers(*sources) == {"f", "g", "w", "x", "y", "z"}
