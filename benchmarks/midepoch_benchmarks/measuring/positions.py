"""Measures of states: the time to save and to resume, and the size."""

from __future__ import annotations

import copy
import json
import pickle
import statistics
import time
from collections.abc import Callable
from typing import Any

from midepoch_benchmarks.measuring.contenders import (
    Contender,
    NotOfferedError,
    Setting,
)
from midepoch_benchmarks.measuring.datasets import BATCH_SIZE, Indices, Stream
from midepoch_benchmarks.measuring.job import Job
from midepoch_benchmarks.measuring.streaming import Streaming, closed

__all__ = [
    "Merging", "OfRanks", "Resuming", "ResumingAnywhere", "ResumingRanks", "Saving",
    "SeededBySample", "Size", "Skipping",
]  # fmt: skip

_CALLS = 50
"""The calls of ``state_dict()`` in a round, each after another batch."""

_STARTS = 15
"""The resumes in a round, each beside a fresh start."""

_WIDE = 100
"""The samples of a batch if the loader has to run to its position."""

_STRETCH = 0.2
"""The seconds that skipping should take, so that the start of workers matters little."""


class Saving(Streaming):
    """Seconds that ``state_dict()`` takes, each time after another batch."""

    def warm_up(self) -> None:
        """Check at once that the loader has a state."""
        _check_state(self.loader)
        super().warm_up()

    def round(self) -> float:
        """Return seconds a call."""
        loader, batches = self.loader, self.batches
        taken = 0.0
        for _ in range(_CALLS):
            next(batches)
            start = time.perf_counter()
            loader.state_dict()
            taken += time.perf_counter() - start
        return taken / _CALLS


def _check_state(loader: Any) -> None:
    """Raise an error if the loader has no state."""
    try:
        loader.state_dict()
    except (AttributeError, NotImplementedError):
        raise NotOfferedError("it has no state_dict") from None


def seconds_to_resume(contender: Contender, setting: Setting, state: Any) -> float:
    """Return seconds from loading ``state`` into a new loader, if there is one, to a batch."""
    loader = contender.open(setting)
    start = time.perf_counter()
    if state is not None:
        loader.load_state_dict(state)
    batches = iter(loader)
    next(batches)
    taken = time.perf_counter() - start
    del batches
    closed(loader)
    return taken


def states_at(contender: Contender, setting: Setting, batches: list[int]) -> dict[int, Any]:
    """Run a loader and return its states after these numbers of batches."""
    loader = contender.open(setting)
    _check_state(loader)
    iterator = iter(loader)
    states, done = {}, 0
    for count in sorted(batches):
        while done < count:
            next(iterator)
            done += 1
        states[count] = copy.deepcopy(loader.state_dict())
    del iterator
    closed(loader)
    return states


