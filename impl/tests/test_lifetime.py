"""The lifetime of lanes' dataset objects: its default, the argument, and streams that stick."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest
from torch.utils.data import IterableDataset, get_worker_info

from midepoch import StatefulDataLoader
from midepoch.errors import ArgumentError

N = 20

pytestmark = pytest.mark.usefixtures("helpers")


class Sticky(IterableDataset[int]):
    """A stream that keeps a loaded state for all its passes, as Hugging Face's streams do."""

    def __init__(self, epoch: int = 0) -> None:
        self.epoch, self.at, self.loaded = epoch, 0, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        lane, lanes = (0, 1) if info is None else (info.id, info.num_workers)
        self.at = self.loaded
        while self.at < N // lanes:
            self.at += 1
            yield 1000 * self.epoch + lanes * (self.at - 1) + lane

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = self.loaded = state["at"]


class Counting(IterableDataset[int]):
    """A stream that counts its passes in its state."""

    def __init__(self) -> None:
        self.passes, self.at = 0, 0

    def __iter__(self) -> Iterator[int]:
        while self.at < 4:
            self.at += 1
            yield 100 * self.passes + self.at
        self.passes, self.at = self.passes + 1, 0

    def state_dict(self) -> dict[str, int]:
        return {"passes": self.passes, "at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.passes, self.at = state["passes"], state["at"]


class Plain(IterableDataset[int]):
    """A stream without a state, whose epoch the program sets."""

    epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        return iter([10 * self.epoch + (0 if info is None else info.id)])


MODES: dict[str, dict[str, Any]] = {
    "inline": {},
    "workers": {"num_workers": 2},
    "persistent": {"num_workers": 2, "persistent_workers": True},
    "threads": {"num_workers": 2, "worker_type": "thread"},
    "persistent threads": {
        "num_workers": 2,
        "worker_type": "thread",
        "persistent_workers": True,
    },
    "spawned": {
        "num_workers": 1,
        "persistent_workers": True,
        "multiprocessing_context": "spawn",
    },
}


def loader(dataset: Any, **arguments: Any) -> StatefulDataLoader[Any]:
    chosen: dict[str, Any] = {"batch_size": 5, "seed": 1, "collate_fn": list, "lanes": 2}
    return StatefulDataLoader(dataset, **{**chosen, **arguments})


@pytest.mark.parametrize("mode", MODES)
def test_a_stream_that_sticks_is_exact_in_every_mode_and_epoch(mode: str) -> None:
    whole = loader(Sticky(), **MODES[mode])
    expected = [list(whole) for _ in range(3)]
    assert sorted(chain.from_iterable(expected[0])) == list(range(N))
    saved = loader(Sticky(), **MODES[mode])
    iterator = iter(saved)
    first = [next(iterator) for _ in range(2)]
    made = loader(Sticky(), **MODES[mode])
    made.load_state_dict(saved.state_dict())
    assert [first + list(made), list(made), list(made)] == expected


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [Sticky, Plain])
def test_what_the_program_sets_between_two_epochs_is_seen_by_all_lanes(
    kind: type[Any], mode: str
) -> None:
    if kind is Plain and MODES[mode].get("persistent_workers"):
        pytest.skip("the objects in persistent workers live on, as in torch's loader")
    dataset = kind()
    made = loader(dataset, **MODES[mode])
    inline = loader(inner := kind())
    for epoch in (0, 3):
        dataset.set_epoch(epoch)
        inner.set_epoch(epoch)
        found = list(made)
        assert found == list(inline)
        unit = 1000 if kind is Sticky else 10
        assert {value // unit for value in chain.from_iterable(found)} == {epoch}


@pytest.mark.parametrize(
    ("dataset", "arguments", "expected"),
    [
        (Counting(), {}, "epoch"),
        (Counting(), {"num_workers": 2, "persistent_workers": True}, "epoch"),
        (Counting(), {"lifetime": "run", "num_workers": 2}, "run"),
        (Plain(), {}, "run"),
        (Plain(), {"num_workers": 2}, "epoch"),
        (Plain(), {"num_workers": 2, "persistent_workers": True}, "run"),
        (Plain(), {"lifetime": "epoch"}, "epoch"),
        (range(8), {}, "run"),
        (range(8), {"num_workers": 2}, "epoch"),
    ],
)
def test_the_lifetime_and_its_default(
    dataset: Any, arguments: dict[str, Any], expected: str
) -> None:
    assert loader(dataset, **arguments).state_dict()["plan"]["lifetime"] == expected


@pytest.mark.parametrize("mode", MODES)
def test_a_stream_that_counts_its_passes_lives_on_if_it_is_told_to(mode: str) -> None:
    arguments = {"lifetime": "run", "lanes": 1, "batch_size": 2, **MODES[mode]}
    whole = loader(Counting(), **arguments)
    expected = [list(whole) for _ in range(3)]
    assert expected == [[[k + 1, k + 2], [k + 3, k + 4]] for k in (0, 100, 200)]
    saved = loader(Counting(), **arguments)
    list(saved)
    iterator = iter(saved)
    first = [next(iterator)]
    made = loader(Counting(), **arguments)
    made.load_state_dict(saved.state_dict())
    assert [first + list(made), list(made)] == expected[1:]


def test_a_saved_lifetime_is_adopted() -> None:
    saved = loader(Counting(), lifetime="run")
    list(saved)
    made = loader(Counting())
    made.load_state_dict(saved.state_dict())
    assert made.state_dict()["plan"]["lifetime"] == "run"
    assert list(made) == list(saved)


def test_persistent_workers_live_on_while_their_datasets_are_renewed() -> None:
    made = loader(Sticky(), num_workers=2, persistent_workers=True)
    list(made)
    idle = made._pool.between.idle
    assert idle is not None
    before = [one.pid for one in idle.members()]
    list(made)
    assert made._pool.between.idle is idle
    assert [one.pid for one in idle.members()] == before


class Locked(Sticky):
    """A stream that can be inherited by a fork, and not pickled."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


def test_persistent_workers_start_anew_for_a_dataset_that_cannot_be_sent() -> None:
    arguments = {"num_workers": 2, "multiprocessing_context": "fork"}
    made = loader(Locked(), persistent_workers=True, **arguments)
    assert [list(made), list(made)] == [list(loader(Locked(), **arguments))] * 2


def test_without_workers_a_stream_that_cannot_be_copied_lives_on() -> None:
    made = loader(Locked(), lanes=1)
    assert made.state_dict()["plan"]["lifetime"] == "run"
    assert [list(made), list(made)] == [list(loader(Sticky(), lanes=1))] * 2


@pytest.mark.parametrize("wrong", ["epochs", 1, True])
def test_a_lifetime_is_one_of_two_words(wrong: Any) -> None:
    with pytest.raises(ArgumentError, match="lifetime should be one of 'epoch', 'run', None"):
        loader(Plain(), lifetime=wrong)
