"""The pytest front end: its options, its items and their outcomes, run as users run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from test_check import cut

from midepoch_conformance.case.workload import Workload
from midepoch_conformance.report.lines import spec_version, suite_version


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
    script = "midepoch-report/counter_resume_1_map_repeated.py"
    assert f"script   {script}" in ran.stdout
    assert (tmp_path / script).is_file()


def test_an_exact_loader_passes_under_xdist(tmp_path: Path, fakes: Path) -> None:
    ran = run(
        "--pyargs", "midepoch_conformance", "--loader", f"{fakes}/counter.py:Adapter",
        "-k", "RESUME-1 or BASIS-1", "-n", "2", cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "passed" in ran.stdout


KNOWN = """
[[known]]
requirement = "RESUME-1"
link = "https://example.org/issues/7"
reason = "nobody resumes here"
case = '''{case}'''
"""


def known_file(folder: Path) -> str:
    path = folder / "known.toml"
    path.write_text(KNOWN.replace("{case}", json.dumps(cut(Workload(), 1).to_json())))
    return str(path)


def test_junit_is_pytests_own(tmp_path: Path, fakes: Path) -> None:
    """A test case a requirement and kind: failures with their scripts, reasons, versions."""
    ran = run(
        "--pyargs", "midepoch_conformance", "--loader", f"{fakes}/counter.py:Forgets",
        "-k", "map and not stateful and (RESUME-1 or EPOCH-1 or BASIS-1 or VOWN-1)",
        "--scripts", "here", "--junitxml=junit.xml", cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout + ran.stderr
    told = ElementTree.parse(tmp_path / "junit.xml").getroot()
    found = {str(case.get("name")): case for case in told.iter("testcase")}
    assert sorted(found) == [
        f"test_requirement[{name}-map]" for name in ("BASIS-1", "EPOCH-1", "RESUME-1", "VOWN-1")
    ]
    properties = {
        name: {p.get("name"): p.get("value") for p in case.iter("property")}
        for name, case in found.items()
    }
    resume = properties["test_requirement[RESUME-1-map]"]
    assert resume["requirement"] == "RESUME-1"
    assert resume["loader"] == "counter"
    assert resume["suite"] == suite_version()
    assert resume["spec"] == spec_version()
    assert str(resume["verdict"]).startswith("fails silently ")
    (failure,) = found["test_requirement[RESUME-1-map]"].iter("failure")
    (script,) = (line.split()[1] for line in str(failure.text).splitlines() if "script  " in line)
    assert (tmp_path / script).is_file()
    assert script.startswith("here/")
    assert "MUST resume" in str(failure.text)
    (skipped,) = found["test_requirement[EPOCH-1-map]"].iter("skipped")
    assert str(skipped.get("message")).startswith("blocked: ")
    (skipped,) = found["test_requirement[VOWN-1-map]"].iter("skipped")
    assert str(skipped.get("message")).startswith("not offered: ")
    assert not list(found["test_requirement[BASIS-1-map]"].iter("skipped"))


def test_a_known_failure_is_expected_and_told(tmp_path: Path, fakes: Path) -> None:
    ran = run(
        "--pyargs", "midepoch_conformance", "--loader", f"{fakes}/counter.py:Forgets",
        "--known", known_file(tmp_path), "-k", "map and not stateful and RESUME-1",
        "--junitxml=junit.xml", "-rx", "-n", "2", cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 xfailed" in ran.stdout
    told = ElementTree.parse(tmp_path / "junit.xml").getroot()
    skipped = {str(c.get("name")): s for c in told.iter("testcase") for s in c.iter("skipped")}
    assert sorted(skipped) == [
        "test_requirement[RESUME-1-map]", "test_requirement[known-1-RESUME-1-map]",
    ]  # fmt: skip
    for element in skipped.values():
        assert element.get("type") == "pytest.xfail"
        assert "https://example.org/issues/7: nobody resumes here" in str(element.get("message"))


def test_a_known_failure_that_passes_fails(tmp_path: Path, fakes: Path) -> None:
    ran = run(
        "--pyargs", "midepoch_conformance", "--loader", f"{fakes}/counter.py:Adapter",
        "--midepoch-known", known_file(tmp_path), "-k", "map and not stateful and RESUME-1", "-v",
        cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "entry 1: RESUME-1 passes now: delete the entry" in " ".join(ran.stdout.split())
    assert "test_requirement[RESUME-1-map] PASSED" in ran.stdout


def test_a_bad_file_of_known_failures_is_an_error_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text("[[known]]\nrequirement = 'RESUME-99'\nlink = ''\nreason = ''\ncase = ''\n")
    ran = run(
        "--pyargs", "midepoch_conformance", "--loader", "torch", "--known", str(path), cwd=tmp_path
    )
    assert ran.returncode == 2
    assert "entry 1 (RESUME-99): unknown requirement" in ran.stdout


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


@pytest.mark.parametrize("name", ["loader", "profile", "python", "known", "scripts"])
def test_long_names_are_always_there(pytestconfig: pytest.Config, name: str) -> None:
    assert pytestconfig.getoption(f"--midepoch-{name}") in (None, "quick", "midepoch-report")
