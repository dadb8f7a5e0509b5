"""Lightning's trainer around a loader, with two processes."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path

import pytest
import torch
from torch import multiprocessing

from midepoch import StatefulDataLoader
from midepoch.errors import ArgumentError

lightning = pytest.importorskip("lightning.pytorch")

from test_lightning import Counted, Model, Noisy, fit, make  # noqa: E402  # needs it

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


def _injected(rank: int, world: int, folder: str, port: int) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), NODE_RANK="0")
    os.environ.update(LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    options, refused = {"devices": world, "strategy": "ddp", "enable_checkpointing": False}, ""
    try:
        fit(Path(folder), 2, loader=make(), **options)
    except ArgumentError as error:
        refused = str(error)
    dealt = functools.partial(StatefulDataLoader, Counted(), 4, seed=2, lanes=2, ranks="auto")
    with pytest.raises(ArgumentError, match='give uneven="as they are" if all ranks'):
        fit(Path(folder), 2, loader=dealt(), **options)
    assert len(fit(Path(folder), 2, loader=dealt(uneven="as they are"), **options)) == 2
    model = Model()
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False, **options
    )
    trainer.fit(model, make(lanes=3, num_workers=1))
    seen = [batch for _, batch, _ in model.seen]
    Path(folder, f"{rank}.json").write_text(json.dumps([refused, seen]), encoding="utf-8")


def test_an_injected_sampler_keeps_seed_and_lanes_or_is_refused(
    helpers: None, tmp_path: Path
) -> None:
    from test_accelerate import free_port

    args = (2, str(tmp_path), free_port())
    multiprocessing.start_processes(_injected, args, nprocs=2, start_method="spawn")
    for rank in range(2):
        refused, seen = json.loads((tmp_path / f"{rank}.json").read_text())
        assert 'ranks="auto"' in refused
        sampler = torch.utils.data.DistributedSampler(Noisy(), 2, rank)
        loader = StatefulDataLoader(Noisy(), 4, sampler=sampler, seed=2, lanes=3)
        wanted = []
        for epoch in range(2):
            sampler.set_epoch(epoch)
            wanted += [batch.tolist() for batch in loader]
        assert seen == wanted
