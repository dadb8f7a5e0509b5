"""The states that are refused: each is a good one with one fault."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

__all__ = ["BASES", "vectors"]

_Tree = dict[str, Any]
_Edit = Callable[[_Tree], None]

_HEADER = {"format": "midepoch.state", "version": 1}

_IN_ORDER: _Tree = {"digest": None, "ahead": [], "carried": None, "share": None}

MAP: _Tree = {
    **_HEADER,
    "plan": {
        "dataset": "map",
        "length": 10,
        "sampler": "shuffle",
        "sampler_name": None,
        "seed": "7",
        "batch_size": 4,
        "tail": "keep",
        "lanes": 0,
        "lifetime": "epoch",
        "data": None,
        "options": {},
    },
    "position": {"epoch": 1, "batches": 2, "samples": 8, **_IN_ORDER},
    "sampler": None,
    "lanes": None,
}

ITERABLE: _Tree = {
    **_HEADER,
    "plan": {
        "dataset": "iterable",
        "length": None,
        "sampler": "none",
        "sampler_name": None,
        "seed": "7",
        "batch_size": 4,
        "tail": "keep",
        "lanes": 2,
        "lifetime": "epoch",
        "data": None,
        "options": {},
    },
    "position": {"epoch": 0, "batches": 3, "samples": 12, **_IN_ORDER},
    "sampler": None,
    "lanes": {
        "next": 1,
        "entries": [
            {
                "dataset": {"read": 4},
                "iterator": None,
                "stated": ["dataset"],
                "ordinal": 1,
                "ended": False,
                "replay": 1,
                "errors": [],
                "content": None,
            },
            {
                "dataset": {"read": 4},
                "iterator": None,
                "stated": ["dataset"],
                "ordinal": 1,
                "ended": False,
                "replay": 0,
                "errors": [],
                "content": None,
            },
        ],
    },
}

CUSTOM: _Tree = {
    **_HEADER,
    "plan": {
        **MAP["plan"],
        "length": None,
        "sampler": "custom",
        "sampler_name": "Reversed",
    },
    "position": {
        "epoch": 0,
        "batches": 2,
        "samples": 8,
        "ahead": [],
        "carried": None,
        "share": None,
        "digest": "8f5e8b5cd2f7ed35d3ff1ab9ea5cb0cbd1f4ee0ef7a5a7c7fdd2f0a5c8a52a6f",
    },
    "sampler": {
        "epoch": None,
        "generators": [],
        "states": {
            "batch_sampler": None,
            "batch_sampler_iter": None,
            "sampler": None,
            "sampler_iter": None,
        },
        "stated": [],
        "batches": 0,
        "digest": None,
    },
    "lanes": None,
}

ROLLOVER: _Tree = {
    **MAP,
    "plan": {**MAP["plan"], "tail": "rollover"},
    "position": {**MAP["position"], "carried": [7, 2]},
}

LANES: _Tree = {
    **MAP,
    "plan": {**MAP["plan"], "length": 20, "lanes": 2},
    "position": {"epoch": 1, "batches": 3, "samples": 12, **_IN_ORDER},
    "lanes": {
        "next": 1,
        "entries": [
            {
                "dataset": {"seen": 8},
                "iterator": None,
                "stated": ["dataset"],
                "ordinal": 1,
                "ended": False,
                "replay": 1,
                "errors": [],
                "content": None,
            },
            {
                "dataset": {"seen": 4},
                "iterator": None,
                "stated": ["dataset"],
                "ordinal": 1,
                "ended": False,
                "replay": 0,
                "errors": [],
                "content": None,
            },
        ],
    },
}

CUSTOM_LANES: _Tree = {
    **CUSTOM,
    "plan": {**CUSTOM["plan"], "lanes": 2},
    "lanes": {
        "next": 0,
        "entries": [
            {**LANES["lanes"]["entries"][0], "dataset": None, "stated": [], "ordinal": 0},
            LANES["lanes"]["entries"][1],
        ],
    },
}

RANKS: _Tree = {**MAP, "plan": {**MAP["plan"], "options": {"ranks": "shared"}}}

DEALT: _Tree = {
    **ITERABLE,
    "plan": {**ITERABLE["plan"], "lanes": 4, "options": {"ranks": "dealt"}},
    "position": {
        **ITERABLE["position"],
        "batches": 3,
        "samples": 12,
        "share": {"rank": 1, "world": 2},
    },
    "lanes": {
        "next": 3,
        "entries": [
            {
                "dataset": None,
                "iterator": None,
                "stated": [],
                "ordinal": 0,
                "ended": False,
                "replay": replay,
                "errors": [],
                "content": None,
                "samples": 4 * replay,
            }
            for replay in (2, 1)
        ],
    },
}

DEALT_MAP: _Tree = {
    **DEALT,
    "plan": {**MAP["plan"], "length": 30, "lanes": 4, "options": {"ranks": "dealt"}},
}

BASES: dict[str, _Tree] = {
    "map": MAP,
    "ranks": RANKS,
    "dealt lanes": DEALT,
    "dealt map-style lanes": DEALT_MAP,
    "iterable": ITERABLE,
    "custom": CUSTOM,
    "map with lanes": LANES,
    "custom with lanes": CUSTOM_LANES,
    "rollover": ROLLOVER,
}
"""The good states that the faults are put into; all of them are to be accepted."""


def _set(*path: Any) -> _Edit:
    """Put the last of ``path`` at the place that the others lead to."""
    *way, last, value = path

    def edit(state: _Tree) -> None:
        place: Any = state
        for step in way:
            place = place[step]
        place[last] = value

    return edit


def _remove(*path: Any) -> _Edit:
    *way, last = path

    def edit(state: _Tree) -> None:
        place: Any = state
        for step in way:
            place = place[step]
        del place[last]

    return edit


def _fields(base: str) -> dict[str, tuple[str, str, _Edit]]:
    """Return the faults of absence and surplus, for every mapping of the loader's own part."""
    faults: dict[str, tuple[str, str, _Edit]] = {}
    for name in ("format", "version", "plan", "position", "sampler", "lanes"):
        faults[f"missing-{name}"] = (f"{name} is missing", base, _remove(name))
    for name in MAP["plan"]:
        key = f"missing-plan-{name.replace('_', '-')}"
        faults[key] = (f"plan.{name} is missing", base, _remove("plan", name))
    for name in MAP["position"]:
        key = f"missing-position-{name}"
        faults[key] = (f"position.{name} is missing", base, _remove("position", name))
    return faults


