"""Order: the permutation and the seeds of midepoch's own format, seen in delivered batches."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import HISTORY, PROGRAM
from midepoch_conformance.case.data.published import Drawn
from midepoch_conformance.case.trace import Batch, Fault
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.judges.outages import carried
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict import expected as model
from midepoch_conformance.verdict.compare import ids, show, unwhole
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.finding import Finding, in_words, is_refusal
from midepoch_conformance.verdict.format.permutation import (
    derive_words,
    elements,
    key,
    private,
    streams,
    torch_float,
)
from midepoch_conformance.verdict.format.published import published_elements, vector

__all__ = ["ordered", "values"]

SMALL = 4096


@judge("ORDER-1", "order", alone=True)
def bijection(view: View) -> Finding | None:
    """Each epoch is a permutation."""
    if not view.case.workload.shuffle:
        return None
    failed = _failed(view)
    if failed:
        return failed
    w = view.case.workload
    for number, epoch in enumerate(_epochs(view)[:2]):
        wrong = unwhole(epoch, w.n)
        if wrong is not None:
            return view.silent(wrong.kind, f"epoch {number}: {wrong.words}", None, epoch)
    return view.passed()


@judge("ORDER-2", "two orders", alone=True)
def mixing(view: View) -> Finding | None:
    """The mixing function is right: both kinds of order use it, and share nothing else."""
    if not view.case.workload.shuffle:
        return None
    failed = _failed(view)
    if failed:
        return failed
    wrong = [_order_of(view, index, 0) for index in (0, 1)]
    if all(wrong):
        words = "small and large orders are wrong, so the mixing function is, or their key (SEED-1)"
        found = view.silent("reordered", f"{words}: {wrong[0]}")
        # If the streams are not derived as written, the key is not, either.
        return dataclasses.replace(found, needs=("SEED-2",))
    return view.passed()


@judge("ORDER-3", "order", "published order", alone=True)
def small(view: View) -> Finding | None:
    """Up to 4096 samples come in the order of the Fisher-Yates shuffle."""
    return _as_written(view) if view.case.workload.n <= SMALL else None


@judge("ORDER-4", "order", "published order", alone=True)
def large(view: View) -> Finding | None:
    """More samples come in the order of the Feistel network."""
    return _as_written(view) if view.case.workload.n > SMALL else None


@judge("ORDER-5", "far position", alone=True)
def far(view: View) -> Finding | None:
    """A position far into a huge order is reached at once."""
    if not view.case.workload.shuffle:
        return None
    failed = _failed(view, costly=True)
    if failed:
        return failed
    w = view.case.workload
    begun = view.events(0, "take")
    got = [batch for e in begun for batch in e.batches]
    want = ordered(w, 0, 0, len(got))
    if got != want or not got:
        words = f"the order is wrong from its beginning (ORDER-4): expected {show(want)}"
        return view.blocked(f"{words}, got {show(got)}")
    position = json.loads(view.case.sessions[1].steps[0].document)["position"]
    got = [batch for e in view.events(1, "take") for batch in e.batches]
    want = ordered(w, position["epoch"], position["batches"], 2)
    if got != want:
        words = f"batch {position['batches']}: expected {show(want)}, got {show(got)}"
        return view.silent("different", words, want, got)
    return view.passed()


@judge("ORDER-6", "order", "published epochs", alone=True)
def epochs(view: View) -> Finding | None:
    """Each epoch has its own key, and its batches take consecutive positions."""
    if not view.case.workload.shuffle:
        return None
    failed = _failed(view)
    if failed:
        return failed
    if view.case.probe == "published epochs":
        w = view.case.workload
        data = vector("epochs", f"{w.seed}-{w.n}-{w.batch_size}-{w.tail}").data["epochs"]
        return _published(view, [[[[int(i)] for i in b] for b in e["batches"]] for e in data])
    if _order_of(view, 0, 0):
        return view.blocked("the first epoch's order is wrong itself (ORDER-3, ORDER-4)")
    for epoch in (1, 2):
        wrong = _order_of(view, 0, epoch)
        if wrong:
            return view.silent("reordered", wrong)
    return view.passed()


@judge("SEED-1", "seeds", alone=True)
def derived(view: View) -> Finding | None:
    """``derive`` is right: the order and all streams follow from it."""
    streams = _seeded(view)
    if streams.outcome != "pass":
        return streams
    w = view.case.workload
    orders = range(len(_epochs(view))) if w.kind == "map" and w.shuffle else ()
    wrong = next(filter(None, (_order_of(view, 0, epoch) for epoch in orders)), "")
    if wrong:
        # A wrong key and a wrong shuffle give any order: nothing that is delivered tells which.
        words = "the streams are derived as written, and the order's key is not, or what is made of"
        return view.silent("reordered", f"{words} it (ORDER-2 to ORDER-4): {wrong}")
    return streams


@judge("SEED-2", "seeds", alone=True)
def batches_of_maps(view: View) -> Finding | None:
    """The streams of a map-style batch are seeded from its epoch and index."""
    return _seeded(view) if view.case.workload.kind == "map" else None


@judge("SEED-3", "seeds", alone=True)
def batches_of_iterables(view: View) -> Finding | None:
    """The streams of an iterable's batch are seeded from its epoch, lane and ordinal."""
    return _seeded(view) if view.case.workload.kind != "map" else None


