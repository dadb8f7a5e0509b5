"""The loader: its plan, its cursor, its states."""
import dataclasses
import itertools
import weakref

import torch

from .codec import copy, freeze, seal
from .deck import Feed, deal, stateful
from .errors import PlanRefused, StaleIterator, StateRefused, WorkerLost
from .hosts import Pool
from .lane import NEW, advance
from .line import Line

FORMAT = "pullline/1"


@dataclasses.dataclass(frozen=True)
class Cursor:
    """The position after the last batch that the caller got.  Never changed, only replaced."""
    epoch: int = 0
    given: int = 0
    rows: int = 0
    carry: tuple = ()          # rolled over into this epoch, as JSON values
    mark: object = None        # the sampler at the beginning of this epoch, once the epoch was opened
    digest: object = None      # of the sampler's whole order in this epoch
    length: object = None      # of the dataset in this epoch
    turn: int = 0
    lanes: object = None       # the lanes' entries, if lanes have something to keep
    restore: bool = False      # the mark comes from a state and is to be loaded into the sampler
    touched: bool = False      # something of the epoch was delivered here


KEYS = {"format": str, "plan": dict, "epoch": int, "given": int, "rows": int, "carry": list, "mark": (dict, type(None)),
        "digest": (str, type(None)), "length": (int, type(None)), "turn": int, "lanes": (list, type(None)), "seal": str}
ENTRY = {"made": int, "again": int, "bad": list, "over": bool, "data": object, "iter": object, "has": str}


def _nobody():
    """The owner of a loader that has no live iterator: a dead reference."""
    return None


