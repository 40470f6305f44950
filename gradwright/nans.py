"""NaNs and where they come from: a call once more, statement by statement.

    y = x / z          ->     y = x / z
    return y * y              check(2, y)
                              return check(3, y * y)

The emitted source is run so, of the function or of its derivative, where a result is
not a number: the first NaN is the one to look at.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gradwright.arguments import flat
from gradwright.emitted import NOTHING, Emitted, Runner
from gradwright.handed import Unreadable, as_emitted
from gradwright.transform.emit import Late, Module
from gradwright.transform.errors import Location

CHECK = "_check"
CALLS = {"print": "print", "warnings.warn": "warn"}  # they have happened already


def run_checked(runner: Runner, values: Any, hidden: dict[str, Any] = NOTHING) -> Any:
    """The results of a call, none of which is a NaN.

    Raises:
        FloatingPointError: There is one; it names the line that it is from.
    """
    if runner.hands_over_words:  # by which nobody finds the line
        runner = Emitted(runner.module)
    try:
        before = kept(values, hidden)
    except Unreadable:
        before = None
    out = runner.run(values, hidden)
    if has_nan(out):
        if before is None:
            raise FloatingPointError(f"{runner.module.name} returned a NaN")
        blame(runner.module, *before)
    return out


def kept(values: Any, hidden: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """What a call is given, as it is before the call."""
    return [_copied(a) for a in as_emitted(values)], {
        n: _copied(a) for n, a in hidden.items()
    }


def _copied(a: Any) -> Any:
    if isinstance(a, np.ndarray):
        return a.copy()
    return [_copied(i) for i in a] if isinstance(a, list) else a


def has_nan(a: Any) -> bool:
    """Whether there is a NaN among numbers and arrays, in any structure."""
    return any(_is_nan(leaf) for leaf in flat(a))


def _is_nan(leaf: Any) -> bool:
    if isinstance(leaf, np.ndarray | np.generic):
        return leaf.dtype.kind in "fc" and bool(np.isnan(leaf).any())
    return isinstance(leaf, float | complex) and leaf != leaf


def blame(module: Module | Late, values: list[Any], hidden: dict[str, Any]) -> None:
    """Run a module again with these values, up to the first NaN.

    Raises:
        FloatingPointError: Always; it names the user's line, if there is one.
    """
    lines = module.text.splitlines()

    def check(line: int, value: Any) -> Any:
        if has_nan(value):
            raise FloatingPointError(_message(module, lines, line))
        return value

    given = [k for k, a in enumerate(values) if has_nan(a)]
    names = [a.arg for a in _main(module).args.args]
    given_names = [names[k] for k in given if k < len(names)]
    given_names += [n for n, a in hidden.items() if has_nan(a)]
    namespace: dict[str, Any] = {"__name__": "gradwright.checked", CHECK: check}
    exec(compile(checked(module.text), f"<checked {module.name}>", "exec"), namespace)
    try:
        with np.errstate(all="ignore"):
            namespace[module.name](*values, **hidden)
    except FloatingPointError as e:
        more = (
            f"; {' and '.join(given_names)} held a NaN already" if given_names else ""
        )
        head, *rest = str(e).split("\n")
        raise FloatingPointError("\n".join([head + more, *rest])) from None
    raise FloatingPointError(
        f"{module.name} returned a NaN, and its source, run by statements, does not"
    )


def _message(module: Module | Late, lines: list[str], line: int) -> str:
    """Where a NaN was met, in the user's words."""
    text = lines[line - 1].strip()
    where = next(
        (module.lines[n] for n in range(line, 0, -1) if n in module.lines), None
    )
    part = f"{module.name}: {text}"
    if not isinstance(where, Location):
        return f"the first NaN is in {part}"
    return f"{where}: the first NaN is here, in {part}\n{where.excerpt()}"


# ---- the checked program -----------------------------------------------------------


def checked(text: str) -> ast.Module:
    """An emitted module that checks what every statement gives."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and not isinstance(node, ast.Module):
                setattr(node, name, [s for old in block for s in _with_check(old)])
    return ast.fix_missing_locations(tree)


def _with_check(s: ast.stmt) -> list[ast.stmt]:
    """A statement, and what checks it."""
    match s:
        case ast.Assign(targets=[ast.Tuple(elts=targets)]):
            return [s, *(_check(s, t) for t in targets)]
        case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
            return [s, _check(s, target)]
        case ast.Return(value=ast.expr() as value):
            s.value = _call(s, value)
        case ast.Expr(value=ast.Call(func=f, args=[*args])):
            if ast.unparse(f) in CALLS:
                return [ast.Pass()]
            if isinstance(f, ast.Attribute) and f.attr in ("append", "insert"):
                s.value.args = [*args[:-1], _call(s, args[-1])]  # type: ignore[attr-defined]
            elif args:
                return [s, _check(s, args[0])]  # np.add.at(x_bar, ...)
    return [s]


def _check(s: ast.stmt, target: ast.expr) -> ast.stmt:
    """What looks at a name or an element after a statement."""
    read = ast.parse(ast.unparse(target), mode="eval").body
    return ast.Expr(_call(s, read))


def _call(s: ast.stmt, value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(CHECK, ast.Load()), [ast.Constant(s.lineno), value], [])


def _main(module: Module | Late) -> ast.FunctionDef:
    found = [s for s in ast.parse(module.text).body if isinstance(s, ast.FunctionDef)]
    return next(s for s in found if s.name == module.name)
