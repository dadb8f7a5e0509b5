"""A run with DistributedDataParallel goes on on other numbers of ranks, with the same samples."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import multiprocessing
from torch.nn.parallel import DistributedDataParallel

from midepoch import StatefulDataLoader

SAMPLES, STEPS = 96, 2
RUNS = ((4, 8), (2, 8), (3, 6), (1, 8), (4, 8))
"""The ranks of each run, and the samples of a step on all of them; the third run cuts anew."""


class Augmented:
    """Samples that draw."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.cat([torch.tensor([float(index)]), torch.rand(1)])


def make(ranks: Any, size: int) -> Any:
    return StatefulDataLoader(
        Augmented(),  # type: ignore[arg-type]  # no torch Dataset
        shuffle=True,
        seed=7,
        ranks=ranks,
        global_batch_size=size,
        on_world_change="recut",
    )


def train(rank: int, world: int, folder: str, number: int, size: int) -> None:
    """Be a rank: train for some steps from the last checkpoint on, and save the next one."""
    torch.set_num_threads(1)
    store = f"file://{folder}/store-{number}"
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world)
    try:
        torch.manual_seed(0)
        model = torch.nn.Linear(1, 1)
        loader = make("auto", size)
        if number:
            saved = torch.load(f"{folder}/{number - 1}.pt", weights_only=True)
            model.load_state_dict(saved["model"])
            loader.load_state_dict(saved["loader"])
        parallel = DistributedDataParallel(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
        got, batches = [], iter(loader)
        for _ in range(STEPS):
            batch = next(batches)
            got.append(batch.tolist())
            optimizer.zero_grad()
            parallel(batch[:, :1]).square().mean().backward()
            optimizer.step()
        if rank == 0:
            state = {"model": model.state_dict(), "loader": loader.state_dict()}
            torch.save(state, f"{folder}/{number}.pt")
        Path(folder, f"{number}-{rank}.json").write_text(json.dumps(got))
        dist.barrier()
    finally:
        dist.destroy_process_group()


def run(folder: str) -> None:
    """Play all runs in forked processes: this one has imported torch, and trains nothing itself."""
    for number, (world, size) in enumerate(RUNS):
        args = (world, folder, number, size)
        multiprocessing.start_processes(train, args, nprocs=world, start_method="fork")


def test_a_run_on_four_ranks_goes_on_on_two_three_one_and_four(tmp_path: Path) -> None:
    subprocess.run([sys.executable, __file__, tmp_path], check=True, timeout=150)
    samples: list[list[float]] = []
    for number, (world, size) in enumerate(RUNS):
        ranks = [json.loads((tmp_path / f"{number}-{r}.json").read_text()) for r in range(world)]
        for step in range(STEPS):
            shares = [rank[step] for rank in ranks]
            assert [len(share) for share in shares] == [size // world] * world
            samples += [sample for share in shares for sample in share]
    # One rank alone delivers these samples in this order, with the same random numbers.
    alone = [sample for batch in make((0, 1), 8) for sample in batch.tolist()]
    assert samples == alone[: len(samples)]
    assert len(samples) == STEPS * sum(size for _, size in RUNS)


if __name__ == "__main__":
    run(sys.argv[1])