class Loader:
    """Delivers batches of ``dataset``.

    dataset: random access (``__getitem__`` and ``__len__``) or a stream (``__iter__``).  With ``state_dict``
    and ``load_state_dict`` it is stateful.  Each lane has a fresh copy of a stream or a stateful dataset in
    each epoch; a plain random-access dataset is shared, also by threads.
    lanes: into how many shares a stream or a stateful dataset is divided; the number of workers by default.
    A state brings its lanes and its seed along, unless these are given here.
    worker_kind: "thread" or "process".  Threads leave the global random streams alone.
    interval: batches between two snapshots of stateful datasets; 0: none, resumes replay the epoch.
    restarts: how many worker processes that died are replaced.
    A sampler is drawn whole when an epoch opens, so it has to end.
    A load makes iterators raise.  An epoch that is broken off counts.
    """

    def __init__(self, dataset, batch_size=1, *, shuffle=False, sampler=None, batch_sampler=None, tail="keep",
                 collate_fn=None, seed=None, lanes=None, workers=0, worker_kind="thread", start_method=None,
                 prefetch=None, persistent=False, interval=1, restarts=0, timeout=None, setup=None):
        if isinstance(dataset, torch.utils.data.IterableDataset) or not hasattr(dataset, "__getitem__"):
            self.style = "stream"
        else:
            self.style = "map"
        if tail not in ("keep", "drop", "rollover"):
            raise ValueError(f"tail is {tail!r}; it can be keep, drop or rollover")
        if worker_kind not in ("thread", "process"):
            raise ValueError(f"worker_kind is {worker_kind!r}; it can be thread or process")
        if self.style == "stream" and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError("a stream has its own order: no shuffle, no sampler")
        if shuffle + (sampler is not None) + (batch_sampler is not None) > 1:
            raise ValueError("give one of shuffle, sampler and batch_sampler")
        if batch_size is not None and batch_size < 1:
            raise ValueError("batch_size is at least 1, or None for single samples")
        if tail == "rollover" and (self.style == "stream" or batch_sampler is not None or batch_size is None):
            raise ValueError("only batches that the loader makes itself, of random access, roll over")
        self.dataset, self.batch_size, self.shuffle, self.tail = dataset, batch_size, shuffle, tail
        self.batched = batch_sampler is not None
        given = batch_sampler if self.batched else sampler
        self.feed = None if given is None else Feed(given)
        self.stateful = stateful(dataset)
        self.has_lanes = self.style == "stream" or self.stateful
        self._given_seed, self._given_lanes = seed, lanes
        self.seed = int(torch.empty((), dtype=torch.int64).random_()) if seed is None else int(seed)
        self.workers, self.worker_kind, self.start_method = workers, worker_kind, start_method
        self._lanes = lanes if lanes is not None else max(1, workers)
        self.prefetch = 2 if prefetch is None else max(1, prefetch)
        self.persistent, self.interval, self.restarts, self.timeout = persistent, interval, restarts, timeout
        self.collate_fn, self.setup = collate_fn, setup
        self._cursor, self._named, self._owner = Cursor(), 0, _nobody
        self._pool = Pool()
        self._end = weakref.finalize(self, self._pool.close)

    # -- iterating ----------------------------------------------------------------------------------

    def lane_count(self, hosts):
        return self._lanes if self.has_lanes else hosts

    def __iter__(self):
        if not self._pool.idle:
            self._pool.close()
        c = self._cursor
        if c.given and c.touched:
            self._cursor = self._next_epoch(())
        it = Iterator(self)
        self._owner = weakref.ref(it)
        return it

    def __len__(self):
        if self.style == "stream":
            raise TypeError("a stream has no length")
        if self.feed is not None:
            n = len(self.feed.sampler)
        else:
            n = len(self.dataset)
        if self.batched or self.batch_size is None:
            return n
        return -(-n // self.batch_size) if self.tail == "keep" else n // self.batch_size

    def name_epoch(self, epoch):
        """This epoch comes next, if it is a later one."""
        self._named = epoch
        if not self._cursor.given:
            self._cursor = dataclasses.replace(self._cursor, epoch=max(self._cursor.epoch, epoch))

    def _next_epoch(self, carry):
        return Cursor(epoch=max(self._cursor.epoch + 1, self._named), carry=carry)

    def close(self):
        """End all workers.  The loader can be used again."""
        it = self._owner()
        if it is not None:
            it.line = None
        self._pool.close()

    # -- states -------------------------------------------------------------------------------------

    def _length(self):
        if self.style == "stream":
            return None
        if self.feed is None:
            return len(self.dataset)
        try:
            return len(self.feed.sampler)
        except TypeError:
            return None

    def plan(self):
        order = ("shuffle" if self.shuffle else "sequential") if self.feed is None else self.feed.name
        return {"style": self.style, "stateful": self.stateful, "batch": self.batch_size, "batched": self.batched,
                "tail": self.tail, "order": order, "seed": self.seed, "lanes": self._lanes if self.has_lanes else None}

    def state_dict(self):
        c = self._cursor
        mark = c.mark
        if self.feed is not None and mark is None:
            mark = self.feed.mark()
        doc = {"format": FORMAT, "plan": self.plan(), "epoch": c.epoch, "given": c.given, "rows": c.rows,
               "carry": list(c.carry), "mark": mark, "digest": c.digest if c.given else None,
               "length": c.length if c.given else self._length(), "turn": c.turn,
               "lanes": c.lanes}
        doc = copy(doc)
        doc["seal"] = seal(doc)
        return doc

    def load_state_dict(self, state):
        doc = self._read(state)
        saved, own = doc["plan"], self.plan()
        if self._given_seed is None:
            own["seed"] = saved["seed"]
        if self._given_lanes is None and self.has_lanes and saved["lanes"] is not None:
            own["lanes"] = saved["lanes"]
        wrong = {k: (saved[k], own[k]) for k in own if saved[k] != own[k]}
        if doc["given"] and doc["length"] != self._length():
            wrong["length"] = doc["length"], self._length()
        if wrong:
            raise PlanRefused(wrong)
        if self.feed is not None and (doc["mark"] is None or not self.feed.fits(doc["mark"])):
            raise StateRefused("the state is of a sampler with other generators or other stateful parts")
        self._pool.close()
        self._owner, self._named, self.seed = _nobody, 0, own["seed"]
        if own["lanes"] is not None:
            self._lanes = own["lanes"]
        self._cursor = Cursor(doc["epoch"], doc["given"], doc["rows"], tuple(doc["carry"]), doc["mark"],
                              doc["digest"], doc["length"], doc["turn"], doc["lanes"], doc["mark"] is not None)

    def _read(self, state):
        """A checked copy of a state."""
        if not isinstance(state, dict) or not state:
            raise StateRefused(f"this is no state: {type(state).__name__}, where a filled dict is expected")
        try:
            doc = copy(state)
        except (TypeError, ValueError, RecursionError) as e:
            raise StateRefused(f"this is no state: {e}") from None
        if doc.get("format") != FORMAT:
            raise StateRefused(f"the format is {doc.get('format')!r}, and this loader reads {FORMAT!r}")

        def check(value, keys, where):
            if set(value) != set(keys):
                raise StateRefused(f"{where} lacks or has in addition: {sorted(set(value) ^ set(keys))}")
            for k, kind in keys.items():
                if kind is not object and (not isinstance(value[k], kind)
                                           or kind is not bool and isinstance(value[k], bool)):
                    raise StateRefused(f"{k!r} in {where} is a {type(value[k]).__name__}")

        check(doc, KEYS, "the state")
        if doc["seal"] != seal(doc):
            raise StateRefused("the state was changed since it was taken: its checksum does not fit")
        check(doc["plan"], dict.fromkeys(self.plan(), object), "the plan")
        for i, entry in enumerate(doc["lanes"] or ()):
            check(entry, ENTRY, f"lane {i}")
        if doc["lanes"] is not None and len(doc["lanes"]) != doc["plan"]["lanes"]:
            raise StateRefused("the state has entries for another number of lanes")
        return doc


class Iterator:
    """What ``iter(loader)`` gives: it goes on from the loader's cursor."""

    def __init__(self, loader):
        self.loader, self.line, self.deck, self.done = loader, None, None, False

    def __iter__(self):
        return self

    def drop(self):
        self.line = None
        self.loader._pool.close()

    def _open(self):
        own = self.loader
        c = own._cursor
        if own.style == "map" and (self.deck is None or self.deck.epoch != c.epoch):
            if own.feed is not None and c.mark is None:
                c = own._cursor = dataclasses.replace(c, mark=own.feed.mark())
            try:
                self.deck = deal(own, c, c.mark, c.restore)
            except BaseException:  # the sampler has drawn: the next attempt puts it back
                own._cursor = dataclasses.replace(c, restore=own.feed is not None)
                raise
            own._cursor = c = dataclasses.replace(c, restore=own.feed is not None, digest=self.deck.mark,
                                                  length=own._length())
        hosts = own._pool.get(own.workers, own.worker_kind, own.start_method)
        own._pool.idle = False
        self.line = Line(own, c, self.deck, hosts)

    def __next__(self):
        own = self.loader
        if own._owner() is not self:
            raise StaleIterator("a state was loaded or another iterator was made since; iterate the loader anew")
        if self.done:
            raise StopIteration
        while True:
            try:
                if self.line is not None and self.line.epoch != own._cursor.epoch:
                    self.drop()
                if self.line is None:
                    self._open()
                got = self.line.pull()
                if got is None:
                    self._finish()
                    break
                own._cursor = self._after(*got)
            except WorkerLost:
                self.drop()
                if not own.restarts:
                    raise
                own.restarts -= 1
                continue
            except BaseException:
                self.drop()
                raise
            answer = got[1]
            if answer.what == "error":
                raise answer.value
            return answer.value
        raise StopIteration

    def _after(self, lane, answer):
        """The cursor after this answer."""
        c, line, own = self.loader._cursor, self.line, self.loader
        lanes = None
        if own.has_lanes:
            lanes = list(c.lanes or itertools.repeat(NEW, line.lanes))
            lanes[lane] = advance(lanes[lane], answer)
            if own.style == "stream":
                lanes = [{**e, "over": True} if over and not e["over"] else e for e, over in zip(lanes, line.over)]
        return dataclasses.replace(c, given=c.given + 1, rows=c.rows + answer.count, turn=line.turn, lanes=lanes,
                                   touched=True)

    def _finish(self):
        own, line = self.loader, self.line
        if own.persistent and own.workers:
            line.drain()
            own._pool.idle = True
        else:
            own._pool.close()
        self.line, self.done = None, True
        left = tuple(freeze(v) for v in self.deck.left) if self.deck is not None else ()
        own._cursor = own._next_epoch(left)
