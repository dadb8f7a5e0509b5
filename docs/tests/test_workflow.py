"""The site's workflow to copy runs: its form, its commands, their options."""

from __future__ import annotations

import html
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

WORKFLOW = Path(__file__).resolve().parents[1] / "assets/midepoch-ci.yml"
INDEXES = re.compile(r"https?://|pypi|index-url|conda", re.IGNORECASE)


def workflow() -> dict[Any, Any]:
    """Return the workflow as YAML has it."""
    data: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    return data


def steps() -> list[dict[str, Any]]:
    """Return the steps of all jobs."""
    return [step for job in workflow()["jobs"].values() for step in job["steps"]]


def commands() -> list[list[str]]:
    """Return the commands of all steps, in words."""
    lines = [line for step in steps() for line in step.get("run", "").splitlines()]
    return [shlex.split(line) for line in lines if line.strip()]


@cache
def help_of(*command: str) -> str:
    """Return a command's help text.

    Raises:
        subprocess.CalledProcessError: there is no such command.
    """
    midepoch = [sys.executable, "-m", "midepoch_conformance", *command, "--help"]
    return subprocess.run(midepoch, capture_output=True, text=True, check=True, timeout=60).stdout


def test_every_step_runs_something_and_has_a_name_where_that_does_not_say_what() -> None:
    assert steps()
    for step in steps():
        assert ("run" in step) != ("uses" in step)
        assert "uses" in step or step["name"]


def test_actions_are_named_with_their_version() -> None:
    used = [step["uses"] for step in steps() if "uses" in step]
    assert used
    assert [name for name in used if not re.fullmatch(r"actions/[a-z-]+@v[0-9]+", name)] == []


def test_each_command_of_the_suite_has_the_options_that_it_is_given() -> None:
    ours = [words for words in commands() if words[0] == "midepoch"]
    assert {words[1] for words in ours} == {"check", "report"}
    for _, command, *words in ours:
        for option in (word for word in words if word.startswith("-")):
            assert re.search(rf"(?<!\S){option}\b", help_of(command)), (command, option)


def test_every_other_command_is_one_that_each_machine_has() -> None:
    assert {words[0] for words in commands()} <= {"midepoch", "python"}


def test_each_variable_is_set_by_the_workflow_or_the_machine() -> None:
    used = set(re.findall(r"\$([A-Z_]+)", str(steps())))
    assert used - set(workflow()["env"]) <= {"GITHUB_STEP_SUMMARY"}
    assert used & set(workflow()["env"]) == set(workflow()["env"])


def test_no_package_index_and_no_other_host_is_named() -> None:
    assert INDEXES.search(WORKFLOW.read_text(encoding="utf-8")) is None


def test_what_runs_after_a_red_verdict_says_so() -> None:
    judged = next(n for n, step in enumerate(steps()) if "midepoch check" in step.get("run", ""))
    assert all("!cancelled()" in step["if"] for step in steps()[judged + 1 :])


@pytest.mark.parametrize("word", ["push", "pull_request", "schedule"])
def test_it_is_started_by(word: str) -> None:
    # YAML 1.1 takes the key `on` for a truth value.
    assert word in (workflow().get("on") or workflow()[True])


def test_the_page_shows_the_file_itself(site: Path) -> None:
    page = (site / "guides/in-your-ci.html").read_text(encoding="utf-8")
    shown = html.unescape(re.sub(r"<[^>]+>", "", page))
    lines = WORKFLOW.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.strip() not in shown] == []