_BIG = {"$int": str(2**53)}
_LOW = {"$int": str(-(2**53))}
_GENERATOR: _Tree = {"path": "sampler.generator", "kind": "python", "state": [3, [1], None]}
_PICKLE = {"$bytes": "gASVIAAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOUjAV0b3VjaJSFlFKULg=="}

_FORMAT: dict[str, tuple[str, str, _Edit]] = {
    **_fields("map"),
    "missing-lanes-next": ("lanes.next is missing", "iterable", _remove("lanes", "next")),
    "missing-lane-replay": (
        "replay is missing in an entry",
        "iterable",
        _remove("lanes", "entries", 0, "replay"),
    ),
    "missing-sampler-states": ("sampler.states is missing", "custom", _remove("sampler", "states")),
    "missing-sampler-slot": (
        "a slot is missing in sampler.states",
        "custom",
        _remove("sampler", "states", "sampler_iter"),
    ),
    "unknown-top-level-field": ("an unknown field at the top", "map", _set("extra", 1)),
    "unknown-capital-x-field": ("a field X-note, which is not x-note", "map", _set("X-note", 1)),
    "unknown-plan-field": ("an unknown field in plan", "map", _set("plan", "num_workers", 2)),
    "unknown-x-field-in-plan": (
        "an x- field below the top level",
        "map",
        _set("plan", "x-note", "ignorable at the top alone"),
    ),
    "unknown-position-field": ("an unknown field in position", "map", _set("position", "step", 8)),
    "unknown-lane-field": (
        "an unknown field in an entry",
        "iterable",
        _set("lanes", "entries", 1, "worker", 0),
    ),
    "format-other": ("another format", "map", _set("format", "torchdata.state")),
    "format-number": ("a format that is no text", "map", _set("format", 1)),
    "version-text": ("a version that is no integer", "map", _set("version", "1")),
    "version-boolean": ("true is not 1", "map", _set("version", True)),
    "version-zero": ("version 0", "map", _set("version", 0)),
    "version-negative": ("version -1", "map", _set("version", -1)),
    "version-float": ("1.0 is not 1", "map", _set("version", 1.0)),
    "plan-null": ("plan is null", "map", _set("plan", None)),
    "plan-list": ("plan is a list", "map", _set("plan", [])),
    "position-null": ("position is null", "map", _set("position", None)),
    "dataset-unknown": ("an unknown kind of dataset", "map", _set("plan", "dataset", "stream")),
    "sampler-unknown": ("an unknown sampler", "map", _set("plan", "sampler", "random")),
    "sampler-of-iterable": (
        "an iterable dataset with a sampler",
        "iterable",
        _set("plan", "sampler", "shuffle"),
    ),
    "sampler-none-of-map": (
        "a map-style dataset without a sampler",
        "map",
        _set("plan", "sampler", "none"),
    ),
    "sampler-name-of-built-in": (
        "a name of a built-in sampler",
        "map",
        _set("plan", "sampler_name", "torch.utils.data.RandomSampler"),
    ),
    "sampler-name-missing-of-custom": (
        "no name of a custom sampler",
        "custom",
        _set("plan", "sampler_name", None),
    ),
    "length-negative": ("a negative length", "map", _set("plan", "length", -1)),
    "length-float": ("a length that is a float", "map", _set("plan", "length", 10.0)),
    "length-null-of-built-in": (
        "no length of a built-in order",
        "map",
        _set("plan", "length", None),
    ),
    "length-of-iterable": ("a length of an iterable", "iterable", _set("plan", "length", 24)),
    "length-beyond-53-bits": ("a length of 2^53", "map", _set("plan", "length", _BIG)),
    "seed-negative": ("a negative root seed", "map", _set("plan", "seed", "-1")),
    "seed-beyond-64-bits": ("a root seed of 2^64", "map", _set("plan", "seed", str(2**64))),
    "seed-long": ("a root seed of 100 digits", "map", _set("plan", "seed", "1" * 100)),
    "seed-leading-zero": ("a root seed with a leading zero", "map", _set("plan", "seed", "07")),
    "seed-boolean": ("a root seed that is a boolean", "map", _set("plan", "seed", True)),
    "seed-number": ("a root seed that is a number", "map", _set("plan", "seed", 7)),
    "seed-words": ("a root seed without digits", "map", _set("plan", "seed", "seven")),
    "seed-newline": ("a newline after a root seed", "map", _set("plan", "seed", "7\n")),
    "seed-null": ("no root seed", "map", _set("plan", "seed", None)),
    "batch-size-zero": ("a batch size of 0", "map", _set("plan", "batch_size", 0)),
    "batch-size-negative": ("a negative batch size", "map", _set("plan", "batch_size", -4)),
    "data-number": ("data that is no text", "map", _set("plan", "data", 1)),
    "options-list": ("options that are a list", "map", _set("plan", "options", [])),
    "option-number": ("an option that is no text", "map", _set("plan", "options", {"a": 1})),
    "option-tagged": (
        "the name of an option that begins with $",
        "map",
        _set("plan", "options", {"$dict": [["$a", "b"]]}),
    ),
    "share-beyond-world": (
        "the share of a rank that is not there",
        "custom",
        _set("position", "share", {"rank": 2, "world": 2}),
    ),
    "share-of-no-world": (
        "the share of a world without ranks",
        "custom",
        _set("position", "share", {"rank": 0, "world": 0}),
    ),
    "share-of-built-in": (
        "a share of a built-in order",
        "map",
        _set("position", "share", {"rank": 0, "world": 2}),
    ),
    "share-list": ("a share that is a list", "custom", _set("position", "share", [0, 2])),
    "tail-unknown": ("an unknown tail rule", "map", _set("plan", "tail", "pad")),
    "tail-drop-without-batch-size": (
        "a tail rule where nothing is batched",
        "custom",
        lambda state: state["plan"].update(batch_size=None, tail="drop"),
    ),
    "tail-rollover-of-iterable": (
        "rollover of an iterable",
        "iterable",
        _set("plan", "tail", "rollover"),
    ),
    "ahead-number": ("a number for a list", "map", _set("position", "ahead", 4)),
    "ahead-delivered": ("a batch twice: below, and ahead", "map", _set("position", "ahead", [1])),
    "ahead-unordered": (
        "batches ahead that do not increase",
        "map",
        _set("position", "ahead", [2, 1]),
    ),
    "ahead-more-than-batches": (
        "more batches ahead than were delivered",
        "map",
        lambda state: state["position"].update(ahead=[0, 1, 2], samples=6),
    ),
    "ahead-beyond-epoch": (
        "a batch ahead that the epoch does not have",
        "map",
        _set("position", "ahead", [3]),
    ),
    "ahead-samples-of-short-batch": (
        "the short last batch ahead, counted as whole",
        "map",
        _set("position", "ahead", [2]),
    ),
    "ahead-samples-without-short-batch": (
        "samples as if the short last batch had been delivered",
        "map",
        lambda state: state["position"].update(batches=1, samples=2),
    ),
    "ahead-of-map-lanes": (
        "batches ahead of a Stateful dataset's lanes",
        "map with lanes",
        lambda state: state["position"].update(ahead=[4]),
    ),
    "ahead-of-sampler-snapshot": (
        "a sampler's snapshot above the first batch that was not delivered",
        "custom",
        lambda state: (
            state["position"].update(ahead=[2]),
            state["sampler"].update(stated=["sampler"], batches=2, digest="0" * 64),
        )[0],
    ),
    "ahead-of-iterable": ("batches ahead of lanes", "iterable", _set("position", "ahead", [4])),
    "carried-missing": (
        "rollover without what was carried",
        "rollover",
        _set("position", "carried", None),
    ),
    "carried-too-many": (
        "as many carried as fill a batch",
        "rollover",
        _set("position", "carried", [1, 2, 3, 4]),
    ),
    "carried-beyond-length": (
        "an index carried that is not there",
        "rollover",
        _set("position", "carried", [10]),
    ),
    "carried-below-zero": (
        "a negative index carried",
        "rollover",
        _set("position", "carried", [-1]),
    ),
    "carried-boolean": ("a boolean carried", "rollover", _set("position", "carried", [True])),
    "rollover-batches-beyond-epoch": (
        "more batches than the carried and the epoch's indices fill",
        "rollover",
        lambda state: state["position"].update(batches=4, samples=16),
    ),
    "rollover-samples-too-few": (
        "fewer samples than the batches hold",
        "rollover",
        _set("position", "samples", 7),
    ),
    "carried-number": ("a number for a list", "map", _set("position", "carried", 4)),
    "carried-without-rollover": ("a rest carried", "map", _set("position", "carried", [1])),
    "lanes-negative": ("a negative number of lanes", "map", _set("plan", "lanes", -1)),
    "lanes-beyond-bound": ("more lanes than 65535", "map", _set("plan", "lanes", 65536)),
    "lanes-text": ("a number of lanes that is text", "map", _set("plan", "lanes", "2")),
    "lifetime-unknown": ("an unknown lifetime", "map", _set("plan", "lifetime", "forever")),
    "epoch-negative": ("a negative epoch", "map", _set("position", "epoch", -1)),
    "epoch-last-of-53-bits": (
        "an epoch of 2^53 - 1, which none follows",
        "map",
        _set("position", "epoch", 2**53 - 1),
    ),
    "epoch-null": ("no epoch", "map", _set("position", "epoch", None)),
    "batches-negative": ("a negative position", "map", _set("position", "batches", -1)),
    "batches-float": ("a position that is a float", "map", _set("position", "batches", 2.0)),
    "batches-boolean": (
        "a position that is a boolean",
        "map",
        lambda state: state["position"].update(batches=True, samples=4),
    ),
    "batches-beyond-epoch": (
        "more batches than the epoch has",
        "map",
        lambda state: state["position"].update(batches=4, samples=10),
    ),
    "batches-far-off": (
        "a position far off",
        "map",
        lambda state: state["position"].update(batches=2**40, samples=10),
    ),
    "samples-too-many": (
        "more samples than the batches hold",
        "map",
        _set("position", "samples", 9),
    ),
    "samples-too-few": (
        "fewer samples than the batches hold",
        "map",
        _set("position", "samples", 7),
    ),
    "ranks-samples-beyond-epoch": (
        "more samples than the epoch has, under ranks that share the plan",
        "ranks",
        _set("position", "samples", 11),
    ),
    "ranks-samples-below-batches": (
        "fewer samples than steps, under ranks that share the plan",
        "ranks",
        _set("position", "samples", 1),
    ),
    "ranks-samples-before-the-first-step": (
        "samples before the first step, under ranks that share the plan",
        "ranks",
        _set("position", "batches", 0),
    ),
    "ranks-ahead": (
        "a batch ahead, under ranks that share the plan",
        "ranks",
        _set("position", "ahead", [2]),
    ),
    "ranks-lanes": (
        "lanes, under ranks that share the plan",
        "ranks",
        lambda state: (
            state.update(lanes=copy.deepcopy(LANES["lanes"])),
            state["plan"].update(lanes=2, length=20),
            state["position"].update(batches=3, samples=12),
        ),
    ),
    "dealt-samples-beyond-batches": (
        "more samples of a lane than its batches hold, where lanes are dealt to ranks",
        "dealt lanes",
        lambda state: (
            state["lanes"]["entries"][0].update(samples=9),
            state["position"].update(samples=13),
        ),
    ),
    "dealt-samples-not-of-the-lanes": (
        "other samples than those of the lanes, where lanes are dealt to ranks",
        "dealt lanes",
        _set("position", "samples", 11),
    ),
    "dealt-batches-before-the-first-step": (
        "batches of a lane before the first step, where lanes are dealt to ranks",
        "dealt lanes",
        _set("position", "batches", 0),
    ),
    "dealt-next": (
        "a next lane that does not have the fewest batches, where lanes are dealt to ranks",
        "dealt lanes",
        _set("lanes", "next", 1),
    ),
    "dealt-world": (
        "a number of ranks that does not divide the lanes",
        "dealt lanes",
        _set("position", "share", {"rank": 1, "world": 3}),
    ),
    "dealt-world-of-one": (
        "the share of the only rank, where lanes are dealt to ranks",
        "dealt lanes",
        lambda state: (
            state["position"].update(share={"rank": 0, "world": 1}),
            state["lanes"].update(entries=2 * state["lanes"]["entries"], next=1),
            state["position"].update(samples=24),
        ),
    ),
    "dealt-entries-of-all-lanes": (
        "the entries of all lanes in the state of one rank",
        "dealt lanes",
        lambda state: (
            state["lanes"].update(entries=2 * state["lanes"]["entries"]),
            state["position"].update(samples=24),
        ),
    ),
    "dealt-without-samples": (
        "a lane without its samples, where lanes are dealt to ranks",
        "dealt lanes",
        lambda state: state["lanes"]["entries"][0].pop("samples"),
    ),
    "dealt-without-lanes": (
        "a plan without lanes that deals them to ranks",
        "dealt lanes",
        lambda state: state["plan"].update(lanes=0),
    ),
    "dealt-map-lanes-null": (
        "no lanes of a map-style dataset, where its lanes are dealt to ranks",
        "dealt map-style lanes",
        lambda state: state.update(lanes=None),
    ),
    "dealt-map-without-a-batch-size": (
        "no batch size, where the lanes of a map-style dataset are dealt to ranks",
        "dealt map-style lanes",
        _set("plan", "batch_size", None),
    ),
    "dealt-map-rollover": (
        "a rollover, where the lanes of a map-style dataset are dealt to ranks",
        "dealt map-style lanes",
        lambda state: (
            state["plan"].update(tail="rollover"),
            state["position"].update(carried=[]),
        ),
    ),
    "dealt-map-custom": (
        "a custom sampler, where lanes are dealt to ranks",
        "custom",
        lambda state: (
            state["plan"].update(options={"ranks": "dealt"}, lanes=1),
            state.update(lanes={**copy.deepcopy(DEALT["lanes"]), "next": 0}),
            state["lanes"].update(entries=state["lanes"]["entries"][:1]),
        ),
    ),
    "dealt-map-counts-uneven": (
        "batches of a rank that were not delivered in turn",
        "dealt map-style lanes",
        lambda state: (
            state["lanes"].update(next=1),
            [
                entry.update(replay=replay, samples=4 * replay)
                for entry, replay in zip(state["lanes"]["entries"], (0, 2), strict=True)
            ],
            state["position"].update(samples=8),
        ),
    ),
    "dealt-map-batches-beyond-epoch": (
        "more batches of a lane than the plan's epoch has for it, in turn",
        "dealt map-style lanes",
        lambda state: (
            [entry.update(replay=3, samples=12) for entry in state["lanes"]["entries"]],
            state["lanes"].update(next=1),
            state["position"].update(samples=24),
        ),
    ),
    "dealt-map-samples": (
        "fewer samples of a lane than its batches have",
        "dealt map-style lanes",
        lambda state: (
            state["lanes"]["entries"][0].update(samples=7),
            state["position"].update(samples=11),
        ),
    ),
    "lane-samples": (
        "the samples of a lane, where no lanes are dealt to ranks",
        "iterable",
        lambda state: [entry.update(samples=0) for entry in state["lanes"]["entries"]],
    ),
    "ranks-without-a-batch-size": (
        "no batch size, under ranks that share the plan",
        "ranks",
        _set("plan", "batch_size", None),
    ),
    "ranks-custom": (
        "a custom sampler, under ranks that share the plan",
        "custom",
        _set("plan", "options", {"ranks": "shared"}),
    ),
    "samples-without-batches": (
        "samples before the first batch",
        "iterable",
        lambda state: (
            state["position"].update(batches=0),
            state["lanes"].update(next=0),
            [
                e.update(dataset=None, stated=[], ordinal=0, replay=0)
                for e in state["lanes"]["entries"]
            ],
        )[0],
    ),
    "digest-of-built-in": (
        "a digest of a built-in order",
        "map",
        _set("position", "digest", "0" * 64),
    ),
    "digest-missing-of-custom": ("no digest", "custom", _set("position", "digest", None)),
    "digest-short": ("a digest that is too short", "custom", _set("position", "digest", "8f5e")),
    "digest-capitals": ("a digest in capitals", "custom", _set("position", "digest", "8F" * 32)),
    "sampler-state-of-built-in": (
        "a sampler's state for a built-in order",
        "map",
        _set("sampler", CUSTOM["sampler"]),
    ),
    "sampler-null-of-custom": ("no state of a custom sampler", "custom", _set("sampler", None)),
    "sampler-stated-unknown": (
        "an unknown slot in stated",
        "custom",
        _set("sampler", "stated", ["dataset"]),
    ),
    "sampler-stated-twice": (
        "a slot twice in stated",
        "custom",
        _set("sampler", "stated", ["sampler", "sampler"]),
    ),
    "sampler-state-not-stated": (
        "a state in a slot that is not stated",
        "custom",
        _set("sampler", "states", "sampler", {"i": 1}),
    ),
    "sampler-batches-beyond-position": (
        "a snapshot later than the position",
        "custom",
        lambda state: state["sampler"].update(stated=["sampler"], batches=3, digest="0" * 64),
    ),
    "sampler-digest-missing": (
        "a snapshot within the epoch without its digest",
        "custom",
        lambda state: state["sampler"].update(stated=["sampler"], batches=1),
    ),
    "sampler-digest-without-snapshot": (
        "a digest where no snapshot is",
        "custom",
        _set("sampler", "digest", "0" * 64),
    ),
    "sampler-digest-of-position": (
        "a snapshot at the position with another digest",
        "custom",
        lambda state: state["sampler"].update(stated=["sampler"], batches=2, digest="0" * 64),
    ),
    "sampler-batches-without-state": (
        "a snapshot's batch without a snapshot",
        "custom",
        lambda state: state["sampler"].update(batches=1, digest="0" * 64),
    ),
    "generator-kind-unknown": (
        "an unknown kind of generator",
        "custom",
        _set("sampler", "generators", [{"path": "generator", "kind": "jax", "state": None}]),
    ),
    "sampler-name-number": (
        "a sampler's name that is no text",
        "custom",
        _set("plan", "sampler_name", 5),
    ),
    "sampler-epoch-beyond-53-bits": (
        "a sampler's epoch of 2^53",
        "custom",
        _set("sampler", "epoch", _BIG),
    ),
    "sampler-epoch-below-53-bits": (
        "a sampler's epoch of -2^53",
        "custom",
        _set("sampler", "epoch", _LOW),
    ),
    "sampler-batches-below-53-bits": (
        "a snapshot 2^53 batches before the epoch",
        "custom",
        _set("sampler", "batches", _LOW),
    ),
    "generator-path-number": (
        "a path that is no text",
        "custom",
        _set("sampler", "generators", [{"path": 5, "kind": "python", "state": None}]),
    ),
    "generator-path-surrogate": (
        "a path that holds a surrogate",
        "custom",
        _set("sampler", "generators", [{**_GENERATOR, "path": {"$str": "7aCA"}}]),
    ),
    "generator-state-tuple": (
        "a tuple within a generator's state",
        "custom",
        _set("sampler", "generators", [{**_GENERATOR, "state": [3, {"$tuple": [1, 2]}, None]}]),
    ),
    "generator-state-bytes": (
        "bytes as a generator's state",
        "custom",
        _set("sampler", "generators", [{**_GENERATOR, "state": {"$bytes": "eA=="}}]),
    ),
    "generator-state-infinite": (
        "an infinity within a generator's state",
        "custom",
        _set("sampler", "generators", [{**_GENERATOR, "state": [3, [1], {"$float": "inf"}]}]),
    ),
    "generator-state-integer-keys": (
        "a mapping with integer keys within a generator's state",
        "custom",
        _set("sampler", "generators", [{**_GENERATOR, "state": {"$dict": [[1, 2]]}}]),
    ),
    "generator-state-missing": (
        "a generator without a state",
        "custom",
        _set("sampler", "generators", [{"path": "sampler.generator", "kind": "python"}]),
    ),
    "generator-path-twice": (
        "two generators of one path",
        "custom",
        _set(
            "sampler",
            "generators",
            [{"path": "generator", "kind": "torch", "state": None}] * 2,
        ),
    ),
    "lanes-null-of-iterable": ("no lanes of an iterable", "iterable", _set("lanes", None)),
    "lanes-list": ("lanes is a list", "iterable", _set("lanes", [])),
    "entries-too-few": (
        "fewer entries than lanes",
        "iterable",
        lambda state: (
            state["lanes"]["entries"].pop(),
            state["lanes"]["entries"][0].update(replay=2),
            state["lanes"].update(next=0),
        )[1],
    ),
    "entries-too-many": (
        "more entries than lanes",
        "iterable",
        lambda state: state["lanes"]["entries"].append(
            {
                "dataset": None,
                "iterator": None,
                "stated": [],
                "ordinal": 0,
                "ended": False,
                "replay": 0,
                "errors": [],
                "content": None,
            }
        ),
    ),
    "entries-of-huge-plan": (
        "a plan of 65535 lanes with two entries",
        "iterable",
        _set("plan", "lanes", 65535),
    ),
    "next-beyond-lanes": ("next is no lane", "iterable", _set("lanes", "next", 2)),
    "next-negative": ("next is negative", "iterable", _set("lanes", "next", -1)),
    "lane-ended-number": (
        "ended is a number",
        "iterable",
        _set("lanes", "entries", 0, "ended", 0),
    ),
    "lane-replay-negative": (
        "a negative replay",
        "iterable",
        lambda state: (state["lanes"]["entries"][0].update(ordinal=3, replay=-1),)[0],
    ),
    "lane-counts-too-few": (
        "the lanes' batches are fewer than the position's",
        "iterable",
        _set("lanes", "entries", 0, "replay", 0),
    ),
    "lane-counts-too-many": (
        "the lanes' batches are more than the position's",
        "iterable",
        _set("lanes", "entries", 1, "replay", 1),
    ),
    "lane-ordinal-without-state": (
        "a snapshot's ordinal without a snapshot",
        "iterable",
        _set(
            "lanes",
            "entries",
            0,
            {
                "dataset": None,
                "iterator": None,
                "stated": [],
                "ordinal": 1,
                "ended": False,
                "replay": 1,
                "errors": [],
                "content": None,
            },
        ),
    ),
    "lane-ordinal-below-53-bits": (
        "a snapshot 2^53 batches before the epoch",
        "iterable",
        lambda state: (
            state["plan"].update(lifetime="run"),
            state["lanes"]["entries"][0].update(ordinal=_LOW, replay=2),
        )[0],
    ),
    "lane-ordinal-negative-of-epoch": (
        "a snapshot of the pass before under lifetime epoch",
        "iterable",
        lambda state: state["lanes"]["entries"][0].update(ordinal=-1, replay=2),
    ),
    "lane-error-beyond-batches": (
        "an error in a batch that was not made",
        "iterable",
        _set("lanes", "entries", 0, "errors", [1]),
    ),
    "lane-errors-unordered": (
        "errors that do not increase",
        "iterable",
        lambda state: (
            state["position"].update(batches=4, samples=16),
            state["lanes"]["entries"][0].update(replay=2, errors=[1, 0]),
        )[0],
    ),
    "lane-error-twice": (
        "an error twice",
        "iterable",
        _set("lanes", "entries", 0, "errors", [0, 0]),
    ),
    "lane-errors-number": (
        "errors that are no list",
        "iterable",
        _set("lanes", "entries", 0, "errors", 0),
    ),
    "lane-content-number": (
        "a content that is no digest",
        "iterable",
        _set("lanes", "entries", 0, "content", 0),
    ),
    "lane-content-of-nothing": (
        "a content of no batches",
        "iterable",
        _set("lanes", "entries", 1, "content", "ab" * 32),
    ),
    "map-lane-content": (
        "a content of a map-style dataset's lane",
        "map with lanes",
        _set("lanes", "entries", 0, "content", "ab" * 32),
    ),
    "map-lane-ended": (
        "a map-style dataset's lane that has ended",
        "map with lanes",
        _set("lanes", "entries", 0, "ended", True),
    ),
    "map-lane-counts-uneven": (
        "batches that were not dealt in turn",
        "map with lanes",
        lambda state: (
            state["lanes"]["entries"][0].update(replay=0),
            state["lanes"]["entries"][1].update(replay=1),
        )[0],
    ),
    "map-lane-next": (
        "next does not follow from the position",
        "map with lanes",
        _set("lanes", "next", 0),
    ),
    "map-lane-replays-before-snapshot": (
        "a lane that replays a batch before the sampler's snapshot",
        "custom with lanes",
        lambda state: state["sampler"].update(stated=["sampler"], batches=1, digest="0" * 64),
    ),
    "map-lane-ordinal-negative": (
        "a snapshot of the pass before for a map-style dataset",
        "map with lanes",
        lambda state: state["lanes"]["entries"][0].update(ordinal=-1, replay=2),
    ),
    "lane-state-not-stated": (
        "a state in a slot that is not stated",
        "iterable",
        _set("lanes", "entries", 0, "iterator", {"i": 0}),
    ),
    "lane-stated-text": (
        "stated is text",
        "iterable",
        _set("lanes", "entries", 0, "stated", "dataset"),
    ),
    "hostile-pickle-as-plan": ("a pickle in the place of the plan", "map", _set("plan", _PICKLE)),
    "hostile-tuple-in-own-part": (
        "a tuple where the format has a list",
        "iterable",
        _set("lanes", "entries", 0, "stated", {"$tuple": ["dataset"]}),
    ),
    "hostile-array-as-seed": (
        "an array scalar in the place of the seed",
        "map",
        _set("plan", "seed", {"$scalar": {"data": "BwAAAAAAAAA=", "dtype": "<i8"}}),
    ),
    "hostile-nesting": (
        "a deep nest in the place of a number",
        "map",
        _set("position", "epoch", None),
    ),
}


