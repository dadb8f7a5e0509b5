"""torch's data pipes: sharded and shuffled as torch's loader does it, and resumed exactly."""

from __future__ import annotations

import itertools
import multiprocessing
import random
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from histories import keep
from torch.utils.data import DataLoader, IterDataPipe, MapDataPipe
from torch.utils.data.datapipes.iter import IterableWrapper
from torch.utils.data.datapipes.map import SequenceWrapper

from midepoch import StatefulDataLoader
from midepoch.errors import PlanMismatchError, ReplayWarning
from midepoch.format.seeds import derive
from midepoch.lane.datapipes import PURPOSE

pytestmark = [
    pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning"),
    pytest.mark.usefixtures("classic"),
]

N = 20
SEED = 5


def double(value: int) -> int:
    return 2 * value


def odd(value: int) -> bool:
    return value % 2 == 1


def noisy(value: int) -> tuple[int, float]:
    return value, random.random()


def source() -> Any:
    return IterableWrapper(list(range(N)))


PIPES: dict[str, Any] = {
    "bare": source,
    "sharded": lambda: source().sharding_filter(),
    "shuffled": lambda: source().shuffle().sharding_filter(),
    "shuffled in the shard": lambda: source().sharding_filter().shuffle(buffer_size=4),
    "batched": lambda: source().shuffle().sharding_filter().map(double).batch(3),
    "filtered": lambda: source().filter(odd).shuffle().sharding_filter(),
    "two shuffles": lambda: source().shuffle().map(double).shuffle().sharding_filter(),
}


