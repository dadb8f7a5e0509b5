"""The public loader: arguments, states, refusals, and what its methods must not do."""

from __future__ import annotations

import io
import json
import pickle
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import sources
import torch
from histories import epochs, keep

import midepoch
from midepoch import state_from_json, state_to_json
from midepoch.errors import (
    ArgumentError,
    PlanMismatchError,
    StaleIteratorError,
    StateFormatError,
    StateVersionError,
)

pytestmark = pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning")

N = 11


def loader(dataset: Any = None, **arguments: Any) -> Any:
    chosen = {"batch_size": 2, "seed": 5, "collate_fn": keep, **arguments}
    return midepoch.StatefulDataLoader(dataset or sources.Plain(N), **chosen)


def after(batches: int, made: Any) -> dict[str, Any]:
    iterator = iter(made)
    for _ in range(batches):
        next(iterator)
    state: dict[str, Any] = made.state_dict()
    return state


# Arguments


@pytest.mark.parametrize(
    "arguments",
    [
        {"lanes": -1},
        {"lanes": 2**16},
        {"lanes": 1.0},
        {"lanes": True},
        {"seed": -1},
        {"seed": 2**64},
        {"seed": "7"},
        {"snapshot_every_n_steps": -1},
        {"snapshot_every_n_steps": 0.5},
    ],
)
def test_wrong_arguments_are_typed_errors_naming_them(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=next(iter(arguments))):
        loader(**arguments)


def test_torchs_own_argument_errors_stay() -> None:
    with pytest.raises(ValueError, match="num_workers option should be non-negative"):
        loader(num_workers=-1)
    with pytest.raises(ValueError, match="mutually exclusive"):
        loader(sampler=[1], shuffle=True)


def test_arguments_stay_readable() -> None:
    made = loader(lanes=3, seed=9, snapshot_every_n_steps=4, shuffle=True)
    assert (made.lanes, made.seed, made.snapshot_every_n_steps) == (3, 9, 4)
    assert isinstance(made.sampler, torch.utils.data.RandomSampler)
    assert loader(num_workers=2).lanes == 2


def test_the_root_seed_is_drawn_at_construction() -> None:
    def drawn(**arguments: Any) -> int:
        torch.manual_seed(1)
        seed: int = loader(seed=None, **arguments).seed
        return seed

    generator = torch.Generator()
    assert drawn() == drawn()
    assert drawn() != drawn(generator=generator.manual_seed(3))
    assert loader(seed=None, generator=generator.manual_seed(3)).seed == drawn(
        generator=generator.manual_seed(3)
    )


# States


@pytest.mark.parametrize("batches", range(7))
def test_load_then_save_gives_an_equal_state(batches: int) -> None:
    for dataset in (*sources.MAPS, *sources.STREAMS):
        made = loader(dataset(N), lanes=2)
        iterator = iter(made)
        for _ in range(batches):
            next(iterator, None)
        state = made.state_dict()
        other = loader(dataset(N))
        other.load_state_dict(state)
        assert other.state_dict() == state
        iter(other)
        assert other.state_dict() == state


def test_a_state_is_a_value() -> None:
    made = loader(sources.Counting(N))
    iterator = iter(made)
    next(iterator)
    state = made.state_dict()
    copy = pickle.dumps(state)
    next(iterator)
    assert pickle.dumps(state) == copy
    state["lanes"]["entries"][0]["dataset"]["served"] = 100
    state["position"]["batches"] = 100
    assert made.state_dict()["lanes"]["entries"][0]["dataset"] == {"served": 4}

    state = pickle.loads(copy)
    other = loader(sources.Counting(N))
    other.load_state_dict(state)
    state["lanes"]["entries"][0]["dataset"]["served"] = 100
    assert next(iter(other))[0][-1] == 3.0


def test_taking_a_state_changes_and_draws_nothing() -> None:
    def run(take: bool) -> tuple[list[Any], Any]:
        torch.manual_seed(0)
        random.seed(0)
        np.random.seed(0)
        made = loader(sources.Buffered(N), sampler=None)
        out = []
        if take:
            made.state_dict()
        for _ in range(2):
            for batch in made:
                out.append(batch)
                if take:
                    made.state_dict()
        return out, (torch.rand(()).item(), random.random(), np.random.rand())

    assert run(True) == run(False)


