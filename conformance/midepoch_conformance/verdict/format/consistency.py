"""The rules of the page "State", Validity: whether a well-formed document is consistent (pure).

The module follows the page rule by rule, and shares nothing with the loader that it judges.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["Contradiction", "contradictions"]


@dataclasses.dataclass(frozen=True)
class Contradiction:
    """A rule that a document breaks."""

    rule: str
    """The rule's id on the page."""

    path: str
    """The field that is most likely wrong, its names separated by ``/``."""

    words: str
    """The contradiction in words."""


def contradictions(document: dict[str, Any]) -> Iterator[Contradiction]:
    """Yield the rules that a well-formed document, read as plain JSON, breaks.

    Example:
        >>> from midepoch_conformance.verdict.format.published import vector
        >>> state = vector("invalid", "samples-too-many").data["state"]
        >>> [(found.rule, found.path) for found in contradictions(state)]
        [('VAL-3', 'position/samples')]
    """
    plan, position = document["plan"], document["position"]
    sampler, lanes = document["sampler"], document["lanes"]
    yield from _plan(plan)
    yield from _parts(plan, position, sampler, lanes)
    ranks = plan["options"].get("ranks")
    if ranks == "dealt":
        yield from _dealt(plan, position, lanes)
    elif ranks == "shared":
        yield from _shared(plan, position, lanes)
    elif plan["length"] is not None:
        yield from _built_in(plan, position)
    else:
        yield from _other(plan, position)
    if sampler is not None:
        yield from _sampler(sampler, position)
    if lanes is not None:
        yield from _lanes(plan, lanes)
        if ranks != "dealt":
            yield from _counts(plan, position, sampler, lanes)
    yield from _ahead(position, lanes)


def _plan(plan: dict[str, Any]) -> Iterator[Contradiction]:
    iterable, sampler = plan["dataset"] == "iterable", plan["sampler"]
    if (sampler == "none") is not iterable:
        yield Contradiction("VAL-1", "plan/sampler", f"{sampler} for the dataset {plan['dataset']}")
    yield from _present(
        "VAL-1", "plan/length", plan["length"], sampler in ("sequential", "shuffle")
    )
    yield from _present("VAL-1", "plan/sampler_name", plan["sampler_name"], sampler == "custom")
    if plan["tail"] != "keep" and plan["batch_size"] is None:
        yield Contradiction("VAL-1", "plan/tail", f"{plan['tail']} without a batch size")
    if plan["tail"] == "rollover" and iterable:
        yield Contradiction("VAL-1", "plan/tail", "rollover for an iterable")


def _parts(
    plan: dict[str, Any], position: dict[str, Any], sampler: Any, lanes: Any
) -> Iterator[Contradiction]:
    custom, carried, share = plan["sampler"] == "custom", position["carried"], position["share"]
    yield from _present("VAL-2", "position/digest", position["digest"], custom)
    yield from _present("VAL-2", "sampler", sampler, custom)
    yield from _present("VAL-2", "position/carried", carried, plan["tail"] == "rollover")
    dealt = plan["options"].get("ranks") == "dealt"
    if share is not None and plan["length"] is not None and not dealt:
        yield Contradiction("VAL-2", "position/share", "a share of a built-in order")
    if share is not None and share["rank"] >= share["world"]:
        yield Contradiction(
            "VAL-2", "position/share", "a rank that is not below the number of ranks"
        )
    if len(carried or ()) >= _size(plan) and plan["options"].get("ranks") != "shared":
        yield Contradiction("VAL-2", "position/carried", "not fewer indices than a batch has")
    if plan["length"] is not None:
        odd = [i for i in carried or () if type(i) is not int or not 0 <= i < plan["length"]]
        if odd:
            yield Contradiction(
                "VAL-2", "position/carried", f"{odd[0]!r} is no index of the dataset"
            )
    if lanes is None and plan["dataset"] == "iterable":
        yield Contradiction("VAL-6", "lanes", "null for an iterable")


