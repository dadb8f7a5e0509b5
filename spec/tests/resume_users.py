"""Resumes with further users' objects, and resumes that are refused when they begin."""

from __future__ import annotations

import copy
from typing import Any

import resume_runs

from midepoch.errors import ReplayMismatchError

__all__ = ["mismatches", "vectors"]

_Vector = dict[str, Any]

# name: what it is, dataset, loader's arguments, epoch and batches at the save, the moment
_RUNS: dict[str, tuple[str, _Vector, _Vector, int, int, Any]] = {
    "sampler-counted": (
        "a custom sampler whose iterator is Stateful: the slot `sampler_iter`",
        {"kind": "map", "length": 17, "draws": False, "sampler": "counted"},
        {"batch_size": 3, "seed": 51, "snapshot_every_n_steps": 2},
        1,
        4,
        "within",
    ),
    "sampler-shared": (
        "a custom sampler of rank 1 of 2: its share is in the state",
        {"kind": "map", "length": 17, "draws": False, "sampler": "shared"},
        {"batch_size": 3, "seed": 52},
        0,
        2,
        "within",
    ),
    "sampler-shared-seen": (
        "the same between two epochs, where any rank can load the state",
        {"kind": "map", "length": 17, "draws": False, "sampler": "shared"},
        {"batch_size": 3, "seed": 52},
        0,
        3,
        "seen",
    ),
    "batch-sampler-paired": (
        "a Stateful batch sampler of a Stateful sampler: the slots `batch_sampler` and `sampler`",
        {"kind": "map", "length": 11, "draws": False, "sampler": "paired"},
        {"seed": 53, "snapshot_every_n_steps": 3},
        1,
        8,
        "within",
    ),
    "batch-sampler-paired-left": (
        "the same, broken off",
        {"kind": "map", "length": 11, "draws": False, "sampler": "paired"},
        {"seed": 53, "snapshot_every_n_steps": 3},
        1,
        8,
        "left",
    ),
    "batch-sampler-grown": (
        "a batch sampler whose iterator is Stateful: the slot `batch_sampler_iter`",
        {"kind": "map", "length": 17, "draws": True, "sampler": "grown"},
        {"seed": 54, "snapshot_every_n_steps": 2},
        0,
        5,
        "within",
    ),
    "batch-sampler-nested": (
        "a batch sampler with an epoch, of a sampler with a generator, replayed",
        {"kind": "map", "length": 9, "draws": False, "sampler": "nested"},
        {"seed": 55},
        2,
        2,
        "within",
    ),
    "faulty": (
        "an iterable that raised in batches that a resume replays",
        {"kind": "faulty", "length": 13, "draws": True, "sampler": None},
        {"batch_size": 2, "seed": 56},
        0,
        3,
        "within",
    ),
    "faulty-cursor-lanes": (
        "a Stateful one in two lanes, with errors in the batches since its snapshots",
        {"kind": "faulty-cursor", "length": 41, "draws": True, "sampler": None},
        {"batch_size": 2, "seed": 57, "lanes": 2, "snapshot_every_n_steps": 0},
        1,
        8,
        "within",
    ),
    "faulty-cursor-left": (
        "the same in one stream, broken off: errors in the batches of the pass before",
        {"kind": "faulty-cursor", "length": 23, "draws": True, "sampler": None},
        {"batch_size": 2, "seed": 58, "snapshot_every_n_steps": 0},
        0,
        5,
        "left",
    ),
    "faulty-checked": (
        "an iterable with a check: the content of the batches that each lane replays, or raised in",
        {"kind": "faulty", "length": 29, "draws": True, "sampler": None},
        {"batch_size": 2, "seed": 59, "lanes": 3, "check": "samples"},
        0,
        7,
        "within",
    ),
    "cursor-checked": (
        "a Stateful one with a check: the content of the batches since a snapshot",
        {"kind": "cursor", "length": 23, "draws": False, "sampler": None},
        {"batch_size": 2, "seed": 60, "check": "samples", "snapshot_every_n_steps": 3},
        1,
        5,
        "within",
    ),
}


def vectors() -> dict[str, _Vector]:
    """Return every resume with further users' objects, by name."""
    return {name: resume_runs.run_vector(name, *run) for name, run in _RUNS.items()}


def mismatches() -> dict[str, _Vector]:
    """Return every state that is refused when its iterator is made, by name.

    Raises:
        ValueError: a state was continued.
    """
    found, played = {}, {**resume_runs.vectors(), **vectors()}
    for name, (fault, base, changes) in _FAULTS.items():
        vector = copy.deepcopy(played[base])
        del vector["epochs"]
        for path, value in changes.items():
            held: Any = vector
            *places, last = path.split(".")
            for place in places:
                held = held[int(place) if isinstance(held, list) else place]
            held[last] = value
        vector |= {"description": fault, "requirement": "DOC-9", "error": "ReplayMismatchError"}
        try:
            resume_runs.continue_run(vector)
        except ReplayMismatchError:
            found[name] = vector
        else:
            raise ValueError(f"{name} is continued")
    return found


# name: what is wrong, the resume that it is made of, what is changed
_FAULTS: dict[str, tuple[str, str, _Vector]] = {
    "digest-of-position": (
        "the digest of other indices than those that the sampler gives",
        "sampler-reversed",
        {"state.position.digest": "ab" * 32},
    ),
    "digest-of-another-order": (
        "the sampler of a dataset of another length gives other indices",
        "sampler-reversed",
        {"dataset.length": 11},
    ),
    "digest-of-snapshot": (
        "the digest of the sampler's snapshot is another",
        "sampler-marked",
        {"state.sampler.digest": "cd" * 32},
    ),
    "snapshot-moved": (
        "the sampler's state is not of the batch that its number says",
        "sampler-marked",
        {"state.sampler.states.sampler.next": 7},
    ),
    "sampler-ends-early": (
        "the sampler ends before the last batch delivered",
        "sampler-reversed",
        {"dataset.length": 4},
    ),
    "generator-of-another-epoch": (
        "the generator's state is not that of the epoch's start",
        "sampler-spun",
        {"state.sampler.generators.0.state.state.state": 7},
    ),
    "ahead-of-another-order": (
        "a batch delivered ahead had other indices",
        "sampler-reversed-ahead",
        {"state.position.ahead": [4]},
    ),
    "lane-ends-early": (
        "a lane ends before the batches delivered from it",
        "stream",
        {"dataset.length": 3},
    ),
    "error-not-raised": (
        "a batch that had raised raises nothing",
        "stream",
        {"state.lanes.entries.0.errors": [0]},
    ),
    "content-of-other-samples": (
        "the batches that are replayed hold other samples, as the check tells",
        "cursor-checked",
        {"state.lanes.entries.0.content": "ef" * 32},
    ),
}
