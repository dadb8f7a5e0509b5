"""The sampler's position in a torchdata state: sequential, shuffled, or the user's own."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from midepoch.encoding.canonical import DIGEST_START, chain_digest
from midepoch.errors import ForeignStateError, PlanMismatchError, StateFormatError
from midepoch.format import checks
from midepoch.format.consistency import COUNT_MAX
from midepoch.format.plan import Plan
from midepoch.format.state import SAMPLER_SLOTS, SamplerState
from midepoch.interop.torchdata_layout import Saved
from midepoch.interop.torchdata_order import (
    Layout,
    advance_past,
    after_left_epoch,
    before_first_order,
    between_epochs,
    order_chain,
    order_name,
    read_generator,
    single_start,
)
from midepoch.lane import streams
from midepoch.sampling.chain import SamplerChain
from midepoch.stateful import is_stateful

__all__ = ["Drawn", "custom", "sequential", "shuffled"]

_DEFAULT_SEED = 1
"""The seed of the sampler's generator before version 0.11, if the user gave no generator."""


@dataclass(frozen=True)
class Drawn:
    """The position of a sampler, and the start of the next epoch."""

    name: str | None
    """The order's name, if the order is torchdata's own."""
    batches: int
    samples: int
    here: SamplerState | None = None
    digest: str | None = None
    skip: int = 0
    """Batches delivered since then; the loader has to deliver them again to know them."""
    finish: bool = False
    """The end was seen; the loader has to reach it again to know the state there."""
    next: SamplerState | None = None
    """The start of the next epoch, if the end was seen and the state tells it."""

    @property
    def next_digest(self) -> str | None:
        """The digest at the next epoch's beginning."""
        return None if self.next is None else DIGEST_START


@dataclass(frozen=True)
class _Batching:
    """The state of torchdata's own batch sampler."""

    layout: Layout
    samples: int
    states: dict[str, Any]
    """The states of the sampler within it, by slot."""
    path: str


_ITERATOR = checks.record({"yielded": checks.integer(0, COUNT_MAX), "generator": checks.anything})


def sequential(saved: Saved, plan: Plan) -> Drawn:
    """Return the position in the dataset's own order.

    Raises:
        PlanMismatchError: the state is of another sampler, batch size or length (REFUSE-3).
        StateFormatError: the sampler's part is malformed (DOC-1).
    """
    batching = _batching(saved, plan)
    states = _bare_states(saved) if batching is None else batching.states
    if states:
        found = "shuffle" if "sampler_iter" in states else "custom"
        raise PlanMismatchError([("sampler", found, plan.sampler)])
    batches, samples = _built_in_position(saved, plan, batching)
    return Drawn(None, batches, samples)


def shuffled(
    saved: Saved, plan: Plan, source: Sized, *, drop_last: bool, given: bool, persistent: bool
) -> Drawn:
    """Return the position in the order that torchdata's ``RandomSampler`` draws.

    Raises:
        ForeignStateError: the state does not say which draw its order is (REFUSE-1).
        PlanMismatchError, StateFormatError: as ``sequential``.
    """
    batching = _batching(saved, plan)
    states = _bare_states(saved) if batching is None else batching.states
    if set(states) != {"sampler_iter"}:
        found = "custom" if states else "sequential"
        raise PlanMismatchError([("sampler", found, plan.sampler)])
    path = f"{saved.path}._sampler_iter_state" if batching is None else batching.path
    fields = _ITERATOR(states["sampler_iter"], path)
    generator = read_generator(fields["generator"], f"{path}.generator")
    length = len(source)
    drawn = saved.drawn if batching is None else batching.samples
    if fields["yielded"] != drawn:
        raise StateFormatError(f"expected {drawn}, got {fields['yielded']}", f"{path}.yielded")
    layout = (
        batching.layout
        if batching is not None
        else _bare_layout(saved, given=given, persistent=persistent, seed=generator.initial_seed())
    )
    batches, samples = _built_in_position(saved, plan, batching)
    between = between_epochs(layout, workers=saved.workers, given=given, persistent=persistent)
    # Nothing was drawn of this epoch: the old sampler is where the epoch before left it.
    stale = layout == "old" and batching is not None and not saved.drawn and drawn > 0
    seeds = layout == "old" and given
    if seeds and stale and saved.base_seed is not None and not persistent:
        after_left_epoch(generator, length, saved.base_seed)
    else:
        if seeds and saved.base_seed is not None:
            before_first_order(generator, saved.base_seed)
        elif seeds:
            single_start(generator, length, between)
        if stale:
            ended = drawn == length
            advance_past(
                generator, length, [word for word in between if ended or word != "permutation"]
            )
    name = order_name(between)
    chain = order_chain(name, source, batch_size=plan.batch_size, drop_last=drop_last)
    if chain is None:
        raise RuntimeError(f"no order is named {name!r}")  # not reached: order_name() made it
    own = chain.driver.generator
    own.set_state(generator.get_state())
    here, digest = _nothing_stated(chain), _replay(chain, batches).digest
    advance_past(own, length, between)
    following = _nothing_stated(chain) if saved.finished else None
    return Drawn(name, batches, samples, here=here, digest=digest, next=following)


