"""The cases: each row of the goals, and how costs grow, as data (pure)."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from midepoch_benchmarks.goals import COST, RATIO, VALUE, Goal

__all__ = ["ASKED", "CASES", "ROWS", "Case", "chosen", "size_words"]

ASKED = "asked"
"""Stands for the peers of the command line, in place of fixed peers."""

KB, MB = 1 << 10, 1 << 20

ROWS = {
    "throughput": "Cheap samples through worker processes",
    "tuned": "Beside PyTorch tuned by hand (NumPy collate through the pipe)",
    "keep": "A consumer that keeps every batch",
    "kernel": "What the kernel is asked for",
    "inline": "Without workers",
    "start": "Start-up",
    "threads": "Workers that are threads, beside processes of PyTorch",
    "snapshot": "Snapshots",
    "state": "Taking a state",
    "order": "The shuffled order",
    "resume": "Resuming at a position of 10^12 shuffled samples",
    "skip": "Resuming an iterable without a state",
    "ranks": "Several ranks",
    "work": "Real work: decode and augment",
    "grow-tensors": "Growth with the number of tensors",
    "grow-lanes": "Growth with the number of lanes",
    "grow-state": "Growth with the size of the dataset's state",
    "grow-resume": "Resuming by position",
    "grow-size": "The size of a state by position",
}
"""The rows by the names that the command line takes, with their titles."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One measurement."""

    id: str
    """Its name on the command line."""
    row: str
    """The row of goals to which it belongs; also a name on the command line."""
    words: str
    """Its description."""
    measure: str
    """The kind of measurement, one of those in ``measuring.measures``."""
    parameters: Mapping[str, Any]
    """The parameters of the measurement."""
    per: str
    """The thing that one unit is for: a batch, a call and so on."""
    goal: Goal = dataclasses.field(default_factory=Goal)
    """The required and the hoped-for bound."""
    unit: str = "s"
    """``"s"`` (seconds), ``"count"`` or ``"bytes"``."""
    against: str | tuple[str, ...] = ASKED
    """The peers: :data:`ASKED`, or a tuple of names; an empty tuple: the loader is measured
    alone."""
    beside: tuple[str, ...] = ()
    """Other contenders that are measured too and have no goal."""
    rounds: int | None = None
    """The number of rounds if few are enough, as for counts and sizes; None: the run's number."""


def size_words(size: int) -> str:
    """Return a number of bytes in words.

    >>> [size_words(size) for size in (100, 1024, 16 << 20)]
    ['100 B', '1 KB', '16 MB']
    """
    if size >= MB:
        return f"{size // MB} MB"
    return f"{size // KB} KB" if size >= KB else f"{size} B"


def chosen(names: Iterable[str]) -> list[Case]:
    """Return the cases of these ids, rows or patterns, in the table's order; without names all.

    Raises:
        LookupError: no case fits a name; the error's argument is the name.
    """
    patterns = list(names)
    for pattern in patterns:
        if not any(_fits(case, pattern) for case in CASES.values()):
            raise LookupError(pattern)
    return [
        case
        for case in CASES.values()
        if not patterns or any(_fits(case, pattern) for pattern in patterns)
    ]


def _fits(case: Case, pattern: str) -> bool:
    return case.row == pattern or fnmatch.fnmatchcase(case.id, pattern)


def _workers(count: int) -> str:
    return f"{count or 'no'} worker{'' if count == 1 else 's'}"


def _throughput() -> Iterator[Case]:
    goals = {
        (1 * KB, 1): (15, 40), (1 * KB, 10): (25, 70),
        (64 * KB, 1): (15, 40), (64 * KB, 10): (25, 70),
        (1 * MB, 1): (12, 30), (1 * MB, 10): (20, 60),
        (16 * MB, 1): (5, 10), (16 * MB, 10): (None, None),
    }  # fmt: skip
    for (total, k), (required, hoped) in goals.items():
        for workers in (1, 2):
            size = size_words(total)
            yield Case(
                f"throughput-{size.replace(' ', '')}-k{k}-w{workers}",
                "throughput",
                f"{size} in {k} tensor{'' if k == 1 else 's'}, {_workers(workers)}",
                "throughput",
                {"data": "cheap", "total": total, "k": k, "workers": workers},
                "batch",
                Goal(RATIO, required, hoped),
                beside=("memcpy",) if total == 16 * MB else (),
            )


