"""The adapter of the simple loader; ``mutant`` makes a mutant's adapter of its loader."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import simple


class Rows:
    """Random access to plain lists; the user may change the length between two epochs."""

    def __init__(self, w: Any) -> None:
        self.w, self.length = w, w.n

    def __len__(self) -> int:
        return int(self.length)

    def row(self, i: int, rng: Any) -> Any:
        return self.w.row(i, rng)


class Stream:
    """A stream; the source of its rows is made at its first use."""

    made: Any = None

    def __init__(self, w: Any) -> None:
        self.w = w

    def __iter__(self) -> Any:
        self.w.note("iter")
        return iter(self.source())

    def source(self) -> Any:
        if self.made is None:
            self.made = self.w.source()
        return self.made


class OwnStream(Stream):
    """A stream that is its own iterator."""

    def __iter__(self) -> Any:
        super().__iter__()
        return self

    def __next__(self) -> Any:
        return next(self.source())


class Stateful:
    """Saves and loads the state of the source of its rows."""

    source: Any

    def state_dict(self) -> Any:
        return self.source().state_dict()

    def load_state_dict(self, state: Any) -> None:
        self.source().load_state_dict(state)


class StatefulRows(Stateful, Rows):
    """Random access to rows that depend on the rows fetched before."""

    made: Any = None
    source = Stream.source

    def row(self, i: int, rng: Any) -> Any:
        return self.source()[i]


class StatefulStream(Stateful, Stream):
    """A stream with a state."""


class StatefulOwnStream(Stateful, OwnStream):
    """A stream with a state that is its own iterator."""


class StatefulIterator(Stream):
    """A stream whose iterator has the state."""

    def __iter__(self) -> Any:
        self.w.note("iter")
        return self.w.iterator()


class StatefulBoth(Stream):
    """A stream that has a state beside its iterator's: the number of rows that it ever gave."""

    count = 0

    def __iter__(self) -> Any:
        self.w.note("iter")
        return self.w.iterator(dataset=self)

    def state_dict(self) -> Any:
        return {"count": self.count}

    def load_state_dict(self, state: Any) -> None:
        self.count = state["count"]


DATA = {
    "map": Rows,
    "stateful_map": StatefulRows,
    "iterable": Stream,
    "stream": Stream,
    "own iterator": OwnStream,
    "stateful_iterable": StatefulStream,
    "stateful stream": StatefulStream,
    "stateful own iterator": StatefulOwnStream,
    "iterator state": StatefulIterator,
    "both states": StatefulBoth,
}


class Distributed:
    """A rank's share of the samples, in the order of the epoch that the user sets."""

    def __init__(self, data: Rows, x: Any) -> None:
        self.data, self.rank, self.world, self.epoch = data, x.rank, x.world, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Any:
        indices = list(range(len(self.data)))
        if self.data.w.shuffle:
            random.Random(f"{self.data.w.seed}/{self.epoch}").shuffle(indices)
        indices += indices[: -len(indices) % self.world]
        return iter(indices[self.rank :: self.world])


