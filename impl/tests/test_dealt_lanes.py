"""Ranks to which the lanes of an iterable dataset are dealt: what is refused, merged and agreed.

``spec/tests/test_lane_rank_loader.py`` compares their batches and states with the model of ranks.
"""

from __future__ import annotations

import copy
import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import multiprocessing
from torch.utils.data import ChainDataset, IterableDataset, get_worker_info
from torch.utils.data.datapipes.iter import IterableWrapper

from midepoch import StatefulDataLoader, batch_info, merge_states
from midepoch.errors import (
    ArgumentError,
    LaneCopyError,
    PlanMismatchError,
    RanksError,
    StateFormatError,
    WorkerDiedError,
)

LENGTHS = (7, 2, 9, 4)


class Files(IterableDataset[list[float]]):
    """A stream for each lane, whose samples draw, with its position."""

    def __init__(self) -> None:
        self.read = 0

    def __len__(self) -> int:
        return sum(LENGTHS)

    def __iter__(self) -> Iterator[list[float]]:
        info = get_worker_info()
        assert info is not None
        while self.read < LENGTHS[info.id % 4]:
            self.read += 1
            yield [info.id, self.read - 1, float(torch.rand(()))]
        self.read = 0

    def state_dict(self) -> dict[str, int]:
        return {"read": self.read}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.read = state["read"]


class Split(Files):
    """A stream that Hugging Face's ``split_dataset_by_node`` has divided."""

    _distributed = (0, 2)


class Mapped(Files):
    """A stream made of another one."""

    def __init__(self, source: Any) -> None:
        self.source = source


def split_by_node(shards: Any) -> Any:
    """WebDataset's stage of this name divides shards between ranks."""
    return shards


class Staged(Files):
    """A stream of stages, as WebDataset's are."""

    def __init__(self) -> None:
        self.pipeline = [split_by_node]


def make(ranks: Any, **options: Any) -> Any:
    options = {"batch_size": 2, "seed": 3, "collate_fn": list, "lanes": 4, **options}
    return StatefulDataLoader(options.pop("dataset", None) or Files(), ranks=ranks, **options)


def after(steps: int, world: int = 2) -> list[dict[str, Any]]:
    """Return the states of all ranks after so many batches of each."""
    loaders = [make((rank, world)) for rank in range(world)]
    for loader in loaders:
        batches = iter(loader)
        for _ in range(steps):
            next(batches)
    return [loader.state_dict() for loader in loaders]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lanes": 3}, "lanes=3 are dealt to 2 ranks; give a multiple"),
        ({"lanes": 0}, "one stream without lanes"),
        ({"in_order": False, "num_workers": 1}, "in_order=False"),
        ({"global_batch_size": 4}, "each lane makes whole batches"),
        ({"on_world_change": "recut"}, "each lane makes whole batches"),
        ({"dataset": IterableWrapper(range(4))}, "a data pipe"),
        ({"dataset": Split()}, "split by node already"),
        ({"dataset": Mapped(Split())}, "split by node already"),
        ({"dataset": ChainDataset([Files(), Mapped(Split())])}, "split by node already"),
        ({"dataset": Staged()}, "split by node already"),
        ({"uneven": "wait"}, "uneven"),
    ],
)
def test_what_cannot_be_dealt_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        make((0, 2), **options).state_dict()


def test_uneven_is_for_ranks_with_lanes() -> None:
    with pytest.raises(ArgumentError, match="give ranks, too"):
        make(None, uneven="stop")
    with pytest.raises(ArgumentError, match="leave uneven out"):
        StatefulDataLoader(range(4), ranks=(0, 2), uneven="stop")  # type: ignore[arg-type]


def test_ranks_given_by_number_cannot_stop_together() -> None:
    with pytest.raises(RanksError, match="give a process group"):
        iter(make((0, 2), uneven="stop"))


def test_lanes_by_default_are_twice_the_workers_of_all_ranks() -> None:
    assert make((0, 3), lanes=None, num_workers=2).state_dict()["plan"]["lanes"] == 12
    assert make((0, 3), lanes=None).state_dict()["plan"]["lanes"] == 6
    whole = merge_states([make((rank, 2), lanes=None).state_dict() for rank in range(2)])
    adopted = make((1, 4), lanes=None)
    adopted.load_state_dict(whole)
    assert adopted.lanes == 4


def test_leaves_for_a_checkpoint_library_need_a_number_of_lanes() -> None:
    loader = make((0, 2), lanes=None)
    loader.load_state_dict(make((0, 2), lanes=6).state_dict())  # not of this loader's own either
    with pytest.raises(ArgumentError, match=r"give lanes=, a multiple of every number of ranks"):
        loader.checkpointable()


def test_a_length_is_of_one_rank() -> None:
    assert len(make((0, 1))) == 11
    assert len(make((0, 2))) == 6


def test_a_copy_that_was_made_before_the_first_use_is_of_the_same_rank() -> None:
    loader = make((1, 2))
    assert list(copy.deepcopy(loader)) == list(make((1, 2)))


