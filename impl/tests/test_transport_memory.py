"""How much memory the transport takes, and that it gives it back."""

from __future__ import annotations

import gc
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from large_batches import (
    MEGABYTE,
    AtPickling,
    AtUnpickling,
    Disturbed,
    Large,
    Refusal,
    loader,
    numbers,
    refuse,
    right,
)


class Holdings(NamedTuple):
    """Memory of some processes together, in bytes, and their descriptors."""

    shared: int
    memory: int
    """Shared memory counted once, and what they allocated."""
    descriptors: int


def everybody(batches: Any) -> list[int]:
    return [os.getpid(), *(one.pid for one in batches._workers)]


def holdings(pids: list[int]) -> Holdings:
    gc.collect()
    files: dict[int, int] = {}
    counts = {"Pss_Anon": 0, "Pss_Shmem": 0}
    descriptors = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            name, _, rest = line.partition(":")
            if name in counts:
                counts[name] += int(rest.split()[0]) * 1024
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # of this listing itself, or closed meanwhile
                if os.readlink(entry).startswith(("/memfd:", "/dev/shm/")):
                    about = entry.stat()
                    files[about.st_ino] = about.st_blocks * 512
                descriptors += 1
    shared = max(counts["Pss_Shmem"], sum(files.values()))  # mapped, or only opened
    return Holdings(shared, counts["Pss_Anon"] + shared, descriptors)


def test_refused_batches_leave_no_memory_and_no_descriptors() -> None:
    for kind in (AtPickling, AtUnpickling):
        made = loader(Disturbed(80, range(1, 80), kind(refuse)))
        batches = iter(made)
        next(batches)
        pids = everybody(batches)
        before = holdings(pids)
        for _ in range(79):
            with pytest.raises(Refusal):
                next(batches)
        after = holdings(pids)
        assert after.shared - before.shared <= 16 * MEGABYTE
        assert after.descriptors - before.descriptors <= len(pids) * 4


def test_keeping_everything_costs_little_more_than_what_is_kept() -> None:
    batches = iter(loader(Large(260, MEGABYTE // 2), prefetch_factor=2))
    kept = [next(batches)]
    pids = everybody(batches)
    before = holdings(pids)
    kept += [next(batches) for _ in range(199)]
    held = holdings(pids)
    assert held.memory - before.memory <= 1.15 * 200 * MEGABYTE + 48 * MEGABYTE
    assert numbers(kept, MEGABYTE // 2) == list(range(200))
    kept.clear()
    assert numbers(batches, MEGABYTE // 2) == list(range(200, 260))


def test_shared_memory_shrinks_when_it_is_not_wanted_any_more() -> None:
    batches = iter(loader(Shrinking(), prefetch_factor=2))
    kept = [next(batches) for _ in range(40)]
    pids = everybody(batches)
    assert numbers(kept) == list(range(40))  # memory counts where it was touched
    assert holdings(pids).memory > 80 * MEGABYTE
    kept.clear()
    for _ in range(300):
        next(batches)
    assert holdings(pids).shared <= 24 * MEGABYTE


class Shrinking(Large):
    """Large batches, and then small ones that still are in segments."""

    def __init__(self) -> None:
        super().__init__(400)

    def __getitem__(self, index: int) -> Any:
        self.size = MEGABYTE if index < 50 else 20_000
        return super().__getitem__(index)


def test_descriptors_stay_as_they_are_over_many_batches() -> None:
    batches = iter(loader(Large(400, 40_000), prefetch_factor=2, num_workers=2))
    for _ in range(60):
        next(batches)
    pids = everybody(batches)
    before = holdings(pids)
    for _ in range(300):
        next(batches)
    after = holdings(pids)
    assert after.descriptors - before.descriptors <= 6  # of a segment more that is under way
    assert after.shared - before.shared <= MEGABYTE


class Counted(Large):
    """Counts in a file how many batches were begun."""

    def __init__(self, n: int, size: int, log: Path) -> None:
        super().__init__(n, size)
        self.log = log

    def __getitem__(self, index: int) -> Any:
        with self.log.open("ab") as log:
            log.write(b".")
        return super().__getitem__(index)


def test_what_is_under_way_is_bounded_in_bytes(tmp_path: Path) -> None:
    """The worker is ahead as far as it ever gets; and it does go on."""
    log = tmp_path / "log"
    batches = iter(loader(Counted(40, 8 * MEGABYTE, log), prefetch_factor=36))
    assert right(next(batches), 8 * MEGABYTE)
    pids = everybody(batches)
    begun, patience = -1, 0
    while patience < 5:  # a slow machine can only let a fault pass
        patience = patience + 1 if log.stat().st_size == begun else 0
        begun = log.stat().st_size
        time.sleep(0.05)
    now = holdings(pids)
    assert now.shared <= 320 * MEGABYTE  # of 576 that were asked for
    assert numbers(batches, 8 * MEGABYTE) == list(range(1, 40))


def test_small_batches_need_no_segments() -> None:
    batches = iter(loader(Large(200, 100), prefetch_factor=8))
    next(batches)
    pids = everybody(batches)
    before = holdings(pids)
    for _ in range(150):
        next(batches)
    assert holdings(pids).shared - before.shared <= MEGABYTE


def test_many_small_batches_may_be_kept() -> None:
    """The system limits how many pieces of memory a process has; 65530 by default."""
    batches = iter(loader(Large(3_000, 12_000), num_workers=2, prefetch_factor=8))
    kept = [next(batches)]
    before = len(Path("/proc/self/maps").read_text(encoding="ascii").splitlines())
    kept += batches
    after = len(Path("/proc/self/maps").read_text(encoding="ascii").splitlines())
    assert after - before <= 2_000
    assert numbers(kept, 12_000) == list(range(3_000))
