"""What ``--measure`` finds: sizes, fetches and times of a loader whose figures are known."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

from midepoch_conformance.case.adapter import LoaderInfo, Offer
from midepoch_conformance.case.case import Case
from midepoch_conformance.case.trace import Event, Fault, SessionTrace, Trace
from midepoch_conformance.cli import main
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.report.document import Footer
from midepoch_conformance.run.measure import measure

OFFER = Offer(name="grows", workers=(0, 1, 2), codecs=("pickle", "json"))


@dataclasses.dataclass
class Grows:
    """An engine whose loader's states grow, and whose resumes fetch all samples again."""

    offer: Offer
    fault: Fault | None = None
    limit: float = 1.0

    @property
    def info(self) -> LoaderInfo:
        return LoaderInfo("grows", "1", "3", "linux", {}, self.offer)

    def declines(self, workload: object, execution: object) -> str | None:
        return None

    def play(
        self,
        case: Case,
        lengths: Sequence[int] | None = None,
        limit: float | None = None,
        most: float = 4,
    ) -> Trace:
        sessions, position = [], 0
        for plan in case.sessions:
            events, age, resumed = [], 0.0, False
            for number, step in enumerate(plan.steps):
                event = Event(number, step.do)
                if step.do == "take":
                    event.fetched = step.n * case.workload.batch_size
                    if resumed:
                        event.fetched += position * case.workload.batch_size
                        age += 2.0
                    else:
                        position += step.n
                    event.batches = [[[0.0]]]
                    event.fault = self.fault if resumed else None
                elif step.do == "save":
                    event.size = 100 + position
                elif step.do == "load":
                    resumed = True
                age += 0.5
                event.seconds = age
                events.append(event)
            if len(sessions) == 0:
                saved = position
            position = saved
            sessions.append(SessionTrace(events))
        return Trace(case.id, sessions)


def test_figures_are_those_of_the_late_resume() -> None:
    found = measure(Bench(Grows(OFFER)))
    assert found is not None
    assert (found.kind, found.workers, found.codec) == ("map", 2, "json")
    assert (found.early, found.late) == (110, 10_100)
    assert found.refetched == 20_000
    assert (found.first, found.fresh) == (3.0, 0.5)
    assert found.trouble == ""


def test_a_failing_resume_leaves_its_figures_out_and_says_why() -> None:
    found = measure(Bench(Grows(OFFER, Fault("raised", "KeyError", message="'position'"))))
    assert found is not None
    assert (found.early, found.late) == (110, 10_100)
    assert (found.first, found.refetched) == (None, None)
    assert "KeyError" in found.trouble


def test_a_loader_without_states_inside_an_epoch_has_no_figures() -> None:
    assert measure(Bench(Grows(dataclasses.replace(OFFER, saves=("end",))))) is None


def test_a_footer_keeps_the_figures() -> None:
    empty = {
        "status": 0, "cases": 0, "classes": [], "requirements": [], "blocked": [], "failures": [],
        "known": [], "seconds": 0.0,
    }  # fmt: skip
    figures = {"kind": "map", "workers": 2, "codec": "json", "early": 310}
    footer = Footer.from_json({**empty, "measured": figures})
    assert footer.measured is not None
    assert footer.measured.early == 310
    assert footer.to_json()["measured"] == figures


def test_a_function_cannot_be_measured(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text(
        "def make_loader(num_workers=0):\n    return [[0], [1], [2]]\n", encoding="utf-8"
    )
    status = main(["check", f"{tmp_path}/mine.py:make_loader", "--measure", "--no-scripts"])
    assert status == 2
    assert "--measure needs a loader with an adapter" in capfd.readouterr().err
