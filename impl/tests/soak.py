"""A soak: many epochs and one long one, with their memory, descriptors and processes.

``python impl/tests/soak.py`` runs the long form and fails where anything grew.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import sources

import midepoch

WARM_UP = 0.2
"""The part of the epochs that is not measured: caches fill, the allocator takes what it needs."""


class Growth(NamedTuple):
    """The resources that grew between the warm-up and the end."""

    kilobytes: int
    descriptors: int
    processes: int
    threads: int


def holdings() -> Growth:
    """Return what this process holds now; of memory, what was allocated and is resident."""
    gc.collect()
    rollup = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    # Not "Private": a library's pages become that when another program that uses it ends.
    anonymous = sum(int(line.split()[1]) for line in rollup.splitlines() if "Anonymous:" in line)
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    return Growth(
        anonymous, len(os.listdir("/proc/self/fd")), len(children), threading.active_count()
    )


def measure(epochs: int, n: int = 8, **arguments: Any) -> Growth:
    """Run epochs of a tiny loader, some broken off and some resumed; return what grew."""
    loader = _loader(n, **arguments)
    cycle = 40 if "num_workers" in arguments else 4  # either may cost new workers
    before = holdings()
    for epoch in range(epochs):
        if epoch == int(epochs * WARM_UP):
            before = holdings()
        batches = iter(loader)
        next(batches)
        if epoch % cycle == 1:
            loader.load_state_dict(loader.state_dict())
            batches = iter(loader)
        if epoch % cycle != 2:
            for _ in batches:
                pass
        del batches
    return Growth(*(now - was for now, was in zip(holdings(), before, strict=True)))


def measure_one_epoch(batches: int, **arguments: Any) -> Growth:
    """Run one long epoch, with a state taken now and then; return what grew within it."""
    loader = _loader(2 * batches, shuffle=True, **arguments)
    before = holdings()
    for number, _ in enumerate(loader):
        if number == int(batches * WARM_UP):
            before = holdings()
        if number % 100 == 0:
            loader.state_dict()
        if number == batches - 10:
            after = holdings()
    return Growth(*(now - was for now, was in zip(after, before, strict=True)))


def _loader(n: int, **arguments: Any) -> Any:
    return midepoch.StatefulDataLoader(sources.Counting(n), batch_size=2, seed=5, **arguments)


def main() -> int:
    """Run the long form."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--epochs", type=int, default=10_000)
    options.add_argument("--batches", type=int, default=1_000_000)
    chosen = options.parse_args()
    epochs, batches = chosen.epochs, chosen.batches
    runs: dict[str, tuple[Callable[..., Growth], int, dict[str, Any]]] = {
        "epochs, inline": (measure, epochs, {}),
        "epochs, persistent workers": (
            measure,
            epochs,
            {"num_workers": 2, "persistent_workers": True},
        ),
        "epochs, new workers each": (measure, epochs // 10, {"num_workers": 2}),
        "one epoch, inline": (measure_one_epoch, batches, {}),
        "one epoch, workers": (measure_one_epoch, batches, {"num_workers": 2}),
    }
    failed = False
    for name, (run, count, arguments) in runs.items():
        start = time.monotonic()
        found = run(count, **arguments)
        bad = found.kilobytes > 4096 or any(found[1:])
        failed = failed or bad
        print(f"{name}: {count} in {time.monotonic() - start:.0f} s, {found}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
