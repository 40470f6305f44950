"""Which text a function came from: the right one, or a refusal that says why."""

import ast
import functools
import gc
import linecache
import math
import subprocess
import sys
import types
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import gast
import numpy as np
import pytest
from _pytest.assertion.rewrite import rewrite_asserts

from gradwright.transform import source
from gradwright.transform.errors import SourceError, UnsupportedSyntax
from gradwright.transform.source import Source, read

Load = Callable[[str], types.ModuleType]


def module_of(code: types.CodeType, name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    exec(code, module.__dict__)
    return module


def load_file(path: Path, text: str) -> types.ModuleType:
    path.write_text(text, encoding="utf-8")
    return module_of(compile(text, str(path), "exec", dont_inherit=True), path.stem)


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write loss.py and run it."""
    return lambda text: load_file(tmp_path / "loss.py", dedent(text))


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Give linecache the text of a cell."""

    def enter(filename: str, text: str) -> None:
        lines = text.splitlines(keepends=True)
        monkeypatch.setitem(
            linecache.cache, filename, (len(text), None, lines, filename)
        )

    return enter


def text_of(found: Source) -> str:
    assert type(found.node) is gast.FunctionDef
    assert found.node.decorator_list == []
    return ast.unparse(gast.gast_to_ast(found.node))


def refusal(function: object) -> str:
    with pytest.raises((SourceError, UnsupportedSyntax)) as caught:
        read(function)
    return str(caught.value)


# -- The text of this very function ----------------------------------------------------

PLAIN = """
def f(x, /, y: float=2.0, *rest, z=1, **options) -> float:
    \"\"\"Adds.\"\"\"
    return x + y + z
"""

DECORATED = """
import functools
def twice(function):
    @functools.wraps(function)
    def wrapper(*args):
        return 2 * function(*args)
    return wrapper
def same(*_, **__):
    return lambda function: function
class Counted:
    def __init__(self, function):
        self.function = function
    def __call__(self, x):
        return self.function(x)

@twice
def f(x):
    return x ** 2

@Counted
def g(x):
    return x ** 3

@same(
    "a",
    key=lambda x: x,
)
@same()
def h(x):
    return x ** 4

@functools.lru_cache
def c(x):
    return x ** 5
"""

WRAPPER = "def wrapper(*args):\n    return 2 * function(*args)"

LAMBDAS = """
two = [lambda x: x + 1, lambda x: x + 2]
four = [lambda x: x + 1, lambda x: x + 2,
        lambda x: x + 3, lambda x: x + 4]
equal = (lambda x: x), (lambda x: x)
long = (
    lambda x: (
        x
        + 1
    )
)
outer = lambda x, inner=lambda y: y + 1: lambda z: z + x
each = [lambda x: x + i for i in (lambda: [7, 8])()]
iterated = []
for i in ((lambda: iterated.append(sys) or [1])() for sys in [lambda: 5]): pass
try: pass
finally: last = [lambda x: x * 1, lambda x: x * 2]
table = {"a": lambda x: x * 1, "b": lambda x: x * 2, (lambda: "c")(): lambda x: x * 3}
dead = lambda x: (lambda: 1) if False else (lambda: 2)
"""

NESTED = """
def make(k):
    def inner(x):
        def innermost(y):
            return k * x * y
        return innermost
    return inner
def pick(flag):
    if flag:
        def chosen(x): return x + 1
    else:
        def chosen(x): return x + 2
    return chosen
def count():
    total = 0
    def add(x):
        nonlocal total
        total += x
        return total
    return add
def twin(x):
    return x * 10
first = twin
def twin(x):
    return x * 10
def generate(n):
    yield from range(n)
"""

CLASSES = """
class Tank:
    scale = lambda self, x: self.__rate * x
    def __init__(self, level):
        self.level = level
    def step(self, dt):
        return self.level * dt
    @staticmethod
    def total(a, b):
        return a + b
    @classmethod
    def empty(cls):
        return cls(0.0)
    @property
    def depth(self):
        return self.level / 2
    class Valve:
        def turn(self):
            return self.__open
def method(self):
    return self.__rate
"""

PRIVATE = """
class _Net:
    def __init__(self, __w):
        self.__w, self.__n__, self.w_ = __w, 1, 2
    def f(self, x, __k=1):
        global __g
        def __inner(y):
            return __inner and __k
        class __Part:
            __deep = __k
            def g(self):
                return self.__deep
        return dict(__q=__inner(x), p=lambda: __k)
    def match(self, x):
        match x:
            case {"a": __a, **__rest}:
                return __a, __rest
            case [*__star] as __all:
                return __star, __all
    def load(self):
        import math as __m
        from math import __doc__, sin as __s
        try:
            return __m
        except ValueError as __e:
            raise __e
    def __hidden(self):
        return self.__hidden
class __:
    def f(self):
        return self.__w
"""

FOUND = [
    (PLAIN, "f", PLAIN.strip()),
    # decorators: what the name is bound to
    (DECORATED, "f", WRAPPER),
    (DECORATED, "f.__wrapped__", "def f(x):\n    return x ** 2"),
    (DECORATED, "g.function", "def g(x):\n    return x ** 3"),
    (DECORATED, "h", "def h(x):\n    return x ** 4"),
    (DECORATED, "c.__wrapped__", "def c(x):\n    return x ** 5"),
    # lambdas that share a line
    (LAMBDAS, "two[0]", "return x + 1"),
    (LAMBDAS, "two[1]", "return x + 2"),
    *((LAMBDAS, f"four[{i}]", f"return x + {i + 1}") for i in range(4)),
    (LAMBDAS, "equal[1]", "return x"),
    (LAMBDAS, "long", "return x + 1"),
    (LAMBDAS, "outer", "return lambda z: z + x"),
    (LAMBDAS, "outer.__defaults__[0]", "return y + 1"),
    (LAMBDAS, "outer(1)", "return z + x"),
    (LAMBDAS, "each[1]", "return x + i"),
    (LAMBDAS, "iterated[0]", "return 5"),
    *((LAMBDAS, f"last[{i}]", f"return x * {i + 1}") for i in range(2)),
    (LAMBDAS, "table['b']", "return x * 2"),
    (LAMBDAS, "table['c']", "return x * 3"),
    (LAMBDAS, "dead(0)", "return 2"),
    # functions in functions
    (
        NESTED,
        "make(1)",
        "def inner(x):\n\n"
        "    def innermost(y):\n"
        "        return k * x * y\n"
        "    return innermost",
    ),
    (NESTED, "make(1)(2)", "return k * x * y"),
    (NESTED, "pick(True)", "return x + 1"),
    (NESTED, "pick(False)", "return x + 2"),
    (NESTED, "count()", "nonlocal total"),
    (NESTED, "generate", "yield from range(n)"),
    # functions in classes
    (CLASSES, "Tank.step", "return self.level * dt"),
    (CLASSES, "Tank.total", "return a + b"),
    (CLASSES, "Tank.empty.__func__", "return cls(0.0)"),
    (CLASSES, "Tank.depth.fget", "return self.level / 2"),
    (CLASSES, "Tank.scale", "return self._Tank__rate * x"),
    (CLASSES, "Tank.Valve.turn", "return self._Valve__open"),
    (CLASSES, "method", "return self.__rate"),
    # private names, as the compiler writes them out
    (
        PRIVATE,
        "_Net.__init__",
        "def __init__(self, _Net__w):\n"
        "    self._Net__w, self.__n__, self.w_ = (_Net__w, 1, 2)",
    ),
    (
        PRIVATE,
        "_Net.f",
        """\
def f(self, x, _Net__k=1):
    global _Net__g

    def _Net__inner(y):
        return _Net__inner and _Net__k

    class _Net__Part:
        _Part__deep = _Part__k

        def g(self):
            return self._Part__deep
    return dict(__q=_Net__inner(x), p=lambda: _Net__k)""",
    ),
    (
        PRIVATE,
        "_Net.match",
        """\
def match(self, x):
    match x:
        case {'a': _Net__a, **_Net__rest}:
            return (_Net__a, _Net__rest)
        case [*_Net__star] as _Net__all:
            return (_Net__star, _Net__all)""",
    ),
    (
        PRIVATE,
        "_Net.load",
        """\
def load(self):
    import math as _Net__m
    from math import __doc__, sin as _Net__s
    try:
        return _Net__m
    except ValueError as _Net__e:
        raise _Net__e""",
    ),
    (
        PRIVATE,
        "_Net._Net__hidden",
        "def __hidden(self):\n    return self._Net__hidden",
    ),
    (PRIVATE, "__.f", "return self.__w"),
]


@pytest.mark.parametrize(("text", "called", "expected"), FOUND)
def test_found(load: Load, text: str, called: str, expected: str) -> None:
    module = load(text)
    function = eval(called, module.__dict__)
    found = text_of(read(function))
    if expected.startswith("def "):
        assert found == expected
    else:
        assert found.splitlines()[1].strip() == expected


def names_used(code: types.CodeType) -> set[str]:
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    own = {*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars}
    return own.union(*map(names_used, inner))


@pytest.mark.parametrize("method", ["__init__", "f", "match", "load", "_Net__hidden"])
def test_private_names_are_those_of_the_compiler(load: Load, method: str) -> None:
    function = vars(load(PRIVATE)._Net)[method]
    again = types.ModuleType("again")
    exec(text_of(read(function)), again.__dict__)
    if method == "_Net__hidden":  # the function's own name stays as written
        method = "__hidden"
    assert names_used(vars(again)[method].__code__) == names_used(function.__code__)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is of Python 3.12")
def test_functions_with_type_parameters(load: Load) -> None:
    module = load(
        """
        @(lambda function: function)
        def f[T](x: T) -> T:
            return x
        class Box[T]:
            def get(self):
                return [self.__item for _ in range(2)]
        """
    )
    assert text_of(read(module.f)).splitlines()[1] == "    return x"
    found = read(module.Box.get)
    assert text_of(found).endswith("return [self._Box__item for _ in range(2)]")
    assert found.class_name == "Box"


def test_lambdas_behind_many_constants(load: Load) -> None:
    many = ", ".join(f"{i}.5" for i in range(70_000))
    module = load(
        f"numbers = [n for n in ({many})]\n"
        f"{'; '.join(f'x{i} = {i}.25' for i in range(300))}\n"
        "two = [lambda x: x + 1, lambda x: x + 2]\n"
    )
    assert [text_of(read(f))[-5:] for f in module.two] == ["x + 1", "x + 2"]


def test_code_that_has_run_often(load: Load) -> None:
    """The interpreter rewrites hot code in place."""
    module = load("def f(x):\n    return x * 2.0 + g(x)\ndef g(x):\n    return x\n")
    for _ in range(5_000):
        module.f(1.0)
    assert read(module.f).node.name == "f"


def test_equal_lambdas_each_have_their_own_columns(load: Load) -> None:
    first, second = load("fs = (lambda x: x), (lambda x: x)\n").fs
    columns = [read(f).location(read(f).node).column for f in (first, second)]
    assert columns == [6, 21]


def test_equal_functions_each_have_their_own_lines(load: Load) -> None:
    module = load(NESTED)
    assert read(module.twin).node.lineno == read(module.first).node.lineno + 3


def test_the_same_text_in_two_modules(tmp_path: Path) -> None:
    text = "def f(x):\n    return x * g(x)\n"
    a = load_file(tmp_path / "a.py", text)
    b = load_file(tmp_path / "b.py", text)
    assert a.f.__code__ == b.f.__code__
    assert read(a.f).filename == str(tmp_path / "a.py")
    assert read(b.f).filename == str(tmp_path / "b.py")
    assert read(a.f).function is a.f
    assert read(b.f).function is b.f
    assert read(a.f).node is not read(b.f).node


def test_what_the_doctest_prompt_runs() -> None:
    r"""Doctest compiles each example by itself and keeps its text.

    >>> def f(x):
    ...     return x + 1
    >>> text_of(read(f))
    'def f(x):\n    return x + 1'
    """
    import doctest

    finder = doctest.DocTestFinder(recurse=False)
    (examples,) = finder.find(
        test_what_the_doctest_prompt_runs, "prompt", globs=dict(globals())
    )
    assert doctest.DocTestRunner().run(examples) == (0, 2)


def test_this_function_and_its_inner_one() -> None:
    """Nothing depends on the file being small, or a module of its own."""

    def inner(x: float) -> float:
        return x * 3

    assert text_of(read(inner)).endswith("return x * 3")
    assert read(test_found).node.name == "test_found"


# -- What stands beside the node -------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "called", "class_name", "name"),
    [
        (PLAIN, "f", None, "f"),
        (DECORATED, "f", None, "wrapper"),
        (LAMBDAS, "two[0]", None, "<lambda>"),
        (NESTED, "make(1)(2)", None, "innermost"),
        (CLASSES, "Tank.step", "Tank", "Tank.step"),
        (CLASSES, "Tank.scale", "Tank", "Tank.<lambda>"),
        (CLASSES, "Tank.Valve.turn", "Valve", "Tank.Valve.turn"),
        (PRIVATE, "__.f", "__", "__.f"),
        (
            "class A:\n    def f(self):\n        return lambda: self\n",
            "A().f()",
            "A",
            "<lambda>",
        ),
        (
            "def deco(*fs):\n    return lambda c: setattr(c, 'fs', fs) or c\n"
            "class A:\n    @deco(lambda: 1)\n    class B: pass\n",
            "A.B.fs[0]",
            "A",
            "A.<lambda>",
        ),
    ],
)
def test_class_and_name(
    load: Load, text: str, called: str, class_name: str | None, name: str
) -> None:
    found = read(eval(called, load(text).__dict__))
    assert found.class_name == class_name
    assert found.name == name


