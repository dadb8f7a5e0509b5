"""A run of several ranks that is killed again and again, and goes on on other ranks and workers."""

from __future__ import annotations

import json
import random
import signal
import warnings
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.utils.data import IterableDataset, get_worker_info

from midepoch import StatefulDataLoader, batch_info, merge_states

RESUMES = 20
SAMPLES, GLOBAL = 53, 12
LANES = 12
CONTEXT = get_context("fork")

Step = list[list[Any]]


class Augmented:
    """Samples that draw from every stream."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> list[Any]:
        own = int(batch_info().numpy.integers(1 << 30))
        return [index, random.random(), float(torch.rand(())), own]


class Streams(IterableDataset[list[Any]]):
    """A stream for each lane, some longer than others, with its position; its samples draw."""

    read = 0

    def __iter__(self) -> Iterator[list[Any]]:
        lane: Any = get_worker_info()
        while self.read < 3 + lane.id * 5 % 7:
            self.read += 1
            own = int(batch_info().numpy.integers(1 << 30))
            yield [lane.id, self.read - 1, random.random(), float(torch.rand(())), own]

    def state_dict(self) -> dict[str, int]:
        return {"read": self.read}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.read = state["read"]


Place = tuple[int, int]


def map_style(place: Place, workers: int, folder: Path | None = None) -> Any:
    return StatefulDataLoader(
        Augmented(),  # type: ignore[arg-type]  # no torch Dataset
        shuffle=True,
        seed=11,
        collate_fn=list,
        num_workers=workers,
        ranks=place,
        global_batch_size=GLOBAL,
    )


def dealt(place: Place, workers: int, folder: Path | None = None) -> Any:
    """Return a loader whose ranks end each epoch together, if a folder for their store is given."""
    if folder is not None:
        rank, world = place
        store = f"file://{folder}/store"
        dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world)
    return StatefulDataLoader(
        Streams(),
        batch_size=2,
        seed=11,
        collate_fn=list,
        num_workers=workers,
        lanes=LANES,
        snapshot_every_n_steps=3 * LANES,
        ranks=place if folder is None else "auto",
    )


Make = Callable[[Place, int, Path | None], Any]


def steps_of(loader: Any) -> Any:
    """Yield the steps of all epochs."""
    while True:
        yield from loader


def train(
    link: Connection, make: Make, place: Place, workers: int, folder: Path, state: Any, count: int
) -> None:
    """Be a rank: deliver so many batches, tell each with the state after it, and be killed."""
    warnings.simplefilter("ignore")  # about more workers than processors
    loader = make(place, workers, folder)
    if state is not None:
        loader.load_state_dict(state)
    batches = steps_of(loader)
    for _ in range(count):
        link.send_bytes(json.dumps([next(batches), loader.state_dict()]).encode())
    signal.pause()


def killed(
    make: Make, world: int, workers: int, folder: Path, state: Any, count: int
) -> list[list[Any]]:
    """Run all ranks until they are killed; return what each told."""
    folder.mkdir()
    links, ranks = [], []
    for rank in range(world):
        here, there = CONTEXT.Pipe()
        args = (there, make, (rank, world), workers, folder, state, count)
        process = CONTEXT.Process(target=train, args=args)
        process.start()
        there.close()
        links.append(here)
        ranks.append(process)
    told = [[json.loads(link.recv_bytes()) for _ in range(count)] for link in links]
    for process in ranks:
        process.kill()
    for link, process in zip(links, ranks, strict=True):
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
        process.close()
        link.close()
    return told


def histories() -> Iterator[tuple[int, int, int, int]]:
    """Yield for each run: ranks, workers, batches of each, and after which the state is kept.

    Each resume has another number of ranks than the run before, and another one of workers.
    """
    chance = random.Random(5)
    world, workers = 1, 0
    for _ in range(RESUMES + 1):
        world = chance.choice([other for other in (1, 2, 3, 4) if other != world])
        workers = chance.choice([other for other in range(4) if other != workers])
        count = chance.randrange(1, 5)
        # The last states that were written may be older than the last batch.
        yield world, workers, count, chance.randrange(count)


def test_a_run_goes_on_on_any_ranks_and_workers(tmp_path: Path) -> None:
    alone = steps_of(map_style((0, 1), 0))
    whole: list[Step] = []
    state: Any = None
    at = 0
    for number, (world, workers, count, kept) in enumerate(histories()):
        told = killed(map_style, world, workers, tmp_path / str(number), state, count)
        while len(whole) < at + count:
            whole.append(next(alone))
        for step in range(count):
            assert len({json.dumps(rank[step][1]) for rank in told}) == 1
            got = [sample for rank in told for sample in rank[step][0]]
            wanted = whole[at + step]
            assert got[: len(wanted)] == wanted, (world, workers, at + step)
            assert len(got) - len(wanted) < world
        state, at = told[0][kept][1], at + kept + 1
    assert at > SAMPLES // GLOBAL * 3


def test_dealt_lanes_go_on_on_any_ranks_and_workers(tmp_path: Path) -> None:
    alone = dealt((0, 1), 0)
    epochs: list[dict[int, list[Step]]] = []
    state: Any = None
    kept_epoch, kept_lanes = 0, dict.fromkeys(range(LANES), 0)
    for number, (world, workers, count, kept) in enumerate(histories()):
        told = killed(dealt, world, workers, tmp_path / str(number), state, count)
        epoch, lanes = kept_epoch, dict(kept_lanes)
        for step in range(count):
            (now,) = {rank[step][1]["position"]["epoch"] for rank in told}
            while len(epochs) <= now:
                epochs.append(_by_lane(alone))
            if now > epoch:
                ended = {lane for lane in lanes if lanes[lane] == len(epochs[epoch][lane])}
                assert any(ended.issuperset(range(r, LANES, world)) for r in range(world))
                assert now == epoch + 1
                epoch, lanes = now, dict.fromkeys(lanes, 0)
            for rank, (batch, _) in enumerate(each[step] for each in told):
                lane = batch[0][0]
                assert lane % world == rank
                assert batch == epochs[epoch][lane][lanes[lane]], (world, workers, number, step)
                lanes[lane] += 1
            if step == kept:
                kept_epoch, kept_lanes = epoch, dict(lanes)
        state = merge_states([rank[kept][1] for rank in told])
    assert kept_epoch > 0


def _by_lane(loader: Any) -> dict[int, list[Step]]:
    """Return the batches of the next epoch of one rank, by lane."""
    lanes: dict[int, list[Step]] = {lane: [] for lane in range(LANES)}
    for batch in loader:
        lanes[batch[0][0]].append(batch)
    return lanes
