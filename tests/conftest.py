"""What every test stands on: golden files, the shared folder, seeds, the cache."""

import difflib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).resolve().parent

# Set before any test module is imported, so that no test reads a user's cache.
CACHE = tempfile.TemporaryDirectory(prefix="gradwright-tests-")
os.environ["GRADWRIGHT_CACHE_DIR"] = CACHE.name

# The same examples on every run; a busy machine is no failure.
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the files of tests/golden with what the tests produce",
    )


def pytest_unconfigure() -> None:
    CACHE.cleanup()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Hold a text against tests/golden/<name>: `golden("grad/loss.py", source)`."""
    update = request.config.getoption("--update-golden")

    def check(name: str, text: str) -> None:
        path = TESTS / "golden" / name
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists():
            pytest.fail(
                f"tests/golden/{name} is missing: write it with `make golden` "
                "(pytest --update-golden) and read what it wrote",
                pytrace=False,
            )
        elif (expected := path.read_text(encoding="utf-8")) != text:
            difference = difflib.unified_diff(
                expected.splitlines(),
                text.splitlines(),
                f"tests/golden/{name}",
                "what the test produced",
                lineterm="",
            )
            pytest.fail(
                "\n".join(difference)
                + "\n\nIf the change is meant, `make golden` (pytest --update-golden) "
                "rewrites the file.",
                pytrace=False,
            )

    return check


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of programs and figures that may stand beside the repository."""
    path = TESTS.parent.parent / "shared"
    if not path.is_dir():
        pytest.skip("needs ../shared, which does not stand here")
    return path


def pytest_sessionstart(session: pytest.Session) -> None:
    """What an earlier run covered is not what this one covers."""
    file = _coverage_file(session.config)
    if file is not None and not hasattr(session.config, "workerinput"):
        file.unlink(missing_ok=True)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """What the written programs covered, once the last part of them is done."""
    file = _coverage_file(config)
    if file is not None and file.exists():
        terminalreporter.section("written programs")
        terminalreporter.write_line(file.read_text(encoding="utf-8"))


def _coverage_file(config: pytest.Config) -> Path | None:
    cache = getattr(config, "cache", None)
    return None if cache is None else cache.mkdir("programs") / "coverage.txt"
