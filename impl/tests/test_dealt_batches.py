"""Ranks to which the lanes of a map-style dataset with a state are dealt.

``spec/tests/test_lane_rank_loader.py`` plays drawn histories of them beside the model of ranks.
"""

from __future__ import annotations

import copy
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import multiprocessing
from torch.utils.data import Dataset, MapDataPipe, SequentialSampler, get_worker_info

from midepoch import StatefulDataLoader, batch_info, merge_states
from midepoch.errors import ArgumentError, PlanMismatchError, RanksError, StateFormatError

LENGTH = 21
"""Eleven batches, the last with one sample."""

EXECUTIONS: list[dict[str, Any]] = [
    {},
    {"num_workers": 1},
    {"num_workers": 2, "persistent_workers": True},
    {"num_workers": 2, "worker_type": "thread"},
]


class Tally(Dataset[list[float]]):
    """Samples tell how many this lane's copy had looked up before, and draw."""

    def __init__(self, length: int = LENGTH) -> None:
        self.length = length
        self.count = 0

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> list[float]:
        self.count += 1
        info = get_worker_info()
        assert info is not None
        draw = float(torch.rand((), generator=batch_info().torch))
        return [index, self.count - 1, info.id, info.num_workers, draw]

    def state_dict(self) -> dict[str, int]:
        return {"count": self.count}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.count = state["count"]


def make(ranks: Any, **options: Any) -> Any:
    options = {"batch_size": 2, "shuffle": True, "seed": 3, "lanes": 4, **options}
    options = {"collate_fn": list, **options}
    dataset = options.pop("dataset", None) or Tally()
    return StatefulDataLoader(dataset, ranks=ranks, **options)


def after(steps: int, world: int = 2, **options: Any) -> list[dict[str, Any]]:
    """Return the states of all ranks after so many batches of each."""
    loaders = [make((rank, world), **options) for rank in range(world)]
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
        ({"global_batch_size": 4}, "a stateful dataset: each lane makes whole batches"),
        ({"on_world_change": "recut"}, "each lane makes whole batches"),
        ({"batch_size": None}, "batch_size=None; give batch_size=1"),
        ({"last_batch": "rollover"}, "rollover"),
        ({"sampler": SequentialSampler(range(4)), "shuffle": None}, "a sampler of your own"),
    ],
)
def test_what_cannot_be_dealt_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        make((0, 2), **options).state_dict()


class Pipe(MapDataPipe[int]):
    """A data pipe with a state, which torch's loader wraps."""

    def __len__(self) -> int:
        return LENGTH

    def __getitem__(self, index: int) -> int:
        return index

    def state_dict(self) -> dict[str, int]:
        return {}

    def load_state_dict(self, state: dict[str, int]) -> None:
        pass


def test_a_data_pipe_with_a_state_is_refused() -> None:
    with pytest.raises(ArgumentError, match="a data pipe, which is divided between ranks"):
        make((0, 2), dataset=Pipe())


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("lifetime", ["epoch", "run"])
def test_batches_are_those_of_a_loader_without_ranks(
    execution: dict[str, Any], lifetime: str
) -> None:
    alone = make(None, lifetime=lifetime)
    wanted = [list(alone) for _ in range(2)]
    for world in (1, 2, 4):
        for rank in range(world):
            loader = make((rank, world), lifetime=lifetime, **execution)
            assert [list(loader) for _ in range(2)] == [batches[rank::world] for batches in wanted]


@pytest.mark.parametrize("interval", [1, 2, 3, None])
@pytest.mark.parametrize("lifetime", ["epoch", "run"])
def test_each_state_resumes_its_rank(interval: int | None, lifetime: str) -> None:
    options = {"snapshot_every_n_steps": interval, "lifetime": lifetime}
    for rank in range(2):
        loader = make((rank, 2), **options)
        whole, following = list(loader), list(loader)
        for at in range(len(whole) + 1):
            here = make((rank, 2), **options)
            batches = iter(here)
            assert [next(batches) for _ in range(at)] == whole[:at]
            again = make((rank, 2), **options, **EXECUTIONS[at % 4])
            again.load_state_dict(json.loads(json.dumps(here.state_dict())))
            assert [list(again), list(again)] == [whole[at:], following]


def test_a_length_is_of_one_rank() -> None:
    for last_batch, batches in (("keep", 11), ("discard", 10)):
        for world in (1, 2, 4):
            for rank in range(world):
                loader = make((rank, world), last_batch=last_batch)
                assert len(loader) == len(list(loader)) == len(range(rank, batches, world))
                iterator = iter(loader)
                left = [loader.remaining() for _ in range(2) if next(iterator) is not None]
                assert left == [len(loader) - 1, len(loader) - 2]


