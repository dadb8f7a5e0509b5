"""The reference loader of ranks to which lanes are dealt, compared with the model step by step."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any, Protocol

import pytest
import torch
from rank_model import LaneRank, Plan, merge, turns
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from midepoch import StatefulDataLoader, batch_info, merge_states

HISTORIES = 120
WORLDS = (1, 2, 3, 4, 6, 12)
ALL = 12
"""The lanes."""

pytestmark = pytest.mark.filterwarnings("ignore:.*batches are produced again")


class Streams(IterableDataset[tuple[int, int]]):
    """A stream for each lane: pairs of the lane and the place, so many samples as it is told."""

    def __init__(self, lengths: list[int]) -> None:
        self.lengths = lengths

    def __iter__(self) -> Iterator[tuple[int, int]]:
        info = get_worker_info()
        assert info is not None
        assert info.num_workers == len(self.lengths)
        for place in range(self.lengths[info.id]):
            yield info.id, place


class Readers(Streams):
    """The same with a position that is kept, and read on from."""

    def __init__(self, lengths: list[int]) -> None:
        super().__init__(lengths)
        self.read = 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for sample in [*super().__iter__()][self.read :]:
            self.read += 1
            yield sample
        self.read = 0

    def state_dict(self) -> dict[str, int]:
        return {"read": self.read}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.read = state["read"]


class Tally(Dataset[list[float]]):
    """Map-style: samples tell their lane, what its copy had looked up before, and what they draw.

    Some raise an error in their place.
    """

    def __init__(self, length: int, failing: int) -> None:
        self.length, self.failing = length, failing
        self.count = 0

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> list[float]:
        info = get_worker_info()
        assert info is not None
        assert info.num_workers == ALL
        self.count += 1
        if index % self.failing == 1:
            raise LookupError(index)
        draw = float(torch.rand((), generator=batch_info().torch))
        return [info.id, index, self.count - 1, draw]

    def state_dict(self) -> dict[str, int]:
        return {"count": self.count}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.count = state["count"]


def taken(batches: Iterator[Any]) -> Any:
    """Return the next batch, the word for one that fails, or None at the end."""
    try:
        return next(batches, None)
    except LookupError:
        return "failed"


class Data(Protocol):
    """What ranks deliver, and what is known of it without them."""

    batches: list[int]
    """Those of each lane."""

    def dataset(self) -> Any: ...

    def wanted(self, lane: int, ordinal: int) -> Any:
        """Return a lane's batch of the present epoch."""

    def next_epoch(self, delivered: int | None) -> None:
        """Begin the next epoch, after so many batches in all, or at the end."""


