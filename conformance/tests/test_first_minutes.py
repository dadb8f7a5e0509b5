"""The first five minutes of somebody with a loader: the commands as a new user types them."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from rich.console import Console
from simulated import Engine
from test_check import TABLE
from test_report import ignores_loads

from midepoch_conformance import cli
from midepoch_conformance.cli import main
from midepoch_conformance.families import tables
from midepoch_conformance.host.function_adapter import ALONE
from midepoch_conformance.report import overview, terminal
from midepoch_conformance.report.badge import badges
from midepoch_conformance.report.file import ReportFile, load_report
from midepoch_conformance.report.markdown import markdown
from midepoch_conformance.report.page import html_page
from midepoch_conformance.report.terminal import RichProgress
from midepoch_conformance.run.check import run_check
from midepoch_conformance.run.events import CasesJudged, Event, Found, Listener, Started
from midepoch_conformance.run.explore import Goal, explore
from midepoch_conformance.run.settings import Settings

OWN = Path(__file__).parent / "own"
Say = pytest.CaptureFixture[str]

NOTHING = "nothing about resuming could be judged: the loader has no state_dict/load_state_dict; "


pytestmark = pytest.mark.usefixtures("narrow")


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_loader_without_a_state_is_not_called_right(tmp_path: Path, capsys: Say) -> None:
    spec = f"{OWN}/stateless.py:make_loader"
    assert main(["check", spec, "--json", "report.jsonl"]) == 2
    out = words(capsys.readouterr().out)
    assert f"stateless.py:make_loader: {NOTHING}" in out
    assert "what it costs A run that stops and restarts begins its epoch again" in out
    assert "what to do Give the loader both methods" in out
    assert "not judged: Resume, Epochs" in out
    document = load_report(tmp_path / "report.jsonl")
    assert document.footer.status == 2
    comment = markdown(document)
    assert comment.startswith("## ⚠️ stateless.py")
    assert "**what to do**" in comment
    page = html_page(document)
    assert '<p class="verdict doubt">Nothing about resuming could be judged' in page
    assert "Give the loader both methods" in page
    badge = badges(document)["midepoch.svg"]
    assert "not judged" in badge
    assert "Nothing about resuming" in badge or "nothing about resuming" in badge


def test_what_only_asks_and_nothing_judges_is_no_pass(capsys: Say) -> None:
    spec = f"{OWN}/stateless.py:make_loader"
    assert main(["check", spec, "--only", "resume-1,BASIS-1", "-q"]) == 2
    assert "RESUME-1 was judged by no case: the loader has no state_dict" in words(
        capsys.readouterr().out
    )
    assert main(["check", spec, "--only", "basis", "-q"]) == 0


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("stateless", "nothing about resuming can be judged: the loader has no state_dict"),
        ("unworkable", "no run with workers can be judged: an uninterrupted run fails here: Runt"),
    ],
)
def test_pytest_says_so_as_well(name: str, told: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--pyargs",
            "midepoch_conformance", "--loader", f"{OWN}/{name}.py:make_loader",
            "-k", "can_be_judged or BASIS-1",
        ],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert told in ran.stdout
    assert "1 failed, 2 passed" in ran.stdout


def test_a_function_is_named_and_its_batches_are_shown(tmp_path: Path, capsys: Say) -> None:
    spec = f"{OWN}/skips.py:make_loader"
    assert main(["check", spec, "--only", "RESUME-1", "--json", "report.jsonl"]) == 1
    out = capsys.readouterr().out
    shown = words(out)
    skipped = re.search(r"expected \{'label': \d, 'name': 'photo(\d).jpg'\}, got \{'label'", shown)
    assert skipped is not None
    number = skipped[1]
    assert f"b{number} = {{'label': {int(number) % 3}, 'name': 'photo{number}.jpg'}}" in out
    assert re.search(rf"session 2, loads s\w* +\(b{number}\) b{int(number) + 1}", out)
    assert (
        out.index("1. RESUME-1") < out.index("Resume  exact") < out.rindex("skips.py:make_loader")
    )
    assert out.strip().endswith("skips.py:make_loader: 1 of 1 requirement fails: RESUME-1")
    assert max(map(len, out.splitlines()[:-1])) <= 80
    assert "fingerprint" not in out
    script = Path("midepoch-report/skips_make_loader_resume_1_map_missing.py")
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 1
    assert "'name': 'photo9.jpg'" in ran.stdout.partition("got:")[2]
    # The case is played again by its id alone, and from the report.
    case = json.loads((tmp_path / "report.jsonl").read_text().splitlines()[-1])["failures"][0]["id"]
    for more in ([], ["--report", "report.jsonl"]):
        assert main(["replay", case[:8], spec, *more]) == 1
        played = words(capsys.readouterr().out)
        assert "session 2, no workers step load" in played
        assert f"'name': 'photo{number}.jpg'}};" in played.partition("expected")[2]
        assert "verdict RESUME-1 fails silently (missing)" in played


def test_scripts_can_be_left_out(capsys: Say) -> None:
    assert main(["check", f"{OWN}/skips.py:make_loader", "--only", "RESUME-1", "--no-scripts"]) == 1
    assert not Path("midepoch-report").exists()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "raises",
            ["KeyError: 'lable'", "wrong.py:14, in row", 'return {"label": number}["lable"]'],
        ),
        ("not_built", ["JSONDecodeError", "wrong.py:28, in settings", 'json.loads("{not json")']),
        ("nothing", ["it returned None, which cannot be iterated"]),
        ("without_workers", ["without_workers() got an unexpected keyword argument 'num_workers'"]),
    ],
)
def test_an_error_of_the_users_own_shows_the_users_lines(
    name: str, told: list[str], capsys: Say
) -> None:
    assert main(["check", f"{OWN}/wrong.py:{name}"]) == 2
    err = capsys.readouterr().err
    for one in told:
        assert one in err
    assert "midepoch_conformance/" not in err


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["check", "torhdata"], "'torchdata'"),
        (["check", f"{OWN}/skip.py:make_loader"], "'skips.py'"),
        (["check", f"{OWN}/skips.py:make_loder"], "'make_loader'"),
        (["check", "torch", "--only", "Resum"], "'Resume'"),
        (["check", "torch", "--only", "BASIS1"], "'BASIS-1'"),
        (["check", "torch", "--profile", "quik"], "'quick'"),
        (["spec", "RESUM-1"], "'RESUME-1'"),
        (["bench", "--case", "trughput"], "'throughput'"),
        (["chek", "torch"], "'check'"),
    ],
)
def test_a_typo_gets_a_suggestion(arguments: list[str], meant: str, capsys: Say) -> None:
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert "did you mean" in err.lower()
    assert meant in err


def test_a_file_that_python_cannot_read_shows_its_line(tmp_path: Path, capsys: Say) -> None:
    (tmp_path / "unread.py").write_text("import torch\ndef make_loader(:\n")
    assert main(["check", "unread.py:make_loader"]) == 2
    assert capsys.readouterr().err.splitlines()[1:] == ["  unread.py:2", "      def make_loader(:"]


def test_a_function_whose_epoch_has_no_end_is_told_so_at_once(tmp_path: Path, capsys: Say) -> None:
    text = (OWN / "late.py").read_text().replace("range(start, 10)", "itertools.count(start)")
    (tmp_path / "endless.py").write_text(text.replace("from coll", "import itertools\nfrom coll"))
    assert main(["check", "endless.py:make_loader", "--timeout", "3"]) == 2
    err = capsys.readouterr().err
    assert "endless.py:make_loader did not finish one plain epoch, so nothing was judged" in err
    assert "cut the epoch in the function, after some batches, if its data has no end" in err


def test_runs_that_fail_with_workers_are_no_pass(tmp_path: Path, capsys: Say) -> None:
    spec = f"{OWN}/unworkable.py:make_loader"
    assert main(["check", spec, "--only", "RESUME-1", "--no-scripts", "--json", "r.jsonl"]) == 2
    out = words(capsys.readouterr().out)
    assert "3 cases: an uninterrupted run fails here: RuntimeError: the workers find no tok" in out
    assert "what to do Mend that error, which a run with num_workers=1 shows" in out
    verdict = out[out.index("unworkable.py:make_loader: no run with workers could be judged") :]
    assert "RuntimeError: the workers find no tokenizer" in verdict
    assert verdict.endswith("; 1 requirement holds without workers (3 cases)")
    document = load_report(tmp_path / "r.jsonl")
    assert document.footer.unjudged == ["runs with workers"]
    assert markdown(document).startswith("## ⚠️ ")
    assert "not judged" in badges(document)["midepoch.svg"]
    # Beside a requirement that no case judged, both are said.
    assert main(["check", spec, "--only", "RESUME-1,COST-1", "--no-scripts", "-q"]) == 2
    said = capsys.readouterr().out
    assert "COST-1 was judged by no case: " in said
    assert "; no run with workers could be judged: an uninterrupted run" in said


def test_runs_that_fail_with_ranks_are_no_pass(tmp_path: Path, capsys: Say) -> None:
    (tmp_path / "unshared.py").write_text(
        "import operator\n\n"
        "from midepoch.sampling.batches import SharedOrder\n"
        "from midepoch_conformance.adapters.reference import Adapter\n\n"
        "SharedOrder._indices = operator.index\n"
    )
    asked = ["--only", "WORLD-3,WORLD-4,WORLD-9", "--no-scripts", "-q"]
    assert main(["check", f"{tmp_path}/unshared.py:Adapter", *asked]) == 2
    said = words(capsys.readouterr().out)
    assert "WORLD-3, WORLD-4 were judged by no case: one rank alone fails: TypeError: " in said
    assert "; 1 other requirement holds (" in said


def test_a_file_alone_gets_the_function_in_it(capsys: Say) -> None:
    assert main(["check", f"{OWN}/skips.py"]) == 2
    assert "skips.py:make_loader" in capsys.readouterr().err


def test_a_wrong_next_epoch_of_the_loaders_own_samples_is_judged(capsys: Say) -> None:
    spec = f"{OWN}/late.py:make_loader"
    assert main(["check", spec, "--only", "EPOCH-2", "--no-scripts"]) == 1
    assert "1 of 1 requirement fails: EPOCH-2" in capsys.readouterr().out


def test_exploring_what_nothing_judges_is_no_crash(capsys: Say) -> None:
    spec = f"{OWN}/skips.py:make_loader"
    assert main(["explore", spec, "--only", "COST-1", "--cases", "3"]) == 2
    said = capsys.readouterr()
    assert "COST-1 was judged by no case" in said.out
    assert said.err.count("exploring ") == 1


def test_the_command_to_play_again_names_the_report(capsys: Say) -> None:
    command = ["explore", f"{OWN}/skips.py:make_loader", "--cases", "3", "--seed", "1"]
    command += ["--no-scripts", "--only", "RESUME-1"]
    assert main([*command, "--json", "r.jsonl"]) == 1
    assert "--report r.jsonl" in words(capsys.readouterr().out)
    assert main(["report", "r.jsonl"]) == 0
    assert "--report r.jsonl" in words(capsys.readouterr().out)
    assert main(command) == 1
    assert "--report FILE (--json FILE writes it)" in words(capsys.readouterr().out)
    # A committed case needs no report.
    everything = mock.MagicMock()
    everything.__contains__.return_value = True
    with mock.patch.object(terminal, "committed_cases", return_value=everything):
        assert main(command) == 1
    out = words(capsys.readouterr().out)
    assert "again midepoch replay " in out
    assert "--report" not in out


def test_the_rounds_of_exploring_leave_one_line_on_a_terminal() -> None:
    shown = io.StringIO()
    progress = RichProgress(Console(file=shown, force_terminal=True, width=80))

    def listen(event: Event) -> None:
        rounds.extend([event] if isinstance(event, Started) else [])
        progress(event)

    rounds: list[Event] = []
    settings = Settings("simulated", profile="explore", jobs=1, only=("RESUME-1",))
    explore(settings, Goal(cases=25), seed=1, listen=listen, opener=Engine)
    progress.close()
    assert len(rounds) > 1
    assert shown.getvalue().count("exploring simulated") == 1


def test_spec_shows_a_class(capsys: Say) -> None:
    assert main(["spec", "resume"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Resume ")
    assert all(f"RESUME-{number}  " in out for number in range(1, 8))


def test_help_has_sentences_an_example_and_the_statuses(capsys: Say) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out.replace("[ARGS]...", "")
    assert "..." not in out
    assert "docs/" in out
    commands = [command.name or "" for command in cli.app.registered_commands]
    assert "replay" in commands
    for command in filter(None, commands):
        assert main([command, "--help"]) == 0
        out = words(capsys.readouterr().out)
        assert f"Example: midepoch {command}" in out
        assert command in ("list", "spec") or "Exit status: 0" in out


def test_lists_are_readable_at_80_columns(capsys: Say) -> None:
    for command in (["bench", "--list"], ["list"]):
        assert main(command) == 0
        assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that makes checks simulated ones that Ctrl-C stops after some cases."""
    monkeypatch.setattr(tables, "load_table", lambda profile: list(TABLE))

    def stop_after(count: int) -> None:
        def stopped(settings: Settings, listen: Listener, earlier: object) -> object:
            def watched(event: Event) -> None:
                listen(event)
                if isinstance(event, CasesJudged) and event.done == count:
                    raise KeyboardInterrupt

            return run_check(settings, watched, lambda: Engine(ignores_loads))

        monkeypatch.setattr(cli, "run_check", stopped)

    return stop_after


