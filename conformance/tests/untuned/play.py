"""Plays a loader by hand, for the demonstrations of the mutants: no judge has a part in it."""

from __future__ import annotations

import dataclasses
import pickle
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.workload import Workload

__all__ = ["Life", "Play", "outcome"]

_EXECUTION = {field.name for field in dataclasses.fields(Execution)}


def outcome(function: Callable[[], Any]) -> Any:
    """Return what a function returns, or the name of the error that it raises."""
    try:
        return function()
    except Exception as error:
        return type(error).__name__


def plain(batch: Any) -> list[Any]:
    """Return a batch as lists of numbers."""
    return [row.tolist() if hasattr(row, "tolist") else list(row) for row in batch]


class Life:
    """One life of a loader."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.batches: Iterator[Any] | None = None

    def begin(self) -> Life:
        """Make an iterator."""
        self.batches = iter(self.session.epoch())
        return self

    def raw(self) -> Any:
        """Return the next batch as it is delivered."""
        if self.batches is None:
            self.begin()
        assert self.batches is not None
        return next(self.batches)

    def take(self, count: int) -> list[Any]:
        """Return the next batches; fewer at the epoch's end, which is then seen."""
        taken: list[Any] = []
        try:
            while len(taken) < count:
                taken.append(plain(self.raw()))
        except StopIteration:
            self.batches = None
        return taken

    def rest(self) -> list[Any]:
        """Return the batches up to the epoch's end, which is then seen."""
        return self.take(1 << 60)

    def tolerant(self, count: int = 1 << 60) -> list[Any]:
        """Return the next batches, with the names of errors in their places."""
        taken: list[Any] = []
        while len(taken) < count:
            try:
                taken.append(plain(self.raw()))
            except StopIteration:
                self.batches = None
                break
            except (Exception, KeyboardInterrupt) as error:
                if taken[-3:] == [type(error).__name__] * 3:
                    break
                taken.append(type(error).__name__)
        return taken

    def broken(self, count: int) -> list[Any]:
        """Return the next batches of an epoch that is then left."""
        taken = self.take(count)
        self.batches = None
        return taken

    def state(self) -> Any:
        """Return the loader's state, as it comes back from a file."""
        return pickle.loads(pickle.dumps(self.session.state()))

    def load(self, state: Any) -> Life:
        """Load a state."""
        self.batches = None
        self.session.load(state)
        return self

    def close(self) -> None:
        """Close the loader."""
        self.batches = None
        self.session.close()


class Play:
    """A workload and an execution, to be played by an adapter's loader."""

    def __init__(self, adapter: Any, *, logged: bool = False, **fields: Any) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="midepoch-play-")
        self.log = Path(self.folder.name, "log")
        execution = {name: fields.pop(name) for name in list(fields) if name in _EXECUTION}
        if logged:
            fields["log"] = str(self.log)
        self.workload, self.execution = Workload(**fields), Execution(**execution)
        declined = adapter.declines(self.workload, self.execution)
        if declined is not None:
            raise ValueError(f"the adapter does not offer this: {declined}")
        self.adapter = adapter
        self.lives: list[Life] = []
        adapter.prepare(self.workload, self.folder.name)

    def open(self, state: Any = None, **execution: Any) -> Life:
        """Return a new life of the loader, from a state if there is one."""
        changed = dataclasses.replace(self.execution, **execution)
        life = Life(self.adapter.open(self.workload, changed, self.folder.name))
        self.lives.append(life)
        return life if state is None else life.load(state)

    def whole(self, epochs: int = 1, **execution: Any) -> list[list[Any]]:
        """Return the batches of an uninterrupted run's epochs."""
        life = self.open(**execution)
        try:
            return [life.rest() for _ in range(epochs)]
        finally:
            life.close()

    def interrupt_at(self, sample: int) -> None:
        """Let a sample raise KeyboardInterrupt the first time that it is made in this process."""
        row, met = self.workload.row, list[int]()

        def interrupting(i: int, rng: Any = None) -> Any:
            if i == sample and not met:
                met.append(i)
                raise KeyboardInterrupt
            return row(i, rng)

        vars(self.workload)["row"] = interrupting

    def noted(self, word: str) -> int:
        """Return how many lines of the log begin with a word: ``fetch``, ``iter``, ..."""
        if not self.log.exists():
            return 0
        lines = self.log.read_text(encoding="ascii").splitlines()
        return sum(line.split()[1] == word for line in lines)

    def close(self) -> None:
        """Close what is open."""
        for life in self.lives:
            if life.batches is not None or hasattr(life.session, "loader"):
                life.close()
        self.folder.cleanup()
