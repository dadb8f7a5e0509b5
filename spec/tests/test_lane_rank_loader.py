"""The reference loader of ranks to which lanes are dealt, compared with the model step by step."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from rank_model import LaneRank, merge
from torch.utils.data import IterableDataset, get_worker_info

from midepoch import StatefulDataLoader, merge_states

HISTORIES = 120
WORLDS = (1, 2, 3, 4, 6, 12)

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


class Run:
    """The loaders of all ranks, in one process, and the model of each."""

    def __init__(self, kind: type[Streams], lengths: list[int], world: int, **options: Any) -> None:
        self.lengths, self.options, self.kind = lengths, options, kind
        batches = [-(-length // 2) for length in lengths]
        self.model = [LaneRank(batches, rank, world) for rank in range(world)]
        self.loaders = [
            StatefulDataLoader(
                kind(lengths),
                2,
                seed=5,
                lanes=len(lengths),
                collate_fn=list,
                ranks=(rank, world),
                **options,
            )
            for rank in range(world)
        ]
        self.iterators = [iter(loader) for loader in self.loaders]

    def step(self) -> None:
        """Take a batch of each rank, as the model says; when one has ended, go to all ends."""
        over = [self._take(rank) for rank in range(len(self.model))]
        while any(over) and not all(over):
            over = [self._take(rank) for rank in range(len(self.model))]
        if all(over):
            self.next_epoch()

    def _take(self, rank: int) -> bool:
        wanted, got = self.model[rank].deliver(), next(self.iterators[rank], None)
        if wanted is None:
            assert got is None
            return True
        lane, ordinal = wanted
        first, most = 2 * ordinal, self.lengths[lane]
        assert got == [(lane, at) for at in range(first, min(first + 2, most))]
        return False

    def next_epoch(self) -> None:
        for model in self.model:
            model.next_epoch()
        self.iterators = [iter(loader) for loader in self.loaders]

    def states(self) -> list[dict[str, Any]]:
        return [json.loads(json.dumps(loader.state_dict())) for loader in self.loaders]

    def moved(self, world: int, *, whole: bool) -> Run:
        """Return the ranks that go on; with ``whole``, from the one state of all ranks."""
        made = Run(self.kind, self.lengths, world, **self.options)
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


def play(chance: random.Random, most: int = 20, **options: Any) -> None:
    lengths = [chance.randrange(9) for _ in range(12)]
    kind = chance.choice((Streams, Readers))
    if kind is Readers:
        options = {"snapshot_every_n_steps": chance.choice((1, 5, 30)), **options}
        options = {"lifetime": chance.choice(("epoch", "run")), **options}
    run = Run(kind, lengths, chance.choice(WORLDS), **options)
    for _ in range(chance.randrange(1, most)):
        what = chance.choice(("step", "step", "step", "resume", "again"))
        if what == "step":
            run.step()
        elif what == "again":
            run = run.moved(len(run.loaders), whole=False)
        else:
            run = run.moved(chance.choice(WORLDS), whole=True)
        for loader, rank in zip(run.loaders, run.model, strict=True):
            state = loader.state_dict()
            entries = state["lanes"]["entries"]
            counts = [max(0, entry["ordinal"]) + entry["replay"] for entry in entries]
            assert counts == [lane.delivered for _, lane in rank.state().entries]


@pytest.mark.parametrize("part", range(4))
def test_drawn_histories(part: int) -> None:
    for number in range(part, HISTORIES, 4):
        play(random.Random(number))


@pytest.mark.parametrize(
    "options", [{"num_workers": 2}, {"num_workers": 2, "worker_type": "thread"}]
)
def test_drawn_histories_with_workers(options: dict[str, Any]) -> None:
    for number in range(2):
        play(random.Random(number), most=8, **options)


def test_global_steps_are_those_of_one_rank_until_a_lane_ends() -> None:
    alone = list(Run(Streams, [12] * 6, 1).iterators[0])
    for world in (2, 3, 6):
        ranks = Run(Streams, [12] * 6, world).iterators
        steps = zip(*ranks, strict=True)
        assert [batch for step in steps for batch in step] == alone
