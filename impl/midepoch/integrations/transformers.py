"""Hugging Face transformers: a ``Trainer`` that trains from a loader, saves it and resumes it.

``Trainer`` builds torch's loader from a dataset, and resumes by fetching batches again to skip
them. Here it trains from the user's loader, which seeks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from transformers import TrainerCallback, TrainingArguments
from transformers.trainer_callback import ExportableState

from midepoch.epoch.samplers import ShownSequential, ShownShare, ShownShuffle
from midepoch.errors import ArgumentError, StateFormatError, show
from midepoch.integrations.processes import check_ranks, state_of_all
from midepoch.loader import StatefulDataLoader

__all__ = ["LoaderCheckpoint", "LoaderCheckpointMixin", "TrainedLoader"]

KEY = "loader"


class LoaderCheckpointMixin:
    """Lets a ``Trainer`` train from a midepoch loader, and resume it from any checkpoint.

    ``class MyTrainer(LoaderCheckpointMixin, Trainer)`` takes ``train_loader=`` beside the trainer's
    own arguments. The loader's batch size, order, ``collate_fn`` and workers hold, not those of the
    ``TrainingArguments``. Its state is in each checkpoint's ``trainer_state.json``, which the main
    process writes: with several processes the loader needs ``ranks="auto"``, so that this is the
    state of all. ``ignore_data_skip`` is set, because the loader seeks.

    Raises:
        ArgumentError: the loader, or one of the arguments, does not let a run resume exactly; at
            the start of a training, also if its checkpoint has no loader's state.
    """

    args: TrainingArguments

    def __init__(
        self, *arguments: Any, train_loader: StatefulDataLoader[Any], **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        if self.train_dataset is not None:  # type: ignore[attr-defined]  # the trainer's
            raise ArgumentError("train_loader has the dataset to train on: leave train_dataset out")
        _check(train_loader, self.args)
        self.args.ignore_data_skip = True
        self._trained = TrainedLoader(train_loader)
        self.add_callback(LoaderCheckpoint())  # type: ignore[attr-defined]  # the trainer's

    def get_train_dataloader(self) -> TrainedLoader:
        """Return the loader that the trainer was given."""
        return self._trained

    def _save_checkpoint(self, *arguments: Any, **options: Any) -> Any:
        """Take the loader's state on all processes; the trainer asks the main one for it."""
        # A trainer that restores the states of callbacks makes the callback anew.
        for one in self.callback_handler.callbacks:  # type: ignore[attr-defined]  # the trainer's
            if isinstance(one, LoaderCheckpoint):
                one.take()
        return super()._save_checkpoint(*arguments, **options)  # type: ignore[misc]  # the trainer's


class TrainedLoader:
    """A loader within the loop of a ``Trainer``; its other attributes are the loader's own.

    The trainer asks ``len()`` for the batches of an epoch, and never asks for more of them. So a
    resumed epoch has the length of its rest. The end of an epoch is passed with its last batch: a
    checkpoint that is saved then resumes with the next epoch. The length of an iterable dataset is
    not used, because its batches may be more or fewer: the trainer needs ``max_steps``.
    """

    def __init__(self, loader: StatefulDataLoader[Any]) -> None:
        self.loader = loader
        self.left: int | None = None
        """The batches that a resumed epoch has left at its beginning, up to its end."""
        self._resumed = False

    def __len__(self) -> int:
        if self.loader.remaining() is None:
            raise TypeError("the batches of this loader cannot be counted; give max_steps")
        return len(self.loader) if self.left is None else self.left

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def __iter__(self) -> Iterator[Any]:
        resumed, self._resumed = self._resumed, False
        empty = True
        for batch in self._epoch():
            empty = False
            yield batch
        if empty and resumed:
            # Nothing was left of a stream, and the trainer would take that for the data's end.
            yield from self._epoch()

    def _epoch(self) -> Iterator[Any]:
        batches = iter(self.loader)
        for batch in batches:
            if self.loader.remaining() == 0:
                for more in batches:
                    raise StateFormatError(f"expected an epoch's end, got {show(more)}", "$")
            yield batch

    def resume(self, state: dict[str, Any]) -> None:
        """Let the next epoch continue where ``state`` was taken."""
        self.loader.load_state_dict(state)
        self.left, self._resumed = self.loader.remaining(), True

    def set_epoch(self, epoch: int) -> None:
        """Tell a sampler of the user's the epoch; the loader counts those of its own order.

        The trainer finds the epoch of a resumed run by dividing its steps, which is another one if
        the loader has no length.
        """
        if not isinstance(self.loader.sampler, (ShownSequential, ShownShare, ShownShuffle)):
            self.loader.set_epoch(epoch)


class LoaderCheckpoint(TrainerCallback, ExportableState):  # type: ignore[misc]  # may be missing
    """Saves the loader's state with the trainer's; ``LoaderCheckpointMixin`` adds it."""

    def __init__(self) -> None:
        self._trained: TrainedLoader | None = None
        self._taken: dict[str, Any] = {}

    def take(self) -> None:
        """Take the state of all processes, which call this together."""
        if self._trained is not None:
            self._taken = {KEY: state_of_all(self._trained.loader)}

    def state(self) -> dict[str, Any]:
        """Return the state that was taken last, for the checkpoint."""
        return {"args": {}, "attributes": self._taken}

    def on_train_begin(
        self, args: Any, state: Any, control: Any, *, train_dataloader: Any, **more: Any
    ) -> None:
        """Load the checkpoint's state, if there is one."""
        self._trained = train_dataloader
        if state.global_step == 0:
            return
        kept = state.stateful_callbacks.get(type(self).__name__, {}).get("attributes", {})
        if KEY not in kept:
            raise ArgumentError(
                "resume_from_checkpoint names a checkpoint without a loader's state: give one that "
                "a trainer with LoaderCheckpointMixin saved"
            )
        train_dataloader.resume(kept[KEY])

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Count the epoch from its beginning; the trainer counts from where it was resumed."""
        trained = self._trained
        if trained is None or trained.left is None:
            return
        epoch = math.ceil(state.epoch) - 1
        done = round((state.epoch - epoch) * trained.left)
        whole = len(trained.loader)
        state.epoch = epoch + (whole - trained.left + done) / whole

    def on_epoch_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Give the next epoch its whole length."""
        if self._trained is not None:
            self._trained.left = None


def _check(loader: object, args: TrainingArguments) -> None:
    """Refuse what cannot resume exactly.

    Raises:
        ArgumentError: what it is, and what to do.
    """
    if not isinstance(loader, StatefulDataLoader):
        raise ArgumentError(
            f"train_loader should be a midepoch.StatefulDataLoader, got {show(loader)}"
        )
    if vars(loader)["last_batch"] == "rollover":
        raise ArgumentError(
            "the trainer takes all epochs to be as long as the first: give train_loader another "
            'last_batch than "rollover"'
        )
    for name in ("auto_find_batch_size", "include_tokens_per_second"):
        if getattr(args, name):
            raise ArgumentError(
                f"{name} lets the trainer iterate train_loader before the training, or once more: "
                "the position would be lost; leave it out"
            )
    check_ranks(loader, args.process_index, args.world_size)
