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

    With ``own`` the first lane uses the given object itself. All other lanes get copies, made
    before any lane runs. ``remedy`` is the advice in the error when no copy can be made.
    """

    def __init__(
        self, spec: LaneSpec, dataset: Any, *, own: bool, remedy: str = PROCESS_EACH
    ) -> None:
        self.spec = spec
        self._remedy = remedy
        self._dataset = dataset
        self._own = own
        self._objects: dict[int, Any] = {}
        self._initialised: set[int] = set()
        self._resting: set[int] = set()

    def prepare(self, lanes: Iterable[int]) -> None:
        """Make the objects of ``lanes``.

        Raises:
            LaneCopyError: the dataset can be copied neither by pickle nor by deepcopy.
        """
        for lane in lanes:
            if lane not in self._objects:
                self._objects[lane] = self._make(lane)

    def _make(self, lane: int) -> Any:
        if self.spec.shares(self._dataset):
            return self._dataset
        if self._own and not self._objects:
            return self._dataset
        # A lane uses the original from here on: a later copy would have that lane's changes.
        return _copy(self._dataset, lane, self._remedy)

    def renew(self, dataset: Any) -> None:
        """Make new objects from here on, of ``dataset``."""
        self._dataset = dataset
        for kept in (self._objects, self._initialised, self._resting):
            kept.clear()

    def get(self, lane: int) -> Any:
        """Return a lane's object."""
        return self._objects[lane]

    def rested(self, lane: int) -> bool:
        """Tell whether a lane's object holds the loaded state of an end, not iterated since."""
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

    def open(self, message: Open) -> Opened:
        """Start an epoch on the lanes of ``message``, in order; answer with the first error."""
        reports: dict[int, Snapshot | None] = {}
        try:
            if message.dataset is not None:
                self._datasets.renew(pickle.loads(message.dataset))
            self._datasets.prepare(opening.lane for opening in message.openings)
            for opening in message.openings:
                report = self._open_lane(message.epoch, opening)
                if opening.report:
                    reports[opening.lane] = report
        except Exception as error:
            return Opened(message.iteration, Failure(error), {})
        return Opened(message.iteration, None, reports)

    def _open_lane(self, epoch: int, opening: Opening) -> Snapshot | None:
        number = opening.lane
        dataset = self._datasets.get(number)
        lane = self._lanes[number] = Lane(self._spec, number, dataset, epoch)
        with lane.inside(), BatchScope(None):
            if self._datasets.first_use(number):
                lane.initialise()
            if self._first_state is not None:
                entry = opening.entry
                restoring = entry is not None and not entry.stated
                self._first_state.apply({"dataset": dataset}, restoring=restoring)
            report = lane.report() if opening.report else None
            lane.open(opening.entry, rested=self._datasets.rested(number))
            self._datasets.rest(number, lane.rests)
        return report

    def run(self, task: Task) -> Reply:
        """Run a task on its lane."""
        start = time.perf_counter()
        lane = self._lanes[task.lane]
        with lane.inside():
            reply = lane.fetch(task) if isinstance(task, Fetch) else lane.finish(task)
        reply.busy = time.perf_counter() - start
        return reply


def is_copyable(dataset: Any) -> bool:
    """Tell whether lanes can have copies of ``dataset``."""
    try:
        _copy(dataset, 0, "")
    except LaneCopyError:
        return False
    return True


def _copy(dataset: Any, lane: int, remedy: str) -> Any:
    try:
        return pickle.loads(pickle.dumps(dataset, protocol=5))
    except Exception as first:
        try:
            return copy.deepcopy(dataset)
        except Exception:
            raise LaneCopyError(
                f"lane {lane} needs a copy of the dataset, and {_culprit(dataset)} can be copied "
                f"neither by pickle nor by copy.deepcopy ({first}); make it picklable, or {remedy}"
            ) from first


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
