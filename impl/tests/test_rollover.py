"""``last_batch``: the samples that an epoch carries into the next survive any resume."""

from __future__ import annotations

import itertools
import pickle
import random
from collections.abc import Iterator
from typing import Any

import histories
import pytest
import sources
import torch
from histories import keep
from torch.utils.data import BatchSampler, RandomSampler, Sampler, SequentialSampler

import midepoch
from midepoch.encoding.canonical import DIGEST_START, chain_digest
from midepoch.errors import ArgumentError, PlanMismatchError, StateEncodingError
from midepoch.format.permutation import Permutation
from midepoch.format.seeds import derive

N, SIZE = 11, 4


class Indices(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        return index


class Seen(sources.Counting):
    """Stateful, without draws: a row tells how many its copy had served."""

    def __getitem__(self, index: int) -> Any:
        self.served += 1
        return [index, self.served]


class Opaque:
    """A key that cannot leave the process."""

    def __reduce__(self) -> Any:
        raise TypeError("stays here")


def loader(n: int = N, *, dataset: Any = None, **arguments: Any) -> Any:
    chosen = {
        "batch_size": SIZE,
        "seed": 5,
        "collate_fn": keep,
        "last_batch": "rollover",
        **arguments,
    }
    return midepoch.StatefulDataLoader(Indices(n) if dataset is None else dataset, **chosen)


class Echo(sources.Plain):
    def __getitem__(self, key: Any) -> Any:
        return key


def carried(made: Any) -> Any:
    return made.state_dict()["position"]["carried"]


def resumed(made: Any, **arguments: Any) -> Any:
    other = loader(**arguments)
    other.load_state_dict(made.state_dict())
    assert other.state_dict() == made.state_dict()
    return other


@pytest.mark.parametrize(
    ("n", "shuffle"), [(0, False), *itertools.product([1, 3, 4, 11, 5000], [False, True])]
)
def test_epochs_are_cut_from_one_sequence(n: int, shuffle: bool) -> None:
    made = loader(n, shuffle=shuffle)
    sequence: list[int] = []
    for epoch in range(6):
        order = Permutation(n, derive(5, "order", epoch)).indices(0, n) if shuffle else range(n)
        sequence += order
        whole, rest = divmod(len(sequence), SIZE)
        assert len(made) == whole
        batches = list(made)
        assert batches == [sequence[i * SIZE : (i + 1) * SIZE] for i in range(whole)]
        sequence = sequence[whole * SIZE :]
        assert carried(made) == sequence
        assert len(sequence) == rest
        assert made.state_dict()["position"]["batches"] == 0


def samplers() -> list[Any]:
    return [
        None,
        [3, 1, 4, 1, 5, 9, 2],
        ("a", "b", "c", "d", "e"),
        *(make(N) for make in sources.SAMPLERS),
        RandomSampler(Indices(N), True, 7, generator=torch.Generator()),
    ]


@pytest.mark.parametrize("which", range(len(samplers())))
@pytest.mark.parametrize("seed", range(3))
def test_histories_with_saves_are_histories_without(which: int, seed: int) -> None:
    rng = random.Random(100 * which + seed)

    def make(**execution: Any) -> Any:
        sampler = samplers()[which]
        order = {"shuffle": True} if sampler is None else {"sampler": sampler}
        return loader(dataset=Echo(N), **order, **execution)

    for _ in range(8):
        operations: list[histories.Operation] = []
        for _ in range(rng.randrange(2, 9)):
            name = rng.choice(["take", "take", "take", "save", "save", "break"])
            interval = {"snapshot_every_n_steps": rng.choice([None, 1, 2, 5])}
            value = {"take": rng.randrange(1, 5), "save": interval, "break": None}[name]
            operations.append((name, value))
        operations.append(("take", 6))
        first = {"snapshot_every_n_steps": rng.choice([None, 1, 3])}
        straight = histories.play(make, operations, resume=False, **first)
        assert histories.play(make, operations, resume=True, **first) == straight, operations


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_workers_and_stateful_datasets_do_not_show(workers: int) -> None:
    def make(**arguments: Any) -> Any:
        chosen = {"persistent_workers": arguments.get("num_workers", 0) > 0, **arguments}
        return loader(dataset=Seen(N), shuffle=True, lanes=2, **chosen)

    straight = make()
    whole = [list(straight) for _ in range(4)]
    other = make(num_workers=workers)
    list(other)
    iterator = iter(other)
    first = [next(iterator)]
    again = make(num_workers=(workers + 1) % 3, snapshot_every_n_steps=3)
    again.load_state_dict(other.state_dict())
    del iterator
    assert [first + list(again), *(list(again) for _ in range(2))] == whole[1:]
    assert [len(epoch) for epoch in whole] == [2, 3, 3, 3]


def test_the_end_unseen_is_an_empty_rest_and_then_what_was_left_over() -> None:
    for order in ({"shuffle": True}, {"sampler": sources.SkippingSampler(N)}):
        made = loader(**order)
        expected = [list(made) for _ in range(3)]
        made = loader(**order)
        list(itertools.islice(iter(made), 2))
        other = resumed(made, **order)
        assert carried(other) == []
        assert [list(other) for _ in range(3)] == [[], *expected[1:]]


def test_a_break_carries_nothing_on() -> None:
    made = loader()
    list(made)
    assert (carried(made), len(made)) == ([8, 9, 10], 3)
    iterator = iter(made)
    assert next(iterator) == [8, 9, 10, 0]
    assert (carried(made), len(made)) == ([8, 9, 10], 3)
    iterator = iter(made)
    assert (carried(made), len(made)) == ([], 2)
    assert list(resumed(made)) == list(iterator) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    list(itertools.islice(iter(made), 3))  # all batches, the end not seen: a break as well
    assert len(made) == 3
    iter(made)
    assert (carried(made), len(made)) == ([], 2)


@pytest.mark.parametrize("batches", [1, 2])
def test_a_break_leaves_a_sampler_exactly_where_it_was_delivered(batches: int) -> None:
    def play(save: bool, workers: int) -> list[Any]:
        made = loader(sampler=sources.EpochCountingSampler(N), num_workers=workers, lanes=1)
        list(made)
        assert len(carried(made)) == 3
        iterator = iter(made)
        list(itertools.islice(iterator, batches))
        del iterator
        iter(made)
        assert len(made) == N // SIZE
        if save:
            made = resumed(
                made, sampler=sources.EpochCountingSampler(N), num_workers=workers, lanes=1
            )
        return [list(made) for _ in range(3)]

    assert play(True, 0) == play(False, 0) == play(False, 1) == play(True, 1)
    skipped = batches * SIZE - 3
    at = [(i * 5 + 1) % N for i in range(1, N + 1)][skipped:]
    assert play(False, 0)[0] == [at[i : i + SIZE] for i in range(0, len(at) - SIZE + 1, SIZE)]


def test_the_digest_has_the_carried_keys() -> None:
    made = loader(sampler=list(range(N)))
    list(made)
    next(iter(made))
    assert made.state_dict()["position"]["digest"] == chain_digest(DIGEST_START, [8, 9, 10, 0])


def test_a_dataset_that_changes_between_epochs() -> None:
    dataset = Indices(N)
    made = loader(dataset=dataset)
    list(made)
    dataset.n = 13
    assert len(made) == 4
    assert [len(batch) for batch in made] == [4, 4, 4, 4]
    assert carried(made) == []
    dataset.n = N
    list(made)
    dataset.n = 9  # 9 and 10 are gone
    assert carried(made) == [8]
    assert list(resumed(made, dataset=Indices(9))) == list(made) == [[8, 0, 1, 2], [3, 4, 5, 6]]


def test_keys_are_carried_as_values() -> None:
    keys = [[1], [2], [3]]

    class Lists(Sampler[Any]):
        def __iter__(self) -> Iterator[Any]:
            return iter(keys)

    made = loader(dataset=Echo(3), sampler=Lists(), batch_size=2)
    list(made)
    state = made.state_dict()
    state["position"]["carried"][0].append(4)
    assert carried(made) == [[3]]
    other = loader(dataset=Echo(3), sampler=Lists(), batch_size=2)
    other.load_state_dict(state)
    state["position"]["carried"][0].append(5)
    assert carried(other) == [[3, 4]]
    pickle.loads(pickle.dumps(state))


def test_a_key_that_stays_here_is_carried_but_not_saved() -> None:
    keys = [Opaque(), Opaque(), Opaque()]
    made = loader(dataset=Echo(3), sampler=keys, batch_size=2)
    list(made)
    with pytest.raises(StateEncodingError, match=r"position\.carried.*Opaque.*stays here"):
        made.state_dict()
    assert list(made) == [[keys[2], keys[0]], keys[1:]]
    assert carried(made) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"batch_size": None}, "batch_size=None"),
        ({"batch_size": 1, "batch_sampler": BatchSampler(SequentialSampler([1]), 2, False)}, "got"),
        ({"dataset": sources.Stream(4)}, "iterable-style"),
        ({"drop_last": True}, "drop_last=True"),
        ({"last_batch": "roll"}, "last_batch should be one of"),
        ({"last_batch": "keep", "drop_last": True}, "drop_last=True"),
    ],
)
def test_what_rollover_is_not_for_is_refused(arguments: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words) as refusal:
        loader(**arguments)
    assert isinstance(refusal.value, ValueError)


