"""The loader, and one iteration of it."""
import math
import pickle

import torch

from . import blob, dice, feed
from .bench import Job, Outcome, stateful
from .blob import LaneMark, Point
from .crew import Inline, Processes, Threads
from .errors import ReplayError, StaleIterator, WrongPlan

TAILS = ("keep", "drop", "rollover")


class Loader:
    """Batches of a dataset, resumable anywhere.

    dataset         map-style (__len__, __getitem__) or iterable (__iter__); either may have state_dict / load_state_dict
    batch_size      samples of a batch; None: the samples themselves
    shuffle         a new permutation each epoch (map-style)
    sampler         any iterable of indices; batch_sampler: of lists of indices
    tail            what becomes of an incomplete last batch: keep, drop, or rollover (it opens the next epoch)
    drop_last       the same as tail="drop"
    collate_fn      makes a batch from a list of samples (or from a lone sample, if there are no batches)
    seed            of orders and streams; None: drawn from torch
    lanes           the shards of a dataset that is iterable or Stateful; None: as many as workers, or as a loaded state has.
                    Such a dataset asks carousel.lane() for its share. Each lane has a fresh copy of the dataset each epoch.
    setup           setup(dataset, lane) is called for each lane's copy
    seeding         "batch" or "sample": when the global streams are seeded; None: never. Threads never seed them.
                    carousel.rng() is seeded for each sample, everywhere
    interval        batches between two states of a Stateful dataset or sampler; 0: none (a resume replays the epoch)
    workers         processes (method: fork, spawn, forkserver; None: Python's default) or threads (method "thread")
    prefetch        batches in flight for each worker
    persistent      keep the workers from epoch to epoch
    replace         how many dead workers are replaced
    timeout         seconds for a batch; 0: no limit
    tag             a text that identifies the data; compared at a load

    A new iterator breaks off an epoch of which batches were delivered, and begins the next one. Only the newest iterator
    works. A load makes live iterators raise StaleIterator. A refused load changes nothing.
    """

    def __init__(self, dataset, batch_size=1, shuffle=False, sampler=None, batch_sampler=None, *, tail=None, drop_last=False,
                 collate_fn=None, seed=None, lanes=None, setup=None, seeding="batch", interval=1, workers=0, method=None,
                 prefetch=2, persistent=False, replace=0, timeout=0, tag=None):
        self.dataset, self.batch_size, self.shuffle = dataset, batch_size, bool(shuffle)
        self.stream = not hasattr(dataset, "__getitem__") and hasattr(dataset, "__iter__")
        self.cut = self.stream or stateful(dataset)
        self.sampler = batch_sampler if batch_sampler is not None else sampler
        self.gives_batches = batch_sampler is not None
        self.tail = tail or ("drop" if drop_last else "keep")
        self.collate_fn, self.setup, self.seeding, self.interval = collate_fn, setup, seeding, interval
        self.workers, self.method, self.prefetch = workers, method, prefetch
        self.persistent, self.replace, self.timeout, self.tag = persistent, replace, timeout, tag
        if self.gives_batches:
            if sampler is not None or shuffle:
                raise ValueError("batch_sampler excludes sampler and shuffle")
            self.batch_size = None
        if self.stream and (self.sampler is not None or shuffle):
            raise ValueError("a stream has its own order: no shuffle, sampler or batch_sampler")
        if sampler is not None and shuffle:
            raise ValueError("sampler excludes shuffle")
        if self.tail not in TAILS or seeding not in ("batch", "sample", None):
            raise ValueError(f"tail is one of {TAILS}, seeding is 'batch', 'sample' or None")
        if self.batch_size is None:
            self.tail = "keep"
        elif type(self.batch_size) is not int or self.batch_size < 1:
            raise ValueError("batch_size is a positive integer or None")
        if self.stream and self.tail == "rollover":
            raise ValueError("rollover is for map-style datasets")
        if workers < 0 or (lanes is not None and lanes < 1) or interval < 0 or prefetch < 1:
            raise ValueError("workers and interval are at least 0, lanes and prefetch at least 1")
        self._own_seed, self._own_lanes = seed is not None, lanes is not None
        self.seed = int(seed) if seed is not None else int(torch.empty((), dtype=torch.int64).random_())
        self.lanes = lanes if lanes is not None else max(1, workers)
        self._point = Point(0, 0)
        self._named = 0
        self._run = None
        self._engine = None
        self._gen = 0
        self._loaded = False  # the position came from a state, and the sampler's objects do not have it yet

    # -- what is compared ------------------------------------------------------------------------------------------

    def _length(self):
        return len(self.dataset) if not self.stream and self.sampler is None else None

    def _plan(self):
        name = None if self.sampler is None else type(self.sampler).__qualname__
        return {"stream": self.stream, "stateful": stateful(self.dataset), "shuffle": self.shuffle, "sampler": name,
                "gives_batches": self.gives_batches, "batch_size": self.batch_size, "tail": self.tail, "seed": self.seed,
                "lanes": self.lanes if self.cut else None, "seeding": self.seeding, "tag": self.tag,
                "share": feed.share(self.sampler)}

    def __len__(self):
        if self.stream:
            raise TypeError("a stream has no length")
        if self.sampler is None:
            carried = self._point.carried if self._point.batches == 0 else ()
            return feed.Counted(self._length(), self.seed, 0, False, self.batch_size, self.tail, carried).batches
        n = len(self.sampler)
        if self.gives_batches or self.batch_size is None:
            return n
        return math.ceil(n / self.batch_size) if self.tail == "keep" else n // self.batch_size

    # -- states ----------------------------------------------------------------------------------------------------

    def state_dict(self):
        """The state after the last batch delivered: a dict of an integer and a text."""
        return blob.pack(self._plan(), self._marked())

    def _marked(self):
        """The position, with all that a resume needs."""
        point = self._point
        if point.batches == 0:
            point = point._replace(length=self._length())
        if self.sampler is None:
            return point
        live = self._run.feed if self._run is not None and not self._run.finished else None
        if live is not None:
            return point._replace(sampler=live.mark(point.batches, self._need(point)))
        if point.sampler is None:
            return point._replace(sampler=self._new_feed(point).mark(0, 0))
        return point

    def _need(self, point):
        """The first batch whose indices a resume must know."""
        if point.lanes is None:
            return point.batches
        count = len(point.lanes)
        return min([point.batches] + [m.ordinal * count + l for l, m in enumerate(point.lanes)])

    def load_state_dict(self, state):
        """Goes on from a state at the next iteration; live iterators raise StaleIterator."""
        plan, point = blob.unpack(state)
        mine = self._plan()
        inside = point.batches > 0
        wrong = []
        for key in sorted(mine.keys() | plan.keys()):
            a, b = plan.get(key), mine.get(key)
            if a == b or (key == "seed" and not self._own_seed) or (key == "lanes" and not self._own_lanes and a and b):
                continue
            if key == "share" and not inside:
                continue
            wrong.append(f"{key} is {a!r} in the state and {b!r} here")
        if inside and point.length != self._length():
            wrong.append(f"the length is {point.length} in the state and {self._length()} here")
        if wrong:
            raise WrongPlan("the state is of another loader: " + "; ".join(wrong) + ". Build the loader as it was built then")
        if point.sampler is not None:
            feed.check(self.sampler, point.sampler)
        self._stop()
        self.seed = plan["seed"]
        if self.cut:
            self.lanes = plan["lanes"]
        self._point, self._named, self._loaded = point, 0, True
        if point.sampler is not None:
            feed.write_epoch(self.sampler, point.sampler["epoch"])

    def set_epoch(self, epoch):
        """Names the epoch that comes next; an epoch before the present one is passed over."""
        if self.sampler is not None:
            for obj in feed.chain(self.sampler):
                if callable(getattr(obj, "set_epoch", None)):
                    obj.set_epoch(epoch)
                    return
        self._named = epoch
        if self._point.batches == 0 and epoch > self._point.epoch and not self._delivered_some():
            self._point = self._point._replace(epoch=epoch)
            if self._run is not None:
                self._run.torn = True

    @property
    def next_epoch(self):
        """The epoch that an iterator delivers if it is made now."""
        return max(self._point.epoch + 1, self._named) if self._delivered_some() else self._point.epoch

    def _delivered_some(self):
        return self._run is not None and not self._run.finished and self._run.delivered > 0

    # -- iterations ------------------------------------------------------------------------------------------------

    def _new_feed(self, point):
        if self.stream:
            return None
        if self.sampler is None:
            return feed.Counted(self._length(), self.seed, point.epoch, self.shuffle, self.batch_size, self.tail, point.carried)
        return feed.Drawn(self.sampler, self.gives_batches, self.seed, point.epoch, self.batch_size, self.tail, self.interval,
                          point.carried)

    def __iter__(self):
        run, broken = self._run, False
        if run is not None and not run.finished:
            if run.delivered:
                run.feed_rewind()
                self._point = Point(max(self._point.epoch + 1, self._named), 0)
                self._loaded, broken = False, True
            elif run.feed is not None and run.feed.drawn:
                self._point = self._marked()
                self._loaded = True
        self._stop(keep=self.persistent)
        if self._point.batches and self._point.length != self._length():
            raise WrongPlan(f"the dataset has {self._length()} samples, and had {self._point.length} when this epoch began")
        self._run = Run(self, broken)
        return self._run

    def _next_epoch(self, carried):
        self._point = Point(max(self._point.epoch + 1, self._named), 0, carried=carried)
        self._loaded = False

    def _job(self, point):
        processes = self.workers and self.method != "thread"
        packed = None
        if self.cut or (processes and self.persistent):
            try:
                packed = pickle.dumps(self.dataset, 5)
            except Exception:
                packed = None  # a fork has it, and copies it by copy.deepcopy
        every = max(1, self.interval // self.lanes) if self.interval and self.cut else 0
        return Job(dataset=self.dataset, packed=packed, stream=self.stream, cut=self.cut, length=self._length(),
                   shuffle=self.shuffle, seed=self.seed, epoch=point.epoch, lanes=self.lanes, batch_size=self.batch_size,
                   tail=self.tail, collate=self.collate_fn, setup=self.setup, seeding=self.seeding, every=every)

    def _hire(self, job):
        """The engine for this job, in a new generation."""
        self._gen += 1
        if isinstance(self._engine, Processes) and job.packed is None:
            self._fire()  # the dataset cannot be sent: new workers inherit it
        if self._engine is None:
            if not self.workers:
                self._engine = Inline(job)
            elif self.method == "thread":
                self._engine = Threads(job, self.workers, self.lanes if self.cut else 1, self.timeout)
            else:
                self._engine = Processes(job, self.workers, self.lanes if self.cut else 1, self.timeout, self.method,
                                         self.replace)
        self._engine.renew(self._gen, job)
        return self._engine

    def _fire(self):
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def _stop(self, keep=False):
        """Ends the live iteration."""
        self._run = None
        engine = self._engine
        if engine is not None and not (keep and getattr(engine, "failed", None) is None):
            self._fire()

    def close(self):
        """Ends the workers and the live iterator. The loader can be iterated again."""
        run = self._run
        if run is not None and not run.finished and run.feed is not None and (run.feed.drawn or self._point.batches):
            self._point, self._loaded = self._marked(), True
        self._stop()

    def __del__(self):
        try:
            self._fire()
        except Exception:
            pass


class Run:
    """One iteration: an epoch, or the rest of one."""

    def __init__(self, loader, broken):
        self.loader, self.finished, self.torn, self.delivered = loader, False, False, 0
        self.engine = None
        point = loader._point
        self.job = loader._job(point)
        self.feed = loader._new_feed(point)
        if loader.sampler is not None:
            if loader._loaded and point.sampler is not None:
                self._enter(self.feed, point, strict=True)
            elif broken and any(feed.stateful(obj) for obj in feed.chain(loader.sampler)):
                self.feed.after_break = True
                self.feed.item(0)
            else:
                self.feed.begin()

    def _enter(self, fresh, point, strict):
        sampler, mark = self.loader.sampler, point.sampler
        now = feed.read_epoch(sampler)[1]
        if mark["epoch"] is not None and now != mark["epoch"] and point.batches:
            if strict:
                raise ReplayError(f"the sampler's epoch is {now}, and the state is within its epoch {mark['epoch']}: "
                                  "set the epoch of the state, or none")
            feed.write_epoch(sampler, mark["epoch"])
        fresh.restore(mark, point.batches)
        if not strict:
            feed.write_epoch(sampler, now)

    def feed_rewind(self):
        if self.feed is not None:
            self.feed.rewind(self.loader._point.batches)

    def __iter__(self):
        return self

    def __next__(self):
        if self.finished:
            raise StopIteration
        if self.loader._run is not self:
            raise StaleIterator("a newer iterator was made, a state was loaded or the loader was closed: make a new iterator")
        before = self.loader._point, self.loader._loaded, self.delivered
        try:
            if self.engine is None or self.torn:
                self._build()
            if self.feed is not None:
                self.feed.forget(max(0, self.loader._need(self.loader._point) - 1))
            outcome = self._advance()
        except Exception:
            raise
        except BaseException:  # an interrupt: what it stopped was not delivered
            self.loader._point, self.loader._loaded, self.delivered = before
            self._tear()
            raise
        if outcome is None:
            self.finished = True
            self.loader._next_epoch(self.feed.leftover() if self.feed is not None else ())
            if not self.loader.persistent:
                self.loader._fire()
            self.engine = None
            raise StopIteration
        if outcome.kind == "error":
            raise outcome.value
        return outcome.value

    # -- beginning and beginning again -----------------------------------------------------------------------------

    def _tear(self):
        """Something stopped within a batch: all is built again from the position."""
        self.torn = True
        self.engine = None
        self.loader._fire()

    def _build(self):
        loader, point = self.loader, self.loader._point
        if self.torn:
            if loader.sampler is not None:
                marked = loader._marked()
                again = loader._new_feed(marked)
                self._enter(again, marked, strict=False)
                self.feed = again
            elif self.feed is not None:
                self.feed = loader._new_feed(point)
            if self.job.epoch != point.epoch:
                self.job = loader._job(point)  # it was named meanwhile
        self.engine = loader._hire(self.job)
        self.gen = loader._gen
        self.posted, self.drawn_all, self.local = point.batches, False, {}
        if loader.cut:
            count = loader.lanes
            marks = list(point.lanes or [LaneMark()] * count)
            self.opened = [False] * count
            self.asked = [m.ordinal + m.replay for m in marks]
            for lane, mark in enumerate(marks):
                if not mark.ended:
                    self._open(lane, mark)
            loader._point = point._replace(lanes=tuple(marks))
        if point.batches == 0:
            loader._point = loader._point._replace(length=self.job.length)
        self.torn = False

    def _open(self, lane, mark):
        items = None
        if not self.loader.stream:
            items = []
            for n in range(mark.replay):
                item = self.feed.item((mark.ordinal + n) * self.loader.lanes + lane)
                items.append(None if item[0] == "error" else item)
        self.engine.post((self.gen, "open", lane), ("open", lane, mark, items))

    def _lost(self, lanes):
        """The lanes' worker died and was replaced: they are opened again, at their place in what was delivered."""
        for lane in lanes:
            mark = self.loader._point.lanes[lane]
            made = mark.ordinal + mark.replay
            asked = self.asked[lane]
            if mark.ended:
                continue
            self.engine.forget_lane(lane, [(self.gen, "open", lane)] + [(self.gen, "step", lane, o) for o in range(made, asked)])
            self.opened[lane] = False
            self._open(lane, mark)
            for ordinal in range(made, asked):
                self._step(lane, ordinal)

    def _depth(self):
        return self.loader.prefetch * self.loader.workers if self.engine.parallel else 1

    # -- batches ---------------------------------------------------------------------------------------------------

    def _advance(self):
        """The next outcome that the caller gets, or None at the end."""
        if not self.loader.cut:
            return self._advance_batches()
        return self._advance_stream() if self.loader.stream else self._advance_lanes()

    def _deal(self, post):
        """Posts items until enough are in flight."""
        while not self.drawn_all and self.posted < self.loader._point.batches + self._depth():
            item = self.feed.item(self.posted)
            if item is None:
                self.drawn_all = True
            else:
                post(self.posted, item)
                self.posted += 1

    def _wait(self, key):
        outcome = self.engine.wait(key, self._lost)
        if outcome.kind == "torn":
            self._tear()
            raise outcome.value
        return outcome

    def _commit(self, outcome, lanes=None, turn=0):
        loader = self.loader
        point = loader._point._replace(batches=loader._point.batches + 1, lanes=lanes, turn=turn, sampler=None)
        loader._point = point
        loader._loaded = False
        self.delivered += 1
        return outcome

    def _advance_batches(self):
        def post(index, item):
            if item[0] == "error":
                self.local[index] = item[1]
            else:
                self.engine.post((self.gen, index), ("batch", index, item))

        self._deal(post)
        k = self.loader._point.batches
        if k >= self.posted:
            return None
        if k in self.local:
            return self._commit(self._sampler_error(self.local.pop(k)))
        return self._commit(self._wait((self.gen, k)))

    def _sampler_error(self, e):
        return Outcome("error", e)

    def _ready(self, lane):
        """Waits until a lane is open."""
        if not self.opened[lane]:
            outcome = self._wait((self.gen, "open", lane))
            if outcome.kind == "error":
                self._tear()
                raise outcome.value
            self.opened[lane] = True

    def _mark(self, mark, outcome):
        """The lane's mark after this outcome."""
        if outcome.snap is not None:
            return LaneMark(mark.ordinal + mark.replay + 1, 0, outcome.ended, (), outcome.snap)
        errors = mark.errors + ((mark.ordinal + mark.replay,) if outcome.fetch else ())
        return LaneMark(mark.ordinal, mark.replay + 1, outcome.ended, errors, mark.snap)

    def _replaced(self, lane, mark):
        lanes = list(self.loader._point.lanes)
        lanes[lane] = mark
        return tuple(lanes)

    def _step(self, lane, ordinal):
        key = (self.gen, "step", lane, ordinal)
        if self.loader.stream:
            self.engine.lane(lane, key, ("step", lane, ordinal))
            return
        index = ordinal * self.loader.lanes + lane
        item = self.feed.item(index)
        if item[0] != "error":
            self.engine.lane(lane, key, ("step", lane, ordinal, index, item))

    def _advance_lanes(self):
        count = self.loader.lanes

        def post(index, item):
            self.asked[index % count] = index // count + 1
            self._step(index % count, index // count)

        self._deal(post)
        k = self.loader._point.batches
        if k >= self.posted:
            return None
        lane, ordinal = k % count, k // count
        item = self.feed.item(k)
        self._ready(lane)
        if item[0] == "error":
            outcome = self._sampler_error(item[1])
        else:
            outcome = self._wait((self.gen, "step", lane, ordinal))
        return self._commit(outcome, self._replaced(lane, self._mark(self.loader._point.lanes[lane], outcome)), (k + 1) % count)

    def _advance_stream(self):
        loader = self.loader
        count = loader.lanes
        each = -(-self._depth() // count)
        while True:
            point = loader._point
            if all(m.ended for m in point.lanes):
                return None
            turn = point.turn
            while point.lanes[turn].ended:
                turn = (turn + 1) % count
            for lane in range(count) if self.engine.parallel else [turn]:
                mark = point.lanes[lane]
                while not mark.ended and self.asked[lane] < mark.ordinal + mark.replay + each:
                    self._step(lane, self.asked[lane])
                    self.asked[lane] += 1
            mark = point.lanes[turn]
            self._ready(turn)
            outcome = self._wait((self.gen, "step", turn, mark.ordinal + mark.replay))
            after = (turn + 1) % count
            if outcome.kind == "end":
                loader._point = point._replace(lanes=self._replaced(turn, mark._replace(ended=True)), turn=after)
                continue
            return self._commit(outcome, self._replaced(turn, self._mark(mark, outcome)), after)
