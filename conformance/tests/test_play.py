"""One session played in this process: its steps, their faults, and what it holds."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import CaseError, Step
from midepoch_conformance.case.trace import Event, SessionTrace
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.host.job import Job
from midepoch_conformance.host.session import codecs, holdings
from midepoch_conformance.host.session.journal import Journal, read_journal
from midepoch_conformance.host.session.kept_states import NO_SUCH_STATE
from midepoch_conformance.host.session.play import NO_SUCH_PART, OWN_TYPE, Play


@pytest.fixture(autouse=True)
def _own_streams() -> Iterator[None]:
    state = random.getstate()
    yield
    random.setstate(state)


@pytest.fixture
def odd(fakes: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("odd_here", fakes / "odd.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def played(
    adapter: Any,
    folder: Path,
    *steps: Step,
    workload: Workload | None = None,
    states: dict[str, tuple[str, str]] | None = None,
    left: tuple[int | None, ...] = (),
    own: frozenset[str] = frozenset(),
    patience: float = 5.0,
) -> SessionTrace:
    folder.mkdir(exist_ok=True)
    job = Job(
        workload or Workload(),
        Execution(),
        steps,
        1,
        str(folder),
        str(folder),
        states or {},
        left,
        patience,
    )
    job = Job.from_json(json.loads(json.dumps(job.to_json())))
    offer = Offer(codecs=("pickle", "json"))
    Play(adapter, offer, job, own).run(forked=False)
    session, end = read_journal(job.journal)
    assert end.done
    os.remove(job.journal)
    return session


def only(session: SessionTrace) -> Event:
    (event,) = session.events
    return event


def test_takes_and_breaks(odd: ModuleType, tmp_path: Path) -> None:
    steps = (Step("take", n=0), Step("take", n=3), Step("take", n=3), Step("take", n=1))
    zero, three, rest, later = played(odd.Honest(), tmp_path, *steps).events
    assert (zero.opened, zero.batches, zero.ended) == (True, [], False)
    assert (three.opened, len(three.batches), three.ended) == (False, 3, False)
    assert (rest.opened, len(rest.batches), rest.ended) == (False, 1, True)
    assert (later.opened, later.batches[0][0]) == (True, [0])


def test_a_handler_of_signals_that_raises_between_two_batches_is_the_steps_fault(
    odd: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch's loader raises from its handler when a worker dies, whatever code runs then."""

    def fail(number: int, frame: object) -> None:
        raise RuntimeError("a worker is gone")

    def wake(journal: Journal, batch: list[Any]) -> None:
        signal.raise_signal(signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, fail)
    monkeypatch.setattr(Journal, "batch", wake)
    try:
        steps = (Step("drain", tolerate=True), Step("close"))
        drained, closed = played(odd.Honest(), tmp_path, *steps).events
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert drained.fault is not None
    assert (drained.fault.kind, drained.fault.message) == ("raised", "a worker is gone")
    assert closed.fault is None