def _built_in(plan: dict[str, Any], position: dict[str, Any]) -> Iterator[Contradiction]:
    size, ahead, batches = _size(plan), position["ahead"], position["batches"]
    n = plan["length"] + len(position["carried"] or ())
    most = -(-n // size) if plan["tail"] == "keep" else n // size
    if batches > most:
        yield Contradiction("VAL-3", "position/batches", f"{batches}, and an epoch has {most}")
    if ahead and ahead[-1] >= most:
        yield Contradiction(
            "VAL-3", "position/ahead", f"batch {ahead[-1]}, and an epoch has {most}"
        )
    last = ahead[-1] == most - 1 if ahead else batches == most
    samples = batches * size - (max(0, most * size - n) if last else 0)
    if position["samples"] != samples:
        words = f"{position['samples']}, and {batches} batches have {samples}"
        yield Contradiction("VAL-3", "position/samples", words)


def _shared(plan: dict[str, Any], position: dict[str, Any], lanes: Any) -> Iterator[Contradiction]:
    samples, batches = position["samples"], position["batches"]
    if plan["length"] is None or plan["batch_size"] is None:
        yield Contradiction("VAL-11", "plan/options", "ranks that share no built-in order")
        return
    if lanes is not None:
        yield Contradiction("VAL-11", "lanes", "lanes under ranks that share each batch")
    if position["ahead"]:
        yield Contradiction("VAL-11", "position/ahead", "batches ahead under ranks")
    if samples > plan["length"] + len(position["carried"] or ()):
        yield Contradiction("VAL-11", "position/samples", f"{samples}, and the epoch has fewer")
    if samples < batches or (samples and not batches):
        yield Contradiction("VAL-11", "position/samples", f"{samples} in {batches} batches")


def _dealt(plan: dict[str, Any], position: dict[str, Any], lanes: Any) -> Iterator[Contradiction]:
    if not plan["lanes"] or lanes is None:
        yield Contradiction("VAL-12", "plan/options", "ranks that are dealt no lanes")
        return
    of_order = plan["length"] is not None and plan["batch_size"] is not None
    if plan["dataset"] == "map" and not (of_order and plan["tail"] != "rollover"):
        yield Contradiction("VAL-12", "plan/options", "lanes of no built-in order, or a rollover")
        return
    rank, world = (position["share"] or {"rank": 0, "world": 1}).values()
    if position["share"] is not None and (world < 2 or plan["lanes"] % world):
        yield Contradiction("VAL-12", "position/share", f"{world} ranks of {plan['lanes']} lanes")
        return
    entries, own = lanes["entries"], range(rank, plan["lanes"], world)
    if len(entries) != len(own):
        yield Contradiction("VAL-12", "lanes/entries", f"{len(entries)}, and {len(own)} lanes")
        return
    counts = [max(0, entry["ordinal"]) + entry["replay"] for entry in entries]
    for lane, (entry, count) in enumerate(zip(entries, counts, strict=True)):
        if "samples" not in entry or entry["samples"] > count * _size(plan):
            words = f"{entry.get('samples')} in {count} batches"
            yield Contradiction("VAL-12", f"lanes/entries/{lane}/samples", words)
    if sum(entry.get("samples", 0) for entry in entries) != position["samples"]:
        yield Contradiction("VAL-12", "position/samples", "not those of the entries")
    if not position["batches"] and any(counts):
        yield Contradiction("VAL-12", "lanes/entries", "batches before the first step")
    living = [
        (count, lane)
        for lane, entry, count in zip(own, entries, counts, strict=True)
        if not entry["ended"]
    ]
    following = min(living)[1] if living else own[0]
    if lanes["next"] != following:
        yield Contradiction("VAL-12", "lanes/next", f"{lanes['next']}, and {following} has a turn")
    if plan["dataset"] == "map":
        yield from _dealt_in_turn(plan, entries, counts, own)


def _dealt_in_turn(
    plan: dict[str, Any], entries: list[Any], counts: list[int], own: range
) -> Iterator[Contradiction]:
    """Yield what is wrong with the batches of a map-style dataset's lanes."""
    size, n = plan["batch_size"], plan["length"]
    sizes = [min(size, n - first) for first in range(0, n, size)]
    if plan["tail"] == "drop":
        sizes = sizes[: n // size]
    turns = [len(range(place, sum(counts), len(own))) for place in range(len(own))]
    if counts != turns:
        words = f"{counts} batches of the lanes, and not {turns}"
        yield Contradiction("VAL-12", "lanes/entries", words)
    for place, (lane, entry, count) in enumerate(zip(own, entries, counts, strict=True)):
        mine = sizes[lane :: plan["lanes"]]
        if count > len(mine):
            words = f"{count} batches, and lane {lane} has {len(mine)}"
            yield Contradiction("VAL-12", f"lanes/entries/{place}", words)
        elif entry.get("samples") != sum(mine[:count]):
            words = f"{entry.get('samples')}, and {count} batches have {sum(mine[:count])}"
            yield Contradiction("VAL-12", f"lanes/entries/{place}/samples", words)
        if entry["ended"]:
            words = "an end of a map-style dataset's lane"
            yield Contradiction("VAL-12", f"lanes/entries/{place}/ended", words)


def _other(plan: dict[str, Any], position: dict[str, Any]) -> Iterator[Contradiction]:
    samples, batches = position["samples"], position["batches"]
    bounded = plan["batch_size"] is not None or plan["dataset"] == "iterable"
    if samples > batches * _size(plan) if bounded else samples and not batches:
        yield Contradiction("VAL-4", "position/samples", f"{samples} in {batches} batches")


def _sampler(sampler: dict[str, Any], position: dict[str, Any]) -> Iterator[Contradiction]:
    batches, digest, ahead = sampler["batches"], sampler["digest"], position["ahead"]
    for slot in _unstated(sampler["states"].items(), sampler["stated"]):
        yield Contradiction("VAL-5", f"sampler/states/{slot}", "a state that is not stated")
    if batches > position["batches"] - len(ahead):
        yield Contradiction("VAL-5", "sampler/batches", f"{batches}, beyond the position")
    if batches > 0 and not sampler["stated"]:
        yield Contradiction("VAL-5", "sampler/batches", f"{batches}, and no state is stated")
    yield from _present("VAL-5", "sampler/digest", digest, batches > 0)
    present = batches > 0 and batches == position["batches"] and not ahead
    if present and digest != position["digest"]:
        yield Contradiction(
            "VAL-5", "sampler/digest", "not the position's, though no batch lies between"
        )


def _lanes(plan: dict[str, Any], lanes: dict[str, Any]) -> Iterator[Contradiction]:
    entries, wanted = lanes["entries"], max(1, plan["lanes"])
    dealt = plan["options"].get("ranks") == "dealt"
    lasting = plan["dataset"] == "iterable" and plan["lifetime"] == "run"
    if len(entries) != wanted and not dealt:
        yield Contradiction("VAL-6", "lanes/entries", f"{len(entries)} of them, and {wanted} lanes")
    if lanes["next"] >= len(entries) and not dealt:
        yield Contradiction("VAL-6", "lanes/next", f"{lanes['next']} of {len(entries)} lanes")
    for lane, entry in enumerate(entries):
        path, ordinal, errors = f"lanes/entries/{lane}", entry["ordinal"], entry["errors"]
        if "samples" in entry and not dealt:
            yield Contradiction("VAL-12", f"{path}/samples", "samples, and no lanes are dealt")
        slots = [(slot, entry[slot]) for slot in ("dataset", "iterator")]
        for slot in _unstated(slots, entry["stated"]):
            yield Contradiction("VAL-6", f"{path}/{slot}", "a state that is not stated")
        if ordinal > 0 and not entry["stated"]:
            yield Contradiction("VAL-6", f"{path}/ordinal", f"{ordinal}, and no state is stated")
        if ordinal < 0 and not lasting:
            yield Contradiction(
                "VAL-6", f"{path}/ordinal", f"{ordinal}, a snapshot of a pass before"
            )
        made = max(0, -ordinal) + entry["replay"]
        if not _rises(errors) or (errors and errors[-1] >= made):
            yield Contradiction("VAL-6", f"{path}/errors", f"{errors} of {made} batches")
        if entry["content"] is not None and (plan["dataset"] == "map" or not entry["replay"]):
            yield Contradiction("VAL-6", f"{path}/content", "not null, and nothing is replayed")


def _counts(
    plan: dict[str, Any], position: dict[str, Any], sampler: Any, lanes: dict[str, Any]
) -> Iterator[Contradiction]:
    entries, batches = lanes["entries"], position["batches"]
    counts = [max(0, entry["ordinal"]) + entry["replay"] for entry in entries]
    if sum(counts) != batches:
        yield Contradiction(
            "VAL-7", "lanes/entries", f"{sum(counts)} batches, and {batches} in all"
        )
    if plan["dataset"] != "map":
        return
    dealt = [len(range(lane, batches, len(entries))) for lane in range(len(entries))]
    if counts != dealt:
        yield Contradiction(
            "VAL-7", "lanes/entries", f"{counts} batches of the lanes, and not {dealt}"
        )
    if lanes["next"] != batches % len(entries):
        yield Contradiction("VAL-7", "lanes/next", f"{lanes['next']} after {batches} batches")
    if any(entry["ended"] for entry in entries):
        yield Contradiction("VAL-7", "lanes/entries", "a lane of a map-style dataset has ended")
    for lane, entry in enumerate(entries):
        first = entry["ordinal"] * len(entries) + lane
        if sampler is not None and entry["replay"] and first < sampler["batches"]:
            words = f"batch {first} is replayed, below the sampler's snapshot"
            yield Contradiction("VAL-7", f"lanes/entries/{lane}/replay", words)


def _ahead(position: dict[str, Any], lanes: Any) -> Iterator[Contradiction]:
    ahead, batches = position["ahead"], position["batches"]
    if ahead and lanes is not None:
        yield Contradiction("VAL-8", "position/ahead", "batches ahead, beside lanes")
    if len(ahead) > batches:
        yield Contradiction("VAL-8", "position/ahead", f"{len(ahead)} of {batches} batches")
    if not _rises(ahead):
        yield Contradiction("VAL-8", "position/ahead", "not in increasing order")
    if ahead and ahead[0] <= batches - len(ahead):
        yield Contradiction("VAL-8", "position/ahead", f"batch {ahead[0]} is not ahead")


def _size(plan: dict[str, Any]) -> int:
    return int(plan["batch_size"] or 1)


def _present(rule: str, path: str, value: Any, wanted: bool) -> Iterator[Contradiction]:
    if (value is not None) is not wanted:
        yield Contradiction(rule, path, "null" if wanted else "not null")


def _unstated(slots: Iterable[tuple[str, Any]], stated: list[str]) -> list[str]:
    return [name for name, value in slots if value is not None and name not in stated]


def _rises(numbers: list[int]) -> bool:
    return all(one < other for one, other in itertools.pairwise(numbers))
