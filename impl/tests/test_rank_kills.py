"""A run of several ranks that is killed again and again, and goes on on other ranks and workers."""

from __future__ import annotations

import json
import os
import random
import signal
import warnings
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import torch

from midepoch import StatefulDataLoader, batch_info

RESUMES = 20
SAMPLES, GLOBAL = 53, 12
CONTEXT = get_context("fork")

Step = list[list[Any]]


class Augmented:
    """Samples that draw from every stream."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> list[Any]:
        own = int(batch_info().numpy.integers(1 << 30))
        return [index, random.random(), float(torch.rand(())), own]


def make(rank: int, world: int, workers: int) -> Any:
    return StatefulDataLoader(
        Augmented(),  # type: ignore[arg-type]  # no torch Dataset
        shuffle=True,
        seed=11,
        collate_fn=list,
        num_workers=workers,
        ranks=(rank, world),
        global_batch_size=GLOBAL,
    )


def steps_of(loader: Any) -> Any:
    """Yield the steps of all epochs."""
    while True:
        yield from loader


def train(link: Connection, place: tuple[int, int], workers: int, state: Any, count: int) -> None:
    """Be a rank: deliver so many batches, tell each with the state after it, and be killed."""
    warnings.simplefilter("ignore")  # about more workers than processors
    loader = make(*place, workers)
    if state is not None:
        loader.load_state_dict(state)
    batches = steps_of(loader)
    for _ in range(count):
        link.send_bytes(json.dumps([next(batches), loader.state_dict()]).encode())
    os.kill(os.getpid(), signal.SIGKILL)


def killed(world: int, workers: int, state: Any, count: int) -> list[list[Any]]:
    """Run all ranks until they are killed; return what each told."""
    links, ranks = [], []
    for rank in range(world):
        here, there = CONTEXT.Pipe()
        args = (there, (rank, world), workers, state, count)
        process = CONTEXT.Process(target=train, args=args)
        process.start()
        there.close()
        links.append(here)
        ranks.append(process)
    told = [[json.loads(link.recv_bytes()) for _ in range(count)] for link in links]
    for link, process in zip(links, ranks, strict=True):
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
        process.close()
        link.close()
    return told


def test_a_run_goes_on_on_any_ranks_and_workers() -> None:
    chance, alone = random.Random(5), steps_of(make(0, 1, 0))
    whole: list[Step] = []
    state: Any = None
    at = 0
    for _ in range(RESUMES):
        world, workers, count = (
            chance.choice((1, 2, 3, 4)),
            chance.randrange(4),
            chance.randrange(1, 5),
        )
        told = killed(world, workers, state, count)
        while len(whole) < at + count:
            whole.append(next(alone))
        for number in range(count):
            assert len({json.dumps(rank[number][1]) for rank in told}) == 1
            got = [sample for rank in told for sample in rank[number][0]]
            wanted = whole[at + number]
            assert got[: len(wanted)] == wanted, (world, workers, at + number)
            assert len(got) - len(wanted) < world
        # The last states that were written may be older than the last batch.
        kept = chance.randrange(count)
        state, at = told[0][kept][1], at + kept + 1
    assert at > SAMPLES // GLOBAL * 3
