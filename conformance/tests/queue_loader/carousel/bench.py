"""The place where batches are made: in the caller's process, in a worker process or in a worker thread."""
import copy
import pickle
import traceback
import warnings

import numpy
import torch

from . import dice
from .blob import LaneMark
from .errors import BadState, ReplayError
from .order import order, words


def stateful(obj):
    return callable(getattr(obj, "state_dict", None)) and callable(getattr(obj, "load_state_dict", None))


def collate(rows):
    """Arrays and tensors are stacked, numbers become a tensor, mappings and tuples go in depth, the rest is a list."""
    first = rows[0] if len(rows) else None
    if isinstance(first, torch.Tensor):
        return torch.stack(list(rows))
    if isinstance(first, numpy.ndarray):
        return numpy.stack(rows)
    if isinstance(first, (bool, int, float)):
        return torch.tensor(rows)
    if isinstance(first, dict):
        return {k: collate([row[k] for row in rows]) for k in first}
    if isinstance(first, tuple):
        return tuple(collate(list(column)) for column in zip(*rows, strict=True))
    return list(rows)


class Job:
    """All that a bench must know of an epoch."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def __getstate__(self):
        fields = dict(self.__dict__)
        if self.packed is not None:
            fields["dataset"] = None
        return fields

    def whole(self):
        """The one dataset of a worker without lanes."""
        if self.dataset is None and self.packed is not None:
            self.dataset = pickle.loads(self.packed)
        return self.dataset

    def fresh(self):
        """A new copy of the dataset for a lane."""
        if self.packed is not None:
            return pickle.loads(self.packed)
        return copy.deepcopy(self.dataset)


class Outcome:
    """What became of a task: kind is ok, error, end or torn."""

    def __init__(self, kind, value=None, snap=None, ended=False, fetch=False, late=False):
        self.kind, self.value, self.snap = kind, value, snap
        self.ended, self.fetch, self.late = ended, fetch, late


class _Failed(Exception):
    """An exception of the dataset, as distinct from one of collate_fn."""


class Bench:
    def __init__(self, job, seeds=True, isolate=False):
        self.seeds, self.isolate, self.lanes = seeds, isolate, {}
        self.take(job)

    def take(self, job):
        """Begins with another epoch, or anew."""
        self.job = job
        self.lanes.clear()
        self.order = order(job.length, job.seed, job.epoch, job.shuffle) if job.length is not None else None

    def run(self, task):
        """The outcome of a task. No exception leaves this."""
        try:
            if self.isolate:
                with dice.apart():
                    return getattr(self, task[0])(*task[1:])
            return getattr(self, task[0])(*task[1:])
        except Exception as e:
            return Outcome("error", e)
        except BaseException as e:
            return Outcome("torn", e)

    # -- what is drawn ---------------------------------------------------------------------------------------------

    def seed(self, *place):
        if self.seeds and self.job.seeding:
            dice.seed_streams(words(self.job.seed, *place))

    def next_sample(self, place, i):
        """Before sample i of the batch at this place."""
        dice.move((self.job.seed, *place, i))
        if self.job.seeding == "sample":
            self.seed(*place, i)

    def keys(self, item):
        return self.order.at(item[1], item[2]) if item[0] == "range" else item[1]

    def fetch(self, dataset, item, place):
        """The samples of a map-style batch."""
        self.seed(*place)
        try:
            if item[0] == "one":
                self.next_sample(place, 0)
                return dataset[item[1]]
            keys = self.keys(item)
            if callable(getattr(dataset, "__getitems__", None)):
                self.next_sample(place, 0)
                return dataset.__getitems__(keys)
            rows = []
            for i, key in enumerate(keys):
                self.next_sample(place, i)
                rows.append(dataset[key])
            return rows
        except StopIteration as e:
            raise RuntimeError("__getitem__ of the dataset raised StopIteration, which ends no epoch here") from e

    def finish(self, rows, place, whole):
        """collate_fn."""
        dice.move((self.job.seed, *place, "collate"))
        if self.job.seeding == "sample":
            self.seed(*place, "collate")
        f = self.job.collate
        if f is None:
            return collate(rows) if whole else rows
        try:
            return f(rows)
        except StopIteration as e:
            raise RuntimeError("collate_fn raised StopIteration, which ends no epoch here") from e

    # -- tasks -----------------------------------------------------------------------------------------------------

    def batch(self, index, item):
        """A batch of a map-style dataset without a state."""
        place = ("map", self.job.epoch, index)
        with dice.at(dice.Lane(0, 1, self.job.epoch), (self.job.seed, *place, 0)):
            rows = self.fetch(self.job.whole(), item, place)
            return Outcome("ok", self.finish(rows, place, item[0] != "one"))

    def open(self, number, mark, items):
        lane = (StreamLane if self.job.stream else MapLane)(self, number)
        self.lanes.pop(number, None)
        lane.restore(mark, items)
        self.lanes[number] = lane
        return Outcome("ok")

    def step(self, number, ordinal, index=None, item=None):
        return self.lanes[number].step(ordinal, index, item)


class _Lane:
    """One copy of a dataset, and its place."""

    iterator = None

    def __init__(self, bench, number):
        self.bench, self.job, self.number = bench, bench.job, number
        self.info = dice.Lane(number, self.job.lanes, self.job.epoch)
        with dice.at(self.info):
            bench.seed("setup", self.job.epoch, number)
            self.dataset = self.job.fresh()
            if self.job.setup is not None:
                self.job.setup(self.dataset, self.info)

    def restore(self, mark, items):
        with dice.at(self.info):
            self.begin({} if mark.snap is None else pickle.loads(mark.snap))
        for n in range(mark.replay):
            ordinal = mark.ordinal + n
            if items is not None and items[n] is None:
                continue  # the sampler had raised
            listed = ordinal in mark.errors
            try:
                gone = self.again(ordinal, items and items[n])
            except _Failed as e:
                if not listed:
                    raise e.__cause__ from None
                continue
            if listed:
                raise ReplayError(f"batch {ordinal} of lane {self.number} raised an error in the run before, "
                                  "and none in the replay")
            if gone:
                raise ReplayError(f"lane {self.number} ended in the replay of its batch {ordinal}: the stream got shorter")

    def snapshot(self, ordinal, failed):
        """The lane's state after this batch, if it is time for one."""
        every = self.job.every
        if not every or not (failed or (ordinal + 1) % every == 0):
            return None
        parts = {}
        try:
            with dice.at(self.info):
                if self.iterator is not None and stateful(self.iterator):
                    parts["iterator"] = self.iterator.state_dict()
                if self.iterator is not self.dataset and stateful(self.dataset):
                    parts["dataset"] = self.dataset.state_dict()
            return pickle.dumps(parts, 4) if parts else None
        except Exception as e:
            warnings.warn(f"the state of lane {self.number} could not be taken ({type(e).__name__}: {e}); a resume "
                          "replays from the one before", stacklevel=1)
            return None


