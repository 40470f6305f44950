"""Pages of documentation whose Python runs, and whose outputs are what it prints."""

import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"# ([\w/]+\.py)\n")


@dataclass
class Fence:
    """A fenced block, and where its text stands in the page."""

    kind: str
    text: str
    start: int
    end: int


def fences(page: str) -> list[Fence]:
    """The fenced blocks of a page, in order."""
    return [Fence(m[1], m[2], *m.span(2)) for m in FENCE.finditer(page)]


def played(page: str, folder: Path) -> str:
    """The page as it is if each block is followed by what it prints.

    Blocks share their names, as cells of a notebook do.  A block that begins with the
    name of a file of the repository quotes it; with another name, it is that file.
    """
    names: dict[str, object] = {"__name__": "page"}
    return "".join(_parts(page, folder, names))


def _parts(page: str, folder: Path, names: dict[str, object]) -> Iterator[str]:
    shown, printed = 0, ""
    for k, fence in enumerate(fences(page)):
        yield page[shown : fence.start]
        shown = fence.end
        named = FILE.match(fence.text)
        if printed:
            yield printed
            printed = ""
        elif named and (ROOT / named[1]).exists():
            yield named[0] + _quoted(ROOT / named[1], fence.text)
        else:
            yield fence.text
            if fence.kind == "python":
                path = folder / (named[1] if named else f"block_{k}.py")
                path.write_text(fence.text, encoding="utf-8")
                printed = _run(path, names)
    assert not printed, f"the last block prints, and nothing shows it:\n{printed}"
    yield page[shown:]


def _run(path: Path, names: dict[str, object]) -> str:
    """What a file prints, without blanks that do not show."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    text = "\n".join(lines).strip("\n")
    return text and text + "\n"


def _quoted(path: Path, excerpt: str) -> str:
    """The definition in a file whose name the excerpt gives, decorators included."""
    (name,) = re.findall(r"^def (\w+)\(", excerpt, re.MULTILINE)
    pieces = path.read_text(encoding="utf-8").split("\n\n\n")
    (definition,) = (p for p in pieces if f"\ndef {name}(" in f"\n{p}")
    return definition.strip("\n") + "\n"
