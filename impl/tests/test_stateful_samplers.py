"""torchdata's samplers given to this loader, and the sampler that takes their place."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import pytest
import sources
import torch
from histories import keep
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler
from torch.utils.data.distributed import DistributedSampler

import midepoch
from midepoch import StatefulDistributedSampler, state_from_json, state_to_json
from midepoch.errors import StateFormatError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torchdata = pytest.importorskip("torchdata.stateful_dataloader")
    theirs = pytest.importorskip("torchdata.stateful_dataloader.sampler")

N = 23


class Indices(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        return index


DATA = Indices(N)
SHARES = [theirs.StatefulDistributedSampler, StatefulDistributedSampler]


def generator(seed: int = 8) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def loader(order: dict[str, Any], **arguments: Any) -> Any:
    chosen = {"seed": 5, "collate_fn": keep, **order, **arguments}
    if "batch_sampler" not in order:
        chosen.setdefault("batch_size", 3)
    return midepoch.StatefulDataLoader(DATA, **chosen)


def deliver(made: Any, epochs: range) -> list[Any]:
    """Return whole epochs, each under its number as ``set_epoch`` wants it."""
    out = []
    for epoch in epochs:
        if hasattr(made.sampler, "set_epoch"):
            made.sampler.set_epoch(epoch)
        out.append(list(made))
    return out


def check_every_resume(make: Any, later: range = range(1, 3), **execution: Any) -> list[Any]:
    """Save after each number of batches of epoch 1, and at its end; compare what follows."""
    expected = deliver(make(), range(3))
    for batches in range(len(expected[1]) + 2):
        saver = make(**execution)
        deliver(saver, range(1))
        if hasattr(saver.sampler, "set_epoch"):
            saver.sampler.set_epoch(1)
        iterator = iter(saver)
        delivered = list(itertools.islice(iterator, batches))
        text = state_to_json(saver.state_dict())
        del iterator
        other = make(**execution)
        other.load_state_dict(state_from_json(text))
        if batches <= len(expected[1]):
            assert delivered + list(other) == expected[1], batches
        assert deliver(other, range(2, 3)) == expected[2:], batches
    return expected


def shares() -> Any:
    for rank, world, shuffle, drop in itertools.product([0, 2], [3], [True, False], [True, False]):
        yield {
            "num_replicas": world,
            "rank": rank,
            "shuffle": shuffle,
            "drop_last": drop,
            "seed": 4,
        }


@pytest.mark.parametrize("kind", SHARES, ids=["torchdata's", "ours"])
@pytest.mark.parametrize("share", list(shares()), ids=lambda s: "-".join(map(str, s.values())))
@pytest.mark.parametrize("interval", [1, 3])
def test_a_ranks_share(kind: Any, share: dict[str, Any], interval: int) -> None:
    def make(**arguments: Any) -> Any:
        return loader(
            {"sampler": kind(DATA, **share)}, snapshot_every_n_steps=interval, **arguments
        )

    expected = check_every_resume(make)
    plain: Any = DistributedSampler(DATA, **share)
    for epoch, batches in enumerate(expected):
        plain.set_epoch(epoch)
        assert [index for batch in batches for index in batch] == list(plain)


@pytest.mark.parametrize("saving", SHARES)
@pytest.mark.parametrize("loading", SHARES)
def test_the_two_read_each_others_states(saving: Any, loading: Any) -> None:
    def make(kind: Any) -> Any:
        return loader({"sampler": kind(DATA, num_replicas=2, rank=1, seed=3)})

    saver = make(saving)
    expected = deliver(make(saving), range(1))[0]
    iterator = iter(saver)
    next(iterator)
    other = make(loading)
    other.load_state_dict(saver.state_dict())
    assert list(other) == list(iterator) == expected[1:]

    one, two = (kind(DATA, 2, 1, seed=3) for kind in (saving, loading))
    indices = iter(one)
    list(itertools.islice(indices, 5))
    two.load_state_dict(one.state_dict())
    assert list(two) == list(indices)
    assert list(two) == list(one)


def test_the_ranks_together_are_the_dataset() -> None:
    for drop in (False, True):
        ranks: list[Any] = [
            StatefulDistributedSampler(DATA, 4, rank, drop_last=drop) for rank in range(4)
        ]
        dealt = [list(sampler) for sampler in ranks]
        assert {len(indices) for indices in dealt} == {5 if drop else 6}
        union = set(itertools.chain(*dealt))
        assert len(union) == (20 if drop else N)


def test_without_a_loader_the_end_of_a_pass_is_the_beginning_of_the_next() -> None:
    sampler = StatefulDistributedSampler(DATA, 2, 0)
    whole = list(sampler)
    assert sampler.state_dict() == {"yielded": 0}
    sampler.load_state_dict({"yielded": 4})
    assert sampler.state_dict() == {"yielded": 4}
    assert [list(sampler), list(sampler)] == [whole[4:], whole]
    sampler.load_state_dict({"yielded": len(whole)})
    assert [list(sampler), list(sampler)] == [[], whole]


@pytest.mark.parametrize("state", [{}, None, {"yielded": -1}, {"yielded": True}, {"yielded": 13}])
def test_a_faulty_state_is_refused(state: Any) -> None:
    sampler = StatefulDistributedSampler(DATA, 2, 0)
    with pytest.raises(StateFormatError, match=r"\$\.yielded: expected 0 to 12"):
        sampler.load_state_dict(state)
    assert len(list(sampler)) == 12


ORDERS: dict[str, Any] = {
    "random": lambda: {"sampler": theirs.RandomSampler(DATA, generator=generator())},
    "random, replaced": lambda: {
        "sampler": theirs.RandomSampler(DATA, True, 11, generator=generator())
    },
    "batches of random": lambda: {
        "batch_sampler": theirs.BatchSampler(
            theirs.RandomSampler(DATA, generator=generator()), 4, False
        )
    },
    "batches of torch's random": lambda: {
        "batch_sampler": theirs.BatchSampler(RandomSampler(DATA, generator=generator()), 4, True)
    },
    "batches of a sequence": lambda: {
        "batch_sampler": theirs.BatchSampler(SequentialSampler(DATA), 4, False)
    },
    "torch's batches of random": lambda: {
        "batch_sampler": BatchSampler(theirs.RandomSampler(DATA, generator=generator()), 4, False)
    },
    "torch's random, weighted": lambda: {
        "sampler": torch.utils.data.WeightedRandomSampler(
            [1.0, 2.0, 3.0], 10, generator=generator()
        )
    },
    "torch's random of a subset": lambda: {
        "sampler": torch.utils.data.SubsetRandomSampler([3, 1, 4, 15, 9, 2, 6], generator())
    },
}


@pytest.mark.parametrize("interval", [None, 1, 2])
@pytest.mark.parametrize("name", ORDERS)
def test_other_samplers(name: str, interval: int | None) -> None:
    check_every_resume(lambda: loader(ORDERS[name](), snapshot_every_n_steps=interval))


def test_a_seed_that_a_sampler_drew_itself_comes_with_the_state() -> None:
    saver = loader({"sampler": theirs.RandomSampler(DATA)})
    iterator = iter(saver)
    next(iterator)
    other = loader({"sampler": theirs.RandomSampler(DATA)})
    other.load_state_dict(saver.state_dict())
    assert [list(other), list(other)] == [list(iterator), list(saver)]


@pytest.mark.parametrize("kind", SHARES)
@pytest.mark.parametrize("batch_size", [None, 3])
def test_workers_do_not_show(kind: Any, batch_size: int | None) -> None:
    def make(**arguments: Any) -> Any:
        order = {"sampler": kind(DATA, num_replicas=4, rank=3)}
        return loader(order, batch_size=batch_size, lanes=2, **arguments)

    saver = make(num_workers=2)
    expected = deliver(make(), range(3))
    assert deliver(saver, range(1)) == expected[:1]
    saver.sampler.set_epoch(1)
    iterator = iter(saver)
    first = next(iterator)
    other = make(num_workers=1)
    other.load_state_dict(saver.state_dict())
    del iterator
    assert [first, *other] == expected[1]
    assert deliver(other, range(2, 3)) == expected[2:]


@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")
def test_torchdatas_loader_takes_the_sampler_too() -> None:
    sampler: Any = StatefulDistributedSampler(DATA, 2, 1)
    made = torchdata.StatefulDataLoader(DATA, 3, sampler=sampler, collate_fn=keep)
    iterator = iter(made)
    next(iterator)
    state = made.state_dict()
    rest = list(iterator)
    again: Any = StatefulDistributedSampler(DATA, 2, 1)
    other = torchdata.StatefulDataLoader(DATA, 3, sampler=again, collate_fn=keep)
    other.load_state_dict(state)
    assert list(other) == rest


class Dated:
    """A Stateful sampler whose state is its epoch and its place."""

    def __init__(self) -> None:
        self.epoch, self.place, self.loaded = 0, 0, False

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Any:
        start, self.loaded = self.place if self.loaded else 0, False
        for self.place in range(start + 1, N + 1):
            yield (self.place - 1 + 5 * self.epoch) % N
        self.place = 0

    def state_dict(self) -> dict[str, int]:
        return {"epoch": self.epoch, "place": self.place}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.epoch, self.place, self.loaded = state["epoch"], state["place"], True


@pytest.mark.parametrize("interval", [1, 3, 100])
def test_an_epoch_that_is_set_after_a_load_wins_over_the_samplers_state(interval: int) -> None:
    def make(**arguments: Any) -> Any:
        return loader({"sampler": Dated()}, snapshot_every_n_steps=interval, **arguments)

    expected = check_every_resume(make)
    assert len({str(epoch) for epoch in expected}) == 3


def test_it_wins_where_the_epoch_before_was_left_too() -> None:
    whole = deliver(loader({"sampler": Dated()}), range(3))
    saver = loader({"sampler": Dated()}, snapshot_every_n_steps=100)
    deliver(saver, range(1))
    saver.sampler.set_epoch(1)
    next(iter(saver))
    saver.sampler.set_epoch(2)
    iterator = iter(saver)
    state = saver.state_dict()
    assert list(iterator) == whole[2]
    other = loader({"sampler": Dated()}, snapshot_every_n_steps=100)
    other.load_state_dict(state)
    assert list(other) == whole[2]
