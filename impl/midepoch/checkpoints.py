"""States of several ranks made one, and states as opaque leaves for checkpoint libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from midepoch.encoding.canonical import dumps, loads
from midepoch.epoch.position import LoaderPosition
from midepoch.epoch.progress import frozen, thawed
from midepoch.errors import ArgumentError, RanksError, StateFormatError, show
from midepoch.format.dealing import lanes_of
from midepoch.format.merging import merged, part_of
from midepoch.format.state import Document, Share

__all__ = ["Checkpointable", "common", "merge_states"]

KEY = "state"


def merge_states(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the state of all ranks to which the lanes of one plan are dealt.

    Load it on each rank of the same number of ranks, or of any other that divides the lanes.

    Args:
        states: the states of all ranks at one position, in any order. One state that is whole
            already is returned as it is, as a new dict.

    Raises:
        RanksError: they are not the states of all ranks, or not of one position; the ranks are
            named.
        StateFormatError, StateVersionError: one is not a state.

    >>> from torch.utils.data import IterableDataset
    >>> from midepoch import StatefulDataLoader, merge_states
    >>> class Numbers(IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(4))
    >>> def loader(rank, world):
    ...     return StatefulDataLoader(Numbers(), ranks=(rank, world), lanes=2, seed=0)
    >>> whole = merge_states([loader(rank, 2).state_dict() for rank in range(2)])
    >>> alone = loader(0, 1)
    >>> alone.load_state_dict(whole)
    >>> [batch.item() for batch in alone]
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    if isinstance(states, Mapping) or not isinstance(states, Iterable):
        raise RanksError(f"expected the states of all ranks in a list, got {show(states)}")
    documents = [Document.from_dict(state) for state in states]
    whole = documents[0] if len(documents) == 1 and not _partial(documents[0]) else None
    return thawed(frozen(merged(documents) if whole is None else whole)).to_dict()


def _partial(document: Document) -> bool:
    return document.plan.dealt and document.position.share is not None


def common(document: Document) -> Document:
    """Return what the documents of all ranks at one position have in common."""
    if not document.plan.dealt:
        return document
    position = replace(document.position, samples=0, share=None)
    return replace(document, position=position, lanes=None)


class _Loader(Protocol):
    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state: dict[str, Any]) -> None: ...


class Checkpointable:
    """A loader whose states always have the same keys; see ``loader.checkpointable()``.

    torch's distributed checkpoint (DCP) takes states apart, and loads the keys that the present
    state has. A fresh loader's state has other keys than a saved one, since a user's state may
    grow. Here a state is the bytes of its canonical encoding, or, where lanes are dealt to ranks,
    those of a state for each lane.

    ``lanes``: whether the user gave their number.
    """

    def __init__(self, loader: _Loader, position: LoaderPosition, *, lanes: bool) -> None:
        if position.plan.dealt and not lanes:
            raise ArgumentError(
                "checkpointable() has a key for each lane, and without lanes= their number follows "
                "from the workers and ranks, so another number of ranks would find no such keys: "
                "give lanes=, a multiple of every number of ranks that the run may have"
            )
        self._loader = loader
        self._position = position

    def _keys(self) -> dict[str, Share | None]:
        """Return the keys, and whose state each has."""
        plan, share = self._position.plan, self._position.share()
        if not plan.dealt:  # a rank whose share the user deals has a state of its own
            return {KEY if share is None else f"{KEY} of rank {share.rank}": None}
        if plan.lanes == 1:
            return {KEY: None}
        lanes = lanes_of(plan, share)
        return {f"lane {lane}": Share(lane, plan.lanes) for lane in lanes}

    def state_dict(self) -> dict[str, bytes]:
        """Return the loader's state as leaves.

        They are empty if the ranks that share the loader's plan have not agreed on a seed yet, so
        that a library can ask a fresh loader for the keys. Empty ones load as nothing.

        Raises:
            StateEncodingError: a user's state holds a value that the format cannot encode (DOC-5).
        """
        try:
            state = self._loader.state_dict()
        except RanksError:
            return dict.fromkeys(self._keys(), b"")
        keys = self._keys()
        if list(keys.values()) == [None]:
            return dict.fromkeys(keys, dumps(state))
        document = Document.from_dict(state)
        return {key: dumps(part_of(document, share).to_dict()) for key, share in keys.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Let the loader continue where ``state`` was taken.

        Raises:
            StateFormatError: ``state`` is none of these.
            StateError: as ``loader.load_state_dict``.
        """
        leaves = [_leaf(state, key) for key in self._keys()]
        if not any(leaves):
            return
        if len(leaves) == 1:
            self._loader.load_state_dict(loads(leaves[0]))
            return
        documents = [Document.from_dict(loads(leaf)) for leaf in leaves]
        lanes = documents[0].plan.lanes
        if lanes != len(leaves) * (self._position.share() or Share(0, 1)).world:
            raise StateFormatError(
                f"the leaves are of {lanes} lanes, and the loader has "
                f"{self._position.plan.lanes}: give lanes={lanes}",
                "$.plan.lanes",
            )
        self._loader.load_state_dict(merged(documents, self._position.share()).to_dict())


def _leaf(state: object, key: str) -> bytes:
    found = state.get(key) if type(state) is dict else None
    if type(found) is not bytes:
        words = f"expected bytes under {key!r}, as checkpointable() gives them"
        raise StateFormatError(f"{words}, got {show(state)}", "$", "REFUSE-1")
    return found
