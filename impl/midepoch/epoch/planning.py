"""The plan that a loader's arguments make, its comparison with a state's, and an epoch's order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch.utils.data import DataLoader, IterableDataset

from midepoch.arguments import Options, is_data_id
from midepoch.epoch.execution import lifetime_of
from midepoch.epoch.ranks import Place
from midepoch.errors import ArgumentError, PlanMismatchError, StateFormatError
from midepoch.format.dealing import batches_of
from midepoch.format.plan import DEALT, SHARED, Difference, Plan, SamplerKind, Tail, compare
from midepoch.format.seeds import derive
from midepoch.format.state import COUNT_MAX, Document, Share
from midepoch.sampling.batches import BuiltInOrder, DealtOrder, Order, SharedOrder
from midepoch.sampling.chain import SamplerChain
from midepoch.sampling.custom import CustomOrder
from midepoch.stateful import is_stateful

__all__ = [
    "batches_left",
    "check_loadable",
    "check_plan",
    "countable",
    "draw_seed",
    "length_under_rollover",
    "make_order",
    "make_plan",
    "under",
]


RECUT = (
    "the ranks together had a batch size of that many samples: keep it (global_batch_size=), or go "
    'on with the same sequence of samples in other steps (on_world_change="recut")'
)
"""What to do about another number of ranks."""

DIVIDED = (
    "ranks of a process group may each have a part of an iterable dataset; the parts of another "
    "number of ranks would repeat and drop samples: load the state on as many ranks, once their "
    "process group is there. With ranks= a state resumes on other numbers. If the data do not "
    'depend on the ranks, set state["position"]["share"] to {share} first'
)
"""What to do about another number of ranks between which the user divided a stream."""


def draw_seed(generator: torch.Generator | None) -> int:
    """Draw a root seed from ``generator``, else from torch's global one, as torch's loader does."""
    return int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())


def make_plan(
    loader: DataLoader[Any],
    options: Options,
    chain: SamplerChain | None,
    *,
    shuffle: bool,
    custom_batches: bool,
) -> Plan:
    """Return the plan of a loader whose arguments torch has checked (DOC-3).

    ``custom_batches``: the user gave a ``batch_sampler``.

    Raises:
        ArgumentError: rollover, but the loader does not batch a map-style dataset itself; or a
            ``replay_check`` of a map-style dataset.
    """
    iterable = isinstance(loader.dataset, IterableDataset)
    if options.replay_check is not None and not iterable:
        raise ArgumentError(
            "replay_check knows the samples of an IterableDataset again; those of a map-style "
            "dataset are known by their indices: leave it out, or give a data_id"
        )
    name = None if chain is None else chain.name(given_batch_sampler=custom_batches)
    return Plan(
        dataset="iterable" if iterable else "map",
        length=None,
        sampler=_sampler_kind(chain, iterable=iterable, shuffle=shuffle),
        sampler_name=name,
        seed=draw_seed(loader.generator) if options.seed is None else int(options.seed),
        batch_size=loader.batch_size and countable(loader.batch_size, "samples in a batch"),
        tail=_tail(loader, options, iterable=iterable),
        lanes=loader.num_workers if options.lanes is None else int(options.lanes),
        lifetime=lifetime_of(loader, given=options.lifetime),
        data=fingerprint_of(loader.dataset) if options.data_id is None else options.data_id,
        options={} if options.ranks is None else _shares_of(loader.dataset),
    )


def _shares_of(dataset: Any) -> dict[str, str]:
    """Return the option of a plan whose batches, or lanes, ranks share.

    A dataset with a state has lanes, whose states do not depend on the number of ranks.
    """
    return DEALT if isinstance(dataset, IterableDataset) or is_stateful(dataset) else SHARED


def _sampler_kind(chain: SamplerChain | None, *, iterable: bool, shuffle: bool) -> SamplerKind:
    if iterable:
        return "none"
    if chain is not None:
        return "custom"
    return "shuffle" if shuffle else "sequential"


def _tail(loader: DataLoader[Any], options: Options, *, iterable: bool) -> Tail:
    if options.last_batch != "rollover":
        return "drop" if loader.drop_last else "keep"
    if iterable or loader.batch_size is None:
        got = "an iterable-style dataset" if iterable else "batch_size=None or a batch_sampler"
        raise ArgumentError(
            'last_batch="rollover" carries the indices left over by one epoch into the next, which '
            "needs a map-style dataset and batches that the loader makes itself (a batch_size and "
            f"no batch_sampler); got {got}"
        )
    return "rollover"


def countable(number: int, what: str) -> int:
    """Return ``number``.

    Raises:
        ArgumentError: a state cannot hold a number so large.
    """
    if number > COUNT_MAX:
        raise ArgumentError(f"at most {COUNT_MAX} {what} can be counted in a state, got {number}")
    return number


def fingerprint_of(dataset: Any) -> str | None:
    """Return what a dataset says that identifies its data, if it says so.

    That is the result of a method ``fingerprint``, or Hugging Face's attribute ``_fingerprint``.
    """
    found = getattr(dataset, "fingerprint", None)
    found = found() if callable(found) else getattr(dataset, "_fingerprint", None)
    return found if is_data_id(found) else None


def under(document: Document, plan: Plan, share: Share | None) -> Document:
    """Return the document of an epoch's beginning under the present plan and this rank's share.

    A dataset may have grown or shrunk between two epochs. Carried indices that it no longer has
    are left out.

    >>> from midepoch.format.state import Position
    >>> plan = Plan("map", 9, "sequential", None, 7, 4, "rollover", 0, "epoch")
    >>> document = Document(plan, Position(1, 0, 0, carried=(8,)), None, None)
    >>> under(document, replace(plan, length=8), None).position.carried
    ()
    """
    position, length = replace(document.position, share=share), plan.length
    if position.carried and length is not None:
        kept = tuple(index for index in position.carried if index < length)
        position = replace(position, carried=kept)
    return replace(document, plan=plan, position=position)


def length_under_rollover(document: Document, samples: int) -> int:
    """Return the batches of the epoch of ``document``, whose order gives ``samples`` indices."""
    sampler, carried = document.sampler, document.position.carried or ()
    if sampler is not None and sampler.batches < 0:
        carried = ()  # they belong to the pass before, which was left early
    return (samples + len(carried)) // (document.plan.batch_size or 1)


def batches_left(document: Document) -> int | None:
    """Return the batches that are left of a built-in order's epoch; ``None`` for other orders.

    >>> from midepoch.format.state import Position
    >>> plan = Plan("map", 10, "sequential", None, 7, 4, "keep", 0, "epoch")
    >>> batches_left(Document(plan, Position(1, 2, 8), None, None))
    1
    """
    plan, position = document.plan, document.position
    if plan.length is None:
        return None
    whole, size = plan.length + len(position.carried or ()), plan.batch_size or 1
    if plan.dealt:
        return max(0, batches_of(plan, position.share) - document.delivered)
    samples = position.samples if plan.shared else position.batches * size
    left = max(0, whole - samples)
    return -(-left // size) if plan.tail == "keep" else left // size


def make_order(
    document: Document,
    chain: SamplerChain | None,
    *,
    interval: int,
    continuing: bool,
    place: Place | None = None,
) -> Order:
    """Return the batches of the epoch of ``document``, from its position on.

    ``interval``: batches between two snapshots of a sampler. ``continuing``: the samplers are
    where the epoch before left them. ``place``: the rank whose share, or lanes, it is.
    """
    plan, position = document.plan, document.position
    start = position.low
    if document.lanes is not None and plan.dataset == "map":
        start = document.lanes.cut  # lanes replay from there
    if chain is not None and document.sampler is not None:
        return CustomOrder(
            chain,
            plan.seed,
            position.epoch,
            document.sampler,
            interval=interval,
            start=start,
            batches=position.reach,
            digest=position.digest,
            continuing=continuing,
            carried=position.carried,
        )
    shuffled = plan.sampler == "shuffle"
    make: Callable[..., Order] = BuiltInOrder
    if place is not None:
        divided = DealtOrder if plan.dealt else SharedOrder
        make = partial(divided, rank=place.rank, world=place.world)
    return make(
        plan.length or 0,
        derive(plan.seed, "order", position.epoch) if shuffled else None,
        batch_size=plan.batch_size,
        tail=plan.tail,
        start=start,
        place=position.samples if plan.shared else None,
        carried=position.carried,
    )


def check_plan(
    document: Document,
    here: Plan,
    share: Share | None,
    *,
    adopted: Collection[str],
    recut: bool = False,
) -> None:
    """Compare the plans, apart from the fields in ``adopted``, which the state decides (DOC-12).

    ``share``: this rank's share of the order. ``recut``: the ranks may go on in steps of another
    size.

    Raises:
        PlanMismatchError: other fields differ; each is named.
    """
    saved, position, ignored = document.plan, document.position, set(adopted)
    if saved.data is None or here.data is None:
        ignored.add("data")  # nothing is known of one of the two
    if not position.batches and None not in (saved.length, here.length):
        ignored.add("length")  # a dataset may have grown between two epochs
    if recut and saved.shared and here.shared:
        ignored.add("batch_size")
    differences = [_spelled(pair) for pair in compare(saved, here, ignore=ignored)]
    # Between two epochs no rank has consumed anything of its share: any rank can continue.
    if position.batches and position.share != share:
        differences.append(Difference("share", _words(position.share), _words(share)))
    if differences:
        fields = {pair.field for pair in differences}
        advice = RECUT if fields == {"batch_size"} and here.shared else ""
        if fields == {"share"} and here.dataset == "iterable":
            advice = DIVIDED.format(share=None if share is None else share._asdict())
        raise PlanMismatchError(differences, advice)


def _spelled(pair: Difference) -> Difference:
    """Return a difference with its options in words."""
    if pair.field != "options":
        return pair
    saved, here = (
        ", ".join(f"{name}={value}" for name, value in sorted(options.items())) or None
        for options in (pair.saved, pair.here)
        if isinstance(options, Mapping)
    )
    return Difference(pair.field, saved, here)


def _words(share: Share | None) -> str | None:
    return None if share is None else f"rank {share.rank} of {share.world}"


def check_loadable(document: Document, chain: SamplerChain | None, *, stateful: bool) -> None:
    """Refuse saved states of users' objects that no object in this loader can load.

    ``stateful``: the dataset here has a state.

    Raises:
        StateFormatError: a part is of an object that is missing here, or that cannot load it.
    """
    if chain is not None and document.sampler is not None:
        chain.check_generators(document.sampler.generators)
        chain.check_slots(document.sampler)
    lanes = document.lanes
    if lanes is None:
        if stateful and document.position.batches:
            raise StateFormatError(
                "the dataset here has a state, but the state holds none", "$.lanes"
            )
        return
    if document.plan.dataset == "map":
        for i, entry in enumerate(lanes.entries):
            if "iterator" in entry.stated:
                path = f"$.lanes.entries[{i}].iterator"
                raise StateFormatError("a map-style dataset has no iterator to load it", path)
    if stateful:
        return
    missing = "the dataset here has no state_dict and load_state_dict"
    if document.plan.dataset == "map":
        raise StateFormatError(f"holds lanes, but {missing}", "$.lanes")
    for i, entry in enumerate(lanes.entries):
        if "dataset" in entry.stated:
            raise StateFormatError(f"holds a state, but {missing}", f"$.lanes.entries[{i}].dataset")
