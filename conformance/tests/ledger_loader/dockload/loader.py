"""The loader, and its iterator."""
import os
import pickle
import weakref

from . import ledger as ledgers
from . import plan, seeds
from .crew import InlineCrew, ProcessCrew, ThreadCrew
from .desk import END, WAIT, FreeDesk, LaneDesk
from .errors import ReplayMismatch, StaleIterator, StateRefused, WorkerDied
from .hand import Job


def kind_of(dataset):
    """iterable, map (with a state) or free (map-style without one)."""
    if not hasattr(dataset, "__getitem__"):
        return "iterable"
    from torch.utils.data import IterableDataset
    if isinstance(dataset, IterableDataset):
        return "iterable"
    return "map" if plan.stateful(dataset) else "free"


def end_crew(holder):
    crew = holder.pop("crew", None)
    if crew is not None and holder["pid"] == os.getpid():  # a forked process has a copy of its own
        crew.close()


class Loader:
    """Iterates a dataset in batches; see the package for how.

    order: "sequential" or "shuffle", where no `sampler` (keys) or `batch_sampler` (lists of keys) is given.
    mix: a stream is shuffled in blocks of so many samples of a lane.
    tail: "keep", "drop" or "rollover".  collate: batch of rows -> value.  setup: f(dataset, lane, lanes), for each copy.
    workers, kind ("process" or "thread"), start_method, persistent, prefetch (tickets for each hand), restarts,
    snapshot_every, in_order, skip_empty_rest: how batches are made; no state records it.
    lanes: how many lanes (default: as many as workers, at least one, or those of a loaded state).
    ranks: "shared" (batch_size is that of all), "dealt" (lanes), "split" (each rank has its part of the order, or of the
    lanes).  recut: a state of another batch size may be loaded, for shared ranks.  data: a text that identifies the data.
    """

    def __init__(self, dataset, batch_size=1, *, order="sequential", sampler=None, batch_sampler=None, seed=None,
                 tail="keep", collate=None, setup=None, workers=0, kind="process", start_method="fork",
                 persistent=False, prefetch=None, restarts=0, snapshot_every=1, in_order=True, skip_empty_rest=False,
                 mix=64, lanes=None, ranks=None, rank=0, world=1, recut=False, data=None):
        if order not in ("sequential", "shuffle") or tail not in ("keep", "drop", "rollover"):
            raise ValueError(f"there is no order {order!r} or tail {tail!r}")
        self.dataset, self.kind = dataset, kind_of(dataset)
        self.by_batches = batch_sampler is not None
        self.batch_size = None if self.by_batches else batch_size
        self.tail = tail if self.batch_size is not None else "keep"
        self.sampler, self.shuffle = batch_sampler if self.by_batches else sampler, order == "shuffle"
        if self.kind == "iterable" and (self.sampler is not None or tail == "rollover"):
            raise ValueError("a stream has no sampler and no rollover")
        self.mix = mix if self.kind == "iterable" and self.shuffle else 0
        self.given_seed, self.seed = seed, seeds.draw_root() if seed is None else int(seed)
        self.collate, self.setup, self.data = collate, setup, data
        self.workers, self.worker_kind, self.start_method = workers, kind, start_method
        self.persistent, self.prefetch, self.restarts = persistent, max(1, prefetch or 2), restarts
        self.snapshot_every, self.skip = snapshot_every, skip_empty_rest
        self.in_order = in_order or ranks in ("shared", "dealt")
        self.given_lanes, self.lanes = lanes, lanes or max(1, workers)
        self.ranks, self.rank, self.world, self.recut = ranks if world > 1 or ranks != "split" else None, rank, world, recut
        if ranks == "shared" and (self.kind != "free" or self.sampler is not None or not self.batch_size
                                  or self.batch_size % world):
            raise ValueError("shared ranks need a map-style dataset without a state, no sampler, and a batch size that "
                             "their number divides")
        if ranks == "dealt" and (self.kind == "free" or self.sampler is not None or self.tail == "rollover"
                                 or self.lanes % world):
            raise ValueError("ranks are dealt the lanes of a dataset that has some, as many to each")
        self.named = None
        self.ledger = self.fresh(0)
        self.run = None  # a weak reference to the newest iterator
        self.jobs = 0
        self.holder = {"pid": os.getpid()}
        self.finalizer = weakref.finalize(self, end_crew, self.holder)

    # -- the plan

    def own_lanes(self):
        """The numbers of the lanes of this rank, None without lanes."""
        if self.kind == "free":
            return None
        if self.ranks == "dealt":
            return range(self.rank, self.lanes, self.world)
        if self.ranks == "split" and self.kind == "iterable":
            return range(self.rank * self.lanes, (self.rank + 1) * self.lanes)
        return range(self.lanes)

    def all_lanes(self):
        return self.lanes * self.world if self.ranks == "split" and self.kind == "iterable" else self.lanes

    def fresh(self, epoch, carried=()):
        return ledgers.Ledger(epoch, self.own_lanes(), list(carried) if self.tail == "rollover" else None)

    def plan(self):
        built_in = self.kind != "iterable" and self.sampler is None
        name = None if self.sampler is None else type(self.sampler).__qualname__
        return {"dataset": self.kind, "length": len(self.dataset) if built_in else None,
                "order": "shuffle" if self.shuffle and self.sampler is None else "given", "sampler": name,
                "by_batches": self.by_batches, "seed": str(self.seed), "batch_size": self.batch_size, "mix": self.mix,
                "tail": self.tail, "lanes": None if self.kind == "free" else self.lanes, "ranks": self.ranks,
                "data": self.data}

    def share(self):
        if self.ranks in ("dealt", "split") and self.world > 1:
            return {"rank": self.rank, "world": self.world}
        for s in plan.chain_of(self.sampler):
            rank, world = getattr(s, "rank", None), getattr(s, "num_replicas", None)
            if type(rank) is int and type(world) is int and 0 <= rank < world:
                return {"rank": rank, "world": world}
        return None

    # -- states

    def state_dict(self):
        """A value from which a loader of the same plan continues after the last batch delivered."""
        ledger = self.ledger
        start = ledger.start
        if start is None and self.sampler is not None:
            start = plan.capture(self.sampler)
        digest = ledger.digest
        if self.sampler is not None and ledger.book is not None:
            digest = ledger.book.digest(ledger.low if ledger.stands is None else ledger.batches)
        saved = self.plan()
        if ledger.batches and ledger.length is not None:
            saved["length"] = ledger.length
        return ledgers.write(ledger, saved, self.share(), start, digest)

    def load_state_dict(self, state):
        """The next iterator continues from the state; live ones raise.  A refused state changes nothing."""
        ledgers.check(state)
        own, saved = self.plan(), state["plan"]
        if self.given_seed is None:
            own["seed"] = saved["seed"]
        if self.given_lanes is None:
            own["lanes"] = saved["lanes"]
        if self.recut and self.ranks == "shared":
            own["batch_size"] = saved["batch_size"]
        if state["batches"] == 0:
            own["length"] = saved["length"] if own["length"] is not None else None
        own["share"], saved = self.share(), {**saved, "share": state["share"]}
        if self.ranks == "dealt" and saved["share"] is None:
            own["share"] = None
        if own != saved:
            raise StateRefused("the state is of another plan: " + "; ".join(
                f"{k} was {saved.get(k)!r} and is {own.get(k)!r}" for k in sorted(own.keys() | saved.keys())
                if own.get(k) != saved.get(k)))
        if self.ranks == "dealt" and own["lanes"] % self.world:
            raise StateRefused(f"{self.world} ranks cannot be dealt the {own['lanes']} lanes of the state")
        read = ledgers.read(state)
        self.abandon()
        self.seed, self.named = int(saved["seed"]), None
        self.lanes = saved["lanes"] or self.lanes
        if self.ranks == "dealt" and state["share"] is None:
            read.stands = {lane: read.stands[lane] for lane in self.own_lanes()}
            read.samples = sum(s.samples for s in read.stands.values())
        self.ledger, self.run = read, None

    def set_epoch(self, epoch):
        """Names the epoch that comes next: this one if nothing of it was delivered, else the one after it."""
        if self.sampler is not None and hasattr(self.sampler, "set_epoch"):
            self.sampler.set_epoch(epoch)
        elif self.ledger.batches:
            self.named = epoch
        elif epoch > self.ledger.epoch:
            self.abandon()
            self.ledger = self.fresh(epoch, self.ledger.carried or ())

    # -- iterating

    def __iter__(self):
        before = self.run and self.run()
        if self.ledger.opened:
            self.abandon()
            self.advance(())
        elif before is not None:
            before.drop()
        run = Run(self)
        self.run = weakref.ref(run)
        return run

    def __len__(self):
        if self.kind == "iterable" or self.sampler is not None:
            raise TypeError("the number of batches is not known in advance")
        n, size = len(self.dataset), self.batch_size or 1
        return -(-n // size) if self.tail == "keep" else n // size

    def advance(self, carried):
        """The next epoch is the ledger's."""
        epoch = max(self.ledger.epoch + 1, self.named or 0)
        self.named = None
        self.ledger = self.fresh(epoch, carried)

    def abandon(self):
        """What is being made is not wanted any more."""
        run = self.run and self.run()
        if run is not None:
            run.drop()
        if not self.persistent:
            end_crew(self.holder)

    def crew(self):
        crew = self.holder.get("crew")
        if crew is not None and (crew.dead or not self.persistent):
            end_crew(self.holder)
            crew = None
        if crew is None:
            if not self.workers:
                crew = InlineCrew()
            elif self.worker_kind == "thread":
                crew = ThreadCrew(self.workers)
            else:
                crew = ProcessCrew(self.workers, self.start_method)
            self.holder["crew"] = crew
        return crew

    def close(self):
        """Ends the workers; a later iterator starts new ones."""
        self.abandon()
        end_crew(self.holder)


class Run:
    """The iterator of one epoch, or of the rest of one."""

    def __init__(self, loader):
        self.loader, self.ledger = loader, loader.ledger
        self.desk = self.crew = self.dead = None
        self.over = self.written = False

    def __iter__(self):
        return self

    def __next__(self):
        if self.over:
            raise StopIteration
        loader = self.loader
        if loader.run is None or loader.run() is not self:
            raise StaleIterator("a state was loaded, or another iterator made, since this one was: make a new one")
        if self.dead:
            raise WorkerDied(self.dead)
        try:
            reply = self.step()
        except StopIteration:
            raise
        except BaseException:
            self.stop()
            raise
        if reply is None:
            self.over = True
            loader.abandon()
            loader.advance(self.ledger.book.leftover)
            raise StopIteration
        if reply.kind == "interrupt":
            self.stop()
            raise reply.value
        self.ledger.opened = True
        self.desk.deliver(reply)
        if reply.kind == "error":
            raise reply.value
        return reply.value

    def step(self):
        """The reply to deliver next, None at the end of the epoch."""
        while True:
            if self.ledger is not self.loader.ledger:  # the epoch was named after this iterator was made
                self.ledger, self.written = self.loader.ledger, False
            if self.desk is None:
                self.open()
            desk = self.desk
            while True:
                desk.issue()
                found = desk.pick()
                if found is END:
                    break
                if found is not WAIT:
                    return found
                desk.issue()  # a lane may have ended meanwhile
                if desk.blocked():
                    self.died()
                for w, reply in self.crew.poll():
                    if reply is not None:
                        desk.note(w, reply)
                    elif self.loader.restarts > 0 and w in self.crew.dead:
                        self.loader.restarts -= 1
                        self.crew.replace(w)
                        desk.replaced(w)
                        self.send_job(w)
            if not (self.loader.skip and self.ledger.batches and not self.ledger.opened):
                return None
            leftover = self.ledger.book.leftover
            self.stop()
            self.loader.advance(leftover)

    def open(self):
        """Writes the book, if it is not written, and gives the crew its job."""
        loader, ledger = self.loader, self.ledger
        if not self.written:
            book = plan.write(loader, ledger)
            if loader.sampler is not None:
                reach = ledger.low if ledger.stands is None else ledger.batches
                if reach and (len(book) < reach or book.digest(reach) != ledger.digest):
                    raise ReplayMismatch("the sampler gives other keys than those that were delivered in this epoch")
            ledger.book, self.written = book, True
            ledger.length = len(loader.dataset) if loader.kind != "iterable" and loader.sampler is None else None
        crew = self.crew = loader.crew()
        if loader.kind == "free":
            self.desk = FreeDesk(crew, ledger, ledger.book, loader.prefetch, loader.in_order)
        else:
            self.desk = LaneDesk(crew, ledger, ledger.book, loader.prefetch, loader.in_order, loader.kind,
                                 loader.all_lanes())
        loader.jobs += 1
        self.desk.job_id = loader.jobs
        self.packed = pickle.dumps(loader.dataset) if crew.process or loader.kind != "free" else loader.dataset
        for w in range(crew.size):
            self.send_job(w)

    def send_job(self, w):
        loader = self.loader
        every = loader.snapshot_every and max(1, loader.snapshot_every // loader.lanes)
        whole = loader.batch_size is not None or loader.by_batches
        job = Job(loader.kind, self.packed, loader.batch_size, loader.tail, whole, loader.collate, loader.setup,
                  loader.seed, self.ledger.epoch, loader.all_lanes(), loader.mix, every,
                  loader.worker_kind == "process" or not loader.workers, self.desk.entries(w))
        self.crew.send(w, ("job", loader.jobs, job))

    def died(self):
        """The batch that comes next was a dead worker's."""
        self.dead = (f"{'; '.join(self.crew.dead.values())}, and batch {self.ledger.batches} of epoch "
                     f"{self.ledger.epoch} with it: look for what ended the process, or give restarts=")
        raise WorkerDied(self.dead)

    def stop(self):
        """Drops all that was made ahead; the next request begins from what was delivered."""
        self.desk = self.crew = None
        end_crew(self.loader.holder)

    def drop(self):
        self.desk = self.crew = None
