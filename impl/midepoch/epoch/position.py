"""The position of a loader: where its next iterator starts, and what its state says."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from torch.utils.data import IterableDataset, IterDataPipe

from midepoch.encoding.canonical import DIGEST_START
from midepoch.epoch.planning import check_loadable, check_plan, countable, under
from midepoch.epoch.progress import Progress, frozen
from midepoch.epoch.ranks import RankPlaces
from midepoch.errors import ArgumentError, SnapshotError, StateFormatError, show, warn_user
from midepoch.format.merging import loadable_part
from midepoch.format.plan import Plan
from midepoch.format.state import EPOCH_MAX, SAMPLER_SLOTS, Document, Position, SamplerState, Share
from midepoch.lane.datapipes import group_share
from midepoch.lane.progress import fresh_lanes
from midepoch.sampling.chain import SamplerChain
from midepoch.stateful import is_stateful

__all__ = ["LoaderPosition"]


class LoaderPosition:
    """A loader's position: at its newest iterator, at a loaded state, or at the beginning."""

    def __init__(
        self, dataset: Any, plan: Plan, chain: SamplerChain | None, ranks: RankPlaces | None
    ) -> None:
        self.ranks = ranks
        """The ranks that share the plan."""
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
        self._epoch = 0
        """The program wants no earlier epoch than this one."""

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

    def settle(self) -> None:
        """Find the ranks that share the plan, before anything depends on them.

        Raises:
            RanksError: there is no process group yet.
            ArgumentError: they cannot share the batches equally.
        """
        if self.ranks is None or self.ranks.place is not None:
            return
        if self.plan.dealt:
            lanes = self.ranks.lanes(self.plan.lanes)
            self.ranks.settle()
            self.plan = replace(self.plan, lanes=lanes)
            self.built = replace(self.built[0], lanes=lanes), self.built[1]
            self._loaded = None  # that of a copy that was made before is a beginning
            return
        size = countable(self.ranks.batch_size(), "samples in a batch of all ranks")
        self.ranks.settle()
        self.plan = replace(self.plan, batch_size=size)
        self.built = replace(self.built[0], batch_size=size), self.built[1]
        if self._loaded is not None:  # of a copy that was made before
            self._loaded = replace(self._loaded, plan=self.plan)

    def agree(self) -> None:
        """Let the ranks agree on their root seed; each calls this in ``iter()``."""
        self.settle()
        if self.ranks is not None and not self.ranks.agreed:
            self.plan = replace(self.plan, seed=self.ranks.agree(self.plan.seed))

    def set_epoch(self, epoch: int) -> None:
        """Let the next iterator begin ``epoch``, unless the position is in it or after it.

        Raises:
            ArgumentError: it is no number of an epoch.
        """
        if type(epoch) is not int or not 0 <= epoch <= EPOCH_MAX:
            raise ArgumentError(
                f"epoch should be an integer from 0 to {EPOCH_MAX}, got {show(epoch)}"
            )
        here = self.document().position.epoch
        if epoch < here:
            warn_user(
                f"set_epoch({epoch}) is ignored: the loader is in epoch {here}, and goes forward "
                "only; count epochs from there after a resume",
                UserWarning,
            )
        self._epoch = max(epoch, self._epoch)

    def enter(self, progress: Progress) -> None:
        """Follow a new iterator from here on."""
        if self.progress is not None and self._loaded is None:
            progress.follow(self.progress)
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
        recut = self.ranks is not None and self.ranks.recut
        dealt = document.plan.dealt and here.dealt
        expected, saved = share, document.position.share
        of_user = here.dataset == "iterable" and not isinstance(self._dataset, IterDataPipe)
        if dealt:
            expected = saved  # a whole one is divided below
        elif of_user and saved and share and saved.world == share.world:
            expected = saved  # several ranks may have the same part of the data (RANK-17)
        check_plan(document, here, expected, adopted=adopted, recut=recut)
        if dealt:
            document = loadable_part(document, share)
        check_loadable(document, chain, stateful=self.stateful)
        try:
            document = frozen(document)
        except Exception as error:
            raise StateFormatError(f"a user's part cannot be pickled: {error}") from error
        if chain is not None and document.sampler is not None:
            chain.put_epoch(document.sampler.epoch)
        self.chain = chain
        if self.ranks is not None:
            self.ranks.agreed = True
        if here.shared:
            document = replace(document, plan=replace(document.plan, batch_size=here.batch_size))
        self.plan = replace(document.plan, data=here.data)
        self._epoch = 0
        self.progress, self._loaded = None, document
        self._moves += 1

    def document(self) -> Document:
        """Return the frozen document of the present position."""
        if self.progress is not None:
            document = self.progress.document()
            if document.position.batches == 0:  # a dataset may have grown between two epochs
                document = under(document, self.current_plan(), self.share())
            return self._moved_on(document)
        return self._moved_on(self._beginning() if self._loaded is None else self._loaded)

    def check_known(self, *, upcoming: bool = False) -> None:
        """Check that a document of this position, or the upcoming one, tells the datasets' states.

        Raises:
            SnapshotError: the datasets could not tell them (LANE-35).
        """
        progress = self.progress
        if progress is None:
            return
        trouble = progress.next_trouble if upcoming and progress.moved else progress.trouble
        if trouble is not None:
            raise SnapshotError(
                "the dataset's state at the beginning of the epoch is not known, because its "
                f"state_dict failed ({trouble}): without it no state can be taken, and no lost "
                "lane restored; mend state_dict and load an older state, or go on until a later "
                "snapshot succeeds"
            )

    def upcoming(self) -> Document:
        """Return the frozen document from which the next iterator starts."""
        progress = self.progress
        moved = progress is not None and progress.moved
        if progress is None or not moved:
            return self.document()
        return self._moved_on(progress.next_epoch())

    def _moved_on(self, document: Document) -> Document:
        """Return the document of the epoch that the program set, if this one ends before it."""
        position = document.position
        if position.batches or position.epoch >= self._epoch:
            return document
        return replace(document, position=replace(position, epoch=self._epoch))

    def stand(self) -> tuple[int, ...]:
        """Return numbers that change whenever the position does."""
        progress = self.progress
        here = () if progress is None else (progress.batches, int(progress.finished))
        return (self._moves, self._epoch, *here)

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
        lanes = fresh_lanes(plan, self.share()) if laned else None
        return Document(plan, position, sampler, lanes)

    def current_plan(self) -> Plan:
        """Return the plan under the dataset's present length."""
        if self.plan.sampler in ("sequential", "shuffle"):
            return replace(self.plan, length=countable(len(self._dataset), "samples"))
        return self.plan

    def share(self) -> Share | None:
        """Return the share of the order that this process delivers; ``None``: all of it.

        Of an iterable dataset without ``ranks``, the user may have divided it between the ranks of
        the process group.
        """
        if self.chain is not None:
            return self.chain.share()
        if self.plan.dealt:
            place = None if self.ranks is None else self.ranks.settle()
            return None if place is None or place.world == 1 else Share(*place)
        return group_share() if isinstance(self._dataset, IterableDataset) else None