def _transport() -> Iterator[Case]:
    for k in (1, 10):
        for workers in (1, 2):
            yield Case(
                f"tuned-k{k}-w{workers}",
                "tuned",
                f"1 KB in {k} tensor{'' if k == 1 else 's'}, {_workers(workers)}, "
                "PyTorch tuned by hand",
                "throughput",
                {"data": "cheap", "total": KB, "k": k, "workers": workers},
                "batch",
                Goal(RATIO, 2.5, 10),
                against=("torch-tuned",),
            )
    for workers in (1, 2):
        yield Case(
            f"keep-w{workers}",
            "keep",
            f"the consumer keeps every batch of 1 MB, {_workers(workers)}",
            "keep",
            {"data": "cheap", "total": MB, "k": 1, "workers": workers},
            "batch",
            Goal(RATIO, 1.0, 2.0),
        )
    yield Case(
        "page-faults",
        "kernel",
        "page faults in the worker, 1 MB in 1 tensor",
        "faults",
        {"data": "faults", "total": MB, "workers": 1},
        "batch",
        Goal(VALUE, 0.1, 0.01),
        unit="count",
    )
    yield Case(
        "system-calls",
        "kernel",
        "system calls of the busier of the two processes, 1 KB in 1 tensor, 1 worker",
        "calls",
        {"data": "cheap", "total": KB, "k": 1, "workers": 1},
        "batch",
        Goal(VALUE, 4, 2),
        unit="count",
        rounds=3,
    )


def _without_workers() -> Iterator[Case]:
    yield Case(
        "inline-cheap",
        "inline",
        "1 KB in 1 tensor, no workers",
        "throughput",
        {"data": "cheap", "total": KB, "k": 1, "workers": 0},
        "batch",
        Goal(RATIO, 0.15, 0.5),
    )
    yield Case(
        "inline-1ms",
        "inline",
        "1 ms of work a batch, no workers",
        "throughput",
        {"data": "busy", "seconds": 1e-3, "workers": 0},
        "batch",
        Goal(RATIO, 0.9, 1.0),
    )


def _starts() -> Iterator[Case]:
    yield Case(
        "first-batch",
        "start",
        "first batch of a new loader, 2 workers",
        "start",
        {"data": "cheap", "total": KB, "k": 1, "workers": 2},
        "start",
        Goal(RATIO, 1.0, 2.0),
    )


def _threads() -> Iterator[Case]:
    for workers in (1, 2):
        yield Case(
            f"threads-w{workers}",
            "threads",
            f"1 KB in 1 tensor, {_workers(workers)}: threads against processes",
            "throughput",
            {"data": "cheap", "total": KB, "k": 1, "workers": workers, "threads": True},
            "batch",
            Goal(RATIO, 30, 60),
            against=("torch",),
        )


def _states() -> Iterator[Case]:
    for workers in (0, 1):
        yield Case(
            f"snapshot-w{workers}",
            "snapshot",
            f"a snapshot every step against none, small state, {_workers(workers)}",
            "snapshot",
            {"data": "stateful", "total": KB, "size": 0, "workers": workers},
            "batch",
            Goal(COST, 0.10, 0.02),
            against=("none",),
        )
    for workers in (0, 1):
        yield Case(
            f"state-dict-w{workers}",
            "state",
            f"state_dict() of a shuffled map-style loader, {_workers(workers)}",
            "state",
            {"data": "cheap", "total": KB, "k": 1, "workers": workers, "n": 10**6, "shuffle": True},
            "call",
            Goal(VALUE, 100e-6, 20e-6),
        )


def _orders() -> Iterator[Case]:
    for power in (6, 8, 10, 12):
        yield Case(
            f"order-1e{power}",
            "order",
            f"shuffled order of 10^{power} samples, with its list, processor time",
            "order",
            {"n": 10**power},
            "index",
            Goal(VALUE, 60e-9, 40e-9),
            # Other loaders store the order, which is cheap only here.
            against=ASKED if power == 6 else (),
        )
    yield Case(
        "order-memory",
        "order",
        "memory that the order of 10^12 samples takes beyond that of 10^6",
        "order memory",
        {"small": 10**6, "large": 10**12},
        "epoch",
        Goal(VALUE, 4 * MB, MB),
        unit="bytes",
        against=(),
        rounds=1,
    )