def _bare_layout(saved: Saved, *, given: bool, persistent: bool, seed: int) -> Layout:
    """Return the version whose draws an order without batches follows."""
    if not given:
        return "old" if seed == _DEFAULT_SEED else "new"
    if saved.workers and not persistent:
        return "new"  # all versions draw the same
    raise ForeignStateError(
        "without automatic batching and with a generator, versions before 0.11 draw another "
        "order than 0.11, and nothing in the state says which of them saved it; finish the epoch "
        "under torchdata, and begin the next one here without the state",
        f"{saved.path}._sampler_iter_state",
    )


def custom(saved: Saved, plan: Plan, chain: SamplerChain, *, skips: bool) -> Drawn:
    """Return the position in the order of the user's own sampler.

    ``skips``: an empty rest of an epoch may be skipped.

    Raises:
        ForeignStateError: the sampler draws random numbers and has no state (REFUSE-1).
        PlanMismatchError, StateFormatError: as ``sequential``.
    """
    batching = _batching(saved, plan, own_batches=chain.driver_slot == "batch_sampler")
    if batching is not None:
        states = batching.states
        samples = batching.samples
        if saved.drawn:
            _check_samples(saved, plan, samples)
    else:
        states = _bare_states(saved, chain.driver_slot)
        samples = saved.drawn
    if not states:
        return _plain(saved, chain)
    slot = chain.driver_slot
    owned = {slot: states[slot]} if slot in states else {}
    stale = batching is not None and batching.layout == "old" and not saved.drawn and samples > 0
    if owned and saved.drawn and samples < saved.drawn * (plan.batch_size or 1):
        # The sampler was asked beyond its end to find that its last batch is short.
        if not saved.finished and not skips:
            raise ForeignStateError(
                "it was saved after the last, short batch of an epoch, and the sampler's part is "
                'already that of the next epoch; give empty_rest="skip" to continue there',
                batching.path if batching is not None else saved.path,
            )
        return Drawn(None, 0, 0, next=_stated(chain, owned, 0))
    if stale or (saved.finished and not saved.workers and owned):
        # Between two epochs: the iterator is the one that ended.
        if not owned and chain.has_generators():
            raise ForeignStateError(
                "the sampler's generators are not in the state, and it was saved between two "
                "epochs",
                batching.path if batching is not None else saved.path,
            )
        start = _stated(chain, owned, 0)
        if not stale:
            return Drawn(None, 0, 0, next=start)
        return Drawn(
            None,
            0,
            0,
            here=start,
            digest=DIGEST_START,
            skip=saved.since,
            finish=saved.finished,
        )
    here = _stated(chain, states, saved.drawn)
    return Drawn(
        None,
        saved.drawn,
        samples,
        here=here,
        digest=DIGEST_START,
        skip=saved.since,
        finish=saved.finished,
    )


def _plain(saved: Saved, chain: SamplerChain) -> Drawn:
    if is_stateful(chain.driver):
        raise ForeignStateError(
            "the sampler here has a state, but the state holds none", saved.path
        )
    batches = saved.drawn + saved.since
    start = _nothing_stated(chain)
    replay = _replay(chain, max(1, batches))
    if replay.random:
        raise ForeignStateError(
            f"{type(chain.driver).__qualname__} draws random numbers and has no state of its "
            "own, so that torchdata saved only how many of its indices were used, not which; "
            "finish the epoch under torchdata, and begin the next one here without the state",
            saved.path,
        )
    return Drawn(
        None,
        batches,
        replay.samples if batches else 0,
        here=start,
        digest=replay.digest if batches else DIGEST_START,
        next=start if saved.finished else None,
    )


# The parts


