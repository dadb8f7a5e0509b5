"""Lightning: a callback that keeps a loader's position in checkpoints; two functions for Fabric.

Lightning saves the states of loaders itself, but does not load those of checkpoints that were made
at an epoch's end, and would run an empty epoch after one that was made on an epoch's last step.

Fabric builds a loader without ``ranks`` anew on several processes, and keeps one process's state.
"""

from __future__ import annotations

from typing import Any

from lightning.fabric import Fabric
from lightning.pytorch import Callback, LightningModule, Trainer
from torch.utils.data import IterableDataset

from midepoch.epoch.samplers import ShownShare
from midepoch.errors import ArgumentError, PlanMismatchError, StateFormatError, show
from midepoch.integrations.processes import check_ranks, state_of_all
from midepoch.loader import StatefulDataLoader

__all__ = ["LoaderCheckpoint", "loader_state", "setup_loader"]

KEY, ENDED = "loader", "ended"

STEPS = (
    "Lightning counts an epoch's steps, and cannot go on inside one with steps of another size: "
    "keep that of the checkpoint (global_batch_size=), resume from a checkpoint of an epoch's end, "
    "or use a loop of your own"
)
"""The advice about an epoch that is cut anew."""

PROCESSES = (
    "Lightning counts an epoch's steps, and cannot go on inside one with another number of them: "
    "resume on as many processes, or use a loop of your own"
)
"""The advice about map-style lanes on another number of processes."""


def setup_loader(
    fabric: Fabric,
    loader: StatefulDataLoader[Any],
    state: dict[str, Any] | None = None,
    *,
    move_to_device: bool = True,
) -> Any:
    """Return ``loader`` for a loop with ``fabric``, in place of ``fabric.setup_dataloaders``.

    Its batches are on Fabric's device (unless ``move_to_device`` is False), and its order is its
    own. If ``state`` is what ``loader_state`` gave for the checkpoint, the loader continues there.

    Raises:
        ArgumentError: ``loader`` is none of midepoch's, or there are several processes, and its
            ``ranks`` are not these.
        StateError: ``state`` does not fit the loader.
    """
    _check_of_fabric(fabric, loader)
    if state is not None:
        loader.load_state_dict(state)
    _count_epochs_alone(loader)  # Fabric counts them from 0 after a resume, too
    return fabric.setup_dataloaders(
        loader, use_distributed_sampler=False, move_to_device=move_to_device
    )


def loader_state(fabric: Fabric, loader: StatefulDataLoader[Any]) -> dict[str, Any]:
    """Return the loader's state, which is that of all processes, for ``fabric.save``.

    All processes call this together, as they do with ``fabric.save``.

    Raises:
        ArgumentError: as ``setup_loader``.
    """
    _check_of_fabric(fabric, loader)
    return state_of_all(loader)


def _check_of_fabric(fabric: Fabric, loader: object) -> None:
    if not isinstance(loader, StatefulDataLoader):
        raise ArgumentError(
            f"expected a midepoch.StatefulDataLoader, got {show(loader)}: give the loader itself, "
            "and not what Fabric made of it"
        )
    check_ranks(loader, fabric.global_rank, fabric.world_size)