def test_lines_and_places(load: Load) -> None:
    found = read(
        load(
            """\
            import math
            def f(x):
                é = "ü"; y = math.log(x)
                for i in range(3):
                    y = y * (
                        x + i)
                return y
            """
        ).f
    )
    assert found.line(1) == "import math"
    assert found.line(3) == '    é = "ü"; y = math.log(x)'
    assert (found.line(0), found.line(99)) == ("", "")

    place = found.location(found.node.body[1].value)
    assert place.filename == found.filename
    assert (place.line, place.column, place.end_column) == (3, 17, 28)
    assert place.function == "f"

    nodes = [found.node, *found.node.body, found.node.body[2].body[0].value.right]
    assert [found.location(node).excerpt() for node in nodes] == [
        "    def f(x):\n    ^^^^^^^^^",
        '    é = "ü"; y = math.log(x)\n    ^^^^^^^',
        '    é = "ü"; y = math.log(x)\n             ^^^^^^^^^^^^^^^',
        "    for i in range(3):\n    ^^^^^^^^^^^^^^^^^^",
        "    return y\n    ^^^^^^^^",
        "    x + i)\n    ^^^^^",
    ]


def test_a_lambda_becomes_a_function(load: Load) -> None:
    found = read(load("\nf = lambda x, y=1: x + y\n").f)
    assert type(found.node) is gast.FunctionDef
    assert found.node.name == "<lambda>"
    (returned,) = found.node.body
    assert type(returned) is gast.Return
    assert found.location(found.node).excerpt() == (
        "    f = lambda x, y=1: x + y\n        ^^^^^^^^^^^^^^^^^^^^"
    )
    assert found.location(returned).excerpt() == (
        "    f = lambda x, y=1: x + y\n                       ^^^^^"
    )


