"""A loader of its own that records samples, and rounds them down to whole batches.

A state taken after an epoch's last batch, a short one, resumes with that batch once more.
"""

import random
from collections.abc import Callable, Iterator
from typing import Any

FAMILY = "position"
BREAKS = ("EPOCH-3", "BASIS-3")


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
        samples = min(self.batch * self.size, self.n)
        return {"plan": self.plan(), "epoch": self.epoch, "samples": samples}

    def load_state_dict(self, state: Any) -> None:
        if not isinstance(state, dict) or set(state) != set(self.state_dict()):
            raise ValueError("this is no state of the loader")
        if state["plan"] != self.plan():
            raise ValueError(f"the state is of {state['plan']}, the loader of {self.plan()}")
        self.epoch, self.begun, self.loads = state["epoch"], False, self.loads + 1
        self.batch = state["samples"] // self.size


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
    def loader() -> Loader:
        return Loader(int, 10, 4, True, 1)

    saving, resumed = loader(), loader()
    batches = iter(saving)
    for _ in range(3):
        next(batches)
    resumed.load_state_dict(saving.state_dict())
    return list(resumed), list(batches)


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
        return {"name": "rounds samples down", "workers": (0,), "fixed_plan": ("map",)}

    def declines(self, w: Any, x: Any) -> str | None:
        return "no batches without a size" if not w.batch_size else None

    def prepare(self, w: Any, root: Any) -> None:
        pass

    def open(self, w: Any, x: Any, root: Any) -> Session:
        return Session(w)
