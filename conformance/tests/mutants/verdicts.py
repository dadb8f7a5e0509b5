"""One broken loader for each verdict and each kind of failure, as edits of the simple loader."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import base
import simple


class Refused(simple.Loader):
    """Says that it cannot resume inside an epoch."""

    def load(self, state: Any) -> None:
        self.check(state)
        if state["batches"]:
            raise simple.StateError("a state from inside an epoch cannot be resumed")
        super().load(state)


class Missing(simple.Loader):
    """Skips a batch at a resume."""

    def load(self, state: Any) -> None:
        super().load(state)
        self.batches += 1


class Repeated(simple.Loader):
    """Starts the epoch over."""

    def load(self, state: Any) -> None:
        super().load(state)
        self.batches = 0


class Reordered(simple.Loader):
    """Delivers the samples of a batch in another order after a resume."""

    loaded = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.loaded = True

    def order(self, epoch: int) -> list[list[int]]:
        batches = super().order(epoch)
        return [batch[::-1] for batch in batches] if self.loaded else batches


class Extra(simple.Loader):
    """Delivers a sample that its dataset does not have."""

    def indices(self, epoch: int) -> list[int]:
        return [*super().indices(epoch), len(self.data)]


class Values(simple.Loader):
    """Draws other numbers after a resume."""

    life = 0

    def load(self, state: Any) -> None:
        super().load(state)
        self.life = 1

    def own_source(self, epoch: int, i: int) -> Any:
        return random.Random(f"{self.seed}/{epoch}/{i}/{self.life}").random


class Different(simple.Loader):
    """Leaves the rest of an epoch out and begins the next."""

    def load(self, state: Any) -> None:
        super().load(state)
        self.next_epoch()


class Ignored(simple.Loader):
    """Drops a state that is loaded while it iterates."""

    def load(self, state: Any) -> None:
        if self.live is None or self.live.over is not None:
            super().load(state)


class Swallowed(simple.Loader):
    """Takes an error for the end of the epoch."""

    def access(self, done: int) -> Iterator[simple.Answer]:
        return itertools.takewhile(lambda answer: answer[0] is None, super().access(done))


class Crash(simple.Loader):
    """Dies when it loads."""

    def load(self, state: Any) -> None:
        os._exit(3)


class Hang(simple.Loader):
    """Waits for ever when it loads."""

    def load(self, state: Any) -> None:
        threading.Event().wait()


class LateError(simple.Loader):
    """Finds out after a batch that it cannot resume."""

    resumed_at: int | None = None

    def load(self, state: Any) -> None:
        super().load(state)
        self.resumed_at = self.batches

    def advance(self) -> None:
        super().advance()
        if self.resumed_at is not None and self.batches > self.resumed_at + 1:
            raise simple.StateError("the state does not fit after all")


class BareError(simple.Loader):
    """Trips over its own state."""

    def load(self, state: Any) -> None:
        {}["epoch"]


class OtherError(simple.Loader):
    """Tells of another error than the dataset's."""

    def attempt(self, epoch: int, k: int, indices: list[int]) -> simple.Answer:
        error, batch = super().attempt(epoch, k, indices)
        return (OSError("a worker is gone") if error else None), batch


class Codec(simple.Loader):
    """Has a state that cannot be encoded."""

    def state(self) -> dict[str, Any]:
        return {**super().state(), "source": lambda: None}


class Save(simple.Loader):
    """Cannot be saved inside an epoch, without having said so."""

    def state(self) -> dict[str, Any]:
        if self.moved:
            raise simple.StateError("not now")
        return super().state()


class Cost(simple.Loader):
    """Lists in its state what it has delivered."""

    def state(self) -> dict[str, Any]:
        return {**super().state(), "delivered": list(range(self.batches * self.batch_size))}


class Leftover(simple.Loader):
    """Leaves a process behind."""

    def close(self) -> None:
        super().close()
        subprocess.Popen(["sleep", "1000"])


class Close(simple.Loader):
    """Cannot be closed."""

    def close(self) -> None:
        raise OSError("it was closed already")


class Refusal(simple.Loader):
    """Refuses a state when it is iterated, because the caller's object has changed."""

    given: Any = None

    def load(self, state: Any) -> None:
        super().load(state)
        self.given = state

    def __iter__(self) -> simple.Epoch:
        given, self.given = self.given, None
        if given is not None:
            self.check(given)
        return super().__iter__()


class Cell(simple.Loader):
    """Does not take datasets of seven samples."""

    def __init__(self, data: Any, **options: Any) -> None:
        super().__init__(data, **options)
        if len(data) == 7:
            raise ValueError("seven samples are too few for two and too many for one")


class Unstable(simple.Loader):
    """Skips a batch at its first resume ever, and never again."""

    once: Path

    def load(self, state: Any) -> None:
        super().load(state)
        if not self.once.exists():
            self.once.touch()
            self.batches += 1


class Adapter(base.Adapter):
    """Reaches one of them."""

    def __init__(self, loader: type[simple.Loader] = simple.Loader) -> None:
        self.loader = loader

    def prepare(self, w: Any, root: str) -> None:
        Path(root, "data").touch()

    def open(self, w: Any, x: Any, root: str) -> base.Session:
        session = super().open(w, x, root)
        session.loader.once = Path(root, "once")
        return session


class SlipOfTheAdapter(Adapter):
    """Its author made a mistake."""

    loader_here = False

    def open(self, w: Any, x: Any, root: str) -> base.Session:
        raise TypeError("a slip of the adapter's author")


class DiskIsFull(Adapter):
    """Cannot write what a workload needs."""

    def prepare(self, w: Any, root: str) -> None:
        raise OSError("no space left on the device")


class NoSuchCell(Adapter):
    """Declines what it is asked for."""

    def declines(self, w: Any, x: Any) -> str | None:
        return "not today"


passes = Adapter()
refused = Adapter(Refused)
missing = Adapter(Missing)
repeated = Adapter(Repeated)
reordered = Adapter(Reordered)
extra = Adapter(Extra)
values = Adapter(Values)
different = Adapter(Different)
ignored = Adapter(Ignored)
swallowed = Adapter(Swallowed)
crash = Adapter(Crash)
hang = Adapter(Hang)
late_error = Adapter(LateError)
bare_error = Adapter(BareError)
other_error = Adapter(OtherError)
codec = Adapter(Codec)
save = Adapter(Save)
cost = Adapter(Cost)
leftover = Adapter(Leftover)
close = Adapter(Close)
refusal = Adapter(Refusal)
cell = Adapter(Cell)
unstable = Adapter(Unstable)
slip_of_the_adapter = SlipOfTheAdapter()
disk_is_full = DiskIsFull()
no_such_cell = NoSuchCell()
