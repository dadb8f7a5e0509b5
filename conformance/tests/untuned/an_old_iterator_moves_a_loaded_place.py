"""A loader of its own whose loads are for the next iterator, as it documents.

The live iterator goes on. Its next batch moves the loader away from the loaded place, and the next
iteration begins another epoch.
"""

import random
from collections.abc import Callable, Iterator
from typing import Any

FAMILY = "position"
BREAKS = ("RESUME-8", "RESUME-7")


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


class Batches(Iterator[list[Any]]):
    """The rest of an epoch."""

    def __init__(self, loader: Loader) -> None:
        self.loader, self.order, self.batch = loader, loader.order(), loader.batch
        self.epoch, self.over = loader.epoch, False

    def __next__(self) -> list[Any]:
        loader = self.loader
        if self.over:
            raise StopIteration
        start = self.batch * loader.size
        keys = self.order[start : start + loader.size]
        if not keys:
            loader.epoch, loader.batch, loader.begun = self.epoch + 1, 0, False
            self.over = True
            raise StopIteration
        try:
            rows = [loader.row(key) for key in keys]
        except Exception as error:
            self.delivered()
            if isinstance(error, StopIteration):
                raise RuntimeError("the dataset raised StopIteration") from error
            raise
        self.delivered()
        return rows

    def delivered(self) -> None:
        """Let the loader stand after one more batch."""
        self.batch += 1
        self.loader.epoch, self.loader.batch, self.loader.begun = self.epoch, self.batch, True


def shows(play: Any) -> Any:
    def loader() -> Loader:
        return Loader(int, 20, 4, True, 1)

    saving, used = loader(), loader()
    whole = list(loader())
    next(iter(saving))
    batches = iter(used)
    next(batches)
    next(batches)
    used.load_state_dict(saving.state_dict())
    next(batches)
    return list(used), whole[1:]


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
        return {
            "name": "loads for the next",
            "workers": (0,),
            "fixed_plan": ("map",),
            "live_load": "next",
        }

    def declines(self, w: Any, x: Any) -> str | None:
        return "no batches without a size" if not w.batch_size else None

    def prepare(self, w: Any, root: Any) -> None:
        pass

    def open(self, w: Any, x: Any, root: Any) -> Session:
        return Session(w)
