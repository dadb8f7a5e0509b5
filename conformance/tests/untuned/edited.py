"""The reference loader with some of its lines edited: a copy of its package, used in its place.

An edit is a file of the package, a text that occurs in it exactly once, and the text to put there.
The copy is a folder, so that spawned workers find it as well.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["COPIES", "Edit", "EditError", "copy_of", "edited", "edits_in", "install", "texts"]

PACKAGE = Path(__file__).resolve().parents[3] / "impl" / "midepoch"

COPIES = "MIDEPOCH_EDITED_COPIES"
"""The environment's variable that names the folder of the copies; else it is a temporary one."""

DEPENDENT = ("midepoch_conformance.adapters.reference", "midepoch_conformance.adapters.torch_data")
"""Modules outside the package that are imported anew, because they hold its classes."""

Edit = tuple[str, str, str]
Arguments = Callable[[dict[str, Any]], dict[str, Any]]

sound = False
"""Whether the edits are left out: the sound loader, under the same adapter."""


class EditError(ValueError):
    """An edit does not fit the package: its text is gone, or stands there more than once."""


def texts(edits: Sequence[Edit]) -> dict[str, str]:
    """Return the edited texts by their files.

    Raises:
        EditError: a text does not occur exactly once.
    """
    changed: dict[str, str] = {}
    for name, old, new in edits:
        text = changed.get(name) or (PACKAGE / name).read_text(encoding="utf-8")
        count = text.count(old)
        if count != 1:
            raise EditError(f"{name} has {count} times, and not once: {old!r}")
        changed[name] = text.replace(old, new)
    return changed


def edits_in(path: Path) -> list[Edit]:
    """Return the edits that a mutant's file names in ``EDITS``, without running it."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "EDITS":
            return [(name, old, new) for name, old, new in ast.literal_eval(node.value)]
    return []


def copy_of(changed: Mapping[str, str]) -> Path:
    """Return a folder with a copy of the package in which these files have other texts."""
    digest = hashlib.sha256(repr(sorted(changed.items())).encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.read_bytes())
    folder = Path(os.environ.get(COPIES) or Path(tempfile.gettempdir(), f"midepoch-{os.getuid()}"))
    wanted = folder / digest.hexdigest()[:16]
    if wanted.exists():
        return wanted
    folder.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder))
    shutil.copytree(PACKAGE, made / "midepoch")
    for name, text in changed.items():
        path = made / "midepoch" / name
        path.write_text(text, encoding="utf-8")
        for old in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            old.unlink()
    try:
        made.rename(wanted)
    except OSError:  # another process was faster
        shutil.rmtree(made)
    return wanted


def install(folder: Path) -> None:
    """Let this process import the package from ``folder``, also if it has imported it already."""
    forget()
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()


def forget() -> None:
    """Let the next import of the package load it again."""
    for name in list(sys.modules):
        if name == "midepoch" or name.startswith("midepoch.") or name in DEPENDENT:
            del sys.modules[name]
    adapters = sys.modules.get("midepoch_conformance.adapters")
    for name in DEPENDENT:  # "from package import module" would still find it there
        vars(adapters or forget).pop(name.rpartition(".")[2], None)


def edited(edits: Sequence[Edit], arguments: Arguments | None = None) -> type[Any]:
    """Put the edited package in the package's place; return the reference loader's adapter.

    ``arguments`` may change the arguments with which the adapter makes a loader.

    Raises:
        EditError: an edit does not fit.
    """
    if sound and arguments is not None:
        forget()  # the arguments stay with the module
    elif not sound:
        install(copy_of(texts(edits)))
    reference = importlib.import_module("midepoch_conformance.adapters.reference")
    made = reference.StatefulDataLoader
    if arguments is not None:
        reference.StatefulDataLoader = lambda dataset, **given: made(dataset, **arguments(given))
    adapter: type[Any] = type("Adapter", (reference.Adapter,), {"loader_here": True})
    return adapter
