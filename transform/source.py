"""The syntax node of this very function, found by its code object.

In goes a function as it is bound, out comes the piece of its file (of a notebook
cell, of any text that linecache knows) from which that code object was made:

    >>> f, g = lambda x: x + 1, lambda x: x + 2
    >>> source = read(g)
    >>> source.node.body[0].value.right.value
    2
    >>> print(source.location(source.node).excerpt())
        f, g = lambda x: x + 1, lambda x: x + 2
                                ^^^^^^^^^^^^^^^

Names and line numbers never decide: `inspect.getsource` answers with the undecorated
function under `functools.wraps`, and with another function once the file was edited.
Here the text is compiled again, first that of the function alone and then the whole
file, and a node counts only where it gives the bytecode, names and constants that the
function runs.
"""

from __future__ import annotations
import __future__

import ast
import functools
import linecache
import opcode
import os
import re
import sys
import types
import warnings
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from gradwright.transform.errors import Location, SourceError, UnsupportedSyntax
from gradwright.transform.parsing import PARSER

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, eq=False)
class Source:
    """A function and the node it was made from.

    `node` is a `gast.FunctionDef` with the line numbers of the file and without
    decorators, which have been applied already; a lambda is a function named
    "<lambda>" that returns its expression. Private names are mangled (`__w` reads
    `_C__w`), only the function's own name is left as written. `class_name` is that of
    the innermost class around the text, for `super`.

    The node is shared by everybody who reads the function: copy it to change it.
    """

    function: types.FunctionType
    node: Any
    filename: str
    class_name: str | None
    lines: tuple[str, ...] = field(repr=False)

    @property
    def name(self) -> str:
        """The function's name as its text has it, with its class: `Tank.step`."""
        return _name(self.function.__code__)

    def nested(self, node: Any) -> Source:
        """The source of a function inside this one: same file, same globals."""
        return replace(self, node=node)

    def variable(self, name: str) -> Any:
        """What a free name of the function stands for now; None where for nothing."""
        code = self.function.__code__
        if name not in code.co_freevars:
            return self.function.__globals__.get(name)
        cell = (self.function.__closure__ or ())[code.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:  # empty yet
            return None

    def line(self, number: int) -> str:
        """The text of a line of the file, counted from 1; empty beyond its end."""
        return _line(self.lines, number)

    def location(self, node: Any) -> Location:
        """Where a node of the function stands; of several lines, the first."""
        return _location(self.filename, self.lines, node, self.name)


def is_library(function: types.FunctionType) -> bool:
    """Whether a function is Python's own, or one of a numerical library."""
    top = (function.__module__ or "").split(".")[0]
    return top in sys.stdlib_module_names or top in ("numpy", "scipy", "numba", "cupy")


def read(function: object) -> Source:
    """The source of a Python function, never followed through `__wrapped__`.

    Args:
        function: A plain function or lambda; of a method, its `__func__`.

    Returns:
        The function with its node; the work is done once for each code object.

    Raises:
        SourceError: It is no Python function, its text was not kept, or the text
            was edited since the function was made.
        UnsupportedSyntax: It is an `async def`.
    """
    if not isinstance(function, types.FunctionType):
        raise SourceError(
            f"{_described(function)} has no Python source", instead=_WITHOUT_SOURCE
        )
    code = function.__code__
    # By identity: code objects of the same text in two modules are equal.
    key = id(code), id(function.__globals__)
    known = _known.get(key)
    if known is None:
        found = _find(function)

        def forget(_: object) -> None:
            _known.pop(key, None)

        # The entry goes with the code, before its id can be given out again.
        known = _known[key] = _Found(weakref.ref(code, forget), *found)
    return Source(function, known.node, code.co_filename, known.class_name, known.lines)


def clear_cache() -> None:
    """Forget all functions and files that were read."""
    _known.clear()
    _parse.cache_clear()


_WITHOUT_SOURCE = (
    "a row for it (gradwright.primitive), a custom rule (custom_jvp, custom_vjp) "
    "or a callback (pure_callback)"
)


@dataclass(frozen=True)
class _Found:
    """What is remembered of a code object while that lives."""

    code: weakref.ref[types.CodeType]
    node: Any
    class_name: str | None
    lines: tuple[str, ...]


_known: dict[tuple[int, int], _Found] = {}


# -- From a function to its node ------------------------------------------------------


def _find(function: types.FunctionType) -> tuple[Any, str | None, tuple[str, ...]]:
    code = function.__code__
    text = _text(function)
    file = _part(function, text)
    match = None if file is None else _match(file, code)
    if file is None or match is None:
        file = _open(function, text)
        match = _match(file, code)
    if match is None:
        raise _edited(function, file)
    definition, class_name = match
    if isinstance(definition, ast.AsyncFunctionDef):
        raise UnsupportedSyntax(
            "cannot differentiate an 'async' function",
            at=_location(code.co_filename, file.lines, definition, _name(code)),
            instead="a plain 'def', awaited by its caller",
        )
    return _as_function(definition, class_name), class_name, file.lines


def _text(function: types.FunctionType) -> str:
    """The text of the file of a function."""
    code = function.__code__
    filename, name = code.co_filename, _name(code)
    is_path = not filename.startswith("<")
    if is_path:  # entries that others registered are not compared with the disk
        linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename, function.__globals__))
    if not text and is_path:
        raise SourceError(
            f"{name} has no source: {os.path.basename(filename)} cannot be read",
            instead=f"{name} in a file that stays beside the program",
        )
    if not text:
        raise _unkept(name, filename)
    return text


