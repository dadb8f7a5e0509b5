"""Streams that the user divides between the ranks of a process group (RANK-17)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import multiprocessing
from torch.utils.data import DistributedSampler, IterableDataset

from midepoch import StatefulDataLoader
from midepoch.errors import PlanMismatchError

N = 24


class Divided(IterableDataset[int]):
    """Each rank has every so manieth number, as with Hugging Face's ``split_dataset_by_node``."""

    def __iter__(self) -> Iterator[int]:
        rank, world = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
        return iter(range(rank, N, world))


def make() -> Any:
    return StatefulDataLoader(Divided(), batch_size=2, seed=0, lanes=0, collate_fn=list)


def saved_after(steps: int) -> Any:
    loader = make()
    batches = iter(loader)
    for _ in range(steps):
        next(batches)
    return loader.state_dict()


def _rank(rank: int, world: int, folder: str, states: dict[str, Any], told: Any) -> None:
    store = f"file://{folder}/store-{world}"
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world)
    found: dict[str, Any] = {"within": saved_after(1), "between": make().state_dict()}
    for name, state in states.items():
        loader = make()
        try:
            loader.load_state_dict(state)
            found[f"after {name}"] = list(loader)
        except PlanMismatchError as error:
            found[f"after {name}"] = str(error)
    saved, again = make(), make()
    batches = iter(saved)
    for _ in range(1 + rank):
        next(batches)
    dcp.save({"loader": saved.checkpointable()}, checkpoint_id=f"{folder}/saved-{world}")
    dcp.load({"loader": again.checkpointable()}, checkpoint_id=f"{folder}/saved-{world}")
    found["checkpoint"] = list(again) == list(batches)
    dealt: Any = DistributedSampler(range(N), shuffle=False)  # type: ignore[arg-type]  # sized
    keys = StatefulDataLoader(list(range(N)), sampler=dealt).checkpointable().state_dict()
    found["keys"] = list(keys)
    dist.destroy_process_group()
    told.send(found)
    told.close()


def run(world: int, folder: Path, **states: Any) -> list[dict[str, Any]]:
    context = multiprocessing.get_context("fork")
    pipes = [context.Pipe(duplex=False) for _ in range(world)]
    ranks = []
    for rank, (_, theirs) in enumerate(pipes):
        args = (rank, world, str(folder), states, theirs)
        ranks.append(context.Process(target=_rank, args=args))
        ranks[-1].start()
        theirs.close()
    told = [ours.recv() for ours, _ in pipes]
    for rank, (ours, _) in zip(ranks, pipes, strict=True):
        rank.join()
        ours.close()
    return told


def whole(rank: int, world: int) -> list[list[int]]:
    own = list(range(rank, N, world))
    return [own[i : i + 2] for i in range(0, len(own), 2)]


@pytest.mark.filterwarnings("ignore:.*batches are produced again")
def test_another_number_of_ranks_is_refused_within_an_epoch(tmp_path: Path) -> None:
    alone = saved_after(1)
    assert alone["position"]["share"] is None
    two = run(2, tmp_path, alone=alone, fresh=make().state_dict())
    assert [one["within"]["position"]["share"] for one in two] == [
        {"rank": 0, "world": 2},
        {"rank": 1, "world": 2},
    ]
    states = {name: two[0][name] for name in ("within", "between")}
    edited = {**alone, "position": {**alone["position"], "share": {"rank": 0, "world": 3}}}
    three = run(3, tmp_path, **states, edited=edited)
    for rank, one in enumerate(two):
        assert one["after fresh"] == whole(rank, 2)
        assert refuses(one["after alone"], "None", rank, 2)
    for rank, one in enumerate(three):
        assert one["after between"] == whole(rank, 3)
        assert refuses(one["after within"], "'rank 0 of 2'", rank, 3)
        assert one["after edited"] == whole(rank, 3)[1:]  # also another rank's
    assert all(one["checkpoint"] for one in [*two, *three])
    assert [one["keys"] for one in two] == [["state of rank 0"], ["state of rank 1"]]
    loader = make()
    with pytest.raises(PlanMismatchError, match=r'\["share"\] to None first') as caught:
        loader.load_state_dict(two[1]["within"])
    assert [field for field, _, _ in caught.value.fields] == ["share"]
    loader.load_state_dict(two[1]["between"])
    assert list(loader) == whole(0, 1)


def refuses(text: str, saved: str, rank: int, world: int) -> bool:
    """Tell whether the error names both numbers of ranks, and the two ways out."""
    row = rf"share +{saved} +'rank {rank} of {world}'"
    way = rf"With ranks= .* to \{{'rank': {rank}, 'world': {world}\}} first"
    return re.search(rf"{row}\n(.|\n)*{way}", text) is not None