def _resumes() -> Iterator[Case]:
    for name, share in (("first", 1e-9), ("middle", 0.5), ("last", 1 - 1e-9)):
        yield Case(
            f"resume-{name}",
            "resume",
            f"resume near the {name} of 10^12 shuffled samples, beyond start-up",
            "resume",
            {"n": 10**12, "share": share},
            "resume",
            Goal(VALUE, 2e-3, 0.1e-3),
            against=(),
        )
    yield Case(
        "skip",
        "skip",
        "a plain iterable without a state: resume, by skipped batch, 1 worker",
        "skip",
        {"data": "cheap", "total": KB, "k": 1, "workers": 1},
        "skipped batch",
        Goal(RATIO, 10, 50),
        against=("torchdata",),
    )


def _ranks() -> Iterator[Case]:
    many = {"lanes": 4096, "world": 512}
    yield Case(
        "ranks-resume", "ranks", "one of 8 ranks resumes one rank's state of 10^12 samples",
        "rank resume", {"n": 10**12, "share": 0.5}, "resume", Goal(VALUE, 5e-3), against=(),
    )  # fmt: skip
    yield Case(
        "ranks-state", "ranks", "state of 4,096 lanes, merged from 512 ranks",
        "rank size", many, "state", Goal(VALUE, 10**6), unit="bytes", against=(), rounds=1,
    )  # fmt: skip
    yield Case(
        "ranks-merge", "ranks", "merging the states of 512 ranks with 4,096 lanes",
        "rank merge", many, "merge", Goal(VALUE, 1.0), against=(),
    )  # fmt: skip
    yield Case(
        "ranks-seeds", "ranks", "seeding each sample, beside seeding each batch of 100",
        "rank seeds", {}, "sample", Goal(VALUE, 12e-6), against=(),
    )  # fmt: skip


def _work() -> Iterator[Case]:
    for seconds, (side, out) in ((0.25e-3, (16, 16)), (5e-3, (160, 136))):
        for workers in (0, 1, 2):
            required, hoped = (2.0, 3.0) if workers and seconds < 1e-3 else (1.0, None)
            yield Case(
                f"work-{1000 * seconds:g}ms-w{workers}",
                "work",
                f"decode and augment, about {1000 * seconds:g} ms a batch, {_workers(workers)}",
                "throughput",
                {"data": "pictures", "side": side, "out": out, "workers": workers},
                "batch",
                Goal(RATIO, required, hoped),
            )


def _growth() -> Iterator[Case]:
    for k in (1, 3, 30, 100):
        yield Case(
            f"grow-tensors-{k}",
            "grow-tensors",
            f"64 KB in {k} tensor{'' if k == 1 else 's'}, 1 worker",
            "throughput",
            {"data": "cheap", "total": 64 * KB, "k": k, "workers": 1},
            "batch",
        )
    for lanes in (1, 16, 256):
        yield Case(
            f"grow-lanes-{lanes}",
            "grow-lanes",
            f"an iterable in {lanes} lane{'' if lanes == 1 else 's'}, no workers",
            "throughput",
            {"data": "stateful", "total": KB, "size": 0, "workers": 0, "lanes": lanes},
            "batch",
            against=(),
        )
    for size in (100, 10 * KB, MB):
        yield Case(
            f"grow-state-{size_words(size).replace(' ', '')}",
            "grow-state",
            f"a snapshot every step against none, state of {size_words(size)}, 1 worker",
            "snapshot",
            {"data": "stateful", "total": KB, "size": size, "workers": 1},
            "batch",
            Goal(COST),
            against=("none",),
        )
    for position in (10**3, 10**4, 10**5, 10**6 - 1000):
        words = f"after {position:,} of 10^6 shuffled samples"
        parameters = {"n": 10**6, "position": position}
        yield Case(
            f"grow-resume-{position}",
            "grow-resume",
            f"resume {words}, start-up included",
            "resume at",
            parameters,
            "resume",
        )
        yield Case(
            f"grow-size-{position}",
            "grow-size",
            f"size of the state {words}",
            "state size",
            parameters,
            "state",
            unit="bytes",
            rounds=1,
        )


CASES: dict[str, Case] = {
    case.id: case
    for cases in (
        _throughput(), _transport(), _without_workers(), _starts(), _threads(), _states(),
        _orders(), _resumes(), _ranks(), _work(), _growth(),
    )
    for case in cases
}  # fmt: skip
"""All cases by their ids, in the order in which they run."""