def test_a_file_that_warns_is_silent_when_read_again(tmp_path: Path) -> None:
    text = "def f(x):\n    return x is 1, '\\d'\n"
    with pytest.warns() as shown:
        module = load_file(tmp_path / "loss.py", text)
    assert shown
    assert read(module.f).node.name == "f"  # and here a warning would be an error


# -- Files that are edited while the program runs --------------------------------------

BEFORE = """\
import math

RATE = 2.0

def f(x):
    return RATE * math.sin(x)

pair = [lambda x: x * 1.0, lambda x: x * 0.0]

class Tank:
    def step(self, dt):
        return self.level * dt
"""


@pytest.mark.parametrize(
    ("old", "new", "moved"),
    [
        ("RATE = 2.0", "RATE = 3.0", 0),
        ("import math", '"""Losses."""\nimport math', 1),
        ("import math\n\nRATE = 2.0\n", "import math; RATE = 2.0\n", -2),
        ("class Tank:", "def g(x):\n    return x\nclass Tank:", 0),
        ("RATE = 2.0", "def f(x):\n    return RATE * math.cos(x)", 1),  # another f
        ("pair = [", "# the pair\npair = [lambda x: x * 9, ", 0),
        ("RATE * math.sin(x)", "(RATE)  *  math.sin( x )  # a remark", 0),
    ],
)
def test_an_edit_elsewhere_does_no_harm(
    load: Load, old: str, new: str, moved: int
) -> None:
    module = load(BEFORE)
    Path(module.f.__code__.co_filename).write_text(BEFORE.replace(old, new))
    found = read(module.f)
    assert text_of(found) == "def f(x):\n    return RATE * math.sin(x)"
    assert found.node.lineno == 5 + moved
    assert found.line(found.node.lineno) == "def f(x):"
    assert text_of(read(module.pair[1])).endswith("return x * 0.0")
    assert text_of(read(module.Tank.step)).endswith("return self.level * dt")