def test_batches_say_the_lane_of_the_plan() -> None:
    def lanes(samples: list[Any]) -> int:
        return batch_info().lane

    assert set(make((1, 2), collate_fn=lanes)) == {1, 3}


@pytest.mark.filterwarnings("ignore:.*batches are produced again")
@pytest.mark.parametrize("interval", [1, 4, None])
def test_each_state_resumes_its_rank(interval: int | None) -> None:
    for rank in range(2):
        loader = make((rank, 2), snapshot_every_n_steps=interval)
        whole = list(loader)
        for at in range(len(whole)):
            here = make((rank, 2), snapshot_every_n_steps=interval)
            batches = iter(here)
            assert [next(batches) for _ in range(at)] == whole[:at]
            again = make((rank, 2), num_workers=at % 3)
            again.load_state_dict(json.loads(json.dumps(here.state_dict())))
            assert list(again) == whole[at:]


class Dies(Files):
    """A stream whose lane 3 is killed in its second batch."""

    def __iter__(self) -> Iterator[list[float]]:
        for sample in super().__iter__():
            if sample[:2] == [3, 2]:
                os.kill(os.getpid(), signal.SIGKILL)
            yield sample


def test_a_dead_workers_lane_is_named_by_its_number_in_the_plan() -> None:
    with pytest.raises(WorkerDiedError, match=r"making batch 1 of epoch 0 \(lane 3\)"):
        list(make((1, 2), dataset=Dies(), num_workers=2, multiprocessing_context="fork"))


def test_a_lane_that_cannot_be_copied_is_named_by_its_number_in_the_plan() -> None:
    stream: Any = Files()
    stream.lock = threading.Lock()
    with pytest.raises(LaneCopyError, match="lane 1 needs a copy"):
        list(make((1, 2), dataset=stream))


# Parts and wholes


def test_a_whole_is_a_value() -> None:
    parts = after(2)
    whole = merge_states(parts)
    parts[0]["lanes"]["entries"][0]["dataset"]["read"] = 99
    assert whole == merge_states(after(2)[::-1]) == merge_states([whole])
    assert whole["position"]["share"] is None
    assert [entry["samples"] for entry in whole["lanes"]["entries"]] == [2, 2, 2, 2]


def test_a_part_of_another_rank_is_refused() -> None:
    first, second = after(2)
    with pytest.raises(StateFormatError, match=r"lanes of rank 1 of 2, .* is rank 0 of 2: load"):
        make((0, 2)).load_state_dict(second)
    with pytest.raises(StateFormatError, match="the loader here has all lanes"):
        make((0, 1)).load_state_dict(first)
    for rank in range(4):  # some of these have their lanes in the part
        for part in (first, second):
            with pytest.raises(StateFormatError, match="merge_states"):
                make((rank, 4)).load_state_dict(part)
    with pytest.raises(PlanMismatchError, match="ranks=dealt"):
        make(None).load_state_dict(first)


def test_ranks_that_cannot_divide_the_lanes_are_refused() -> None:
    with pytest.raises(StateFormatError, match="3 ranks cannot share 4 lanes equally"):
        make((0, 3), lanes=None).load_state_dict(merge_states(after(1)))


@pytest.mark.parametrize("given", [None, 5, {}])
def test_what_is_no_list_of_states_is_not_merged(given: Any) -> None:
    with pytest.raises(RanksError, match="expected the states of all ranks in a list, got"):
        merge_states(given)


def test_what_is_no_whole_is_not_merged() -> None:
    first, second = after(1)
    later, other = after(2), make((1, 2), seed=4).state_dict()
    for parts, words in (
        ([], "got none"),
        ([second], r"of 2 ranks, these have no state here: 0"),
        ([first, first], "two states are of rank 0"),
        ([first, later[1]], "rank 0 after 1 batches of epoch 0, others after 2 of epoch 0"),
        ([first, other], "that of rank 1 in seed"),
        ([first, *after(1, 4)[1:]], "rank 1 is one of 4 ranks, and others are of 2"),
        ([first, merge_states([first, second])], "whole already"),
    ):
        with pytest.raises(RanksError, match=words):
            merge_states(parts)  # type: ignore[arg-type]
    with pytest.raises(StateFormatError):
        merge_states([first, {}])


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("position/samples", 5, "add up to 4, not to 5"),
        ("position/batches", 0, "no batches of any lane before the first step"),
        ("position/share", {"rank": 0, "world": 3}, "divide 4 lanes, got 3"),
        ("position/share", None, r"expected 4 \(the lanes of one of 1 ranks\), got 2"),
        ("lanes/next", 2, "expected 0"),
        ("lanes/entries/0/samples", 3, "at most 2"),
        ("plan/lanes", 0, "the plan has none"),
        ("plan/options", {}, "the plan's lanes"),
    ],
)
def test_parts_that_contradict_each_other_are_refused(path: str, value: Any, words: str) -> None:
    state: Any = copy.deepcopy(after(2)[0])
    *way, name = (int(key) if key.isdigit() else key for key in path.split("/"))
    place = state
    for key in way:
        place = place[key]
    place[name] = value
    with pytest.raises(StateFormatError, match=words):
        make((0, 2)).load_state_dict(state)


