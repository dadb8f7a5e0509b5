"""A load compares the data, their length between two epochs, integers by value, the digest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from midepoch import StatefulDataLoader
from midepoch.errors import (
    ArgumentError,
    PlanMismatchError,
    ReplayMismatchError,
    StateError,
    StateFormatError,
)


class Named(list[int]):
    """Data with a fingerprint, as some libraries' datasets have it."""

    def __init__(self, items: Any, name: object) -> None:
        super().__init__(items)
        self.name = name

    def fingerprint(self) -> object:
        return self.name


class Hugging(list[int]):
    _fingerprint = "from-an-attribute"


def loader(dataset: Any, **arguments: Any) -> StatefulDataLoader[Any]:
    chosen: dict[str, Any] = {"batch_size": 2, "seed": 1, "collate_fn": list, **arguments}
    return StatefulDataLoader(dataset, **chosen)


def saved_after(batches: int, made: StatefulDataLoader[Any]) -> dict[str, Any]:
    iterator = iter(made)
    for _ in range(batches):
        next(iterator)
    return made.state_dict()


@pytest.mark.parametrize(
    ("dataset", "arguments", "data"),
    [
        ([0] * 8, {}, None),
        ([0] * 8, {"data_id": "v1"}, "v1"),
        (Named([0] * 8, "of the method"), {}, "of the method"),
        (Named([0] * 8, 5), {}, None),
        (Named([0] * 8, "\ud800"), {}, None),
        (Hugging([0] * 8), {}, "from-an-attribute"),
        (Named([0] * 8, "of the method"), {"data_id": "mine"}, "mine"),
    ],
)
def test_a_state_records_what_identifies_the_data(
    dataset: Any, arguments: dict[str, Any], data: str | None
) -> None:
    assert loader(dataset, **arguments).state_dict()["plan"]["data"] == data


def test_other_data_of_the_same_length_is_refused_if_it_is_known() -> None:
    state = saved_after(1, loader(range(8), data_id="v1"))
    with pytest.raises(PlanMismatchError, match=r"data +'v1' +'v2'"):
        loader(range(8), data_id="v2").load_state_dict(state)
    unknown = loader(range(8))
    unknown.load_state_dict(state)
    assert list(unknown) == [[2, 3], [4, 5], [6, 7]]
    assert unknown.state_dict()["plan"]["data"] is None
    known = loader(range(8), data_id="v1")
    known.load_state_dict(saved_after(1, loader(range(8))))
    assert list(known) == [[2, 3], [4, 5], [6, 7]]
    assert known.state_dict()["plan"]["data"] == "v1"


@pytest.mark.parametrize("wrong", [1, b"v1", "\udc00", ["v1"]])
def test_a_data_id_is_text(wrong: Any) -> None:
    with pytest.raises(ArgumentError, match="data_id should be None or text"):
        loader(range(8), data_id=wrong)


@pytest.mark.parametrize("length", [6, 10])
@pytest.mark.parametrize("arguments", [{}, {"shuffle": True}, {"last_batch": "rollover"}])
def test_between_two_epochs_a_dataset_may_grow_or_shrink(
    length: int, arguments: dict[str, Any]
) -> None:
    kept = list(range(9))
    going = loader(kept, **arguments)
    list(going)
    state = going.state_dict()
    kept[:] = range(length)
    made = loader(range(length), **arguments)
    made.load_state_dict(state)
    assert list(made) == list(going)


def test_within_an_epoch_another_length_is_another_plan() -> None:
    state = saved_after(1, loader(range(8)))
    with pytest.raises(PlanMismatchError, match="length"):
        loader(range(9)).load_state_dict(state)


class Numbers:
    """A sampler that yields NumPy's integers, or plain ones."""

    kind: Any = int

    def __iter__(self) -> Iterator[Any]:
        return map(self.kind, range(7, -1, -1))

    def __len__(self) -> int:
        return 8


def test_a_sampler_may_yield_numpy_integers_once_and_plain_ones_later() -> None:
    sampler = Numbers()
    sampler.kind = np.int64
    state = saved_after(2, loader(range(8), sampler=sampler))
    made = loader(range(8), sampler=Numbers())
    made.load_state_dict(state)
    assert list(made) == [[3, 2], [1, 0]]