class MapLane(_Lane):
    def begin(self, parts):
        if "dataset" in parts:
            self.bench.seed("lane", self.job.epoch, self.number)
            self.dataset.load_state_dict(parts["dataset"])

    def make(self, index, item):
        place = ("map", self.job.epoch, index)
        try:
            return self.bench.fetch(self.dataset, item, place), place
        except Exception as e:
            raise _Failed from e

    def again(self, ordinal, item):
        index = ordinal * self.job.lanes + self.number
        with dice.at(self.info, (self.job.seed, "map", self.job.epoch, index, 0)):
            self.make(index, item)
        return False

    def step(self, ordinal, index, item):
        with dice.at(self.info, (self.job.seed, "map", self.job.epoch, index, 0)):
            try:
                rows, place = self.make(index, item)
            except _Failed as e:
                return Outcome("error", e.__cause__, self.snapshot(ordinal, True), fetch=True)
            snap = self.snapshot(ordinal, False)
            try:
                return Outcome("ok", self.bench.finish(rows, place, item[0] != "one"), snap)
            except Exception as e:
                return Outcome("error", e, snap)


class StreamLane(_Lane):
    def begin(self, parts):
        seeds = ("lane", self.job.epoch, self.number)
        self.bench.seed(*seeds)
        if "dataset" in parts:
            self.dataset.load_state_dict(parts["dataset"])
        self.bench.seed(*seeds)
        self.iterator = iter(self.dataset)
        if "iterator" in parts:
            if not stateful(self.iterator):
                raise BadState("the state has a state of the dataset's iterator, which has no load_state_dict here")
            self.iterator.load_state_dict(parts["iterator"])

    def make(self, ordinal):
        """(samples, ended, place): the next samples of the stream."""
        place = ("stream", self.job.epoch, self.number, ordinal)
        size = self.job.batch_size or 1
        rows = []
        self.bench.seed(*place)
        try:
            while len(rows) < size:
                self.bench.next_sample(place, len(rows))
                try:
                    rows.append(next(self.iterator))
                except StopIteration:
                    return rows, True, place
        except Exception as e:
            raise _Failed from e
        return rows, False, place

    def again(self, ordinal, item):
        with dice.at(self.info, (self.job.seed, "stream", self.job.epoch, self.number, ordinal, 0)):
            return self.make(ordinal)[1]

    def step(self, ordinal, index, item):
        with dice.at(self.info, (self.job.seed, "stream", self.job.epoch, self.number, ordinal, 0)):
            try:
                rows, ended, place = self.make(ordinal)
            except _Failed as e:
                ended = getattr(self.iterator, "gi_frame", self) is None  # a generator that raised is at its end
                return Outcome("error", e.__cause__, None if ended else self.snapshot(ordinal, True), ended, fetch=True)
            if not rows or (ended and self.job.tail == "drop"):
                return Outcome("end", ended=True)
            snap = None if ended else self.snapshot(ordinal, False)
            try:
                whole = self.job.batch_size is not None
                return Outcome("ok", self.bench.finish(rows if whole else rows[0], place, whole), snap, ended)
            except Exception as e:
                return Outcome("error", e, snap, ended)


def portable(e):
    """The exception, or one in its place that can be sent to another process; its traceback goes into a note."""
    text = "".join(traceback.format_exception(e))
    try:
        e.add_note(f"in a worker of carousel:\n{text}")
        if type(pickle.loads(pickle.dumps(e))) is type(e):
            return e
    except Exception:
        pass
    return RuntimeError(f"{type(e).__name__} in a worker: {e}\n{text}")


__all__ = ["Bench", "Job", "LaneMark", "Outcome", "collate", "portable", "stateful"]
