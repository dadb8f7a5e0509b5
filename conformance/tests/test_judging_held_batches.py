"""Batches that are held: what is read of them later, what is written into them, who is at fault."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from written import FIRST, ORACLE, SECOND, SIX, case, found, trace

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import Step
from midepoch_conformance.case.trace import WRITTEN, SessionTrace
from midepoch_conformance.case.workload import WIDE, Workload
from midepoch_conformance.host.function_adapter import FunctionAdapter
from midepoch_conformance.host.job import Job
from midepoch_conformance.host.session.held_batches import HeldBatches
from midepoch_conformance.host.session.journal import read_journal
from midepoch_conformance.host.session.play import Play


def plain(rows: Any) -> list[list[float]]:
    return [[float(value) for value in row] for row in rows]


def held(*delivered: Any, few: bool = False) -> HeldBatches:
    batches = HeldBatches(plain, few)
    for rows in delivered:
        batches.add(rows, plain(rows))
    return batches


MAKERS = [lambda rows: rows, numpy.array, torch.tensor, lambda rows: [*map(torch.tensor, rows)]]


@pytest.mark.parametrize("make", MAKERS)
def test_what_changes_is_told_once_with_what_it_was(make: Any) -> None:
    stays, changes = make([[0.0], [float("nan")]]), make([[2.0], [3.0]])
    batches = held(stays, changes)
    assert batches.changed() == []
    changes[1][0] = 9.0
    assert batches.changed() == [[1, [[2.0], [3.0]], [[2.0], [9.0]]]]
    assert batches.changed() == []


@pytest.mark.parametrize("make", [*MAKERS, lambda rows: tuple(map(numpy.array, rows))])
def test_what_is_written_is_there_and_is_no_change(make: Any) -> None:
    rows = make([[0.0, 1.0], [2.0, 3.0]])
    batches = held(rows)
    batches.overwrite()
    assert plain(rows) == [[WRITTEN, WRITTEN]] * 2
    assert batches.changed() == []


def test_what_is_read_only_stays_as_it_is() -> None:
    rows = numpy.array([[0.0]])
    rows.flags.writeable = False
    batches = held(rows, ((1.0,),))
    batches.overwrite()
    assert plain(rows) == [[0.0]]
    assert batches.changed() == []


def test_what_can_be_read_but_once_is_not_held() -> None:
    batches = HeldBatches(plain)
    for rows in (map(tuple, [[1.0]]), [iter([1.0])], (iter([1.0]),)):
        batches.add(rows, [[1.0]])
    assert batches.changed() == []


def test_of_batches_of_any_size_the_first_and_the_latest_are_held() -> None:
    delivered = [[[float(i)]] for i in range(100)]
    batches = held(*delivered, few=True)
    for rows in delivered:
        rows[0][0] = 1000.0
    numbers = [change[0] for change in batches.changed()]
    assert numbers == [*range(8), *range(92, 100)]


class Adapter:
    """An adapter of a loader that delivers one array, refilled; wide rows are its ids repeated."""

    def __init__(self, when: str) -> None:
        self.when = when

    def open(self, w: Any, x: Any, root: str) -> Any:
        self.buffer = numpy.zeros((2, 2 * WIDE))
        return self

    def epoch(self) -> Iterator[Any]:
        for i in range(3):
            batch = self.buffer if self.when == "further batches" else self.buffer + 0
            batch[:] = [[2 * i], [2 * i + 1]]
            self.last = batch
            yield batch

    def close(self) -> None:
        if self.when == "the end":
            self.last[1] = 7


def played(adapter: Any, folder: Path, *steps: str, name: str = "", workers: int = 0) -> Any:
    todo = tuple(Step(do, 2 if do == "take" else 0) for do in steps)
    job = Job(Workload(n=6), Execution(workers=workers), todo, 1, str(folder), str(folder))
    job = Job.from_json(json.loads(json.dumps(job.to_json())))
    Play(adapter, Offer(name=name), job, frozenset()).run(forked=False)
    session, end = read_journal(job.journal)
    assert end.done
    os.remove(job.journal)
    return session


def test_a_session_reads_its_batches_again_at_its_end(tmp_path: Path) -> None:
    session = played(Adapter("further batches"), tmp_path, "drain")
    assert session.events[0].batches == [[[0], [1]], [[2], [3]], [[4], [5]]]
    assert session.changed == [
        ["at the session's end", 0, [[0], [1]], [[4], [5]]],
        ["at the session's end", 1, [[2], [3]], [[4], [5]]],
    ]
    assert dataclasses.asdict(session)["changed"] == session.changed


@pytest.mark.parametrize(
    ("steps", "when"),
    [
        (("drain",), "after the loader was dropped"),
        (("drain", "close"), "after the loader was closed"),
    ],
)
def test_and_once_more_without_the_loader(
    tmp_path: Path, steps: tuple[str, ...], when: str
) -> None:
    session = played(Adapter("the end"), tmp_path, *steps)
    assert session.changed == [[when, 2, [[4], [5]], [[4], [7]]]]


def test_a_step_writes_into_all_that_was_delivered(tmp_path: Path) -> None:
    session = played(Adapter("further batches"), tmp_path, "take", "overwrite", "drain")
    assert session.changed[0] == ["before it was written into", 0, [[0], [1]], [[2], [3]]]
    assert session.changed[1][2:] == [[[WRITTEN], [WRITTEN]], [[4], [5]]]
    fair = played(Adapter("never"), tmp_path, "take", "overwrite", "drain")
    assert fair.changed == []
    assert fair.events[2].batches == [[[4], [5]]]


def test_nothing_is_held_where_it_is_counted_what_the_loader_holds(tmp_path: Path) -> None:
    assert played(Adapter("further batches"), tmp_path, "drain", "count").changed == []


def refilling(num_workers: int) -> Any:
    """Return a training loader whose batches are one list."""
    batch: list[int] = []

    class Loader:
        def __iter__(self) -> Iterator[list[int]]:
            for i in range(3):
                batch[:] = [i]
                yield batch

    return Loader()


@pytest.mark.parametrize(("workers", "changed"), [(1, 2), (0, 0)])
def test_a_users_own_loader_is_looked_at_where_it_has_workers(
    tmp_path: Path, workers: int, changed: int
) -> None:
    """Inline it may hand out what its dataset itself keeps and refills."""
    adapter = FunctionAdapter(refilling)
    session = played(adapter, tmp_path, "drain", name="own", workers=workers)
    assert len({json.dumps(batch) for batch in session.events[0].batches}) == 3
    assert len(session.changed) == changed


# The judge.

CHANGED = ["at the session's end", 1, [[2], [3]], [[4], [5]]]
WRITTEN_OVER = ("take 1, overwrite, save s, drain", "load s, drain")


def opinion(
    probe: str, *sessions: SessionTrace, plans: tuple[str, ...], requirement: str = "BASIS-6"
) -> tuple[str, str]:
    of = case(probe, *plans)
    t = dataclasses.replace(trace(of), sessions=list(sessions))
    finding = found(requirement, of, t)
    assert finding is not None
    return finding.outcome, finding.words


def session(plans: tuple[str, ...], number: int, *texts: str) -> SessionTrace:
    of = case("written over", *plans)
    return trace(of, *[[]] * number, list(texts)).sessions[number]


def test_a_batch_that_changed_fails_in_every_family() -> None:
    plans = ("drain, drain",)
    run = session(plans, 0, f"{FIRST}.", f"{SECOND}.")
    assert opinion("plain", run, plans=plans) == ("pass", "")
    other = dataclasses.replace(run, changed=[CHANGED])
    words = "batch 1 of those delivered is another at the session's end"
    assert opinion("plain", other, plans=plans) == ("fails silently", words)
    assert opinion("execution", run, other, plans=plans * 2) == (
        "fails silently",
        "batch 1 of those delivered in session 1 is another at the session's end",
    )


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        (("01", "", "", "23|45."), ("23|45.",), "pass"),
        # The uninterrupted run, which writes nothing, has other batches.
        (("01", "", "", "29|45."), ("23|45.",), "fails silently"),
        (("01", "", "", "23|45."), ("29|45.",), "fails silently"),
        (("01", "", "", "23!next RuntimeError no"), ("23|45.",), "fails"),
    ],
)
@pytest.mark.parametrize("mark", [None, 0, 1])
def test_what_is_written_shows_nowhere_else(
    first: tuple[str, ...], second: tuple[str, ...], outcome: str, mark: int | None
) -> None:
    both = session(WRITTEN_OVER, 0, *first), session(WRITTEN_OVER, 1, "", *second)
    if mark is not None:
        both[mark].events[-1].batches[0][1] = [3, WRITTEN]
        outcome = "fails silently"
    found = opinion("written over", *both, plans=WRITTEN_OVER, requirement="BASIS-7")
    assert found[0] == outcome
    assert opinion("written over", *both, plans=WRITTEN_OVER)[0] == "pass"


@pytest.mark.parametrize(
    ("now", "by_the_loader", "by_the_write"),
    [([[4], [5]], "fails silently", "pass"), ([[2], [WRITTEN]], "pass", "fails silently")],
)
def test_a_change_is_the_loaders_or_that_of_a_write(
    now: list[list[int]], by_the_loader: str, by_the_write: str
) -> None:
    one, other = (
        session(WRITTEN_OVER, 0, "01", "", "", "23|45."),
        session(WRITTEN_OVER, 1, "", "23|45."),
    )
    one = dataclasses.replace(one, changed=[[*CHANGED[:3], now]])
    for requirement, outcome in (("BASIS-6", by_the_loader), ("BASIS-7", by_the_write)):
        found = opinion("written over", one, other, plans=WRITTEN_OVER, requirement=requirement)
        assert found[0] == outcome


def test_a_resume_after_a_write_presupposes_that_one_without_it_is_right() -> None:
    first = session(WRITTEN_OVER, 0, "01", "", "", "23|45.")
    both = [first, session(WRITTEN_OVER, 1, "", "29|45.")]
    of = case("written over", *WRITTEN_OVER)
    failed = found("BASIS-7", of, dataclasses.replace(trace(of), sessions=both))
    assert failed is not None
    assert failed.needs == ("RESUME-1",)


def test_a_state_that_a_write_makes_unfit_fails() -> None:
    first = session(WRITTEN_OVER, 0, "01", "", "", "23|45.")
    refused = session(WRITTEN_OVER, 1, "!load ValueError the digest differs")
    found = opinion("written over", first, refused, plans=WRITTEN_OVER, requirement="BASIS-7")
    assert found[0].startswith("fails"), found


def test_a_play_that_ends_early_is_no_pass() -> None:
    only = session(WRITTEN_OVER, 0, "01", "", "", "23|45.")
    found = opinion("written over", only, plans=WRITTEN_OVER, requirement="BASIS-7")
    assert found[0] == "blocked"


def test_rows_that_are_arrays_are_told_by_their_ids() -> None:
    rows = Workload(n=3, width=64).row(2)
    assert (rows.shape, set(rows.tolist())) == ((64,), {2})
    assert SIX.row(2) == [2]
    assert ORACLE.sessions
