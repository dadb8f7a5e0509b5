"""Faults of the transport: errors and kills amid a batch, what is left, several loaders at once."""

from __future__ import annotations

import faulthandler
import gc
import multiprocessing.util
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sources
import torch
from belongings import belongings
from large_batches import (
    MEGABYTE,
    REMEMBERED,
    AtPickling,
    AtUnpickling,
    Disturbed,
    Large,
    Refusal,
    loader,
    numbers,
    refuse,
    remember_and_refuse,
    right,
    values,
)
from test_faults import gone, run, started
from torch.utils.data import Dataset

import midepoch
from midepoch.errors import WorkerDiedError

SIZES = [1_000, MEGABYTE]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", [AtPickling, AtUnpickling])
def test_an_error_amid_a_batch_is_that_batchs_alone(kind: Any, size: int) -> None:
    bad = {0, 3, 4, 9, *range(20, 40, 3)}
    batches = iter(loader(Disturbed(42, bad, kind(refuse), size), prefetch_factor=3))
    kept = []
    for index in range(42):
        if index in bad:
            with pytest.raises(Refusal, match="not this one"):
                next(batches)
        else:
            kept.append(next(batches))
    assert next(batches, "end") == "end"
    assert numbers(kept, size) == [index for index in range(42) if index not in bad]


class Freed(Dataset[torch.Tensor]):
    """The second of three tensors is larger than its storage, as sharded training leaves some."""

    def __init__(self, left: int, columns: bool) -> None:
        self.left, self.columns = left, columns

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> torch.Tensor:
        tensor = torch.arange(1000.0)
        tensor = tensor.view(2, 500).T if self.columns else tensor
        if index == 1:
            tensor.untyped_storage().resize_(self.left)
        return tensor


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("left", [0, 400, 3999])
def test_a_tensor_beyond_its_storage_is_refused(left: int, columns: bool) -> None:
    made = midepoch.StatefulDataLoader(Freed(left, columns), None, num_workers=1)
    batches = iter(made)
    first = next(batches)
    with pytest.raises(ValueError, match=rf"lacks {4000 - left} bytes: its storage was resized"):
        next(batches)
    assert torch.equal(next(batches), first)


@pytest.mark.parametrize("size", SIZES)
def test_what_a_refused_batch_left_somewhere_stays_as_it_was(size: int) -> None:
    given = AtUnpickling(remember_and_refuse, torch.from_numpy(values(7, size)), values(8, size))
    batches = iter(loader(Disturbed(30, {1}, given, size)))
    next(batches)
    with pytest.raises(Refusal):
        next(batches)
    for batch in batches:
        assert right(batch, size)
    tensor, array = REMEMBERED
    REMEMBERED.clear()
    assert np.array_equal(tensor.numpy(), values(7, size))
    assert np.array_equal(array, values(8, size))


# Deaths


def die() -> None:
    faulthandler.disable()  # pytest's: its report of the signal is not this test's
    os.kill(os.getpid(), signal.SIGKILL)


class DieOnce:
    """Kills the process that it runs in, the first time."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __call__(self) -> None:
        if not self.marker.exists():
            self.marker.touch()
            die()


@pytest.mark.parametrize("size", SIZES)
def test_a_death_amid_a_write_loses_nothing_that_was_sent(size: int, tmp_path: Path) -> None:
    bomb = AtPickling(DieOnce(tmp_path / "died"))
    made = loader(Disturbed(12, {5}, bomb, size))
    batches = iter(made)
    held = [next(batches) for _ in range(5)]
    with pytest.raises(WorkerDiedError, match="batch 5"):
        next(batches)
    state = made.state_dict()
    assert state["position"]["batches"] == 5
    del batches
    made.load_state_dict(state)
    rest = list(made)
    assert numbers(held, size) == list(range(5))
    assert numbers(rest, size) == list(range(5, 12))
    assert rest[0]["between"] == "written"


@pytest.mark.parametrize("execution", [{}, {"num_workers": 2, "persistent_workers": True}], ids=str)
def test_replaced_workers_send_large_batches_as_the_dead_would_have(
    execution: dict[str, Any], tmp_path: Path
) -> None:
    for number, at in enumerate(({0}, {1}, {6})):
        bomb = AtPickling(DieOnce(tmp_path / str(number)))
        made = loader(Disturbed(10, at, bomb), worker_restarts=1, prefetch_factor=3, **execution)
        for _ in range(2):
            kept = list(made)  # of the dead worker's too
            assert numbers(kept) == list(range(10))
        assert (tmp_path / str(number)).exists()


def test_workers_killed_at_any_moment_of_large_batches_show_nowhere() -> None:
    draw = random.Random(8)
    made = loader(
        Large(60, 4 * MEGABYTE), num_workers=2, worker_restarts=100, prefetch_factor=3, shuffle=True
    )
    wanted = [int(key) for key in loader(range(60), num_workers=0, shuffle=True)]
    batches = iter(made)
    got: list[int] = []
    kept: list[Any] = []
    for at in range(60):
        batch = next(batches)
        assert right(batch, 4 * MEGABYTE)
        got.append(batch["index"])
        kept = [*kept[-2:], batch]
        if at % 9 == 4:  # the next batches are being written
            for _ in range(draw.randrange(2000)):
                pass
            os.kill(draw.choice(batches._workers).pid, signal.SIGKILL)
        assert all(right(one, 4 * MEGABYTE) for one in kept)
    assert got == wanted


KILLED = """
    import os, time, midepoch, sources, torch
    from histories import keep

    class Large(sources.Plain):
        def __getitem__(self, index):
            return os.getpid(), torch.zeros(1 << 20), torch.zeros(10)

    made = midepoch.StatefulDataLoader(
        Large(1000), batch_size=None, num_workers=2, collate_fn=keep, prefetch_factor=4
    )
    batches = iter(made)
    held = [next(batches) for _ in range(20)]
    print(os.getpid(), held[0][0], held[1][0], flush=True)
    if {dies}:
        os.kill(os.getpid(), 9)
    while True:
        next(batches, None)
