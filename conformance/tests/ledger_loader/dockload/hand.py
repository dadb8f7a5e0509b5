"""What makes batches: a hand has a job (an epoch's settings) and answers tickets, wherever it runs."""
import pickle
import random
import warnings
from typing import Any, NamedTuple

import numpy
import torch

from .errors import ReplayMismatch, portable
from .plan import size_of, stateful
from .seeds import Place, words


class Job(NamedTuple):
    """What a hand has to know of an epoch."""

    kind: str  # free (map-style without a state), map (with a state), iterable
    dataset: Any  # free: the dataset, or its pickle in a process; else its pickle
    batch_size: Any
    tail: str
    whole: bool  # a batch is several samples
    collate: Any
    setup: Any
    root: int
    epoch: int
    lanes: int  # all lanes, those of other ranks included
    mix: int  # samples of a block in which a stream is shuffled; 0: none
    every: int  # batches of a lane between two snapshots; 0: none
    ambient: bool
    entries: dict  # lane: where it stands (see ledger.Stand), and its replays


class Reply(NamedTuple):
    kind: str  # batch, error, end, interrupt; ready, fault
    job: int
    lane: Any
    number: int
    value: Any = None
    count: int = 0  # samples
    snapshot: Any = None
    ended: bool = False
    fetched: Any = None  # an error of the dataset: the requests to it, the failed one included


class DatasetFault(Exception):
    """Wraps an exception of the dataset."""

    def __init__(self, error, fetched):
        self.error, self.fetched = error, fetched


def stack(rows):
    """The collate of those who give none."""
    if rows and all(type(r) is numpy.ndarray for r in rows):
        return numpy.stack(rows)
    if rows and all(type(r) is torch.Tensor for r in rows):
        return torch.stack(rows)
    return list(rows)


class Lane:
    """One sequential maker of batches, with its own copy of the dataset (but for free jobs)."""

    def __init__(self, job, lane, dataset):
        self.job, self.lane, self.dataset, self.iterator = job, lane, dataset, None
        self.place = Place(job.root, job.ambient, lane or 0, job.lanes)
        self.ended, self.mix = False, None

    # -- making

    def keys(self, keys, first):
        """The rows of a map-style batch."""
        job, dataset, done = self.job, self.dataset, 0
        try:
            if not job.whole:
                done = 1
                self.place.at("sample", job.epoch, first)
                return dataset[keys]
            if hasattr(dataset, "__getitems__"):
                self.place.at("sample", job.epoch, first)
                rows = list(dataset.__getitems__(list(keys)))
                if len(rows) != len(keys):
                    raise RuntimeError(f"__getitems__ was asked for {len(keys)} samples and gave {len(rows)}")
                return rows
            rows = []
            for done, key in enumerate(keys, 1):
                self.place.at("sample", job.epoch, first + done - 1)
                rows.append(dataset[key])
            return rows
        except StopIteration as e:
            error = RuntimeError(f"the dataset raised StopIteration for one of the keys {keys!r}")
            error.__cause__ = e
            raise DatasetFault(error, done)
        except Exception as e:
            raise DatasetFault(e, done)

    def pull(self, ordinal, most=None):
        """The next rows of the stream; fewer than asked for where it ended."""
        rows, most = [], most or self.job.batch_size or 1
        while len(rows) < most and not self.ended:
            self.place.at("stream", self.job.epoch, self.lane, ordinal, len(rows))
            try:
                rows.append(next(self.mix or self.iterator))
            except StopIteration:
                self.ended = True
            except Exception as e:
                raise DatasetFault(e, len(rows) + 1)
        return rows

    def make(self, number, job_id, ticket):
        """The reply to a ticket; a ticket is (keys, first place), and None for a stream."""
        job = self.job
        with self.place:
            if self.ended:
                return Reply("end", job_id, self.lane, number)
            try:
                if ticket is not None:
                    rows = self.keys(*ticket)
                    count, at = (size_of(ticket[0]) if job.whole else 1), ("collate", job.epoch, ticket[1])
                else:
                    rows = self.pull(number)
                    count, at = len(rows), ("collate", job.epoch, self.lane, number)
                    if not rows or self.ended and job.tail == "drop":
                        return Reply("end", job_id, self.lane, number)
                    if not job.whole:
                        rows = rows[0]
            except DatasetFault as fault:
                count = 0 if ticket is None else size_of(ticket[0]) if job.whole else 1
                return Reply("error", job_id, self.lane, number, fault.error, count,
                             self.snapshot(None), False, fault.fetched)
            try:
                self.place.at(*at)
                if job.collate is not None:
                    rows = job.collate(rows)
                elif job.whole:
                    rows = stack(rows)
                kind = "batch"
            except Exception as e:
                kind, rows = "error", RuntimeError(f"collate raised {e!r}") if isinstance(e, StopIteration) else e
            return Reply(kind, job_id, self.lane, number, rows, count, self.snapshot(number + 1), self.ended)

    # -- states

    def snapshot(self, made):
        """The states of the dataset and its iterator as bytes, if it is time for them; made None: it is."""
        job = self.job
        if self.mix is not None:
            return None if self.ended else self.mix.snapshot()
        if job.kind == "free" or not job.every or self.ended or made is not None and made % job.every:
            return None
        return self.parts()

    def parts(self):
        parts = {}
        try:
            if self.iterator is not self.dataset and stateful(self.dataset):
                parts["dataset"] = self.dataset.state_dict()
            if self.iterator is not None and stateful(self.iterator):
                parts["iterator"] = self.iterator.state_dict()
            return pickle.dumps(parts) if parts else None
        except Exception as e:
            warnings.warn(f"lane {self.lane} has no snapshot after a batch, because state_dict raised {e!r}; "
                          "a resume replays from the one before", stacklevel=1)
            return None

    def restore(self, stand, replays):
        """Brings the fresh lane to where it stands; replays: the tickets of a map-style lane to make again."""
        job = self.job
        with self.place:
            self.place.at("setup", job.epoch, self.lane)
            if job.setup is not None:
                job.setup(self.dataset, self.lane, job.lanes)
            if stand.ended:
                self.ended = True
                return
            self.place.at("lane", job.epoch, self.lane)
            parts, mixed = pickle.loads(stand.snapshot) if stand.snapshot is not None else {}, None
            if "mix" in parts:
                mixed = parts["mix"]
                parts = pickle.loads(mixed[0]) if mixed[0] is not None else {}
            if "dataset" in parts:
                self.dataset.load_state_dict(parts["dataset"])
            if job.kind == "iterable":
                self.place.at("lane", job.epoch, self.lane)
                self.iterator = iter(self.dataset)
                if "iterator" in parts:
                    self.iterator.load_state_dict(parts["iterator"])
                if job.mix:
                    self.mix = Mix(self, self.iterator, mixed)
                    return
            begin = stand.made_at if stand.snapshot is not None else 0
            for ordinal in range(begin, stand.made):
                self.again(ordinal, stand.errors.get(ordinal), replays.get(ordinal))

    def again(self, ordinal, failed, ticket):
        """Makes a delivered batch again and drops it; failed: the requests of a batch whose last one raised."""
        try:
            if self.job.kind == "iterable":
                most = failed or self.job.batch_size or 1
                rows = self.pull(ordinal, most)
                if len(rows) < most and not failed:
                    raise ReplayMismatch(f"the stream of lane {self.lane} ended while batch {ordinal} was made again")
            elif ticket is not None:
                keys, first = ticket
                if failed and self.job.whole and not hasattr(self.dataset, "__getitems__"):
                    keys = list(keys)[:failed]
                self.keys(keys, first)
        except DatasetFault as fault:
            if failed is None or fault.fetched < failed:
                raise fault.error