class OfStreams:
    """The streams of lanes."""

    def __init__(self, kind: type[Streams], chance: random.Random) -> None:
        self.kind = kind
        self.lengths = [chance.randrange(9) for _ in range(ALL)]
        self.batches = [-(-length // 2) for length in self.lengths]

    def dataset(self) -> Any:
        return self.kind(self.lengths)

    def wanted(self, lane: int, ordinal: int) -> Any:
        first, most = 2 * ordinal, self.lengths[lane]
        return [(lane, at) for at in range(first, min(first + 2, most))]

    def next_epoch(self, delivered: int | None) -> None:
        assert delivered is None or self.kind is Streams


class OfOrder:
    """The batches of a map-style dataset with a state, which a loader without ranks delivers."""

    def __init__(self, chance: random.Random, options: dict[str, Any]) -> None:
        self.length, self.failing = chance.randrange(80), chance.choice((7, 999))
        options = {"num_workers": 0, "lifetime": "epoch", **options}
        options["worker_type"] = "process"
        self.alone = loader_of(self.dataset(), None, options)
        plan = Plan(self.length, 2, "drop" if options.get("drop_last") else "keep")
        self.batches = turns(plan, ALL)
        self._begin(iter(self.alone))

    def _begin(self, batches: Iterator[Any]) -> None:
        self.live = batches
        ahead = iter(copy.deepcopy(self.alone))
        self.epoch = [taken(ahead) for _ in range(sum(self.batches))]

    def dataset(self) -> Any:
        return Tally(self.length, self.failing)

    def wanted(self, lane: int, ordinal: int) -> Any:
        return self.epoch[ordinal * ALL + lane]

    def next_epoch(self, delivered: int | None) -> None:
        for _ in range(sum(self.batches) + 1 if delivered is None else delivered):
            taken(self.live)
        self._begin(iter(self.alone))


def loader_of(dataset: Any, ranks: Any, options: dict[str, Any]) -> StatefulDataLoader[Any]:
    return StatefulDataLoader(
        dataset, 2, seed=5, lanes=ALL, collate_fn=list, ranks=ranks, **options
    )


class Run:
    """The loaders of all ranks, in one process, and the model of each."""

    def __init__(self, data: Data, world: int, options: dict[str, Any]) -> None:
        self.data, self.options = data, options
        self.model = [LaneRank(data.batches, rank, world) for rank in range(world)]
        self.loaders = [loader_of(data.dataset(), (rank, world), options) for rank in range(world)]
        self.iterators = [iter(loader) for loader in self.loaders]

    def step(self) -> bool:
        """Take a batch of each rank, as the model says; when one has ended, go to all ends.

        Tells whether a new epoch has begun.
        """
        over = [self._take(rank) for rank in range(len(self.model))]
        while any(over) and not all(over):
            over = [self._take(rank) for rank in range(len(self.model))]
        if all(over):
            self.next_epoch(None)
        return all(over)

    def _take(self, rank: int) -> bool:
        wanted, got = self.model[rank].deliver(), taken(self.iterators[rank])
        if wanted is None:
            assert got is None
            return True
        assert got == self.data.wanted(*wanted)
        return False

    def leave(self) -> None:
        """Break the epoch off after one more step."""
        if not self.step():
            self.next_epoch(sum(lane.delivered for r in self.model for lane in r.lanes.values()))

    def next_epoch(self, delivered: int | None) -> None:
        self.data.next_epoch(delivered)
        for model in self.model:
            model.next_epoch()
        self.iterators = [iter(loader) for loader in self.loaders]

    def states(self) -> list[dict[str, Any]]:
        return [json.loads(json.dumps(loader.state_dict())) for loader in self.loaders]

    def moved(self, world: int, *, whole: bool) -> Run:
        """Return the ranks that go on; with ``whole``, from the one state of all ranks."""
        made = Run(self.data, world, self.options)
        states, model = self.states(), [rank.state() for rank in self.model]
        alone = len(states) == 1
        if whole:
            states = [states[0] if alone else merge_states(states[::-1])] * world
            model = [merge(model)] * world
        for loader, state in zip(made.loaders, states, strict=True):
            loader.load_state_dict(state)
        for rank, part in zip(made.model, model, strict=True):
            rank.load(part)
        made.iterators = [iter(loader) for loader in made.loaders]
        return made


def play(kind: type, chance: random.Random, most: int = 20, **options: Any) -> None:
    if kind is not Streams:
        options = {"snapshot_every_n_steps": chance.choice((1, 2, 3, 5, 30, None)), **options}
        options = {"lifetime": chance.choice(("epoch", "run")), **options}
    if kind is Tally:
        options = {"drop_last": chance.random() < 0.5, **options}
    data: Data = OfOrder(chance, options) if kind is Tally else OfStreams(kind, chance)
    run = Run(data, chance.choice(WORLDS), options)
    leave = "step" if kind is Readers else "leave"
    for _ in range(chance.randrange(1, most)):
        what = chance.choice(("step", "step", "step", leave, "resume", "again"))
        if what == "step":
            run.step()
        elif what == "leave":
            run.leave()
        elif what == "again":
            run = run.moved(len(run.loaders), whole=False)
        else:
            run = run.moved(chance.choice(WORLDS), whole=True)
        for loader, rank in zip(run.loaders, run.model, strict=True):
            state = loader.state_dict()
            entries = state["lanes"]["entries"]
            counts = [max(0, entry["ordinal"]) + entry["replay"] for entry in entries]
            assert counts == [lane.delivered for _, lane in rank.state().entries]


@pytest.mark.parametrize("kind", [Streams, Readers, Tally])
@pytest.mark.parametrize("part", range(4))
def test_drawn_histories(part: int, kind: type) -> None:
    for number in range(part, HISTORIES, 4):
        play(kind, random.Random(number))


@pytest.mark.parametrize("kind", [Streams, Readers, Tally])
@pytest.mark.parametrize(
    "options",
    [
        {"num_workers": 2},
        {"num_workers": 2, "worker_type": "thread"},
        {"num_workers": 1, "persistent_workers": True, "lifetime": "run"},
    ],
)
def test_drawn_histories_with_workers(options: dict[str, Any], kind: type) -> None:
    for number in range(2):
        play(kind, random.Random(number), most=8, **({} if kind is Streams else options))


def test_global_steps_are_those_of_one_rank_until_a_lane_ends() -> None:
    data = OfStreams(Streams, random.Random(0))
    data.lengths = [12] * ALL
    data.batches = [6] * ALL
    alone = list(Run(data, 1, {}).iterators[0])
    for world in (2, 3, 6):
        ranks = Run(data, world, {}).iterators
        steps = zip(*ranks, strict=True)
        assert [batch for step in steps for batch in step] == alone
