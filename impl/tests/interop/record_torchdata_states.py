"""Record what a version of torchdata saves, and how it goes on when nothing interrupts it.

    python record_torchdata_states.py UNPACKED_WHEEL VERSION OUT.json.gz [--thin]

Each run is one uninterrupted loader over four epochs. Its states are taken along the way, and
with each stands where it was taken; the expected rest is read off the run's own batches.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from torchdata_programs import PROGRAMS, rows

from midepoch.encoding import canonical

EPOCHS = 4
FULL = ((0, 1), (1, 100), (2, 1), (2, 2), (3, 1), (3, 100))
THIN = ((0, 1), (2, 2))
"""Workers, and the steps between two snapshots."""
PERSISTENT = ("shuffle-generator", "map-stateful", "iterable-seeking")


def record(loader_class: Any, arguments: dict[str, Any], **execution: Any) -> dict[str, Any]:
    """Run one loader through, and take its states."""
    torch.manual_seed(3)
    loader = loader_class(**arguments, **execution)
    states = [{"epoch": 0, "batches": 0, "state": frozen(loader.state_dict())}]
    epochs: list[list[Any]] = []
    for epoch in range(EPOCHS):
        batches: list[Any] = []
        iterator = iter(loader)
        if epoch == 1:
            states.append({"epoch": 1, "batches": 0, "state": frozen(loader.state_dict())})
        for batch in iterator:
            batches.append(rows(batch))
            if epoch < 2:
                place = {"epoch": epoch, "batches": len(batches)}
                states.append({**place, "state": frozen(loader.state_dict())})
        epochs.append(batches)
        if epoch == 0:
            states.append({"epoch": 1, "batches": 0, "state": frozen(loader.state_dict())})
    return {"epochs": epochs, "states": chosen(states, epochs)}


def frozen(state: dict[str, Any]) -> Any:
    """A state as the text of its canonical encoding, taken before anything can change it."""
    return json.loads(canonical.dumps(state))


def chosen(states: list[Any], epochs: list[Any]) -> list[Any]:
    """The start, a place within each of two epochs, their last batches and the end between."""
    first, second = len(epochs[0]), len(epochs[1])
    wanted = {(0, 0), (0, 3), (0, first), (1, 0), (1, 2), (1, second)}
    return [state for state in states if (state["epoch"], state["batches"]) in wanted]


def pooled(tree: Any, pool: dict[str, Any]) -> Any:
    """Put each tensor into ``pool`` once: the states of generators are long."""
    if isinstance(tree, dict):
        if "$tensor" in tree:
            name = hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()[:12]
            pool[name] = tree
            return {"pooled": name}
        return {key: pooled(value, pool) for key, value in tree.items()}
    return [pooled(value, pool) for value in tree] if isinstance(tree, list) else tree


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("version")
    parser.add_argument("out", type=Path)
    parser.add_argument("--thin", action="store_true")
    given = parser.parse_args()
    sys.path.insert(0, str(given.wheel))
    warnings.simplefilter("ignore")
    import torchdata
    from torchdata.stateful_dataloader import StatefulDataLoader

    if given.wheel.resolve() not in Path(torchdata.__file__).resolve().parents:
        raise SystemExit(f"torchdata came from {torchdata.__file__}, not from {given.wheel}")
    runs = []
    for name, make in PROGRAMS.items():
        for workers, interval in THIN if given.thin else FULL:
            for persistent in (False, True)[: 1 + (workers == 2 and name in PERSISTENT)]:
                run = record(
                    StatefulDataLoader,
                    make(),
                    num_workers=workers,
                    snapshot_every_n_steps=interval,
                    persistent_workers=persistent,
                )
                place = {"workers": workers, "interval": interval, "persistent": persistent}
                runs.append({"program": name, **place, **run})
                print(given.version, name, place, flush=True)
    pool: dict[str, Any] = {}
    document = {"version": given.version, "runs": pooled(runs, pool), "tensors": pool}
    text = json.dumps(document, separators=(",", ":"), sort_keys=True)
    given.out.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
