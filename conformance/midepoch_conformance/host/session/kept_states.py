"""The states of a session: their objects, the values that these had, and their files."""

from __future__ import annotations

import os
import urllib.parse
from typing import Any

from midepoch_conformance.case.data.trees import altered, spelled
from midepoch_conformance.case.trace import Event
from midepoch_conformance.host.session import codecs
from midepoch_conformance.host.session.journal import Journal

__all__ = ["NO_SUCH_STATE", "KeptStates", "NoSuchState"]

NO_SUCH_STATE = "no such state"
"""``Event.document`` of a step that ended its session because its object did not exist."""


class NoSuchState(Exception):  # noqa: N818 - the session ends there, which is no error
    """The session has no state of this name: it took or got none."""


class KeptStates:
    """The states of one session, by their names.

    Args:
        folder: the folder in which states are written.
        files: the codec and the file of each state that earlier sessions wrote.
        journal: learns of each file.
    """

    def __init__(self, folder: str, files: dict[str, tuple[str, str]], journal: Journal) -> None:
        self._folder, self._files, self._journal = folder, dict(files), journal
        self._objects: dict[str, Any] = {}
        self._noted: dict[str, str | None] = {}

    def keep(self, name: str, state: Any) -> None:
        """Keep a state's object, and note its value."""
        self._objects[name] = state
        self._noted[name] = _spelled(state)

    def object(self, name: str) -> Any:
        """Return the object that is kept as ``name``."""
        if name not in self._objects:
            raise NoSuchState(name)
        return self._objects[name]

    def altered(self, name: str) -> str | None:
        """Return how the object that is kept as ``name`` differs from its noted value."""
        before, now = self._noted[name], _spelled(self._objects[name])
        return altered(before, now) if before is not None and now is not None else None

    def codec(self, name: str) -> str:
        """Return the codec of the file of ``name``."""
        return self._file(name)[0]

    def read(self, name: str) -> tuple[str, bytes]:
        """Return the codec and the bytes of the file of ``name``."""
        codec, path = self._file(name)
        with open(path, "rb") as file:
            return codec, file.read()

    def write(self, name: str, codec: str, data: bytes, event: Event) -> None:
        """Write the bytes of a state that a step saves as ``name``."""
        event.size, event.digest = len(data), codecs.digest(data)
        file = f"{event.step}-{urllib.parse.quote(name, safe='')}.{codec}"
        path = os.path.join(self._folder, file)
        with open(path, "wb") as out:
            out.write(data)
        self._files[name] = (codec, path)
        self._journal.state(name, codec, path)

    def _file(self, name: str) -> tuple[str, str]:
        if name not in self._files:
            raise NoSuchState(name)
        return self._files[name]


def _spelled(state: Any) -> str | None:
    """Return a state's value as a text; None if it has none, as states that hold themselves."""
    try:
        return spelled(state)
    except Exception:  # a state of the loader's may raise anything when it is looked at
        return None
