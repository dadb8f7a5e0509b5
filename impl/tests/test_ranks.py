"""Ranks that share one plan: who they are, what they agree on, and what is refused.

``spec/tests/test_rank_loader.py`` compares their batches and states with the model of ranks.
"""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import multiprocessing
from torch.utils.data import BatchSampler, DistributedSampler, IterableDataset, SequentialSampler

from midepoch import StatefulDataLoader
from midepoch.errors import (
    ArgumentError,
    ForeignStateError,
    PlanMismatchError,
    RanksError,
    StateFormatError,
)


class Rows:
    """Rows that draw."""

    def __len__(self) -> int:
        return 22

    def __getitem__(self, index: int) -> tuple[int, float]:
        return index, random.random()


class Remembers(Rows):
    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        pass


def make(ranks: Any, dataset: Any = None, **options: Any) -> Any:
    options = {"batch_size": 4, "shuffle": True, "seed": 3, "collate_fn": list, **options}
    return StatefulDataLoader(Rows() if dataset is None else dataset, ranks=ranks, **options)


def test_ranks_draw_what_one_rank_draws() -> None:
    one = list(make((0, 1), batch_size=8))
    shares = [list(make((rank, 2))) for rank in range(2)]
    assert [[*first, *second] for first, second in zip(*shares, strict=True)] == one


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ((2, 2), "0 <= rank < world"),
        ((-1, 2), "0 <= rank < world"),
        ((3, 2), r"got \(3, 2\)"),
        (("0", 2), r"got \('0', 2\)"),
        ((0, 1, 2), "ranks should be"),
        ([0, 2], "ranks should be"),
        ("all", "ranks should be"),
        (2, "ranks should be"),
        ((True, 2), "ranks should be"),
    ],
)
def test_what_names_no_rank_is_refused(ranks: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        make(ranks)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sampler": DistributedSampler(Rows(), 2, 0), "shuffle": None}, "a share of its share"),  # type: ignore[arg-type]
        (
            {
                "batch_sampler": BatchSampler(DistributedSampler(Rows(), 2, 0), 2, False),  # type: ignore[arg-type]
                "batch_size": 1,
                "shuffle": None,
            },
            "a share of its share",
        ),
        ({"sampler": SequentialSampler(range(22)), "shuffle": None}, "a sampler of your own"),
        ({"batch_size": None}, "batch_size=None"),
        ({"in_order": False, "num_workers": 1}, "in_order=False"),
        ({"global_batch_size": 0}, "from 1 to"),
        ({"global_batch_size": 8, "batch_size": 3}, "no multiple of batch_size=3"),
        ({"ranks": -100}, "in the group's processes alone"),
        ({"on_world_change": "shrug"}, "on_world_change"),
        ({"ranks": None, "global_batch_size": 8}, "give ranks, too"),
        ({"ranks": None, "on_world_change": "recut"}, "give ranks, too"),
    ],
)
def test_what_ranks_cannot_share_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        make(**{"ranks": (0, 2), **options})


def test_a_global_batch_size_is_divided() -> None:
    loader = make((1, 4), batch_size=1, global_batch_size=8)
    assert [len(share) for share in loader] == [2, 2, 2]
    assert loader.batch_size == loader.batch_sampler.batch_size == 2
    for options in ({"batch_size": 1, "global_batch_size": 6}, {"global_batch_size": 8}):
        with pytest.raises(ArgumentError, match="shared by 4 ranks"):
            iter(make((1, 4), **options))
    make((1, 4), batch_size=2, global_batch_size=8).state_dict()