def test_a_worker_that_dies_between_two_steps_is_the_next_steps_fault(
    odd: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loader's handler would raise while the suite notes the step; the play goes on."""

    def fail(number: int, frame: object) -> None:
        raise RuntimeError("a worker is gone")

    adapter = odd.Honest()
    open_ = adapter.open

    def opened(*arguments: Any) -> Any:
        signal.signal(signal.SIGCHLD, fail)
        return open_(*arguments)

    note = Journal.step

    def wake(journal: Journal, index: int, do: str) -> None:
        if index != 1:
            signal.raise_signal(signal.SIGCHLD)
        note(journal, index, do)

    before = signal.getsignal(signal.SIGCHLD)
    monkeypatch.setattr(adapter, "open", opened)
    monkeypatch.setattr(Journal, "step", wake)
    try:
        steps = (Step("take", n=1, tolerate=True), Step("take", n=1), Step("drain", tolerate=True))
        events = played(adapter, tmp_path, *steps).events
        assert signal.getsignal(signal.SIGCHLD) is fail
    finally:
        signal.signal(signal.SIGCHLD, before)
    faults = [event.fault.message if event.fault is not None else None for event in events]
    assert faults == ["a worker is gone", None, "a worker is gone"]


def test_saves_and_seals(odd: ModuleType, tmp_path: Path) -> None:
    steps = (
        Step("save", state="s"),
        Step("take", n=1),
        Step("seal", state="s", into="late"),
    )
    for adapter, same in ((odd.Honest(), True), (odd.Shares(), False)):
        saved, _, sealed = played(adapter, tmp_path / str(same), *steps).events
        assert (saved.digest == sealed.digest) is same


class Growing:
    """A loader's session whose states hold a list that grows; a load takes a part away."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def open(self, w: Workload, x: Execution, root: str) -> Growing:
        return self

    def epoch(self) -> Iterator[list[list[float]]]:
        for number in range(3):
            self.seen.append(number)
            yield [[number]]

    def state(self) -> dict[str, Any]:
        return {"deep": [{"seen": self.seen}], "count": len(self.seen)}

    def load(self, state: dict[str, Any]) -> None:
        state["deep"][0].pop("seen")

    def close(self) -> None:
        pass


def test_a_state_that_changes_is_noticed_at_any_depth(tmp_path: Path) -> None:
    steps = (
        *(Step("take", n=1), Step("save", state="a"), Step("seal", state="a", into="b")),
        *(Step("take", n=1), Step("seal", state="a", into="c"), Step("load", state="a")),
    )
    events = played(Growing(), tmp_path, *steps).events
    assert [event.altered is not None for event in events] == [False] * 4 + [True, True]
    assert "int 0, int 1" in str(events[4].altered)
    assert "dict()" in str(events[5].altered)


def test_a_state_that_holds_itself_is_not_compared(tmp_path: Path) -> None:
    class Cyclic(Growing):
        def state(self) -> dict[str, Any]:
            state: dict[str, Any] = {}
            state["self"] = state
            return state

    steps = (Step("save", state="a"), Step("seal", state="a", into="b"))
    events = played(Cyclic(), tmp_path, *steps).events
    assert [event.altered for event in events] == [None, None]


class Interrupted(Growing):
    """A session that makes its rows itself."""

    def open(self, w: Workload, x: Execution, root: str) -> Interrupted:
        self.w, self.next = w, 0
        return self

    def epoch(self) -> Any:
        return self

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> list[list[float]]:
        if self.next >= 3:
            raise StopIteration
        row = self.w.row(self.next)
        self.next += 1
        return [row]


def test_a_sample_interrupts_the_loader_once(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    workload = Workload(n=3, batch_size=1, interrupt_at=1, log="auto")
    steps = (Step("drain", tolerate=True), Step("drain"))
    first, rest = played(Interrupted(), tmp_path, *steps, workload=workload).events
    assert first.fault is not None
    assert (first.fault.type, first.batches) == ("KeyboardInterrupt", [[[0]]])
    assert first.calls is not None
    assert (first.calls["interrupt"], first.calls["raised"]) == (1, 1)
    assert (rest.fault, rest.batches, rest.ended) == (None, [[[1]], [[2]]], True)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_between_two_batches_is_none(tmp_path: Path) -> None:
    class Late(Interrupted):
        def state(self) -> Any:
            return {"row": self.w.row(1)}

    workload = Workload(n=3, batch_size=1, interrupt_at=1, log="auto")
    steps = (Step("take", n=1), Step("save", state="a"), Step("drain"))
    events = played(Late(), tmp_path, *steps, workload=workload).events
    assert [event.fault for event in events] == [None, None, None]
    assert events[1].calls is not None
    assert "raised" not in events[1].calls


def test_a_save_that_draws(odd: ModuleType, tmp_path: Path) -> None:
    assert only(played(odd.Draws(), tmp_path, Step("save", state="s"))).drew is True
    assert only(played(odd.Honest(), tmp_path, Step("save", state="s"))).drew is False


def test_a_state_that_no_codec_takes(odd: ModuleType, tmp_path: Path) -> None:
    fault = only(played(odd.NoState(), tmp_path, Step("save", state="s", codec="json"))).fault
    assert fault is not None
    assert (fault.kind, fault.at, fault.type) == ("codec", "codec", "TypeError")


def test_an_error_that_a_codec_does_not_raise_again_is_not_the_codecs(
    odd: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = [RuntimeError("a worker is gone")]

    def encode(codec: str, state: Any, canonical: bool) -> bytes:
        if errors:
            raise errors.pop()
        return b"{}"

    monkeypatch.setattr(codecs, "encode", encode)
    fault = only(played(odd.Honest(), tmp_path, Step("save", state="s"))).fault
    assert fault is not None
    assert (fault.kind, fault.type, fault.message) == ("raised", "RuntimeError", "a worker is gone")


def test_edits_reach_what_is_shared(odd: ModuleType, tmp_path: Path) -> None:
    steps = (Step("save", state="s"), Step("edit", state="s"), Step("take", n=1))
    assert played(odd.Honest(), tmp_path, *steps).first_fault() is None
    changed = played(odd.Shares(), tmp_path, *steps).events[-1]
    assert changed.batches[0][0] == [4]


def test_cuts(odd: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_text(json.dumps({"epoch": 0, "batch": 2, "parts": [1, {"deep": 2}]}))
    states = {"s": ("json", str(path))}
    for part, fault in ((0, "ValueError"), (1, "ValueError"), (2, "ValueError"), (3, None)):
        found = only(
            played(odd.Honest(), tmp_path, Step("load_cut", n=part, state="s"), states=states)
        ).fault
        assert (found and found.type) == fault
    steps = (Step("load_cut", n=4, state="s"), Step("drain"))
    event = only(played(odd.Honest(), tmp_path, *steps, states=states))
    assert (event.document, event.fault) == (NO_SUCH_PART, None)


def test_a_number_may_be_a_state_where_states_are_numbers(odd: ModuleType, tmp_path: Path) -> None:
    counts = odd.Honest()
    opened = counts.open

    def opened_with_counts(*asked: Any) -> Any:
        session = opened(*asked)
        session.state, session.load = lambda: 0, lambda state: None
        return session

    counts.open = opened_with_counts
    for value, document in (("zero", OWN_TYPE), ("number", OWN_TYPE), ("no_items", None)):
        step = Step("load_bogus", value=value)
        assert only(played(counts, tmp_path, step)).document == document
    refused = only(played(odd.Honest(), tmp_path, Step("load_bogus", value="zero")))
    assert refused.fault is not None


def test_a_state_that_was_never_saved(odd: ModuleType, tmp_path: Path) -> None:
    for step in (
        Step("load", state="s"),
        Step("edit", state="s"),
        Step("seal", state="s"),
        Step("recode", state="s"),
    ):
        event = only(played(odd.Honest(), tmp_path, step, Step("drain")))
        assert (event.document, event.fault) == (NO_SUCH_STATE, None)


def test_a_step_after_the_close_is_the_cases_fault(odd: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="closed"):
        played(odd.Honest(), tmp_path, Step("close"), Step("drain"))


def test_a_step_that_opens_what_is_open_is_the_cases_fault(odd: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="already open"):
        played(odd.Honest(), tmp_path, Step("open"))


def test_a_closed_session_is_opened_anew(odd: ModuleType, tmp_path: Path) -> None:
    steps = (Step("take", n=2), Step("save", state="s"), Step("close"), Step("open"))
    again = (Step("take", n=1), Step("load", state="s"), Step("break"), Step("take", n=1))
    events = played(odd.Honest(), tmp_path, *steps, *again).events
    assert [e.fault for e in events] == [None] * 8
    assert events[4].batches == events[0].batches[:1]
    assert events[7].batches[0][0] == [8]


def test_an_encoding_is_written_in_another_codec(odd: ModuleType, tmp_path: Path) -> None:
    steps = (
        *(Step("take", n=1), Step("save", state="s", codec="pickle")),
        *(Step("recode", state="s", into="t", codec="json"), Step("load", state="t")),
        *(Step("break"), Step("take", n=1)),
    )
    _, saved, recoded, loaded, _, went_on = played(odd.Honest(), tmp_path, *steps).events
    assert saved.digest != recoded.digest
    assert recoded.size == (tmp_path / "2-t.json").stat().st_size
    assert (loaded.fault, went_on.batches[0][0]) == (None, [4])


def test_what_is_held_grows_where_it_is_not_given_back(odd: ModuleType, tmp_path: Path) -> None:
    use = (Step("take", n=1), Step("close"), Step("count"))
    steps = (*use, Step("open"), *use, Step("open"), *use)
    for adapter, grows in ((odd.Honest(), ()), (odd.Hoards(), ("threads", "descriptors"))):
        session = played(adapter, tmp_path / type(adapter).__name__, *steps, patience=0.1)
        counts = [e.held for e in session.events if e.do == "count"]
        assert None not in counts
        for name in ("processes", "threads", "descriptors"):
            numbers = [held[name] for held in counts if held is not None]
            odd.Hoards.let_go()
            assert numbers == ([1, 2, 3] if name in grows else [0, 0, 0]), name


def test_what_goes_a_moment_later_is_not_held(odd: ModuleType, tmp_path: Path) -> None:
    use = (Step("take", n=1), Step("close"), Step("count"))
    events = played(odd.LetsGoSlowly(), tmp_path, *use, Step("open"), *use).events
    first, second = (e.held for e in events if e.do == "count")
    assert first is not None
    assert second is not None
    assert first["threads"] >= second["threads"]


def test_where_nothing_tells_of_processes_nothing_is_counted(
    odd: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holdings, "living", lambda pid: None)
    assert only(played(odd.Honest(), tmp_path, Step("count"))).held is None


def test_an_exception_that_ends_a_generator_of_the_adapters(
    odd: ModuleType, tmp_path: Path
) -> None:
    steps = (Step("drain", tolerate=True), Step("drain", tolerate=True))
    failing = Workload(fail_at=5)
    for own, spent in (({odd.__file__}, True), (set(), False)):
        folder = tmp_path / str(spent)
        events = played(odd.Honest(), folder, *steps, workload=failing, own=frozenset(own)).events
        assert [e.spent for e in events] == [spent, False]
        assert events[1].ended


def test_a_delivery_that_moves_a_stream(odd: ModuleType, tmp_path: Path) -> None:
    for draws, moved in (((), False), (("python",), True)):
        steps = (Step("take", n=1), Step("drain"))
        session = played(odd.Honest(), tmp_path, *steps, workload=Workload(draws=draws))
        assert [e.drew for e in session.events] == [moved, moved]


def test_the_end_is_where_the_lengths_say(odd: ModuleType, tmp_path: Path) -> None:
    failing = Workload(n=16, fail_at=12)
    for left, at in ((3, "end"), (4, "next"), (None, "next")):
        session = played(odd.Honest(), tmp_path, Step("drain"), workload=failing, left=(left,))
        fault = only(session).fault
        assert fault is not None
        assert fault.at == at
