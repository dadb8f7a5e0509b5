"""Saved states, found in files: JSON or ``torch.save``, alone or inside a checkpoint.

Nothing of a file is executed: what ``torch.load(weights_only=True)`` refuses is refused here.
"""

from __future__ import annotations

import dataclasses
import json
import pickle
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from midepoch_conformance.errors import CheckError
from midepoch_conformance.text import clipped, meant, printable

__all__ = ["FORMAT", "StateFileError", "StoredState", "read_states"]

FORMAT = "midepoch.state"
"""The value of a state's field ``format``."""

_TORCH = frozenset({".pt", ".pth", ".ckpt", ".bin", ".tar"})
_PARTS = frozenset({"plan", "position", "lanes"})
_TORCHDATA = (
    frozenset({"_snapshot", "_steps_since_snapshot"}),
    frozenset({"_sampler_iter_yielded", "_num_yielded"}),
)
_GLOBAL = re.compile(r"GLOBAL ([\w.]+)|(?:class|function) ([\w.]+) ")
_SAVED_BY = "save it with torch.save(loader.state_dict(), FILE), or with midepoch.state_to_json"


class StateFileError(CheckError):
    """A file without a state; the text says what the file is instead."""


@dataclasses.dataclass(frozen=True)
class StoredState:
    """A state at one place of a file, not yet checked."""

    path: str
    """The place, such as ``loader`` or ``loaders.0``; empty if the file is the state."""
    value: Any
    """The state as a program would load it."""
    fault: Exception | None = None
    """Why it cannot be decoded; ``value`` is then the JSON text's own tree."""


def read_states(path: Path, key: str = "") -> list[StoredState]:
    """Return the states in the file ``path``; ``key`` names one place to look at.

    Raises:
        StateFileError: the file cannot be read, or holds no state.
    """
    content, text = _content(path)
    places = list(_at_key(content, key))
    if not places:
        states = [place for place, _ in _search("", content, _is_state) if place]
        words = ", ".join(printable(place) for place in states or _steps(content)) or "none"
        hint = meant(key, states) or f"its {'states' if states else 'keys'}: {words}"
        raise StateFileError(f"{path}: there is nothing at {printable(key)!r}", hint)
    found = [hit for place, value in places for hit in _search(place, value, _is_state)]
    if not found:
        raise _no_state(path, key, [value for _, value in places])
    if text is None:
        return [StoredState(place, value) for place, value in found]
    return [_decoded(text, place, value) for place, value in found]


@dataclasses.dataclass(frozen=True)
class _Json:
    """The text of a JSON file, and a key that appears twice in one of its objects."""

    text: str
    twice: str | None


def _content(path: Path) -> tuple[Any, _Json | None]:
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except OSError as error:
        raise StateFileError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    if not head:
        raise StateFileError(f"{path}: the file is empty", _SAVED_BY)
    # The content decides first: torch.save writes zip files, pickles begin with 0x80.
    binary = head.startswith((b"PK", b"\x80"))
    if binary or (path.suffix.lower() in _TORCH and head.lstrip()[:1] not in b"{["):
        return _load_torch(path), None
    return _load_json(path)


def _load_torch(path: Path) -> Any:
    try:
        import torch
    except ImportError as error:
        raise StateFileError(
            f"{path}: torch is needed to read it: {error}", "pip install torch"
        ) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(
                path, weights_only=True, map_location="cpu", mmap=zipfile.is_zipfile(path)
            )
    except Exception as error:  # a damaged file may raise anything
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> StateFileError:
    with path.open("rb") as file:
        head = file.read(2)
    text = " ".join(str(error).split())
    code = _GLOBAL.search(text)
    if code is not None:
        what = f"loading it would run code that it names ({code[1] or code[2]})"
    elif isinstance(error, pickle.UnpicklingError) and head.startswith(b"\x80"):
        what = "it is a pickle, which may run code when it is loaded"
    else:
        words = "the file is damaged or cut off" if head == b"PK" else "not a file of torch.save"
        reason = clipped(printable(text), 80)
        return StateFileError(f"{path}: {words} ({type(error).__name__}: {reason})", _SAVED_BY)
    return StateFileError(
        f"{path}: refused: {what}",
        "inspect reads files with torch.load(weights_only=True) only; if you trust this one, load "
        "it yourself and write the state with midepoch.state_to_json",
    )