def test_the_length_is_that_of_each_rank() -> None:
    for world in (1, 2, 4):
        for last_batch in ("keep", "discard", "rollover"):
            loaders = [
                make((rank, world), batch_size=8 // world, last_batch=last_batch)
                for rank in range(world)
            ]
            for _ in range(3):
                wanted = [len(loader) for loader in loaders]
                assert [len(list(loader)) for loader in loaders] == wanted
                assert len(set(wanted)) == 1


def test_the_shown_sampler_is_a_distributed_one_and_gives_the_share() -> None:
    for last_batch in ("keep", "discard"):
        loader = make((1, 2), last_batch=last_batch)
        assert isinstance(loader.sampler, DistributedSampler)
        assert (loader.sampler.rank, loader.sampler.num_replicas) == (1, 2)
        shown, batches = list(loader.sampler), list(loader.batch_sampler)
        assert len(loader.sampler) == len(shown)
        assert batches == [[index for index, _ in batch] for batch in loader]
        assert [index for batch in batches for index in batch] == shown
        assert loader.sampler.epoch == 1


def test_a_loader_is_rebuilt_from_its_attributes() -> None:
    loader = make((1, 2), batch_size=1, global_batch_size=8)
    wanted = [list(loader), list(loader)]
    names = ("dataset", "batch_size", "sampler", "seed", "ranks", "global_batch_size", "collate_fn")
    again = StatefulDataLoader(**{name: vars(loader)[name] for name in names})
    assert [list(again), list(again)] == wanted


def test_another_global_batch_size_is_refused_and_changes_nothing() -> None:
    saved = make((0, 2))
    next(iter(saved))
    loader = make((0, 4))
    before = loader.state_dict()
    with pytest.raises(
        PlanMismatchError, match=r"batch_size +8 +16(.|\n)*on_world_change"
    ) as caught:
        loader.load_state_dict(saved.state_dict())
    assert [name for name, _, _ in caught.value.fields] == ["batch_size"]
    assert loader.state_dict() == before


def test_states_of_loaders_without_ranks_are_refused() -> None:
    with pytest.raises(PlanMismatchError, match="options"):
        make((0, 1)).load_state_dict(make(None).state_dict())
    with pytest.raises(PlanMismatchError, match="options"):
        make(None).load_state_dict(make((0, 1)).state_dict())


@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")
def test_states_of_other_loaders_are_refused() -> None:
    from torchdata.stateful_dataloader import StatefulDataLoader as Classic

    classic = Classic(list(range(22)), 4)
    next(iter(classic))
    with pytest.raises((PlanMismatchError, ForeignStateError)):
        make((0, 1), list(range(22)), shuffle=False).load_state_dict(classic.state_dict())


def test_a_drawn_seed_needs_a_way_to_agree() -> None:
    loader = make((0, 2), seed=None)
    with pytest.raises(RanksError, match="agree on one in iter"):
        loader.state_dict()
    with pytest.raises(RanksError, match="the same seed="):
        iter(loader)
    loader.load_state_dict(make((1, 2)).state_dict())
    assert list(loader) == list(make((0, 2)))
    alone = make((0, 1), seed=None)
    assert alone.state_dict()["plan"]["seed"] == str(alone.seed)


def test_a_missing_process_group_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(make("auto")) == 6
    monkeypatch.setenv("WORLD_SIZE", "2")
    loader = make("auto")
    for use in (len, iter, lambda loader: loader.state_dict()):
        with pytest.raises(RanksError, match="init_process_group"):
            use(loader)


def test_epochs_go_forward_only() -> None:
    whole = [list(loader) for loader in [make((0, 2))] for _ in range(5)]
    loader = make((0, 2))
    loader.set_epoch(0)
    assert list(loader) == whole[0]
    loader.sampler.set_epoch(3)
    assert loader.state_dict()["position"]["epoch"] == 3
    batches = iter(loader)
    assert next(batches) == whole[3][0]
    loader.set_epoch(3)
    with pytest.warns(UserWarning, match=r"set_epoch\(0\) is ignored: the loader is in epoch 3"):
        loader.set_epoch(0)
    again = make((0, 2))
    again.load_state_dict(loader.state_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again.set_epoch(3)
    assert list(again) == whole[3][1:]
    assert list(again) == whole[4]
    with pytest.raises(ArgumentError, match="epoch should be an integer"):
        loader.set_epoch(-1)


@pytest.mark.parametrize("shuffle", [False, True])
def test_an_epoch_that_was_begun_early_gives_way(shuffle: bool) -> None:
    plain = make(None, shuffle=shuffle)
    whole = [list(plain) for _ in range(4)]
    options: dict[str, Any] = {"num_workers": 1, "persistent_workers": True}
    loader = make(None, shuffle=shuffle, prefetch_next_epoch=True, **options)
    assert list(loader) == whole[0]
    loader.set_epoch(3)
    assert list(loader) == whole[3]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_that_were_made_before_the_first_use(copied: Any, monkeypatch: Any) -> None:
    loader = make((1, 2), batch_size=1, global_batch_size=8)
    assert list(copied(loader)) == list(loader)
    early = copied(make("auto", batch_size=1, global_batch_size=8))
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(RanksError, match="init_process_group"):
        iter(early)  # the copy looks for the ranks by itself


def test_the_batch_size_is_known_before_the_first_use() -> None:
    loader = make((0, 2), batch_size=1, global_batch_size=8)
    assert (len(loader), loader.batch_size, len(loader.batch_sampler)) == (3, 4, 3)
    with pytest.raises(ArgumentError, match="shared by 4 ranks"):
        make((0, 4), batch_size=1, global_batch_size=6)


def test_a_ranks_sampler_in_another_loader_stays_its_share() -> None:
    loader = make((1, 2), shuffle=False)
    loader.state_dict()
    wanted = [[index for index, _ in batch] for batch in make((1, 2), shuffle=False)]
    for options in (
        {"batch_size": 4, "sampler": loader.sampler},
        {"batch_sampler": loader.batch_sampler},
    ):
        other = StatefulDataLoader(loader.dataset, collate_fn=list, **options)
        assert [[index for index, _ in batch] for batch in other] == wanted


def test_a_users_sampler_gets_the_epoch() -> None:
    sampler = DistributedSampler(Rows(), 2, 0, seed=1)  # type: ignore[arg-type]
    loader = make(None, sampler=sampler, shuffle=None)
    first = list(loader)
    loader.set_epoch(5)
    assert sampler.epoch == 5
    assert list(loader) != first


# Process groups


def _rank(rank: int, world: int, folder: str) -> None:
    store = f"file://{folder}/store"
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world)
    try:
        torch.manual_seed(rank)  # so that each rank draws another seed
        found: dict[str, Any] = {}
        loader = make("auto", seed=None)
        batches = iter(loader)
        found["first"] = next(batches)
        found["state"] = loader.state_dict()
        loader.check_ranks()
        ahead = make("auto")
        batches_ahead = iter(ahead)
        for _ in range(1 + rank % 2):
            next(batches_ahead)
        try:
            ahead.check_ranks()
        except RanksError as error:
            found["apart"] = str(error)
        found["rest"] = list(batches)
        group = make(dist.group.WORLD)
        found["copy"] = list(copy.deepcopy(group))
        found["group"] = list(copy.copy(group))
        assert copy.deepcopy(group).ranks is dist.group.WORLD
        with pytest.raises(RanksError, match=r'cannot be pickled.*give ranks="auto"'):
            pickle.dumps(group)
        dist.barrier()  # gloo connects ranks that come at the same time
        mesh = dist.init_device_mesh("cpu", (2, world // 2), mesh_dim_names=("dp", "tp"))
        found["mesh"] = list(make(mesh["dp"]))
        try:
            iter(make(mesh["dp"], seed=None))
        except RanksError as error:
            found["alone"] = str(error)
        alone = dist.init_device_mesh("cpu", (1, world), mesh_dim_names=("dp", "tp"))
        for use in (iter, StatefulDataLoader.state_dict):
            with pytest.raises(RanksError, match="seed="):
                use(make(alone["dp"], seed=None))
        with pytest.raises(ArgumentError, match="one dimension"):
            make(mesh)
        Path(folder, f"{rank}.json").write_text(json.dumps(found), encoding="utf-8")
    finally:
        dist.destroy_process_group()


def test_ranks_of_a_process_group_agree(helpers: None, tmp_path: Path) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    multiprocessing.start_processes(_rank, (4, str(tmp_path)), nprocs=4, start_method="forkserver")
    found = [json.loads(Path(tmp_path, f"{rank}.json").read_text()) for rank in range(4)]
    state = found[0]["state"]
    assert all(one["state"] == state for one in found)
    seed = int(state["plan"]["seed"])
    steps = [[one["first"], *one["rest"]] for one in found]
    whole = make((0, 1), batch_size=16, seed=seed)
    assert _joined(steps)[0] == _plain(whole)[0]
    rest = make((0, 1), batch_size=16, seed=None)
    rest.load_state_dict(state)
    # The last step is filled up for four ranks.
    assert _plain(rest) == [_joined([one["rest"] for one in found])[0][:6]]
    assert _joined([one["group"] for one in found])[0] == _plain(make((0, 1), batch_size=16))[0]
    assert all(one["copy"] == one["group"] for one in found)
    # Peers in the other dimension of a mesh get the same share.
    assert found[0]["mesh"] == found[1]["mesh"]
    assert _joined([found[0]["mesh"], found[2]["mesh"]]) == _plain(make((0, 1), batch_size=8))
    assert "the same seed=" in found[0]["alone"]
    assert all("the states of ranks 1, 3 are not" in one["apart"] for one in found)


def _joined(ranks: list[list[list[Any]]]) -> list[list[Any]]:
    return [[list(s) for share in step for s in share] for step in zip(*ranks, strict=True)]


def _plain(loader: Any) -> list[list[Any]]:
    return [[list(sample) for sample in step] for step in loader]


# Checkpoint libraries


class Grows(IterableDataset[int]):
    """A stream whose state has another tree in a fresh one than later."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def __iter__(self) -> Any:
        for number in range(len(self.seen), 6):
            self.seen.append(number)
            yield number
        self.seen = []

    def state_dict(self) -> dict[str, Any]:
        return {f"seen {number}": number for number in self.seen}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.seen = sorted(state.values())


def test_a_checkpoint_library_sees_one_key(tmp_path: Path) -> None:
    dcp = pytest.importorskip("torch.distributed.checkpoint")
    whole = [int(batch) for batch in StatefulDataLoader(Grows())]
    saved = StatefulDataLoader(Grows())
    batches = iter(saved)
    for _ in range(3):
        next(batches)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a checkpoint of one process
        dcp.save({"loader": saved.checkpointable()}, checkpoint_id=tmp_path / "saved")
        loader = StatefulDataLoader(Grows())
        dcp.load({"loader": loader.checkpointable()}, checkpoint_id=tmp_path / "saved")
    assert [int(batch) for batch in loader] == whole[3:]


@pytest.mark.parametrize("state", [None, {}, {"state": "text"}, {"state": b"{"}, {"other": b""}])
def test_other_checkpoints_are_refused(state: Any) -> None:
    loader = StatefulDataLoader([1, 2, 3])
    before = loader.state_dict()
    with pytest.raises(StateFormatError):
        loader.checkpointable().load_state_dict(state)
    assert loader.state_dict() == before


def test_a_state_without_a_seed_is_an_empty_checkpoint() -> None:
    loader = make((0, 2), seed=None)
    empty = loader.checkpointable().state_dict()
    assert empty == {"state": b""}
    loader.checkpointable().load_state_dict(empty)
    loader.checkpointable().load_state_dict(make((1, 2)).checkpointable().state_dict())
    assert loader.seed == 3


def test_ranks_that_cannot_be_asked_are_told() -> None:
    with pytest.raises(RanksError, match="by their numbers"):
        make((0, 2)).check_ranks()
    with pytest.raises(RanksError, match="ranks is None"):
        make(None).check_ranks()
