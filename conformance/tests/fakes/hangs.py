"""Loaders of a user's own that stand still, work without an end, or are only slow."""

from __future__ import annotations

import multiprocessing
import threading
import time
from pathlib import Path
from typing import Any


class Batches(list[Any]):
    """Batches with a state that says nothing: each life begins at the first one."""

    def __iter__(self) -> Any:
        for number in range(4):
            self.before(number)
            yield [number]

    def before(self, number: int) -> None:
        """Do what the class is named for."""

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.loaded()

    def loaded(self) -> None:
        """Do so when a state is loaded."""


class Waits(Batches):
    def loaded(self) -> None:
        threading.Event().wait()  # the user's line


class WaitsForItsWorker(Batches):
    def loaded(self) -> None:
        worker = multiprocessing.get_context("fork").Process(target=stand_still, daemon=True)
        worker.start()
        worker.join()


def stand_still() -> None:
    time.sleep(100_000)  # the worker's line


class Works(Batches):
    def loaded(self) -> None:
        while True:
            pass


class StartsSlowly(Batches):
    def loaded(self) -> None:
        time.sleep(1.2)


def waits(num_workers: int) -> Any:
    return Waits()


def waits_for_its_worker(num_workers: int) -> Any:
    return WaitsForItsWorker()


def works(num_workers: int) -> Any:
    return Works()


def starts_slowly(num_workers: int) -> Any:
    return StartsSlowly()


def stands(marker: str) -> None:
    """Stand still for ever, once ``marker`` is there."""
    threading.Event().wait(Path(marker).touch())  # where the worker stands


def never_built(num_workers: int) -> Any:
    threading.Event().wait()  # where building stands