class Cursor(Numbers):
    """A Stateful sampler, which a resume does not replay."""

    at = 8

    def __iter__(self) -> Iterator[int]:
        while self.at:
            self.at -= 1
            yield self.at
        self.at = 8

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


@pytest.mark.parametrize("batches", [-1, 0, 1, 2, 3])
def test_a_changed_number_of_a_samplers_batches_does_not_shift_the_order(batches: int) -> None:
    arguments = {"snapshot_every_n_steps": 2}
    state = saved_after(3, loader(range(8), sampler=Cursor(), **arguments))
    assert state["sampler"]["batches"] == 2
    state["sampler"]["batches"] = batches
    made = loader(range(8), sampler=Cursor(), **arguments)
    try:
        made.load_state_dict(state)
        rest = list(made)
    except (StateError, ReplayMismatchError):
        assert batches != 2
    else:
        assert batches == 2
        assert rest == [[1, 0]]


def test_a_samplers_epoch_that_is_set_within_an_epoch_is_refused() -> None:
    class Turned(Numbers):
        epoch = 0

        def set_epoch(self, epoch: int) -> None:
            self.epoch = epoch

    state = saved_after(1, loader(range(8), sampler=Turned()))
    sampler = Turned()
    made = loader(range(8), sampler=sampler)
    made.load_state_dict(state)
    sampler.set_epoch(3)
    with pytest.raises(ReplayMismatchError, match=r"sampler\.epoch is 3"):
        iter(made)


def test_an_option_is_for_those_who_know_it() -> None:
    state = loader(range(8)).state_dict()
    state["plan"]["options"] = {"order": "of a later version"}
    with pytest.raises(PlanMismatchError, match=r"options +'order=of a later version' +None"):
        loader(range(8)).load_state_dict(state)
    state["plan"]["options"] = {"order": 2}
    with pytest.raises(StateFormatError, match=r"\$\.plan\.options\.order"):
        loader(range(8)).load_state_dict(state)


@pytest.mark.parametrize(
    ("dataset", "arguments"), [(range(2**53), {}), (range(8), {"batch_size": 2**53})]
)
def test_sizes_that_no_state_can_hold_are_refused(dataset: Any, arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="at most 9007199254740991 samples"):
        iter(loader(dataset, **arguments))
    made = loader(range(2**53 - 1), batch_size=2**53 - 1)
    assert made.state_dict()["plan"]["length"] == 2**53 - 1


@pytest.mark.parametrize("slot", ["sampler_iter", "batch_sampler", "batch_sampler_iter"])
def test_a_state_that_no_iterator_can_load_is_refused(slot: str) -> None:
    state = saved_after(3, loader(range(8), sampler=Cursor()))
    made = loader(range(8), sampler=Cursor())
    if slot == "sampler_iter":
        made = loader(range(8), batch_size=1, batch_sampler=Pairs())
        state = saved_after(1, loader(range(8), batch_size=1, batch_sampler=Pairs()))
    state["sampler"]["states"][slot] = {"at": 1}
    state["sampler"]["stated"].append(slot)
    with pytest.raises(StateFormatError, match="no sampler here has a load_state_dict"):
        made.load_state_dict(state)


class Pairs:
    """A batch sampler with a Stateful sampler."""

    def __init__(self) -> None:
        self.sampler = Cursor()

    def __iter__(self) -> Iterator[list[int]]:
        yield from ([i, i + 1] for i in range(0, 8, 2))


class Tally(list[int]):
    """A map-style dataset with a state."""

    def state_dict(self) -> dict[str, int]:
        return {}

    def load_state_dict(self, state: dict[str, int]) -> None:
        pass


def test_an_iterators_state_of_a_map_style_dataset_is_refused() -> None:
    state = saved_after(1, loader(Tally(range(8))))
    state["lanes"]["entries"][0]["stated"].append("iterator")
    with pytest.raises(StateFormatError, match="a map-style dataset has no iterator"):
        loader(Tally(range(8))).load_state_dict(state)