def test_the_shown_sampler_gives_the_samples_of_the_rank() -> None:
    for last_batch in ("keep", "discard"):
        for rank in range(2):
            loader = make((rank, 2), last_batch=last_batch)
            batches = [[row[0] for row in batch] for batch in loader]
            again = make((rank, 2), last_batch=last_batch)
            assert list(again.batch_sampler) == batches
            assert len(again.batch_sampler) == len(batches)
            shown = [index for batch in make((rank, 2)) for index, *_ in batch]
            assert list(again.sampler) == shown
            assert len(again.sampler) == len(shown)


def test_batches_say_their_lane_and_index_in_the_plan() -> None:
    def place(samples: list[Any]) -> tuple[int, int]:
        return batch_info().lane, batch_info().index

    assert list(make((1, 2), collate_fn=place)) == [(1, 1), (3, 3), (1, 5), (3, 7), (1, 9)]


class Fails(Tally):
    """The samples of index 5 cannot be read."""

    def __getitem__(self, index: int) -> list[float]:
        row = super().__getitem__(index)
        if index in (5, 14):
            raise LookupError(index)
        return row


@pytest.mark.parametrize("interval", [1, 3, None])
def test_errors_take_the_place_of_batches_also_after_a_resume(interval: int | None) -> None:
    def taken(batches: Any) -> Any:
        try:
            return next(batches, None)
        except LookupError as error:
            return error.args

    options = {"dataset": Fails(), "snapshot_every_n_steps": interval}
    batches = iter(make(None, dataset=Fails()))
    wanted = [taken(batches) for _ in range(11)]
    assert sum(type(batch) is tuple for batch in wanted) == 2
    for steps in range(6):
        two = [make((rank, 2), **options) for rank in range(2)]
        for loader in two:
            begun = iter(loader)
            for _ in range(steps):
                taken(begun)
        whole = merge_states([loader.state_dict() for loader in two])
        alone = make((0, 1), **options)
        alone.load_state_dict(whole)
        rest = iter(alone)
        assert [taken(rest) for _ in range(12)] == [*wanted[2 * steps :], *[None] * (2 * steps + 1)]