# Process groups


def _rank(rank: int, world: int, folder: str, saved: str) -> None:
    store = f"file://{folder}/store-{saved}-{world}"
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world)
    try:
        torch.manual_seed(rank)  # so that each rank draws another seed
        loader = make("auto", seed=None)
        found: dict[str, Any] = {}
        if saved:
            leaves = loader.checkpointable().state_dict()
            assert set(leaves.values()) == {b""}
            dcp.load({"loader": loader.checkpointable()}, checkpoint_id=f"{folder}/{saved}")
        batches = iter(loader)
        found["first"] = [] if saved else [next(batches), next(batches)]
        loader.check_ranks()
        found["state"], state = loader.gather_state(), loader.state_dict()
        dcp.save({"loader": loader.checkpointable()}, checkpoint_id=f"{folder}/after-{world}")
        found["rest"] = list(batches)
        assert loader.gather_state(state) == found["state"] != loader.gather_state()
        found["next"] = list(loader)
        ahead = iter(make("auto", uneven="as they are"))
        found["alone"] = len(list(ahead))
        turned = make((world - 1 - rank, world), seed=7)
        found["numbers"] = len(list(turned))
        found["turned"] = turned.gather_state()
        with pytest.raises(RanksError, match=rf"say that they are ranks \{[0] * world}"):
            make((0, world), seed=7).gather_state()
        if not saved:
            apart = make("auto", uneven="as they are")
            batches = iter(apart)
            for _ in range(1 + rank):
                next(batches)
            with pytest.raises(RanksError, match=r"ranks 1 are .* in position.batches"):
                apart.check_ranks()
            with pytest.raises(RanksError, match="not at one position"):
                apart.gather_state()
        Path(folder, f"{saved or 'begun'}-{rank}.json").write_text(json.dumps(found))
    finally:
        dist.destroy_process_group()


def _run(world: int, folder: Path, saved: str = "") -> list[dict[str, Any]]:
    args = (world, str(folder), saved)
    multiprocessing.start_processes(_rank, args, nprocs=world, start_method="forkserver")
    names = [folder / f"{saved or 'begun'}-{rank}.json" for rank in range(world)]
    return [json.loads(name.read_text()) for name in names]


def test_ranks_of_a_process_group(helpers: None, tmp_path: Path) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    two = _run(2, tmp_path)
    # Lane 1 and lane 3 have three batches together, lane 0 and lane 2 nine: all ranks stop there.
    assert [len(one["first"]) + len(one["rest"]) for one in two] == [3, 3]
    assert [len(one["next"]) for one in two] == [3, 3]
    assert [one["alone"] for one in two] == [9, 3]
    # Numbers find the group's processes in any order.
    assert [one["numbers"] for one in two] == [3, 3]
    assert two[0]["turned"] == two[1]["turned"]
    assert two[0]["state"] == two[1]["state"]
    seed = int(two[0]["state"]["plan"]["seed"])
    alone = [list(make((rank, 2), seed=seed)) for rank in range(2)]
    assert [one["first"] + one["rest"] for one in two] == [batches[:3] for batches in alone]
    for world in (2, 4):
        again = _run(world, tmp_path, saved="after-2")
        assert all(one["state"] == two[0]["state"] for one in again)
        loaders = [make((rank, world), seed=seed) for rank in range(world)]
        for loader in loaders:
            loader.load_state_dict(two[0]["state"])
        whole = [list(loader) for loader in loaders]
        steps = min(map(len, whole))
        assert [one["rest"] for one in again] == [batches[:steps] for batches in whole]


def _rank_with_workers(rank: int, world: int, folder: str) -> None:
    store = f"file://{folder}/store-workers"
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world)
    # A process that torch spawned would spawn its workers, too, which takes long.
    options: dict[str, Any] = {"num_workers": 2, "multiprocessing_context": "fork"}
    try:
        first, second = make("auto", **options), make("auto", **options, persistent_workers=True)
        found: dict[str, Any] = {"first": [list(first) for _ in range(2)], "second": []}
        for _ in range(2):
            batches = iter(second)
            found["second"].append([next(batches)])
            state, whole = second.state_dict(), second.gather_state()
            found["second"][-1] += list(batches)
            for kept in (state, whole):
                again = make("auto", **options)
                again.load_state_dict(kept)
                assert list(again) == found["second"][-1][1:]
        Path(folder, f"workers-{rank}.json").write_text(json.dumps(found))
    finally:
        dist.destroy_process_group()


def test_loaders_with_workers_take_turns_in_a_process_group(helpers: None, tmp_path: Path) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    args = (2, str(tmp_path))
    multiprocessing.start_processes(_rank_with_workers, args, nprocs=2, start_method="forkserver")
    for rank in range(2):
        loader = make((rank, 2))
        whole = [list(loader)[:3] for _ in range(2)]  # a rank has three batches, and then both stop
        found = json.loads(Path(tmp_path, f"workers-{rank}.json").read_text())
        assert found == {"first": whole, "second": whole}
