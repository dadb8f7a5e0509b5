"""A loader of its own that reads ahead in a thread, which waits until there is room.

If the epoch is left with more than 64 batches to come, nobody takes them, and the thread stays.
"""

import random
from collections.abc import Callable, Iterator
from queue import Queue
from threading import Thread
from typing import Any

FAMILY = "faults"
BREAKS = ("FAULT-7",)

DEPTH = 64
"""Batches that are made ahead."""


class Loader:
    """Batches of a map-style dataset: one process, no workers."""

    def __init__(
        self, row: Callable[[int], Any], n: int, batch_size: int, shuffle: bool, seed: int
    ) -> None:
        self.row, self.n, self.size, self.shuffle, self.seed = row, n, batch_size, shuffle, seed
        self.epoch, self.batch, self.begun, self.loads = 0, 0, False, 0

    def plan(self) -> dict[str, Any]:
        return {"n": self.n, "size": self.size, "shuffle": self.shuffle, "seed": self.seed}

    def order(self) -> list[int]:
        order = list(range(self.n))
        if self.shuffle:
            random.Random(f"{self.seed}/{self.epoch}").shuffle(order)
        return order

    def __iter__(self) -> Iterator[list[Any]]:
        if self.begun:
            self.epoch, self.batch, self.begun = self.epoch + 1, 0, False
        return Batches(self)

    def state_dict(self) -> dict[str, Any]:
        return {"plan": self.plan(), "epoch": self.epoch, "batch": self.batch}

    def load_state_dict(self, state: Any) -> None:
        if not isinstance(state, dict) or set(state) != set(self.state_dict()):
            raise ValueError("this is no state of the loader")
        if state["plan"] != self.plan():
            raise ValueError(f"the state is of {state['plan']}, the loader of {self.plan()}")
        self.epoch, self.begun, self.loads = state["epoch"], False, self.loads + 1
        self.batch = state["batch"]


def read(loader: Any, keys: list[list[int]], made: Queue[Any]) -> None:
    """Make batches ahead of the consumer, and an error in the place of one."""
    for batch in keys:
        try:
            made.put((len(batch), [loader(key) for key in batch]))
        except Exception as error:
            made.put((0, error))
        except BaseException as error:
            made.put((-1, error))
            return
    made.put(None)


class Batches(Iterator[list[Any]]):
    """The rest of an epoch."""

    def __init__(self, loader: Loader) -> None:
        self.loader, self.order, self.loads = loader, loader.order(), loader.loads
        self.over = False
        self.begin()

    def begin(self) -> None:
        """Read from the loader's place on."""
        loader = self.loader
        starts = range(loader.batch * loader.size, loader.n, loader.size)
        keys = [self.order[start : start + loader.size] for start in starts]
        self.made: Queue[Any] = Queue(DEPTH)
        Thread(target=read, args=(loader.row, keys, self.made), daemon=True).start()

    def __next__(self) -> list[Any]:
        loader = self.loader
        if self.over:
            raise StopIteration
        if self.loads != loader.loads:
            raise RuntimeError("a state was loaded after this iterator was made")
        made = self.made.get()
        if made is None:
            loader.epoch, loader.batch, loader.begun = loader.epoch + 1, 0, False
            self.over = True
            raise StopIteration
        count, rows = made
        if count < 0:  # an interrupt: the batch is not delivered
            self.begin()
            raise rows
        loader.batch, loader.begun = loader.batch + 1, True
        if isinstance(rows, StopIteration):
            raise RuntimeError("the dataset raised StopIteration") from rows
        if not count:
            raise rows
        return rows  # type: ignore[no-any-return]


def shows(play: Any) -> Any:
    from threading import active_count

    loader = Loader(int, 200, 2, True, 1)
    before = active_count()
    for _ in range(4):
        batches = iter(loader)
        next(batches)
        loader.load_state_dict(loader.state_dict())
    return active_count() - before > 2, False


class Session:
    """A loader of a workload."""

    def __init__(self, w: Any) -> None:
        self.loader = Loader(w.row, w.n, w.batch_size, w.shuffle, w.seed)
        self.epoch, self.state = self.loader.__iter__, self.loader.state_dict
        self.load = self.loader.load_state_dict

    def close(self) -> None:
        self.__dict__.clear()


class Adapter:
    """Offers the loader."""

    def offer(self) -> dict[str, Any]:
        return {"name": "reads in a thread", "workers": (0,), "fixed_plan": ("map",)}

    def declines(self, w: Any, x: Any) -> str | None:
        return "no batches without a size" if not w.batch_size else None

    def prepare(self, w: Any, root: Any) -> None:
        pass

    def open(self, w: Any, x: Any, root: Any) -> Session:
        return Session(w)