def _nest(state: _Tree) -> None:
    nest: Any = []
    for _ in range(150):
        nest = [nest]
    state["position"]["epoch"] = nest


_FORMAT["hostile-nesting"] = ("a deep nest in the place of a number", "map", _nest)

_VERSION: dict[str, tuple[str, str, _Edit]] = {
    "version-2": ("version 2", "map", _set("version", 2)),
    "version-2-of-unknown-layout": (
        "version 2, and nothing else that is known",
        "map",
        lambda state: (
            [state.pop(key) for key in ("plan", "position", "sampler", "lanes")],
            state.update(version=2, cursor="abc"),
        )[1],
    ),
    "version-1000000": ("a version far off", "map", _set("version", 1000000)),
}

_PLAN: dict[str, tuple[str, str, _Tree]] = {
    "plan-batch-size": ("another batch size", "map", {"batch_size": 2}),
    "plan-length": ("another length", "map", {"length": 11}),
    "plan-sampler": ("not shuffled here", "map", {"sampler": "sequential"}),
    "plan-tail": ("another tail rule", "map", {"tail": "drop"}),
    "plan-dataset": (
        "an iterable here",
        "map",
        {"dataset": "iterable", "length": None, "sampler": "none"},
    ),
    "plan-sampler-name": (
        "another custom sampler here",
        "custom",
        {"sampler_name": "Permuted"},
    ),
    "plan-lanes": ("an explicit, other number of lanes here", "iterable", {"lanes": 3}),
    "plan-seed": ("an explicit, other seed here", "map", {"seed": "8"}),
    "plan-many": (
        "several differences at once",
        "map",
        {"batch_size": 5, "length": 9, "tail": "drop"},
    ),
}


