"""What nobody would have written, in the source that gradwright emits.

    >>> lint("def f_grad(x): y = 2.0; return x", {"f", "x"})
    ['1: the file should end with one newline', '1: y is assigned and never read']

`lint` takes a module's text and the identifiers of the user's program.  Names made of
those (`x`, `x_1`, `x_bar`, `x_dot_1`) are the user's; every other name is ours, and has
to earn its line.
"""

import ast
import builtins
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

WIDTH = 88
MODULES = {"numpy", "math", "cmath"}
MOST_STATEMENTS = 4  # of a gradient, for one of the user's

LOUD = {"print", "input", "open", "exec", "eval"}
TAPE = {"append", "pop"}
BLOCKS = ("body", "orelse", "finalbody")


def lint(text: str, users: set[str]) -> list[str]:
    """Everything to complain about, as `line: complaint`, in the order of the lines."""
    try:
        tree = ast.parse(text)
    except SyntaxError as e:
        return [f"{e.lineno}: {e.msg}"]
    found = [*layout(text, tree), *imports(tree), *helpers(tree, users)]
    for f in functions(tree):
        found += [*undefined(f, tree), *unused(f), *idle(f), *single_uses(f, users)]
    return [f"{line}: {complaint}" for line, complaint in sorted(set(found))]


Complaints = Iterator[tuple[int, str]]


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [s for s in tree.body if isinstance(s, ast.FunctionDef)]


def statements(tree: ast.AST) -> int:
    """How many statements stand inside the functions of a tree, docstrings apart.

    `a, b = b, a` counts as two, as it would be written without tuples.
    """
    inside = [n for f in ast.walk(tree) if is_function(f) for n in bodies(f)]
    return sum(weight(s) for block in inside for s in block)


def weight(s: ast.stmt) -> int:
    match s:
        case ast.Assign(targets=[ast.Tuple(elts=names)]):
            return len(names)
    return 0 if is_docstring(s) else 1


def is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef)


def is_docstring(s: ast.stmt) -> bool:
    match s:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a statement and those inside, without those of functions inside."""
    for name in BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list) and block:
            yield block
            for s in block:
                if not is_function(s):
                    yield from bodies(s)


def is_ours(name: str, users: set[str]) -> bool:
    """Whether a name is not made of one of the user's."""
    while name not in users:
        shorter = re.sub(r"(_bar|_dot|_tape|_\d+)$", "", name)
        if shorter == name:
            return True
        name = shorter
    return False


# ---- layout and modules ------------------------------------------------------------


def layout(text: str, tree: ast.Module) -> Complaints:
    lines = text.split("\n")
    for n, line in enumerate(lines, start=1):
        if len(line) > WIDTH:
            yield n, f"{len(line)} columns"
        if line != line.rstrip():
            yield n, "blanks at the end of the line"
    for f in functions(tree):
        above = lines[: f.lineno - 1]
        if above and above[-2:] != ["", ""]:
            yield f.lineno, f"two blank lines should stand before {f.name}"
    if not text.endswith("\n") or text.endswith("\n\n"):
        yield len(lines), "the file should end with one newline"


def imports(tree: ast.Module) -> Complaints:
    loaded = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                for alias in node.names:
                    if alias.name not in MODULES:
                        yield node.lineno, f"imports {alias.name}"
                    if (alias.asname or alias.name) not in loaded:
                        yield node.lineno, f"{alias.name} is imported and never used"
            case ast.ImportFrom():
                yield node.lineno, f"imports from {node.module}"


def helpers(tree: ast.Module, users: set[str]) -> Complaints:
    """Functions that nobody calls, without parameters, or that do not read one."""
    called = {n.id for f in functions(tree) for n in ast.walk(f) if is_load(n)}
    for f in functions(tree):
        is_root = f.name not in called
        if is_root:
            base = re.sub(r"_(grad|jvp|forward|backward)$", "", f.name)
            if base == f.name or is_ours(base, users):
                yield f.lineno, f"{f.name} is never called"
            continue
        names = [a.arg for a in (*f.args.args, *f.args.kwonlyargs)]
        if not names:
            yield f.lineno, f"{f.name} is a helper without parameters"
        read = {n.id for s in f.body for n in ast.walk(s) if is_load(n)}
        for name in names:
            if name not in read:
                yield f.lineno, f"the parameter {name} of {f.name} is never read"


