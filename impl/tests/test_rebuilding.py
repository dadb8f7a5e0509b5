"""Trainers read a loader's arguments among its attributes, and its samplers."""

from __future__ import annotations

import copy
import inspect
import pickle
import random
from typing import Any

import numpy as np
import pytest
import sources
import torch
from histories import keep
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    DistributedSampler,
    RandomSampler,
    SequentialSampler,
)

from midepoch import StatefulDataLoader
from midepoch.errors import PlanMismatchError

N = 11


class Rows(sources.Plain):
    """Its samples are its indices."""

    def __getitem__(self, index: int) -> int:
        return index


def loader(**arguments: Any) -> Any:
    return StatefulDataLoader(Rows(N), **{"collate_fn": keep, **arguments})


def rebuild(made: Any, **changes: Any) -> Any:
    """Build a loader from another one's attributes, by the names of the parameters."""
    names = inspect.signature(type(made).__init__).parameters
    found = {name: vars(made)[name] for name in names if name in vars(made)}
    return type(made)(**{**found, **changes})


class Subclassed(StatefulDataLoader[Any]):
    pass


def three() -> list[int]:
    return [3, 1, 2]


ARGUMENTS: list[dict[str, Any]] = [
    {},
    {"shuffle": True, "batch_size": 2},
    {"shuffle": True, "batch_size": None},
    {"shuffle": True, "batch_size": 4, "drop_last": True},
    {"shuffle": True, "batch_size": 4, "last_batch": "discard", "seed": 3},
    {"shuffle": True, "batch_size": 4, "last_batch": "rollover"},
    {"batch_size": 4, "last_batch": "rollover", "data_id": "a", "empty_rest": "skip"},
    {"num_workers": 2, "shuffle": True, "lanes": 3, "prefetch": 5, "worker_restarts": 2},
    {"num_workers": 1, "worker_type": "thread", "snapshot_every_n_steps": 3},
    {"num_workers": 1, "persistent_workers": True, "prefetch_next_epoch": True},
    {"isolate_streams": False, "single_thread": False},
    {"sampler": three(), "batch_size": 2},
    {"sampler": three(), "batch_size": None},
    {"batch_sampler": [[0, 1], [5]]},
    {"batch_sampler": BatchSampler(three(), 2, True)},
]


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_a_loader_is_rebuilt_from_its_attributes(arguments: dict[str, Any]) -> None:
    made = Subclassed(Rows(N), collate_fn=keep, **arguments)
    again = rebuild(made)
    assert type(again) is Subclassed
    assert again.state_dict() == made.state_dict()
    theirs, ours = _shown(made), _shown(again)
    assert ours == theirs
    for _ in range(3):
        assert list(again) == list(made)


def _shown(made: Any) -> dict[str, Any]:
    names = inspect.signature(type(made).__init__).parameters
    same = {"sampler", "batch_sampler"}
    return {name: vars(made)[name] for name in names if name in vars(made) and name not in same}


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("batch_size", [None, 3])
def test_a_loader_of_a_stream_is_rebuilt_too(workers: int, batch_size: int | None) -> None:
    made: Any = StatefulDataLoader(
        sources.Stream(N), batch_size, num_workers=workers, collate_fn=keep, seed=2, drop_last=False
    )
    again = rebuild(made)
    assert again.state_dict() == made.state_dict()
    assert list(again) == list(made)


def test_every_further_argument_is_among_the_attributes() -> None:
    made = loader()
    theirs = inspect.signature(DataLoader).parameters
    further = [n for n in inspect.signature(StatefulDataLoader).parameters if n not in theirs]
    assert set(further) <= set(vars(made))


def test_adopted_seeds_and_lanes_are_rebuilt_and_still_adopt() -> None:
    first = loader(shuffle=True, lanes=3, seed=7)
    state = first.state_dict()
    made = loader(shuffle=True)
    made.load_state_dict(state)
    again = rebuild(made)
    assert (again.seed, again.lanes) == (vars(again)["seed"], vars(again)["lanes"]) == (7, 3)
    assert type(again.seed) is type(again.lanes) is int
    assert list(again) == list(first)
    other = loader(shuffle=True, lanes=2, seed=8)
    again.load_state_dict(other.state_dict())
    assert (again.seed, again.lanes) == (8, 2)
    assert list(again) == list(other)


def test_an_adopted_lifetime_is_rebuilt() -> None:
    made = loader()
    made.load_state_dict(loader(lifetime="epoch").state_dict())
    assert made.lifetime == "epoch"
    assert rebuild(made).state_dict() == made.state_dict()