@pytest.mark.parametrize(
    ("called", "name", "old", "new", "number", "shown"),
    [
        ("f", "f", "math.sin(x)", "math.cos(x)", 5, "def f(x):"),
        ("f", "f", "RATE * m", "-RATE * m", 5, "def f(x):"),
        ("f", "f", "f(x):", "f(x, y=1):", 5, "def f(x, y=1):"),
        ("f", "f", "f(x):\n", "f(x): return x\ndef g(x):", 5, "def f(x): return x"),
        ("f", "f", "f(x)", "k(x)", 5, "def k(x):"),  # another name in its place
        ("f", "f", BEFORE, "import math\n", 5, ""),  # nothing in its place
        # numbers that are equal, but of another type or sign
        ("pair[0]", "<lambda>", "* 1.0", "* 1", 8, None),
        ("pair[1]", "<lambda>", "* 0.0", "* -0.0", 8, None),
        ("Tank.step", "Tank.step", "dt\n", "dt + 1\n", 11, "def step(self, dt):"),
    ],
)
def test_an_edit_of_the_function_is_refused(
    load: Load, called: str, name: str, old: str, new: str, number: int, shown: str
) -> None:
    module = load(BEFORE)
    function = eval(called, module.__dict__)
    after = BEFORE.replace(old, new)
    Path(module.f.__code__.co_filename).write_text(after)
    if shown is None:
        shown = after.splitlines()[number - 1]
    excerpt = f"    {shown}\n    {'^' * len(shown)}\n" if shown else ""
    assert refusal(function) == (
        f"loss.py:{number}: this is not the text from which {name} was made: "
        "it was edited since, or a decorator or an import hook has rewritten it\n"
        f"{excerpt}"
        f"Write instead: a fresh run of the cell or the program, and use the new {name}"
    )