class LoaderCheckpoint(Callback):  # type: ignore[misc]  # Lightning may not be installed
    """Saves the training loader's state with each checkpoint, and resumes exactly from any of them.

    The loader is the one that ``trainer.fit`` is given, or that ``train_dataloader()`` returns.
    With several devices it needs ``ranks="auto"``, because Lightning keeps one state for all of
    them. If the loader has no length, Lightning fetches a batch more than it trains on. The
    callback then takes the state before each fetch.

    Raises:
        ArgumentError: at the fit's start, if the loader is none that can resume exactly there.
        PlanMismatchError: there, if the checkpoint is from inside an epoch of longer or shorter
            steps (``on_world_change="recut"``).
    """

    def __init__(self) -> None:
        self._trainer: Trainer | None = None
        self._loaded: dict[str, Any] | None = None
        self._ended = False
        self._trained: dict[str, Any] | None = None
        """The state before the latest fetch, of a loader without a length."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state of all processes' loaders, for the checkpoint.

        Lightning asks all processes together, as long as all of them call ``save_checkpoint``.
        """
        if self._loaded is not None:  # a fit has failed before its training began
            return {KEY: self._loaded, ENDED: self._ended}
        if self._trainer is None:
            return {}
        loader, trained = _loader_of(self._trainer), self._trained
        if trained is None:
            return {KEY: state_of_all(loader)}
        state = loader.state_dict()
        ended = state["position"]["epoch"] > trained["position"]["epoch"]
        return {KEY: state_of_all(loader, state if ended else trained), ENDED: ended}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Keep a checkpoint's state until the training begins."""
        self._loaded, self._ended = state_dict.get(KEY), state_dict.get(ENDED, False)

    def on_load_checkpoint(
        self, trainer: Trainer, pl_module: LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Keep Lightning from loading one process's state on all of them.

        Raises:
            StateFormatError: the run had trained without this callback (REFUSE-1).
        """
        states = checkpoint.get("callbacks", {})
        if checkpoint.get("global_step", 0) and KEY not in states.get(self.state_key, {}):
            raise StateFormatError(
                "expected a checkpoint with the loader's state, got one that was saved without "
                "LoaderCheckpoint: its run cannot go on where it stopped. Give the weights alone "
                "to a new run, which begins with the first epoch",
                "$",
            )
        loop = checkpoint.get("loops", {}).get("fit_loop", {})
        loop.get("state_dict", {}).pop("combined_loader", None)

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Load the state, and let Lightning iterate the loader anew."""
        loader = _loader_of(trainer)
        self._trainer = trainer
        # Lightning counts an epoch that max_steps has ended, and the loader does not.
        _count_epochs_alone(loader)
        self._trained = None
        if streamed := loader.remaining() is None:
            self._watch_fetches(trainer, loader)
        if self._loaded is None:
            return
        state, self._loaded = self._loaded, None
        loader.load_state_dict(state)
        _check_steps(trainer, loader, state)
        if streamed:
            self._trained = state
        elif loader.remaining() == 0:  # Lightning begins the next epoch
            # An empty rest is not skipped (empty_rest="skip"): the fit takes the epoch after it.
            for batch in loader._open():
                raise StateFormatError(f"expected an empty rest, got a batch {show(batch)}", "$")
            self._ended = True
        elif state["position"]["batches"] and _reached_limit(trainer):
            loader._leave_epoch()
            self._ended = True
        if self._ended:
            _count_the_epoch(trainer, streamed=streamed)
            if streamed:
                _count_batches_anew(trainer)
        iter(trainer.fit_loop._data_fetcher)

    def _watch_fetches(self, trainer: Trainer, loader: StatefulDataLoader[Any]) -> None:
        """Take the loader's state before each fetch, when Lightning starts its profiler for it.

        Raises:
            ArgumentError: the stream has a length, and Lightning will not fetch beyond it.
        """
        if trainer.fit_loop._data_fetcher.length is not None:
            raise ArgumentError(
                f"LoaderCheckpoint cannot tell where an epoch ends: {_why(trainer)}"
            )
        loop = trainer.fit_loop.epoch_loop
        profile = type(loop)._on_before_fetch

        def before_fetch() -> None:
            self._trained = loader.state_dict()
            profile(loop)

        loop._on_before_fetch = before_fetch


def _why(trainer: Trainer) -> str:
    """Return what gives Lightning a length at which the loader's epochs need not end."""
    if trainer.limit_train_batches != 1.0:
        limit = f"limit_train_batches={trainer.limit_train_batches}"
        return f"{limit} may end it before the data do; leave it out"
    if isinstance(trainer.train_dataloader.dataset, IterableDataset):
        return "the length of an iterable dataset may be wrong; remove its __len__"
    return (
        "ranks to which the lanes of a map-style dataset with a state are dealt end together, "
        'perhaps before its last batch; give uneven="as they are" if all ranks have as many '
        "batches, or a dataset without state_dict"
    )


def _check_steps(trainer: Trainer, loader: StatefulDataLoader[Any], state: dict[str, Any]) -> None:
    """Refuse a checkpoint from inside an epoch whose steps had another size.

    Lightning compares its count of the epoch's steps with the loader's length, and would skip a
    part of the epoch, or repeat one.

    Raises:
        PlanMismatchError: which size, and what to do.
    """
    left, ranks = loader.remaining(), loader._position.ranks
    if ranks is None or left is None or not state["position"]["batches"]:
        return
    fit = trainer.fit_loop
    if left == 0 and not fit.restarted_mid_epoch:
        return  # the next epoch is counted anew
    saved, here = state["plan"]["batch_size"], loader._position.current_plan().batch_size
    if saved != here:
        raise PlanMismatchError([("batch_size", saved, here)], STEPS)
    done, counted = len(loader) - left, fit.epoch_loop.batch_progress.current.ready
    if done != counted:
        raise PlanMismatchError([("steps of the epoch so far", counted, done)], PROCESSES)


def _reached_limit(trainer: Trainer) -> bool:
    """Tell whether Lightning has ended the checkpoint's epoch, as by ``limit_train_batches``."""
    return bool(trainer.fit_loop.epoch_loop._num_ready_batches_reached())


def _count_epochs_alone(loader: StatefulDataLoader[Any]) -> None:
    """Let the loader's own samplers ignore the epoch that Lightning, or Fabric, sets."""
    for sampler in (loader.sampler, getattr(loader.batch_sampler, "sampler", None)):
        if isinstance(sampler, ShownShare):
            sampler.set_epoch = _ignored  # type: ignore[method-assign]


def _ignored(epoch: int) -> None:
    """Leave the epochs to the loader, which counts them by itself."""


def _count_the_epoch(trainer: Trainer, *, streamed: bool) -> None:
    """Let the fit begin the epoch after a checkpoint of an epoch's end.

    Without ``max_epochs`` Lightning takes each resume for one inside an epoch
    (``_FitLoop.restarting``): it would count the ended epoch's batches for the next one, and end
    that one after its first batch. The same goes for a checkpoint of the next epoch's start.

    A resume on an epoch's last step counts the epoch as ended, but not the next one as begun
    (``_FitLoop.on_advance_start``): checkpoints of that one's end would not be known as such.

    If validation made the checkpoint on the last step, Lightning goes through the epoch's end once
    more, without a batch. A stream has the next epoch's first batch by then, so its epoch is
    counted here.
    """
    fit = trainer.fit_loop
    if fit.restarted_on_epoch_end:
        fit.epoch_progress.increment_completed()
        fit.reset_restart_stage()
        fit._restarting = fit.epoch_loop.restarting = False
    elif fit.restarted_mid_epoch and fit.epoch_loop.restarted_on_train_batch_end:
        fit.reset_restart_stage()
    elif streamed and fit.restarted_mid_epoch and fit.epoch_loop.restarted_on_last:
        fit.epoch_progress.increment_processed()
        fit.epoch_progress.increment_completed()
        fit.reset_restart_stage()
        if not fit.epoch_loop._should_accumulate():  # as after the validation
            fit.epoch_loop._batches_that_stepped += 1
        fit._restarting = fit.epoch_loop.restarting = False
    elif not fit.restarted_mid_epoch:  # the fit had ended, or begun the next epoch
        fit._restarting = fit.epoch_loop.restarting = False


def _count_batches_anew(trainer: Trainer) -> None:
    """Let the next epoch begin with its first batch.

    Lightning does so if an epoch's batches reach its length, and else gradients would be
    accumulated as if the ended epoch went on.
    """
    loop = trainer.fit_loop.epoch_loop
    if loop.restarted_on_train_batch_end:
        loop.batch_progress.increment_completed()
        loop.reset_restart_stage()
    loop.batch_progress.reset_on_run()
    loop.scheduler_progress.reset_on_run()
    loop.automatic_optimization.optim_progress.reset_on_run()


def _loader_of(trainer: Trainer) -> StatefulDataLoader[Any]:
    """Return the training loader.

    Raises:
        ArgumentError: it is none that resumes exactly under this trainer.
    """
    loader = trainer.train_dataloader
    if not isinstance(loader, StatefulDataLoader):
        raise ArgumentError(
            "LoaderCheckpoint needs a midepoch.StatefulDataLoader to train from, got "
            f"{show(loader)}"
        )
    if loader.last_batch == "rollover":  # type: ignore[attr-defined]  # of vars(loader)
        raise ArgumentError(
            "LoaderCheckpoint cannot carry samples over: Lightning stops at an epoch's last batch "
            'and does not ask for its end; give another last_batch than "rollover"'
        )
    check_ranks(loader, trainer.global_rank, trainer.world_size)
    return loader
