"""A clock alone makes no loader fail: late plays are played again, alone and with more time."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import written
from simulated import Engine

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.trace import Fault, SessionTrace, Trace
from midepoch_conformance.errors import CheckError
from midepoch_conformance.host.faults import hang
from midepoch_conformance.host.system.deadline import BUSY, SPINS, STANDS
from midepoch_conformance.host.system.stacks import innermost, signature
from midepoch_conformance.judges import applicable
from midepoch_conformance.playing import runner
from midepoch_conformance.playing.bench import Bench, CertainFailures, _confirmed
from midepoch_conformance.playing.hangs import Hangs
from midepoch_conformance.playing.plays import Plays
from midepoch_conformance.playing.runner import Runner, RunnerError
from midepoch_conformance.playing.turns import Turns
from midepoch_conformance.run.check import run_check
from midepoch_conformance.run.failures import failing_groups, smallest
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.verdict.finding import Finding
from midepoch_conformance.verdict.results import CaseResult

LIMIT = 0.4
CUT = written.case("cut", "take 1, save s", "load s, drain")
OTHER = written.case("cut", "take 2, save s", "load s, drain")
DEADLY = dataclasses.replace(CUT, workload=dataclasses.replace(CUT.workload, die_at=1))


def stacks(file: str, line: int, function: str = "wait") -> str:
    return f'Thread 0x1 (most recent call first):\n  File "{file}", line {line} in {function}\n'


def line_of(path: Path, text: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


class Clock:
    """Plays cases that need some time; a session that has less is late."""

    limit, phase = 1.0, "next"

    def __init__(self, needs: float, at: str = "a.py", *, did: str = STANDS) -> None:
        self.needs, self.at, self.did = needs, at, did
        self.limits: list[float] = []
        self.most: list[float] = []

    def play(
        self,
        case: Case,
        lengths: Sequence[int] | None = None,
        limit: float | None = None,
        most: float = 4,
    ) -> Trace:
        limit = self.limit if limit is None else limit
        self.limits.append(limit)
        self.most.append(most)
        fault = None
        if limit < self.needs:
            fault = hang(self.phase, limit, stacks(f"/home/me/{self.at}", 5), self.did)
        return Trace(case.id, [SessionTrace([], fault, min(limit, self.needs))])


def test_a_late_play_that_ends_when_it_has_more_time_counts_and_raises_the_limit() -> None:
    clock, hangs = Clock(needs=3), Hangs(1.0)
    plays = Plays(clock, Turns(), hangs)
    played = plays.play(CUT)
    assert (played.hangs, played.trace.sessions[0].fault) == (False, None)
    assert (clock.limits, hangs.limit) == ([1 / 5, 5], 3)
    plays.play(OTHER)
    assert clock.limits == [1 / 5, 5, 6]


def test_a_hang_needs_one_proof_for_each_place() -> None:
    clock, hangs = Clock(needs=float("inf")), Hangs(5.0)
    plays = Plays(clock, Turns(), hangs)
    assert plays.play(CUT).hangs
    assert clock.limits == [1, 25]
    # At a known place the first play is enough.
    assert plays.play(OTHER).hangs
    assert clock.limits == [1, 25, 1]
    clock.at = "b.py"
    assert plays.play(OTHER).hangs
    assert clock.limits == [1, 25, 1, 1, 25]


class Late(Engine):
    """Plays cases of which the second session needs some seconds, all at one place."""

    def __init__(self, *needs: tuple[Case, float]) -> None:
        super().__init__(fault=self._late)
        self.needs = {case.id: seconds for case, seconds in needs}
        self.given: list[float] = []

    def play(
        self,
        case: Case,
        lengths: Sequence[int] | None = None,
        limit: float | None = None,
        most: float = 4,
    ) -> Trace:
        self.given.append(self.limit if limit is None else limit)
        return super().play(case, lengths, limit, most)

    def _late(self, case: Case, session: int) -> Fault | None:
        limit = self.given[-1]
        if session != 1 or self.needs.get(case.id, 0) < limit:
            return None
        return hang("next", limit, stacks("/home/me/a.py", 5))


FOR_EVER = float("inf")
HISTORY = written.case("history", "take 2, save s", "load s, drain, drain")


def test_a_requirement_fails_only_by_a_hang_with_a_proof() -> None:
    engine = Late((CUT, FOR_EVER), (OTHER, FOR_EVER), (HISTORY, 3))
    bench = Bench(engine, hangs=Hangs(1.0))
    for case, requirement, outcome in (
        (CUT, "RESUME-1", "fails"),
        (OTHER, "RESUME-1", "fails"),
        # It is late at the same place, but nobody has shown that RESUME-7 fails by a hang.
        (HISTORY, "RESUME-7", "pass"),
    ):
        engine.given.clear()
        (found,) = (f for f in bench.judge(case).findings if f.requirement == requirement)
        assert found.outcome == outcome, found
        assert (5.0 in engine.given) == (case != OTHER)


def test_the_case_that_is_shown_has_a_proof() -> None:
    slow = written.case("cut", "save s", "load s, drain")
    engine = Late((slow, 3), (OTHER, FOR_EVER), (CUT, FOR_EVER))
    bench = Bench(engine, hangs=Hangs(1.0))
    results = [bench.judge(case) for case in (OTHER, CUT, slow)]
    (group,) = (g for g in failing_groups(results, by_kind=False) if g.requirement == "RESUME-1")
    assert group.members[0][0] == slow
    engine.given.clear()
    shown = smallest(bench, group, shrinking=True)
    assert (shown.case, shown.finding.outcome, engine.given) == (OTHER, "fails", [])
    assert shown.stacks == "Thread (most recent call first):\n  me/a.py:5 in wait"
    assert shown.cases == 3

    none = Bench(Late((slow, 3), (OTHER, 3), (CUT, 3)), hangs=Hangs(1.0))
    shown = smallest(none, group, shrinking=False)
    assert (shown.case, shown.finding.outcome, shown.stacks) == (slow, "unstable", "")
    assert shown.finding.words.startswith("no play that had five times the limit hangs")


def test_a_slow_play_beside_a_known_hang_has_five_limits() -> None:
    hangs = Hangs(5.0)
    Plays(Clock(needs=float("inf")), Turns(), hangs).play(CUT)
    slow = Clock(needs=4, at="slow.py")
    assert not Plays(slow, Turns(), hangs).play(CUT).hangs
    assert slow.limits == [1, 25]


def test_a_play_that_works_without_an_end_is_not_judged() -> None:
    # Of a dead worker's loader, too, if it fetches something, or if the caller waits for no batch.
    for case, did, at in (
        (CUT, BUSY, "next"),
        (CUT, SPINS, "next"),
        (DEADLY, BUSY, "next"),
        (DEADLY, SPINS, "load"),
    ):
        clock, hangs = Clock(needs=float("inf"), did=did), Hangs(5.0)
        clock.phase = at
        plays = Plays(clock, Turns(), hangs)
        for _ in range(2):
            with pytest.raises(RunnerError, match="still at work") as caught:
                plays.play(case)
            assert "--timeout" in caught.value.hint
        assert clock.limits == [1, 25, 1]
        assert clock.most == [4, 1, 4]


def test_a_loader_that_only_polls_for_a_dead_worker_hangs() -> None:
    clock, hangs = Clock(needs=float("inf"), did=SPINS), Hangs(5.0)
    plays = Plays(clock, Turns(), hangs)
    for _ in range(2):
        assert plays.play(DEADLY).hangs
    # A known place has no proof of its own, and none of its plays has time for one.
    assert (clock.limits, clock.most) == ([1, 25, 1], [4, 1, 1])
    clock.at = "elsewhere.py"
    with pytest.raises(RunnerError, match="still at work"):
        plays.play(CUT)
    assert clock.most[3:] == [4, 1]


def test_only_so_many_places_are_looked_for() -> None:
    hangs = Hangs(1.0)
    for number in range(Hangs.PLACES):
        Plays(Clock(float("inf"), f"{number}.py"), Turns(), hangs).play(CUT)
    clock = Clock(float("inf"), "one_more.py")
    with pytest.raises(RunnerError, match="8 other places"):
        Plays(clock, Turns(), hangs).play(CUT)
    assert len(clock.limits) == 2


def test_the_limit_follows_from_the_smoke_run_unless_it_is_set() -> None:
    for needs, timeout, limit in ((0.1, None, 60), (25, None, 750), (25, 30.0, 30)):
        hangs = Hangs(timeout)
        Plays(Clock(needs), Turns(), hangs).smoke(CUT)
        assert hangs.limit == limit


def test_a_play_that_is_alone_has_no_company() -> None:
    turns, running, most = Turns(), set[int](), []

    def play(number: int) -> bool:
        alone = number % 5 == 0
        with turns.turn(alone) as turn:
            running.add(number)
            most.append((alone, len(running)))
            time.sleep(0.002)
            most.append((alone, len(running)))
            running.discard(number)
        return turn.company

    with ThreadPoolExecutor(4) as pool:
        company = list(pool.map(play, range(60)))
    assert not any(company[::5])
    assert any(company)
    assert {count for alone, count in most if alone} == {1}
    assert max(count for _, count in most) > 1


def test_a_failure_that_only_company_shows_is_none() -> None:
    """Two cases at a time disturb each other here; alone, each of them is right."""
    turns, together = Turns(), threading.Barrier(2)

    def lie(case: Case, session: int) -> bool:
        if session != 1:
            return False
        try:
            together.wait(timeout=0.5)
        except threading.BrokenBarrierError:
            return False
        return True

    def judged(case: Case) -> CaseResult:
        return Bench(Engine(lie), turns=turns).judge(case)

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(judged, [CUT, OTHER]))
    for result in results:
        found = next(f for f in result.findings if f.requirement == "RESUME-1")
        assert (found.outcome, found.kind) == ("pass", "company")
        assert found.words.startswith("fails only while other cases run: ")


def test_a_failure_whose_plays_differ_presupposes_what_any_of_them_does() -> None:
    one = Finding("STATE-6", "fails silently", "missing", needs=("RESUME-1",))
    other = dataclasses.replace(one, kind="different", needs=("RESUME-1", "EPOCH-1"))
    passed = dataclasses.replace(one, outcome="pass", needs=("STATE-1",))
    assert _confirmed(one, [[passed, other], [one]], False).needs == ("RESUME-1", "EPOCH-1")
    assert _confirmed(one, [[one], [one]], False) == one


def test_a_drawn_history_is_not_replayed_once_enough_fail_like_it() -> None:
    engine = Engine(lambda case, session: session == 1)
    bench = Bench(engine)
    for number in range(CertainFailures.ENOUGH + 2):
        workload = dataclasses.replace(written.SIX, n=8 + number)
        steps = ("take 1, save s", "load s, drain, drain")
        history = written.case("history", *steps, workload=workload)
        found = {f.requirement: f.outcome for f in bench.judge(history).findings}
        assert found["RESUME-7"] == "fails silently"
        replays = engine.plays[history.id] - 1
        assert replays == (2 if number < CertainFailures.ENOUGH else 0)
        # Only the failures of drawn histories are numerous.
        table = written.case("cut", *steps, workload=workload)
        bench.judge(table)
        assert engine.plays[table.id] == 3


def judged(fakes: Path, name: str, limit: float = LIMIT) -> CaseResult:
    with Runner(f"{fakes / 'hangs.py'}:{name}", limit=limit) as runner:
        return Bench(runner).judge(written.case("cut", "take 1, save s", "load s, drain"))


@pytest.mark.parametrize(
    ("name", "line"), [("waits", "the user's line"), ("waits_for_its_worker", "the worker's line")]
)
def test_a_hang_names_the_line_at_which_the_loader_stands(
    fakes: Path, name: str, line: str
) -> None:
    (found,) = (f for f in judged(fakes, name).findings if f.requirement == "RESUME-1")
    assert (found.outcome, found.kind) == ("fails", "hang")
    assert f"hangs.py:{line_of(fakes / 'hangs.py', line)}" in found.words


def test_a_slow_loader_does_not_hang(fakes: Path) -> None:
    (found,) = (f for f in judged(fakes, "starts_slowly").findings if f.requirement == "RESUME-1")
    # It resumes wrongly, and it has the time to show that.
    assert found.kind in ("repeated", "extra", "different", "ignored"), found


def test_a_loader_that_works_without_an_end_is_an_error_and_no_failure(fakes: Path) -> None:
    findings = judged(fakes, "works").findings
    assert {f.outcome for f in findings} == {"error"}
    assert "still at work" in findings[0].words


def test_an_error_says_nothing_of_a_format_that_the_loader_does_not_have(fakes: Path) -> None:
    case = written.case("work later", "drain, take 1, save s", "load s, drain, drain")
    assert "DOC-1" in applicable(case)
    with Runner(f"{fakes / 'hangs.py'}:works", limit=LIMIT) as runner:
        findings = Bench(runner).judge(case).findings
    assert {f.outcome for f in findings} == {"error"}
    assert not [f for f in findings if f.requirement.startswith("DOC-")]


def test_the_smoke_run_says_where_it_stands(fakes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Hangs, "SMOKE", LIMIT)
    monkeypatch.setattr(Hangs, "LEAST", LIMIT)
    with pytest.raises(CheckError, match=r"did not finish .* killed at odd\.py:\d+") as caught:
        run_check(Settings(f"{fakes / 'odd.py'}:HangsAtOnce", jobs=1))
    assert "--timeout" in caught.value.hint
    assert "odd.py" in caught.value.hint


def test_a_function_that_never_builds_says_where_it_stands(fakes: Path) -> None:
    line = line_of(fakes / "hangs.py", "where building stands")
    words = rf"not built within {LIMIT} s: it stands at hangs\.py:{line}"
    with pytest.raises(CheckError, match=words) as caught:
        run_check(Settings(f"{fakes / 'hangs.py'}:never_built", jobs=1, timeout=LIMIT))
    hint = caught.value.hint.splitlines()
    assert hint[0] == f"hangs.py:{line}, in never_built"
    assert "--timeout" in hint[-1]


@pytest.mark.parametrize("where", ["", "class Adapter:\n    def __init__(self):\n        "])
def test_a_file_that_does_not_import_says_where_it_stands(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "GRACE", 1.0)
    (tmp_path / "stuck.py").write_text(f"import threading\n{where}threading.Event().wait()\n")
    line = 4 if where else 2
    with pytest.raises(CheckError, match=rf"not imported within .*stuck\.py:{line}") as caught:
        run_check(Settings(f"{tmp_path / 'stuck.py'}:Adapter", jobs=1, timeout=LIMIT))
    assert "--timeout" in caught.value.hint


SPAWNING = """
import multiprocessing, os, sys, time
from midepoch_conformance.host.system import stacks
folder = sys.argv[1]
output = os.open(os.path.join(folder, "output"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.dup2(output, 2)
stacks.write_when_asked(folder)
from hangs import stands
marker = os.path.join(folder, "marker")
child = multiprocessing.get_context("spawn").Process(target=stands, args=(marker,))
child.start()
while not os.path.exists(marker):
    time.sleep(0.05)
print(stacks.ask([child.pid], folder))
child.join()
"""


def test_a_spawned_worker_says_where_it_stands(fakes: Path, tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", SPAWNING, str(tmp_path)],
        capture_output=True, text=True, check=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(fakes)},
    )  # fmt: skip
    line = line_of(fakes / "hangs.py", "where the worker stands")
    assert innermost(told.stdout) == f"hangs.py:{line}", told.stdout


def test_the_innermost_line_is_the_users() -> None:
    text = (
        'Process 1 (python; state S):\nThread 0x1 (most recent call first):\n'
        '  File "/usr/lib/python3.11/threading.py", line 320 in wait\n'
        '  File "/home/me/train.py", line 90 in main\n\n'
        "Process 2 (python; state S):\nCurrent thread 0x2 (most recent call first):\n"
        '  File "/home/me/data.py", line 7 in __getitem__\n'
        '  File "/home/me/.venv/lib/python3.11/site-packages/torch/x.py", line 3 in fetch\n'
    )  # fmt: skip
    assert innermost(text) == "data.py:7"
    installed = stacks("/v/lib/python3.11/site-packages/torch/x.py", 3)
    assert innermost(installed) == "torch/x.py:3"
    assert innermost(stacks("/usr/lib/python3.11/threading.py", 3)) == ""
    # The line may differ between two plays, and how many workers stand there.
    assert signature(stacks("/a.py", 1) + "\n" + stacks("/a.py", 2)) == signature(
        stacks("/a.py", 9)
    )
    assert signature(stacks("/a.py", 1)) != signature(stacks("/b.py", 1))


def test_other_faults_need_no_clock() -> None:
    endless = Fault("hang", "endless epoch", at="end")
    engine = Engine(fault=lambda case, session: endless if session == 1 else None)
    played = Plays(engine, Turns(), Hangs()).play(CUT)
    assert not played.hangs
    assert engine.plays[CUT.id] == 1