def test_the_refusal_names_the_module(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load(BEFORE)
    monkeypatch.setitem(sys.modules, "loss", module)
    path = Path(module.f.__code__.co_filename)
    path.write_text(BEFORE.replace("sin", "cosh"))
    assert refusal(module.f) == (
        "loss.py:5: this is not the text from which f was made: "
        "it was edited since, or a decorator or an import hook has rewritten it\n"
        "    def f(x):\n"
        "    ^^^^^^^^^\n"
        "Write instead: importlib.reload(loss), and use the new f"
    )
    path.write_text(BEFORE.replace("RATE = 2.0", "RATE = = 2.0"))
    assert refusal(module.pair[0]) == (
        "loss.py:3: the file no longer parses: it was edited since <lambda> was made\n"
        "    RATE = = 2.0\n"
        "    ^^^^^^^^^^^^\n"
        "Write instead: importlib.reload(loss), once the file parses"
    )


@pytest.mark.parametrize("text", ["def f(x)\n    return x\n", "def f(x): \0\n"])
def test_a_file_that_does_not_parse_is_refused(load: Load, text: str) -> None:
    module = load("def f(x):\n    return 2 * x\n")
    Path(module.f.__code__.co_filename).write_text(text)
    shown = text.splitlines()[0].strip()
    assert refusal(module.f) == (
        "loss.py:1: the file no longer parses: it was edited since f was made\n"
        f"    {shown}\n"
        f"    {'^' * len(shown)}\n"
        "Write instead: a fresh run of the cell or the program, once the file parses"
    )


def test_a_file_that_is_gone_is_refused(load: Load) -> None:
    module = load(BEFORE)
    Path(module.f.__code__.co_filename).unlink()
    assert refusal(module.f) == (
        "f has no source: loss.py cannot be read\n"
        "Write instead: f in a file that stays beside the program"
    )


def test_what_was_read_before_an_edit_stays(load: Load) -> None:
    module = load(BEFORE)
    before = read(module.f)
    Path(module.f.__code__.co_filename).write_text(BEFORE.replace("sin", "cosh"))
    assert read(module.f).node is before.node
    assert read(module.f).line(6) == "    return RATE * math.sin(x)"


def test_a_reloaded_function_is_read_anew(load: Load) -> None:
    old = load(BEFORE)
    read(old.f)
    new = load(BEFORE.replace("sin", "cosh"))
    assert text_of(read(new.f)).endswith("math.cosh(x)")
    assert text_of(read(old.f)).endswith("math.sin(x)")


# -- Cells, prompts, archives ----------------------------------------------------------


@pytest.mark.parametrize(
    "filename",
    ["<ipython-input-1-abc>", "<cell 3>", "kernel_1/2345.py", "<string>"],
)
def test_cells(register: Callable[[str, str], None], filename: str) -> None:
    text = "RATE = 2.0\nfs = [lambda x: x, lambda x: RATE * x]\n"
    register(filename, text)
    cell = module_of(compile(text, filename, "exec", dont_inherit=True), "__main__")
    found = read(cell.fs[1])
    assert text_of(found).endswith("return RATE * x")
    assert found.filename == filename
    assert str(found.location(found.node)) == f"{filename.split('/')[-1]}:2"


def test_a_cell_that_ran_again_with_another_text(
    register: Callable[[str, str], None],
) -> None:
    text = "def f(x):\n    return x\n"
    cell = module_of(compile(text, "<cell 1>", "exec"), "__main__")
    register("<cell 1>", "def f(x):\n    return x + 1\n")
    assert refusal(cell.f) == (
        "<cell 1>:1: this is not the text from which f was made: "
        "it was edited since, or a decorator or an import hook has rewritten it\n"
        "    def f(x):\n"
        "    ^^^^^^^^^\n"
        "Write instead: a fresh run of the cell or the program, and use the new f"
    )


def test_a_cell_run_statement_by_statement(
    register: Callable[[str, str], None],
) -> None:
    """IPython compiles the statements of a cell one by one, the last to be shown."""
    text = "def f(x):\n    return x\ng = lambda x: x + 1; h = lambda x: x + 2\n1 + 1\n"
    register("<cell 2>", text)
    module = types.ModuleType("__main__")
    for node in ast.parse(text).body[:-1]:
        exec(compile(ast.Interactive([node]), "<cell 2>", "single"), module.__dict__)
    assert text_of(read(module.f)).endswith("return x")
    assert text_of(read(module.g)).endswith("return x + 1")
    assert text_of(read(module.h)).endswith("return x + 2")


def test_a_cell_that_awaits(register: Callable[[str, str], None]) -> None:
    text = "await pause()\ndef f(x):\n    return x\n"
    register("<cell 4>", text)
    tree = ast.parse(text)
    del tree.body[0]
    cell = module_of(compile(tree, "<cell 4>", "exec"), "__main__")
    assert text_of(read(cell.f)).endswith("return x")


def test_a_cell_that_inherits_from_the_future(
    register: Callable[[str, str], None],
) -> None:
    import __future__

    text = "def f(x):\n    def g(y: Unknown[x]) -> x: return y\n    return g\n"
    register("<cell 5>", text)
    flags = __future__.annotations.compiler_flag
    code = compile(text, "<cell 5>", "exec", flags, dont_inherit=True)
    cell = module_of(code, "__main__")
    assert read(cell.f).node.name == "f"
    assert read(cell.f(1)).node.name == "g"


def test_a_module_in_an_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "models.zip", "w") as archive:
        archive.writestr("zipped_loss.py", "def f(x):\n    return 3 * x\n")
    monkeypatch.syspath_prepend(tmp_path / "models.zip")
    import zipped_loss  # type: ignore[import-not-found]

    monkeypatch.delitem(sys.modules, "zipped_loss")
    assert text_of(read(zipped_loss.f)).endswith("return 3 * x")