def _part(function: types.FunctionType, text: str) -> _File | None:
    """The lines of this one function, where it stands at the margin, as a file.

    They are parsed much sooner than all the text, and count for as much: only where
    they give this very code.
    """
    code = function.__code__
    if code.co_qualname != code.co_name or code.co_name == "<lambda>":
        return None
    lines = text.split("\n")
    first = start = code.co_firstlineno - 1  # of its decorators, if it has any
    while start < len(lines) and not _OPENS.match(lines[start]):
        start += 1
    end = start + 1
    while end < len(lines) and not _IS_OUTSIDE.match(lines[end]):
        end += 1
    # The compiler calls what it has seen imported in another way than a method.
    space = function.__globals__.items()
    modules = [name for name, a in space if isinstance(a, types.ModuleType)]
    part = "\n" * first + "\n".join(lines[first:end])
    part += "".join(f"\nimport {name}" for name in modules)
    try:
        file = _parsed(code.co_filename, part, code.co_flags & _FUTURES)
    except (SyntaxError, ValueError):  # a line at the margin was inside of a text
        return None
    return replace(file, lines=tuple(lines))


_OPENS = re.compile(r"(async\s+)?def\b")
_IS_OUTSIDE = re.compile(r"[^\s#)\]}]")  # at the margin, and closes nothing


def _open(function: types.FunctionType, text: str) -> _File:
    """The parsed file of a function."""
    code = function.__code__
    filename, name = code.co_filename, _name(code)
    try:
        return _parse(filename, text, code.co_flags & _FUTURES)
    except (SyntaxError, ValueError) as error:
        number = getattr(error, "lineno", None) or code.co_firstlineno
        lines = tuple(text.split("\n"))
        raise SourceError(
            f"the file no longer parses: it was edited since {name} was made",
            at=_location(filename, lines, _Line(number), name),
            instead=f"{_again(function)}, once the file parses",
        ) from error


def _match(file: _File, code: types.CodeType) -> tuple[Definition, str | None] | None:
    """The node that gives this code, and its class."""
    named = [made for made in file.codes if made.code.co_name == code.co_name]
    found = [made for made in named if made.code == code]
    if not found:  # the lines may have moved
        bare = _bare(code)
        found = [made for made in named if _bare(made.code) == bare]
    if not found and _is_rewritten(code):
        found = [made for made in named if _is_alike(made.code, code)]
    if not found:
        return None

    # All of these run alike; the nearest shows the likeliest lines.
    def distance(made: _Made) -> tuple[bool, int]:
        is_other = made.code.co_qualname != code.co_qualname
        return is_other, abs(made.code.co_firstlineno - code.co_firstlineno)

    return _definition(file, min(found, key=distance))


def _bare(code: types.CodeType) -> types.CodeType:
    """The code without its positions: equal when bytecode, names and constants are.

    Equality of code objects tells 1, 1.0 and True, and 0.0 and -0.0, apart.
    """
    constants = tuple(
        _bare(constant) if isinstance(constant, types.CodeType) else constant
        for constant in code.co_consts
    )
    return code.replace(co_consts=constants, co_firstlineno=1, co_linetable=b"")


def _definition(file: _File, made: _Made) -> tuple[Definition, str | None] | None:
    """The node of a code object of this file's own compilation."""
    start = made.code.co_firstlineno
    definitions = file.definitions.get((made.code.co_name, start), [])
    if len(definitions) < 2:  # none for the code of a comprehension
        return definitions[0] if definitions else None
    # Lambdas share the line: the one whose place loads the code. Their order would
    # not do: defaults come before what they belong to, `finally` is compiled twice.
    places = set(_places(made.code, made.maker))
    for node, class_name in definitions:
        place = node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
        if place in places:
            return node, class_name
    raise SourceError(
        "several lambdas stand on this line, and Python keeps no columns to tell "
        "them apart (-X no_debug_ranges)",
        at=_location(file.name, file.lines, _Line(start), "<lambda>"),
        instead="one lambda on a line, or a 'def'",
    )