def _load_json(path: Path) -> tuple[Any, _Json]:
    twice: list[str] = []

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in members:
            if name in found:
                twice.append(name)
            found[name] = value
        return found

    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text, object_pairs_hook=pairs)
    except RecursionError as error:
        raise StateFileError(f"{path}: nested too deeply for JSON") from error
    except ValueError as error:
        words = "the text is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise StateFileError(f"{path}: neither JSON nor a file of torch.save: {words}") from error
    return content, _Json(text, twice[0] if twice else None)


def _decoded(json_text: _Json, place: str, value: Any) -> StoredState:
    """Return the state of canonical JSON, or why it has none."""
    from midepoch import state_from_json
    from midepoch.errors import StateFormatError, show

    if json_text.twice is not None:
        reason = f"the key {show(json_text.twice)} appears twice in an object"
        return StoredState(place, value, StateFormatError(reason, "$", "DOC-5"))
    text = json.dumps(value) if place else json_text.text
    try:
        return StoredState(place, state_from_json(text))
    except StateFormatError as error:
        return StoredState(place, value, error)


def _at_key(content: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Yield the values at ``key``; the names in a key may contain dots."""
    if not key:
        yield "", content
        return
    for name, value in _steps(content).items():
        if key == name:
            yield name, value
        elif key.startswith(f"{name}."):
            for rest, found in _at_key(value, key[len(name) + 1 :]):
                yield f"{name}.{rest}", found


def _steps(value: Any) -> dict[str, Any]:
    """Return the values of a mapping, or the elements of a sequence, by name."""
    if isinstance(value, dict):
        members = list(value.items())
    elif type(value) in (list, tuple):
        members = list(enumerate(value))
    else:
        return {}
    return {str(name): member for name, member in members if type(name) in (str, int)}


def _search(place: str, value: Any, wanted: Callable[[Any], bool]) -> Iterator[tuple[str, Any]]:
    """Yield the places of wanted values, in order; the search does not enter a found value."""
    seen: set[int] = set()
    open_: list[tuple[str, Any]] = [(place, value)]
    while open_:
        at, found = open_.pop()
        if not isinstance(found, (dict, list, tuple)) or id(found) in seen:
            continue
        seen.add(id(found))
        if wanted(found):
            yield at, found
            continue
        below = [(f"{at}.{name}" if at else name, one) for name, one in _steps(found).items()]
        open_ += reversed(below)


def _is_state(value: Any) -> bool:
    """Return whether ``value`` names the format, or has the other parts of a state."""
    if not isinstance(value, dict):
        return False
    names = {name for name in value if type(name) is str}
    return names >= _PARTS or ("format" in names and _says(value["format"]))


def _says(name: object) -> bool:
    return type(name) is str and name == FORMAT


def _is_torchdata(value: Any) -> bool:
    return isinstance(value, dict) and any(names <= set(_steps(value)) for names in _TORCHDATA)


def _no_state(path: Path, key: str, values: list[Any]) -> StateFileError:
    where = f"{path}, at {printable(key)}" if key else str(path)
    for value in values:
        for place, _ in _search(key, value, _is_torchdata):
            at = f" (at {printable(place)})" if place else ""
            return StateFileError(
                f"{where}: a torchdata state, not a midepoch state{at}",
                "inspect shows midepoch's own states; the loader itself can load torchdata's",
            )
    kinds = ", ".join(_kind(value) for value in values)
    return StateFileError(
        f'{where}: no midepoch state in it (none has "format": "{FORMAT}"): {kinds}', _SAVED_BY
    )


def _kind(value: Any) -> str:
    names = [clipped(printable(name, lines=False), 30) for name in _steps(value)]
    if isinstance(value, dict) and names:
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        return f"it is a dict with the keys {', '.join(names[:8])}{more}"
    empty = type(value) in (dict, list) and not value
    return f"it is {'an empty' if empty else 'a'} {type(value).__name__}"