class ResumingAnywhere:
    """Seconds to resume at a position, less those of a fresh start.

    The position is written into a state of the published format, instead of running to it.
    """

    def __init__(self, contender: Contender, job: Job) -> None:
        n = job.parameters["n"]
        if not getattr(contender, "computes_order", False):
            raise NotOfferedError("its order of so many samples would have to be stored")
        self.contender = contender
        self.setting = Setting(Indices(n), shuffle=True)
        self.state = states_at(contender, self.setting, [1])[1]
        if not isinstance(self.state, dict) or self.state.get("format") != "midepoch.state":
            raise NotOfferedError("such a position could only be reached by running there")
        batches = max(1, int(n * job.parameters["share"]) // BATCH_SIZE)
        position = self.state["position"]
        position.update(batches=batches, samples=batches * BATCH_SIZE)
        self.round()

    def round(self) -> float:
        """Return the additional seconds, the median of a few: starts vary more than that."""
        return statistics.median(self._more() for _ in range(_STARTS))

    def _more(self) -> float:
        fresh = seconds_to_resume(self.contender, self.setting, None)
        return seconds_to_resume(self.contender, self.setting, self.state) - fresh

    def close(self) -> None:
        """Do nothing: no loader outlives its round."""


class Resuming:
    """Seconds to resume at a position that the loader ran to, start-up included."""

    def __init__(self, contender: Contender, job: Job) -> None:
        self.contender, self.setting = contender, _wide(job)
        batches = job.parameters["position"] // _WIDE
        self.state = states_at(contender, self.setting, [batches])[batches]

    def round(self) -> float:
        """Return seconds."""
        return seconds_to_resume(self.contender, self.setting, self.state)

    def close(self) -> None:
        """Do nothing: no loader outlives its round."""


class Size(Resuming):
    """Bytes of the pickled state at such a position."""

    def round(self) -> float:
        """Return bytes."""
        return float(len(pickle.dumps(self.state)))


def _wide(job: Job) -> Setting:
    return Setting(Indices(job.parameters["n"]), shuffle=True, batch_size=_WIDE)


class Skipping:
    """Seconds a batch that is skipped when a plain iterable is resumed.

    The measure resumes at a near and a far position, and divides the difference by their distance.
    Each contender's distance takes it about :data:`_STRETCH` seconds.
    """

    near = 10

    def __init__(self, contender: Contender, job: Job) -> None:
        self.contender = contender
        self.setting = job.setting(dataset=Stream(job.dataset))
        distance = 100
        pace = self._made(distance)()
        distance = min(20_000, max(100, round(_STRETCH / max(pace, 1e-6))))
        self.more = self._made(distance)

    def _made(self, distance: int) -> Callable[[], float]:
        states = states_at(self.contender, self.setting, [self.near, self.near + distance])
        near, far = states.values()

        def more() -> float:
            less = seconds_to_resume(self.contender, self.setting, near)
            return (seconds_to_resume(self.contender, self.setting, far) - less) / distance

        return more

    def round(self) -> float:
        """Return seconds a skipped batch."""
        return self.more()

    def close(self) -> None:
        """Do nothing: no loader outlives its round."""


_SAMPLES = 1 << 15
"""The samples that are seeded in a round."""


def ranked(contender: Contender, setting: Setting, **ranks: Any) -> Any:
    """Return the loader of one rank.

    Raises:
        NotOfferedError: the contender has no ranks.
    """
    if not hasattr(contender, "ranked"):
        raise NotOfferedError("its loaders know no ranks")
    return contender.ranked(setting, **ranks)


class ResumingRanks(ResumingAnywhere):
    """The same for one of 8 ranks, of a state of one rank alone."""

    def open(self, rank: int = 0, world: int = 1) -> Any:
        """Return a rank's loader."""
        size = self.setting.batch_size
        return ranked(self.contender, self.setting, ranks=(rank, world), global_batch_size=size)

    def __init__(self, contender: Contender, job: Job) -> None:
        self.contender, self.setting = (
            contender,
            Setting(Indices(job.parameters["n"]), shuffle=True),
        )
        loader = self.open()
        next(iter(loader))
        self.state = copy.deepcopy(loader.state_dict())
        batches = int(job.parameters["n"] * job.parameters["share"]) // self.setting.batch_size
        samples = batches * self.setting.batch_size
        self.state["position"].update(batches=batches, samples=samples)
        self.round()

    def _more(self) -> float:
        taken = []
        for state in (None, self.state):
            loader = self.open(3, 8)
            start = time.perf_counter()
            if state is not None:
                loader.load_state_dict(state)
            next(iter(loader))
            taken.append(time.perf_counter() - start)
        return taken[1] - taken[0]


class OfRanks:
    """Bytes, in JSON, of the state that all ranks make, after one batch of each of them."""

    def __init__(self, contender: Contender, job: Job) -> None:
        lanes, world = job.parameters["lanes"], job.parameters["world"]
        setting = Setting(Stream(Indices()), lanes=lanes, batch_size=_WIDE)
        loaders = (ranked(contender, setting, ranks=(rank, world)) for rank in range(world))
        self.merge = contender.merge  # type: ignore[attr-defined]  # what has ranks has it
        self.parts = [self._part(loader) for loader in loaders]

    @staticmethod
    def _part(loader: Any) -> Any:
        next(iter(loader))
        return copy.deepcopy(loader.state_dict())

    def round(self) -> float:
        """Return bytes."""
        return float(len(json.dumps(self.merge(self.parts))))

    def close(self) -> None:
        """Do nothing: no loader outlives its first batch."""


class Merging(OfRanks):
    """Seconds to make one state of the parts of all ranks."""

    def round(self) -> float:
        """Return seconds."""
        start = time.perf_counter()
        self.merge(self.parts)
        return time.perf_counter() - start


class SeededBySample:
    """Processor seconds a sample that a rank's loader takes more than one without ranks."""

    def __init__(self, contender: Contender, job: Job) -> None:
        self.contender, self.setting = contender, Setting(Indices(), batch_size=_WIDE)
        self.round()

    def round(self) -> float:
        """Return the additional processor seconds, a sample."""
        size = self.setting.batch_size
        alone = self._seconds(self.contender.open(self.setting))
        ranks = ranked(self.contender, self.setting, ranks=(0, 1), global_batch_size=size)
        return self._seconds(ranks) - alone

    def _seconds(self, loader: Any) -> float:
        batches = iter(loader)
        next(batches)
        start = time.process_time()
        for _ in range(_SAMPLES // _WIDE):
            next(batches)
        return (time.process_time() - start) / (_SAMPLES // _WIDE * _WIDE)

    def close(self) -> None:
        """Do nothing: no loader outlives its round."""