_SAVED: dict[str, tuple[str, str, str, Any]] = {
    "plan-data": ("a state of other data", "map", "data", "b"),
    "plan-option-unknown": (
        "an option that no reader of this version knows",
        "map",
        "options",
        {"ranks": "logical"},
    ),
}


def vectors() -> dict[str, _Tree]:
    """Return every vector of an invalid state, by the name of its fault."""
    found: dict[str, _Tree] = {}
    for name, (fault, base, edit) in {**_FORMAT, **_VERSION}.items():
        state = copy.deepcopy(BASES[base])
        edit(state)
        error = "StateVersionError" if name in _VERSION else "StateFormatError"
        found[name] = _vector(name, fault, base, state, BASES[base]["plan"], error)
    for name, (fault, base, changes) in _PLAN.items():
        plan = {**BASES[base]["plan"], **changes}
        vector = _vector(name, fault, base, BASES[base], plan, "PlanMismatchError")
        found[name] = {**vector, "fields": [key for key in plan if key in changes]}
    rollover = copy.deepcopy(BASES["map"])
    rollover["plan"]["tail"] = "rollover"
    rollover["position"]["carried"] = []
    other = _vector(
        "plan-rollover",
        "another tail rule",
        "map",
        rollover,
        BASES["map"]["plan"],
        "PlanMismatchError",
    )
    found["plan-rollover"] = {**other, "fields": ["tail"]}
    for name, (fault, base, key, value) in _SAVED.items():
        state = copy.deepcopy(BASES[base])
        state["plan"][key] = value
        here = {"data": "a"} if key == "data" else {}
        plan = {**BASES[base]["plan"], **here}
        vector = _vector(name, fault, base, state, plan, "PlanMismatchError")
        found[name] = {**vector, "fields": [key]}
    for name, (fault, value) in _NO_STATE.items():
        plan = BASES["map"]["plan"]
        found[name] = {**_vector(name, fault, "map", {}, plan, "StateFormatError"), "state": value}
    return found