def test_keep_and_discard_are_torchs_two_ways() -> None:
    kept, discarded = loader(last_batch="keep"), loader(last_batch="discard")
    assert (kept.drop_last, discarded.drop_last) == (False, True)
    assert [len(batch) for batch in kept] == [4, 4, 3]
    assert [len(batch) for batch in discarded] == [4, 4]
    assert (len(kept), len(discarded)) == (3, 2)
    assert loader(last_batch="discard", drop_last=True).state_dict()["plan"]["tail"] == "drop"
    stream = loader(dataset=sources.Stream(5), last_batch="discard")
    assert [len(batch) for batch in stream] == [4]
    for tail in ("keep", "discard"):
        with pytest.raises(PlanMismatchError, match="tail"):
            loader(last_batch=tail).load_state_dict(loader().state_dict())


@pytest.mark.parametrize(
    "execution",
    [
        {"num_workers": 2, "worker_type": "thread"},
        {"num_workers": 2, "in_order": False},
        {"num_workers": 2, "persistent_workers": True, "prefetch_next_epoch": True},
        {"num_workers": 2, "prefetch": 0},
    ],
    ids=lambda execution: "-".join(execution),
)
def test_no_execution_shows(execution: dict[str, Any]) -> None:
    for order in ({"shuffle": True}, {"sampler": [3, 1, 4, 1, 5, 9, 2]}):
        plain, made = loader(lanes=0, **order), loader(lanes=0, **order, **execution)
        for _ in range(3):
            expected, iterator = list(plain), iter(made)
            first = [next(iterator)]
            middle = loader(lanes=0, **order, **execution)
            middle.load_state_dict(made.state_dict())
            delivered, resumed_rest = [*first, *iterator], [*first, *middle]
            if not execution.get("in_order", True):
                for batches in (delivered, resumed_rest, expected):
                    batches.sort()
            assert delivered == resumed_rest == expected
            assert carried(made) == carried(middle) == carried(plain)
