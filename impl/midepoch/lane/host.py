"""The lanes of one process: their dataset objects, and the messages to them."""

from __future__ import annotations

import copy
import pickle
import time
from collections.abc import Iterable
from typing import Any

from midepoch.errors import LaneCopyError
from midepoch.lane.batch_info import BatchScope
from midepoch.lane.lane import Lane, LaneSpec
from midepoch.lane.messages import (
    Failure,
    Fetch,
    Open,
    Opened,
    Opening,
    Reply,
    Snapshot,
    Task,
)
from midepoch.lane.passes import FirstState

__all__ = ["LaneDatasets", "LaneHost", "is_copyable"]

PROCESS_EACH = "use num_workers >= lanes, so that every lane has a process of its own"


class LaneDatasets:
    """The dataset object of each lane in one process.

    With ``own`` one lane uses the given object itself. All other lanes get copies of it as it was
    in ``prepare``, before any lane ran. Each is made when its lane is first used: a state of a few
    bytes may name thousands of lanes. ``remedy`` is the advice in the error when no copy can be
    made.
    """

    def __init__(
        self, spec: LaneSpec, dataset: Any, *, own: bool, remedy: str = PROCESS_EACH
    ) -> None:
        self.spec = spec
        self._remedy = remedy
        self._dataset = dataset
        self._own = own
        self._objects: dict[int, Any] = {}
        self._unmade: set[int] = set()
        """Lanes that were prepared and have no object yet."""
        self._pattern: _Pattern | None = None
        """The dataset as it was in ``prepare``, if such a lane needs a copy of it."""
        self._initialised: set[int] = set()
        self._resting: set[int] = set()

    def prepare(self, lanes: Iterable[int]) -> None:
        """Make sure that each of ``lanes`` can have its object, whatever other lanes do.

        Raises:
            LaneCopyError: the dataset can be copied neither by pickle nor by deepcopy.
        """
        if self.spec.shares(self._dataset):
            return
        new = [lane for lane in lanes if lane not in self._objects and lane not in self._unmade]
        self._unmade.update(new)
        copied = sorted(self._unmade)[int(self._uses_own()) :]
        if new and copied and self._pattern is None:
            self._pattern = _Pattern(self._dataset, self.spec.number(copied[0]), self._remedy)

    def _uses_own(self) -> bool:
        """Tell whether the next object is the given one."""
        return self._own and not self._objects

    def get(self, lane: int) -> Any:
        """Return a lane's object."""
        if lane in self._objects:
            return self._objects[lane]
        if self.spec.shares(self._dataset):
            return self._dataset
        made = self._dataset
        if self._pattern is not None and not self._uses_own():
            made = self._pattern.copy()
        self._objects[lane] = made
        self._unmade.remove(lane)
        if not self._unmade:
            self._pattern = None
        return made

    def renew(self, dataset: Any) -> None:
        """Make new objects from here on, of ``dataset``."""
        self._dataset = dataset
        self._pattern = None
        self._objects.clear()
        for kept in (self._unmade, self._initialised, self._resting):
            kept.clear()

    def rested(self, lane: int) -> bool:
        """Tell whether a lane's object holds a state loaded between two passes, not drawn from."""
        return lane in self._resting

    def rest(self, lane: int, rests: bool) -> None:
        """Note whether it does; see ``rested``."""
        (self._resting.add if rests else self._resting.discard)(lane)

    def first_use(self, lane: int) -> bool:
        """Tell, once for each object, that its ``worker_init_fn`` has not run yet."""
        fresh = lane not in self._initialised
        self._initialised.add(lane)
        return fresh


