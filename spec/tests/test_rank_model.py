"""The model of ranks, played over drawn histories of steps, states, other ranks and other sizes."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from rank_model import (
    Lane,
    LaneRank,
    Lanes,
    MergeError,
    Plan,
    Position,
    Rank,
    RecutError,
    draw,
    merge,
    next_step,
    sequence,
    turns,
)

HISTORIES = 3000
WORLDS = (1, 2, 3, 4, 6)


def ranks_of(plan: Plan, world: int) -> list[Rank]:
    return [Rank(plan, rank, world) for rank in range(world)]


@pytest.mark.parametrize("part", range(6))
def test_drawn_histories(part: int) -> None:
    for number in range(part, HISTORIES, 6):
        play(random.Random(number))


def play(chance: random.Random) -> None:
    """Play one history, and compare each step with the order of the epoch itself."""
    tail = chance.choice(("keep", "drop", "rollover"))
    plan = Plan(chance.randrange(40), chance.choice((12, 24)), tail, chance.randrange(100))
    ranks = ranks_of(plan, chance.choice(WORLDS))
    ids, at, epoch = sequence(plan, Position()), 0, 0
    delivered: list[int] = []
    for _ in range(chance.randrange(1, 25)):
        what = chance.choice(("step", "step", "step", "resume", "recut", "leave"))
        if what == "resume":
            ranks = resumed(ranks, chance.choice(WORLDS), ranks[0].plan.batch)
        elif what == "recut":
            ranks = resumed(ranks, chance.choice(WORLDS), chance.choice((12, 24)))
        elif what == "leave":
            begun = at > 0
            for rank in ranks:
                rank.leave()
            if begun:
                epoch, at, delivered = epoch + 1, 0, []
                ids = sequence(ranks[0].plan, Position(epoch))
        else:
            batch = ranks[0].plan.batch
            shares = [rank.deliver() for rank in ranks]
            want = ids[at : at + batch]
            if not want or (tail != "keep" and len(want) < batch):
                assert shares == [None] * len(ranks)
                whole = len(ids) if tail == "keep" else len(ids) - len(want)
                assert delivered == ids[:whole]
                carried = tuple(want) if tail == "rollover" else ()
                epoch, at, delivered = epoch + 1, 0, []
                ids = sequence(ranks[0].plan, Position(epoch, carried=carried))
            else:
                got = [sample for share in shares for sample in share or ["a share is missing"]]
                assert len({len(share or []) for share in shares}) == 1
                own, filled = got[: len(want)], got[len(want) :]
                assert own == list(enumerate(ids))[at : at + batch]
                # Only an epoch's last step is filled up, and no place comes twice.
                assert not filled or (tail == "keep" and at + len(want) == len(ids))
                assert [place for place, _ in filled] == [len(ids) + i for i in range(len(filled))]
                at += len(want)
                delivered += want
        assert {rank.state() for rank in ranks} == {ranks[0].state()}
        assert ranks[0].position.epoch == epoch


def resumed(ranks: list[Rank], world: int, batch: int) -> list[Rank]:
    """Return other ranks that loaded the state of any one of these."""
    states = [rank.state() for rank in ranks]
    made = ranks_of(Plan(ranks[0].plan.length, batch), world)
    for rank in made:
        state = states[rank.rank % len(states)]
        if batch != ranks[0].plan.batch:
            before = rank.state()
            with pytest.raises(RecutError):
                rank.load(state)
            assert rank.state() == before
        rank.load(state, recut=True)
    return made


def test_a_sample_draws_the_same_on_any_rank_and_in_any_cut() -> None:
    seen: dict[int, set[int]] = {}
    for batch in (12, 24):
        for world in WORLDS:
            for rank in ranks_of(Plan(48, batch, seed=5), world):
                while share := rank.deliver():
                    for place, index in share:
                        seen.setdefault(index, set()).add(draw(rank.plan, 0, place))
    assert sorted(seen) == list(range(48))
    assert all(len(draws) == 1 for draws in seen.values())
    assert len({draw for draws in seen.values() for draw in draws}) == 48


def test_a_last_step_is_filled_up_with_other_draws() -> None:
    plan = Plan(13, 12, seed=1)
    shares = [[rank.deliver(), rank.deliver()][1] for rank in ranks_of(plan, 4)]
    ids = sequence(plan, Position())
    assert shares == [[(12, ids[12])], [(13, ids[0])], [(14, ids[1])], [(15, ids[2])]]
    assert next_step(plan, Position(steps=1)) == [(12, ids[12])]


def test_ranks_that_cannot_share_equally_are_refused() -> None:
    with pytest.raises(ValueError, match="5 ranks cannot share a global batch of 12"):
        Rank(Plan(10, 12), 0, 5)
    with pytest.raises(ValueError, match="2 ranks cannot share 3 lanes"):
        LaneRank([1, 2, 3], 0, 2)


# Lanes


@pytest.mark.parametrize("part", range(6))
def test_drawn_histories_of_lanes(part: int) -> None:
    for number in range(part, HISTORIES, 6):
        play_lanes(random.Random(number))


def play_lanes(chance: random.Random) -> None:
    """Play one epoch under changing ranks: each lane's sequence comes once, in its order."""
    count = chance.choice((1, 2, 4, 6, 12))
    lengths = [chance.randrange(7) for _ in range(count)]
    worlds = [world for world in WORLDS if count % world == 0]
    world = chance.choice(worlds)
    ranks = [LaneRank(lengths, rank, world) for rank in range(world)]
    delivered: list[tuple[int, int]] = []
    while True:
        batches = [rank.deliver() for rank in ranks]
        delivered += [batch for batch in batches if batch is not None]
        if batches == [None] * world:
            break
        if chance.random() < 0.3:
            # Each rank of the same number goes on from its own part; others need the whole.
            parts = [rank.state() for rank in ranks]
            before, world = world, chance.choice(worlds)
            ranks = [LaneRank(lengths, rank, world) for rank in range(world)]
            alone = world == before and chance.random() < 0.5
            for rank in ranks:
                rank.load(parts[rank.rank] if alone else merge(parts))
    for lane, length in enumerate(lengths):
        assert [ordinal for number, ordinal in delivered if number == lane] == list(range(length))
    assert len(delivered) == sum(lengths)