class Sharing(simple.Loader):
    """One of several ranks that share each batch; streams are seeded by sample."""

    rank, world = 0, 1

    def order(self, epoch: int) -> list[list[int]]:
        batches, shares = super().order(epoch), []
        beginning = [i for batch in batches for i in batch] * self.world
        for batch in batches:
            size = -(-len(batch) // self.world)
            whole = batch + beginning[: size * self.world - len(batch)]
            shares.append(whole[self.rank * size : (self.rank + 1) * size])
        return shares

    def fetch(self, epoch: int, k: int, indices: list[int]) -> Any:
        rows = []
        for i in indices:
            with self.seeded(epoch, i):
                rows.append(self.sample(epoch, i))
        return rows


class Session:
    """One life of the loader."""

    def __init__(self, loader: Any, w: Any) -> None:
        self.loader, self.w = loader, w

    def epoch(self) -> Any:
        return iter(self.loader)

    def state(self) -> Any:
        return self.loader.state()

    def name_epoch(self, epoch: int) -> None:
        self.loader.name_epoch(epoch)

    def load(self, state: Any) -> None:
        self.loader.load(state)

    def close(self) -> None:
        self.loader.close()


class Epoch:
    """An epoch that reports its end to the session, once."""

    over = False

    def __init__(self, session: EpochSession) -> None:
        self.session, self.batches = session, iter(session.loader)

    def __iter__(self) -> Epoch:
        return self

    def __next__(self) -> Any:
        try:
            batch = next(self.batches)
        except StopIteration:
            if not self.over:
                self.session.next_epoch()
            self.over = True
            raise
        self.session.begun = True
        return batch


class Collate:
    """A user's function that draws numbers for each row of a batch."""

    def __init__(self, w: Any) -> None:
        self.w = w

    def __call__(self, rows: Any) -> Any:
        return [[*row, *self.w.drawn()] for row in rows]


def collate(w: Any) -> Any:
    """Return the user's function that makes a batch of rows."""
    if w.fails_in == "collate_fn":
        return w.collate
    return Collate(w) if w.collated else list


class EpochSession(Session):
    """A session whose user sets each epoch, and keeps its number beside the loader's state."""

    number, begun = 0, False

    def set_epoch(self) -> None:
        self.loader.data.length = self.w.length(self.number)
        if self.w.sampler == "distributed":
            self.loader.sampler.set_epoch(self.number)

    def epoch(self) -> Any:
        if self.begun:  # the user broke out of the epoch before
            self.next_epoch()
        return Epoch(self)

    def next_epoch(self) -> None:
        self.number, self.begun = self.number + 1, False
        self.set_epoch()

    def state(self) -> Any:
        return {"epoch": self.number, "loader": super().state()}

    def load(self, state: Any) -> None:
        if not isinstance(state, dict) or set(state) != {"epoch", "loader"}:
            raise ValueError(f"not a state of this session: {state!r}")
        before = self.number
        self.number = state["epoch"]
        self.set_epoch()
        try:
            super().load(state["loader"])
        except BaseException:
            self.number = before
            self.set_epoch()
            raise
        self.begun = False


class Adapter:
    """Offers everything that the simple loader can do."""

    loader: type[simple.Loader] = simple.Loader
    session: type[Session] = Session
    loader_here = True
    changes: Mapping[str, Any] = {}
    """The fields of the offer that differ from the simple loader's."""

    def offer(self) -> dict[str, Any]:
        return {
            "name": "simple",
            "kinds": ("map", "iterable", "stateful_iterable", "stateful_map"),
            "workers": (0, 1, 2, 3),
            "draws": ("own", "python", "numpy", "private python", "private numpy"),
            "codecs": ("pickle", "json"),
            "fixed_plan": ("map",),
            "orders": (True, False),
            "tails": ("keep", "drop", "rollover"),
            "intervals": (1, 2, 3, 100),
            "live_load": "raises",
            "extras": (
                "streams", "sticky streams", "trees", "iterator state", "samplers", "set_epoch",
                "growing", "arrays", "world", "shared", "restarts", "unordered states",
                "shuffled streams", "named epochs", "collating", "failing collate",
                "beside", "asked again",
            ),
            **self.changes,
        }  # fmt: skip

    def declines(self, w: Any, x: Any) -> str | None:
        if w.kind != "map" and (x.workers or "own" in w.draws):
            return "only random access has workers, and a source of random numbers"
        if w.shuffle and (w.kind == "iterable" or w.state_at != "dataset"):
            return "only the state of a dataset goes with the buffer that shuffles its stream"
        if w.collated and "own" in w.draws:
            return "a sample has the source of random numbers, not its batch"
        if x.prefetch is not None and not x.workers:
            return "nothing is fetched ahead inline"
        if w.sampler in ("random", "replacement", "subset", "weighted"):
            return "torch's samplers need torch"
        return None

    def prepare(self, w: Any, root: str) -> None:
        pass

    def open(self, w: Any, x: Any, root: str) -> Session:
        data = DATA[w.form](w)
        sampler = Distributed(data, x) if w.sampler == "distributed" else None
        kind = self.loader
        if w.ranks:
            kind = type("Shared", (Sharing, kind), {"rank": x.rank, "world": x.world})
        loader = kind(
            data,
            batch_size=w.batch_size,
            shuffle=w.shuffle,
            seed=w.seed,
            drop_last=w.tail == "drop",
            rollover=w.tail == "rollover",
            sampler=w.order() if w.sampler and sampler is None else sampler,
            workers=x.workers,
            restarts=x.restarts,
            in_order=x.in_order,
            collate=collate(w),
            prefetch=2 if x.prefetch is None else x.prefetch,
            interval=x.interval,
        )
        outside = w.grow or w.sampler == "distributed"
        return EpochSession(loader, w) if outside else self.session(loader, w)


def mutant(
    loader: type[simple.Loader] = simple.Loader,
    session: type[Session] = Session,
    **changes: Any,
) -> type[Adapter]:
    """Return the simple loader's adapter with another loader, session or offer."""
    return type("Adapter", (Adapter,), {"loader": loader, "session": session, "changes": changes})
