"""Loaders that are wrong, each in one way, and their adapters."""

from __future__ import annotations

import multiprocessing
import os
import random
import threading
import time
from typing import Any


class Loader:
    """Without a known fault."""

    def build(self, w: Any, workers: int = 0) -> None:
        self.w, self.workers = w, workers
        self.epoch, self.done, self.live = 0, 0, 0

    def __iter__(self) -> Any:
        self.live += 1
        mine = self.live
        if self.done and self.started:
            self.next_epoch()
        self.started = True
        while True:
            start = self.done * self.w.batch_size
            if start >= self.w.n:
                break
            rows = self.rows(range(start, min(start + self.w.batch_size, self.w.n)))
            if mine != self.live:
                raise RuntimeError("another state was loaded")
            self.done += 1
            yield rows
        self.next_epoch()
        self.started = False

    started = False

    def next_epoch(self) -> None:
        self.epoch, self.done = self.epoch + 1, 0

    def rows(self, ids: Any) -> Any:
        try:
            return [self.row(i) for i in ids]
        except StopIteration as error:
            raise RuntimeError("StopIteration in a sample") from error

    def row(self, i: int) -> Any:
        return self.w.row(i)

    def state(self) -> Any:
        return {"epoch": self.epoch, "done": self.done, "size": [self.w.n, self.w.batch_size]}

    def load(self, state: Any) -> None:
        size = [self.w.n, self.w.batch_size]
        if not isinstance(state, dict) or state.get("size") != size or len(state) != 3:
            raise ValueError(f"no state of this plan: {state}")
        self.epoch, self.done, self.live = state["epoch"], state["done"], self.live + 1
        self.started = False

    def close(self) -> None:
        pass


class ForgetsLoader(Loader):
    def load(self, state: Any) -> None:
        super().load(state)
        self.done = 0


class RefusesLoader(Loader):
    """Keeps the loaded state itself."""

    def load(self, state: Any) -> None:
        super().load(state)
        self.loaded = state

    def __iter__(self) -> Any:
        loaded = getattr(self, "loaded", None)
        if loaded is not None and loaded["done"] != self.done and not self.started:
            raise RuntimeError("the state is not what it was")
        self.loaded = None
        return super().__iter__()


class SharesLoader(Loader):
    """Hands out its own position."""

    def build(self, w: Any, workers: int = 0) -> None:
        self.at: dict[str, Any] = {}
        super().build(w, workers)
        self.at["size"] = [w.n, w.batch_size]

    def state(self) -> Any:
        return self.at

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("epoch", "done"):
            self.at[name] = value
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name in ("epoch", "done"):
            return self.at[name]
        raise AttributeError(name)


class StartsOverLoader(Loader):
    def load(self, state: Any) -> None:
        known = isinstance(state, dict)
        self.done = state.get("done", 0) if known else 0


class BreaksLoader(Loader):
    def load(self, state: Any) -> None:
        self.done += 1
        super().load(state)


class IgnoresLoader(Loader):
    def load(self, state: Any) -> None:
        if not self.started:
            super().load(state)


class SwallowsLoader(Loader):
    def rows(self, ids: Any) -> Any:
        try:
            return [self.row(i) for i in ids]
        except (RuntimeError, StopIteration):
            self.done = self.w.n
            return []


class HangsLoader(Loader):
    def rows(self, ids: Any) -> Any:
        try:
            return super().rows(ids)
        except RuntimeError:
            threading.Event().wait()


class DiesLoader(Loader):
    def rows(self, ids: Any) -> Any:
        try:
            return super().rows(ids)
        except RuntimeError:
            os._exit(3)


class LeavesLoader(Loader):
    def close(self) -> None:
        context = multiprocessing.get_context("fork")
        context.Process(target=time.sleep, args=(1000,), daemon=True).start()


class DrawsLoader(Loader):
    def state(self) -> Any:
        random.random()
        return super().state()


class LosesLoader(Loader):
    def rows(self, ids: Any) -> Any:
        return super().rows(i for i in ids if i != 5)


class SticksLoader(Loader):
    """Goes on where an epoch was broken off."""

    def next_epoch(self) -> None:
        if not self.started or self.done * self.w.batch_size >= self.w.n:
            super().next_epoch()


class GrowsLoader(Loader):
    def state(self) -> Any:
        return {**super().state(), "history": list(range(self.done))}


class TurnsLoader(Loader):
    """Shows in its batches that it has workers."""

    def rows(self, ids: Any) -> Any:
        return super().rows(reversed(ids) if self.workers else ids)


class TurnsLaterLoader(TurnsLoader):
    """Shows it from the second epoch on."""

    def rows(self, ids: Any) -> Any:
        return super().rows(ids) if self.epoch else Loader.rows(self, ids)


class RepeatsLoader(Loader):
    def row(self, i: int) -> Any:
        random.seed(i)
        return super().row(i)


class Adapter:
    """Reaches one of the loaders."""

    loader_here = True

    def __init__(self, loader: Any = Loader) -> None:
        self.loader = loader

    def offer(self) -> dict[str, Any]:
        return {"name": "lies", "codecs": ("pickle", "json"), "workers": (0, 1)}

    def declines(self, w: Any, x: Any) -> str | None:
        return None

    def prepare(self, w: Any, root: str) -> None:
        pass

    def open(self, w: Any, x: Any, root: str) -> Session:
        loader = self.loader()
        loader.build(w, x.workers)
        return Session(loader)


class Session:
    """One life of a loader."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader
        self.state, self.load, self.close = loader.state, loader.load, loader.close

    def epoch(self) -> Any:
        return iter(self.loader)


Forgets = Adapter(ForgetsLoader)
Refuses = Adapter(RefusesLoader)
Shares = Adapter(SharesLoader)
StartsOver = Adapter(StartsOverLoader)
Breaks = Adapter(BreaksLoader)
Ignores = Adapter(IgnoresLoader)
Swallows = Adapter(SwallowsLoader)
Hangs = Adapter(HangsLoader)
Dies = Adapter(DiesLoader)
Leaves = Adapter(LeavesLoader)
Draws = Adapter(DrawsLoader)
Loses = Adapter(LosesLoader)
Sticks = Adapter(SticksLoader)
Grows = Adapter(GrowsLoader)
Repeats = Adapter(RepeatsLoader)
Turns = Adapter(TurnsLoader)
TurnsLater = Adapter(TurnsLaterLoader)
Honest = Adapter()
