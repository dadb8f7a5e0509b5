"""Hugging Face Accelerate: a loader that an ``Accelerator`` saves, loads and never rebuilds.

``accelerator.prepare(loader)`` would build torch's or torchdata's loader in its place, with another
order. ``prepare`` here leaves the loader as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accelerate import Accelerator
from accelerate.utils import send_to_device

from midepoch.errors import ArgumentError, show
from midepoch.integrations.processes import check_ranks, state_of_all
from midepoch.loader import StatefulDataLoader

__all__ = ["PreparedLoader", "prepare"]


def prepare(
    accelerator: Accelerator, loader: StatefulDataLoader[Any], *, device_placement: bool = True
) -> PreparedLoader:
    """Return ``loader`` for a loop with ``accelerator``, in place of ``accelerator.prepare``.

    Its batches are on the accelerator's device (unless ``device_placement`` is False), gradient
    accumulation sees the end of an epoch, ``gather_for_metrics`` drops what fills a last batch up,
    and ``accelerator.save_state`` and ``load_state`` include its position. Accelerate keeps the
    main process's state, which is that of all processes if the loader has ``ranks``. Let all
    processes call ``save_state``, as Accelerate asks.

    Raises:
        ArgumentError: the loader is another one, or there are several processes, and the loader's
            ``ranks`` are not these.
    """
    if not isinstance(loader, StatefulDataLoader):
        raise ArgumentError(
            f"loader should be a midepoch.StatefulDataLoader, got {show(loader)}; let "
            "accelerator.prepare prepare other loaders"
        )
    check_ranks(loader, accelerator.process_index, accelerator.num_processes)
    prepared = PreparedLoader(accelerator, loader, device_placement=device_placement)
    accelerator.register_for_checkpointing(prepared)
    return prepared


class PreparedLoader:
    """A loader within a loop of Accelerate's; its other attributes are the loader's own."""

    def __init__(
        self, accelerator: Accelerator, loader: StatefulDataLoader[Any], *, device_placement: bool
    ) -> None:
        self.loader = loader
        self.end_of_dataloader = False
        """The latest batch is the epoch's last one. A loader without a length knows it only while
        gradients are accumulated: it then fetches one batch more."""
        self.remainder = -1
        """The samples of the epoch's last batch, on all processes together, if it is not full; 0 if
        it is, -1 if that is not known."""
        self._accelerator = accelerator
        self._placed = device_placement
        self.delivered: dict[str, Any] | None = None
        """The state after the latest batch, while the loader is one batch further."""

    def __len__(self) -> int:
        return len(self.loader)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def __iter__(self) -> Iterator[Any]:
        batches = iter(self.loader)
        self.end_of_dataloader, self.remainder = False, self._remainder()
        self.delivered = None
        return _Batches(self, batches, self._accelerator.gradient_state)

    def state_dict(self) -> dict[str, Any]:
        """Return the loader's state after the latest batch, which is that of all processes.

        With a dataset that is iterable, or has a state, all of several processes call this
        together, as ``accelerator.save_state`` does.
        """
        return state_of_all(self.loader, self.delivered)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Let the next epoch continue where ``state`` was taken."""
        self.loader.load_state_dict(state)
        self.delivered = None

    def on_device(self, batch: Any) -> Any:
        """Return ``batch`` on the accelerator's device."""
        if not self._placed:
            return batch
        device, smooth = self._accelerator.device, self._accelerator.non_blocking
        return send_to_device(batch, device, non_blocking=smooth)

    def _remainder(self) -> int:
        """Return ``remainder`` for the epoch that was just begun."""
        loader = self.loader
        dealt = loader._position.plan.dealt  # its ranks have other batches, and not parts of one
        if dealt or loader.batch_size is None or loader.remaining() is None:
            return -1
        if loader.drop_last or vars(loader)["last_batch"] == "rollover":
            return 0
        shared = getattr(loader, "ranks", None) is not None
        samples = len(loader.dataset if shared else loader.sampler)  # type: ignore[arg-type]  # sized: see remaining()
        world = getattr(loader.sampler, "num_replicas", 1) if shared else 1
        # After a new cut the steps before had another size.
        begun = loader.state_dict()["position"]["samples"]
        return int((samples - begun) % (loader.batch_size * world))


_NONE = object()


class _Batches(Iterator[Any]):
    """An epoch's batches; Accelerate knows that it is iterated, up to its end.

    It is no generator: an exception of a sample would end that, and look like the epoch's end.
    """

    def __init__(self, prepared: PreparedLoader, batches: Iterator[Any], state: Any) -> None:
        self._prepared, self._batches, self._state = prepared, batches, state
        self._ahead = prepared.loader.remaining() is None and state.num_steps > 1
        """Each batch is delivered when the next one is there, or the epoch's end is known."""
        self._waiting: Any = _NONE
        self._known = False

    def __next__(self) -> Any:
        prepared = self._prepared
        if not self._known:
            self._known = True
            self._state._add_dataloader(prepared)
        try:
            batch = self._behind() if self._ahead else next(self._batches)
        except StopIteration:
            self._leave()
            raise
        prepared.end_of_dataloader |= prepared.loader.remaining() == 0
        return prepared.on_device(batch)

    def _behind(self) -> Any:
        prepared, loader = self._prepared, self._prepared.loader
        if prepared.end_of_dataloader:
            prepared.delivered = None
            raise StopIteration
        if self._waiting is _NONE:
            prepared.delivered = loader.state_dict()
            self._waiting = next(self._batches)
        batch, delivered = self._waiting, loader.state_dict()
        self._waiting = next(self._batches, _NONE)
        prepared.delivered, prepared.end_of_dataloader = delivered, self._waiting is _NONE
        return batch

    def _leave(self) -> None:
        if self._known:
            self._known = False
            self._state._remove_dataloader(self._prepared)

    def __del__(self) -> None:
        self._leave()