_NO_STATE: dict[str, tuple[str, Any]] = {
    "no-state-null": ("null", None),
    "no-state-empty-mapping": ("an empty mapping", {}),
    "no-state-empty-list": ("an empty list", []),
    "no-state-number": ("a number", 5),
    "no-state-text": ("text", "midepoch.state"),
    "no-state-foreign-mapping": (
        "the state of another loader",
        {
            "_snapshot": {"_snapshot_step": 2},
            "_steps_since_snapshot": 0,
            "_iterator_finished": False,
        },
    ),
}


def _requirement(name: str) -> str:
    prefixes = {
        "no-state": "REFUSE-1",
        "unknown": "DOC-7",
        "version-2": "DOC-17",
        "version-1000000": "DOC-17",
        "format": "DOC-8",
        "seed": "SEED-5",
        "hostile": "DOC-14",
        "plan-null": "DOC-1",
        "plan-list": "DOC-1",
        "plan": "DOC-12",
    }
    return next((found for prefix, found in prefixes.items() if name.startswith(prefix)), "DOC-1")


def _vector(name: str, fault: str, base: str, state: _Tree, plan: _Tree, error: str) -> _Tree:
    return {
        "description": f"{fault}, in the state that is called {base} otherwise unchanged",
        "requirement": _requirement(name),
        "fault": fault,
        "error": error,
        "plan": plan,
        "state": state,
    }