# ---- names without a meaning, values without a use ---------------------------------


def is_load(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def is_store(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def loads(*nodes: ast.AST | None) -> set[str]:
    """The names that are read, that of `x += 1` included."""
    found = set()
    for node in nodes:
        for n in ast.walk(node) if node else ():
            if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
                found.add(n.target.id)
            if is_load(n):
                found.add(n.id)
    return found


def stored(*nodes: ast.AST) -> set[str]:
    """The names that are assigned, stored into, or are tapes written or read."""
    found = set()
    for node in nodes:
        for n in ast.walk(node):
            match n:
                case ast.Name(id=name, ctx=ast.Store()):
                    found.add(name)
                case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                    found.add(name)
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
                    if method in TAPE:
                        found.add(name)
    return found


def parameters(f: ast.FunctionDef) -> set[str]:
    return {a.arg for a in ast.walk(f.args) if isinstance(a, ast.arg)}


def undefined(f: ast.FunctionDef, tree: ast.Module) -> Complaints:
    known = parameters(f) | {n.id for n in ast.walk(f) if is_store(n)}
    known |= set(dir(builtins)) | {g.name for g in functions(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            known |= {alias.asname or alias.name for alias in node.names}
    for n in ast.walk(f):
        if is_load(n) and n.id not in known:
            yield n.lineno, f"{n.id} is not defined"


def unused(f: ast.FunctionDef) -> Complaints:
    """Values that no path reads, arrays and tapes that are only stored into."""
    dead: list[tuple[int, str]] = []
    before(f.body, Paths(set()), dead)
    yield from ((n, f"{name} is assigned and never read") for n, name in dead)
    read, written = set[str](), dict[str, int]()
    into = [n for node in ast.walk(f) for n in stored_into(node)]
    for n in into:
        written.setdefault(n.id, n.lineno)
    for n in ast.walk(f):
        if is_load(n) and not any(n is m for m in into):
            read.add(n.id)
    for name, line in written.items():
        if name not in read | parameters(f):
            yield line, f"{name} is stored into and never read"


def stored_into(node: ast.AST) -> Iterator[ast.Name]:
    match node:
        case ast.Subscript(value=ast.Name() as name, ctx=ast.Store()):
            yield name
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name() as name))):
            if node.value.func.attr == "append":
                yield name


@dataclass
class Paths:
    """The names that are read later, along each way out of a statement."""

    on: set[str]
    broken: set[str] = field(default_factory=set)
    continued: set[str] = field(default_factory=set)


def before(
    block: list[ast.stmt], after: Paths, dead: list[tuple[int, str]]
) -> set[str]:
    """The names that are read from the start of a block on; notes dead assignments."""
    live = after.on
    for s in reversed(block):
        live = before_statement(s, Paths(live, after.broken, after.continued), dead)
    return live


def before_statement(
    s: ast.stmt, after: Paths, dead: list[tuple[int, str]]
) -> set[str]:
    live = after.on

    def note(target: ast.AST) -> None:
        for n in ast.walk(target):
            if is_store(n) and n.id not in live and n.id != "_":
                dead.append((s.lineno, n.id))

    match s:
        case ast.Assign():
            names = {n.id for n in ast.walk(s) if is_store(n)}
            for t in s.targets:
                note(t)
            return (live - names) | loads(s)
        case ast.AugAssign():
            note(s.target)
            return live | loads(s)
        case ast.If():
            then, orelse = (before(b, after, dead) for b in (s.body, s.orelse))
            return then | orelse | loads(s.test)
        case ast.With():
            items = [item.context_expr for item in s.items]
            return before(s.body, after, dead) | loads(*items)
        case ast.For() | ast.While():
            return before_loop(s, live, dead)
        case ast.Break():
            return after.broken
        case ast.Continue():
            return after.continued
        case ast.Return() | ast.Raise():
            return loads(s)
    return live | loads(s)


def before_loop(
    s: ast.For | ast.While, live: set[str], dead: list[tuple[int, str]]
) -> set[str]:
    leaving = live if is_endless(s) else before(s.orelse, Paths(live), dead)
    head = loads(s.test) if isinstance(s, ast.While) else set()
    if not is_endless(s):
        head |= leaving
    targets = stored(s.target) if isinstance(s, ast.For) else set[str]()
    while True:
        inside = before(s.body, Paths(head, live, head), [])
        if inside - targets <= head:
            break
        head |= inside - targets
    before(s.body, Paths(head, live, head), dead)
    for n in sorted(targets - inside - {"_"}):
        dead.append((s.lineno, n))
    return head | loads(s.iter) if isinstance(s, ast.For) else head


def is_endless(s: ast.stmt) -> bool:
    return isinstance(s, ast.While) and getattr(s.test, "value", False) is True


def idle(f: ast.FunctionDef) -> Complaints:
    """Expressions that stand alone and say nothing, or what another line says."""
    texts = [ast.unparse(n) for n in ast.walk(f) if isinstance(n, ast.expr)]
    for block in bodies(f):
        for s in block:
            if not isinstance(s, ast.Expr) or is_docstring(s):
                continue
            text = ast.unparse(s.value)
            if isinstance(s.value, ast.Name | ast.Constant):
                yield s.lineno, f"{text} stands alone"
            elif not isinstance(s.value, ast.Call) and texts.count(text) > 1:
                yield s.lineno, f"{text} stands alone, and is evaluated elsewhere too"


# ---- names used once ---------------------------------------------------------------


def single_uses(f: ast.FunctionDef, users: set[str]) -> Complaints:
    """Names of ours whose expression might as well stand where the name does."""
    found = [d for block in bodies(f) for d in definitions(block)]
    for name in sorted({d.name for d in found if is_ours(d.name, users)}):
        own = [d for d in found if d.name == name]
        reads, writes = (count(name, f.body, kind) for kind in (is_load, is_store))
        if (sum(d.reads for d in own), len(own)) != (reads, writes):
            continue  # carried from one pass or branch to another
        if not all(d.is_only for d in own):
            continue
        for d in own:
            if d.reads == 1 and may_nest(name, d.value, d.reach):
                yield d.line, f"{name} is used once, and fits where it is used"


@dataclass
class Definition:
    """An assignment to a name, and the statements of its block that it reaches."""

    name: str
    line: int
    value: ast.expr
    reach: list[ast.stmt]

    @property
    def reads(self) -> int:
        return count(self.name, self.reach, is_load)

    @property
    def is_only(self) -> bool:
        """Whether nothing else gives the name a value on the way."""
        ends = self.reach[-1:] if any(map(is_definition, self.reach[-1:])) else []
        again = [s for s in ends if s.targets[0].id == self.name]
        return count(self.name, self.reach, is_store) == len(again)


def definitions(block: list[ast.stmt]) -> Iterator[Definition]:
    names = [n.targets[0].id if is_definition(n) else None for n in block]
    for k, name in enumerate(names):
        if name is not None:
            end = names.index(name, k + 1) if name in names[k + 1 :] else len(block)
            s = block[k]
            yield Definition(name, s.lineno, s.value, block[k + 1 : end + 1])


def is_definition(s: ast.stmt) -> bool:
    match s:
        case ast.Assign(targets=[ast.Name()]):
            return True
    return False


def count(name: str, block: list[ast.stmt], wanted: Callable[[ast.AST], bool]) -> int:
    """How often a name is read, or written, in a block."""
    nodes = [n for s in block for n in ast.walk(s) if wanted(n)]
    return len([n for n in nodes if n.id == name])


def may_nest(name: str, value: ast.expr, rest: list[ast.stmt]) -> bool:
    """Whether an expression may be evaluated, and fits, where its name is read."""
    reads, quiet = loads(value), not may_raise(value)
    pops = {ast.unparse(n.func) for n in ast.walk(value) if is_pop(n)}
    is_loud = any(map(has_effect, ast.walk(value)))
    for s in rest:
        parts = evaluated_once(s)
        if any(name in loads(part) for part in parts):
            place = Place(name, pops, is_loud, quiet)
            return all(map(place.allows, parts)) and fits(name, value, s)
        if name in loads(s) or stored(s) & reads:
            return False
        if (is_loud or not quiet) and any(leaves_or_acts(n) for n in ast.walk(s)):
            return False
        if is_loud and any(map(is_pop, ast.walk(s))):
            return False
    return False


def evaluated_once(s: ast.stmt) -> list[ast.expr]:
    """The expressions of a statement that are evaluated at it, exactly once."""
    match s:
        case ast.If() | ast.Assert():
            return [s.test]
        case ast.For():
            return [s.iter]
        case ast.While():
            return []
        case ast.With():
            return [item.context_expr for item in s.items]
        case ast.Assign():
            return [s.value, *s.targets]
        case ast.AugAssign():
            return [s.value] if isinstance(s.target, ast.Name) else [s.target, s.value]
    return [n for n in ast.iter_child_nodes(s) if isinstance(n, ast.expr)]


@dataclass
class Place:
    """Where a name is read, and what may not come before it there."""

    name: str
    pops: set[str]
    is_loud: bool
    is_quiet: bool

    def allows(self, part: ast.expr) -> bool:
        if self.name not in loads(part):
            return not (self.is_loud and any(map(has_effect, ast.walk(part))))
        return self._within(part)

    def _within(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return True
        match node:
            case ast.BoolOp(values=[_, *sometimes]):
                pass
            case ast.IfExp():
                sometimes = [node.body, node.orelse]
            case ast.Lambda() | ast.ListComp() | ast.GeneratorExp():
                return False
            case _:
                sometimes = []
        for child in ast.iter_child_nodes(node):
            if self.name in loads(child):
                is_always = not any(child is s for s in sometimes)
                return (is_always or self.is_quiet) and self._within(child)
            if self.pops & {ast.unparse(n.func) for n in ast.walk(child) if is_pop(n)}:
                return False
            if self.is_loud and any(map(has_effect, ast.walk(child))):
                return False
        return True


def is_pop(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="pop")):
            return True
    return False


def has_effect(node: ast.AST) -> bool:
    """Whether a call may do more than return a value."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in LOUD or not hasattr(builtins, name)
    return False


def leaves_or_acts(node: ast.AST) -> bool:
    leaving = ast.Raise | ast.Assert | ast.Break | ast.Continue | ast.Return
    return isinstance(node, leaving) or has_effect(node)


def may_raise(value: ast.expr) -> bool:
    raising = ast.Div | ast.FloorDiv | ast.Mod | ast.Pow | ast.Subscript | ast.Call
    return any(isinstance(n, raising) for n in ast.walk(value))


def fits(name: str, value: ast.expr, s: ast.stmt) -> bool:
    """Whether a statement stays on its line when an expression takes a name's place."""
    nested = Nested(name, value).visit(ast.parse(ast.unparse(s)).body[0])
    header = ast.unparse(nested).split("\n")[0]
    return s.col_offset + len(header) <= WIDTH


class Nested(ast.NodeTransformer):
    """A name replaced by an expression, wherever it is read."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self.name = name
        self.value = value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.value if is_load(node) and node.id == self.name else node


# ---- the user's program ------------------------------------------------------------


def identifiers(*sources: str) -> set[str]:
    """Every name that occurs in a program."""
    found: set[str] = set()
    for node in (n for source in sources for n in ast.walk(ast.parse(source))):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                found.add(name)
    return found
