"""The position of a loader: where its next iterator starts, and what its state says."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from torch.utils.data import IterableDataset, IterDataPipe

from midepoch.epoch.planning import check_loadable, check_plan, countable, under
from midepoch.epoch.progress import Progress, frozen
from midepoch.errors import StateFormatError
from midepoch.format.canonical import DIGEST_START
from midepoch.format.plan import Plan
from midepoch.format.state import SAMPLER_SLOTS, Document, Position, SamplerState, Share
from midepoch.lane.datapipes import pipe_share
from midepoch.lane.progress import fresh_lanes
from midepoch.sampling.chain import SamplerChain
from midepoch.stateful import is_stateful

__all__ = ["LoaderPosition"]


class LoaderPosition:
    """A loader's position: at its newest iterator, at a loaded state, or at the beginning."""

    def __init__(self, dataset: Any, plan: Plan, chain: SamplerChain | None) -> None:
        self.plan = plan
        """As built, or as loaded."""
        self.chain = chain
        self.built = plan, chain
        """The plan and the samplers before anything was loaded."""
        self.stateful = is_stateful(dataset)
        """The dataset has a state."""
        self.progress: Progress | None = None
        """The progress of the newest iterator."""
        self._loaded: Document | None = None
        self._dataset = dataset
        self._moves = 0
        """Iterators opened and states loaded."""

    def copy(self) -> LoaderPosition:
        """Return the same position without its iterator."""
        made = LoaderPosition.__new__(LoaderPosition)
        vars(made).update(self.__getstate__())
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "progress": None, "_loaded": self.document()}

    def become(self, other: LoaderPosition) -> None:
        """Move to where ``other`` is."""
        vars(self).update(vars(other))

    def enter(self, progress: Progress) -> None:
        """Follow a new iterator from here on."""
        self.progress, self._loaded = progress, None
        self._moves += 1

    def load(
        self,
        document: Document,
        here: Plan,
        chain: SamplerChain | None,
        *,
        adopted: Collection[str],
    ) -> None:
        """Move to ``document``, with the plan and the samplers that it is for.

        ``adopted``: the fields of the plan that are taken from the document.

        Raises:
            StateFormatError, PlanMismatchError: it does not fit; nothing is changed.
        """
        share = self.share() if chain is None else chain.share()
        check_plan(document, here, share, adopted=adopted)
        check_loadable(document, chain, stateful=self.stateful)
        try:
            document = frozen(document)
        except Exception as error:
            raise StateFormatError(f"a user's part cannot be pickled: {error}") from error
        if chain is not None and document.sampler is not None:
            chain.put_epoch(document.sampler.epoch)
        self.chain = chain
        self.plan = replace(document.plan, data=here.data)
        self.progress, self._loaded = None, document
        self._moves += 1

    def document(self) -> Document:
        """Return the frozen document of the present position."""
        if self.progress is not None:
            document = self.progress.document()
            if document.position.batches == 0:  # a dataset may have grown between two epochs
                document = under(document, self.current_plan(), self.share())
            return document
        return self._beginning() if self._loaded is None else self._loaded

    def upcoming(self) -> Document:
        """Return the frozen document from which the next iterator starts."""
        progress = self.progress
        moved = progress is not None and progress.moved
        return progress.next_epoch() if progress is not None and moved else self.document()

    def stand(self) -> tuple[int, ...]:
        """Return numbers that change whenever the position does."""
        progress = self.progress
        here = () if progress is None else (progress.batches, int(progress.finished))
        return (self._moves, *here)

    def _beginning(self) -> Document:
        plan, chain = self.current_plan(), self.chain
        sampler = None
        if chain is not None:
            slots = dict.fromkeys(SAMPLER_SLOTS)
            sampler = SamplerState(chain.epoch(), chain.generators(), slots, (), 0)
        position = Position(
            epoch=0,
            batches=0,
            samples=0,
            digest=None if chain is None else DIGEST_START,
            carried=() if plan.tail == "rollover" else None,
            share=self.share(),
        )
        laned = self.stateful or isinstance(self._dataset, IterableDataset)
        return Document(plan, position, sampler, fresh_lanes(plan) if laned else None)

    def current_plan(self) -> Plan:
        """Return the plan under the dataset's present length."""
        if self.plan.sampler in ("sequential", "shuffle"):
            return replace(self.plan, length=countable(len(self._dataset), "samples"))
        return self.plan

    def share(self) -> Share | None:
        """Return the share of the order that this process delivers; ``None``: all of it."""
        if self.chain is not None:
            return self.chain.share()
        return pipe_share() if isinstance(self._dataset, IterDataPipe) else None
