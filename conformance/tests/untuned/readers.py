"""A small loader of streams that several readers share, in plain Python, without a known fault.

Each reader has a copy of the dataset, a share of its rows and random streams of its own, and reads
ahead of the consumer. The readers take turns, and one that has ended is skipped. They run in the
caller's thread, so that a mutant needs no processes to read ahead or to mix readers up. Every epoch
begins with fresh copies of the dataset.
"""

from __future__ import annotations

import contextlib
import copy
import random
from collections import deque
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy
from ground import base

FORMAT = "readers/1"
FRESH: dict[str, Any] = {"states": None, "at": 0, "batches": 0, "ended": False}
"""A reader from which nothing was delivered: its snapshot, the batches before that, all batches."""


class StateError(ValueError):
    """Raised for a state that this loader refuses."""


class Made:
    """A batch that a reader made: rows, an error, or neither at its end."""

    def __init__(self, rows: Any, error: Exception | None = None, states: Any = None) -> None:
        self.rows, self.error, self.states = rows, error, states


class Reader:
    """Reads one share of a stream, ahead of the consumer."""

    def __init__(self, loader: Loader, number: int, entry: dict[str, Any]) -> None:
        self.loader, self.number = loader, number
        self.data = copy.deepcopy(loader.data)
        self.data.place = (number, loader.count)
        self.ahead: deque[Made] = deque()
        self.over = entry["ended"]
        self.made = entry["at"]
        if not self.over:
            self.restore(entry)

    def restore(self, entry: dict[str, Any]) -> None:
        states = copy.deepcopy(entry["states"]) or {}
        own = hasattr(self.data, "__next__")
        if "dataset" in states and not own:
            self.data.load_state_dict(states["dataset"])
        self.rows = iter(self.data)
        if "dataset" in states and own:
            self.data.load_state_dict(states["dataset"])
        if "iterator" in states:
            self.rows.load_state_dict(states["iterator"])
        for _ in range(entry["batches"] - entry["at"]):
            self.read()

    def states(self) -> dict[str, Any]:
        parts = {"dataset": self.data, "iterator": self.rows}
        if self.rows is self.data:
            del parts["iterator"]
        return {
            name: copy.deepcopy(part.state_dict())
            for name, part in parts.items()
            if hasattr(part, "state_dict")
        }

    def read(self) -> Made:
        """Make the next batch."""
        loader, rows, error = self.loader, [], None
        with self.seeded():
            try:
                while len(rows) < loader.batch_size:
                    rows.append(next(self.rows))
            except StopIteration:
                self.over = True
            except Exception as raised:
                error = raised
        if error is None and (not rows or (loader.drop_last and len(rows) < loader.batch_size)):
            return Made(None)
        self.made += 1
        due = self.made % loader.interval == 0 and not self.over
        return Made(rows, error, (self.states() or None) if due else None)

    def next(self) -> Made:
        """Return the next batch, and keep some ahead."""
        while not self.over and len(self.ahead) < self.loader.prefetch:
            self.ahead.append(self.read())
        return self.ahead.popleft() if self.ahead else Made(None)

    @contextlib.contextmanager
    def seeded(self) -> Iterator[None]:
        """Seed the global streams for a batch, and restore the caller's afterwards."""
        kept = random.getstate(), numpy.random.get_state()
        source = self.source()
        random.seed(source.getrandbits(64))
        numpy.random.seed(source.getrandbits(32))
        try:
            yield
        finally:
            random.setstate(kept[0])
            numpy.random.set_state(kept[1])

    def source(self) -> random.Random:
        loader = self.loader
        return random.Random(f"{loader.seed}/{loader.epoch}/{self.number}/{self.made}")


class Loader:
    """Delivers batches of rows, from each reader in turn."""

    reader = Reader

    def __init__(
        self,
        data: Any,
        *,
        batch_size: int,
        drop_last: bool = False,
        seed: int = 0,
        readers: int = 0,
        prefetch: int = 2,
        interval: int = 1,
    ) -> None:
        self.data, self.batch_size, self.drop_last, self.seed = data, batch_size, drop_last, seed
        self.count, self.prefetch, self.interval = max(1, readers), prefetch, interval
        self.epoch = self.turn = 0
        self.entries = self.fresh()
        self.moved = False
        self.live: Epoch | None = None

    def fresh(self) -> list[dict[str, Any]]:
        return [dict(FRESH) for _ in range(self.count)]

    def __iter__(self) -> Epoch:
        if self.moved:
            self.next_epoch()
        self.stop()
        self.live = Epoch(self)
        return self.live

    def next_epoch(self) -> None:
        self.epoch, self.turn, self.entries = self.epoch + 1, 0, self.fresh()
        self.moved = False

    def stop(self) -> None:
        if self.live is not None and self.live.over is None:
            self.live.over = RuntimeError("a state was loaded or a newer iterator begun")
        self.live = None

    close = stop

    def delivered(self, number: int, made: Made) -> None:
        """Note that a batch of a reader is delivered."""
        entry = self.entries[number]
        entry["batches"] += 1
        self.moved = True
        if made.states is not None:
            entry["states"], entry["at"] = made.states, entry["batches"]

    def plan(self) -> dict[str, Any]:
        return {
            "readers": self.count,
            "batch_size": self.batch_size,
            "drop_last": self.drop_last,
            "seed": self.seed,
        }

    def state(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "plan": self.plan(),
            "epoch": self.epoch,
            "turn": self.turn,
            "entries": copy.deepcopy(self.entries),
        }

    def load(self, state: Any) -> None:
        self.check(state)
        state = copy.deepcopy(state)
        self.stop()
        self.epoch, self.turn, self.moved = state["epoch"], state["turn"], False
        self.entries = state["entries"]

    def check(self, state: Any) -> None:
        """Raise StateError unless ``state`` belongs to this loader and this plan."""
        if not isinstance(state, dict) or set(state) != set(self.state()):
            raise StateError(f"not a state of this loader: {state!r}")
        if state["format"] != FORMAT or not isinstance(state["plan"], dict):
            raise StateError(f"not of format {FORMAT}: {state['format']!r}")
        here = self.plan()
        if {**here, **state["plan"]} != here or set(here) != set(state["plan"]):
            raise StateError(f"of another plan: {state['plan']!r}, not {here!r}")
        counts = [state["epoch"], state["turn"]]
        entries = state["entries"]
        if not isinstance(entries, list) or len(entries) != self.count:
            raise StateError(f"not the readers of this loader: {entries!r}")
        for entry in entries:
            if not isinstance(entry, dict) or set(entry) != set(FRESH):
                raise StateError(f"not a reader: {entry!r}")
            counts += [entry["at"], entry["batches"], entry["batches"] - entry["at"]]
            if entry["at"] and not isinstance(entry["states"], dict):
                raise StateError(f"a reader without its snapshot: {entry!r}")
            if entry["at"] and set(entry["states"]) != set(self.parts()):
                raise StateError(f"a snapshot of other objects: {entry!r}")
        if any(type(count) is not int or count < 0 for count in counts):
            raise StateError(f"not counts: {counts!r}")

    def parts(self) -> list[str]:
        """Return the objects that have a state."""
        if not hasattr(self.data, "state_parts"):
            return []
        return list(self.data.state_parts)