def test_a_custom_samplers_state_draws_nothing() -> None:
    torch.manual_seed(0)
    made = loader(sampler=sources.Lively(N))
    before = torch.get_rng_state(), random.getstate(), made.sampler.rng.getstate()
    made.state_dict()
    iterator = iter(made)
    next(iterator)
    made.state_dict()
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == random.getstate()


class Tree(sources.Resuming):
    """Carries a state of many types, and tells what it was given."""

    given: Any = None

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at, "tree": TREE}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.given = state["tree"]


TREE = {
    "none": None,
    "empty": [{}, [], (), ""],
    "numbers": [True, 1, 1.0, 2**70, -0.0, float("inf")],
    "bytes": b"\x00\xff",
    3: "an integer key",
    "$int": "not a tag",
    "nested": ({"a": (1, [2, {"b": None}])},),
    "set": {1, 2},
}


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(
    "codec",
    [
        lambda state: pickle.loads(pickle.dumps(state)),
        lambda state: state_from_json(state_to_json(state)),
    ],
)
def test_users_trees_come_back_equal_in_value_and_type(
    codec: Callable[[Any], Any], workers: int
) -> None:
    state = codec(after(2, loader(Tree(N), num_workers=workers)))
    dataset = Tree(N)
    other = loader(dataset, lanes=workers)
    other.load_state_dict(state)
    entry = other.state_dict()["lanes"]["entries"][0]["dataset"]["tree"]
    assert entry == TREE
    assert state_to_json(entry) == state_to_json(TREE)


def test_a_state_passes_torch_save_with_weights_only_and_json() -> None:
    for made in (loader(sources.Resuming(N)), loader(sampler=sources.Lively(N))):
        state = after(2, made)
        buffer = io.BytesIO()
        torch.save(state, buffer)
        buffer.seek(0)
        assert torch.load(buffer, weights_only=True) == state
        assert json.loads(json.dumps(state)) == state


def test_the_states_size_does_not_grow() -> None:
    sizes = {len(state_to_json(after(k, loader(list(range(1000)))))) for k in (10, 30, 49)}
    assert len(sizes) == 1


# Loading


@pytest.mark.parametrize("bad", [None, {}, [], "state", 3, {"format": "other"}, {"epoch": 3}])
def test_what_is_no_state_is_refused(bad: Any) -> None:
    made = loader()
    with pytest.raises(StateFormatError):
        made.load_state_dict(bad)
    assert len(list(made)) == 6


def test_another_version_is_refused() -> None:
    with pytest.raises(StateVersionError):
        loader().load_state_dict({**loader().state_dict(), "version": 2})


def test_another_plan_is_refused_with_every_difference() -> None:
    state = after(1, loader(sources.Plain(N), shuffle=True))
    made = loader(sources.Plain(N + 1), batch_size=3, drop_last=True)
    with pytest.raises(PlanMismatchError) as caught:
        made.load_state_dict(state)
    assert {name for name, _, _ in caught.value.fields} == {
        "length",
        "sampler",
        "batch_size",
        "tail",
    }


@pytest.mark.parametrize("argument", ["lanes", "seed"])
def test_an_explicit_argument_is_compared_an_absent_one_adopted(argument: str) -> None:
    state = after(1, loader(**{argument: 3}))
    with pytest.raises(PlanMismatchError, match=argument):
        loader(**{argument: 4}).load_state_dict(state)
    other = loader(**{argument: None})
    other.load_state_dict(state)
    assert getattr(other, argument) == 3


def test_a_refused_load_leaves_the_loader_as_it_was() -> None:
    made, same = loader(shuffle=True), loader(shuffle=True)
    iterator, whole = iter(made), list(same)
    got = [next(iterator)]
    state = made.state_dict()
    for bad in ({}, {**state, "plan": {**state["plan"], "batch_size": 3}}):
        with pytest.raises(midepoch.errors.StateError):
            made.load_state_dict(bad)
    assert made.state_dict() == state
    assert got + list(iterator) == whole


def test_states_for_which_there_is_nobody_are_refused() -> None:
    with pytest.raises(StateFormatError, match=r"\$.lanes"):
        loader(sources.Plain(N)).load_state_dict(after(1, loader(sources.Counting(N))))
    with pytest.raises(StateFormatError, match=r"\$.lanes"):
        loader(sources.Counting(N)).load_state_dict(after(1, loader(sources.Plain(N))))
    with pytest.raises(StateFormatError, match="dataset"):
        loader(sources.Stream(N)).load_state_dict(after(1, loader(sources.Resuming(N))))


