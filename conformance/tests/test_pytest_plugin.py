"""The pytest front end: its options, its items and their outcomes, run as users run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=170, check=False
    )


def test_a_failing_requirement_is_a_failing_item(tmp_path: Path, fakes: Path) -> None:
    ran = run(
        "--pyargs", "midepoch_conformance", "--loader", f"{fakes}/counter.py:Forgets",
        "-k", "RESUME-1 or BASIS-1 or VOWN-1", "-rs", "-v", cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "test_requirement[BASIS-1-map] PASSED" in ran.stdout
    assert "test_requirement[RESUME-1-map] FAILED" in ran.stdout
    assert "RESUME-1 fails silently on map data" in ran.stdout
    assert "test_requirement[VOWN-1-map] SKIPPED" in ran.stdout
    assert "script   written by: midepoch check" in ran.stdout


def test_an_exact_loader_passes_under_xdist(tmp_path: Path, fakes: Path) -> None:
    ran = run(
        "--pyargs", "midepoch_conformance", "--loader", f"{fakes}/counter.py:Adapter",
        "-k", "RESUME-1 or BASIS or EPOCH-1", "-n", "2", cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "passed" in ran.stdout


def test_no_loader_is_an_error_that_says_so(tmp_path: Path) -> None:
    ran = run("--pyargs", "midepoch_conformance", cwd=tmp_path)
    assert ran.returncode == 2
    assert "name a loader to judge: --loader torchdata" in ran.stdout


def test_an_unknown_profile_is_an_error_that_says_so(tmp_path: Path) -> None:
    ran = run(
        "--pyargs", "midepoch_conformance", "--loader", "torch", "--profile", "slow", cwd=tmp_path
    )
    assert ran.returncode == 2
    assert "unknown profile 'slow'" in ran.stdout


def test_other_runs_keep_their_short_options(tmp_path: Path) -> None:
    """A plugin that is always loaded must not take ``--profile`` from others."""
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--profile', action='store_true')\n"
    )
    (tmp_path / "test_it.py").write_text(
        "def test_it(pytestconfig):\n"
        "    assert pytestconfig.getoption('--profile') is True\n"
        "    assert pytestconfig.getoption('--midepoch-loader') is None\n"
    )
    ran = run("--profile", "test_it.py", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_plugin_imports_nothing_of_weight() -> None:
    program = (
        "import sys, midepoch_conformance.pytest_plugin as p; "
        "print(sorted(m for m in sys.modules if m.split('.')[0] in "
        "('midepoch_conformance', 'torch', 'numpy', 'rich', 'typer', 'hypothesis', 'pytest')))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout.strip() == ("['midepoch_conformance', 'midepoch_conformance.pytest_plugin']")


@pytest.mark.parametrize("name", ["loader", "profile", "python"])
def test_long_names_are_always_there(pytestconfig: pytest.Config, name: str) -> None:
    assert pytestconfig.getoption(f"--midepoch-{name}") in (None, "quick")
