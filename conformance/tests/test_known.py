"""Known failures: what a file of them must be, and what they do to a run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from simulated import Engine
from test_check import TABLE, cut, plain

from midepoch_conformance.case.case import Case, Step
from midepoch_conformance.case.trace import Event as TraceEvent
from midepoch_conformance.case.trace import Fault
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.cli import main
from midepoch_conformance.families import tables
from midepoch_conformance.run.check import run_check
from midepoch_conformance.run.events import Event, Replaying, Started
from midepoch_conformance.run.known import KnownError, known_text, load_known, unknown_failures
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.verdict.finding import Finding
from midepoch_conformance.verdict.results import Check, Known

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Lie = Callable[[Case, int], bool]
LINK = "https://example.org/issues/7"


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "load_table", lambda profile: list(TABLE))


def forgets(case: Case, session: int) -> bool:
    return session == 1


def honest(case: Case, session: int) -> bool:
    return False


def entry(case: Case = TABLE[2], requirement: str = "RESUME-1") -> Known:
    return Known(requirement, LINK, "not ours to mend", case, "known.toml, entry 1")


def check(*known: Known, lie: Lie = forgets, engine: Engine | None = None, **how: Any) -> Check:
    settings = Settings("simulated", jobs=1, known=known, **how)
    return run_check(settings, opener=lambda: engine or Engine(lie))


pytestmark = pytest.mark.usefixtures("short")


def test_a_known_failure_is_none_of_the_runs() -> None:
    assert check().status == 1
    checked = check(entry())
    assert checked.status == 0
    assert checked.failures == []
    (replayed,) = checked.known
    assert replayed.holds
    assert not replayed.broken
    assert replayed.finding.outcome == "fails silently"
    assert (replayed.cases, replayed.workload_kinds) == (4, ("map",))
    # The table says what is so: the loader does fail.
    rows = {(row.requirement, row.workload): row.outcome for row in checked.summary.rows}
    assert rows["RESUME-1", "map"] == "fails silently"


def test_a_known_failure_is_replayed_before_all_others() -> None:
    heard: list[Event] = []
    engine = Engine(forgets)
    other = cut(Workload(n=9), 1)
    settings = Settings("simulated", jobs=1, known=(entry(other),))
    run_check(settings, heard.append, lambda: engine)
    assert [type(event) for event in heard[:2]] == [Started, Replaying]
    assert list(engine.plays).index(other.id) < list(engine.plays).index(TABLE[1].id)


def test_an_entry_that_passes_now_breaks_the_run() -> None:
    checked = check(entry(), lie=honest)
    assert checked.status == 1
    assert checked.failures == []
    (replayed,) = checked.known
    assert replayed.broken
    assert replayed.words == f"known.toml, entry 1: RESUME-1 passes now: delete the entry ({LINK})"


def test_a_pass_is_believed_after_three_plays() -> None:
    """An unstable known failure still counts as failing."""
    engine = Engine()
    other = cut(Workload(n=9), 1)
    engine.lie = lambda case, session: session == 1 and engine.plays[other.id] == 3
    (replayed,) = check(entry(other), engine=engine).known
    assert replayed.holds
    assert replayed.finding.outcome == "unstable"


class Refusing(Engine):
    """Refuses every state."""

    def _step(self, loader: Any, number: int, step: Step, *more: Any) -> TraceEvent:
        if step.do == "load":
            fault = Fault("raised", "ValueError", ("ValueError",), "no", at="load")
            return TraceEvent(number, step.do, fault=fault)
        return super()._step(loader, number, step, *more)


@pytest.mark.parametrize(
    ("engine", "outcome", "status"),
    [
        (Engine(declines=lambda w, x: "no more" if w.n == 9 else None), "not offered", 1),
        (Refusing(), "refused", 1),
        (
            Engine(
                fault=lambda case, session: (
                    Fault("adapter", "NameError", ("NameError",), "x", at="load")
                    if session == 1 and case.workload.n == 9
                    else None
                )
            ),
            "error",
            2,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_entry_that_does_not_fail_says_what_it_does(
    engine: Engine, outcome: str, status: int
) -> None:
    checked = check(entry(cut(Workload(n=9), 1)), engine=engine)
    (replayed,) = checked.known
    assert replayed.finding.outcome == outcome
    assert not replayed.holds
    assert checked.status == status
    told = "could not be judged" if outcome == "error" else f"is {outcome} now"
    assert told in replayed.words


def test_another_requirement_or_sort_of_workload_is_not_covered() -> None:
    assert check(entry(requirement="EPOCH-1")).failures[0].finding.requirement == "RESUME-1"
    stream = cut(Workload(kind="iterable"), 1)
    checked = check(entry(stream), lie=lambda case, session: session == 1)
    assert checked.status == 1
    assert [failure.finding.requirement for failure in checked.failures] == ["RESUME-1"]


def test_what_is_special_about_a_workload_tells_entries_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        Workload, "feature", property(lambda w: "shuffled" if w.shuffle else ""), raising=False
    )
    checked = check(entry())
    assert [(f.feature, f.cases) for f in checked.failures] == [("shuffled", 1)]
    assert checked.known[0].cases == 3
    assert check(entry(), entry(TABLE[4])).failures == []


def test_an_entry_that_fails_aloud_covers_no_silent_failure() -> None:
    loud = cut(Workload(n=9), 1)
    fault = Fault("raised", "KeyError", ("KeyError",), "'epoch'", at="load")
    engine = Engine(
        forgets, fault=lambda case, session: fault if session == 1 and case == loud else None
    )
    checked = check(entry(loud), engine=engine)
    assert checked.known[0].finding.outcome == "fails"
    assert checked.status == 1
    assert checked.failures[0].finding.outcome == "fails silently"


def test_only_leaves_out_entries_that_are_not_asked_about() -> None:
    assert check(entry(), lie=honest, only=("BASIS-1",)).known == []


def test_what_is_written_is_read_once_it_is_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(known_text(unknown_failures(check())))
    with pytest.raises(KnownError, match=r"entry 1 \(RESUME-1\): link must be the address"):
        load_known(path)
    path.write_text(path.read_text().replace('link = "TODO"', f'link = "{LINK}"'))
    with pytest.raises(KnownError, match=r"entry 1 \(RESUME-1\): reason must say why"):
        load_known(path)
    path.write_text(path.read_text().replace('reason = "TODO"', 'reason = "upstream"'))
    (read,) = load_known(path)
    # One for each requirement and sort of workload, with its smallest case.
    assert (read.requirement, read.case) == ("RESUME-1", TABLE[5])
    assert check(read).status == 0
    assert unknown_failures(check(read)) == []


def test_a_silent_failure_is_written_before_one_that_is_told() -> None:
    told = (plain(Workload(n=1)), Finding("RESUME-1", "fails"))
    silent = (TABLE[4], Finding("RESUME-1", "fails silently"))
    unstable = (TABLE[2], Finding("BASIS-1", "unstable", words="1 of\x1b\n3"))
    text = known_text([told, unstable, silent])
    assert text.count("[[known]]") == 2
    assert json.dumps(TABLE[4].to_json()) in text
    assert "# unstable: 1 of 3\n" in text
    tomllib.loads(text)


GOOD = {
    "requirement": "RESUME-1",
    "link": LINK,
    "reason": "not ours",
    "case": json.dumps(TABLE[2].to_json()),
}


def toml(entry: dict[str, Any]) -> str:
    lines = [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
    return "\n".join(["[[known]]", *lines]) + "\n"


def test_a_good_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text("")
    assert load_known(path) == []
    path.write_text(toml(GOOD) + toml({**GOOD, "case": TABLE[3].id}))
    first, second = load_known(path)
    assert first == Known("RESUME-1", LINK, "not ours", TABLE[2], f"{path}, entry 1")
    assert second.case == TABLE[3]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"requirement": "RESUME-99"}, "unknown requirement 'RESUME-99'"),
        ({"requirement": 7}, "requirement must be text, not 7"),
        ({"reason": None}, "reason is missing"),
        ({"link": None}, "link is missing"),
        ({"case": None}, "case is missing"),
        ({"requirement": None}, "requirement is missing"),
        ({"reason": "  "}, "reason must say why the failure is accepted, not ''"),
        ({"reason": "todo: ask"}, "reason must say why"),
        ({"link": "issue 7"}, "link must be the address"),
        ({"colour": "red"}, "unknown key 'colour'; an entry has requirement, link, reason, case"),
        ({"case": "{"}, "case: neither a case as JSON nor the id of one"),
        ({"case": "[]"}, "case: neither a case as JSON nor the id of one"),
        ({"case": '{"probe": "cut"}'}, "it has a probe, a workload and sessions"),
        (
            {"case": '{"probe": "cut", "workload": {"colour": 1}, "sessions": []}'},
            "colour",
        ),
        (
            {"case": '{"probe": "cut", "workload": {}, "sessions": [{"execution": {}, "steps": '
             '[{"do": "dance"}]}]}'},
            "unknown step 'dance'",
        ),
        ({"case": '{"probe": "cut", "workload": {}, "sessions": []}'}, "no session"),
        ({"case": "0123456789ab"}, "case: no table has a case '0123456789ab'"),
        ({"requirement": "BASIS-1"}, "case: it is judged for .*RESUME-1.*, not for BASIS-1"),
        ({"case": json.dumps({**TABLE[2].to_json(), "probe": "dance"})}, "judged for no requir"),
    ],
)  # fmt: skip
def test_a_bad_entry_is_named(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    path = tmp_path / "known.toml"
    bad = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    path.write_text(toml({**GOOD, "case": TABLE[3].id}) + toml(bad))
    with pytest.raises(KnownError, match=words) as caught:
        load_known(path)
    assert str(caught.value).startswith(f"{path}, entry 2")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[known]\n", "is not TOML"),
        ("colour = 1\n", "unknown key 'colour'"),
        ("known = 1\n", "known must be a list of tables"),
        ("known = [1]\n", "entry 1: not a table"),
        (toml(GOOD) * 2, "entry 2: the same requirement and case as in .*entry 1"),
        ("\udcff", "cannot be read"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "known.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(KnownError, match=words) as caught:
        load_known(path)
    assert str(path) in str(caught.value)


@pytest.mark.usefixtures("warm_hosts")
def test_the_command_line_reads_and_writes_them(
    fakes: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    loader = ["--only", "RESUME-1", "--jobs", "1"]
    forgetful = ["check", f"{fakes}/counter.py:Forgets", *loader]
    assert main([*forgetful, "--write-known", "deep/known.toml"]) == 1
    assert "deep/known.toml" in capsys.readouterr().out
    path = Path("deep/known.toml")
    path.write_text(path.read_text().replace("TODO", LINK))
    assert main([*forgetful, "--known", str(path)]) == 0
    out = capsys.readouterr().out
    assert f"RESUME-1 fails silently on map data, 2 cases: {LINK}" in out
    assert "0 of 1 requirement holds, with 1 known failure (" in out
    assert main(["check", f"{fakes}/counter.py:Adapter", *loader, "--known", str(path)]) == 1
    out = capsys.readouterr().out
    assert "RESUME-1 passes now: delete the entry" in " ".join(out.split())
    assert out.strip().splitlines()[-1].endswith("1 known failure no longer fails")


@pytest.mark.parametrize("name", ["missing.toml", "."])
def test_a_file_that_cannot_be_read_is_status_2(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["check", "torch", "--known", name]) == 2
    assert name in capsys.readouterr().err
