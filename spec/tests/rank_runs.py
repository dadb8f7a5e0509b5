"""Resumes under another number of ranks: run with the reference loader before published."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from resume_datasets import dataset_of

from midepoch import StatefulDataLoader, merge_states
from midepoch.encoding import canonical
from midepoch.errors import ReplayWarning

__all__ = ["continue_ranks", "merged_parts", "vectors"]

_Vector = dict[str, Any]

LATER = 1
"""How many epochs after the saved one are published."""

# name: what it is, requirement, dataset, loader's arguments, the ranks that save, how many epochs
# and steps each of them has delivered, the numbers of ranks that load, changed arguments there
_RUNS: dict[str, tuple[str, str, _Vector, _Vector, int, int, int, list[int], _Vector]] = {
    "shared": (
        "the shares of whole epochs: the epoch's beginning fills the last step up",
        "WORLD-3",
        {"kind": "map", "length": 10, "draws": False, "sampler": None},
        {"global_batch_size": 4, "shuffle": True, "seed": 61},
        1, 0, 0, [1, 2, 4], {},
    ),
    "shared-shuffled": (
        "a shuffled epoch, saved by two ranks",
        "WORLD-5",
        {"kind": "map", "length": 31, "draws": False, "sampler": None},
        {"global_batch_size": 6, "shuffle": True, "seed": 62},
        2, 1, 2, [1, 2, 3, 6], {},
    ),
    "shared-drop": (
        "incomplete steps dropped",
        "WORLD-5",
        {"kind": "map", "length": 22, "draws": False, "sampler": None},
        {"global_batch_size": 4, "shuffle": True, "drop_last": True, "seed": 63},
        4, 0, 3, [2, 4], {},
    ),
    "shared-rollover": (
        "samples that rolled over have the first places of their epoch",
        "WORLD-5",
        {"kind": "map", "length": 11, "draws": True, "sampler": None},
        {"global_batch_size": 4, "shuffle": True, "last_batch": "rollover", "seed": 64},
        2, 1, 1, [1, 4], {},
    ),
    "shared-draws": (
        "each sample draws from the seed of its place, also what fills the last step up",
        "SEED-8",
        {"kind": "map", "length": 9, "draws": True, "sampler": None},
        {"global_batch_size": 4, "shuffle": True, "seed": 65},
        1, 0, 1, [1, 2, 4], {},
    ),
    "shared-cut-anew": (
        "a position that goes on in steps of another size",
        "WORLD-7",
        {"kind": "map", "length": 23, "draws": True, "sampler": None},
        {"global_batch_size": 4, "shuffle": True, "seed": 66},
        2, 0, 2, [1, 3], {"global_batch_size": 3, "on_world_change": "recut"},
    ),
    "dealt-counter": (
        "the states of two ranks and the one that they make",
        "WORLD-10",
        {"kind": "counter", "length": 29, "draws": True, "sampler": None},
        {"batch_size": 2, "seed": 67, "lanes": 4},
        2, 0, 2, [1, 2, 4], {},
    ),
    "dealt-stream": (
        "a plain iterable that is replayed, in a later epoch",
        "WORLD-10",
        {"kind": "stream", "length": 31, "draws": False, "sampler": None},
        {"batch_size": 2, "seed": 68, "lanes": 6},
        3, 1, 1, [1, 2, 6], {},
    ),
    "dealt-cursor-interval": (
        "batches since older snapshots, in four parts",
        "WORLD-10",
        {"kind": "cursor", "length": 37, "draws": True, "sampler": None},
        {"batch_size": 2, "seed": 69, "lanes": 4, "snapshot_every_n_steps": 3},
        4, 0, 4, [1, 2], {},
    ),
    "dealt-ended": (
        "a lane of each rank has ended",
        "WORLD-10",
        {"kind": "counter", "length": 11, "draws": False, "sampler": None},
        {"batch_size": 2, "seed": 70, "lanes": 4},
        2, 0, 3, [1, 2, 4], {},
    ),
    "dealt-tally": (
        "a map-style dataset with a state, whose ranks took snapshots at other batches",
        "WORLD-10",
        {"kind": "tally", "length": 21, "draws": True, "sampler": None},
        {"batch_size": 2, "shuffle": True, "seed": 71, "lanes": 4, "snapshot_every_n_steps": 2},
        2, 1, 3, [1, 2, 4], {},
    ),
    "dealt-tally-ended": (
        "one batch is left, of one rank",
        "WORLD-10",
        {"kind": "tally", "length": 11, "draws": False, "sampler": None},
        {"batch_size": 2, "drop_last": True, "seed": 72, "lanes": 6},
        2, 0, 2, [1, 3], {},
    ),
}  # fmt: skip


def vectors() -> dict[str, _Vector]:
    """Return every resume under another number of ranks, by name."""
    return {name: _vector(*run) for name, run in _RUNS.items()}


def _vector(
    what: str,
    requirement: str,
    dataset: _Vector,
    arguments: _Vector,
    world: int,
    epoch: int,
    steps: int,
    worlds: list[int],
    changes: _Vector,
) -> _Vector:
    savers = [_open(dataset, arguments, rank, world) for rank in range(world)]
    states = []
    for loader in savers:
        for _ in range(epoch):
            _taken(loader)
        iterator = iter(loader)
        for _ in range(steps):
            next(iterator)
        states.append(json.loads(canonical.dumps(loader.state_dict())))
    loading = {**arguments, **changes}
    plan = json.loads(canonical.dumps(_open(dataset, loading, 0, 1).state_dict()))["plan"]
    vector: _Vector = {
        "description": what,
        "requirement": requirement,
        "dataset": dataset,
        "loader": loading,
        "plan": plan,
    }
    if "lanes" in arguments:
        vector |= {"parts": states}
        vector |= {"state": merged_parts(vector)}
    else:
        vector |= {"state": states[0]}
    vector["ranks"] = [{"world": n, "epochs": continue_ranks(vector, n)} for n in worlds]
    return vector


def merged_parts(vector: _Vector) -> Any:
    """Return the whole of a vector's parts, in canonical JSON form."""
    return json.loads(canonical.dumps(merge_states([_read(part) for part in vector["parts"]])))


def continue_ranks(vector: _Vector, world: int) -> list[list[list[Any]]]:
    """Return for each rank the epochs that follow when it loads the vector's state."""
    found = []
    for rank in range(world):
        loader = _open(vector["dataset"], vector["loader"], rank, world)
        loader.load_state_dict(_read(vector["state"]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReplayWarning)
            found.append([_taken(loader) for _ in range(1 + LATER)])
    return found


def _open(dataset: _Vector, arguments: _Vector, rank: int, world: int) -> StatefulDataLoader[Any]:
    return StatefulDataLoader(
        dataset_of(dataset), collate_fn=list, ranks=(rank, world), **{"lanes": 0, **arguments}
    )


def _read(state: Any) -> Any:
    return canonical.loads(json.dumps(state).encode("utf-8"))


def _taken(batches: Iterable[Any]) -> list[Any]:
    iterator: Iterator[Any] = iter(batches)
    return [*iterator]
