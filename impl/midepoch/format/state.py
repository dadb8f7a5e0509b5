"""The state document and all its keys.

The fields of ``Plan``, ``Position`` and the parts have the names of their keys: a renamed field
changes the format, and the tables below refuse it.

A document is made of plain JSON types. Only the users' own parts may hold other values; they are
carried unchanged. Pure: no torch, no library.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from midepoch.errors import StateFormatError, StateVersionError, show
from midepoch.format import checks
from midepoch.format.consistency import COUNT_MAX, EPOCH_MAX, LANES_MAX, check_consistency
from midepoch.format.parts import (
    LANE_SLOTS,
    SAMPLER_SLOTS,
    GeneratorState,
    LaneEntry,
    LanesState,
    Position,
    SamplerState,
    Share,
)
from midepoch.format.plan import Plan
from midepoch.format.seeds import ROOT_MAX

__all__ = [
    "COUNT_MAX",
    "EPOCH_MAX",
    "FORMAT",
    "LANES_MAX",
    "LANE_SLOTS",
    "NESTING_MAX",
    "SAMPLER_SLOTS",
    "VERSION",
    "Document",
    "GeneratorState",
    "LaneEntry",
    "LanesState",
    "Position",
    "SamplerState",
    "Share",
]

FORMAT = "midepoch.state"
VERSION = 1

NESTING_MAX = 200
"""Levels of lists and dicts in the loader's own part at most."""


