"""The arguments that torch's loader does not have: their values, defaults and checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, cast, get_args

from midepoch.encoding.leaves import is_text
from midepoch.errors import ArgumentError, show
from midepoch.format.plan import Lifetime
from midepoch.format.seeds import ROOT_MAX
from midepoch.format.state import COUNT_MAX, LANES_MAX

__all__ = [
    "EmptyRest",
    "LastBatch",
    "OfLoader",
    "Options",
    "Uneven",
    "WorkerType",
    "WorldChange",
    "is_data_id",
]

LastBatch = Literal["keep", "discard", "rollover"]
WorkerType = Literal["process", "thread"]
WorldChange = Literal["refuse", "recut"]
Uneven = Literal["stop", "as they are"]
EmptyRest = Literal["deliver", "skip"]

RESTARTS_MAX = 1_000_000
"""The largest number of restarts: more than any run survives."""


class OfLoader(int):
    """A number that a loader chose itself, so that a state that is loaded may change it.

    ``vars(loader)`` has such numbers for ``seed`` and ``lanes`` unless the user gave them. A
    loader that is rebuilt from there gets them as arguments, and still adopts those of a state.

    >>> Options(lanes=OfLoader(2)).is_given("lanes"), Options(lanes=2).is_given("lanes")
    (False, True)
    """


@dataclass(frozen=True, kw_only=True)
class Options:
    """The arguments of a ``StatefulDataLoader`` beyond torch's.

    Raises:
        ArgumentError: a value is of another type than expected, or out of range.

    >>> Options(lanes=-1)
    Traceback (most recent call last):
    midepoch.errors.ArgumentError: lanes should be None or an integer from 0 to 65535, got -1
    """

    snapshot_every_n_steps: int | None = 1
    lanes: int | None = None
    seed: int | None = None
    data_id: str | None = None
    lifetime: Lifetime | None = None
    replay_check: Callable[[Any], Any] | None = None
    last_batch: LastBatch | None = None
    worker_type: WorkerType = "process"
    prefetch: int | None = None
    prefetch_next_epoch: bool = False
    worker_restarts: int = 0
    empty_rest: EmptyRest = "deliver"
    isolate_streams: bool = True
    single_thread: bool = True
    ranks: Any = None
    global_batch_size: int | None = None
    on_world_change: WorldChange = "refuse"
    uneven: Uneven | None = None

    def __post_init__(self) -> None:
        _check_count("snapshot_every_n_steps", self.snapshot_every_n_steps, COUNT_MAX)
        _check_count("lanes", self.lanes, LANES_MAX)
        _check_count("seed", self.seed, ROOT_MAX)
        _check_count("prefetch", self.prefetch, COUNT_MAX)
        _check_count("global_batch_size", self.global_batch_size, COUNT_MAX, low=1)
        _check_count("worker_restarts", self.worker_restarts, RESTARTS_MAX, optional=False)
        _check_choice("last_batch", self.last_batch, (*get_args(LastBatch), None))
        _check_choice("on_world_change", self.on_world_change, get_args(WorldChange))
        _check_choice("uneven", self.uneven, (*get_args(Uneven), None))
        _check_choice("worker_type", self.worker_type, get_args(WorkerType))
        _check_choice("empty_rest", self.empty_rest, get_args(EmptyRest))
        _check_choice("lifetime", self.lifetime, (*get_args(Lifetime), None))
        if self.replay_check is not None and not callable(self.replay_check):
            raise ArgumentError(
                f"replay_check should be None or a function, got {show(self.replay_check)}"
            )
        if not is_data_id(self.data_id):
            raise ArgumentError(f"data_id should be None or text, got {show(self.data_id)}")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "bool" and type(value) is not bool:
                raise ArgumentError(f"{field.name} should be True or False, got {show(value)}")

    def is_given(self, name: str) -> bool:
        """Tell whether the user gave ``lanes``, or ``seed``."""
        return type(getattr(self, name)) is int

    def check_against(
        self,
        *,
        num_workers: int,
        drop_last: bool,
        prefetch_factor: int | None,
        persistent_workers: bool = False,
        multiprocessing_context: object = None,
    ) -> None:
        """Raise ArgumentError for values that contradict arguments of torch's loader."""
        if self.prefetch is not None and prefetch_factor is not None:
            raise ArgumentError(
                "prefetch and prefetch_factor both set the batches under way, the one in all "
                "workers together, the other in each; give one of them"
            )
        if self.prefetch and not num_workers:
            raise ArgumentError(
                f"prefetch={self.prefetch} needs workers that fetch ahead; give num_workers, or "
                "prefetch=0"
            )
        if self.prefetch_next_epoch and not (num_workers and persistent_workers):
            raise ArgumentError(
                "prefetch_next_epoch=True needs workers that live on from epoch to epoch; give "
                "num_workers and persistent_workers=True"
            )
        if self.prefetch_next_epoch and self.prefetch == 0:
            raise ArgumentError(
                "prefetch_next_epoch=True fetches ahead, but prefetch=0 forbids that; give one "
                "of them"
            )
        if self.worker_type == "thread" and multiprocessing_context is not None:
            raise ArgumentError(
                "multiprocessing_context says how worker processes start, but worker_type is "
                "'thread'; give one of them"
            )
        if self.worker_type == "thread" and self.worker_restarts:
            raise ArgumentError(
                f"worker_restarts={self.worker_restarts} replaces worker processes that died, but "
                "worker_type is 'thread': a crash in a thread ends the whole process; give one "
                "of them"
            )
        if drop_last and self.last_batch not in (None, "discard"):
            raise ArgumentError(
                f"drop_last=True discards the last batch, but last_batch is {self.last_batch!r}; "
                "give one of them"
            )


def is_data_id(value: object) -> bool:
    """Tell whether a value can identify data: ``None``, or text that UTF-8 can write."""
    return value is None or (type(value) is str and is_text(value))


def _check_count(
    name: str, value: object, high: int, *, low: int = 0, optional: bool = True
) -> None:
    if value is None and optional:
        return
    if type(value) not in (int, OfLoader) or not low <= cast("int", value) <= high:
        allowed = "None or an integer" if optional else "an integer"
        raise ArgumentError(f"{name} should be {allowed} from {low} to {high}, got {show(value)}")


def _check_choice(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if not (value is None or type(value) is str) or value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise ArgumentError(f"{name} should be one of {words}, got {show(value)}")
