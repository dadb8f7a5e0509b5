"""A user's samplers: who is asked for batches, and what of them can be saved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.utils.data import BatchSampler

from midepoch.errors import StateFormatError
from midepoch.format.plan import ranked
from midepoch.format.state import SAMPLER_SLOTS, GeneratorState, SamplerState
from midepoch.lane import streams
from midepoch.stateful import Frozen, freeze, is_stateful, thaw

__all__ = ["SamplerChain", "is_replayable", "put_back_after"]


_PLAIN = (list, tuple, range)
"""Sequences, which torch takes as samplers too."""


class SamplerChain:
    """A user's samplers: who is asked for batches, and what can be saved along the way."""

    def __init__(self, batch_sampler: Any, sampler: Any) -> None:
        self.batch_size: int | None = None
        """Samples a batch where this package does the batching itself."""
        self.drop = False
        self.objects: dict[str, Any] = {}
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
        self.outer: Any = sampler if batch_sampler is None else batch_sampler
        self.links = _links(self.outer)
        self.pristine: dict[str, Frozen] | None = None
        """The objects' states before they were ever iterated."""

    def name(self, *, given_batch_sampler: bool) -> str:
        """Return the class name of what the user passed, with the rank whose share it deals."""
        name = type(self.outer if given_batch_sampler else self.driver).__qualname__
        for _, link in self.links:
            rank, world = getattr(link, "rank", None), getattr(link, "num_replicas", None)
            if type(rank) is int and type(world) is int:
                return ranked(name, rank, world)
        return name

    def epoch(self) -> int | None:
        """Return ``sampler.epoch`` of the first sampler along the chain that has one."""
        for _, link in self.links:
            value = getattr(link, "epoch", None)
            if type(value) is int:
                return value
        return None

    def put_epoch(self, epoch: int | None) -> None:
        """Set that ``sampler.epoch`` again."""
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
                if streams.generator_kind(value):
                    yield f"{path}.{name}", value

    def has_generators(self) -> bool:
        """Tell whether any generator is found along the chain."""
        return next(self._generators(), None) is not None

    def generators(self) -> tuple[GeneratorState, ...]:
        """Return the states of the generators found as attributes along the chain."""
        return tuple(
            GeneratorState(path, streams.generator_kind(value) or "python", state)
            for path, value in self._generators()
            for state in [streams.generator_state(value)]
        )

    def check_generators(self, saved: tuple[GeneratorState, ...]) -> None:
        """Try saved states on copies of the generators.

        Raises:
            StateFormatError: one is not a state of the generator at its path.
        """
        here = dict(self._generators())
        for i, generator in enumerate(saved):
            path = f"$.sampler.generators[{i}]"
            if streams.generator_kind(here.get(generator.path)) != generator.kind:
                raise StateFormatError(
                    f"there is no {generator.kind} generator at {generator.path} here", path
                )
            try:
                streams.try_generator_state(here[generator.path], generator.state)
            except Exception as error:  # every library has its own
                raise StateFormatError(
                    f"no state of {type(here[generator.path]).__qualname__}: {error}", path
                ) from error

    def check_slots(self, saved: SamplerState) -> None:
        """Raise StateFormatError for a saved state that nobody here can take."""
        for slot in saved.stated:
            here = self.objects.get(slot.removesuffix("_iter"))
            if here is None or (not slot.endswith("_iter") and not is_stateful(here)):
                raise StateFormatError(
                    "holds a state, but the sampler here has no load_state_dict",
                    f"$.sampler.states.{slot}",
                )

    def put_generators(self, saved: tuple[GeneratorState, ...]) -> None:
        """Put the generators back to states that were checked."""
        here = dict(self._generators())
        for generator in saved:
            streams.put_generator_state(here[generator.path], generator.state)

    def object_states(self) -> dict[str, Frozen]:
        """Return the frozen states of the samplers that have one."""
        return {
            slot: freeze(value.state_dict())
            for slot, value in self.objects.items()
            if is_stateful(value)
        }

    def remember_pristine(self) -> bool:
        """Keep the objects' states before their first iteration; return whether this was it."""
        if self.pristine is not None:
            return False
        try:
            self.pristine = self.object_states()
        except Exception:
            self.pristine = {}  # many have none before their first iteration
        return True

    def load_objects(self, states: dict[str, Any]) -> None:
        """Load states into the samplers, the outer one first."""
        for slot in SAMPLER_SLOTS:
            if slot in states and slot in self.objects:
                self.objects[slot].load_state_dict(thaw(states[slot]))


def is_replayable(chain: SamplerChain | None) -> bool:
    """Tell whether all that iterating the samplers moves is in their generators.

    That is so of torch's own samplers. What another class does in ``__iter__`` is not known.
    """
    return chain is None or all(
        type(link).__module__.startswith("torch.utils.data.") or type(link) in _PLAIN
        for _, link in chain.links
    )


@contextmanager
def put_back_after(chain: SamplerChain | None) -> Iterator[None]:
    """Put the generators of the samplers back at the end."""
    saved = () if chain is None else chain.generators()
    try:
        yield
    finally:
        if chain is not None:
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