def test_ctrl_c_ends_with_one_line_that_says_how_to_go_on(
    simulated: Callable[[int], None], capsys: Say
) -> None:
    simulated(4)
    command = ["check", "simulated", "--jobs", "1", "--known", "none.toml"]
    Path("none.toml").write_text("")
    assert main([*command, "-q"]) == 130
    assert re.fullmatch(
        r"midepoch: stopped after \d of 6 cases; nothing is kept: --json FILE keeps the cases that "
        r"were judged\n",
        capsys.readouterr().err,
    )
    assert main([*command, "-q", "--json", "r.jsonl"]) == 130
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    kept = re.search("stopped after (.) of 6 cases, which r.jsonl keeps", line)
    assert kept
    # These cases, and none that ended before an earlier one did.
    _, *lines = map(json.loads, Path("r.jsonl").read_text().splitlines())
    assert sum(line["not_offered"] is None for line in lines) == int(kept[1])
    # The command to go on has every option that was typed.
    assert f"`midepoch {' '.join(command)} -q --json r.jsonl --continue`" in line


def test_ctrl_c_before_the_first_case_is_one_line_as_well(capsys: Say) -> None:
    with mock.patch.object(cli, "run_check", side_effect=KeyboardInterrupt):
        assert main(["check", "torch", "-q"]) == 130
    assert capsys.readouterr().err == "midepoch: stopped after no case; nothing had begun\n"