class Epoch:
    """The iterator of one epoch."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self.readers: list[Reader] | None = None
        self.over: BaseException | None = None

    def __iter__(self) -> Epoch:
        return self

    def __next__(self) -> Any:
        if self.over is not None:
            raise self.over
        loader = self.loader
        if self.readers is None:
            entries = enumerate(loader.entries)
            self.readers = [loader.reader(loader, number, entry) for number, entry in entries]
        while not all(entry["ended"] for entry in loader.entries):
            number = loader.turn
            loader.turn = (number + 1) % loader.count
            if loader.entries[number]["ended"]:
                continue
            made = self.readers[number].next()
            if made.rows is None:
                loader.entries[number]["ended"] = True
                continue
            loader.delivered(number, made)
            if made.error is not None:
                raise made.error
            return list(made.rows)
        self.over = StopIteration()
        loader.next_epoch()
        raise StopIteration


class Placed:
    """A dataset that knows which reader has it."""

    made: Any = None
    place = (0, 1)
    w: Any

    def source(self) -> Any:
        if self.made is None:
            self.made = self.w.source(*self.place)
        return self.made


class Iterable(Placed, base.Stream):
    """A stream."""


class Own(Placed, base.OwnStream):
    """A stream that is its own iterator."""


class StatefulIterable(Placed, base.StatefulStream):
    """A stream with a state."""

    state_parts = ("dataset",)


class StatefulOwn(Placed, base.StatefulOwnStream):
    """A stream with a state that is its own iterator."""

    state_parts = ("dataset",)


class IteratorState(Placed, base.StatefulIterator):
    """A stream whose iterator has the state."""

    state_parts = ("iterator",)

    def __iter__(self) -> Any:
        self.w.note("iter")
        return self.w.iterator(*self.place)


class BothStates(Placed, base.StatefulBoth):
    """A stream that has a state beside its iterator's."""

    state_parts = ("dataset", "iterator")

    def __iter__(self) -> Any:
        self.w.note("iter")
        return self.w.iterator(*self.place, dataset=self)


DATA = {
    "iterable": Iterable,
    "stream": Iterable,
    "own iterator": Own,
    "stateful_iterable": StatefulIterable,
    "stateful stream": StatefulIterable,
    "stateful own iterator": StatefulOwn,
    "iterator state": IteratorState,
    "both states": BothStates,
}


class Adapter:
    """Offers streams under any number of readers."""

    loader: type[Loader] = Loader
    changes: ClassVar[dict[str, Any]] = {}
    loader_here = True

    def offer(self) -> dict[str, Any]:
        return {
            "name": "readers",
            "kinds": ("iterable", "stateful_iterable"),
            "workers": (0, 1, 2, 3),
            "draws": ("python", "numpy", "private python", "private numpy"),
            "codecs": ("pickle", "json"),
            "shuffles": (False,),
            "tails": ("keep", "drop"),
            "intervals": (1, 2, 3, 100),
            "live_load": "raises",
            "extras": ("streams", "trees", "iterator state", "beside", "asked again"),
            **self.changes,
        }

    def declines(self, w: Any, x: Any) -> str | None:
        if w.die_at is not None:
            return "the readers are no processes"
        if x.prefetch is not None and not x.workers:
            return "nothing is fetched ahead inline"
        return None

    def prepare(self, w: Any, root: str) -> None:
        pass

    def open(self, w: Any, x: Any, root: str) -> Any:
        loader = self.loader(
            DATA[w.form](w),
            batch_size=w.batch_size,
            drop_last=w.tail == "drop",
            seed=w.seed,
            readers=x.workers,
            prefetch=2 if x.prefetch is None else x.prefetch,
            interval=x.interval,
        )
        return base.Session(loader, w)


def mutant(
    reader: type[Reader] = Reader, loader: type[Loader] = Loader, **changes: Any
) -> type[Adapter]:
    """Return an adapter of a broken loader; its ``sound`` is the adapter of the sound one."""
    broken = type("Loader", (loader,), {"reader": reader})
    good = type("Adapter", (Adapter,), {"changes": changes})
    parts = {"loader": broken, "changes": changes, "sound": good}
    return type("Adapter", (Adapter,), parts)
