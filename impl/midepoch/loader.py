"""``StatefulDataLoader``: arguments, wiring and the public methods."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

import torch
from torch.utils.data import Dataset, Sampler

from midepoch.arguments import EmptyRest, LastBatch, Options, Uneven, WorkerType, WorldChange
from midepoch.attributes import FIXED, LoaderAttributes
from midepoch.checkpoints import Checkpointable
from midepoch.epoch.iterator import EpochIterator, SkippingRest
from midepoch.epoch.opening import EpochOpener
from midepoch.epoch.planning import make_plan
from midepoch.epoch.pool import WorkerPool
from midepoch.epoch.position import LoaderPosition
from midepoch.epoch.progress import thawed
from midepoch.epoch.ranks import RankPlaces, Ranks
from midepoch.epoch.samplers import Sampling, rebuilt, show, show_plan, show_share
from midepoch.epoch.shareable import check_ranks, check_shareable
from midepoch.errors import ForeignStateError, RanksError
from midepoch.format.plan import Lifetime, Plan
from midepoch.format.state import Document
from midepoch.interop import torchdata
from midepoch.lane.datasets import check_dataset
from midepoch.sampling.chain import SamplerChain
from midepoch.stats import LoaderStats
from midepoch.workers.pinning import PinDevice, check_device

__all__ = ["StatefulDataLoader"]

T = TypeVar("T")


class StatefulDataLoader(LoaderAttributes[T]):
    """A drop-in for ``torch.utils.data.DataLoader`` whose position can be saved and resumed.

    It takes the arguments of torch's loader, in the same order and with the same defaults, and
    more.

    Args:
        dataset: a map-style dataset (``__getitem__``, by an index or by any key of a sampler), an
            ``IterableDataset``, one of torch's data pipes, or a list, array or tensor. If it has
            ``state_dict`` and ``load_state_dict``, its state is saved and restored.
        batch_size: how many samples make a batch; ``None`` delivers each sample by itself.
        shuffle: shuffle each epoch differently. The order is computed from the seed as it is
            needed, and takes no memory (ORDER-1).
        sampler: an iterable of indices, in place of ``shuffle``. If it has ``state_dict`` and
            ``load_state_dict``, it is saved and restored. Another sampler is run again at a
            resume, under the same random streams.
        batch_sampler: an iterable of lists of indices, in place of ``batch_size`` and ``sampler``.
        num_workers: how many workers run the lanes; with 0, a batch is made when it is asked for.
            It may be set later, and may differ at a resume: no batch changes.
        collate_fn: makes a batch of a list of samples; by default torch's ``default_collate``.
        pin_memory: copy each batch into pinned memory as soon as it is received, with torch's
            own function. An error of that function is the error of the batch.
        drop_last: leave out the samples that do not fill a batch; see ``last_batch``.
        timeout: seconds to wait for a worker's batch; 0 waits for ever. Replays do not count.
            A loader that is dropped waits 5 seconds for a stuck worker, or 0.5 after a timeout.
        worker_init_fn: called with each lane's number, once for each copy of the dataset, before
            the copy is used. ``get_worker_info()`` describes the lane there.
        multiprocessing_context: how processes start: "fork", "spawn", "forkserver", or a context.
        generator: the root seed is drawn from it, once, at construction; see ``seed``.
        prefetch_factor: batches under way at each worker; 2 by default, and 0 means 1.
        persistent_workers: keep workers from epoch to epoch, also after a resume, until the
            loader is dropped or another state is loaded. Each lane then keeps its dataset object.
        pin_memory_device: the accelerator to pin for, by its name ("cuda:1"), its index or as a
            ``torch.device``; by default the current one.
        snapshot_every_n_steps: how many batches lie between two snapshots of users' states (of a
            dataset, sampler or iterator with ``state_dict`` and ``load_state_dict``). States are
            exact at every step whatever its value; a resume between two snapshots produces
            batches again. ``None`` or 0 takes no snapshots and replays from the epoch's start.
        lanes: the number of logical workers; by default ``num_workers``, or that of a loaded
            state. The same lanes give the same batches under any number of workers.
        seed: the root of all random seeds; by default drawn from ``generator``, else from
            torch's global generator, or that of a loaded state.
        data_id: a text that identifies the data (a version, a checksum). States record it, and a
            state of data with another one is refused (REFUSE-3). By default it is what the
            dataset's ``fingerprint()`` returns, or its ``_fingerprint``, as Hugging Face's
            datasets have it; a dataset without either is known by its length alone.
        lifetime: how long a lane's dataset object lives. "epoch" gives each epoch a copy of
            ``dataset`` as it is when the iterator is made. "run" keeps one object for all epochs,
            so that a state that it changes in one is there in the next. By default "epoch" for
            an ``IterableDataset`` with a state, because many keep a loaded state and would begin
            every later epoch there ("run" without workers if it cannot be copied). For other
            datasets "run" without workers or with persistent ones, as in torch's loader. A loaded
            state's own is adopted.
        replay_check: for an ``IterableDataset``: a function of a batch's samples, before they are
            collated, that returns what tells them from others (their ids, say) as a value that a
            state can hold. States then carry a digest of it, and a resume that produces other
            samples again than before raises ``ReplayMismatchError``. It is pickled for workers
            that are spawned.
        last_batch: what happens to samples that do not fill a batch at an epoch's end. "keep"
            delivers them (``drop_last=False``), "discard" drops them (``drop_last=True``), and
            "rollover" opens the next epoch with them (map-style datasets in batches that the
            loader makes). They survive a resume; an epoch left early carries nothing over.
        empty_rest: how to resume from a state taken at an epoch's last batch, before its end was
            seen. "deliver" gives an empty rest and then the next epoch, as an uninterrupted loop
            would. "skip" gives the next epoch at once, for trainers that save on the last step
            and count epochs by their loops. The first ``next()`` finds out whether a rest is
            empty.
        in_order: False delivers batches as they become ready, so that a slow one does not hold up
            the others. The content of each is the same, and each is delivered exactly once over
            any number of resumes (UNORD-1). Tasks of a map-style dataset without state and
            without ``worker_init_fn`` go to whichever worker is free. A map-style dataset with a
            state keeps its order, and so do the batches of one lane of an iterable. Delivery runs
            ahead of a batch that hangs by at most twice the batches under way. Without workers,
            batches are always in order.
        prefetch: how many batches are under way in all workers together, in place of
            ``prefetch_factor``, which counts those of each. With 0, a batch is begun only when it
            is asked for.
        prefetch_next_epoch: True begins the next epoch on ``persistent_workers`` while the caller
            is still at the end of this one: lanes are opened before the end is reported, and the
            first batches are fetched. Saved states do not include the prefetched batches. The
            loader drops them if the next epoch turns out to be another: after ``set_epoch``, a
            newly seeded generator, a dataset of another length, or a loaded state.
            Under a sampler of any class but torch's own, nothing is begun early.
        worker_restarts: how many killed or crashed worker processes to replace in an epoch. Their
            lanes are restored and their tasks run again, so that batches and states are those of
            an undisturbed run (FAULT-8). A batch that crashes its worker twice in a row is an
            error that names the batch. If it dies of SIGKILL or SIGTERM, which may come from
            outside, the third death in a row is. A replacement is made from ``dataset`` as it is
            then, so do not change the object while an epoch runs. If the dataset has a state, the
            indices since the last snapshot are kept in memory. With 0, the default, a death is an
            error, after the batches that come before the missing one.
        worker_type: "process", or "thread" for workers that are threads of this process. Threads
            hand batches over as they are; nothing is pickled except a dataset that needs a copy
            for each lane (one that is iterable or has a state). Threads suit code that spends its
            time outside the interpreter's lock (decoding, reading, NumPy). They share a stateless
            map-style dataset, ``collate_fn`` and ``worker_init_fn``. The global random streams
            are not seeded in threads: draw from ``midepoch.batch_info()``.
        isolate_streams: False leaves the global random streams, without workers, as the batch's
            code left them, and saves the time to restore the caller's. Numbers drawn between two
            batches then depend on the batch before (SEED-6 does not hold).
        single_thread: False lets users' code in processes, or without workers, run with as many
            intra-op threads as it finds. Floating-point reductions may then differ in the last
            bit, and forked workers of a process that used such threads may hang.
        ranks: the ranks that share the plan, as ``(rank, world)``, a process group, a
            ``DeviceMesh`` of one dimension, or "auto" for the default process group. They are found
            at the first ``iter()``, ``state_dict()`` or ``load_state_dict()``. Of a map-style
            dataset without state they share each batch: all ranks have one order of samples, and
            equal states: that of any rank resumes under any number of ranks. A sample draws the
            same on each of them (its streams are seeded by its place, not by the batch), so samples
            are always fetched one by one. The last batch is filled up with samples of the epoch's
            beginning, so that all ranks get equally many, and batches are in order. Of an iterable
            dataset, or a map-style one with a state, they share the lanes: rank r of R has the
            lanes r, r + R and so on, and ``get_worker_info()`` shows a lane's number among all of
            them. A map-style lane makes whole batches, so rank r delivers the batches r, r + R and
            so on of the order. ``lanes`` is a multiple of the ranks, by default twice their
            workers. Each rank's state resumes that rank; ``merge_states`` makes of all of them one
            that resumes any number of ranks that divides the lanes.
        global_batch_size: with ``ranks``: the samples of a batch on all ranks together, in place of
            ``batch_size``, which counts those of each rank.
        on_world_change: with ``ranks``, for a state of another global batch size: "refuse" it, or
            "recut": go on with the same sequence of samples, in batches of the size given here.
        uneven: with ``ranks`` that share lanes, which may end at different times.
            "stop" ends the epoch on all ranks before the first batch that one of them does not
            have. They ask each other for that, in ``next()``, once for as many batches as the rank
            with the fewest has at hand. "as they are" lets each rank end by itself, as
            ``torch.distributed.algorithms.Join`` expects it. By default "stop", and "as they are"
            where ``ranks`` are numbers without a default process group of as many processes.

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
        data_id: str | None = None,
        lifetime: Lifetime | None = None,
        replay_check: Callable[[Any], Any] | None = None,
        last_batch: LastBatch | None = None,
        worker_type: WorkerType = "process",
        prefetch: int | None = None,
        prefetch_next_epoch: bool = False,
        worker_restarts: int = 0,
        empty_rest: EmptyRest = "deliver",
        isolate_streams: bool = True,
        single_thread: bool = True,
        ranks: Ranks = None,
        global_batch_size: int | None = None,
        on_world_change: WorldChange = "refuse",
        uneven: Uneven | None = None,
    ) -> None:
        given = Sampling(batch_size, shuffle, sampler, batch_sampler, drop_last, seed, ranks)
        batch_size, shuffle, sampler, batch_sampler, drop_last, seed, _ = rebuilt(dataset, given)
        options = Options(
            snapshot_every_n_steps=snapshot_every_n_steps,
            lanes=lanes,
            seed=seed,
            data_id=data_id,
            lifetime=lifetime,
            replay_check=replay_check,
            last_batch=last_batch,
            worker_type=worker_type,
            prefetch=prefetch,
            prefetch_next_epoch=prefetch_next_epoch,
            worker_restarts=worker_restarts,
            empty_rest=empty_rest,
            isolate_streams=isolate_streams,
            single_thread=single_thread,
            ranks=ranks,
            global_batch_size=global_batch_size,
            on_world_change=on_world_change,
            uneven=uneven,
        )
        check_ranks(ranks)
        options.check_against(
            num_workers=num_workers,
            drop_last=drop_last,
            prefetch_factor=prefetch_factor,
            persistent_workers=persistent_workers,
            multiprocessing_context=multiprocessing_context,
        )
        check_device(pin_memory_device)
        check_dataset(dataset, keyed=sampler is not None or batch_sampler is not None)
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
        if prefetch is not None:
            self.prefetch_factor = None  # torch's default: the two exclude each other
        vars(self).update({name: getattr(options, name) for name in FIXED})
        check_shareable(self, options, sampler if batch_sampler is None else batch_sampler)
        chain = None
        if sampler is not None or batch_sampler is not None:
            chain = SamplerChain(self.batch_sampler, self.sampler)
        plan = make_plan(
            self,
            options,
            chain,
            shuffle=bool(shuffle),
            custom_batches=batch_sampler is not None,
        )
        self._options = options
        places = None if ranks is None else RankPlaces(options, self.batch_size or 1)
        self._position = LoaderPosition(dataset, plan, chain, places)
        if sampler is None and plan.dataset == "map":
            show(self, self._position, batched=batch_sampler is not None)
        show_plan(self, options, plan)
        with suppress(RanksError):  # the process group may not exist yet
            show_share(self, self._position)
        self._pool = WorkerPool(options)

    # Iterating

    # torch's own type for these is private.
    def __iter__(self) -> EpochIterator | SkippingRest:  # type: ignore[override]
        iterator = self._open()
        resumed = iterator.progress.batches > 0
        if resumed and self._options.empty_rest == "skip":
            return SkippingRest(iterator, self._open_after)
        return iterator

    def _open(self) -> EpochIterator:
        self._settle(agree=True)
        opener = EpochOpener(self, self._position, self._pool)
        ended = opener.begin_next if self._options.prefetch_next_epoch else None
        iterator = opener.open(ended=ended)
        self._current = weakref.ref(iterator)
        return iterator

    def _leave_epoch(self) -> None:
        """Leave the epoch of a loaded state where it is, so that the next iterator begins one."""
        iterator = self._open()
        iterator.progress.moved = True
        iterator._shutdown_workers()

    def _open_after(self, rest: EpochIterator) -> EpochIterator | None:
        return self._open() if rest.progress is self._position.progress else None

    def stats(self) -> LoaderStats:
        """Return statistics of the run so far. Thread-safe; may be called at any time.

        >>> loader = StatefulDataLoader([1, 2, 3])
        >>> len(list(loader)), loader.stats().batches
        (3, 3)
        """
        current = self._iterator
        under_way, ready = (0, []) if current is None else current.pending()
        return self._pool.tally.stats(under_way=under_way, ready=ready)

    # States

    def state_dict(self) -> dict[str, Any]:
        """Return the position after the last batch delivered, as a new dict (STATE-1).

        It draws no random numbers, changes no position and waits for no worker (BASIS-4,
        BASIS-5).

        Raises:
            SnapshotError: the state of a map-style dataset at the epoch's beginning is not known,
                because its own ``state_dict`` failed there (LANE-35).
        """
        self._settle()
        if self._position.ranks is not None:
            self._position.ranks.check_agreed()
        self._position.check_known()
        return thawed(self._position.document()).to_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Let the next iterator continue where ``state`` was taken.

        Iterators made before raise ``StaleIteratorError`` at their next ``next()`` (RESUME-5).

        States that torchdata's loader (0.8 to 0.11) saved are read as well: the uninterrupted
        run of that loader continues, in its order.

        Raises:
            StateFormatError, StateVersionError: ``state`` is not a state that this version reads.
            ForeignStateError: a torchdata state lacks information that is needed to continue
                (REFUSE-1).
            PlanMismatchError: the state is of another plan; every differing field is named.
        """
        self._settle()
        facts = self._facts()
        foreign = torchdata.translate(state, facts)
        if foreign is not None and self._position.ranks is not None:
            raise ForeignStateError("it is one rank's own, and the ranks here share a plan", "$")
        document = Document.from_dict(state) if foreign is None else foreign.document
        if foreign is None or foreign.complete:
            self._load(document, *torchdata.plan_of(document, facts))
            return
        before = self._position.copy()
        self._load(document, *torchdata.plan_of(document, facts))
        try:
            iterator = self._open()
            try:
                torchdata.advance(iterator, foreign)
                reached = thawed(iterator.progress.document())
            finally:
                iterator._shutdown_workers()
            self._load(reached, self._position.plan, self._position.chain)
        except BaseException:
            self._position.become(before)
            show_plan(self, self._options, self._position.plan)
            raise

    def checkpointable(self) -> Checkpointable:
        """Return the loader for checkpoint libraries that take states apart, such as torch's DCP.

        Its ``state_dict`` has the same keys in a fresh loader as in a used one: one with bytes, or,
        where lanes are dealt to ranks, one for each lane of this rank. The key names the rank if
        its share is dealt by a sampler, or by a dataset in a process group.

        Raises:
            ArgumentError: lanes are dealt to ranks, and ``lanes`` was not given.

        >>> from midepoch import StatefulDataLoader
        >>> loader = StatefulDataLoader([1, 2, 3])
        >>> state = loader.checkpointable().state_dict()
        >>> sorted(state), type(state["state"])
        (['state'], <class 'bytes'>)
        >>> loader.checkpointable().load_state_dict(state)
        """
        return Checkpointable(self, self._position, lanes=self._options.is_given("lanes"))

    def _facts(self) -> torchdata.LoaderFacts:
        position = self._position
        skips = self._options.empty_rest == "skip"
        return torchdata.facts_of(
            self, position.current_plan(), *position.built, skips=skips, share=position.share()
        )

    def _load(self, document: Document, here: Plan, chain: SamplerChain | None) -> None:
        adopted = {"lifetime"}
        adopted |= {name for name in ("lanes", "seed") if not self._options.is_given(name)}
        self._position.load(document, here, chain, adopted=adopted)
        show_plan(self, self._options, self._position.plan)
        self._pool.state_loaded()
