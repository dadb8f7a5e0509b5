"""A loader of its own that adopts a state's seed, and keeps the order of the epoch it is in.

A used loader of another seed, which loads a state of the same epoch, goes on in its own order.
"""

import random
from collections.abc import Callable, Iterator
from typing import Any

FAMILY = "plans"
BREAKS = ("RESUME-6", "REFUSE-3", "RESUME-7")


class Loader:
    """Batches of a map-style dataset: one process, no workers."""

    def __init__(
        self, row: Callable[[int], Any], n: int, batch_size: int, shuffle: bool, seed: int
    ) -> None:
        self.row, self.n, self.size, self.shuffle, self.seed = row, n, batch_size, shuffle, seed
        self.epoch, self.batch, self.begun, self.loads = 0, 0, False, 0
        self.known: tuple[int, list[int]] = -1, []

    def plan(self) -> dict[str, Any]:
        return {"n": self.n, "size": self.size, "shuffle": self.shuffle, "seed": self.seed}

    def order(self) -> list[int]:
        if self.known[0] != self.epoch:
            order = list(range(self.n))
            if self.shuffle:
                random.Random(f"{self.seed}/{self.epoch}").shuffle(order)
            self.known = self.epoch, order
        return self.known[1]

    def __iter__(self) -> Iterator[list[Any]]:
        if self.begun:
            self.epoch, self.batch, self.begun = self.epoch + 1, 0, False
        return Batches(self)

    def state_dict(self) -> dict[str, Any]:
        return {"plan": self.plan(), "epoch": self.epoch, "batch": self.batch}

    def load_state_dict(self, state: Any) -> None:
        if not isinstance(state, dict) or set(state) != set(self.state_dict()):
            raise ValueError("this is no state of the loader")
        if not isinstance(state["plan"], dict) or "seed" not in state["plan"]:
            raise ValueError("the state's plan has no seed")
        if {**state["plan"], "seed": self.seed} != self.plan():
            raise ValueError(f"the state is of {state['plan']}, the loader of {self.plan()}")
        self.epoch, self.begun, self.loads = state["epoch"], False, self.loads + 1
        self.batch, self.seed = state["batch"], state["plan"]["seed"]


class Batches(Iterator[list[Any]]):
    """The rest of an epoch."""

    def __init__(self, loader: Loader) -> None:
        self.loader, self.order, self.loads = loader, loader.order(), loader.loads
        self.over = False

    def __next__(self) -> list[Any]:
        loader = self.loader
        if self.over:
            raise StopIteration
        if self.loads != loader.loads:
            raise RuntimeError("a state was loaded after this iterator was made")
        start = loader.batch * loader.size
        keys = self.order[start : start + loader.size]
        if not keys:
            loader.epoch, loader.batch, loader.begun = loader.epoch + 1, 0, False
            self.over = True
            raise StopIteration
        try:
            rows = [loader.row(key) for key in keys]
        except Exception as error:
            loader.batch, loader.begun = loader.batch + 1, True
            if isinstance(error, StopIteration):
                raise RuntimeError("the dataset raised StopIteration") from error
            raise
        loader.batch, loader.begun = loader.batch + 1, True
        return rows


def shows(play: Any) -> Any:
    saving, used, fresh = (Loader(int, 12, 4, True, seed) for seed in (1, 2, 2))
    next(iter(saving))
    next(iter(used))
    for loader in (used, fresh):
        loader.load_state_dict(saving.state_dict())
    return list(used), list(fresh)


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
        return {"name": "keeps an order", "workers": (0,), "fixed_plan": ("map",)}

    def declines(self, w: Any, x: Any) -> str | None:
        return "no batches without a size" if not w.batch_size else None

    def prepare(self, w: Any, root: Any) -> None:
        pass

    def open(self, w: Any, x: Any, root: Any) -> Session:
        return Session(w)
