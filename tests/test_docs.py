"""The documentation runs: doctests, the Python of every page; and links lead on."""

import doctest
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import PAGES, ROOT, fences, played

# ---- doctests ----------------------------------------------------------------------


# The folders of the repository, and where they stand in the package.
FOLDERS = {
    "gradwright": "gradwright",
    "transform": "gradwright.transform",
    "backends": "gradwright.backends",
}


def modules() -> Iterator[str]:
    for folder, package in FOLDERS.items():
        yield package
        for found in pkgutil.walk_packages([str(ROOT / folder)], f"{package}."):
            yield found.name


@pytest.mark.parametrize("name", list(modules()))
def test_doctests(name: str) -> None:
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert not failed


def test_there_are_doctests() -> None:
    """The walk reaches packages inside packages."""
    names = set(modules())
    assert "gradwright.transform.primitives.record" in names
    finder = doctest.DocTestFinder()
    found = [t for n in names for t in finder.find(importlib.import_module(n))]
    assert sum(bool(t.examples) for t in found) >= 10


# ---- pages -------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_shown_is_printed(
    path: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    page = path.read_text(encoding="utf-8")
    expected = played(page, tmp_path)
    if request.config.getoption("--update-golden"):
        path.write_text(expected, encoding="utf-8")
        return
    for shown, printed in zip(fences(page), fences(expected), strict=True):
        assert shown.text == printed.text, "`make golden` writes what is printed"


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(path: Path) -> None:
    page = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\[[^]]*\]\(([^)]*)\)", page)
    inside = [link.split("#")[0] for link in links if "://" not in link]
    missing = [link for link in inside if link and not (path.parent / link).exists()]
    assert not missing


# ---- the player itself -------------------------------------------------------------

PAGE = """A page.

```python
a = 2
print(a)
```

gives

```text
3
```

```python
b = a + 1
```
"""


def test_a_wrong_output_is_seen(tmp_path: Path) -> None:
    assert played(PAGE, tmp_path) == PAGE.replace("3\n", "2\n")


def test_what_is_printed_must_be_shown(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="nothing shows it"):
        played(PAGE + "\n```python\nprint(b)\n```\n", tmp_path)


def test_quotations_follow_their_file(tmp_path: Path) -> None:
    page = "```python\n# tests/pages.py\ndef fences(page):\n    return 0\n```\n"
    text = (ROOT / "tests" / "pages.py").read_text(encoding="utf-8")
    (fence,) = fences(played(page, tmp_path))
    assert fence.text.removeprefix("# tests/pages.py\n") in text
    assert "FENCE.finditer" in fence.text