def _places(code: types.CodeType, maker: types.CodeType) -> Iterator[tuple[Any, ...]]:
    """The places in the text at which `maker` loads the code object."""
    argument = 0
    units = zip(maker.co_code[::2], maker.co_code[1::2], strict=True)
    for (operation, low), place in zip(units, maker.co_positions(), strict=True):
        argument = argument << 8 | low
        if operation == opcode.EXTENDED_ARG:
            continue
        if operation == _LOAD_CONST and maker.co_consts[argument] is code:
            yield place
        argument = 0


_LOAD_CONST = opcode.opmap["LOAD_CONST"]


def _is_rewritten(code: types.CodeType) -> bool:
    """Whether pytest made this code, or one inside it, to explain its asserts."""
    return any(
        name.startswith(("@pytest_ar", "@py_assert"))
        for name in (*code.co_names, *code.co_varnames)
    ) or any(
        _is_rewritten(constant)
        for constant in code.co_consts
        if isinstance(constant, types.CodeType)
    )


def _is_alike(made: types.CodeType, code: types.CodeType) -> bool:
    """Whether first line, signature and names agree, which is all that can be asked."""

    def head(code: types.CodeType) -> tuple[Any, ...]:
        stars = code.co_flags & _STARS
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
        parameters = code.co_argcount + code.co_kwonlyargcount + stars.bit_count()
        return code.co_firstlineno, stars, counts, code.co_varnames[:parameters]

    def names(code: types.CodeType) -> set[str]:
        return {*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars}

    return head(made) == head(code) and names(made) <= names(code)


_STARS = 0x04 | 0x08  # *args, **kwargs


# -- From a text to its code objects and nodes -----------------------------------------


@dataclass(frozen=True)
class _Made:
    """A code object, and the one whose constant it is."""

    code: types.CodeType
    maker: types.CodeType


@dataclass(frozen=True)
class _File:
    """A text, parsed and compiled: all its code objects, and all its functions."""

    name: str
    lines: tuple[str, ...]
    codes: list[_Made]
    definitions: dict[tuple[str, int], list[tuple[Definition, str | None]]]


# The bits of `co_flags` that say what a text inherited; that of nested_scopes is no
# such thing, it marks functions inside functions.
_FUTURES = functools.reduce(
    int.__or__,
    (
        getattr(__future__, name).compiler_flag
        for name in __future__.all_feature_names
        if name != "nested_scopes"
    ),
)


def _parsed(filename: str, text: str, futures: int) -> _File:
    # A cell of a notebook may await, and may inherit the futures of an earlier cell.
    flags = futures | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they have been shown when it was imported
        with PARSER:
            tree = compile(
                text, filename, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True
            )
        code = compile(tree, filename, "exec", flags, dont_inherit=True)
    definitions: dict[tuple[str, int], list[tuple[Definition, str | None]]] = {}
    for node, class_name in _definitions(tree, "lambda" in text):
        decorators = getattr(node, "decorator_list", [])
        first = (decorators[0] if decorators else node).lineno
        name = getattr(node, "name", "<lambda>")
        definitions.setdefault((name, first), []).append((node, class_name))
    return _File(filename, tuple(text.split("\n")), list(_codes(code)), definitions)


_parse = functools.lru_cache(maxsize=32)(_parsed)  # of whole files


def _codes(maker: types.CodeType) -> Iterator[_Made]:
    for constant in maker.co_consts:
        if isinstance(constant, types.CodeType):
            yield _Made(constant, maker)
            yield from _codes(constant)


def _definitions(
    tree: ast.AST, lambdas: bool
) -> Iterator[tuple[Definition, str | None]]:
    """Every function and lambda, with the name of the innermost class around it.

    A text without lambdas has functions among its statements only.
    """
    todo: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while todo:
        node, class_name = todo.pop()
        if isinstance(node, Definition):
            yield node, class_name
        elif isinstance(node, ast.ClassDef):
            todo += [(inner, node.name) for inner in node.body]
            # bases, keywords and decorators stand outside the class
            outside = [*node.bases, *node.keywords, *node.decorator_list]
            outside += getattr(node, "type_params", [])
            todo += [(inner, class_name) for inner in outside]
            continue
        todo += [
            (inner, class_name)
            for inner in ast.iter_child_nodes(node)
            if lambdas or not isinstance(inner, ast.expr)
        ]


# -- The node as it is handed out ------------------------------------------------------


