"""The scripts of failures: they show what they say, alone, and stay short."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from midepoch_conformance import judges
from midepoch_conformance.adapter import Execution, Offer
from midepoch_conformance.case import Case, SessionPlan, Step
from midepoch_conformance.cases import oracle_case
from midepoch_conformance.judges import REGISTRY
from midepoch_conformance.processes import _runs
from midepoch_conformance.runner import LoaderInfo, Runner
from midepoch_conformance.script import NO_VERDICT, adapter_source, make_script, run_script
from midepoch_conformance.script_checks import _RECIPES
from midepoch_conformance.verdict import FAILURES, Finding
from midepoch_conformance.workload import Workload

ONE, TWO = Execution(), Execution(workers=1)
SAVED = (Step("take", n=2), Step("save", state="s"))
REST = (Step("drain"), Step("drain"))
LOADED = (Step("load", state="s"), *REST)


def plans(*sessions: Sequence[Step], execution: Execution = ONE) -> tuple[SessionPlan, ...]:
    return tuple(
        SessionPlan(execution, tuple(steps), ambient=1 + 100 * i, host="ab"[i % 2])
        for i, steps in enumerate(sessions)
    )


def judged(runner: Runner, case: Case) -> dict[str, Finding]:
    """Return what is found wrong, by requirement."""
    oracle = runner.play(oracle_case(case))
    lengths = [len(event.batches) for event in oracle.sessions[0].events]
    trace = runner.play(case, lengths)
    found = judges.judge(case, trace, oracle)
    return {f.requirement: f for f in found if f.outcome in FAILURES}


def scripted(fakes: Path, loader: str, case: Case, requirement: str) -> tuple[str, Finding]:
    with Runner(f"{fakes / 'lies.py'}:{loader}", limit=5) as runner:
        findings = judged(runner, case)
        assert requirement in findings, f"not found; found {findings}"
        return make_script(runner.info, case, findings[requirement], "a case"), findings[
            requirement
        ]


CASES = {
    ("Forgets", "RESUME-1"): Case("cut", Workload(), plans(SAVED, LOADED)),
    ("Refuses", "STATE-5"): Case(
        "edited after load",
        Workload(),
        plans(SAVED, (LOADED[0], Step("edit", state="s"), *REST)),
    ),
    ("Shares", "STATE-1"): Case(
        "sealed late",
        Workload(),
        plans(
            (*SAVED, Step("take", n=1), *REST, Step("seal", state="s", into="late")),
            (Step("load", state="late"), *REST),
        ),
    ),
    ("Shares", "STATE-2"): Case(
        "edited after save",
        Workload(),
        plans(
            (*SAVED, Step("edit", state="s"), Step("take", n=1), Step("save", state="t"), *REST),
            (Step("load", state="t"), *REST),
        ),
    ),
    ("StartsOver", "REFUSE-1"): Case(
        "no state", Workload(), plans((Step("load_bogus", value="foreign"), *REST))
    ),
    ("StartsOver", "REFUSE-2"): Case(
        "part removed", Workload(), plans(SAVED, (Step("load_cut", 1, state="s"), *REST))
    ),
    ("StartsOver", "REFUSE-3"): Case(
        "other plan",
        Workload(epochs=1),
        (
            plans(SAVED)[0],
            SessionPlan(ONE, LOADED, 2, "b", workload=(("batch_size", 3),)),
        ),
    ),
    ("Breaks", "REFUSE-4"): Case(
        "after a refusal",
        Workload(),
        plans((Step("take", n=1), Step("load_bogus", value="text", tolerate=True), *REST)),
    ),
    ("Ignores", "RESUME-5"): Case(
        "live",
        Workload(),
        plans(
            (Step("take", n=1), Step("save", state="s")),
            (
                Step("take", n=2),
                Step("load", state="s"),
                Step("take", n=1, tolerate=True),
                Step("break"),
                *REST,
            ),
        ),
    ),
    ("Swallows", "FAULT-2"): Case("failing sample", Workload(epochs=1, fail_at=6), plans(REST[:1])),
    ("Swallows", "FAULT-3"): Case("stop iteration", Workload(epochs=1, stop_at=6), plans(REST[:1])),
    ("Hangs", "FAULT-2"): Case("failing sample", Workload(epochs=1, fail_at=6), plans(REST[:1])),
    ("Dies", "FAULT-2"): Case("failing sample", Workload(epochs=1, fail_at=6), plans(REST[:1])),
    ("Leaves", "FAULT-4"): Case(
        "left behind", Workload(), plans((Step("take", n=1), Step("close")), execution=TWO)
    ),
    ("Draws", "BASIS-5"): Case("saving", Workload(), plans((*SAVED, *REST))),
    ("Loses", "BASIS-3"): Case("whole", Workload(), plans(REST)),
    ("Sticks", "EPOCH-5"): Case(
        "break", Workload(epochs=3), plans((Step("take", n=1), Step("break"), *REST))
    ),
    ("Grows", "COST-1"): Case(
        "size",
        Workload(n=4000, epochs=1),
        plans(
            (Step("take", 112), Step("save", state="a"), Step("take", 800), Step("save", state="b"))
        ),
    ),
    ("Repeats", "VAMB-2"): Case("ambient streams", Workload(draws=("python",)), plans(REST)),
}


@pytest.mark.parametrize(("loader", "requirement"), CASES, ids=lambda value: value)
def test_a_script_shows_its_failure(fakes: Path, loader: str, requirement: str) -> None:
    case = CASES[loader, requirement]
    text, finding = scripted(fakes, loader, case, requirement)
    assert "midepoch_conformance" not in text
    source = (fakes / "lies.py").read_text().split('"""', 2)[2].strip()
    assert source.partition("\n\n")[2] in text
    text = text.replace("signal.alarm(30)", "signal.alarm(3)")
    ran = run_script(text)
    assert ran.status == 1, ran.output
    assert "\nexpected: " in ran.output
    assert "\ngot:      " in ran.output
    assert requirement in ran.output
    honest = run_script(text.replace(f"return {loader}.open", "return Honest.open"))
    assert honest.status == 0, honest.output
    assert finding.requirement == requirement