"""


@pytest.mark.parametrize("dies", [True, False])
def test_a_killed_main_process_leaves_nothing(dies: bool) -> None:
    process = run(KILLED.replace("{dies}", str(dies)))
    pids = started(process)
    process.kill()  # wherever it is
    process.communicate()
    assert len(set(pids)) == 3
    assert gone(pids, 20)
    # Others on this machine have theirs there, too: torch puts the process id into its names.
    names = [path.name for path in Path("/dev/shm").iterdir()]
    assert [name for name in names if any(f"_{pid}_" in name for pid in pids)] == []


def test_fifty_iterators_dropped_amid_an_epoch_leave_nothing() -> None:
    kept = loader(Large(40, 200_000), num_workers=2, persistent_workers=True, prefetch_factor=3)
    fresh = loader(Large(40, 200_000), prefetch_factor=3)
    next(iter(kept))
    before = belongings()
    for turn in range(50):
        made = fresh if turn % 5 == 0 else kept
        batches = iter(made)
        held = [next(batches) for _ in range(1 + turn % 6)]
        del batches
        assert numbers(held, 200_000) == list(range(1 + turn % 6))
    del held
    gc.collect()
    after = belongings()
    assert after.children == before.children
    assert len(after.descriptors) - len(before.descriptors) <= 4
    assert numbers(kept, 200_000) == list(range(40))


# Several loaders


def test_several_loaders_at_once_do_not_mix() -> None:
    draw = random.Random(9)
    sizes = [3_000, 100_000, MEGABYTE]
    made = [
        loader(Large(40, size), num_workers=workers, shuffle=True, prefetch_factor=3)
        for size in sizes
        for workers in (1, 2)
    ]
    sizes = [size for size in sizes for _ in range(2)]
    running = {number: iter(one) for number, one in enumerate(made)}
    got: dict[int, list[Any]] = {number: [] for number in running}
    while running:
        number = draw.choice(list(running))
        batch = next(running[number], None)
        if batch is None:
            del running[number]
        else:
            got[number].append(batch)
            one = draw.choice(got[number])
            assert right(one, sizes[number])
            if draw.random() < 0.7:
                got[number].remove(one) if one is batch else None
    for number, size in enumerate(sizes):
        assert all(right(batch, size) for batch in got[number])


class LeavesWord(sources.Plain):
    """Its worker leaves a file when it ends by itself, and none when it is ended."""

    def __getitem__(self, index: int) -> Any:
        return os.getpid(), torch.full((100_000,), index)


def leave_word(folder: Path) -> Callable[[int], None]:
    def init(lane: int) -> None:
        touch = (folder / str(os.getpid())).touch
        multiprocessing.util.Finalize(None, touch, exitpriority=1)

    return init


def test_a_loader_closes_promptly_while_workers_of_a_later_one_live(tmp_path: Path) -> None:
    first = iter(loader(LeavesWord(50), num_workers=2, worker_init_fn=leave_word(tmp_path)))
    held = [next(first) for _ in range(3)]
    second = iter(loader(Large(30), num_workers=2))
    next(second)
    third = iter(loader(Large(30), num_workers=2))
    pids = [one.pid for one in first._workers]
    del first
    assert gone(pids, 0.1)  # closing waits for them
    assert {int(path.name) for path in tmp_path.iterdir()} == set(pids)  # none had to be ended
    assert all(bool((tensor == index).all()) for index, (_, tensor) in enumerate(held))
    assert numbers(second) == list(range(1, 30))
    assert numbers(third) == list(range(30))


class Outer(Dataset[Any]):
    """Each batch is made of those of a loader of its own, with a worker."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> Any:
        # Workers are daemons, which multiprocessing does not let have children.
        multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]  # not public
        inner = list(loader(Large(5, 200_000)))
        return [index, inner, inner[index % 5]["x"][3:]]


def test_a_loader_runs_inside_a_worker_of_another() -> None:
    kept = list(loader(Outer(), prefetch_factor=1))
    for index, (number, inner, part) in enumerate(kept):
        assert number == index
        assert numbers(inner, 200_000) == list(range(5))
        assert np.array_equal(part.numpy(), values(index % 5, 200_000)[3:])


def test_workers_forked_while_batches_are_held_leave_them_as_they_are() -> None:
    """A fork sees the memory of then; what it holds of it may not hold up, nor change, anything."""
    first = loader(Large(30, 300_000))
    held = list(first)
    for _ in range(3):
        assert numbers(loader(Large(12, 300_000), num_workers=2), 300_000) == list(range(12))
        assert numbers(held, 300_000) == list(range(30))


# Messages


def test_messages_of_any_length_are_whole() -> None:
    """Long streams without a buffer, states, and buffers of no bytes, one after the other."""
    sizes = [0, 1, 8_000, 9_000, 70_000, 300_000, 2_000_000]
    draw = random.Random(10)
    plan = [[draw.choice(sizes) for _ in range(draw.randrange(4))] for _ in range(60)]
    dataset: list[dict[str, Any]] = [
        {"texts": ["x" * size for size in one], "arrays": [np.ones(size, "u1") for size in one]}
        for one in plan
    ]
    for got, wanted in zip(loader(dataset, prefetch_factor=5), dataset, strict=True):
        assert got["texts"] == wanted["texts"]
        pairs = zip(got["arrays"], wanted["arrays"], strict=True)
        assert all(np.array_equal(one, other) for one, other in pairs)