@judge("SEED-4", "seeds", "seeds elsewhere", alone=True)
def three_streams(view: View) -> Finding | None:
    """Each of the three streams is seeded from its own word."""
    failed = _failed(view)
    if failed:
        return failed
    if view.case.probe == "seeds elsewhere":
        return _elsewhere(view)
    columns = _columns(view, _epochs(view))
    if not any(columns):
        return view.blocked("no stream is as written (SEED-2, SEED-3)")
    names = [n for n, right in zip(view.case.workload.draws, columns, strict=True) if not right]
    if names:
        return view.silent("values", f"the stream of {', '.join(names)} is seeded otherwise")
    return view.passed()


@judge("SEED-5", "order", alone=True)
def root(view: View) -> Finding | None:
    """The root seed is in the plan, the same in every state."""
    failed = _failed(view)
    if failed:
        return failed
    seeds = [_seed(e.document) for e in view.events(0, "save")]
    given = str(view.case.workload.seed)
    if any(seed != given for seed in seeds):
        words = f"the seed given is {given}, the plans say {seeds}"
        return view.fails("invalid", words, given, seeds)
    return view.passed() if seeds else None


@judge(
    "SEED-6", "caller streams", HISTORY, PROGRAM, "work cut", "work chain", "caught", "interrupted",
    "failed replay", alone=True,
)  # fmt: skip
def caller_streams(view: View) -> Finding | None:
    """Without workers, no request for a batch moves a global stream."""
    seen = [
        (index, event)
        for index, plan in enumerate(view.case.sessions)
        if not plan.execution.workers
        for event in view.events(index, "take", "drain")
        if event.drew is not None
    ]
    moved = next(((index, event) for index, event in seen if event.drew), None)
    if view.case.probe == "caller streams":
        failed = _failed(view)
        if failed:
            return failed
    elif not view.writes_documents():
        return None  # other formats do not promise it
    if moved is not None:
        index, event = moved
        batches = len(event.batches)
        words = f"a global random stream is moved while {batches} batches are delivered"
        words += " after a resume" if index else ""
        evidence = Evidence("drew", index, event.step, event.step)
        return view.silent("values", words, "no global stream moves", "one moved", evidence)
    return view.passed() if seen else None


@judge("SEED-7", "private streams", alone=True)
def private_streams(view: View) -> Finding | None:
    """A batch's own generators follow its place alone, in any kind of worker."""
    failed = _failed(view)
    if failed:
        return failed
    # Each session continues at the end of the one before it.
    epochs: model.Epochs = [[]]
    for index in range(len(view.trace.sessions)):
        for event in view.events(index):
            epochs[-1] += event.batches
            if event.ended:
                epochs.append([])
    if not any(_columns(view, epochs)):
        words = "a batch's own generators draw what its seed does not give"
        return view.silent("values", words)
    return view.passed()


