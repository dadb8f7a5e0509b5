"""Fixtures of every test of the suite: nothing is left when it ends, golden files, warm hosts.

``pytest --write-golden`` rewrites the golden files with the texts that the tests make. Read the
differences before you commit them.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nothing_left import nothing_left
from warm_hosts import TORCH, WarmHosts

from midepoch_conformance.host.system import processes
from midepoch_conformance.run import check
from midepoch_conformance.search import programs, ranks, steering

__all__ = ["fakes", "few_histories", "nothing_left"]

FAKES = Path(__file__).parent / "fakes"
GOLDEN = Path(__file__).parent / "golden"

# Tests send SIGINT, which the background jobs of a shell ignore.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-golden",
        action="store_true",
        help="rewrite the golden files of the suite's tests with the texts that they make",
    )


@pytest.fixture(scope="module", autouse=True)
def few_histories() -> Iterator[None]:
    """Let checks in tests draw no histories beside their tables, which are often short.

    A module whose tests are about these histories has a fixture of the same name.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steering, "BUDGETS", dict.fromkeys(steering.BUDGETS, (0, 0, 0)))
        patch.setattr(programs, "BUDGETS", dict.fromkeys(programs.BUDGETS, (0, 0)))
        yield


@pytest.fixture
def fakes() -> Path:
    """Return the folder of the fake loaders."""
    return FAKES


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Work in an empty folder, at a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


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


@pytest.fixture(scope="session")
def warm_processes() -> Iterator[WarmHosts]:
    """Keep the processes that hosts are forked from."""
    hosts = WarmHosts()
    keepers = processes.keepers
    with pytest.MonkeyPatch.context() as patch:
        # A session that a test plays in this process would wait for them to end.
        patch.setattr(processes, "keepers", lambda: keepers() | hosts.pids)
        yield hosts
    hosts.close()


@pytest.fixture
def warm_hosts(warm_processes: WarmHosts, monkeypatch: pytest.MonkeyPatch) -> WarmHosts:
    """Fork the hosts of this test's runners; they start with ``warm_hosts.modules`` imported."""
    warm_processes.lend(monkeypatch)
    return warm_processes


@pytest.fixture
def warm_torch(warm_hosts: WarmHosts) -> None:
    """Fork this test's hosts from a process that has imported torch."""
    warm_hosts.modules = TORCH


@pytest.fixture
def few_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the profile ``full`` draw a few cases and histories."""
    monkeypatch.setattr(check, "DRAWN", 20)
    monkeypatch.setattr(steering, "BUDGETS", {"full": (1, 8, 2)})
    for module in (programs, ranks):
        monkeypatch.setattr(module, "BUDGETS", {"full": (8, 2)})
