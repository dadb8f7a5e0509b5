"""``StatefulDataLoader``: arguments, wiring and the public methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import torch
from torch.utils.data import Dataset, IterableDataset, Sampler

from midepoch.arguments import EmptyRest, Extras, LastBatch, WorkerType
from midepoch.epoch.iterator import EpochIterator, SkippingRest
from midepoch.epoch.planning import length_under_rollover, make_plan
from midepoch.epoch.pool import Crew
from midepoch.epoch.progress import Progress, thawed
from midepoch.format.state import Document
from midepoch.interop import torchdata
from midepoch.lane.datasets import check_dataset
from midepoch.positioned import FIXED, PositionedLoader
from midepoch.sampling.chain import SamplerChain
from midepoch.stateful import is_stateful
from midepoch.stats import LoaderStats
from midepoch.workers.pinning import PinDevice, check_device

__all__ = ["StatefulDataLoader"]

T = TypeVar("T")


class StatefulDataLoader(PositionedLoader[T]):
    """A drop-in for ``torch.utils.data.DataLoader`` whose position can be saved and resumed.

    It takes the arguments of torch's loader, in its order and with its defaults, and more.

    Args:
        dataset: a map-style dataset (``__getitem__``, by an index or by any key of a sampler), an
            ``IterableDataset``, one of torch's data pipes, or a list, array or tensor. With
            ``state_dict`` and ``load_state_dict`` its state is saved and put back.
        batch_size: how many samples make a batch; ``None``: each sample is delivered by itself.
        shuffle: an order computed anew for each epoch from the seed, in no memory (ORDER-1).
        sampler: an iterable of indices, in place of ``shuffle``. With the two methods of a state it
            is saved and put back; others are run again, under the same random streams.
        batch_sampler: the same for lists of indices, in place of ``batch_size`` too.
        num_workers: how many workers run the lanes; 0: they run when a batch is asked for. May be
            set later, and may differ at a resume: no batch changes.
        collate_fn: makes a batch of a list of samples; by default torch's ``default_collate``.
        pin_memory: copies each batch into pinned memory as soon as it is received, with torch's
            own function. An error in that is the error of that batch.
        drop_last: leaves out the samples that do not fill a batch; see ``last_batch``.
        timeout: seconds to wait for a batch of a worker, 0 for ever. Replays are not counted.
        worker_init_fn: is called with each lane's number, once for each copy of the dataset,
            before it is used; ``get_worker_info()`` tells the lane there.
        multiprocessing_context: how processes start: "fork", "spawn", "forkserver", or a context.
        generator: where the root seed is drawn from, once, at construction; see ``seed``.
        prefetch_factor: batches under way at each worker; 2 by default, 0 as 1.
        persistent_workers: workers are kept from epoch to epoch, also after a resume, until the
            loader is dropped or another state is loaded; each lane then keeps its dataset object.
        pin_memory_device: the accelerator to pin for, by its name ("cuda:1"), its index or as a
            ``torch.device``; by default the current one.
        snapshot_every_n_steps: how many batches lie between two snapshots of the users' own
            states (of a dataset or an iterator with ``state_dict`` and ``load_state_dict``).
            States are exact at every step whatever it is; between two snapshots, resuming
            produces batches again. ``None`` or 0: no snapshots, replay from the epoch's start.
        lanes: the number of logical workers; by default ``num_workers``, or that of a loaded
            state. The same lanes give the same batches under any number of workers.
        seed: the root of all random seeds; by default drawn from ``generator``, else from
            torch's global generator, or that of a loaded state.
        last_batch: what becomes of samples that do not fill a batch at an epoch's end: "keep"
            delivers them (``drop_last=False``), "discard" does not (``drop_last=True``), "rollover"
            opens the next epoch with them (map-style datasets in batches that the loader makes).
            They survive a resume; an epoch that is broken off carries nothing over.
        empty_rest: what a state taken at an epoch's last batch, its end not seen, resumes with:
            "deliver", an empty rest and then the next epoch, as an uninterrupted loop would; or
            "skip", the next epoch at once, for trainers that save on the last step and count
            epochs by their loops. Whether a rest is empty is found out at the first ``next()``.
        in_order: False delivers batches as they become ready, so that a slow one does not hold up
            the others; the content of each is the same, and each is delivered exactly once over
            any number of resumes (UNORD-1). Tasks of a map-style dataset without state and
            without ``worker_init_fn`` go to whichever worker is free; one with a state keeps its
            order; the batches of one lane of an iterable keep theirs. Delivery runs ahead of a
            batch that hangs by at most twice the batches under way. Without workers, in order.
        prefetch: how many batches are under way in all workers together, in place of
            ``prefetch_factor``, which counts those of each. 0: a batch is begun when it is asked
            for, and not before.
        prefetch_next_epoch: True begins the next epoch on workers that live on
            (``persistent_workers``) while the caller is still at the end of this one: lanes are
            opened (the end is reported when they are), and the first batches are fetched. No
            state shows it. It is dropped where the next epoch turns out to be another: after
            ``set_epoch``, a generator seeded again, a dataset of another length, or a state
            loaded. Under a sampler of another class than torch's own nothing is begun early.
        worker_restarts: so many times in an epoch a worker process that was killed or crashed is
            replaced: its lanes are put back and its tasks run again, so that batches and states
            are those of an undisturbed run (FAULT-8). A batch that kills its worker twice in a
            row is an error that names it. A replacement is made from ``dataset`` as it is then:
            do not change the object while an epoch runs. Where the dataset has a state, the
            indices since the last snapshot are kept. 0, the default: a death is an error at once.
        worker_type: "process", or "thread" for workers that are threads of this process: batches
            are handed over as they are, and nothing is pickled but a dataset that needs copies
            for the lanes (one that is iterable or has a state). For code that spends its time
            outside the interpreter's lock (decoding, reading, NumPy). A stateless map-style
            dataset, ``collate_fn`` and ``worker_init_fn`` are used by all threads at once. The
            global random streams are not seeded there: draw from ``midepoch.batch_info()``.
        isolate_streams: False leaves the global random streams, without workers, as the batch's
            code left them, and saves the time to put the caller's back: numbers drawn between
            two batches then depend on the batch before (SEED-6 does not hold).
        single_thread: False lets users' code in processes, or without workers, run with as many
            intra-op threads as it finds; floating-point reductions may then differ in the last
            bit. Forked workers of a process that used such threads may hang.

    Raises:
        ArgumentError: an argument that torch's loader does not have is of another type or out of
            range, or two arguments contradict each other.
        ValueError, TypeError: as torch's loader, in its words.

    >>> loader = StatefulDataLoader(list(range(6)), batch_size=2, shuffle=True, seed=7)
    >>> batches = iter(loader)
    >>> first = next(batches)
    >>> state = loader.state_dict()
    >>> rest = [batch.tolist() for batch in batches]
    >>> again = StatefulDataLoader(list(range(6)), batch_size=2, shuffle=True)
    >>> again.load_state_dict(state)
    >>> [batch.tolist() for batch in again] == rest
    True
    """

    def __init__(
        self,
        dataset: Dataset[T],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: torch.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: PinDevice = "",
        in_order: bool = True,
        snapshot_every_n_steps: int | None = 1,
        lanes: int | None = None,
        seed: int | None = None,
        last_batch: LastBatch | None = None,
        worker_type: WorkerType = "process",
        prefetch: int | None = None,
        prefetch_next_epoch: bool = False,
        worker_restarts: int = 0,
        empty_rest: EmptyRest = "deliver",
        isolate_streams: bool = True,
        single_thread: bool = True,
    ) -> None:
        extras = Extras(
            snapshot_every_n_steps=snapshot_every_n_steps,
            lanes=lanes,
            seed=seed,
            last_batch=last_batch,
            worker_type=worker_type,
            prefetch=prefetch,
            prefetch_next_epoch=prefetch_next_epoch,
            worker_restarts=worker_restarts,
            empty_rest=empty_rest,
            isolate_streams=isolate_streams,
            single_thread=single_thread,
        )
        extras.check_against(
            num_workers=num_workers,
            drop_last=drop_last,
            prefetch_factor=prefetch_factor,
            persistent_workers=persistent_workers,
            multiprocessing_context=multiprocessing_context,
        )
        check_device(pin_memory_device)
        check_dataset(dataset, keyed=sampler is not None or batch_sampler is not None)
        self._extras = extras
        self._crew = Crew(num_workers, extras, stateful=is_stateful(dataset))
        super().__init__(
            dataset,
            batch_size,
            shuffle,
            sampler,
            batch_sampler,
            num_workers,
            collate_fn,
            pin_memory,
            drop_last or last_batch == "discard",
            timeout,
            worker_init_fn,
            multiprocessing_context,
            generator,
            prefetch_factor=prefetch_factor,
            persistent_workers=persistent_workers,
            pin_memory_device=pin_memory_device,  # type: ignore[arg-type]  # kept as it is
            in_order=in_order,
        )
        self.snapshot_every_n_steps = snapshot_every_n_steps
        vars(self).update({name: getattr(extras, name) for name in FIXED})
        self._stateful = is_stateful(dataset)
        self._iterable = isinstance(dataset, IterableDataset)
        self._chain: SamplerChain | None = None
        if sampler is not None or batch_sampler is not None:
            self._chain = SamplerChain(self.batch_sampler, self.sampler)
        self._plan = make_plan(
            self,
            extras,
            self._chain,
            shuffle=bool(shuffle),
            custom_batches=batch_sampler is not None,
        )
        self._built = self._plan, self._chain
        self._loaded: Document | None = None
        self._progress: Progress | None = None

    @property
    def lanes(self) -> int:
        """The number of lanes: as given, by default ``num_workers``, or as loaded."""
        return self._plan.lanes

    @property
    def seed(self) -> int:
        """The root seed: as given, drawn, or as loaded."""
        return self._plan.seed

    def __len__(self) -> int:
        """Return the batches of an epoch; under rollover, of the one that the position is in."""
        if self._plan.tail != "rollover":
            return super().__len__()
        samples = len(self.sampler)  # type: ignore[arg-type]  # or else an error, as torch's
        return length_under_rollover(self._document(), samples)

    # Iterating

    # torch's own type for these is private.
    def __iter__(self) -> EpochIterator | SkippingRest:  # type: ignore[override]
        iterator = self._open()
        resumed = iterator.progress.batches > 0
        if resumed and self._extras.empty_rest == "skip":
            return SkippingRest(iterator, self._open_after)
        return iterator

    def stats(self) -> LoaderStats:
        """Return what the loader did so far; may be asked at any time, by any thread.

        >>> loader = StatefulDataLoader([1, 2, 3])
        >>> len(list(loader)), loader.stats().batches
        (3, 3)
        """
        current = self._iterator
        under_way, ready = (0, []) if current is None else current.pending()
        return self._crew.tally.stats(under_way=under_way, ready=ready)

    # States

    def state_dict(self) -> dict[str, Any]:
        """Return the position after the last batch delivered, as a new dict (STATE-1).

        Nothing is drawn, moved or waited for (BASIS-4, BASIS-5).
        """
        return thawed(self._document()).to_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Let the next iterator go on where ``state`` was taken.

        Iterators made before raise ``StaleIteratorError`` at their next ``next()`` (RESUME-5).

        A state that torchdata's loader (0.8 to 0.11) saved is read as well: the uninterrupted
        run of that loader goes on, in its order.

        Raises:
            StateFormatError, StateVersionError: ``state`` is no state that this version reads.
            ForeignStateError: a state of torchdata's has lost what going on needs (REFUSE-1).
            PlanMismatchError: it is of another plan; every differing field is named.
        """
        skips = self._extras.empty_rest == "skip"
        built = torchdata.built(self, self._plan_here(), *self._built, skips=skips)
        foreign = torchdata.translate(state, built)
        document = Document.from_dict(state) if foreign is None else foreign.document
        if foreign is None or foreign.complete:
            self._load(document, *torchdata.following(document, built))
            return
        before = self._plan, self._chain, self._document()
        self._load(document, *torchdata.following(document, built))
        try:
            iterator = self._open()
            try:
                torchdata.advance(iterator, foreign)
                reached = thawed(iterator.progress.document())
            finally:
                iterator._shutdown_workers()
            self._load(reached, self._plan, self._chain)
        except BaseException:
            self._plan, self._chain, self._loaded = before
            self._progress = None
            raise
