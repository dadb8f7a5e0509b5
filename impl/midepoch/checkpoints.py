"""A loader's state as one opaque leaf, for checkpoint libraries that take states apart."""

from __future__ import annotations

from typing import Any, Protocol

from midepoch.errors import RanksError, StateFormatError, show
from midepoch.format.canonical import dumps, loads

__all__ = ["Checkpointable"]

KEY = "state"


class _Loader(Protocol):
    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state: dict[str, Any]) -> None: ...


class Checkpointable:
    """A loader whose states have one key, whatever is in them; see ``loader.checkpointable()``.

    torch's distributed checkpoint (DCP) takes states apart, and loads the keys that the present
    state has. A fresh loader's state has other keys than a saved one, since a user's state may
    grow. Here the state is the bytes of its canonical encoding.
    """

    def __init__(self, loader: _Loader) -> None:
        self._loader = loader

    def state_dict(self) -> dict[str, bytes]:
        """Return the loader's state under one key.

        It is empty if the ranks that share the loader's plan have not agreed on a seed yet, so that
        a library can ask a fresh loader for the key. An empty one loads as nothing.

        Raises:
            StateEncodingError: a user's state holds a value that the format cannot encode (DOC-5).
        """
        try:
            return {KEY: dumps(self._loader.state_dict())}
        except RanksError:
            return {KEY: b""}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Let the loader continue where ``state`` was taken.

        Raises:
            StateFormatError: ``state`` is none of these.
            StateError: as ``loader.load_state_dict``.
        """
        found = state.get(KEY) if type(state) is dict else None
        if type(found) is not bytes:
            words = f"expected bytes under {KEY!r}, as checkpointable() gives them"
            raise StateFormatError(f"{words}, got {show(state)}", "$", "REFUSE-1")
        if found:
            self._loader.load_state_dict(loads(found))
