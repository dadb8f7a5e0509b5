"""Makes the broken versions of independent loaders that are packages, and what their plays need.

Each is an edited copy of the package and of its adapter, which worker processes can import, too.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["Rows", "Walk", "build", "on", "outcome", "take"]

COPIES = "MIDEPOCH_EDITED_COPIES"
"""The environment's variable that names the folder of the copies; else it is a temporary one."""

Edit = tuple[str, str, str]
"""A module's file, a text that occurs in it exactly once, and the text to put there."""


def build(
    package: str, prefix: str, file: str, edits: Sequence[Edit]
) -> tuple[ModuleType, ModuleType, type[Any]]:
    """Return the sound package, the one with the edits of ``file``, and the adapter of that one.

    Raises:
        RuntimeError: an edit does not fit: its text is gone, or stands there more than once.
    """
    sound, name = Path(file).resolve().parents[1], prefix + Path(file).stem.strip("_")
    temporary = os.path.join(tempfile.gettempdir(), f"midepoch-{os.getuid()}")
    root = Path(os.environ.get(COPIES) or temporary, name)
    texts = {path.name: path.read_text() for path in sorted((sound / package).glob("*.py"))}
    for module, old, new in edits:
        count = texts[module].count(old)
        if count != 1:
            raise RuntimeError(f"{file}: {module} has {count} times, and not once: {old!r}")
        texts[module] = texts[module].replace(old, new)
    for part, text in texts.items():
        _write(root / name / part, text)
    adapter, line = (sound / "adapter.py").read_text(), f"\nimport {package}\n"
    if adapter.count(line) != 1:
        raise RuntimeError(f"{sound / 'adapter.py'} has not one line{line.rstrip()}")
    adapter = adapter.replace(line, f"\nimport {name} as {package}\n")
    _write(root / f"{name}_adapter.py", adapter)
    for path in (str(sound), str(root)):
        if path not in sys.path:
            sys.path.insert(0, path)
    importlib.invalidate_caches()
    made = importlib.import_module(f"{name}_adapter").Adapter
    return importlib.import_module(package), importlib.import_module(name), made


def _write(path: Path, text: str) -> None:
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text)
    part.replace(path)


def outcome(play: Callable[..., Any], *args: Any) -> Any:
    """Return what a play gives, or its exception in words."""
    try:
        return play(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]


def take(iterator: Iterator[Any], n: int) -> list[Any]:
    """Return the next ``n`` batches."""
    return [next(iterator) for _ in range(n)]


def on(iterator: Iterator[Any], n: int = 10**6) -> list[Any]:
    """Return up to ``n`` batches, with the type of an exception that the caller catches between."""
    got: list[Any] = []
    for _ in range(n):
        try:
            got.append(next(iterator))
        except StopIteration:
            break
        except (Exception, KeyboardInterrupt) as error:
            got.append(type(error).__name__)
    return got


class Rows:
    """Random access: sample i is i."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> int:
        return i


class Walk:
    """A Stateful stream of 0 .. n - 1."""

    def __init__(self, n: int) -> None:
        self.n, self.at, self.loaded = n, 0, 0

    def __iter__(self) -> Iterator[int]:
        self.at, self.loaded = self.loaded, 0
        while self.at < self.n:
            self.at += 1
            yield self.at - 1

    def state_dict(self) -> int:
        """Return the place."""
        return self.at

    def load_state_dict(self, state: int) -> None:
        """Continue from a place, once."""
        self.loaded = state