# -- Functions without source ----------------------------------------------------------

WAYS_OUT = (
    "Write instead: a row for it (gradwright.primitive), a custom rule "
    "(custom_jvp, custom_vjp) or a callback (pure_callback)"
)


class Callback:
    def __call__(self, x: float) -> float:
        return x


@pytest.mark.parametrize(
    ("thing", "described"),
    [
        (math.sin, "math.sin, of type builtin_function_or_method,"),
        (len, "len, of type builtin_function_or_method,"),
        (str.upper, "str.upper, of type method_descriptor,"),
        (functools.partial(pow, 2), "an object of type partial"),
        (Callback(), "an object of type Callback"),
        (3.0, "an object of type float"),
    ],
)
def test_not_a_python_function(thing: object, described: str) -> None:
    assert refusal(thing) == f"{described} has no Python source\n{WAYS_OUT}"


def test_a_ufunc_is_not_a_python_function() -> None:
    message = refusal(np.sin)
    assert message.endswith(f"sin, of type ufunc, has no Python source\n{WAYS_OUT}")


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: eval("lambda x: x + 1"), "<lambda>"),
        (lambda: module_of(compile("def f(x): pass", "<string>", "exec"), "m").f, "f"),
    ],
)
def test_strings_keep_no_text(make: Callable[[], Any], name: str) -> None:
    assert refusal(make()) == (
        f"{name} has no source: the text of '<string>' was not kept, as for strings "
        "given to exec or eval and for the plain '>>>' prompt\n"
        f"Write instead: {name} in a file or a notebook cell"
    )


