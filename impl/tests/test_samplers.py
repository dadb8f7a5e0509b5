"""Orders: built in and users', their digest, their generators, ``set_epoch``."""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

import numpy as np
import pytest
import sources
import torch
from histories import keep
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler
from torch.utils.data.distributed import DistributedSampler

import midepoch
from midepoch import state_to_json
from midepoch.errors import (
    PlanMismatchError,
    ReplayMismatchError,
    SnapshotWarning,
    StateFormatError,
)
from midepoch.format.permutation import Permutation
from midepoch.format.seeds import derive, derive_words
from midepoch.sampling import generators
from midepoch.sampling.batches import BuiltInOrder

N = 11


class Indices(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        return index


def loader(n: int = N, **arguments: Any) -> Any:
    chosen = {"seed": 5, "collate_fn": keep, **arguments}
    return midepoch.StatefulDataLoader(Indices(n), **chosen)


def after(batches: int, made: Any) -> dict[str, Any]:
    iterator = iter(made)
    for _ in range(batches):
        next(iterator)
    state: dict[str, Any] = made.state_dict()
    return state


@pytest.mark.parametrize("n", [1, 7, 5000])
def test_shuffling_is_the_specifications_permutation(n: int) -> None:
    made = loader(n, batch_size=7, shuffle=True)
    for epoch in range(2):
        indices = [index for batch in made for index in batch]
        expected = Permutation(n, derive(5, "order", epoch)).indices(0, n)
        assert indices == expected


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("size", [None, 1, 3, 5000])
@pytest.mark.parametrize("key", [None, 9])
def test_a_built_in_order_starts_anywhere(key: int | None, size: int | None, drop: bool) -> None:
    def steps(start: int) -> list[Any]:
        order = BuiltInOrder(
            5003, key, batch_size=size, tail="drop" if drop else "keep", start=start
        )
        return list(iter(order.draw, None))

    whole = steps(0)
    sizes = {step.samples for step in whole}
    assert sizes == ({size or 1} if drop or size in (None, 1) else {size, 5003 % size})
    for start in (0, 1, len(whole) - 1, len(whole)):
        assert steps(start) == whole[start:]


def test_a_huge_source_is_neither_listed_nor_walked() -> None:
    class Huge(Indices):
        def __len__(self) -> int:
            return 10**12

    made = midepoch.StatefulDataLoader(Huge(0), 2, True, seed=5, collate_fn=keep)
    state = after(2, made)
    state["position"].update(batches=4 * 10**11, samples=8 * 10**11)
    made.load_state_dict(state)
    expected = Permutation(10**12, derive(5, "order", 0)).indices(8 * 10**11, 8 * 10**11 + 2)
    assert next(iter(made)) == expected


def test_the_digest_is_a_chain_over_the_batches() -> None:
    state = after(2, loader(sampler=[3, 1, 4, 1], batch_size=2))
    chain = hashlib.sha256(b"").digest()
    for text in (b"[3,1]", b"[4,1]"):
        chain = hashlib.sha256(chain + text).digest()
    assert state["position"]["digest"] == chain.hex()

    class Key:
        pass

    key = Key()
    keyed: Any = {key: 1}
    made: Any = midepoch.StatefulDataLoader(keyed, None, sampler=[key], collate_fn=keep)
    text = state_to_json({"$opaque": Key.__qualname__})
    chain = hashlib.sha256(hashlib.sha256(b"").digest() + text).digest()
    assert after(1, made)["position"]["digest"] == chain.hex()


class Forgetful(sources.Lively):
    """Yields something else each time, whatever it is given."""

    count = 0

    def __iter__(self) -> Any:
        type(self).count += 1
        return iter([(i + self.count) % self.n for i in range(self.n)])


def test_a_replay_that_differs_is_an_error_never_wrong_data() -> None:
    state = after(2, loader(sampler=Forgetful(N), batch_size=2))
    other = loader(sampler=Forgetful(N), batch_size=2)
    other.load_state_dict(state)
    with pytest.raises(ReplayMismatchError, match="not those"):
        iter(other)
    assert other.state_dict() == state

    short = loader(sampler=[0, 1], batch_size=1)
    long = loader(sampler=[0, 1, 2, 3], batch_size=1)
    short.load_state_dict(after(3, long))
    with pytest.raises(ReplayMismatchError, match="ended after 2"):
        iter(short)


def test_set_epoch_is_put_back_and_another_one_is_a_mismatch() -> None:
    def make() -> Any:
        sampler: Any = DistributedSampler(Indices(N), num_replicas=2, rank=1, seed=3)
        return loader(sampler=sampler, batch_size=2)

    made = make()
    made.sampler.set_epoch(4)
    whole = list(made)
    made.sampler.set_epoch(4)
    state = after(1, made)
    assert state["sampler"]["epoch"] == 4

    other = make()
    other.load_state_dict(state)
    assert other.sampler.epoch == 4
    assert list(other) == whole[1:]

    other.load_state_dict(state)
    other.sampler.set_epoch(5)
    with pytest.raises(ReplayMismatchError, match=r"sampler\.epoch is 5"):
        iter(other)
    assert other.state_dict() == state

    made = make()
    made.sampler.set_epoch(4)
    list(made)
    other.load_state_dict(made.state_dict())  # between epochs a new one is what everybody sets
    other.sampler.set_epoch(5)
    made.sampler.set_epoch(5)
    assert list(other) == list(made)


def test_generators_along_the_chain_are_saved_and_put_back() -> None:
    class Rolling(sources.Lively):
        def __init__(self, n: int) -> None:
            super().__init__(n)
            self.numpy = np.random.default_rng(3)
            self.legacy = np.random.RandomState(4)
            self.philox = np.random.Generator(np.random.Philox(5))

        def __iter__(self) -> Any:
            for index in super().__iter__():
                more = self.numpy.integers(9) + self.legacy.randint(9) + self.philox.integers(9)
                yield int(index + more) % self.n

    made = loader(sampler=Rolling(N), batch_size=2)
    list(made)
    batches = iter(made)
    next(batches)
    state = made.state_dict()
    rest = list(batches)
    following = list(made)
    assert {one["kind"] for one in state["sampler"]["generators"]} == {"torch", "numpy", "python"}
    other = loader(sampler=Rolling(N), batch_size=2)
    other.load_state_dict(state)
    assert [list(other), list(other)] == [rest, following]


@pytest.mark.parametrize(
    "generator",
    [
        torch.Generator(),
        random.Random(1),
        np.random.default_rng(1),
        np.random.Generator(np.random.MT19937(1)),
        np.random.Generator(np.random.SFC64(1)),
        np.random.RandomState(1),
    ],
)
def test_a_generators_state_is_json_and_complete(generator: Any) -> None:
    def draw() -> Any:
        if isinstance(generator, torch.Generator):
            return torch.rand(3, generator=generator).tolist()
        if isinstance(generator, random.Random):
            return [generator.gauss(0, 1) for _ in range(3)]
        return generator.standard_normal(3).tolist()

    draw()
    state = generators.state_of(generator)
    copy = json.loads(json.dumps(state))
    expected = draw()
    generators.put_state(generator, copy)
    assert draw() == expected


def test_a_generators_state_of_another_kind_is_refused() -> None:
    state = after(1, loader(sampler=sources.Lively(N)))
    for change in ({"path": "sampler.nobody"}, {"kind": "numpy"}, {"state": "not base64"}):
        changed = [{**state["sampler"]["generators"][0], **change}]
        bad = {**state, "sampler": {**state["sampler"], "generators": changed}}
        made = loader(sampler=sources.Lively(N))
        with pytest.raises(StateFormatError, match=r"\$\.sampler\.generators"):
            made.load_state_dict(bad)
        assert made.state_dict() == loader(sampler=sources.Lively(N)).state_dict()


def test_samplers_draw_from_private_streams() -> None:
    class Drawing(sources.Lively):
        def __iter__(self) -> Any:
            for _ in range(3):
                yield torch.randint(self.n, ()).item()

    torch.manual_seed(1)
    before = torch.get_rng_state()
    indices = [batch[0] for batch in loader(sampler=Drawing(N))]
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(derive_words(5, "sampler", 0).torch)
    assert indices == [torch.randint(N, ()).item() for _ in range(3)]


def test_the_four_slots() -> None:
    def stated(**arguments: Any) -> list[str]:
        names: list[str] = after(2, loader(**arguments))["sampler"]["stated"]
        return names

    skipping = sources.SkippingSampler
    assert stated(sampler=skipping(N)) == ["sampler"]
    assert stated(sampler=skipping(N), batch_size=None) == ["sampler"]
    assert stated(batch_sampler=BatchSampler(skipping(N), 2, False)) == ["sampler"]
    assert stated(batch_sampler=sources.Buckets(N)) == ["batch_sampler_iter"]
    assert stated(sampler=RandomSampler(Indices(N))) == []
    assert stated(sampler=SequentialSampler(Indices(N))) == []


def test_a_stateful_sampler_is_not_replayed() -> None:
    class Telling(sources.SkippingSampler):
        started_at: int | None = None

        def __iter__(self) -> Any:
            self.started_at = self.next_yielded
            return super().__iter__()

    state = after(4, loader(sampler=Telling(N), batch_size=2, snapshot_every_n_steps=2))
    sampler = Telling(N)
    other = loader(sampler=sampler, batch_size=2)
    other.load_state_dict(state)
    next(iter(other))
    assert sampler.started_at == state["sampler"]["batches"] * 2
    assert state["sampler"]["batches"] in (2, 4)


def test_a_failing_samplers_state_dict_keeps_the_older_one() -> None:
    class Shy(sources.SkippingSampler):
        def state_dict(self) -> dict[str, Any]:
            if self.yielded == 4:
                raise OSError("not here")
            return super().state_dict()

    made = loader(sampler=Shy(N), batch_size=2)
    batches = iter(made)
    next(batches)
    next(batches)
    with pytest.warns(SnapshotWarning, match="not here"):
        next(batches)
    other = loader(sampler=sources.SkippingSampler(N), batch_size=2)
    state = made.state_dict()
    state["plan"]["sampler_name"] = "SkippingSampler"
    other.load_state_dict(state)
    assert list(other) == list(batches)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_broken_off_epoch_leaves_a_sampler_where_it_was_delivered(workers: int) -> None:
    for sampler in (sources.SkippingSampler, sources.EpochCountingSampler, sources.Lively):
        made = loader(sampler=sampler(N), batch_size=2, num_workers=workers, lanes=1)
        batches = iter(made)
        next(batches)
        del batches
        inline = loader(sampler=sampler(N), batch_size=2, lanes=1)
        batches = iter(inline)
        next(batches)
        del batches
        assert list(made) == list(inline)


# Ranks


def ranked(rank: int, world: int, **arguments: Any) -> Any:
    sampler: Any = DistributedSampler(Indices(8), world, rank, shuffle=False)
    return loader(8, sampler=sampler, batch_size=1, **arguments)


@pytest.mark.parametrize(("rank", "world"), [(0, 1), (0, 4), (1, 2), (0, 3)])
def test_within_an_epoch_a_state_is_its_own_ranks(rank: int, world: int) -> None:
    # The first index is 0 for the first rank of any number: the digest alone would not tell.
    state = after(1, ranked(0, 2))
    assert state["plan"]["sampler_name"] == "DistributedSampler"
    assert state["position"]["share"] == {"rank": 0, "world": 2}
    with pytest.raises(PlanMismatchError, match="rank 0 of 2"):
        ranked(rank, world).load_state_dict(state)
    same = ranked(0, 2)
    same.load_state_dict(state)
    assert list(same) == [[2], [4], [6]]


def test_between_epochs_any_rank_goes_on_and_stays_itself() -> None:
    first = ranked(0, 2)
    list(first)
    other = ranked(1, 4)
    other.load_state_dict(first.state_dict())
    iterator = iter(other)
    assert next(iterator) == [1]
    state = other.state_dict()
    assert state["position"]["share"] == {"rank": 1, "world": 4}
    assert state["position"]["epoch"] == 1
    again = ranked(1, 4)
    again.load_state_dict(state)
    assert list(again) == [[5]]


def test_between_epochs_another_class_is_another_plan_still() -> None:
    first = ranked(0, 2)
    list(first)
    with pytest.raises(PlanMismatchError, match="sampler_name"):
        loader(8, sampler=SequentialSampler(Indices(8)), batch_size=1).load_state_dict(
            first.state_dict()
        )


def test_the_rank_is_found_below_a_batch_sampler() -> None:
    sampler: Any = DistributedSampler(Indices(8), 2, 1, shuffle=False)

    class Pairs(BatchSampler):
        pass

    made = loader(8, batch_sampler=Pairs(sampler, 2, False))
    assert made.state_dict()["position"]["share"] == {"rank": 1, "world": 2}


class Refilled:
    """A batch sampler that fills one object again and again, and gives it each time."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch

    def __iter__(self) -> Any:
        for first in range(0, 24, 2):
            self.batch[0], self.batch[1] = first, first + 1
            yield self.batch


@pytest.mark.parametrize(
    "batch", [[0, 0], np.zeros(2, dtype=int), torch.zeros(2, dtype=torch.int64)]
)
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["process", "thread"])
def test_a_batch_sampler_may_fill_one_object_again(batch: Any, workers: int, kind: str) -> None:
    made = loader(24, batch_sampler=Refilled(batch), num_workers=workers, worker_type=kind)
    assert [int(index) for batch in made for index in batch] == list(range(24))
