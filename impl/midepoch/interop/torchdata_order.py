"""The shuffled order of torchdata's loader, drawn as it draws it.

Its ``RandomSampler`` draws one permutation an epoch from one generator. The loader's other draws
from that generator, between two epochs, depend on the version, on whether there are workers, and
on whether the generator was given. Our states note these draws in the sampler's name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from typing import Literal

import torch
from torch.utils.data import BatchSampler, Sampler

from midepoch.errors import ForeignStateError, StateFormatError, show
from midepoch.sampling.chain import SamplerChain

__all__ = [
    "Layout",
    "TorchdataShuffle",
    "advance_past",
    "after_left_epoch",
    "before_first_order",
    "between_epochs",
    "order_chain",
    "order_name",
    "read_generator",
    "single_start",
]

Layout = Literal["old", "new", "bare"]
"""The object with the sampler's state: the batch sampler (0.8 to 0.10), its iterator (0.11), or,
without automatic batching, the sampler's own iterator (all of them)."""

_NAME = "torchdata RandomSampler"
_WORDS = ("permutation", "seed")

_IDLE_ITERATORS = 16
"""Iterators made before the first batch: each draws a seed."""

_WALKED_EPOCHS = 10_000
_WALKED_INDICES = 100_000_000
"""The search for the epoch of a generator's state ends after so many."""


class TorchdataShuffle(Sampler[int]):
    """The indices that torchdata's ``RandomSampler`` gives, epoch after epoch.

    ``between``: the draws of its loader from the same generator between two epochs.

    >>> sampler = TorchdataShuffle(range(4), torch.Generator().manual_seed(0), ())
    >>> list(sampler), list(sampler)
    ([0, 1, 3, 2], [0, 2, 3, 1])
    """

    def __init__(self, source: Sized, generator: torch.Generator, between: Sequence[str]) -> None:
        self.source = source
        self.generator = generator
        self.between = tuple(between)

    def __iter__(self) -> Iterator[int]:
        order: list[int] = _permutation(self.generator, len(self.source)).tolist()
        for word in self.between:
            _draw(self.generator, len(self.source), word)
        return iter(order)

    def __len__(self) -> int:
        return len(self.source)


def _permutation(generator: torch.Generator, length: int) -> torch.Tensor:
    return torch.randperm(length, generator=generator)


def _seed(generator: torch.Generator) -> int:
    return int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())


def _draw(generator: torch.Generator, length: int, word: str) -> None:
    if word == "seed":
        _seed(generator)
    else:
        _permutation(generator, length)


# The order in our own states


def order_name(between: Sequence[str]) -> str:
    """Return the name under which our states record this order.

    >>> order_name(["permutation", "seed"])
    'torchdata RandomSampler +permutation +seed'
    """
    return "".join([_NAME, *(f" +{word}" for word in between)])


def order_chain(
    name: str | None, source: Sized, *, batch_size: int | None, drop_last: bool
) -> SamplerChain | None:
    """Return the samplers of the order that ``name`` records, or ``None`` if the name is another's.

    >>> chain = order_chain("torchdata RandomSampler +seed", range(4), batch_size=2, drop_last=True)
    >>> chain.driver.between
    ('seed',)
    """
    if name is None or not name.startswith(_NAME):
        return None
    words = [word.strip() for word in name[len(_NAME) :].split("+")[1:]]
    if name != order_name(words) or not set(words) <= set(_WORDS):
        return None
    sampler = TorchdataShuffle(source, torch.Generator(), words)
    batches = None if batch_size is None else BatchSampler(sampler, batch_size, drop_last)
    return SamplerChain(batches, sampler)


# The generator in torchdata's states


def read_generator(value: object, path: str) -> torch.Generator:
    """Return a generator in the state ``value``.

    Raises:
        StateFormatError: it is no state of torch's generators.
    """
    if type(value) is not torch.Tensor:
        raise StateFormatError(f"expected a generator's state, got {show(value)}", path)
    generator = torch.Generator()
    try:
        generator.set_state(value.cpu())  # a checkpoint may have been loaded onto a device
    except Exception as error:  # a RuntimeError or a TypeError, by the tensor's fault
        raise StateFormatError(f"no state of torch.Generator: {error}", path) from error
    return generator


def between_epochs(layout: Layout, *, workers: int, given: bool, persistent: bool) -> list[str]:
    """Return the draws after an epoch's permutation and before the next one's.

    ``given``: the generator was an argument of the loader, which then draws a seed for each of
    its iterators from it. ``layout`` is "old" or "new" here. The old sampler draws a second,
    unused permutation at its end; the new one draws at once, and an iterator with workers makes
    two.
    """
    stays = workers > 0 and persistent
    words = ["permutation"] if layout == "old" or (workers and not stays) else []
    return [*words, "seed"] if given and not stays else words


def advance_past(generator: torch.Generator, length: int, between: Sequence[str]) -> None:
    """Move ``generator`` from where an epoch's permutation is drawn to where the next one's is."""
    for word in ("permutation", *between):
        _draw(generator, length, word)


def before_first_order(generator: torch.Generator, base_seed: int) -> None:
    """Move a generator that was saved before the first epoch's seed was drawn past that seed.

    The old sampler saves it so only in the first epoch; in later ones ``generator`` stays as it
    is. The seed itself, ``base_seed``, is in the states of loaders with workers.
    """
    trial = generator.clone_state()
    for _ in range(_IDLE_ITERATORS):
        if _seed(trial) == base_seed:
            generator.set_state(trial.get_state())
            return


def after_left_epoch(generator: torch.Generator, length: int, base_seed: int) -> None:
    """Move a generator that was saved in the epoch before to where this one's order is drawn.

    The seed of this epoch's iterator, ``base_seed``, tells which of the draws lie between: the
    seed of the first epoch, and the sampler's unused permutation at an end that it reached.

    Raises:
        ForeignStateError: none of them leads to that seed.
    """
    for first in (["seed"], []):
        for end in (["permutation"], []):
            trial = generator.clone_state()
            for word in [*first, "permutation", *end]:
                _draw(trial, length, word)
            if _seed(trial) == base_seed:
                generator.set_state(trial.get_state())
                return
    raise ForeignStateError(
        "it is of an epoch's start, and its generator's state is not of the epoch before",
        "$._snapshot._main_snapshot._index_sampler_state.sampler_iter_state.generator",
    )


def single_start(generator: torch.Generator, length: int, between: Sequence[str]) -> None:
    """Do the same without a seed to compare with, from the generator's own first seed.

    Raises:
        ForeignStateError: no epoch of an uninterrupted run from that seed begins so.
    """
    walk = torch.Generator().manual_seed(generator.initial_seed())
    first = torch.equal(walk.get_state(), generator.get_state())
    _seed(walk)
    if first:
        generator.set_state(walk.get_state())
        return
    for _ in range(min(_WALKED_EPOCHS, 1 + _WALKED_INDICES // max(1, 2 * length))):
        advance_past(walk, length, between)
        if torch.equal(walk.get_state(), generator.get_state()):
            return
    raise ForeignStateError(
        "a version before 0.11 saved it, which does not say whether its generator's state is of "
        "the first epoch or of a later one, and no uninterrupted run from the generator's seed "
        "has this state at an epoch's start",
        "$._index_sampler_state.sampler_iter_state.generator",
    )