def test_the_text_of_another_string(register: Callable[[str, str], None]) -> None:
    """`python -c` registers its own text under the name that exec gives to all."""
    register("<string>", "def f(x):\n    return x\n")
    assert refusal(eval("lambda x: x + 1")).startswith(
        "<lambda> has no source: the text of '<string>' was not kept"
    )


def test_generated_methods_have_no_text() -> None:
    from collections import namedtuple

    new = namedtuple("Point", "x y").__new__
    assert " has no source: the text of '<string" in refusal(new)


def test_async_functions_are_refused(load: Load) -> None:
    module = load(
        """\
        class Feed:
            @staticmethod
            async def f(x):
                return x
        """
    )
    assert refusal(module.Feed.f) == (
        "loss.py:3: cannot differentiate an 'async' function\n"
        "    async def f(x):\n"
        "    ^^^^^^^^^^^^^^^\n"
        "Write instead: a plain 'def', awaited by its caller"
    )


def test_the_code_of_a_comprehension_is_refused(load: Load) -> None:
    module = load("def f(x):\n    return (y for y in x)\n")
    (code,) = (c for c in module.f.__code__.co_consts if isinstance(c, types.CodeType))
    assert "this is not the text from which <genexpr> was made" in refusal(
        types.FunctionType(code, {})
    )


