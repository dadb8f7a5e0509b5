"""A user's samplers: the one that gives batches, and the states along their chain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.utils.data import BatchSampler

from midepoch.errors import StateFormatError
from midepoch.format.state import COUNT_MAX, GeneratorState, SamplerState, Share
from midepoch.lane.passes import FirstState
from midepoch.sampling import generators
from midepoch.stateful import is_stateful

__all__ = ["SamplerChain", "is_replayable", "put_back_after"]


_PLAIN = (list, tuple, range)
"""Sequences, which torch accepts as samplers."""


class SamplerChain:
    """A user's samplers: the one that gives batches, and the states along their chain."""

    def __init__(self, batch_sampler: Any, sampler: Any) -> None:
        self.batch_size: int | None = None
        """Samples a batch, where this package does the batching itself."""
        self.drop = False
        self.objects: dict[str, Any] = {}
        """The samplers that can hold a state, by their slots, the outer one first."""
        if type(batch_sampler) is BatchSampler:
            # Batching here instead of in its generator keeps the inner iterator within reach.
            self.batch_size, self.drop = batch_sampler.batch_size, batch_sampler.drop_last
            self.driver_slot = "sampler"
            self.objects["sampler"] = batch_sampler.sampler
        elif batch_sampler is not None:
            self.driver_slot = "batch_sampler"
            self.objects["batch_sampler"] = batch_sampler
            if getattr(batch_sampler, "sampler", None) is not None:
                self.objects["sampler"] = batch_sampler.sampler
        else:
            self.driver_slot = "sampler"
            self.objects["sampler"] = sampler
        self.automatic = batch_sampler is not None
        self.driver: Any = self.objects[self.driver_slot]
        """The sampler that is iterated."""
        self.iterator_slot = f"{self.driver_slot}_iter"
        self.outer: Any = sampler if batch_sampler is None else batch_sampler
        self.links = _links(self.outer)
        self.first_state = FirstState()

    def name(self, *, given_batch_sampler: bool) -> str:
        """Return the class name of the user's sampler."""
        return type(self.outer if given_batch_sampler else self.driver).__qualname__

    def share(self) -> Share | None:
        """Return the share that the first sampler along the chain with a rank deals (WORLD-2)."""
        for _, link in self.links:
            rank, world = getattr(link, "rank", None), getattr(link, "num_replicas", None)
            if type(rank) is int and type(world) is int and 0 <= rank < world:
                return Share(rank, world)
        return None

    def epoch(self) -> int | None:
        """Return ``sampler.epoch`` of the first sampler along the chain that has one."""
        for _, link in self.links:
            value = getattr(link, "epoch", None)
            if type(value) is int and abs(value) <= COUNT_MAX:
                return value
        return None

    def put_epoch(self, epoch: int | None) -> None:
        """Set ``sampler.epoch`` of that sampler."""
        for _, link in self.links:
            if epoch is not None and type(getattr(link, "epoch", None)) is int:
                if callable(getattr(link, "set_epoch", None)):
                    link.set_epoch(epoch)
                else:
                    link.epoch = epoch
                return

    def _generators(self) -> Iterator[tuple[str, Any]]:
        for path, link in self.links:
            for name, value in getattr(link, "__dict__", {}).items():
                if generators.kind_of(value):
                    yield f"{path}.{name}", value

    def has_generators(self) -> bool:
        """Tell whether any generator is found along the chain."""
        return next(self._generators(), None) is not None

    def generators(self) -> tuple[GeneratorState, ...]:
        """Return the states of the generators that are attributes along the chain."""
        return tuple(
            GeneratorState(path, generators.kind_of(value) or "python", state)
            for path, value in self._generators()
            for state in [generators.state_of(value)]
        )

    def check_generators(self, saved: tuple[GeneratorState, ...]) -> None:
        """Try saved states on copies of the generators.

        Raises:
            StateFormatError: one is not a state of the generator at its path.
        """
        here = dict(self._generators())
        for i, generator in enumerate(saved):
            path = f"$.sampler.generators[{i}]"
            if generators.kind_of(here.get(generator.path)) != generator.kind:
                raise StateFormatError(
                    f"there is no {generator.kind} generator at {generator.path} here", path
                )
            try:
                generators.try_state(here[generator.path], generator.state)
            except Exception as error:  # every library has its own
                raise StateFormatError(
                    f"no state of {type(here[generator.path]).__qualname__}: {error}", path
                ) from error

    def check_slots(self, saved: SamplerState) -> None:
        """Raise StateFormatError for a saved state that no sampler here can load."""
        for slot in saved.stated:
            here = self.objects.get(slot.removesuffix("_iter"))
            iterator = slot.endswith("_iter")
            if here is None or not (slot == self.iterator_slot if iterator else is_stateful(here)):
                raise StateFormatError(
                    "holds a state, but no sampler here has a load_state_dict for it",
                    f"$.sampler.states.{slot}",
                )

    def put_generators(self, saved: tuple[GeneratorState, ...]) -> None:
        """Restore the generators to states that were checked."""
        here = dict(self._generators())
        for generator in saved:
            generators.put_state(here[generator.path], generator.state)


def is_replayable(chain: SamplerChain | None) -> bool:
    """Tell whether restoring the generators undoes an iteration of the samplers.

    This holds for torch's own samplers. Another class may change anything in ``__iter__``.
    """
    return chain is None or all(
        type(link).__module__.startswith("torch.utils.data.") or type(link) in _PLAIN
        for _, link in chain.links
    )


@contextmanager
def put_back_after(chain: SamplerChain | None, *, failure_only: bool = False) -> Iterator[None]:
    """Restore the generators of the samplers at the end, or only if an exception ends it."""
    saved = () if chain is None else chain.generators()
    back = True
    try:
        yield
        back = not failure_only
    finally:
        if chain is not None and back:
            chain.put_generators(saved)


def _links(outer: Any) -> list[tuple[str, Any]]:
    links: list[tuple[str, Any]] = []
    path, link = "sampler", outer
    while link is not None and all(link is not seen for _, seen in links):
        links.append((path, link))
        inner = getattr(link, "sampler", None)
        path, link = (
            f"{path}.sampler",
            inner if inner is not None else getattr(link, "batch_sampler", None),
        )
    return links