@dataclass(frozen=True, eq=False)
class Document:
    """A whole state.

    >>> plan = Plan("map", 100, "shuffle", None, 7, 8, "keep", 0, "epoch")
    >>> document = Document(plan, Position(epoch=2, batches=3, samples=24), None, None)
    >>> Document.from_dict(document.to_dict()).position
    Position(epoch=2, batches=3, samples=24, digest=None, ahead=(), carried=None, share=None)
    """

    plan: Plan
    position: Position
    sampler: SamplerState | None
    lanes: LanesState | None

    @property
    def delivered(self) -> int:
        """The batches delivered in this epoch; of lanes dealt to ranks, from those in the document.

        ``position.batches`` counts the steps of all ranks, of which there may have been others.
        """
        return self.position.batches if self.lanes is None else self.lanes.delivered

    def to_dict(self) -> dict[str, Any]:
        """Return the document as a dict of JSON types (DOC-3); users' parts are not copied."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "plan": _plan_to_dict(self.plan),
            "position": _position_to_dict(self.position),
            "sampler": None if self.sampler is None else _sampler_to_dict(self.sampler),
            "lanes": None if self.lanes is None else _lanes_to_dict(self.lanes),
        }

    @classmethod
    def from_dict(cls, obj: object) -> Document:
        """Return the document that ``obj`` describes; ``obj`` may be any object.

        Users' parts are neither copied nor inspected.

        Raises:
            StateFormatError: ``obj`` is no state, or a malformed one (DOC-1, DOC-7, REFUSE-1).
            StateVersionError: ``obj`` has another version of the format (DOC-17).

        >>> Document.from_dict({})
        Traceback (most recent call last):
        midepoch.errors.StateFormatError: state at $: not a midepoch state: ... [REFUSE-1]
        """
        _check_header(obj)
        fields = _DOCUMENT(obj, "$")
        document = cls(
            plan=_plan_from_fields(fields["plan"]),
            position=_position_from_fields(fields["position"]),
            sampler=_sampler_from_fields(fields["sampler"]),
            lanes=_lanes_from_fields(fields["lanes"]),
        )
        check_consistency(document.plan, document.position, document.sampler, document.lanes)
        return document


_count = checks.integer(0, COUNT_MAX)
_signed = checks.integer(-COUNT_MAX, COUNT_MAX)
_share = checks.record({"rank": _count, "world": checks.integer(1, COUNT_MAX)})

_PLAN = checks.record(
    {
        "dataset": checks.choice("map", "iterable"),
        "length": checks.nullable(_count),
        "sampler": checks.choice("sequential", "shuffle", "custom", "none"),
        "sampler_name": checks.nullable(checks.text),
        "seed": checks.decimal(ROOT_MAX),
        "batch_size": checks.nullable(checks.integer(1, COUNT_MAX)),
        "tail": checks.choice("keep", "drop", "rollover"),
        "lanes": checks.integer(0, LANES_MAX),
        "lifetime": checks.choice("epoch", "run"),
        "data": checks.nullable(checks.text),
        "options": checks.mapping(checks.text),
    }
)

_POSITION = checks.record(
    {
        "epoch": checks.integer(0, EPOCH_MAX),
        "batches": _count,
        "samples": _count,
        "digest": checks.nullable(checks.digest),
        "ahead": checks.array(_count),
        "carried": checks.nullable(checks.array(checks.anything)),
        "share": checks.nullable(_share),
    }
)

_GENERATOR = checks.record(
    {
        "path": checks.text,
        "kind": checks.choice("torch", "numpy", "python"),
        "state": checks.json_types(NESTING_MAX - 4),  # four levels are around it
    }
)

_SAMPLER = checks.record(
    {
        "epoch": checks.nullable(_signed),  # a user's own number
        "generators": checks.array(_GENERATOR),
        "states": checks.record(dict.fromkeys(SAMPLER_SLOTS, checks.anything)),
        "stated": checks.subset(*SAMPLER_SLOTS),
        "batches": _signed,
        "digest": checks.nullable(checks.digest),
    }
)

_ENTRY = checks.record(
    optional={"samples": _count},  # there where lanes are dealt to ranks, and nowhere else
    fields={
        "dataset": checks.anything,
        "iterator": checks.anything,
        "stated": checks.subset(*LANE_SLOTS),
        "ordinal": _signed,
        "ended": checks.boolean,
        "replay": _count,
        "errors": checks.array(_count),
        "content": checks.nullable(checks.digest),
    },
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
    """Refuse objects that are no state, and other versions, before all other checks."""
    if type(obj) is not dict:
        raise StateFormatError(f"not a midepoch state: {show(obj)}", "$", "REFUSE-1")
    # Only exact strings, because a foreign key's own __eq__ must not run.
    header = {key: value for key, value in obj.items() if type(key) is str}
    if "format" not in header:
        raise StateFormatError('not a midepoch state: it has no key "format"', "$", "REFUSE-1")
    found = header["format"]
    if type(found) is not str or found != FORMAT:
        raise StateFormatError(f'expected "{FORMAT}", got {show(found)}', "$.format", "DOC-8")
    version = header.get("version", VERSION)
    if type(version) is int and version > 0 and version != VERSION:
        raise StateVersionError(version, VERSION)


def _plan_to_dict(plan: Plan) -> dict[str, Any]:
    return {**vars(plan), "seed": str(plan.seed), "options": dict(plan.options)}


def _plan_from_fields(fields: dict[str, Any]) -> Plan:
    return Plan(**{**fields, "seed": int(fields["seed"])})


def _position_to_dict(position: Position) -> dict[str, Any]:
    return {
        **vars(position),
        "ahead": list(position.ahead),
        "carried": None if position.carried is None else list(position.carried),
        "share": None if position.share is None else position.share._asdict(),
    }


def _position_from_fields(fields: dict[str, Any]) -> Position:
    carried = None if fields["carried"] is None else tuple(fields["carried"])
    share = None if fields["share"] is None else Share(**fields["share"])
    ahead = tuple(fields["ahead"])
    return Position(**{**fields, "ahead": ahead, "carried": carried, "share": share})


def _sampler_to_dict(sampler: SamplerState) -> dict[str, Any]:
    return {
        "epoch": sampler.epoch,
        "generators": [dict(vars(generator)) for generator in sampler.generators],
        "states": dict(sampler.states),
        "stated": list(sampler.stated),
        "batches": sampler.batches,
        "digest": sampler.digest,
    }


def _sampler_from_fields(fields: dict[str, Any] | None) -> SamplerState | None:
    if fields is None:
        return None
    generators = tuple(GeneratorState(**generator) for generator in fields["generators"])
    return SamplerState(**{**fields, "generators": generators})


def _lanes_to_dict(lanes: LanesState) -> dict[str, Any]:
    return {"next": lanes.next, "entries": [_entry_to_dict(entry) for entry in lanes.entries]}


def _entry_to_dict(entry: LaneEntry) -> dict[str, Any]:
    fields = {**vars(entry), "stated": list(entry.stated), "errors": list(entry.errors)}
    if entry.samples is None:
        del fields["samples"]
    return fields


def _lanes_from_fields(fields: dict[str, Any] | None) -> LanesState | None:
    if fields is None:
        return None
    entries = tuple(
        LaneEntry(**{**entry, "errors": tuple(entry["errors"])}) for entry in fields["entries"]
    )
    return LanesState(fields["next"], entries)