def ordered(w: Workload, epoch: int, first: int, count: int) -> list[Batch]:
    """Return batches of the order as the format defines it.

    Example:
        >>> ordered(Workload(n=10, batch_size=4, shuffle=True, seed=0), 0, 2, 2)
        [[[0], [3]]]
    """
    batches: list[Batch] = []
    for number in range(first, first + count):
        positions = range(number * w.batch_size, min((number + 1) * w.batch_size, w.n))
        if positions:
            batches.append([[i] for i in elements(w.n, key(w.seed, epoch), positions)])
    return batches


def values(seeds: Sequence[int], samples: int, draws: Sequence[str]) -> list[list[float]]:
    """Return what the samples of a batch draw, a list for each stream.

    Example:
        >>> values(derive_words(7, "batch.map", 2, 5), 1, ("python",))
        [[0.639448550803967]]
    """
    python, numpy, torch = streams(seeds)
    drawn = {
        "python": lambda: python.random(),
        "numpy": lambda: numpy.random(),
        "torch": lambda: torch_float(torch),
    }
    if "own" in draws:
        drawn["own"] = private(seeds)
    return [[drawn[name]() for _ in range(samples)] for name in draws]


def _failed(view: View, costly: bool = False) -> Finding | None:
    for index in range(len(view.case.sessions)):
        session = view.session(index)
        faults = (session.fault, *(e.fault for e in session.events)) if session else ()
        # A caller that catches a sample's exception goes on.
        caught = view.case.workload.fail_at is not None
        fault = next((f for f in faults if f is not None and not (caught and carried(f))), None)
        if fault is not None and costly and _too_much(fault):
            return view.fails("cost", in_words(fault))
        if fault is not None and costly and fault.at == "open":
            return view.not_offered(in_words(fault))  # it takes no dataset of this length
        if fault is not None:
            return view.blocked(f"the run fails: {in_words(fault)}")
    return None


def _too_much(fault: Fault) -> bool:
    """Return whether a huge order was too much.

    A fault that is about the loaded document shows nothing of that, nor does a loader that refuses
    to be built for so many samples.
    """
    names = {fault.type, *fault.bases}
    full = not names.isdisjoint({"MemoryError", "OverflowError"})
    refused = fault.at in ("load", "codec") or (fault.at == "open" and is_refusal(fault, 0))
    return full or fault.kind in ("hang", "crash") or not refused


def _epochs(view: View, index: int = 0) -> model.Epochs:
    session = view.session(index)
    return model.epochs_of(session) if session else []


