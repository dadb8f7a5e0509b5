"""Whole resumes: run with the reference loader, saved, resumed and compared before published."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Literal

from resume_datasets import dataset_of, samplers_of

from midepoch import StatefulDataLoader
from midepoch.encoding import canonical
from midepoch.errors import ReplayWarning

__all__ = ["continue_run", "run_vector", "vectors"]

_Vector = dict[str, Any]
_Batches = list[list[Any]]
_Moment = Literal["within", "seen", "left"]
"""Within the epoch; its end seen; or broken off, and an iterator of the next one made."""

LATER = 2
"""How many epochs after the saved one are published."""

_SMALL = {"length": 10, "draws": False, "sampler": None}
_DRAWN = {"length": 7, "draws": True, "sampler": None}

# name: what it is, dataset, loader's arguments, epoch and batches at the save, the moment
_RUNS: dict[str, tuple[str, _Vector, _Vector, int, int, _Moment]] = {
    "map-sequential": (
        "a sequential map-style dataset, saved within its first epoch",
        {"kind": "map", **_SMALL},
        {"batch_size": 3, "seed": 1},
        0,
        2,
        "within",
    ),
    "map-shuffled": (
        "a shuffled map-style dataset, saved within its first epoch",
        {"kind": "map", **_SMALL},
        {"batch_size": 3, "shuffle": True, "seed": 1},
        0,
        2,
        "within",
    ),
    "map-start": (
        "saved before the first batch",
        {"kind": "map", **_SMALL},
        {"batch_size": 4, "shuffle": True, "seed": 2**53 + 1},
        0,
        0,
        "within",
    ),
    "map-later-epoch": (
        "saved in the third epoch, incomplete batches dropped",
        {"kind": "map", **_SMALL},
        {"batch_size": 3, "shuffle": True, "drop_last": True, "seed": 2**64 - 1},
        2,
        1,
        "within",
    ),
    "map-end-unseen": (
        "saved after the last batch, the end not seen: one empty epoch first",
        {"kind": "map", **_SMALL},
        {"batch_size": 3, "shuffle": True, "seed": 3},
        0,
        4,
        "within",
    ),
    "map-end-seen": (
        "saved after the end was seen",
        {"kind": "map", **_SMALL},
        {"batch_size": 3, "shuffle": True, "seed": 3},
        0,
        4,
        "seen",
    ),
    "map-unbatched": (
        "without automatic batching",
        {"kind": "map", **_SMALL},
        {"batch_size": None, "shuffle": True, "seed": 4},
        1,
        5,
        "within",
    ),
    "map-empty": (
        "a dataset without samples, saved after its first, empty epoch",
        {"kind": "map", "length": 0, "draws": False, "sampler": None},
        {"batch_size": 3, "seed": 4},
        0,
        0,
        "seen",
    ),
    "map-large": (
        "more than 4096 samples: the Feistel network",
        {"kind": "map", "length": 4100, "draws": False, "sampler": None},
        {"batch_size": 512, "shuffle": True, "seed": 5},
        0,
        7,
        "within",
    ),
    "map-draws": (
        "draws from the three global streams, which pins the seeds of batches",
        {"kind": "map", **_DRAWN},
        {"batch_size": 2, "shuffle": True, "seed": 6},
        1,
        2,
        "within",
    ),
    "map-draws-lanes": (
        "the same in three lanes, which changes nothing",
        {"kind": "map", **_DRAWN},
        {"batch_size": 2, "shuffle": True, "seed": 6, "lanes": 3},
        1,
        2,
        "within",
    ),
    "sampler-reversed": (
        "a custom sampler, replayed",
        {"kind": "map", "length": 10, "draws": False, "sampler": "reversed"},
        {"batch_size": 3, "seed": 8},
        0,
        2,
        "within",
    ),
    "sampler-permuted": (
        "a custom sampler that draws from the streams seeded for samplers",
        {"kind": "map", "length": 10, "draws": False, "sampler": "permuted"},
        {"batch_size": 3, "seed": 9},
        1,
        2,
        "within",
    ),
    "stream": (
        "a plain iterable, replayed from its epoch's start",
        {"kind": "stream", **_SMALL},
        {"batch_size": 3, "seed": 10},
        0,
        2,
        "within",
    ),
    "stream-lanes": (
        "a plain iterable in three lanes of unequal length, one of them ended",
        {"kind": "stream", **_SMALL},
        {"batch_size": 2, "seed": 11, "lanes": 3},
        0,
        5,
        "within",
    ),
    "stream-draws-lanes": (
        "a plain iterable in two lanes with draws, which pins the seeds of lanes' batches",
        {"kind": "stream", **_DRAWN},
        {"batch_size": 2, "seed": 12, "lanes": 2},
        1,
        3,
        "within",
    ),
    "stream-drop": (
        "a plain iterable in two lanes, incomplete batches dropped, the end not seen",
        {"kind": "stream", **_SMALL},
        {"batch_size": 2, "drop_last": True, "seed": 13, "lanes": 2},
        0,
        4,
        "within",
    ),
    "stream-unbatched": (
        "a plain iterable without automatic batching",
        {"kind": "stream", **_DRAWN},
        {"batch_size": None, "seed": 14, "lanes": 2},
        0,
        3,
        "within",
    ),
    "counter": (
        "a Stateful iterator, snapshotted at every batch",
        {"kind": "counter", **_DRAWN},
        {"batch_size": 2, "seed": 15},
        0,
        2,
        "within",
    ),
    "counter-lanes-interval": (
        "a Stateful iterator in two lanes, with batches to replay",
        {"kind": "counter", "length": 23, "draws": True, "sampler": None},
        {"batch_size": 2, "seed": 16, "lanes": 2, "snapshot_every_n_steps": 4},
        1,
        7,
        "within",
    ),
    "cursor": (
        "a Stateful dataset, snapshotted at every batch",
        {"kind": "cursor", **_DRAWN},
        {"batch_size": 2, "seed": 17},
        0,
        2,
        "within",
    ),
    "cursor-lanes-interval": (
        "a Stateful dataset in two lanes, with batches to replay",
        {"kind": "cursor", "length": 23, "draws": True, "sampler": None},
        {"batch_size": 2, "seed": 18, "lanes": 2, "snapshot_every_n_steps": 6},
        1,
        7,
        "within",
    ),
    "cursor-end-seen": (
        "a Stateful dataset of lifetime run at the beginning of its second epoch",
        {"kind": "cursor", **_DRAWN},
        {"batch_size": 2, "seed": 19},
        0,
        4,
        "seen",
    ),
    "tally-lanes-interval": (
        "a Stateful map-style dataset in two lanes of lifetime run, with batches to replay",
        {"kind": "tally", "length": 23, "draws": False, "sampler": None},
        {"batch_size": 2, "shuffle": True, "seed": 24, "lanes": 2, "snapshot_every_n_steps": 4},
        1,
        7,
        "within",
    ),
    "tally-seen": (
        "a Stateful map-style dataset of lifetime run, an epoch's end seen",
        {"kind": "tally", "length": 7, "draws": False, "sampler": None},
        {"batch_size": 2, "shuffle": True, "seed": 25},
        1,
        4,
        "seen",
    ),
    "tally-lanes-lifetime-epoch": (
        "a Stateful map-style dataset in two lanes of lifetime epoch",
        {"kind": "tally", "length": 7, "draws": False, "sampler": None},
        {"batch_size": 2, "shuffle": True, "seed": 26, "lanes": 2},
        1,
        3,
        "within",
    ),
    "sampler-marked": (
        "a Stateful custom sampler, with batches of indices to draw again",
        {"kind": "map", "length": 17, "draws": False, "sampler": "marked"},
        {"batch_size": 2, "seed": 27, "snapshot_every_n_steps": 3},
        0,
        5,
        "within",
    ),
    "sampler-turned": (
        "a custom sampler whose order follows its attribute `epoch`",
        {"kind": "map", "length": 10, "draws": False, "sampler": "turned"},
        {"batch_size": 3, "seed": 41},
        2,
        2,
        "within",
    ),
    "sampler-spun": (
        "a custom sampler whose order follows a generator of its own",
        {"kind": "map", "length": 10, "draws": False, "sampler": "spun"},
        {"batch_size": 3, "seed": 42},
        1,
        2,
        "within",
    ),
    "sampler-marked-left": (
        "a Stateful custom sampler, its epoch broken off and the next one opened",
        {"kind": "map", "length": 17, "draws": False, "sampler": "marked"},
        {"batch_size": 2, "seed": 28},
        0,
        5,
        "left",
    ),
    "map-rollover": (
        "a shuffled map-style dataset in its second epoch, which began with what the first left",
        {"kind": "map", **_SMALL},
        {"batch_size": 4, "shuffle": True, "last_batch": "rollover", "seed": 29},
        1,
        1,
        "within",
    ),
    "map-rollover-end-unseen": (
        "rollover, saved after the last batch, the end not seen: an empty epoch, then the rest",
        {"kind": "map", **_DRAWN},
        {"batch_size": 3, "shuffle": True, "last_batch": "rollover", "seed": 30},
        1,
        2,
        "within",
    ),
    "map-rollover-seen": (
        "rollover, saved after the end was seen: the rest is in the state",
        {"kind": "map", **_SMALL},
        {"batch_size": 4, "last_batch": "rollover", "seed": 31},
        2,
        2,
        "seen",
    ),
    "map-rollover-left": (
        "rollover, the second epoch broken off: the third begins with nothing",
        {"kind": "map", **_SMALL},
        {"batch_size": 4, "shuffle": True, "last_batch": "rollover", "seed": 32},
        1,
        2,
        "left",
    ),
    "map-rollover-short": (
        "rollover of fewer samples than a batch: two epochs without batches, then one of one",
        {"kind": "map", "length": 3, "draws": False, "sampler": None},
        {"batch_size": 7, "shuffle": True, "last_batch": "rollover", "seed": 33},
        1,
        0,
        "seen",
    ),
    "tally-rollover-lanes-interval": (
        "rollover of a Stateful map-style dataset in two lanes, with batches to replay",
        {"kind": "tally", "length": 23, "draws": False, "sampler": None},
        {
            "batch_size": 4,
            "shuffle": True,
            "last_batch": "rollover",
            "seed": 34,
            "lanes": 2,
            "snapshot_every_n_steps": 4,
        },
        1,
        3,
        "within",
    ),
    "sampler-reversed-rollover": (
        "rollover of a custom sampler, replayed from what was carried on",
        {"kind": "map", "length": 10, "draws": False, "sampler": "reversed"},
        {"batch_size": 4, "last_batch": "rollover", "seed": 35},
        1,
        1,
        "within",
    ),
    "sampler-marked-rollover": (
        "rollover of a Stateful custom sampler, with batches of indices to draw again",
        {"kind": "map", "length": 17, "draws": False, "sampler": "marked"},
        {"batch_size": 3, "last_batch": "rollover", "seed": 36, "snapshot_every_n_steps": 3},
        1,
        5,
        "within",
    ),
    "sampler-marked-rollover-left": (
        "the same, broken off after the batch that began with what was carried",
        {"kind": "map", "length": 17, "draws": False, "sampler": "marked"},
        {"batch_size": 3, "last_batch": "rollover", "seed": 37},
        1,
        1,
        "left",
    ),
    "counter-lanes-lifetime-epoch": (
        "a Stateful iterator in two lanes of lifetime epoch, neither known to have ended",
        {"kind": "counter", "length": 9, "draws": True, "sampler": None},
        {"batch_size": 2, "seed": 20, "lanes": 2},
        1,
        4,
        "within",
    ),
    "cursor-lanes-lifetime-epoch": (
        "a Stateful dataset in two lanes of lifetime epoch, the end seen: nothing crosses it",
        {"kind": "cursor", **_DRAWN},
        {"batch_size": 2, "seed": 21, "lanes": 2},
        0,
        4,
        "seen",
    ),
    "cursor-left": (
        "a Stateful dataset of lifetime run, its first epoch broken off and the next one opened",
        {"kind": "cursor", **_DRAWN},
        {"batch_size": 2, "seed": 22},
        0,
        2,
        "left",
    ),
    "cursor-lane-ended": (
        "a Stateful dataset in three lanes of lifetime run, one of them ended: it keeps its end",
        {"kind": "cursor", **_SMALL},
        {"batch_size": 2, "seed": 43, "lanes": 3},
        0,
        5,
        "within",
    ),
    "cursor-ended": (
        "the same in one stream, which ended with the last batch",
        {"kind": "cursor", "length": 5, "draws": True, "sampler": None},
        {"batch_size": 3, "seed": 44},
        1,
        2,
        "within",
    ),
    "cursor-lane-not-asked": (
        "replays from the end of the epoch before; one lane was not asked since",
        {"kind": "cursor", "length": 23, "draws": True, "sampler": None},
        {"batch_size": 2, "seed": 45, "lanes": 3, "snapshot_every_n_steps": 100},
        1,
        2,
        "within",
    ),
    "cursor-left-after-end": (
        "an epoch broken off before its first snapshot, so that the end before it is loaded",
        {"kind": "cursor", **_DRAWN},
        {"batch_size": 2, "seed": 46, "snapshot_every_n_steps": 100},
        1,
        1,
        "left",
    ),
    "sampler-marked-seen": (
        "a Stateful custom sampler whose loaded state is an end, kept for one iteration",
        {"kind": "map", "length": 10, "draws": False, "sampler": "marked"},
        {"batch_size": 3, "seed": 47},
        0,
        4,
        "seen",
    ),
    "sampler-marked-lanes": (
        "a Stateful custom sampler and a Stateful map-style dataset in two lanes, at one cut",
        {"kind": "tally", "length": 17, "draws": False, "sampler": "marked"},
        {"batch_size": 2, "seed": 48, "lanes": 2, "snapshot_every_n_steps": 4},
        1,
        6,
        "within",
    ),
    "cursor-left-lanes": (
        "the same in two lanes, in a later epoch",
        {"kind": "cursor", "length": 23, "draws": True, "sampler": None},
        {"batch_size": 2, "seed": 23, "lanes": 2},
        1,
        5,
        "left",
    ),
}

# name: what it is, dataset, loader's arguments, epoch, low-water mark, what was delivered ahead
_AHEAD: dict[str, tuple[str, _Vector, _Vector, int, int, list[int]]] = {
    "map-ahead": (
        "delivered out of order, the short last batch before others",
        {"kind": "map", "length": 14, "draws": True, "sampler": None},
        {"batch_size": 3, "shuffle": True, "seed": 38, "lanes": 2},
        1,
        1,
        [2, 4],
    ),
    "map-ahead-of-nothing": (
        "delivered out of order, the first batch and one in the middle being left",
        {"kind": "map", **_SMALL},
        {"batch_size": 2, "seed": 39},
        0,
        0,
        [1, 2, 4],
    ),
    "map-rollover-ahead": (
        "rollover, delivered out of order: the batch that begins with what was carried is left",
        {"kind": "map", **_SMALL},
        {"batch_size": 3, "shuffle": True, "last_batch": "rollover", "seed": 49},
        1,
        0,
        [1],
    ),
    "sampler-reversed-rollover-ahead": (
        "the same from a custom sampler",
        {"kind": "map", "length": 14, "draws": False, "sampler": "reversed"},
        {"batch_size": 4, "last_batch": "rollover", "seed": 50},
        1,
        0,
        [1, 2],
    ),
    "sampler-reversed-ahead": (
        "delivered out of order from a custom sampler: the digest reaches to the last one",
        {"kind": "map", "length": 10, "draws": False, "sampler": "reversed"},
        {"batch_size": 2, "seed": 40},
        1,
        2,
        [3],
    ),
}


# name: what it is, the vector whose state is loaded, the arguments that the loader gives
_ADOPTED: dict[str, tuple[str, str, list[str]]] = {
    "map-adopted-seed": (
        "a loader that was given no seed adopts the state's",
        "map-draws-lanes",
        ["batch_size", "shuffle", "lanes"],
    ),
    "cursor-adopted": (
        "a loader that was given no seed and no lanes adopts the state's, and its lifetime",
        "cursor-lane-ended",
        ["batch_size"],
    ),
    "counter-adopted-lifetime-epoch": (
        "the same of a state of lifetime epoch",
        "counter-lanes-lifetime-epoch",
        ["batch_size"],
    ),
}


def _open(dataset: _Vector, arguments: _Vector, workers: int = 0) -> StatefulDataLoader[Any]:
    samplers = samplers_of(dataset)
    batched = "batch_sampler" in samplers or arguments["batch_size"] is not None
    collate = list if batched else _same
    check = {"replay_check": list} if "check" in arguments else {}
    return StatefulDataLoader(
        dataset_of(dataset),
        **samplers,
        collate_fn=collate,
        num_workers=workers,
        **{name: arguments[name] for name in arguments if name != "check"},
        **check,
    )


def _same(value: Any) -> Any:
    return value


def continue_run(vector: _Vector, workers: int = 0) -> list[_Batches]:
    """Return the epochs that follow when a loader loads the vector's state."""
    loader = _open(vector["dataset"], vector["loader"], workers)
    loader.load_state_dict(canonical.loads(json.dumps(vector["state"]).encode("utf-8")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReplayWarning)  # some vectors are there to be replayed
        return [_taken(loader) for _ in range(1 + LATER)]


def _taken(batches: Iterable[Any]) -> _Batches:
    """Take the batches up to the end; null stands for one that raised."""
    found, iterator = list[Any](), iter(batches)
    while True:
        try:
            found.append(next(iterator))
        except StopIteration:
            return found
        except OSError:
            found.append(None)


def vectors() -> dict[str, _Vector]:
    """Return every resume vector, by name.

    Raises:
        ValueError: a resume did not continue as the uninterrupted run.
    """
    found = {name: run_vector(name, *run) for name, run in _RUNS.items()}
    found |= {name: _vector_ahead(name, *run) for name, run in _AHEAD.items()}
    for name, (what, base, given) in _ADOPTED.items():
        loader = {key: found[base]["loader"][key] for key in given}
        lifetime = {"epoch": "run", "run": "epoch"}[found[base]["plan"]["lifetime"]]
        plan = {**found[base]["plan"], "lifetime": lifetime}
        found[name] = {**found[base], "description": what, "loader": loader, "plan": plan}
        if continue_run(found[name]) != found[name]["epochs"]:
            raise ValueError(f"{name}: the loader did not adopt the state's plan")
    plain = found["map-shuffled"]
    found["map-x-field"] = {
        **plain,
        "description": "a state with a field that is to be ignored",
        "requirement": "DOC-16",
        "state": {**plain["state"], "x-note": {"by": "a tool", "at": [1, 2.5, None]}},
    }
    return found


def run_vector(
    name: str,
    what: str,
    dataset: _Vector,
    arguments: _Vector,
    epoch: int,
    batches: int,
    moment: _Moment,
) -> _Vector:
    """Return a resume, after it was played."""
    arguments = {"lanes": 0, **arguments}
    lifetime, workers = ("epoch", 2) if name.endswith("lifetime-epoch") else ("run", 0)
    run = {**arguments, "lifetime": lifetime}
    saver = _open(dataset, run, workers)
    _alive = _advance(saver, epoch, batches, moment)
    state = json.loads(canonical.dumps(saver.state_dict()))
    vector = {
        "description": what,
        "requirement": "DOC-10" if name.endswith("end-unseen") else "DOC-11",
        "dataset": dataset,
        "loader": arguments,
        "plan": state["plan"],
        "state": state,
        "epochs": _uninterrupted(_open(dataset, run, workers), epoch, batches, moment),
    }
    if continue_run(vector) != vector["epochs"]:
        raise ValueError(f"{name}: the resume differs from the uninterrupted run")
    return vector


def _vector_ahead(
    name: str,
    what: str,
    dataset: _Vector,
    arguments: _Vector,
    epoch: int,
    low: int,
    ahead: list[int],
) -> _Vector:
    """Return a state of delivery out of order, made of one in order at the last batch ahead."""
    arguments = {"lanes": 0, **arguments}
    whole, *later = _uninterrupted(_open(dataset, arguments), epoch, 0, "within")
    saver = _open(dataset, arguments)
    _alive = _advance(saver, epoch, ahead[-1] + 1, "within")
    state = json.loads(canonical.dumps(saver.state_dict()))
    delivered = [*range(low), *ahead]
    state["position"].update(
        batches=len(delivered), samples=sum(len(whole[i]) for i in delivered), ahead=ahead
    )
    rest = [batch for i, batch in enumerate(whole) if i not in delivered]
    vector = {
        "description": what,
        "requirement": "DOC-11",
        "dataset": dataset,
        "loader": arguments,
        "plan": state["plan"],
        "state": state,
        "epochs": [rest, *later],
    }
    if continue_run(vector) != vector["epochs"]:
        raise ValueError(f"{name}: the resume differs from the uninterrupted run")
    return vector


def _advance(
    loader: StatefulDataLoader[Any], epoch: int, batches: int, moment: _Moment
) -> Iterator[Any]:
    """Bring a loader to a moment; return the live iterator."""
    for _ in range(epoch):
        _taken(loader)
    iterator = iter(loader)
    for _ in range(batches):
        with suppress(OSError):
            next(iterator)
    if moment == "seen" and next(iterator, None) is not None:
        raise ValueError("the epoch is longer than said")
    return iter(loader) if moment == "left" else iterator


def _uninterrupted(
    loader: StatefulDataLoader[Any], epoch: int, batches: int, moment: _Moment
) -> list[_Batches]:
    """Return what follows the moment when nothing is saved there."""
    iterator = _advance(loader, epoch, batches, moment)
    first = [] if moment == "seen" else [_taken(iterator)]
    return first + [_taken(loader) for _ in range(1 + LATER - len(first))]
