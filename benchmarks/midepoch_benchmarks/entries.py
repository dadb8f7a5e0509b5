"""The contenders of a case, and the pairs that are compared (pure)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from midepoch_benchmarks.cases import ASKED, Case
from midepoch_benchmarks.goals import VALUE

__all__ = ["BUILT_IN", "WITHOUT", "Entry", "pairs"]

BUILT_IN = ("reference", "torch", "torchdata", "torch-file-system", "torch-tuned")
"""The contenders that take torch's datasets and arguments, and need no adapter."""

WITHOUT = "none"
"""The name of the loader itself with snapshots switched off, as its own peer."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """A contender as it takes part in a case."""

    name: str
    """The name in results."""
    spec: str
    """The name on the command line."""
    adapted: bool = False
    """Whether it is reached through its adapter."""
    snapshots: bool = True
    """Whether it takes snapshots."""
    peer: bool = False
    """Whether the loader is compared with it."""


def pairs(case: Case, loader: str, peers: Sequence[str]) -> list[tuple[Entry, Entry | None]]:
    """Return the loader with each of its peers; with None if it is measured alone.

    Two contenders that take torch's arguments are built with them. Otherwise both are reached
    through their adapters, so that they deliver the same.

    >>> from midepoch_benchmarks.cases import CASES
    >>> found = pairs(CASES["first-batch"], "reference", ["torch", "grain"])
    >>> [(ours.name, theirs.name) for ours, theirs in found]
    [('reference', 'torch'), ('reference (adapter)', 'grain')]
    """
    against = tuple(peers) if case.against == ASKED else tuple(case.against)
    against = (*against, *case.beside)
    found: list[tuple[Entry, Entry | None]] = []
    for peer in dict.fromkeys(against):
        if peer == loader:
            continue
        itself = peer == WITHOUT or peer in case.beside
        adapted = loader not in BUILT_IN or (peer not in BUILT_IN and not itself)
        ours = _entry(loader, adapted)
        if peer == WITHOUT:
            theirs = dataclasses.replace(ours, name=WITHOUT, snapshots=False, peer=True)
        else:
            theirs = dataclasses.replace(_entry(peer, adapted and not itself), peer=True)
        found.append((ours, theirs))
    alone = _entry(loader, loader not in BUILT_IN)
    if case.goal.of == VALUE and all(ours != alone for ours, _ in found):
        # The goal is for the loader built with torch's arguments, beside any peer.
        found.insert(0, (alone, None))
    return found or [(alone, None)]


def _entry(spec: str, adapted: bool) -> Entry:
    name = f"{spec} (adapter)" if adapted and spec in BUILT_IN else spec
    return Entry(name, spec, adapted)
