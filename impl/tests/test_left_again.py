"""Epochs that are left one after the other, some after a batch, and a state after them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest
from examples import share
from torch.utils.data import IterableDataset

from midepoch import StatefulDataLoader
from midepoch.errors import ReplayWarning

pytestmark = pytest.mark.filterwarnings(f"ignore::{ReplayWarning.__module__}.ReplayWarning")

N = 11


class Shuffled(IterableDataset[float]):
    """Each pass goes on with one generator, and begins anew when it is asked for."""

    def __init__(self) -> None:
        self.generator, self.position, self.loaded = random.Random(1), 0, False

    def __iter__(self) -> Iterator[float]:
        self.position = self.position if self.loaded else 0
        self.loaded = False
        return self.rows()

    def rows(self) -> Iterator[float]:
        while self.position < N:
            self.position += 1
            yield self.position + self.generator.random()

    def state_dict(self) -> dict[str, Any]:
        return {"position": self.position, "generator": self.generator.getstate()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.position, self.loaded = state["position"], True
        self.generator.setstate(state["generator"])


class Cursor(IterableDataset[int]):
    """A loaded place is used up when an iterator is first drawn from; some places raise."""

    place: int | None = None
    loaded: int | None = None

    def __init__(self, broken: tuple[int, ...] = ()) -> None:
        self.broken = broken

    def __iter__(self) -> Iterator[int]:
        return Reader(self)

    def rows(self) -> Iterator[int]:
        start, self.loaded = self.loaded or 0, None
        for number in range(start, N):
            self.place = number + 1
            yield number

    def state_dict(self) -> dict[str, Any]:
        return {"place": self.place}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.place = self.loaded = state["place"]


class Reader:
    """An iterator that goes on after an error."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor, self.numbers = cursor, cursor.rows()

    def __iter__(self) -> Reader:
        return self

    def __next__(self) -> int:
        number = next(self.numbers)
        if number in self.cursor.broken:
            raise OSError(f"{number} cannot be read")
        return number


class Counting:
    """A Stateful sampler whose passes go on with one count, and begin anew when asked for."""

    def __init__(self) -> None:
        self.count, self.place, self.loaded = 0, 0, False

    def __len__(self) -> int:
        return N

    def __iter__(self) -> Iterator[int]:
        self.place = self.place if self.loaded else 0
        self.loaded = False
        return self.indices()

    def indices(self) -> Iterator[int]:
        while self.place < N:
            self.place, self.count = self.place + 1, self.count + 1
            yield (self.place * 3 + self.count) % N

    def state_dict(self) -> dict[str, int]:
        return {"count": self.count, "place": self.place}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.count, self.place, self.loaded = state["count"], state["place"], True


def of_stream(kind: type[Any], *arguments: Any) -> Any:
    return lambda **given: StatefulDataLoader(kind(*arguments), lifetime="run", **given)


def of_sampler(**given: Any) -> StatefulDataLoader[Any]:
    return StatefulDataLoader(list(range(N)), sampler=Counting(), **given)


def took(iterator: Iterator[Any], most: int = 100) -> list[Any]:
    """Return batches, with None in place of errors."""
    found: list[Any] = []
    while len(found) < most:
        try:
            found.append(next(iterator))
        except OSError:
            found.append(None)
        except StopIteration:
            break
    return found


LOADERS = {
    "remembers": of_stream(Shuffled),
    "cursor": of_stream(Cursor),
    "broken cursor": of_stream(Cursor, (2, 6)),
    "sampler": of_sampler,
}


@pytest.mark.parametrize("interval", [0, 1, 3])
@pytest.mark.parametrize("name", LOADERS)
def test_a_state_after_epochs_that_were_left_is_exact(name: str, interval: int) -> None:
    def made() -> Any:
        return LOADERS[name](batch_size=2, seed=1, collate_fn=list, snapshot_every_n_steps=interval)

    for *left, last in share(itertools.product((0, 1, 2, 3), repeat=4)):
        saved = made()
        for batches in left:
            took(iter(saved), batches)
        run = iter(saved)
        took(run, last)
        state = saved.state_dict()
        rest = took(run) + took(iter(saved))
        again = made()
        again.load_state_dict(state)
        assert took(iter(again)) + took(iter(again)) == rest, (left, last)
