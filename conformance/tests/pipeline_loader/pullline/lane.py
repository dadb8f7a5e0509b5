"""A lane: one copy of the dataset, read by one reader.  Everything the user's dataset does happens here."""
import warnings
from dataclasses import dataclass, field

import numpy
import torch

from .codec import freeze, thaw
from .deck import stateful
from .errors import ReplayMismatch, StateRefused
from .place import Place, at, derive

NEW = {"made": 0, "again": 0, "bad": [], "over": False, "data": None, "iter": None, "has": ""}


@dataclass
class Job:
    """What all lanes of an epoch have in common."""
    epoch: int
    seed: int
    style: str
    size: object
    tail: str
    lanes: int
    step: int
    collate: object
    setup: object
    stateless: bool = field(default=False)


@dataclass
class Answer:
    what: str  # "batch", "error" or "end"
    value: object = None
    count: int = 0
    over: bool = False
    bad: bool = False
    snap: object = None


def gather(rows):
    """The default collate: one array of equal arrays, else a list."""
    for kind, join in ((numpy.ndarray, numpy.stack), (torch.Tensor, torch.stack)):
        if rows and all(isinstance(r, kind) for r in rows) and len({(tuple(r.shape), r.dtype) for r in rows}) == 1:
            return join(rows)
    return list(rows)


class Lane:
    def __init__(self, job, number, streams):
        self.job, self.number, self.streams = job, number, streams
        self.made, self.over, self.it = 0, False, None

    def _place(self, *what):
        return Place(self.number, self.job.lanes, self.job.epoch, derive(self.job.seed, self.job.epoch, *what))

    def _batch_place(self, index):
        if self.job.style == "map":
            return self._place("batch", index)
        return self._place("lane batch", self.number, self.made)

    def open(self, dataset, entry, replays):
        """Begin the epoch, or go on where the entry says."""
        job = self.job
        self.data = dataset
        with at(self._place("open", self.number), self.streams):
            if job.setup is not None and not job.stateless:
                job.setup(self.number, job.lanes, dataset)
            if "d" in entry["has"]:
                self._load(dataset, entry["data"])
            if job.style == "stream":
                self.it = iter(dataset)
                if "i" in entry["has"]:
                    self._load(self.it, entry["iter"])
        self.made = entry["made"]
        for index, indices in replays:
            self._replay(index, indices, self.made in entry["bad"])

    @staticmethod
    def _load(thing, frozen):
        if not stateful(thing):
            raise StateRefused(f"the state has a part for a {type(thing).__name__}, which cannot load one")
        try:
            thing.load_state_dict(thaw(frozen))
        except Exception as e:
            raise StateRefused(f"the {type(thing).__name__} does not load its part of the state: {e!r}") from e

    def _replay(self, index, indices, bad):
        with at(self._batch_place(index), self.streams):
            try:
                rows = self._fetch(indices)
            except Exception:
                if not bad:
                    raise
            else:
                if bad:
                    raise ReplayMismatch("a batch that had raised an error did not raise it again")
                if not rows and indices is None:
                    raise ReplayMismatch("a stream ended before the place at which the state was taken")
        self.made += 1

    def _fetch(self, indices):
        data = self.data
        if indices is not None:
            try:
                if callable(getattr(data, "__getitems__", None)):
                    rows = list(data.__getitems__(indices))
                    if len(rows) != len(indices):
                        raise RuntimeError("__getitems__ returned another number of samples than asked for")
                    return rows
                return [data[i] for i in indices]
            except StopIteration as e:
                raise RuntimeError("the dataset raised StopIteration for a sample") from e
        rows = []
        while len(rows) < (self.job.size or 1) and not self.over:
            try:
                rows.append(next(self.it))
            except StopIteration:
                self.over = True
        return rows

    def make(self, index, indices):
        """The next batch of this lane."""
        job = self.job
        if self.over:
            return Answer("end", over=True)
        with at(self._batch_place(index), self.streams):
            try:
                rows = self._fetch(indices)
            except Exception as e:
                answer = Answer("error", e, len(indices or ()), self.over, True)
            else:
                if indices is None and (not rows or (job.tail == "drop" and len(rows) < (job.size or 1))):
                    return Answer("end", over=True)
                answer = self._collate(rows)
                answer.over = self.over
            self.made += 1
            if not self.over and job.step and (self.made % job.step == 0 or answer.bad):
                answer.snap = self._snapshot()
        return answer

    def _collate(self, rows):
        job = self.job
        try:
            if job.size is None:
                value = job.collate(rows[0]) if job.collate else rows[0]
            else:
                value = (job.collate or gather)(rows)
        except StopIteration as e:
            e2 = RuntimeError("collate_fn raised StopIteration")
            e2.__cause__ = e
            return Answer("error", e2, len(rows))
        except Exception as e:
            return Answer("error", e, len(rows))
        return Answer("batch", value, len(rows))

    def _snapshot(self):
        """The user's objects as values, or None."""
        snap = {"made": self.made, "again": 0, "bad": [], "over": False, "data": None, "iter": None, "has": ""}
        try:
            if stateful(self.data) and self.it is not self.data:
                snap["data"], snap["has"] = freeze(self.data.state_dict()), "d"
            if self.it is not None and stateful(self.it):
                snap["iter"], snap["has"] = freeze(self.it.state_dict()), snap["has"] + "i"
        except Exception as e:
            warnings.warn(f"state_dict of the dataset failed ({e!r}); a resume will begin at an older state",
                          stacklevel=2)
            return None
        return snap if snap["has"] else None


def advance(entry, answer):
    """A lane's entry after one more batch of it was delivered."""
    if answer.snap is not None:
        return answer.snap
    number = entry["made"] + entry["again"]
    return {**entry, "again": entry["again"] + 1, "over": answer.over,
            "bad": entry["bad"] + [number] if answer.bad else entry["bad"]}