class Mix:
    """Shuffles a lane's stream in blocks.  Its state is that of the stream at the beginning of some block, and how many
    samples were given since; pulls that raised have their numbers in `faults`, and give nothing when they are made again.
    """

    def __init__(self, lane, inner, saved=None):
        self.lane, self.inner, self.job = lane, inner, lane.job
        self.captured, (self.block, self.pulls), given, faults = saved or (None, (0, 0), 0, ())
        self.origin, self.faults, self.given = (self.block, self.pulls), list(faults), 0
        self.batches = given // (self.job.batch_size or 1)  # the interval goes on after a resume
        self.filling, self.ready, self.done = [], [], False
        for _ in range(given):
            try:
                next(self)
            except StopIteration:
                raise ReplayMismatch(f"the stream of lane {lane.lane} ended while it was brought to its place") from None

    def __next__(self):
        if not self.ready:
            self.fill()
            if not self.ready:
                raise StopIteration
        self.given += 1
        return self.ready.pop()

    def fill(self):
        """The next block."""
        job, lane = self.job, self.lane
        if self.given and not self.filling and job.every and self.batches >= job.every:
            captured = lane.parts()
            if captured is not None:
                self.captured, self.origin, self.faults = captured, (self.block, self.pulls), []
                self.given = self.batches = 0
        while len(self.filling) < job.mix and not self.done:
            number = self.pulls
            lane.place.at("mix", job.epoch, lane.lane, number)
            self.pulls += 1
            try:
                row = next(self.inner)
            except StopIteration:
                self.done = True
            except Exception:
                if number not in self.faults:
                    self.faults.append(number)
                    raise
            else:
                if number not in self.faults:
                    self.filling.append(row)
        random.Random(words(job.root, "mix.order", job.epoch, lane.lane, self.block)[0]).shuffle(self.filling)
        self.block += 1
        self.ready, self.filling = self.filling, []

    def snapshot(self):
        self.batches += 1
        return pickle.dumps({"mix": (self.captured, self.origin, self.given, list(self.faults))})


class Hand:
    """Answers the messages ("job", id, Job) and ("ticket", id, lane, number, ticket)."""

    def __init__(self, remote):
        self.remote, self.job, self.lanes, self.broken = remote, None, {}, set()

    def answer(self, message):
        job_id = message[1]
        try:
            if message[0] == "job":
                self.begin(message[2])
                return Reply("ready", job_id, None, 0)
            lane, number, ticket = message[2:]
            if lane in self.broken or None in self.broken:
                return None
            return self.sent(self.lanes[lane].make(number, job_id, ticket))
        except Exception as e:
            self.broken.add(None)
            return Reply("fault", job_id, None, 0, portable(e) if self.remote else e)
        except SystemExit:
            raise
        except BaseException as e:
            if not self.remote:
                raise
            if message[0] == "job":
                self.broken.add(None)
                return Reply("fault", job_id, None, 0, e)
            if message[2] is not None:  # the lane stopped somewhere within the batch
                self.broken.add(message[2])
            return Reply("interrupt", job_id, message[2], message[3], e)

    def begin(self, job):
        self.broken = set()
        self.job, self.lanes = job, {}
        if job.kind == "free":
            dataset = pickle.loads(job.dataset) if isinstance(job.dataset, bytes) else job.dataset
            self.lanes[None] = Lane(job, None, dataset)
        for lane, (stand, replays) in job.entries.items():
            self.lanes[lane] = Lane(job, lane, pickle.loads(job.dataset))
            self.lanes[lane].restore(stand, replays)

    def sent(self, reply):
        """A reply that can leave the process."""
        if self.remote and reply.kind == "error":
            return reply._replace(value=portable(reply.value))
        return reply