def test_a_stopped_run_is_shown_as_what_it_is(
    simulated: Callable[[int], None], tmp_path: Path, capsys: Say
) -> None:
    simulated(4)
    assert main(["check", "simulated", "--jobs", "1", "-q", "--json", "r.jsonl"]) == 130
    with (tmp_path / "r.jsonl").open("a") as report:
        report.write('{"type": "case", "ind')  # the kill came while a line was written
    assert main(["report", "r.jsonl"]) == 0
    out = capsys.readouterr().out
    assert "1. RESUME-1 fails silently" in out
    assert re.search(
        r"not finished: \d of 6 cases were judged, and 1 requirement fails already", out
    )
    document = load_report(tmp_path / "r.jsonl", stopped=True)
    assert overview.verdict(document).startswith("not finished")
    shown = markdown(document)
    assert shown.startswith("## ❌ simulated 1.0: not finished")
    assert "; 1 not offered." in shown
    assert "Not finished: " in html_page(document)


def test_a_stopped_run_is_not_compared(simulated: Callable[[int], None], capsys: Say) -> None:
    simulated(4)
    assert main(["check", "simulated", "--jobs", "1", "-q", "--json", "r.jsonl"]) == 130
    assert main(["diff", "r.jsonl", "r.jsonl"]) == 2
    assert "--continue` judges the rest" in capsys.readouterr().err