class Dies(Tally):
    """Kills its process at one sample, the first time."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.mark = Path(folder, "died")

    def __getitem__(self, index: int) -> list[float]:
        if index == 9 and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)


@pytest.mark.parametrize("interval", [1, 5])
def test_a_dead_workers_lanes_are_restored(tmp_path: Path, interval: int) -> None:
    whole = list(make(None))
    for rank in range(2):
        options = {"num_workers": 2, "worker_restarts": 1, "multiprocessing_context": "fork"}
        options |= {"snapshot_every_n_steps": interval}
        loader = make((rank, 2), dataset=Dies(str(tmp_path)), **options)
        assert list(loader) == whole[rank::2]
    assert Path(tmp_path, "died").exists()


# Parts and wholes


def test_snapshots_of_different_batches_make_a_whole() -> None:
    """Two ranks have taken their last snapshots at other batches of the order than one does."""
    whole = list(make(None))
    one = make((0, 1))
    batches = iter(one)
    next(batches)
    state = one.state_dict()
    parts = []
    for rank in range(2):
        loader = make((rank, 2), snapshot_every_n_steps=3)
        loader.load_state_dict(state)
        batches = iter(loader)
        next(batches), next(batches)
        parts.append(loader.state_dict())
    merged = merge_states(parts)
    assert [entry["ordinal"] for entry in merged["lanes"]["entries"]] == [2, 0, 1, 0]
    for world in (1, 2, 4):
        for rank in range(world):
            loader = make((rank, world))
            loader.load_state_dict(merged)
            assert list(loader) == [whole[i] for i in range(5, 11) if i % world == rank]


def test_a_whole_is_that_of_one_rank() -> None:
    for steps in range(6):
        whole = merge_states(after(steps, snapshot_every_n_steps=1))
        alone = after(2 * steps, 1, snapshot_every_n_steps=1)[0]
        assert whole["lanes"] == alone["lanes"]
        assert whole["position"] == {**alone["position"], "batches": steps}
        assert whole["position"]["samples"] == 4 * steps


def test_parts_of_different_runs_are_not_merged() -> None:
    alone = after(4, 1)[0]
    others = [make((rank, 2)) for rank in range(2)]
    for loader in others:
        loader.load_state_dict(alone)
        next(iter(loader))
    states = after(5)  # as many steps, of other ranks
    assert others[1].state_dict()["position"]["batches"] == 5
    with pytest.raises(RanksError, match=r"not at one position: their lanes delivered .* in turn"):
        merge_states([states[0], others[1].state_dict()])


def test_a_rank_that_has_ended_waits_for_the_others() -> None:
    early, (ended,) = after(4)[0], after(5)[1:]
    last = make((0, 2))
    batches = iter(last)
    for _ in range(6):
        next(batches)
    whole = merge_states([last.state_dict(), ended])
    assert whole["position"]["batches"] == 6
    assert whole["position"]["samples"] == LENGTH
    with pytest.raises(RanksError, match="rank 0 after 4 batches of epoch 0, others after 5"):
        merge_states([early, ended])


def test_states_of_other_datasets_are_refused() -> None:
    dealt = after(1)[0]
    for loader in (make(None), make((0, 2), dataset=range(LENGTH), lanes=None)):
        with pytest.raises(PlanMismatchError, match="ranks=dealt"):
            loader.load_state_dict(dealt)
    with pytest.raises(PlanMismatchError, match="ranks=dealt"):
        make((0, 2)).load_state_dict(make(None).state_dict())


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("position/samples", 5, "add up to 8, not to 5"),
        ("lanes/next", 2, "expected 0"),
        ("lanes/entries/0/samples", 3, "expected 4 "),
        ("lanes/entries/1/ended", True, "never ends"),
        ("lanes/entries/0/replay", 2, r"at most 3 \(the batches of lane 0"),
        ("plan/batch_size", None, "batches of a built-in order"),
        ("plan/lanes", 0, "the plan has none"),
        ("lanes", None, "a plan that deals lanes needs its lanes"),
    ],
)
def test_parts_that_contradict_each_other_are_refused(path: str, value: Any, words: str) -> None:
    state: Any = copy.deepcopy(after(4)[0])
    *way, name = (int(key) if key.isdigit() else key for key in path.split("/"))
    place = state
    for key in way:
        place = place[key]
    place[name] = value
    with pytest.raises(StateFormatError, match=words):
        make((0, 2)).load_state_dict(state)


# Process groups


def _rank(rank: int, world: int, folder: str, options: dict[str, Any]) -> None:
    store = f"file://{folder}/store"
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world)
    try:
        loader, found = make("auto", **options), []
        assert len(loader) == 5
        for epoch in range(3):
            batches = iter(loader)
            found.append([next(batches), next(batches)])
            whole, own = loader.gather_state(), loader.state_dict()
            if epoch == 1:
                dcp.save({"loader": loader.checkpointable()}, checkpoint_id=f"{folder}/saved")
            found[-1] += list(batches)
            for kept in (whole, own):
                again = make("auto", **options)
                again.load_state_dict(kept)
                assert list(again) == found[-1][2:]
            again = make("auto", **options)
            again.load_state_dict(loader.gather_state())  # between two epochs
            after_load = [next(iter(again))]
            following = copy.deepcopy(loader)
            assert [next(iter(following))] == after_load
        again = make("auto", **options)
        dcp.load({"loader": again.checkpointable()}, checkpoint_id=f"{folder}/saved")
        assert [list(again), list(again)] == [found[1][2:], found[2]]
        Path(folder, f"rank-{rank}.json").write_text(json.dumps(found))
        dist.barrier()
    finally:
        dist.destroy_process_group()


@pytest.mark.parametrize("lifetime", ["epoch", "run"])
@pytest.mark.parametrize(
    "execution", [{}, {"num_workers": 2, "multiprocessing_context": "fork"}], ids=str
)
def test_ranks_end_an_epoch_together(
    helpers: None, tmp_path: Path, execution: dict[str, Any], lifetime: str
) -> None:
    """Rank 0 leaves its last batch out, and its lanes are as if it had never been made."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    options = {**execution, "lifetime": lifetime}
    args = (2, str(tmp_path), options)
    multiprocessing.start_processes(_rank, args, nprocs=2, start_method="forkserver")
    alone, wanted = make(None, lifetime=lifetime), []
    for _ in range(3):
        batches = iter(alone)
        wanted.append([next(batches) for _ in range(10)])
    for rank in range(2):
        found = json.loads(Path(tmp_path, f"rank-{rank}.json").read_text())
        assert found == [batches[rank::2] for batches in wanted]
