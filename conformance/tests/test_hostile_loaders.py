"""Any harm that a loader does to its process becomes a verdict in bounded time."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.trace import Fault, Trace
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.host.system.deadline import Deadline
from midepoch_conformance.playing.runner import Runner

sys.path.append(str(Path(__file__).parent / "fakes"))

import hostile

LIMIT = 0.5
"""Seconds that a session may take."""

BOUND = 120.0
"""Seconds in which all calls of one act are judged, on a machine that is busy with other things."""

AT = dict(zip(hostile.PLACES, ("open", "iter", "next", "state", "load", "close"), strict=True))
"""The calls of a session as a fault names them."""

HANG, SPINS, CLEAN = ("hang", "hang"), ("hang", "spins"), None
ENDS: dict[str, tuple[str, str] | None] = {
    "hangs": HANG,
    "hangs_deaf": HANG,
    "spins": SPINS,
    "stops": HANG,
    "exits": ("crash", "exit status 5"),
    "exits_well": ("crash", "exit status 0"),
    "segfaults": ("crash", "SIGSEGV"),
    "aborts": ("crash", "SIGABRT"),
    "kills_its_group": ("crash", "SIGKILL"),
    "leaves_by_exception": ("raised", "SystemExit"),
    "interrupts": ("raised", "KeyboardInterrupt"),
}
"""How a session ends in which an act happens; all other acts must not show."""

LEAVES = {"forks_aside", "spawns", "spawns_a_daemon"}
"""The acts that leave a process, which the closing of the loader must count."""


def case(seed: int) -> Case:
    first = (Step("take", 2), Step("save", state="s"), Step("close"))
    second = (Step("load", state="s"), Step("drain"), Step("close"))
    plans = (SessionPlan(Execution(), first), SessionPlan(Execution(), second, host="b"))
    return Case("cut", Workload(seed=seed), plans)


def delivered(trace: Trace) -> list[list[float]]:
    events = [event for session in trace.sessions for event in session.events]
    return [row for event in events for batch in event.batches for row in batch]


def first_fault(trace: Trace) -> Fault | None:
    faults = [session.first_fault() for session in trace.sessions]
    return next((fault for fault in faults if fault is not None), None)


def of_this_test(mark: str) -> list[int]:
    """Return the processes, of whatever parent, that were started with ``mark`` around them."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                around = Path(f"/proc/{name}/environ").read_bytes()
                status = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if mark.encode() in around and status not in "ZX":
                found.append(int(name))
    return found


@pytest.mark.parametrize("kind", ["Forked", "Unforked"])
@pytest.mark.parametrize("act", [act.__name__ for act in hostile.ACTS])
def test_a_hostile_act_is_a_verdict_and_the_suite_goes_on(
    act: str, kind: str, fakes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIDEPOCH_TEST", str(tmp_path))
    ends, honest = {}, {}
    with Runner(f"{fakes / 'hostile.py'}:{kind}", root=tmp_path, limit=LIMIT) as runner:
        whole = delivered(runner.play(case(0)))
        assert whole == [[i] for i in range(13)]
        began = time.monotonic()
        for place in hostile.PLACES:
            # An act that spins makes progress, so it would have four limits.
            trace = runner.play(case(hostile.seed_of(act, place)), most=2)
            fault = first_fault(trace)
            ends[place] = (fault.kind, fault.type, fault.at) if fault is not None else CLEAN
            if fault is None:
                assert delivered(trace) == whole, place
                left = [session.events[-1].left for session in trace.sessions]
                assert any(left) is (act in LEAVES), (place, left)
            honest[place] = delivered(runner.play(case(0)))
        assert time.monotonic() - began < BOUND
    expected = ENDS.get(act)
    assert ends == {p: (*expected, AT[p]) if expected else CLEAN for p in hostile.PLACES}
    assert honest == dict.fromkeys(hostile.PLACES, whole)
    assert of_this_test(str(tmp_path)) == []


def test_the_time_that_a_spinning_loader_has_is_bounded() -> None:
    assert len(hostile.PLACES) * 2 * Deadline.MOST * LIMIT < BOUND