def loader(pipe: Any, **arguments: Any) -> Any:
    return StatefulDataLoader(
        pipe, **{"batch_size": 3, "seed": SEED, "collate_fn": keep, **arguments}
    )


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("name", PIPES)
def test_elements_are_torchs_in_torchs_order_under_the_same_shared_seed(
    name: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With workers torch draws twice an epoch, and uses the first.
    calls = itertools.count()
    monkeypatch.setattr(
        "torch.utils.data.dataloader._share_dist_seed",
        lambda *_: derive(SEED, PURPOSE, next(calls) // (2 if workers else 1)) >> 1,
    )
    theirs: Any = DataLoader(PIPES[name](), batch_size=3, num_workers=workers, collate_fn=keep)
    ours = loader(PIPES[name](), num_workers=workers)
    assert [list(ours), list(ours)] == [list(theirs), list(theirs)]


@pytest.mark.parametrize("name", ["shuffled", "batched", "shuffled in the shard"])
def test_a_resume_goes_on_in_the_same_shuffle(name: str) -> None:
    whole = loader(PIPES[name](), num_workers=2)
    epochs = [list(whole) for _ in range(3)]
    assert epochs[0] != epochs[1]
    made = loader(PIPES[name](), num_workers=2)
    list(made)
    batches = iter(made)
    got = [next(batches) for _ in range(2)]
    for workers in (0, 1, 2):
        resumed = loader(PIPES[name](), num_workers=workers, seed=None)
        resumed.load_state_dict(made.state_dict())
        assert [*got, *resumed] == epochs[1]
        assert list(resumed) == epochs[2]


def test_a_pipe_without_a_state_is_replayed_and_told_so() -> None:
    made = loader(source().map(noisy))
    batches = iter(made)
    next(batches)
    resumed = loader(source().map(noisy))
    resumed.load_state_dict(made.state_dict())
    with pytest.warns(ReplayWarning, match="1 batches are produced again"):
        assert list(resumed) == list(batches)


class Numbers(IterDataPipe[Any]):
    """A pipe with a place of its own."""

    def __init__(self) -> None:
        self.at = 0
        self.start = 0
        self.made = 0

    def __iter__(self) -> Any:
        self.at, self.start = self.start, 0
        while self.at < N:
            self.at += 1
            self.made += 1
            yield self.at

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.start = state["at"]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_stateful_pipe_is_not_replayed(workers: int) -> None:
    made = loader(Numbers(), num_workers=workers)
    batches = iter(made)
    for _ in range(4):
        next(batches)
    state = made.state_dict()
    assert state["lanes"]["entries"][0]["dataset"] == {"at": 12}
    pipe = Numbers()
    resumed = loader(pipe, num_workers=workers)
    resumed.load_state_dict(state)
    assert list(resumed) == list(batches)
    assert pipe.made in (0, N - 12)


def test_worker_init_fn_runs_on_its_shard() -> None:
    seen = []

    def look(lane: int) -> None:
        info: Any = torch.utils.data.get_worker_info()
        graph = torch.utils.data.graph.traverse_dps(info.dataset)
        pipes = torch.utils.data.graph_settings.get_all_graph_pipes(graph)
        shards = [vars(p) for p in pipes if hasattr(p, "instance_id")]
        seen.append((lane, shards[0]["instance_id"], shards[0]["num_of_instances"]))

    list(loader(PIPES["sharded"](), lanes=2, worker_init_fn=look))
    assert seen == [(0, 0, 2), (1, 1, 2)]


class Squares(MapDataPipe[Any]):
    """Map-style, and shards itself."""

    def __init__(self) -> None:
        self.share = (1, 0)

    def apply_sharding(self, instances: int, instance: int) -> None:
        self.share = (instances, instance)

    def __len__(self) -> int:
        return N

    def __getitem__(self, index: int) -> tuple[int, tuple[int, int]]:
        return index * index, self.share


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("pipe", [lambda: SequenceWrapper(list(range(N))).map(double), Squares])
def test_map_style_pipes_are_torchs(pipe: Any, workers: int) -> None:
    theirs: Any = DataLoader(pipe(), batch_size=3, num_workers=workers, collate_fn=keep)
    assert list(loader(pipe(), num_workers=workers)) == list(theirs)


def test_lanes_not_workers_share_a_map_style_pipe() -> None:
    expected = list(loader(Squares(), num_workers=2))
    assert list(loader(Squares(), num_workers=0, lanes=2)) == expected
    assert list(loader(Squares(), num_workers=1, lanes=2)) == expected


def test_shuffle_is_the_shufflers_switch_as_in_torch() -> None:
    every = list(range(N))
    assert list(loader(PIPES["shuffled"](), batch_size=None, shuffle=False)) == every
    assert list(loader(PIPES["shuffled"](), batch_size=None, shuffle=True)) != every
    for make in (loader, DataLoader):
        with pytest.warns(UserWarning, match="does not contain a `Shuffler`"):
            make(source(), shuffle=True)


def run_rank(rank: int, store: str, pipe: Any) -> None:
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(rank)  # the ranks' own roots differ
    told: dict[Any, Any] = {}
    for workers in (0, 2):
        made = loader(PIPES["shuffled"](), batch_size=None, num_workers=workers, seed=None)
        told[workers] = [list(made), list(made), made.seed]
    made = loader(PIPES["shuffled"](), seed=None)
    between = made.state_dict()
    batches = iter(made)
    next(batches)
    told["states"] = [between, made.state_dict(), list(batches)]
    resumed = loader(PIPES["shuffled"](), seed=None)
    resumed.load_state_dict(told["states"][1])
    assert list(resumed) == told["states"][2]
    dist.destroy_process_group()
    pipe.send(told)


def test_ranks_of_a_process_group_shard_together_under_one_seed(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    pipes = [context.Pipe() for _ in range(2)]
    ranks = [
        context.Process(target=run_rank, args=(rank, f"{tmp_path}/store", pipes[rank][1]))
        for rank in range(2)
    ]
    for rank in ranks:
        rank.start()
    for _, theirs in pipes:
        theirs.close()
    told = [ours.recv() for ours, _ in pipes]
    for rank, (ours, _) in zip(ranks, pipes, strict=True):
        rank.join()
        ours.close()
    for workers in (0, 2):
        first, second = (of[workers] for of in told)
        assert first.pop() != second.pop()
        for mine, others in zip(first, second, strict=True):
            assert len(mine) == len(others) == N // 2
            assert sorted(mine + others) == list(range(N))
        assert first[0] != first[1]
    # Here is no rank: within an epoch the state of one is refused, between two it is not.
    between, within, _ = told[1]["states"]
    made = loader(PIPES["shuffled"](), seed=None)
    with pytest.raises(PlanMismatchError, match="rank 1 of 2"):
        made.load_state_dict(within)
    made.load_state_dict(between)
    assert sorted(value for batch in made for value in batch) == list(range(N))