def test_a_stopped_run_without_a_failure_is_no_pass(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tables, "load_table", lambda profile: list(TABLE))
    report = ReportFile(tmp_path / "r.jsonl")

    def judged_alone(event: Event) -> None:
        if not isinstance(event, Found):
            report(event)

    run_check(Settings("simulated", jobs=1), judged_alone, Engine)
    report.close()
    document = load_report(tmp_path / "r.jsonl", stopped=True)
    assert document.footer.status == 2
    assert markdown(document).startswith("## ⚠️ ")
    assert "not judged" in badges(document)["midepoch.svg"]


@pytest.mark.parametrize("only", ["RESUME-1", "Resume"])
def test_advice_is_given_for_a_named_requirement_too(only: str, capsys: Say) -> None:
    """With ``-q``, one line of it stands before the verdict, which is the last line."""
    command = ["check", f"{OWN}/stateless.py:make_loader", "--no-scripts", "--only", only]
    assert main(command) == 2
    shown = capsys.readouterr().out
    assert "what it costs  A run that stops and restarts" in shown
    assert "what to do     Give the loader both methods" in shown
    assert main([*command, "-q"]) == 2
    advice, verdict = capsys.readouterr().out.splitlines()
    assert advice.startswith("what to do: Give the loader both methods")
    last = f"{only} was judged by no case: the loader has no state_dict/load_state_dict"
    assert verdict.endswith(last)


def test_a_function_has_one_reason_for_what_needs_an_adapter(capsys: Say) -> None:
    command = ["check", f"{OWN}/skips.py:make_loader", "--no-scripts", "-q", "--only", "Interval"]
    assert main(command) == 2
    told = capsys.readouterr().out
    assert f"Interval was judged by no case: {ALONE}\n" in told
