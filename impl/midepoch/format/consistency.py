"""The rules across the fields of a state (DOC-1).

Each rule raises at the field that is most likely at fault.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from midepoch.errors import StateFormatError, show
from midepoch.format.checks import at
from midepoch.format.dealing import check_dealt
from midepoch.format.parts import LaneEntry, LanesState, Position, SamplerState
from midepoch.format.plan import Plan

__all__ = ["COUNT_MAX", "EPOCH_MAX", "LANES_MAX", "check_consistency"]

COUNT_MAX = 2**53 - 1
"""The largest count in a document (batches, samples, lengths): all JSON libraries keep it."""

EPOCH_MAX = COUNT_MAX - 1
"""The last epoch that a position can be in: the number of the next one is a count too."""

LANES_MAX = 65535
"""The largest number of lanes: a loader makes as many as a loaded state says."""


def check_consistency(
    plan: Plan, position: Position, sampler: SamplerState | None, lanes: LanesState | None
) -> None:
    """Refuse a document whose well-formed parts contradict each other.

    Raises:
        StateFormatError: the first fault found (DOC-1).
    """
    custom = plan.sampler == "custom"
    _check_plan(plan)
    _present(position.digest, custom, "$.position.digest", "a custom sampler")
    _check_carried(plan, position)
    _check_ahead(plan, position, lanes)
    _check_share(plan, position)
    _check_position(plan, position)
    _present(sampler, custom, "$.sampler", "a custom sampler")
    if sampler is not None:
        _check_sampler(sampler, position)
    _present(lanes, lanes is not None and not plan.shared, "$.lanes", "a plan without ranks")
    if lanes is not None:
        _check_lanes(lanes, plan, position, sampler)
    elif plan.dataset == "iterable" or plan.dealt:
        owner = "an iterable dataset" if plan.dataset == "iterable" else "a plan that deals lanes"
        raise StateFormatError(f"{owner} needs its lanes, got null", "$.lanes")


def _check_plan(plan: Plan) -> None:
    if (plan.dataset == "iterable") != (plan.sampler == "none"):
        raise StateFormatError(
            f'a plan of dataset "{plan.dataset}" cannot have sampler "{plan.sampler}"',
            "$.plan.sampler",
        )
    built_in = plan.sampler in ("sequential", "shuffle")
    _present(plan.length, built_in, "$.plan.length", "a built-in sampler")
    custom = plan.sampler == "custom"
    _present(plan.sampler_name, custom, "$.plan.sampler_name", "a custom sampler")
    if plan.batch_size is None and plan.tail != "keep":
        raise StateFormatError(
            f'expected "keep" where batch_size is null, got "{plan.tail}"', "$.plan.tail"
        )
    if plan.dataset == "iterable" and plan.tail == "rollover":
        raise StateFormatError('"rollover" is for map-style datasets', "$.plan.tail")
    if plan.dealt and plan.lanes < 1:
        raise StateFormatError("ranks are dealt lanes, and the plan has none", "$.plan.options")
    whole = plan.length is not None and plan.batch_size is not None and plan.tail != "rollover"
    if plan.dealt and plan.dataset == "map" and not whole:
        raise StateFormatError(
            "the lanes that ranks are dealt make batches of a built-in order, without rollover, "
            "and the plan has other ones",
            "$.plan.options",
        )
    if plan.shared and (plan.length is None or plan.batch_size is None):
        raise StateFormatError(
            "ranks share batches of a built-in order, and the plan has none", "$.plan.options"
        )


def _check_carried(plan: Plan, position: Position) -> None:
    path = "$.position.carried"
    _present(position.carried, plan.tail == "rollover", path, 'tail "rollover"')
    carried, size = position.carried or (), plan.batch_size or 1
    # Under ranks an epoch may have begun with larger steps than those of the plan.
    if len(carried) >= size and not plan.shared:
        raise StateFormatError(
            f"expected fewer than {size} (fewer than a batch), got {len(carried)}", path
        )
    for i, index in enumerate(carried if plan.length is not None else ()):
        if type(index) is not int or not 0 <= index < (plan.length or 0):
            raise StateFormatError(
                f"expected an index below {plan.length}, got {show(index)}", f"{path}[{i}]"
            )


def _check_share(plan: Plan, position: Position) -> None:
    share = position.share
    if share is None:
        return
    if plan.length is not None and not plan.dealt:
        raise StateFormatError("a built-in order has no shares, expected null", "$.position.share")
    _at_most(share.rank, share.world - 1, "$.position.share.rank", "the last rank")


def _check_ahead(plan: Plan, position: Position, lanes: LanesState | None) -> None:
    path = "$.position.ahead"
    if position.ahead and (lanes is not None or plan.shared):
        owner = "there are lanes" if lanes is not None else "ranks share the steps"
        raise StateFormatError(f"expected an empty list where {owner}", path)
    last = position.low
    if last < 0:
        raise StateFormatError(
            f"expected at most {position.batches} (batches delivered), got {len(position.ahead)} "
            "batches",
            path,
        )
    for i, index in enumerate(position.ahead):
        if index <= last:
            raise StateFormatError(
                f"expected more than {last} (in increasing order, and above the first batch that "
                f"was not delivered), got {index}",
                f"{path}[{i}]",
            )
        last = index


def _check_position(plan: Plan, position: Position) -> None:
    size = plan.batch_size or 1
    held = position.batches * size
    if plan.shared:
        _check_shared(plan, position)
    if plan.shared or plan.dealt:
        return
    if plan.length is not None:
        whole = plan.length + len(position.carried or ())
        most = -(-whole // size) if plan.tail == "keep" else whole // size
        _at_most(position.batches, most, "$.position.batches", "batches of the plan's epoch")
        _at_most(position.reach, most, "$.position.ahead", "batches of the plan's epoch")
        if position.reach == most:  # with the last batch, which may be short
            held = min(held, whole - (most - position.batches) * size)
        if position.samples < held:
            raise StateFormatError(
                f"expected {held} (the samples in these batches), got {position.samples}",
                "$.position.samples",
            )
    elif plan.batch_size is None and plan.dataset == "map" and position.batches:
        held = COUNT_MAX  # a custom batch sampler's batches are of any size
    _at_most(position.samples, held, "$.position.samples", "the most samples in these batches")


def _check_shared(plan: Plan, position: Position) -> None:
    # The steps before a new cut had another size, so the samples need not be a multiple of it.
    path, whole = "$.position.samples", (plan.length or 0) + len(position.carried or ())
    _at_most(position.samples, whole, path, "samples of the plan's epoch")
    if position.samples < position.batches:
        raise StateFormatError(
            f"expected at least {position.batches} (one in each step), got {position.samples}", path
        )
    if position.samples and not position.batches:
        raise StateFormatError(f"expected 0 before the first step, got {position.samples}", path)


def _check_sampler(sampler: SamplerState, position: Position) -> None:
    paths = [generator.path for generator in sampler.generators]
    if len(set(paths)) != len(paths):
        raise StateFormatError("two generators have the same path", "$.sampler.generators")
    _check_slots(sampler.states, sampler.stated, "$.sampler.states")
    _check_snapshot(sampler.batches, sampler.stated, "$.sampler.batches")
    _present(sampler.digest, sampler.batches > 0, "$.sampler.digest", "a snapshot within the epoch")
    if sampler.batches == position.reach > 0 and sampler.digest != position.digest:
        raise StateFormatError(
            "expected the position's digest, as the snapshot is of that batch",
            "$.sampler.digest",
        )
    _at_most(
        sampler.batches,
        position.low,
        "$.sampler.batches",
        "batches delivered before the first that was not",
    )


def _check_lanes(
    lanes: LanesState, plan: Plan, position: Position, sampler: SamplerState | None
) -> None:
    if plan.dealt:
        check_dealt(plan, position, lanes)
    else:
        _check_count(lanes, max(1, plan.lanes))
    for i, entry in enumerate(lanes.entries):
        _check_entry(entry, plan, f"$.lanes.entries[{i}]")
    if plan.dataset == "map":
        _check_map_lanes(lanes, plan, position)
    if plan.dataset == "map" and sampler is not None:
        _check_replays(lanes, sampler)
    delivered = sum(entry.delivered for entry in lanes.entries)
    if delivered != position.batches and not plan.dealt:
        raise StateFormatError(
            f"the entries' batches add up to {delivered}, not to {position.batches} as "
            "$.position.batches says",
            "$.lanes.entries",
        )


def _check_count(lanes: LanesState, count: int) -> None:
    if len(lanes.entries) != count:
        raise StateFormatError(
            f"expected {count} (the plan's lanes), got {len(lanes.entries)}", "$.lanes.entries"
        )
    _at_most(lanes.next, count - 1, "$.lanes.next", "the last lane's number")


def _check_entry(entry: LaneEntry, plan: Plan, path: str) -> None:
    if entry.samples is not None and not plan.dealt:
        raise StateFormatError("the format knows no such key", f"{path}.samples", "DOC-7")
    slots = {"dataset": entry.dataset, "iterator": entry.iterator}
    _check_slots(slots, entry.stated, path)
    _check_snapshot(entry.ordinal, entry.stated, f"{path}.ordinal")
    _check_errors(entry, f"{path}.errors")
    if entry.content is not None and (plan.dataset == "map" or entry.replay == 0):
        raise StateFormatError(
            "expected null: only the batches that an iterable's resume replays have a content",
            f"{path}.content",
        )
    if entry.ordinal < 0 and (plan.dataset, plan.lifetime) != ("iterable", "run"):
        raise StateFormatError(
            'only an iterable dataset of lifetime "run" has a snapshot of the pass before, '
            f"got {entry.ordinal}",
            f"{path}.ordinal",
        )


def _check_errors(entry: LaneEntry, path: str) -> None:
    made, last = entry.left + entry.replay, -1
    for i, number in enumerate(entry.errors):
        if not last < number < made:
            raise StateFormatError(
                f"expected numbers in increasing order, each below {made} (the batches since the "
                f"snapshot), got {number}",
                f"{path}[{i}]",
            )
        last = number


def _check_map_lanes(lanes: LanesState, plan: Plan, position: Position) -> None:
    count = len(lanes.entries)
    batches = lanes.delivered if plan.dealt else position.batches
    turns, turn = divmod(batches, count)
    if lanes.next != turn and not plan.dealt:
        raise StateFormatError(
            f"expected {turn} (after {batches} batches), got {lanes.next}", "$.lanes.next"
        )
    for i, entry in enumerate(lanes.entries):
        path = f"$.lanes.entries[{i}]"
        if entry.ended:
            raise StateFormatError("a lane of a map-style dataset never ends", f"{path}.ended")
        expected = turns + (i < turn)
        if entry.delivered != expected:
            raise StateFormatError(
                f"expected {expected} batches of this lane, got {entry.delivered}", path
            )


def _check_replays(lanes: LanesState, sampler: SamplerState) -> None:
    count = len(lanes.entries)
    for i, entry in enumerate(lanes.entries):
        first = entry.cut * count + i
        if entry.replay and first < sampler.batches:
            raise StateFormatError(
                f"this lane replays batch {first}, but the sampler's snapshot is of batch "
                f"{sampler.batches}",
                f"$.lanes.entries[{i}]",
            )


def _check_slots(slots: Mapping[str, object], stated: Sequence[str], path: str) -> None:
    for name, value in slots.items():
        if value is not None and name not in stated:
            raise StateFormatError("holds a value but is not listed as stated", at(path, name))


def _check_snapshot(number: int, stated: Sequence[str], path: str) -> None:
    # A negative number is legal: the pass before was the first, and was left early.
    if number > 0 and not stated:
        raise StateFormatError(f"expected 0 or less where nothing is stated, got {number}", path)


def _present(value: object, wanted: bool, path: str, owner: str) -> None:
    if (value is not None) != wanted:
        reason = f"{owner} needs it, got null" if wanted else f"only {owner} has it, expected null"
        raise StateFormatError(reason, path)


def _at_most(value: int, most: int, path: str, what: str) -> None:
    if value > most:
        raise StateFormatError(f"expected at most {most} ({what}), got {value}", path)
