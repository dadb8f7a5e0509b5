"""Lightning Fabric around a loader: with the two functions for it, and without them."""

from __future__ import annotations

import json
import os
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import multiprocessing

from midepoch import StatefulDataLoader
from midepoch.errors import ArgumentError, PlanMismatchError

pytest.importorskip("lightning")

from lightning.fabric import Fabric  # needs it
from test_lightning import Noisy, make  # needs it

from midepoch.integrations.lightning import loader_state, setup_loader  # needs it

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs


def epoch_of(batches: Any) -> list[Any]:
    return [batch.tolist() for batch in batches]


def _fabric(rank: int, world: int, port: int) -> Any:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), NODE_RANK="0")
    os.environ.update(LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    fabric = Fabric(accelerator="cpu", devices=world, strategy="ddp")
    fabric.launch()
    return fabric


def test_a_resumed_epoch_is_not_the_one_that_fabric_counts(tmp_path: Path) -> None:
    fabric, loader = Fabric(accelerator="cpu", devices=1), make(ranks=(0, 1))
    batches = setup_loader(fabric, loader)
    wanted = [epoch_of(batches) for _ in range(3)]
    loader = make(ranks=(0, 1))
    batches = setup_loader(fabric, loader)
    epoch_of(batches)
    for number, _ in enumerate(batches):
        if number == 1:
            fabric.save(tmp_path / "kept", {"loader": loader_state(fabric, loader)})
            break
    kept: dict[str, Any] = {"loader": None}
    fabric.load(tmp_path / "kept", kept)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "set_epoch")
        batches = setup_loader(fabric, make(ranks=(0, 1)), kept["loader"])
        assert [epoch_of(batches) for _ in range(2)] == [wanted[1][2:], wanted[2]]


def test_other_loaders_are_refused() -> None:
    fabric: Any = Fabric(accelerator="cpu", devices=1)
    for other in (torch.utils.data.DataLoader(Noisy()), fabric.setup_dataloaders(make())):
        for refuses in (setup_loader, loader_state):
            with pytest.raises(ArgumentError, match="give the loader itself"):
                refuses(fabric, other)


def test_one_process_needs_no_function(tmp_path: Path) -> None:
    fabric: Any = Fabric(accelerator="cpu", devices=1)
    batches = fabric.setup_dataloaders(make())
    wanted = [epoch_of(batches) for _ in range(2)]
    batches = fabric.setup_dataloaders(make())
    for number, _ in enumerate(batches):
        if number == 1:
            fabric.save(tmp_path / "kept", {"loader": batches})
            break
    batches = fabric.setup_dataloaders(make())
    fabric.load(tmp_path / "kept", {"loader": batches})
    assert [epoch_of(batches) for _ in range(2)] == [wanted[0][2:], wanted[1]]


def _process(rank: int, world: int, folder: str, saved: bool, port: int) -> None:
    fabric = _fabric(rank, world, port)
    loader = make(ranks="auto")
    batches = fabric.setup_dataloaders(loader)
    path = Path(folder, "fabric.ckpt")
    if saved:
        fabric.load(path, {"loader": loader})
    seen = []
    for _ in range(2):
        for number, batch in enumerate(batches):
            seen.append(batch.tolist())
            if number == 1 and not saved:
                fabric.save(path, {"loader": loader})
                break
        if not saved:
            break
    Path(folder, f"{rank}-{int(saved)}.json").write_text(json.dumps(seen), encoding="utf-8")


def test_fabric_leaves_a_loader_with_ranks_as_it_is(helpers: None, tmp_path: Path) -> None:
    from test_accelerate import free_port

    for saved in (False, True):
        args = (2, str(tmp_path), saved, free_port())
        multiprocessing.start_processes(_process, args, nprocs=2, start_method="spawn")
    loader = StatefulDataLoader(Noisy(), 8, shuffle=True, seed=2, ranks=(0, 1))
    whole = [batch.tolist() for _ in range(2) for batch in loader]
    assert len(whole) == 6
    for saved, wanted in ((0, whole[:2]), (1, whole[2:])):
        one, two = (json.loads((tmp_path / f"{r}-{saved}.json").read_text()) for r in range(2))
        assert [[*a, *b] for a, b in zip(one, two, strict=True)] == wanted


def _without_ranks(rank: int, world: int, folder: str, port: int) -> None:
    fabric = _fabric(rank, world, port)
    refused = []
    loader = make()
    for refuses in (setup_loader, loader_state):
        try:
            refuses(fabric, loader)
        except ArgumentError as error:
            refused.append(str(error))
    # Without the functions, Fabric builds the loader anew with a DistributedSampler.
    batches = fabric.setup_dataloaders(loader)
    next(iter(batches))
    path = Path(folder, "fabric.ckpt")
    fabric.save(path, {"loader": batches})
    try:
        with suppress(RuntimeError):  # the main process waits for the other one
            fabric.load(path, {"loader": fabric.setup_dataloaders(make())})
    except PlanMismatchError as error:
        refused.append(str(error))
    Path(folder, f"{rank}.json").write_text(json.dumps(refused), encoding="utf-8")


def test_two_processes_without_ranks_are_refused(helpers: None, tmp_path: Path) -> None:
    from test_accelerate import free_port

    args = (2, str(tmp_path), free_port())
    multiprocessing.start_processes(_without_ranks, args, nprocs=2, start_method="spawn")
    for rank in range(2):
        setup, state, *load = json.loads((tmp_path / f"{rank}.json").read_text())
        assert 'ranks="auto"' in setup == state
        assert len(load) == rank
        assert all("rank 0 of 2" in one for one in load)


def _sharded(rank: int, folder: str, port: int) -> None:
    from lightning.fabric.strategies import ModelParallelStrategy

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), NODE_RANK="0")
    strategy = ModelParallelStrategy(_shard, save_distributed_checkpoint=True)
    fabric: Any = Fabric(accelerator="cpu", devices=1, strategy=strategy)
    fabric.launch()
    model, path, loader = fabric.setup(torch.nn.Linear(2, 2)), Path(folder, "kept"), make()
    batches = iter(setup_loader(fabric, loader))
    next(batches), next(batches)
    fabric.save(path, {"model": model, "loader": loader_state(fabric, loader)})
    fresh = make()
    kept: dict[str, Any] = {"model": model, "loader": fresh}
    fabric.load(path, kept)
    assert fresh.state_dict()["position"]["batches"] == 0  # Fabric puts the state in its place
    kept = {"model": model, "loader": None}
    fabric.load(path, kept)
    resumed = setup_loader(fabric, make(), kept["loader"])
    assert epoch_of(resumed) == epoch_of(batches)
    torch.distributed.destroy_process_group()


def _shard(model: Any, mesh: Any) -> Any:
    return torch.distributed.fsdp.fully_shard(model, mesh=mesh["data_parallel"])


def test_a_sharded_checkpoint_keeps_the_state(helpers: None, tmp_path: Path) -> None:
    from test_accelerate import free_port

    args = (str(tmp_path), free_port())
    multiprocessing.start_processes(_sharded, args, nprocs=1, start_method="spawn")
