"""The command line: what each command prints, and each exit status."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from midepoch_conformance.cli import main
from midepoch_conformance.report.file import read_report
from midepoch_conformance.report.lines import stable
from midepoch_conformance.run import explore
from midepoch_conformance.verdict import requirements


@pytest.fixture(autouse=True)
def _away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


@pytest.mark.usefixtures("warm_hosts")
def test_status_0_when_nothing_fails(
    fakes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = [tmp_path / "1.jsonl", tmp_path / "2.jsonl"]
    for jobs, report in enumerate(reports, start=1):
        command = ["check", f"{fakes}/counter.py:Adapter", "--only", "Resume,Refusal", "-q"]
        status = main([*command, "--jobs", str(jobs), "--json", str(report)])
        assert status == 0, capsys.readouterr()
    out = capsys.readouterr().out
    assert out.count(" hold") == 2
    first, second = (list(map(stable, read_report(report))) for report in reports)
    assert first == second
    assert not (tmp_path / "midepoch-report").exists()


def test_status_1_when_a_must_fails_and_the_script_shows_it(
    fakes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["check", f"{fakes}/counter.py:Forgets", "--only", "RESUME-1"]
    assert main([*command, "--json", "report.jsonl", "--scripts", "here"]) == 1
    out = capsys.readouterr().out
    assert "RESUME-1 fails silently" in out
    failure = read_report(tmp_path / "report.jsonl")[-1]["failures"][0]
    assert failure["script_note"] == ""
    script = Path(failure["script"])
    assert script.parent == Path("here")
    assert "midepoch_conformance" not in script.read_text()


def test_quiet_prints_the_verdict_alone(fakes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{fakes}/counter.py:Adapter", "--only", "BASIS-1", "-q"]) == 0
    printed = capsys.readouterr()
    assert len(printed.out.strip().splitlines()) == 1
    assert printed.err == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "nothing"], "names no loader"),
        (["check", "nowhere.py:Adapter"], "there is no file"),
        (["check", "json:Nothing"], "has no 'Nothing'"),
        (["check", "no_such_module_at_all:Adapter"], "no_such_module_at_all"),
        (["check", "torch", "--only", "RESUME-99"], "unknown requirement or class 'RESUME-99'"),
        (["check", "torch", "--profile", "slow"], "unknown profile 'slow'"),
        (["check", "torch", "--python", "/no/such/python"], "no such file"),
        (["check", "torch", "--python", __file__], "cannot be started"),
        (["check", "torch", "--jobs", "-1"], "--jobs"),
        (["check", "torch", "--json", "."], "is a folder"),
        (["check"], "LOADER"),
        (["explore", "nothing"], "names no loader"),
        (["spec", "RESUME-99"], "no requirement 'RESUME-99'"),
        (["spec", "Resum"], "no requirement 'Resum'"),
        (["check", "torch", "--jobs", "two"], "'two'"),
        (["explore", "torch", "--seconds", "soon"], "'soon'"),
        (["spec", "--what"], "--what"),
        (["nonsense"], "nonsense"),
    ],
)
def test_status_2_with_a_clear_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""


def test_the_jobs_can_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MIDEPOCH_JOBS", "-1")
    assert main(["check", "torch"]) == 2
    assert "--jobs" in capsys.readouterr().err


def test_status_2_when_the_smoke_gate_fails(
    fakes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", f"{fakes}/counter.py:Broken"]) == 2
    assert "the loader's wheel is not installed" in capsys.readouterr().err


def test_list_shows_every_requirement(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    for name in (*requirements.load(), "torchdata", "quick", "full"):
        assert name in out


@pytest.mark.parametrize("name", [r.id for r in requirements.load().values()])
def test_spec_says_how_each_requirement_is_judged(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spec", name.lower()]) == 0
    out = " ".join(capsys.readouterr().out.split())
    requirement = requirements.get(name)
    assert requirement.text in out
    assert (requirement.unjudged or "cases of the families") in out


def test_spec_shows_a_rule_and_what_judges_it(capsys: pytest.CaptureFixture[str]) -> None:
    rule = requirements.rules()["VAL-8"]
    assert main(["spec", "val-8"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert rule.text in out
    assert "state.md" in out
    assert "DOC-9" in out
    assert "invalid/ahead-delivered" in out


def test_spec_alone_shows_all_texts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in requirements.load())


@pytest.mark.usefixtures("warm_hosts")
def test_explore_stops_in_time_and_repeats_with_its_seed(
    fakes: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(explore, "ROUND", 40)
    command = ["explore", f"{fakes}/counter.py:Adapter", "--seed", "7", "--jobs", "1"]
    found = []
    for name in ("1.jsonl", "2.jsonl"):
        assert main([*command, "--cases", "12", "--json", name]) == 0, capsys.readouterr()
        found.append(list(map(stable, read_report(tmp_path / name))))
    assert found[0] == found[1]
    assert found[0][0]["seed"] == 7
    assert len(found[0]) > 10
    # No case begins once the time is up, and a run that judged nothing is no pass.
    assert main([*command, "--seconds", "0.001", "--json", "3.jsonl"]) == 2
    assert "no case was played" in capsys.readouterr().out
    assert len(read_report(tmp_path / "3.jsonl")) == 2


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert main(["--help"]) == 0
    assert main([]) == 2
    assert "check" in capsys.readouterr().out


def test_the_module_is_the_command() -> None:
    import subprocess

    ran = subprocess.run(
        [sys.executable, "-m", "midepoch_conformance", "--version"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr


def test_ctrl_c_ends_each_command_with_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("midepoch_conformance.cli.replay", stopped)
    assert main(["replay", "c351afd9cf21", "reference"]) == 130
    assert capsys.readouterr().err == "midepoch: stopped; nothing was written\n"
    monkeypatch.setattr("midepoch_conformance.report.file.load_report", stopped)
    assert main(["report", "r.jsonl", "--html", "r.html"]) == 130
    assert capsys.readouterr().err == "midepoch: stopped\n"
