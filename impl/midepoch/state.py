"""The state document: the only file that knows its keys.

A document is made of plain JSON types, apart from the users' own parts, which are carried
through as they are. Pure: no torch, no library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from midepoch import checks
from midepoch.checks import at
from midepoch.errors import StateFormatError, StateVersionError, show
from midepoch.plan import Plan
from midepoch.seeds import ROOT_MAX

__all__ = [
    "COUNT_MAX",
    "FORMAT",
    "LANE_SLOTS",
    "SAMPLER_SLOTS",
    "VERSION",
    "Document",
    "GeneratorState",
    "LaneEntry",
    "LanesState",
    "Position",
    "SamplerState",
]

FORMAT = "midepoch.state"
VERSION = 1
COUNT_MAX = 2**63 - 1
"""The largest count in a document: batches, samples, epochs, lengths, lanes."""

SAMPLER_SLOTS = ("batch_sampler", "batch_sampler_iter", "sampler", "sampler_iter")
"""The four places where a custom sampler can hold a state: outer and inner, object and iterator."""

LANE_SLOTS = ("dataset", "iterator")
"""The two places where a lane can hold a user's state."""

Users = Any
"""A user's own value: anything, carried through unchanged (DOC-4)."""


@dataclass(frozen=True)
class Position:
    """How far the plan has been delivered."""

    epoch: int
    batches: int
    """Batches delivered in this epoch."""
    samples: int
    """Samples delivered in this epoch."""
    digest: str | None = None
    """Custom samplers: SHA-256, in hexadecimal, of the indices consumed in this epoch."""


# The classes that hold users' values compare by identity: such values need not have an
# equality that gives a truth value (tensors do not).


@dataclass(frozen=True, eq=False)
class GeneratorState:
    """A random generator found along a custom sampler, as it was at the epoch's start."""

    path: str
    kind: Literal["torch", "numpy", "python"]
    state: Users


@dataclass(frozen=True, eq=False)
class SamplerState:
    """What a custom sampler needs to go on."""

    epoch: int | None
    """``sampler.epoch``, put back at a resume."""
    generators: tuple[GeneratorState, ...]
    states: dict[str, Users]
    """By slot (``SAMPLER_SLOTS``), every slot present."""
    stated: tuple[str, ...]
    """The slots that hold a state: ``None`` is a legal one."""
    batches: int
    """The batch at which the slots were snapshotted."""


@dataclass(frozen=True, eq=False)
class LaneEntry:
    """One lane's snapshot, and how far it went since."""

    dataset: Users
    iterator: Users
    stated: tuple[str, ...]
    """The slots that hold a state (``LANE_SLOTS``)."""
    ordinal: int
    """Batches that the lane had yielded at the snapshot."""
    ended: bool
    replay: int
    """Batches delivered from the lane since the snapshot."""


@dataclass(frozen=True, eq=False)
class LanesState:
    """All lanes, and the one that is dealt to next."""

    next: int
    entries: tuple[LaneEntry, ...]
    """Exactly ``max(1, plan.lanes)``."""