def test_an_iterators_state_without_a_taker_is_a_typed_error_at_iter() -> None:
    made = loader(sources.Stream(N))
    made.load_state_dict(after(1, loader(sources.Cursors(N))))
    for _ in range(2):  # and the state stays pending
        with pytest.raises(StateFormatError, match="load_state_dict"):
            iter(made)


def test_loading_makes_live_iterators_stale() -> None:
    made = loader()
    iterator = iter(made)
    first = next(iterator)
    state = made.state_dict()
    next(iterator)
    made.load_state_dict(state)
    with pytest.raises(StaleIteratorError):
        next(iterator)
    assert [first, *made] == list(loader())


@pytest.mark.parametrize("dataset", [*sources.MAPS, *sources.STREAMS])
def test_loading_into_a_used_loader_equals_loading_into_a_fresh_one(dataset: Any) -> None:
    # Passing cannot tell "resumed at the first pass's start" from "never begun": its own matter.
    for batches in (2,) if dataset is sources.Passing else (0, 2):
        state = after(batches, loader(dataset(N)))
        fresh, used = loader(dataset(N)), loader(dataset(N))
        after(3, used)
        for made in (fresh, used):
            made.load_state_dict(state)
        assert epochs(used, 2) == epochs(fresh, 2)


class Reordering:
    """Draws its order from ``random`` when a pass begins, but not in a pass that was loaded."""

    def __init__(self) -> None:
        self.at, self.loaded = 0, False
        self.order: list[int] = []

    def __iter__(self) -> Any:
        if not self.loaded:
            self.load_state_dict({"at": 0})
        self.loaded = False
        return self.rest()

    def rest(self) -> Iterator[int]:
        while self.at < N:
            self.at += 1
            yield self.order[self.at - 1]

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at, self.loaded = state["at"], True
        self.order = random.sample(range(N), N)


class ReorderingIterator(Iterator[int]):
    """Draws its order when it is made, and again when a state is loaded into it."""

    def __init__(self) -> None:
        self.load_state_dict({"at": 0})

    def __next__(self) -> int:
        if self.at == N:
            raise StopIteration
        self.at += 1
        return self.order[self.at - 1]

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at, self.order = state["at"], random.sample(range(N), N)


class OfReorderingIterators(torch.utils.data.IterableDataset[int]):
    """A stream whose iterators are of this kind."""

    def __iter__(self) -> Iterator[int]:
        return ReorderingIterator()


def test_an_iterator_loads_under_the_seeds_under_which_it_was_made() -> None:
    whole = epochs(loader(OfReorderingIterators()), 2)
    state = after(3, loader(OfReorderingIterators()))
    resumed = loader(OfReorderingIterators())
    resumed.load_state_dict(state)
    assert epochs(resumed, 2) == [whole[0][3:], whole[1]]


class ReorderingStream(Reordering, torch.utils.data.IterableDataset[int]):
    """A dataset of this kind."""


@pytest.mark.parametrize(
    "made_anew",
    [
        lambda: loader(ReorderingStream(), lifetime="run"),
        lambda: loader(list(range(N)), sampler=Reordering()),
    ],
    ids=["dataset", "sampler"],
)
def test_a_used_loader_returns_to_first_states_under_the_seeds_of_a_beginning(
    made_anew: Callable[[], Any],
) -> None:
    state = made_anew().state_dict()
    used = made_anew()
    after(3, used)
    random.seed(1)
    before = random.getstate()
    used.load_state_dict(state)
    assert epochs(used, 2) == epochs(made_anew(), 2)
    assert random.getstate() == before


def test_a_users_error_in_load_state_dict_arrives_at_iter_and_the_state_stays() -> None:
    class Fussy(sources.Resuming):
        willing = False

        def load_state_dict(self, state: dict[str, Any]) -> None:
            if not self.willing:
                raise OSError("not now")
            super().load_state_dict(state)

    dataset = Fussy(N)
    state = after(2, loader(dataset))
    made = loader(dataset)
    made.load_state_dict(state)
    with pytest.raises(OSError, match="not now"):
        iter(made)
    assert made.state_dict() == state
    dataset.willing = True
    assert list(made) == list(loader(sources.Resuming(N)))[2:]


def test_a_dataset_may_grow_between_epochs() -> None:
    dataset = sources.Plain(4)
    made = loader(dataset)
    assert len(list(made)) == 2
    dataset.n = 6
    assert len(list(made)) == 3
    dataset.n = 8
    assert made.state_dict()["plan"]["length"] == 8