def test_every_recipe_is_a_requirement_with_a_judge() -> None:
    assert set(_RECIPES) <= set(REGISTRY)


def test_the_script_is_short(fakes: Path) -> None:
    text, _ = scripted(fakes, "Forgets", CASES["Forgets", "RESUME-1"], "RESUME-1")
    own = text.partition("Honest = Adapter()\n")[2]
    lines = [line for line in own.splitlines() if line.strip()]
    assert len(lines) <= 53
    assert max(map(len, lines)) <= 100


def test_a_script_that_breaks_shows_nothing() -> None:
    assert run_script("raise SystemExit(1)").status == NO_VERDICT
    assert run_script("print('no words')").status == NO_VERDICT
    assert "bad is not defined" in run_script("bad").output.replace("'", "")
    slow = run_script("import time; time.sleep(60)", timeout=0.5)
    assert slow.status == NO_VERDICT
    assert "0.5 s" in slow.output


def test_a_script_leaves_no_process() -> None:
    text = "import subprocess; print(subprocess.Popen(['sleep', '1000']).pid)"
    pid = int(run_script(text).output)
    until = time.monotonic() + 10
    while _runs(pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not _runs(pid)


def test_a_make_loader_function_is_imported(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Loader(list):\n"
        "    def state_dict(self):\n"
        "        return {}\n"
        "    def load_state_dict(self, state):\n"
        "        pass\n"
        "def make_loader(num_workers):\n"
        "    return Loader([[1], [2], [3]])\n"
    )
    case = Case("cut", Workload(), plans((Step("take", 1), Step("save", state="s")), LOADED))
    with Runner(f"{tmp_path / 'mine.py'}:make_loader") as runner:
        findings = judged(runner, case)
        text = make_script(runner.info, case, findings["RESUME-1"], lengths=[3, 3])
    assert "from mine import make_loader" in text
    ran = run_script(text)
    assert ran.status == 1, ran.output


@pytest.mark.parametrize("codec", ["json", "pickle"])
def test_the_codec_is_the_cases(fakes: Path, codec: str) -> None:
    first = (Step("take", n=2), Step("save", state="s", codec=codec))
    case = Case("codec", Workload(), plans(first, LOADED))
    text, _ = scripted(fakes, "Forgets", case, "STATE-3")
    assert f"{codec}.dumps(session.state())" in text
    assert run_script(text).status == 1


def test_built_in_adapters_are_folded_in() -> None:
    info = LoaderInfo(
        name="torchdata",
        version="0",
        python="",
        platform="",
        packages={},
        offer=Offer(),
        file="/nowhere/torchdata.py",
        module="midepoch_conformance.adapters.torchdata",
        attribute="Adapter",
    )
    source = adapter_source(info)
    assert source.startswith("import torch")
    assert re.search(r"^class Adapter:", source, re.MULTILINE)
    assert sys.executable not in source