@dataclass(frozen=True, eq=False)
class Document:
    """A whole state.

    >>> plan = Plan("map", 100, "shuffle", None, 7, 8, "keep", 0, "epoch")
    >>> document = Document(plan, Position(epoch=2, batches=3, samples=24), None, None)
    >>> Document.from_dict(document.to_dict()).position
    Position(epoch=2, batches=3, samples=24, digest=None)
    """

    plan: Plan
    position: Position
    sampler: SamplerState | None
    lanes: LanesState | None

    def to_dict(self) -> dict[str, Any]:
        """Return the document as a dict of JSON types (DOC-3); users' parts are not copied."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "plan": dict(vars(self.plan)),
            "position": dict(vars(self.position)),
            "sampler": None if self.sampler is None else _sampler_to_dict(self.sampler),
            "lanes": None if self.lanes is None else _lanes_to_dict(self.lanes),
        }

    @classmethod
    def from_dict(cls, obj: object) -> Document:
        """Return the document that ``obj`` describes; any object may be passed.

        Users' parts are neither copied nor looked into.

        Raises:
            StateFormatError: ``obj`` is no state, or a faulty one (DOC-1, DOC-7, REFUSE-1).
            StateVersionError: it is of another version of the format (DOC-8).

        >>> Document.from_dict({})
        Traceback (most recent call last):
        midepoch.errors.StateFormatError: state at $: not a midepoch state: ... [REFUSE-1]
        """
        _check_header(obj)
        fields = _DOCUMENT(obj, "$")
        document = cls(
            plan=Plan(**fields["plan"]),
            position=Position(**fields["position"]),
            sampler=_sampler_from_fields(fields["sampler"]),
            lanes=_lanes_from_fields(fields["lanes"]),
        )
        for rule in _RULES:
            rule(document)
        return document


_count = checks.integer(0, COUNT_MAX)

_PLAN = checks.record(
    {
        "dataset": checks.choice("map", "iterable"),
        "length": checks.nullable(_count),
        "sampler": checks.choice("sequential", "shuffle", "custom", "none"),
        "sampler_name": checks.nullable(checks.text),
        "seed": checks.integer(0, ROOT_MAX),
        "batch_size": checks.nullable(checks.integer(1, COUNT_MAX)),
        "tail": checks.choice("keep", "drop", "rollover"),
        "lanes": _count,
        "lifetime": checks.choice("epoch", "run"),
    }
)

_POSITION = checks.record(
    {
        "epoch": _count,
        "batches": _count,
        "samples": _count,
        "digest": checks.nullable(checks.digest),
    }
)

_GENERATOR = checks.record(
    {
        "path": checks.text,
        "kind": checks.choice("torch", "numpy", "python"),
        "state": checks.anything,
    }
)

_SAMPLER = checks.record(
    {
        # A user's own number, hence not bounded like a count.
        "epoch": checks.nullable(checks.integer(-COUNT_MAX, COUNT_MAX)),
        "generators": checks.array(_GENERATOR),
        "states": checks.record(dict.fromkeys(SAMPLER_SLOTS, checks.anything)),
        "stated": checks.subset(*SAMPLER_SLOTS),
        "batches": _count,
    }
)

_ENTRY = checks.record(
    {
        "dataset": checks.anything,
        "iterator": checks.anything,
        "stated": checks.subset(*LANE_SLOTS),
        "ordinal": _count,
        "ended": checks.boolean,
        "replay": _count,
    }
)

_LANES = checks.record({"next": _count, "entries": checks.array(_ENTRY)})

_DOCUMENT = checks.record(
    {
        "format": checks.choice(FORMAT),
        "version": checks.integer(VERSION, VERSION),
        "plan": _PLAN,
        "position": _POSITION,
        "sampler": checks.nullable(_SAMPLER),
        "lanes": checks.nullable(_LANES),
    },
    ignorable="x-",
)


def _check_header(obj: object) -> None:
    """Tell what is no state at all, and what is of another version, before all else."""
    if type(obj) is not dict:
        raise StateFormatError(f"not a midepoch state: {show(obj)}", "$", "REFUSE-1")
    # Looked for by exact type: a foreign key's own __eq__ must not run.
    header = {key: value for key, value in obj.items() if type(key) is str}
    if "format" not in header:
        raise StateFormatError('not a midepoch state: it has no key "format"', "$", "REFUSE-1")
    found = header["format"]
    if type(found) is not str or found != FORMAT:
        raise StateFormatError(f'expected "{FORMAT}", got {show(found)}', "$.format", "DOC-8")
    version = header.get("version", VERSION)
    if type(version) is int and version > 0 and version != VERSION:
        raise StateVersionError(version, VERSION)


def _sampler_to_dict(sampler: SamplerState) -> dict[str, Any]:
    return {
        "epoch": sampler.epoch,
        "generators": [dict(vars(generator)) for generator in sampler.generators],
        "states": dict(sampler.states),
        "stated": list(sampler.stated),
        "batches": sampler.batches,
    }


def _sampler_from_fields(fields: dict[str, Any] | None) -> SamplerState | None:
    if fields is None:
        return None
    generators = tuple(GeneratorState(**generator) for generator in fields["generators"])
    return SamplerState(**{**fields, "generators": generators})


def _lanes_to_dict(lanes: LanesState) -> dict[str, Any]:
    entries = [{**vars(entry), "stated": list(entry.stated)} for entry in lanes.entries]
    return {"next": lanes.next, "entries": entries}


def _lanes_from_fields(fields: dict[str, Any] | None) -> LanesState | None:
    if fields is None:
        return None
    entries = tuple(LaneEntry(**entry) for entry in fields["entries"])
    return LanesState(fields["next"], entries)


# What no single field can tell. Each rule raises at the field that is most likely at fault.


def _check_plan(document: Document) -> None:
    plan = document.plan
    if (plan.dataset == "iterable") != (plan.sampler == "none"):
        raise StateFormatError(
            f'a plan of dataset "{plan.dataset}" cannot have sampler "{plan.sampler}"',
            "$.plan.sampler",
        )
    built_in = plan.sampler in ("sequential", "shuffle")
    _present(plan.length, built_in, "$.plan.length", "a built-in sampler")
    _present(plan.sampler_name, plan.sampler == "custom", "$.plan.sampler_name", "a custom sampler")
    if plan.batch_size is None and plan.tail != "keep":
        raise StateFormatError(
            f'expected "keep" where batch_size is null, got "{plan.tail}"', "$.plan.tail"
        )
    if plan.dataset == "iterable" and plan.tail == "rollover":
        raise StateFormatError('"rollover" is for map-style datasets', "$.plan.tail")


def _check_position(document: Document) -> None:
    plan, position = document.plan, document.position
    custom = plan.sampler == "custom"
    _present(position.digest, custom, "$.position.digest", "a custom sampler")
    size = plan.batch_size
    most = position.batches * size if size else (COUNT_MAX if position.batches else 0)
    if plan.length is not None:
        batches, samples = _epoch_bounds(plan, plan.length)
        _at_most(position.batches, batches, "$.position.batches", "batches in the plan's epoch")
        most = min(most, samples)
    _at_most(position.samples, most, "$.position.samples", "samples that these batches can hold")


def _epoch_bounds(plan: Plan, length: int) -> tuple[int, int]:
    """Return how many batches and samples an epoch of a built-in sampler has at most."""
    size = plan.batch_size or 1
    if plan.tail == "drop":
        return length // size, length // size * size
    if plan.tail == "rollover":  # up to size - 1 samples are carried in
        samples = length + size - 1
        return samples // size, samples
    return -(-length // size), length


def _check_sampler(document: Document) -> None:
    sampler = document.sampler
    _present(sampler, document.plan.sampler == "custom", "$.sampler", "a custom sampler")
    if sampler is None:
        return
    paths = [generator.path for generator in sampler.generators]
    if len(set(paths)) != len(paths):
        raise StateFormatError("two generators have the same path", "$.sampler.generators")
    _check_slots(sampler.states, sampler.stated, "$.sampler.states")
    _at_most(sampler.batches, document.position.batches, "$.sampler.batches", "batches delivered")


def _check_lanes(document: Document) -> None:
    lanes = document.lanes
    if lanes is None:
        if document.plan.dataset == "iterable":
            raise StateFormatError("an iterable dataset needs its lanes, got null", "$.lanes")
        return
    count = max(1, document.plan.lanes)
    if len(lanes.entries) != count:
        raise StateFormatError(
            f"expected {count} (the plan's lanes), got {len(lanes.entries)}", "$.lanes.entries"
        )
    _at_most(lanes.next, count - 1, "$.lanes.next", "the last lane's number")
    for i, entry in enumerate(lanes.entries):
        slots = {"dataset": entry.dataset, "iterator": entry.iterator}
        _check_slots(slots, entry.stated, f"$.lanes.entries[{i}]")


def _check_slots(slots: dict[str, Users], stated: tuple[str, ...], path: str) -> None:
    for name, value in slots.items():
        if value is not None and name not in stated:
            raise StateFormatError("holds a value but is not listed as stated", at(path, name))


def _present(value: object, wanted: bool, path: str, owner: str) -> None:
    if (value is not None) != wanted:
        reason = f"{owner} needs it, got null" if wanted else f"only {owner} has it, expected null"
        raise StateFormatError(reason, path)


def _at_most(value: int, most: int, path: str, what: str) -> None:
    if value > most:
        raise StateFormatError(f"expected at most {most} ({what}), got {value}", path)


_RULES: tuple[Callable[[Document], None], ...] = (
    _check_plan,
    _check_position,
    _check_sampler,
    _check_lanes,
)
