"""``assert_resumes`` on small loaders, true ones and one for each lie that it must find."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

import midepoch_conformance
from midepoch_conformance import assert_resumes


class Counter:
    """Five batches an epoch, shuffled by epoch, exactly resumable."""

    batches = 5

    def __init__(self, workers: int = 0) -> None:
        self.workers = workers
        self.epoch = 0
        self.position = 0

    def order(self) -> list[int]:
        order = list(range(self.batches))
        random.Random(self.epoch).shuffle(order)
        return order

    def __iter__(self) -> Iterator[Any]:
        order = self.order()
        while self.position < len(order):
            self.position += 1
            yield {"ids": [order[self.position - 1]], "epoch": self.epoch}
        self.epoch += 1
        self.position = 0

    def state_dict(self) -> dict[str, Any]:
        return {"epoch": self.epoch, "position": self.position}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.epoch, self.position = state["epoch"], state["position"]


class StartsOver(Counter):
    def load_state_dict(self, state: dict[str, Any]) -> None:
        pass


class ForgetsEpoch(Counter):
    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.position = state["position"]


class SavingMoves(Counter):
    def state_dict(self) -> dict[str, Any]:
        self.position += 1
        return super().state_dict()


class SecondResumeFails(Counter):
    resumed = False

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.resumed = True

    def state_dict(self) -> dict[str, Any]:
        state = super().state_dict()
        if self.resumed:
            state["position"] = max(0, state["position"] - 1)
        return state


class Refuses(Counter):
    def load_state_dict(self, state: dict[str, Any]) -> None:
        raise ValueError("states are not for loading")


class Ambient(Counter):
    def order(self) -> list[int]:
        order = list(range(self.batches))
        random.shuffle(order)
        return order


class RepeatsLastEpoch(Counter):
    """A state after an epoch's end is taken for one at its start."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        if self.position == 0 and self.epoch:
            self.epoch -= 1


class EmptyRest(Counter):
    """Gives an empty rest after the last batch: allowed (EPOCH-3)."""


class GoesStraightOn(Counter):
    """Gives no empty rest after the last batch: allowed too."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        if self.position == self.batches:
            self.epoch, self.position = self.epoch + 1, 0


class LaterEpochsDiffer(Counter):
    """Resumes the epoch, and goes on in another order after it."""

    resumed = -1

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.resumed = self.epoch

    def order(self) -> list[int]:
        later = self.resumed >= 0 and self.epoch > self.resumed
        return super().order()[::-1] if later else super().order()


class NeverYields(Counter):
    batches = 0


@pytest.mark.parametrize("loader", [Counter, EmptyRest, GoesStraightOn])
def test_true_loaders_pass(loader: type[Counter]) -> None:
    assert_resumes(loader, epochs=3, workers=(0, 2), resume_workers=(0, 1))


@pytest.mark.parametrize(
    ("loader", "words"),
    [
        (StartsOver, "RESUME-1"),
        (ForgetsEpoch, "EPOCH-2"),
        (SavingMoves, "BASIS-4"),
        (SecondResumeFails, "RESUME-2"),
        (Refuses, "states are not for loading"),
        (Ambient, "RESUME-4"),
        (LaterEpochsDiffer, "EPOCH-1"),
        (RepeatsLastEpoch, "EPOCH-2"),
        (NeverYields, "BASIS-1"),
    ],
)
def test_each_lie_is_found(loader: type[Counter], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        assert_resumes(loader)


def test_a_loader_without_a_state_gets_a_clear_error() -> None:
    with pytest.raises(AssertionError, match="the loader has no state_dict/load_state_dict, so"):
        assert_resumes(lambda: [[1], [2]])


def test_the_difference_is_told() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_resumes(StartsOver, cuts=[2])
    lines = str(caught.value).splitlines()
    assert "saved after 2 batches of epoch 0 (0 workers)" in lines[0]
    assert lines[1] == "  first difference: epoch 0, batch 2"
    assert lines[2].startswith("  expected: {'ids': [")
    assert lines[3].endswith("(batch 0 of epoch 0)")


def test_an_unseeded_loader_is_told_apart() -> None:
    made = iter(range(100))

    class Unseeded(Counter):
        def __init__(self, workers: int = 0) -> None:
            super().__init__(workers)
            self.epoch = next(made)

    with pytest.raises(AssertionError, match="inside make_loader"):
        assert_resumes(Unseeded)


def test_codec_is_used() -> None:
    class Keys(Counter):
        def state_dict(self) -> dict[Any, Any]:
            return {0: self.epoch, 1: self.position}

        def load_state_dict(self, state: dict[Any, Any]) -> None:
            self.epoch, self.position = state[0], state[1]

    assert_resumes(Keys)
    with pytest.raises(AssertionError, match="KeyError"):
        assert_resumes(Keys, encode=json.dumps, decode=json.loads)


def test_start_epoch_is_called_before_each_epoch() -> None:
    class External(Counter):
        told = 0

        def order(self) -> list[int]:
            order = list(range(self.batches))
            random.Random(self.told).shuffle(order)
            return order

        def __iter__(self) -> Iterator[Any]:
            for batch in super().__iter__():
                yield batch["ids"]

    def tell(loader: External, epoch: int) -> None:
        loader.told = epoch

    assert_resumes(External, epochs=3, start_epoch=tell)


def test_the_callers_streams_are_left_alone() -> None:
    random.seed(5)
    expected = random.Random(5).random()
    assert_resumes(Counter)
    assert random.random() == expected


def test_zero_argument_makers() -> None:
    assert_resumes(lambda: Counter())
    with pytest.raises(ValueError, match="takes no argument"):
        assert_resumes(lambda: Counter(), workers=2)


@pytest.mark.parametrize(
    "arguments",
    [{"epochs": 0}, {"workers": -1}, {"workers": []}, {"cuts": []}, {"cuts": [-1]}],
)
def test_wrong_arguments(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="got"):
        assert_resumes(Counter, **arguments)


def test_the_package_itself_stays_light() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        midepoch_conformance.nothing  # noqa: B018 - the attribute access is what is tested


def test_tensors_are_compared_by_value() -> None:
    torch = pytest.importorskip("torch")

    class Tensors(Counter):
        def __iter__(self) -> Iterator[Any]:
            for batch in super().__iter__():
                yield {"x": torch.tensor([float(batch["ids"][0]), float("nan")])}

    class Drifts(Tensors):
        offset = 0.0

        def load_state_dict(self, state: dict[str, Any]) -> None:
            super().load_state_dict(state)
            self.offset = 0.5

        def __iter__(self) -> Iterator[Any]:
            for batch in super().__iter__():
                yield {"x": batch["x"] + self.offset}

    assert_resumes(Tensors)
    with pytest.raises(AssertionError, match="no batch of the uninterrupted run"):
        assert_resumes(Drifts)
