"""Drawing from a user's sampler early, and putting it back, so that nothing of it shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from midepoch.sampling.chain import SamplerChain

__all__ = ["can_peek", "peeking"]

_PLAIN = (list, tuple, range)
"""Sequences, which torch takes as samplers too."""


def can_peek(chain: SamplerChain | None) -> bool:
    """Tell whether all that iterating the samplers moves is in their generators.

    That is so of torch's own samplers. What another class does in ``__iter__`` is not known.
    """
    return chain is None or all(
        type(link).__module__.startswith("torch.utils.data.") or type(link) in _PLAIN
        for _, link in chain.links
    )


@contextmanager
def peeking(chain: SamplerChain | None) -> Iterator[None]:
    """Put the generators of the samplers back at the end."""
    saved = () if chain is None else chain.generators()
    try:
        yield
    finally:
        if chain is not None:
            chain.put_generators(saved)