def _as_function(definition: Definition, class_name: str | None) -> Any:
    node = gast.ast_to_gast(definition)
    if isinstance(node, gast.Lambda):
        returned = gast.copy_location(gast.Return(value=node.body), node.body)
        function = gast.FunctionDef(
            name="<lambda>",
            args=node.args,
            body=[returned],
            decorator_list=[],
            returns=None,
            type_comment=None,
            type_params=[],
        )
        node = gast.copy_location(function, node)
    node.decorator_list = []
    name = node.name
    _mangle_all(node, class_name)
    node.name = name
    return node


# Where a node binds or reads a name. Keywords of calls and of class patterns are not
# mangled by Python either.
_NAMED = {
    gast.Name: "id",
    gast.Attribute: "attr",
    gast.FunctionDef: "name",
    gast.AsyncFunctionDef: "name",
    gast.ClassDef: "name",
    gast.MatchAs: "name",
    gast.MatchStar: "name",
    gast.MatchMapping: "rest",
}


def _mangle_all(node: Any, class_name: str | None) -> None:
    """Write out the private names below a node, as the compiler does."""
    todo: list[tuple[Any, str | None]] = [(node, class_name)]
    while todo:
        node, class_name = todo.pop()
        inside = node.name if isinstance(node, gast.ClassDef) else class_name
        if class_name is not None:
            _mangle_one(node, class_name)
        for part, value in gast.iter_fields(node):
            scope = inside if part == "body" else class_name
            values = value if isinstance(value, list) else [value]
            todo += [(inner, scope) for inner in values if isinstance(inner, gast.AST)]


def _mangle_one(node: Any, class_name: str) -> None:
    place = _NAMED.get(type(node))
    if place is not None:
        setattr(node, place, _mangled(getattr(node, place), class_name))
    elif isinstance(node, gast.Global | gast.Nonlocal):
        node.names = [_mangled(name, class_name) for name in node.names]
    elif isinstance(node, gast.alias):
        bound = node.asname or node.name
        mangled = _mangled(bound, class_name)
        if mangled != bound:
            node.asname = mangled


def _mangled(name: str | None, class_name: str) -> str | None:
    owner = class_name.lstrip("_")
    if name is None or not name.startswith("__") or name.endswith("__"):
        return name
    return f"_{owner}{name}" if owner and "." not in name else name


# -- Places and messages ---------------------------------------------------------------


@dataclass(frozen=True)
class _Line:
    """A whole line, in the place of a node."""

    lineno: int
    col_offset: int = 0
    end_lineno: None = None
    end_col_offset: None = None


def _line(lines: tuple[str, ...], number: int) -> str:
    return lines[number - 1] if 1 <= number <= len(lines) else ""


def _location(
    filename: str, lines: tuple[str, ...], node: Any, function: str
) -> Location:
    text = _line(lines, node.lineno)
    column, end = _column(text, node.col_offset), len(text.rstrip())
    if getattr(node, "end_lineno", None) == node.lineno:
        end = _column(text, node.end_col_offset)
    return Location(filename, node.lineno, column, end, text, function)


def _column(text: str, offset: int) -> int:
    """The syntax tree counts bytes of UTF-8, people count characters."""
    return len(text.encode()[:offset].decode(errors="ignore"))


def _name(code: types.CodeType) -> str:
    """As the text has it, with its class but not with the functions around it."""
    return code.co_qualname.rpartition("<locals>.")[2]


def _described(thing: object) -> str:
    """A callable that is no function, as the user would know it."""
    kind = type(thing).__name__
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    if not isinstance(name, str):
        return f"an object of type {kind}"
    module = getattr(thing, "__module__", None)
    if module not in (None, "builtins", "__main__"):
        name = f"{module}.{name}"
    return f"{name}, of type {kind},"


def _unkept(name: str, filename: str) -> SourceError:
    return SourceError(
        f"{name} has no source: the text of {filename!r} was not kept, as for strings "
        "given to exec or eval and for the plain '>>>' prompt",
        instead=f"{name} in a file or a notebook cell",
    )


def _edited(function: types.FunctionType, file: _File) -> SourceError:
    code = function.__code__
    name = _name(code)
    if file.name in ("<string>", "<stdin>"):  # anybody's text may be registered there
        return _unkept(name, file.name)
    start = code.co_firstlineno
    lines = [
        definition.lineno
        for (other, _), ((definition, _), *_) in file.definitions.items()
        if other == code.co_name
    ]
    nearest = min(lines, key=lambda line: abs(line - start), default=start)
    return SourceError(
        f"this is not the text from which {name} was made: it was edited since, "
        "or a decorator or an import hook has rewritten it",
        at=_location(file.name, file.lines, _Line(nearest), name),
        instead=f"{_again(function)}, and use the new {name}",
    )


def _again(function: types.FunctionType) -> str:
    """How a function is made anew."""
    module = function.__module__
    if module in sys.modules and module != "__main__":
        return f"importlib.reload({module})"
    return "a fresh run of the cell or the program"