class LaneHost:
    """Runs messages on the lanes of one process."""

    def __init__(
        self, spec: LaneSpec, datasets: LaneDatasets, first_state: FirstState | None = None
    ) -> None:
        self._spec = spec
        self._datasets = datasets
        self._first_state = first_state
        self._lanes: dict[int, Lane] = {}
        self._waiting: dict[int, Opening] = {}
        """The lanes that are opened at their first task."""
        self._epoch = 0

    def open(self, message: Open) -> Opened:
        """Start an epoch on the lanes of ``message``, in order; answer with the first error.

        A lane whose opening runs no code of the user's is opened at its first task.
        """
        reports: dict[int, Snapshot | None] = {}
        self._epoch = message.epoch
        self._lanes.clear()
        self._waiting.clear()
        try:
            if message.dataset is not None:
                self._datasets.renew(pickle.loads(message.dataset))
            self._datasets.prepare(opening.lane for opening in message.openings)
            for opening in message.openings:
                if self._can_wait(opening):
                    self._waiting[opening.lane] = opening
                    continue
                report = self._open_lane(opening)
                if opening.report:
                    reports[opening.lane] = report
        except Exception as error:
            return Opened(message.iteration, Failure(error), {})
        return Opened(message.iteration, None, reports)

    def _can_wait(self, opening: Opening) -> bool:
        spec, entry = self._spec, opening.entry
        runs_code = spec.iterable or spec.init is not None or spec.pipes is not None
        loads = self._first_state is not None or (entry is not None and bool(entry.stated))
        return not (runs_code or loads or opening.report)

    def _open_lane(self, opening: Opening) -> Snapshot | None:
        number = opening.lane
        dataset = self._datasets.get(number)
        lane = self._lanes[number] = Lane(
            self._spec, self._spec.number(number), dataset, self._epoch
        )
        with lane.inside(), BatchScope(None):
            if self._datasets.first_use(number):
                lane.initialise()
            if self._first_state is not None:
                entry = opening.entry
                restoring = entry is not None and not entry.stated
                if restoring:
                    lane.seed_start()
                self._first_state.apply({"dataset": dataset}, restoring=restoring)
            report = lane.report() if opening.report and not self._spec.iterable else None
            lane.open(opening.entry, rested=self._datasets.rested(number))
            if opening.report and self._spec.iterable:
                report = lane.report(inside=True)
            self._datasets.rest(number, lane.rests)
        return report

    def run(self, task: Task) -> Reply:
        """Run a task on its lane."""
        start = time.perf_counter()
        if task.lane in self._waiting:
            try:
                self._open_lane(self._waiting[task.lane])
            except Exception as error:  # the dataset's copy cannot be made
                return Reply(task.iteration, task.slot, Failure(error))
            del self._waiting[task.lane]
        lane = self._lanes[task.lane]
        with lane.inside():
            reply = lane.fetch(task) if isinstance(task, Fetch) else lane.finish(task)
        if self._datasets.rested(task.lane):
            self._datasets.rest(task.lane, lane.rests)
        reply.busy = time.perf_counter() - start
        return reply


def is_copyable(dataset: Any) -> bool:
    """Tell whether lanes can have copies of ``dataset``."""
    try:
        _Pattern(dataset, 0, "")
    except LaneCopyError:
        return False
    return True


class _Pattern:
    """A dataset as it was, from which copies for lanes are made."""

    def __init__(self, dataset: Any, lane: int, remedy: str) -> None:
        self._data: bytes | None = None
        try:
            self._data = pickle.dumps(dataset, protocol=5)
            self._first = pickle.loads(self._data)
        except Exception as error:
            self._data = None
            try:
                self._first = copy.deepcopy(dataset)
            except Exception:
                raise LaneCopyError(
                    f"lane {lane} needs a copy of the dataset, and {_culprit(dataset)} can be "
                    f"copied neither by pickle nor by copy.deepcopy ({error}); make it picklable, "
                    f"or {remedy}"
                ) from error

    def copy(self) -> Any:
        """Return a new copy."""
        if self._data is None:
            return copy.deepcopy(self._first)
        # The first one shows that the bytes can be read; it is given away once.
        first, self._first = self._first, None
        return pickle.loads(self._data) if first is None else first


def _culprit(dataset: Any) -> str:
    name = type(dataset).__qualname__
    for attribute, value in getattr(dataset, "__dict__", {}).items():
        try:
            pickle.dumps(value, protocol=5)
        except Exception:
            try:
                copy.deepcopy(value)
            except Exception:
                return f"its attribute {name}.{attribute}"
    return f"{name} itself"