def test_given_seeds_and_lanes_are_rebuilt_as_given() -> None:
    for name, value in (("seed", 7), ("lanes", 3)):
        again = rebuild(loader(**{name: value}))
        state = loader(**{"seed": 7, name: value + 1}).state_dict()
        with pytest.raises(PlanMismatchError, match=name):
            again.load_state_dict(state)


def test_a_refused_load_leaves_the_attributes() -> None:
    made = loader(shuffle=True, batch_size=2)
    before = made.seed, made.lanes
    with pytest.raises(PlanMismatchError):
        made.load_state_dict(loader(shuffle=True, batch_size=3, lanes=2).state_dict())
    assert (made.seed, made.lanes) == before


@pytest.mark.parametrize("generator", [None, torch.Generator()])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_a_copys_samplers_follow_the_copy(copied: Any, generator: Any) -> None:
    made = loader(shuffle=True, batch_size=2, generator=generator)
    next(iter(made))
    other = copied(made)
    for _ in range(3):
        list(made)
    state = other.state_dict()
    assert list(other.sampler) == _epoch(made.seed, 0)
    assert other.state_dict() == state
    assert rebuild(other).seed == vars(other)["seed"] == made.seed
    alone = copied(made.sampler)  # of the next epoch: it goes on beside its loader
    assert list(alone) == list(made.sampler)


def _epoch(seed: int, epoch: int) -> list[int]:
    made = loader(shuffle=True, batch_size=None, seed=seed)
    for _ in range(epoch):
        list(made)
    return list(made)


# Samplers


ORDERS: list[dict[str, Any]] = [
    {"batch_size": 4},
    {"shuffle": True, "batch_size": 4},
    {"shuffle": True, "batch_size": 4, "drop_last": True},
    {"shuffle": True, "batch_size": 4, "last_batch": "rollover"},
    {"batch_size": 4, "last_batch": "rollover"},
]


@pytest.mark.parametrize("arguments", ORDERS)
def test_samplers_give_the_order_that_the_loader_delivers(arguments: dict[str, Any]) -> None:
    made = loader(**arguments)
    expected = rebuild(made)
    later = [list(expected) for _ in range(4)]
    for epoch in later[:2]:
        batches = list(made.batch_sampler)
        indices = list(made.sampler)
        assert batches == epoch
        assert indices[: sum(map(len, batches))] == [index for batch in batches for index in batch]
        assert len(indices) == (N if "last_batch" not in arguments else sum(map(len, batches)))
        assert list(made) == epoch
    # A program that iterates the sampler in place of the loader is given epoch after epoch.
    assert [list(made.batch_sampler), list(made.batch_sampler)] == later[2:]


def test_without_batches_the_sampler_gives_the_order() -> None:
    made = loader(shuffle=True, batch_size=None)
    assert made.batch_sampler is None
    assert [list(made.sampler), list(made.sampler)] == [list(made), list(made)]


def test_within_an_epoch_the_samplers_give_the_next_one() -> None:
    made = loader(shuffle=True)
    batches = iter(made)
    next(batches), next(batches)
    following = list(made.sampler)
    list(batches)
    assert following == list(made.sampler)
    assert [[index] for index in following] == list(made)


def test_after_a_load_the_samplers_give_the_epoch_that_goes_on() -> None:
    made = loader(shuffle=True)
    whole = list(made.sampler)
    batches = iter(made)
    next(batches)
    other = loader(shuffle=True)
    other.load_state_dict(made.state_dict())
    assert list(other.sampler) == whole
    assert [[index] for index in whole[1:]] == list(other)


def test_samplers_draw_from_no_stream() -> None:
    generator = torch.Generator().manual_seed(3)
    made = loader(shuffle=True, generator=generator)
    before = torch.get_rng_state(), generator.get_state(), random.getstate()
    numpy_before = np.random.get_state()[1].tolist()
    assert sorted(made.sampler) == list(range(N))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert torch.equal(generator.get_state(), before[1])
    assert random.getstate() == before[2]
    assert np.random.get_state()[1].tolist() == numpy_before


