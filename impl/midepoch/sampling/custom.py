"""The order of an epoch under a user's sampler, batch by batch.

A sampler with a state is resumed by that state. Another one is replayed from the epoch's start,
under the same private random streams; the digest of the indices shows whether a replay gives the
same batches as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any

from numpy import ndarray
from torch import Tensor

from midepoch.encoding.canonical import DIGEST_START, chain_digest
from midepoch.errors import (
    ReplayMismatchError,
    SnapshotWarning,
    warn_user,
)
from midepoch.format.seeds import derive_words
from midepoch.format.state import SAMPLER_SLOTS, SamplerState
from midepoch.lane import streams
from midepoch.lane.passes import Pass
from midepoch.sampling.batches import OrderState, Step
from midepoch.sampling.chain import SamplerChain
from midepoch.stateful import Frozen, freeze_states, is_stateful, load_states

__all__ = ["CustomOrder"]


class CustomOrder:
    """The batches of a user's sampler in one epoch."""

    # ``start``: the first batch that is dealt. From there to ``batches``, the loaded position,
    # only lanes replay, and at ``batches`` the digest must be ``digest``.
    # ``continuing``: the samplers are where the epoch before left them, and ``opening`` is their
    # state there, for documents to come.
    # ``carried``: the keys that begin the pass which ``opening`` counts from (None: no rollover).
    # If that is the pass before, which was left early, nothing is carried into this epoch.
    def __init__(
        self,
        chain: SamplerChain,
        root: int,
        epoch: int,
        opening: SamplerState,
        *,
        interval: int,
        start: int,
        batches: int,
        digest: str | None,
        continuing: bool,
        carried: tuple[Any, ...] | None = None,
    ) -> None:
        self._chain = chain
        self._root = root
        self._epoch = epoch
        self._interval = interval
        self._target = batches
        self._saved_digest = digest
        self._index = max(0, opening.batches)
        self._digest = opening.digest or DIGEST_START
        self._snapshots: list[SamplerState] = []
        self._end: SamplerState | None = None
        self._pass = Pass(chain.driver, lambda: iter(chain.driver), self._iterate_again)
        self._ran_out = False
        """The last batch is short: the sampler's pass has ended, the epoch has not."""
        self._rolls = carried is not None
        left, here = (carried, None) if opening.batches < 0 else (None, carried)
        self._left, self._carried = left or (), here or ()
        self._heads = list(self._carried) if self._index == 0 else []
        """Keys that come before those of the sampler in the next batch."""
        self._rest: tuple[Any, ...] = ()
        self._seeds = derive_words(root, "sampler", epoch)
        self._private = streams.PrivateStreams(self._seeds)
        self._opening = replace(opening, epoch=chain.epoch())
        if continuing:
            with self._private.active():
                self._pass.begin()
        else:
            self._restore(opening, start)
        self._begun = self._at_the_beginning() if opening.batches < 0 and not self._index else None
        """The samplers when this pass had begun, if the one before was left early."""

    def _at_the_beginning(self) -> SamplerState | None:
        try:
            states = self._pass.states(self._chain.objects, self._chain.iterator_slot)
        except Exception:
            return None  # the user's state_dict raises: the next snapshot warns
        return self._with(states, 0)

    def _restore(self, resume: SamplerState, start: int) -> None:
        chain = self._chain
        if self._target and chain.epoch() != resume.epoch:
            raise ReplayMismatchError(
                f"sampler.epoch is {chain.epoch()}, but the state was saved in the middle of an "
                f"epoch under {resume.epoch}; do not set another before the rest is delivered. "
                "Where a trainer sets one (Lightning Fabric sets 0), give ranks= in place of the "
                "sampler"
            )
        states, epoch = {slot: resume.states[slot] for slot in resume.stated}, chain.epoch()
        with self._private.active():
            chain.first_state.apply(chain.objects, restoring=not states)
        self._private.reseed(self._seeds)  # as for samplers that were at their first states
        if resume.batches >= 0:
            chain.put_generators(resume.generators)  # a Stateful sampler's own load wins
        with self._private.active():
            load_states(chain.objects, states)
            if resume.batches == 0:
                self._keep_epoch(epoch)
            self._begin(resume, states, epoch)
        if self._index:
            self._snapshots.append(resume)
        while self._index < start:
            self.draw()
        self._check()

    def _begin(self, resume: SamplerState, states: dict[str, Any], epoch: int | None) -> None:
        chain = self._chain
        loaded = any(slot in states for slot in chain.objects)
        self._pass.begin(loaded=loaded and resume.batches <= 0)
        if chain.iterator_slot in states:
            path = f"$.sampler.states.{chain.iterator_slot}"
            self._pass.load_iterator(states[chain.iterator_slot], path)
        if resume.batches < 0:
            self._heads = list(self._left)
            raised = range(-resume.batches)  # no digest is kept of that pass: any may have raised
            self._pass.leave(-resume.batches, lambda _: self._pull(), raised)
            self._heads = []
            self._keep_epoch(epoch)
            chain.put_generators(resume.generators)
            streams.seed(self._seeds)
            self._pass.begin()
            self._ran_out = False

    def _keep_epoch(self, epoch: int | None) -> None:
        """Set the epoch that the sampler had before its own state was loaded (RES-17)."""
        if self._chain.epoch() != epoch:
            self._chain.put_epoch(epoch)

    def _iterate_again(self) -> Iterator[Any]:
        """Iterate the samplers as at the epoch's start: the loaded state was that of an end."""
        self._chain.put_generators(self._opening.generators)
        streams.seed(self._seeds)
        return iter(self._chain.driver)

    def _check(self) -> None:
        """At the loaded position, compare the replayed batches with the delivered ones."""
        if self._index != self._target or self._saved_digest is None:
            return
        if self._digest != self._saved_digest:
            raise ReplayMismatchError(
                f"the sampler's first {self._target} batches are not those that had been "
                "delivered when the state was taken; give it a state_dict, or make it depend on "
                "its epoch and its generators alone"
            )

    # Drawing

    def draw(self) -> Step | None:
        """See ``Order.draw``."""
        self._snapshot_if_due()
        try:
            with self._private.active():
                keys = self._pull()
        except StopIteration:
            if self._index < self._target:
                raise ReplayMismatchError(
                    f"the sampler ended after {self._index} batches, but {self._target} had been "
                    "delivered when the state was taken"
                ) from None
            self._end = self._between()
            return None
        except Exception as error:
            return self._step(None, 0, error)
        return self._step(keys, _count(keys) if self._chain.automatic else 1, None)

    def _step(self, keys: Any, samples: int, error: Exception | None) -> Step:
        self._digest = chain_digest(self._digest, keys)
        self._index += 1
        self._check()
        return Step(self._index - 1, keys, samples, self._digest, error)

    def _pull(self) -> Any:
        size = self._chain.batch_size
        if size is None:
            return _own(next(self._pass))
        batch, self._heads = self._heads, []
        try:
            while len(batch) < size:
                batch.append(next(self._pass))
        except StopIteration:
            self._ran_out = True
            self._rest = tuple(batch)
            if not batch or self._chain.drop or self._rolls:
                raise
        return batch

    # States

    def _snapshot_if_due(self) -> None:
        if self._ran_out:
            return  # the present state would begin another pass
        if self._index == 0 or (self._snapshots and self._snapshots[-1].batches == self._index):
            return
        if self._index != 1 and not (self._interval and self._index % self._interval == 0):
            return
        if not self._pass.stateful:
            return
        try:
            states = self._pass.states(self._chain.objects, self._chain.iterator_slot)
        except Exception as trouble:
            warn_user(
                f"the sampler's state_dict failed ({type(trouble).__qualname__}: {trouble}); its "
                "older snapshot is kept",
                SnapshotWarning,
            )
            return
        self._snapshots.append(self._with(states, self._index))

    def _with(self, states: dict[str, Frozen], batches: int) -> SamplerState:
        return replace(
            self._opening,
            states=_slots(states),
            stated=tuple(states),
            batches=batches,
            digest=self._digest if batches > 0 else None,
        )

    def _between(self) -> SamplerState:
        chain = self._chain
        states = freeze_states(chain.objects) if is_stateful(chain.driver) else {}
        return self._with(states, 0)

    def state(self, batches: int, at_most: int) -> OrderState:
        """See ``Order.state``."""
        saved = self._latest(at_most)
        return OrderState(saved, self._carried_into(saved))

    def _latest(self, at_most: int) -> SamplerState:
        usable = [saved for saved in self._snapshots if saved.batches <= at_most]
        return usable[-1] if usable else self._opening

    def _carried_into(self, saved: SamplerState) -> tuple[Any, ...] | None:
        """Return the keys carried into the pass that a snapshot counts from."""
        if not self._rolls:
            return None
        return self._left if saved.batches < 0 else self._carried

    def _before(self, batches: int) -> SamplerState | None:
        """Return the latest snapshot after which a batch was drawn.

        Only a draw starts the sampler's iterator and uses a loaded position up.
        """
        return next((saved for saved in self._snapshots[::-1] if saved.batches < batches), None)

    def drop_snapshots(self, at_most: int) -> None:
        """See ``Order.drop_snapshots``."""
        # One before the latest usable stays: see next_epoch_state().
        while len(self._snapshots) > 2 and self._snapshots[2].batches <= at_most:
            del self._snapshots[0]

    def rewind_to(self, batches: int, *, disturbed: bool) -> None:
        """See ``Order.rewind_to``."""
        chain = self._chain
        if self._index == batches and self._end is None and not disturbed:
            return
        if not (self._pass.stateful or chain.has_generators()):
            return
        base = self._before(batches) or self._opening
        CustomOrder(
            chain,
            self._root,
            self._epoch,
            replace(base, epoch=chain.epoch()),
            interval=0,
            start=batches,
            batches=batches,
            digest=None,
            continuing=False,
            carried=self._carried_into(base),
        )

    def next_epoch_state(self, batches: int, *, ended: bool) -> OrderState:
        """See ``Order.next_epoch_state``."""
        chain = self._chain
        carried: tuple[Any, ...] = self._rest if ended else ()
        after = SamplerState(chain.epoch(), chain.generators(), _slots({}), (), 0)
        if is_stateful(chain.driver):
            if ended:
                base, calls = self._end or self._between(), 0
            else:
                base, calls = self._before_leaving(batches)
                carried = self._carried if base.batches == 0 else ()
            after = replace(after, states=base.states, stated=base.stated, batches=-calls)
        return OrderState(after, carried if self._rolls else None)

    def _before_leaving(self, batches: int) -> tuple[SamplerState, int]:
        """Return a snapshot, and how many batches after it the epoch was left."""
        earlier = self._before(batches)
        if earlier is not None:
            return earlier, batches - earlier.batches
        if self._opening.batches == 0:
            return self._opening, batches
        if self._begun is not None:
            return self._begun, batches
        return self._latest(batches), 1


def _slots(states: dict[str, Frozen]) -> dict[str, Any]:
    return {slot: states.get(slot) for slot in SAMPLER_SLOTS}


def _own(keys: Any) -> Any:
    """Return a batch of keys that stays as it is: a sampler may fill one object again and again."""
    if isinstance(keys, Tensor):
        return keys.clone()
    return copy(keys) if isinstance(keys, (list, ndarray)) else keys


def _count(keys: Any) -> int:
    return len(keys) if hasattr(keys, "__len__") else 1