def test_python_without_columns(tmp_path: Path) -> None:
    program = """\
from gradwright.transform.source import read
one = lambda x: x
two = [lambda x: x + 1, lambda x: x + 2]
print(read(one).node.name)
try:
    read(two[1])
except OSError as error:
    print(error)
"""
    (tmp_path / "loss.py").write_text(program)
    command = [sys.executable, "-X", "no_debug_ranges", "loss.py"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.stderr == ""
    assert result.stdout == (
        "<lambda>\n"
        "loss.py:3: several lambdas stand on this line, and Python keeps no columns "
        "to tell them apart (-X no_debug_ranges)\n"
        "    two = [lambda x: x + 1, lambda x: x + 2]\n"
        "    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "Write instead: one lambda on a line, or a 'def'\n"
    )


# -- Functions whose asserts pytest has rewritten --------------------------------------


def checked(x: float, *rest: float, scale: float = 1.0) -> float:
    assert x > 0, "positive"
    return x * scale


def holds_checked(k: float) -> Callable[[float], float]:
    def inner(x: float) -> float:
        assert x > k
        return x * k

    return inner


def test_functions_with_asserts_in_test_modules() -> None:
    assert "@pytest_ar" in checked.__code__.co_names
    assert text_of(read(checked)).endswith(
        "assert x > 0, 'positive'\n    return x * scale"
    )
    assert read(holds_checked).node.name == "holds_checked"
    assert text_of(read(holds_checked(1.0))).endswith("return x * k")


CHECKED = """\
def f(x, y):
    assert (z := x) and y.a == 2, "message"
    return z * y.a
"""


@pytest.mark.parametrize(
    ("old", "new", "is_found"),
    [
        ("", "", True),
        ("(x, y)", "(y, x)", False),
        ("(x, y)", "(x, *y)", False),
        ("(x, y)", "(x, y, w=1)", False),
        ("def f", "def g", False),
        ("def f", "\ndef f", False),
        ("z * y.a", "z * y.b", False),
        ("z * y.a", "z + y.a", True),  # what the rewriting hides
    ],
)
def test_rewritten_functions_are_known_by_their_head(
    tmp_path: Path, old: str, new: str, is_found: bool
) -> None:
    path = tmp_path / "test_loss.py"
    tree = ast.parse(CHECKED)
    rewrite_asserts(tree, CHECKED.encode())
    module = module_of(compile(tree, str(path), "exec"), "test_loss")
    path.write_text(CHECKED.replace(old, new) if old else CHECKED)
    if is_found:
        assert read(module.f).node.name == "f"
    else:
        assert "this is not the text from which f was made" in refusal(module.f)


def test_only_rewritten_functions_are_known_by_their_head(load: Load) -> None:
    module = load(CHECKED)
    path = Path(module.f.__code__.co_filename)
    path.write_text(CHECKED.replace("z * y.a", "z + y.a + 0"))
    assert "this is not the text from which f was made" in refusal(module.f)


# -- What is remembered ----------------------------------------------------------------


@pytest.fixture
def fresh() -> Iterator[None]:
    source.clear_cache()
    yield
    source.clear_cache()


def test_a_function_is_read_once(load: Load, fresh: None) -> None:
    module = load(NESTED)
    first, second = module.make(1), module.make(2)
    assert read(first).node is read(second).node
    assert read(first).function is first
    assert read(second).function is second


def test_a_file_is_compiled_once(load: Load, fresh: None) -> None:
    module = load(NESTED)
    for function in (module.make, module.pick, module.count, module.make(1)):
        read(function)
    assert source._parse.cache_info().misses == 1


AT_THE_MARGIN = '''\
from __future__ import annotations
import math
import os.path as path
from functools import (
    cache,
)

@cache
@(
lambda f: f
)
def decorated(x: float):
    # A remark, the next one at the margin.
# Here.

    return math.sin(x) + len(path.join("a", "b"))

def later(
    x,
    inner=lambda x: 2 * x,
):
    def helper(y):
        return math.hypot(x, y)
    return inner(helper(x))
after = 1

def quoting(x):
    names = """
def quoting(x): no code
"""
    return x, names

if after:
    def indented(x):
        return math.cos(x)
'''


@pytest.mark.parametrize(
    ("name", "line", "whole"),
    [
        ("decorated.__wrapped__", 12, 0),
        ("later", 18, 0),
        ("quoting", 27, 1),  # its lines are cut at a text
        ("indented", 34, 1),
    ],
)
def test_a_function_at_the_margin_is_parsed_alone(
    load: Load, fresh: None, name: str, line: int, whole: int
) -> None:
    module = load(AT_THE_MARGIN)
    found = read(eval(name, module.__dict__))
    assert found.node.lineno == line
    assert found.line(2) == "import math"
    assert found.node.body[-1].end_lineno > line
    assert source._parse.cache_info().misses == whole


def test_methods_that_were_imported_are_of_the_whole_file(
    load: Load, fresh: None
) -> None:
    module = load("""\
        from decimal import ROUND_UP

        def up(x):
            return ROUND_UP.lower()
    """)
    assert text_of(read(module.up)).endswith("return ROUND_UP.lower()")


def test_functions_that_are_gone_are_forgotten(load: Load, fresh: None) -> None:
    module = load(BEFORE)
    read(module.f)
    read(module.pair[0])
    assert len(source._known) == 2
    del module
    gc.collect()
    assert len(source._known) == 0


def test_many_functions_made_in_a_loop_are_forgotten(
    tmp_path: Path, fresh: None
) -> None:
    for i in range(40):
        module = load_file(tmp_path / f"loss{i}.py", f"def f(x):\n    return {i} * x\n")
        assert text_of(read(module.f)).endswith(f"return {i} * x")
        del module
        gc.collect()
    assert len(source._known) == 0
    assert source._parse.cache_info().currsize <= 32


def test_clear_cache(load: Load, fresh: None) -> None:
    module = load(BEFORE)
    before = read(module.f)
    source.clear_cache()
    assert read(module.f).node is not before.node