def test_samplers_are_what_trainers_look_for() -> None:
    shuffled, plain = loader(shuffle=True, batch_size=2), loader(batch_size=2)
    assert isinstance(shuffled.sampler, RandomSampler)
    assert isinstance(plain.sampler, SequentialSampler)
    for made in (shuffled, plain):
        assert type(made.batch_sampler) is BatchSampler
        assert type(made.batch_sampler.sampler) is type(made.sampler)
        assert made.sampler.data_source is made.dataset
        assert len(made.sampler) == N
        assert len(made.batch_sampler) == 6
        for sampler in (made.sampler, made.batch_sampler, made.batch_sampler.sampler):
            assert not hasattr(sampler, "set_epoch")
            assert not hasattr(sampler, "epoch")
    assert (shuffled.sampler.replacement, shuffled.sampler.num_samples) == (False, N)
    assert shuffled.sampler.generator is None


def test_a_loader_of_torchs_over_our_batch_sampler_shuffles_each_epoch() -> None:
    """Accelerate builds such a loader, and never iterates ours."""
    made = loader(shuffle=True, batch_size=2)
    expected = rebuild(made)
    theirs: Any = DataLoader(made.dataset, batch_sampler=made.batch_sampler, collate_fn=keep)
    for _ in range(3):
        assert list(theirs) == list(expected)


def test_a_sampler_that_is_given_a_generator_draws_from_it_as_torchs() -> None:
    """Accelerate gives one that it synchronises over the ranks."""
    made = loader(shuffle=True, batch_size=2)
    sampler = made.batch_sampler.sampler
    sampler.generator = torch.Generator().manual_seed(5)
    torchs = RandomSampler(range(N), generator=torch.Generator().manual_seed(5))
    assert list(sampler) == list(torchs)


def test_lightnings_way_of_rebuilding() -> None:
    made = loader(shuffle=True, batch_size=2, num_workers=1, drop_last=True)
    own = rebuild(made, batch_sampler=None, shuffle=False)  # with the loader's own sampler
    assert own.state_dict() == made.state_dict()
    ranked = DistributedSampler(made.dataset, num_replicas=2, rank=0)
    again = rebuild(made, sampler=ranked, batch_sampler=None, shuffle=False)
    assert again.sampler is ranked
    assert len(list(again)) == 3
    eval_order = SequentialSampler(made.dataset)
    again = rebuild(made, sampler=eval_order, batch_sampler=None, shuffle=False, drop_last=False)
    assert next(iter(again)) == [0, 1]


def test_the_samplers_of_another_dataset_stay_samplers() -> None:
    small = StatefulDataLoader(Rows(4), shuffle=True, batch_size=2)
    made = loader(sampler=small.sampler, batch_size=4)
    assert made.sampler is small.sampler
    assert sorted(next(iter(made))) == [0, 1, 2, 3]


def test_arguments_that_contradict_a_sampler_are_torchs_errors() -> None:
    made = loader(shuffle=True, batch_size=2)
    for arguments in (
        {"sampler": made.sampler, "shuffle": True},
        {"batch_sampler": made.batch_sampler, "batch_size": 3},
        {"batch_sampler": made.batch_sampler, "drop_last": True},
        {"batch_sampler": made.batch_sampler, "shuffle": True},
    ):
        with pytest.raises(ValueError, match="mutually exclusive"):
            loader(**arguments)


# Iterators


@pytest.mark.parametrize("kind", ["process", "thread"])
def test_an_iterator_has_a_list_of_its_workers(kind: str) -> None:
    batches = iter(loader(num_workers=2, worker_type=kind))
    next(batches)
    workers = batches._workers
    assert [worker.is_alive() for worker in workers] == [True, True]
    assert isinstance(workers, list)
    batches._shutdown_workers()
    for worker in workers:
        worker.join(10)
        assert not worker.is_alive()
    if kind == "process":
        assert [worker.exitcode for worker in workers] == [0, 0]
    assert batches._workers == []


def test_without_workers_an_iterator_has_no_such_list() -> None:
    assert not hasattr(iter(DataLoader(range(2))), "_workers")  # type: ignore[arg-type]
    assert not hasattr(iter(loader()), "_workers")


@pytest.mark.parametrize("workers", [0, 2])
def test_the_warning_about_a_length_has_torchs_hint(workers: int) -> None:
    class Short(sources.Stream):
        def __len__(self) -> int:
            return 1

    made = StatefulDataLoader(Short(N), num_workers=workers, batch_size=None)
    assert len(made) == 1
    with pytest.warns(UserWarning, match="Length of IterableDataset") as caught:
        list(made)
    hint = "properly configuring the IterableDataset replica at each worker"
    assert [hint in str(warning.message) for warning in caught] == [workers > 0] * len(caught)
