"""The command line continues a run that was killed or stopped, or says why it cannot."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from test_continue import lines_of

from midepoch_conformance.cli import main
from midepoch_conformance.report.file import read_report

SHARED = Path("/dev/shm")


def command(fakes: Path, *more: str) -> list[str]:
    loader = [f"{fakes}/counter.py:Forgets", "--only", "RESUME-1,RESUME-2"]
    return ["check", *loader, "--jobs", "1", "--json", "report.jsonl", *more]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return the report of a run of its own that nothing interrupts."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    fakes = Path(__file__).parent / "fakes"
    ran = subprocess.run(
        [sys.executable, "-m", "midepoch_conformance", *command(fakes)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return lines_of(folder / "report.jsonl")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_killed_process_leaves_what_the_next_one_goes_on_with(
    tmp_path: Path,
    fakes: Path,
    number: signal.Signals,
    uninterrupted: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    report = tmp_path / "report.jsonl"
    wait = tmp_path / "wait"
    wait.touch()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "midepoch_conformance", *command(fakes)],
        cwd=tmp_path,
        env={**os.environ, "COUNTER_WAITS_FOR": str(report), "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    # It is interrupted in a play: the loader waits until it is.
    while process.poll() is None and (not report.exists() or report.read_bytes().count(b"\n") < 20):
        time.sleep(0.01)
    roots = [path.name for path in temporary.iterdir()]
    process.send_signal(number)
    wait.unlink()
    said = process.communicate(timeout=60)[1]
    kept = read_report(report, interrupted=True)
    assert 20 <= len(kept) < len(uninterrupted)
    assert roots
    shared = [path for root in roots for path in SHARED.glob(f"{root}-*")]
    for path in shared:
        shutil.rmtree(path)
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert re.search(r"stopped after \d+ of \d+ cases, which report.jsonl keeps", said)
        # All cases may be judged by then, and the failures not looked into.
        assert re.search("--continue` (judges the rest|looks into the failures)", said), said
        assert "Traceback" not in said
        assert not shared
        assert not list(temporary.iterdir())
    else:
        assert process.returncode == -signal.SIGKILL
    monkeypatch.chdir(tmp_path)
    assert main(command(fakes, "--continue")) == 1
    judged = sum(line["not_offered"] is None for line in kept[1:])
    assert f"{judged} of them judged already" in capfd.readouterr().err
    assert lines_of(report) == uninterrupted


def test_the_command_line_says_what_is_wrong(
    tmp_path: Path, fakes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["check", "torch", "--continue"]) == 2
    assert "--continue needs the report of the interrupted run" in capsys.readouterr().err
    assert main(command(fakes, "--continue")) == 2
    assert "there is no such report" in capsys.readouterr().err
    assert not (tmp_path / "report.jsonl").exists()


def test_a_loader_that_was_edited_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parent / "own" / "skips.py").read_text(encoding="utf-8")
    mine, report = tmp_path / "mine.py", tmp_path / "report.jsonl"
    mine.write_text(text)
    asked = ["check", "mine.py:make_loader", "--only", "BASIS-1", "-q", "--json", "report.jsonl"]
    assert main(asked) == 0
    report.write_text("".join(report.read_text().splitlines(keepends=True)[:4]))
    kept = report.read_bytes()
    mine.write_text(text + "\n# another loader\n")
    capsys.readouterr()
    assert main([*asked, "--continue"]) == 2
    said = capsys.readouterr().err
    assert "report.jsonl is the report of another run: the loader's file has been edited" in said
    assert "leave --continue out to start over" in said
    assert report.read_bytes() == kept
    mine.write_text(text)
    assert main([*asked, "--continue"]) == 0