def _order_of(view: View, index: int, epoch: int) -> str:
    """Return how an epoch's order is not the format's, as far as it was delivered."""
    w = view.case.session_workload(index)
    delivered = _epochs(view, index)
    got = [[[row[0]] for row in b] for b in delivered[epoch]] if epoch < len(delivered) else []
    want = ordered(w, epoch, 0, len(got))
    at = next((i for i, (a, b) in enumerate(zip(got, want, strict=False)) if a != b), None)
    if not got:
        return f"epoch {epoch} delivers nothing"
    if at is None and len(got) > len(want):
        return f"epoch {epoch} has batches beyond its end"
    if at is None:
        whole = -(-w.n // w.batch_size) if w.tail == "keep" else w.n // w.batch_size
        ended = sum(event.ended for event in view.events(index))
        missing = whole - len(got) if epoch < ended else 0
        return f"epoch {epoch} ends {missing} batches too early" if missing else ""
    expected, came = show(want[at : at + 1]), show(got[at : at + 1])
    return f"epoch {epoch}, batch {at}: expected {expected}, got {came}"


def _as_written(view: View) -> Finding | None:
    if not view.case.workload.shuffle:
        return None
    failed = _failed(view)
    if failed:
        return failed
    if view.case.probe == "published order":
        stretches = published_elements(str(view.case.workload.n))
        return _published(view, [[[[i]] for i in elements] for _, elements in stretches])
    wrong = _order_of(view, 0, 0)
    return view.silent("reordered", wrong) if wrong else view.passed()


def _published(view: View, wanted: list[list[Batch]]) -> Finding:
    """Judge what came after each loaded position: the published batches."""
    loads = [s for s in view.case.sessions[0].steps if s.do == "load_document"]
    got = [event.batches for event in view.events(0, "take", "drain")]
    for step, want, came in zip(loads, wanted, got, strict=True):
        if want != came:
            words = f"{step.value}: expected {show(want)}, got {show(came)}"
            return view.silent("reordered", words, want, came)
    return view.passed()


def _seeded(view: View) -> Finding:
    failed = _failed(view)
    if failed:
        return failed
    columns = _columns(view, _epochs(view))
    names = [n for n, right in zip(view.case.workload.draws, columns, strict=True) if not right]
    if names:
        words = f"the stream of {', '.join(names)} does not draw what its batch's seeds give"
        return view.silent("values", words)
    return view.passed()


def _elsewhere(view: View) -> Finding | None:
    """Judge the draws of a lane's beginning, of its dataset's setup, or of a sampler."""
    w, x = view.case.workload, view.case.sessions[0].execution
    if w.sampler != "drawn" and w.stream not in ("begun", "set up"):
        return None
    for epoch, batches in enumerate(_epochs(view)):
        if w.sampler == "drawn":
            order = _drawn(w, epoch)
            if ids(batches) != order:
                words = f"epoch {epoch}: the sampler draws otherwise than from its seeds"
                return view.silent("values", words, order, ids(batches))
            continue
        for number, row in ((i, row) for i, batch in enumerate(batches) for row in batch):
            lane = (number if w.kind == "map" else int(row[0])) % (x.lanes or 1)
            want = _begun(w, x, epoch, lane)
            if row[1 + len(w.draws) :] != want:
                what = "iter(dataset)" if w.stream == "begun" else "worker_init_fn"
                words = f"epoch {epoch}, lane {lane}: {what} draws otherwise than from its seeds"
                return view.silent("values", words, want, row[1 + len(w.draws) :])
    return view.passed()


def _drawn(w: Workload, epoch: int) -> list[int]:
    """Return the order of the sampler that draws for each index."""
    seeds, left = derive_words(w.seed, "sampler", epoch), list(range(w.n))
    drawn = zip(*values(seeds, w.n, ("python", "numpy", "torch")), strict=True)
    return [left.pop(Drawn.place(sum(numbers), left)) for numbers in drawn]


def _begun(w: Workload, x: Execution, epoch: int, lane: int) -> list[float]:
    """Return the draws of a lane's beginning, or of its dataset's setup with the worker's seed."""
    if w.stream == "begun":
        return [v for (v,) in values(derive_words(w.seed, "lane", epoch, lane), 1, w.draws)]
    # The dataset lives for the run without workers.
    words = derive_words(w.seed, "worker", *((epoch, lane) if x.workers else (lane,)))
    return [*(v for (v,) in values(words, 1, w.draws)), words[0] >> 1]


def _columns(view: View, delivered: model.Epochs) -> list[bool]:
    """Return for each stream whether all batches draw from it as the format says."""
    w = view.case.workload
    lanes = view.case.sessions[0].execution.lanes or 0
    right = [True] * len(w.draws)
    for epoch, batches in enumerate(delivered):
        ordinals: dict[int, int] = {}
        for number, batch in enumerate(batches):
            first = int(ids([batch])[0])
            lane = first % lanes if lanes else 0
            ordinal = ordinals.get(lane, 0)
            ordinals[lane] = ordinal + 1
            # The batch that failed has used its place.
            bad = w.n if w.fail_at is None else w.fail_at
            failed = first > bad
            if w.kind == "map":
                seeds = derive_words(w.seed, "batch.map", epoch, number + failed)
            else:
                failed = failed and (not lanes or lane == bad % lanes)
                seeds = derive_words(w.seed, "batch.iterable", epoch, lane, ordinal + failed)
            wanted = values(seeds, len(batch), w.draws)
            for column, expected in enumerate(wanted):
                drawn = [row[1 + column] for row in batch]
                right[column] = right[column] and drawn == expected
    return right


def _seed(document: object) -> object:
    plan = document.get("plan") if isinstance(document, dict) else None
    return plan.get("seed") if isinstance(plan, dict) else None
