"""The reference loader of several ranks, compared with the model of ranks step by step."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from rank_model import Plan, Rank, RecutError, consumed, draw

from midepoch import StatefulDataLoader, batch_info
from midepoch.errors import PlanMismatchError

HISTORIES = 400
WORLDS = (1, 2, 3, 4, 6)
TAILS = {"keep": "keep", "drop": "discard", "rollover": "rollover"}

Sample = tuple[int, int, int]


class Places:
    """Samples that say which place they have, and what they draw there."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Sample:
        place = batch_info().place
        assert place is not None
        return place, index, torch.initial_seed()


class Ranks:
    """The loaders of all ranks, in one process."""

    def __init__(self, plan: Plan, world: int, **options: Any) -> None:
        self.plan = plan
        self.loaders = [
            StatefulDataLoader(
                Places(plan.length),  # type: ignore[arg-type]  # no torch Dataset
                plan.batch // world,
                shuffle=True,
                seed=plan.seed,
                last_batch=TAILS[plan.tail],
                collate_fn=list,
                ranks=(rank, world),
                **options,
            )
            for rank in range(world)
        ]
        self.iterators: list[Iterator[Any]] = []

    def deliver(self) -> list[list[Sample] | None]:
        """Return each rank's share of the next step; None at the epoch's end."""
        if not self.iterators:
            self.iterators = [iter(loader) for loader in self.loaders]
        shares = [next(iterator, None) for iterator in self.iterators]
        if None in shares:
            self.iterators = []
        return shares

    def state(self) -> dict[str, Any]:
        states = [json.dumps(loader.state_dict()) for loader in self.loaders]
        assert len(set(states)) == 1, "the ranks' states differ"
        found: dict[str, Any] = json.loads(states[0])
        return found

    def load(self, state: dict[str, Any]) -> None:
        self.iterators = []
        for loader in self.loaders:
            loader.load_state_dict(state)


@pytest.mark.parametrize("part", range(4))
def test_drawn_histories(part: int) -> None:
    for number in range(part, HISTORIES, 4):
        play(random.Random(number))


@pytest.mark.parametrize(
    "options", [{"num_workers": 2}, {"num_workers": 2, "worker_type": "thread"}]
)
def test_drawn_histories_with_workers(options: dict[str, Any]) -> None:
    play(random.Random(1), most=6, **options)


def play(chance: random.Random, most: int = 25, **options: Any) -> None:
    tail = chance.choice(tuple(TAILS))
    plan = Plan(chance.randrange(1, 40), chance.choice((12, 24)), tail, chance.randrange(100))
    world = chance.choice(WORLDS)
    model = [Rank(plan, rank, world) for rank in range(world)]
    ranks = Ranks(plan, world, **options)
    moved = False
    threads = options.get("worker_type") == "thread"
    for _ in range(chance.randrange(1, most)):
        what = chance.choice(("step", "step", "step", "resume", "recut", "leave"))
        if what == "step":
            epoch, here = model[0].position.epoch, model[0].plan
            wanted = [rank.deliver() for rank in model]
            moved = wanted[0] is not None
            for share, got in zip(wanted, ranks.deliver(), strict=True):
                if share is None or got is None:
                    assert share is None
                    assert got is None
                    continue
                assert [sample[:2] for sample in got] == share
                if not threads:
                    seeds = [draw(here, epoch, place) >> 1 for place, _ in share]
                    assert [sample[2] for sample in got] == seeds
        elif what == "leave" and moved:
            ranks.iterators, moved = [iter(loader) for loader in ranks.loaders], False
            for rank in model:
                rank.leave()
        elif what in ("resume", "recut"):
            world, saved, state = chance.choice(WORLDS), model[0].state(), ranks.state()
            plan = replace(model[0].plan, batch=chance.choice((12, 24)))
            recut = {} if what == "resume" else {"on_world_change": "recut"}
            fresh, loaders = (
                [Rank(plan, r, world) for r in range(world)],
                Ranks(plan, world, **options, **recut),
            )
            try:
                for rank in fresh:
                    rank.load(saved, recut=bool(recut))
            except RecutError:
                with pytest.raises(PlanMismatchError, match="recut"):
                    loaders.load(state)
                continue
            loaders.load(state)
            model, ranks, moved = fresh, loaders, False
        position = ranks.state()["position"]
        at = model[0].position
        assert (position["epoch"], position["samples"]) == (at.epoch, consumed(model[0].plan, at))
    del ranks
