"""Fixtures of every test of the suite: nothing is left when it ends, and golden files.

``pytest --write-golden`` rewrites the golden files with the texts that the tests make. Read the
differences before you commit them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from nothing_left import nothing_left

__all__ = ["fakes", "nothing_left"]

FAKES = Path(__file__).parent / "fakes"
GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-golden",
        action="store_true",
        help="rewrite the golden files of the suite's tests with the texts that they make",
    )


@pytest.fixture
def fakes() -> Path:
    """Return the folder of the fake loaders."""
    return FAKES


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a function that compares a text with a golden file, or writes it there."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        # Trailing spaces of a terminal's tables are of no interest, and editors remove them.
        text = "".join(f"{line.rstrip()}\n" for line in text.strip("\n").split("\n"))
        if request.config.getoption("--write-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"there is no {path}: write it by --write-golden"
        assert text == path.read_text(encoding="utf-8")

    return compare