def test_turns_follow_from_the_batches_delivered() -> None:
    """What ``LaneRank`` derives is what lanes with turns do, ends included."""
    for number in range(HISTORIES):
        chance = random.Random(number)
        lengths = [chance.randrange(6) for _ in range(chance.choice((2, 4, 6)))]
        world = chance.choice((1, 2))
        for rank in range(world):
            asked, order = dict.fromkeys(range(rank, len(lengths), world), 0), []
            living = list(asked)
            while living:
                for lane in list(living):
                    if asked[lane] == lengths[lane]:
                        living.remove(lane)
                    else:
                        order.append((lane, asked[lane]))
                        asked[lane] += 1
            got = LaneRank(lengths, rank, world)
            assert [got.deliver() for _ in order] == order
            assert got.deliver() is None


def test_global_steps_are_equal_until_the_first_lane_ends() -> None:
    def steps(world: int, batches: int) -> list[tuple[int, int] | None]:
        ranks = [LaneRank([9] * 12, rank, world) for rank in range(world)]
        return [rank.deliver() for _ in range(batches // world) for rank in ranks]

    alone = steps(1, 96)
    for world in (2, 3, 4, 6):
        for first, last in pairwise(range(0, 97, world)):
            assert sorted(map(str, steps(world, 96)[first:last])) == sorted(
                map(str, alone[first:last])
            )


@pytest.mark.parametrize("part", range(4))
def test_lanes_in_turn_deliver_an_order_from_its_front_under_any_ranks(part: int) -> None:
    """After each step the ranks of a map-style dataset have delivered the order's first batches.

    No rank passes a lane that has ended: the order has no batch after that lane's last one for it.
    """
    for number in range(part, HISTORIES, 4):
        chance = random.Random(number)
        plan = Plan(chance.randrange(90), chance.choice((1, 2, 3)), chance.choice(("keep", "drop")))
        lengths = turns(plan, 12)
        world = chance.choice(WORLDS)
        ranks = [LaneRank(lengths, rank, world) for rank in range(world)]
        delivered: set[int] = set()
        while len(delivered) < sum(lengths):
            step = [rank.deliver() for rank in ranks]
            delivered |= {ordinal * 12 + lane for lane, ordinal in filter(None, step)}
            assert delivered == set(range(len(delivered)))
            if chance.random() < 0.4:
                whole, world = merge([rank.state() for rank in ranks]), chance.choice(WORLDS)
                ranks = [LaneRank(lengths, rank, world) for rank in range(world)]
                for rank in ranks:
                    rank.load(whole)


def test_parts_that_are_no_whole_are_refused() -> None:
    ranks = [LaneRank([3] * 4, rank, 2) for rank in range(2)]
    one, two = (rank.state() for rank in ranks)
    assert merge([two, one]).whole
    assert not one.whole
    for parts in ([one], [one, one], [one, two, two]):
        with pytest.raises(MergeError, match="each lane once"):
            merge(parts)
    ranks[1].next_epoch()
    with pytest.raises(MergeError, match="several positions"):
        merge([one, ranks[1].state()])
    with pytest.raises(MergeError, match="merge the parts of all ranks first"):
        ranks[0].load(two)
    assert merge([one, two]) == Lanes(0, 4, tuple((lane, Lane()) for lane in range(4)))
