"""The adapter of the simple loader; a mutant's adapter is this one with another ``loader``."""

from __future__ import annotations

from typing import Any

import simple


class Rows:
    """A random-access dataset."""

    def __init__(self, w: Any) -> None:
        self.w = w
        self.row = w.row

    def __len__(self) -> int:
        return int(self.w.n)


class Stream:
    """A stream."""

    def __init__(self, w: Any) -> None:
        self.w = w
        self.position = 0

    def __iter__(self) -> Any:
        self.w.note("iter")
        self.position = 0
        return self.rows()

    def rows(self) -> Any:
        while self.position < self.w.n:
            self.position += 1
            yield self.w.row(self.position - 1)


class StatefulStream(Stream):
    """A stream with a state; an iteration after a load goes on from there, once."""

    loaded: int | None = None

    def __iter__(self) -> Any:
        rows = super().__iter__()
        self.position, self.loaded = self.loaded or 0, None
        return rows

    def state_dict(self) -> Any:
        return self.w.dataset_state(self.position if self.loaded is None else self.loaded)

    def load_state_dict(self, state: Any) -> None:
        self.loaded = self.w.dataset_position(state)


class Session:
    """One life of the loader."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def epoch(self) -> Any:
        return iter(self.loader)

    def state(self) -> Any:
        return self.loader.state()

    def load(self, state: Any) -> None:
        self.loader.load(state)

    def close(self) -> None:
        self.loader.close()


class Adapter:
    """Offers all that the simple loader can."""

    loader = simple.Loader
    loader_here = True

    def offer(self) -> dict[str, Any]:
        return {
            "name": "simple",
            "kinds": ("map", "iterable", "stateful_iterable"),
            "workers": (0, 1, 2, 3),
            "draws": ("own", "python", "numpy"),
            "codecs": ("pickle", "json"),
            "fixed_plan": ("map",),
            "tails": ("keep", "drop"),
            "intervals": (1, 2, 3, 100),
            "live_load": "raises",
        }

    def declines(self, w: Any, x: Any) -> str | None:
        if w.kind != "map" and (x.workers or w.shuffle or "own" in w.draws):
            return "a stream is read inline, in its own order, and has no source of its own"
        if x.prefetch is not None and not x.workers:
            return "nothing is fetched ahead inline"
        return None

    def prepare(self, w: Any, root: str) -> None:
        pass

    def open(self, w: Any, x: Any, root: str) -> Session:
        data = {"map": Rows, "iterable": Stream, "stateful_iterable": StatefulStream}[w.kind](w)
        return Session(
            self.loader(
                data,
                batch_size=w.batch_size,
                shuffle=w.shuffle,
                seed=w.seed,
                drop_last=w.tail == "drop",
                workers=x.workers,
                prefetch=2 if x.prefetch is None else x.prefetch,
                interval=x.interval,
            )
        )