def _batching(saved: Saved, plan: Plan, *, own_batches: bool = False) -> _Batching | None:
    """Read the state of torchdata's batch sampler; ``None`` if it makes no batches.

    ``own_batches``: a batch sampler of the user's makes them.
    """
    if own_batches:
        return None
    old = saved.inner is None
    value = saved.outer if old else saved.inner
    taken = type(value) is dict and any(
        type(key) is str and key == "samples_yielded" for key in value
    )
    if taken != (plan.batch_size is not None):
        raise PlanMismatchError([("batch_size", "some" if taken else None, plan.batch_size)])
    if not taken:
        return None
    path = f"{saved.path}.{'_index_sampler_state' if old else '_sampler_iter_state'}"
    known = {"samples_yielded": checks.integer(0, COUNT_MAX)}
    for key in ("sampler_state", "sampler_iter_state"):
        if key in value:
            known[key] = checks.anything
    fields = checks.record(known)(value, path)
    slots = {"sampler_state": "sampler", "sampler_iter_state": "sampler_iter"}
    states = {slots[key]: fields[key] for key in known if key in slots}
    where = f"{path}.sampler_iter_state"
    return _Batching("old" if old else "new", fields["samples_yielded"], states, where)


def _bare_states(saved: Saved, slot: str = "sampler") -> dict[str, Any]:
    found = {slot: saved.outer, f"{slot}_iter": saved.inner}
    return {name: value for name, value in found.items() if value is not None}


def _built_in_position(saved: Saved, plan: Plan, batching: _Batching | None) -> tuple[int, int]:
    """Return the batches and samples delivered, checked against the dataset's length."""
    length, size = plan.length or 0, plan.batch_size or 1
    most = length // size if plan.tail == "drop" else -(-length // size)
    batches = saved.drawn + saved.since
    if batching is not None and saved.drawn:
        _check_samples(saved, plan, batching.samples)
        if batching.samples not in (saved.drawn * size, length):
            raise PlanMismatchError([("length", batching.samples, length)])
    if batches > most:
        raise ForeignStateError(
            f"{batches} batches were delivered, but an epoch has {most} of {size} samples here: "
            f"the dataset (of length {length} here) or drop_last is not as it was",
            saved.path,
        )
    if saved.finished and batches != most:
        raise ForeignStateError(
            f"the epoch ended after {batches} batches, but it has {most} of {size} samples here: "
            f"the dataset (of length {length} here) or drop_last is not as it was",
            saved.path,
        )
    return batches, min(batches * size, length)


def _check_samples(saved: Saved, plan: Plan, samples: int) -> None:
    size = plan.batch_size or 1
    dropped = size - 1 if saved.finished and plan.tail == "drop" else 0
    if not (saved.drawn - 1) * size < samples <= saved.drawn * size + dropped:
        raise PlanMismatchError([("batch_size", -(-samples // saved.drawn), size)])


def _nothing_stated(chain: SamplerChain) -> SamplerState:
    return SamplerState(chain.epoch(), chain.generators(), dict.fromkeys(SAMPLER_SLOTS), (), 0)


def _stated(chain: SamplerChain, states: dict[str, Any], batches: int) -> SamplerState:
    # The samplers restore their generators in load_state_dict.
    slots = {slot: states.get(slot) for slot in SAMPLER_SLOTS}
    batches = batches if states else 0
    # The state does not hold the batches before the snapshot: their digest begins there.
    digest = DIGEST_START if batches else None
    return SamplerState(chain.epoch(), (), slots, tuple(states), batches, digest)


@dataclass(frozen=True)
class _Replay:
    digest: str
    samples: int
    random: bool


def _replay(chain: SamplerChain, batches: int) -> _Replay:
    """Draw the first ``batches`` batches of a pass, and leave everything as it was.

    Raises:
        ForeignStateError: the sampler gives fewer, or cannot be iterated twice.
    """
    generators = chain.generators()
    digest, samples = DIGEST_START, 0
    try:
        with streams.isolated():
            before = _global_streams()
            iterator = iter(copy.copy(chain.driver))
            for _ in range(batches):
                keys = _pull(iterator, chain)
                digest = chain_digest(digest, keys)
                samples += len(keys) if chain.automatic else 1
            drew = _global_streams() != before
        drew = drew or pickle.dumps(chain.generators()) != pickle.dumps(generators)
    except StopIteration:
        raise ForeignStateError(
            f"{batches} batches were delivered, but the sampler here gives fewer", "$"
        ) from None
    except TypeError as error:
        raise ForeignStateError(f"the sampler cannot be iterated twice: {error}", "$") from error
    finally:
        chain.put_generators(generators)
    return _Replay(digest, samples, drew)


def _global_streams() -> bytes:
    numpy = np.random.get_state(legacy=False)
    state = torch.default_generator.get_state().numpy().tobytes()
    return pickle.dumps((state, random.getstate(), numpy))


def _pull(iterator: Any, chain: SamplerChain) -> Any:
    if chain.batch_size is None:
        return next(iterator)
    batch = []
    for _ in range(chain.batch_size):
        try:
            batch.append(next(iterator))
        except StopIteration:
            if not batch or chain.drop:
                raise
            break
    return batch
