"""Lightning's trainer and Fabric around a loader, with two processes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from torch import multiprocessing

from midepoch import StatefulDataLoader

lightning = pytest.importorskip("lightning.pytorch")

from test_lightning import Noisy, fit, make  # noqa: E402  # needs it

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs


def _process(rank: int, world: int, folder: str, steps: int, port: int) -> None:
    os.environ.update(
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT=str(port),
        NODE_RANK="0",
        LOCAL_RANK=str(rank),
        WORLD_SIZE=str(world),
    )
    kept = lightning.callbacks.ModelCheckpoint(
        folder, every_n_train_steps=2, save_top_k=-1, filename="{step}"
    )
    path = Path(folder, "step=2.ckpt")
    seen = fit(
        Path(folder),
        steps,
        kept,
        loader=make(ranks="auto"),
        devices=world,
        strategy="ddp",
        ckpt_path=str(path) if path.exists() else None,
    )
    Path(folder, f"{rank}-{steps}.json").write_text(json.dumps(seen), encoding="utf-8")


def test_two_processes_resume_together(helpers: None, tmp_path: Path) -> None:
    from test_accelerate import free_port

    for steps in (2, 6):
        args = (2, str(tmp_path), steps, free_port())
        multiprocessing.start_processes(_process, args, nprocs=2, start_method="spawn")
    ranks = [
        [json.loads((tmp_path / f"{rank}-{steps}.json").read_text()) for steps in (2, 6)]
        for rank in range(2)
    ]
    loader = StatefulDataLoader(Noisy(), 8, shuffle=True, seed=2, ranks=(0, 1))
    whole = [batch.tolist() for _ in range(2) for batch in loader]
    for part, start in ((0, 0), (1, 2)):
        steps = zip(ranks[0][part], ranks[1][part], strict=True)
        got = [[*one[1], *two[1]] for one, two in steps]
        assert got == whole[start : start + len(got)]
        assert len(got) == (2, 4)[part]


def _fabric(rank: int, world: int, folder: str, saved: bool, port: int) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), NODE_RANK="0")
    os.environ.update(LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    from lightning.fabric import Fabric

    fabric = Fabric(accelerator="cpu", devices=world, strategy="ddp")
    fabric.launch()
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


def test_fabric_leaves_the_loader_as_it_is(helpers: None, tmp_path: Path) -> None:
    from test_accelerate import free_port

    for saved in (False, True):
        args = (2, str(tmp_path), saved, free_port())
        multiprocessing.start_processes(_fabric, args, nprocs=2, start_method="spawn")
    loader = StatefulDataLoader(Noisy(), 8, shuffle=True, seed=2, ranks=(0, 1))
    whole = [batch.tolist() for _ in range(2) for batch in loader]
    assert len(whole) == 6
    for saved, wanted in ((0, whole[:2]), (1, whole[2:])):
        one, two = (json.loads((tmp_path / f"{r}-{saved}.json").read_text()) for r in range(2))
        assert [[*a, *b] for a, b in zip(one, two, strict=True)] == wanted
