"""The loader with some of its lines edited: copies of its modules, imported beside the sound one.

An edit is a module's file, a text that occurs in it exactly once, and the text to put there. The
modules of a copy have names of their own, so that workers, spawned ones too, import the copy.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import adapter

__all__ = ["COPIES", "MODULES", "Edit", "EditError", "edited", "module", "texts"]

COPIES = "MIDEPOCH_EDITED_COPIES"
"""The environment's variable that names the folder of the copies; else it is a temporary one."""

HERE = Path(__file__).resolve().parent
MODULES = ("", "_epochs", "_errors", "_lanes", "_states", "_streams", "_workers")
"""The ends of the names of the loader's modules."""

Edit = tuple[str, str, str]

_IMPORTED = re.compile(r"^(from|import) tideway(?=\w* |\w*$)", re.MULTILINE)


class EditError(ValueError):
    """An edit does not fit the loader: its text is gone, or stands there more than once."""


def texts(edits: Sequence[Edit]) -> dict[str, str]:
    """Return the texts of all modules by their files, with the edits.

    Raises:
        EditError: a text does not occur exactly once.
    """
    found = {f"tideway{end}.py": "" for end in MODULES}
    for name in found:
        found[name] = (HERE / name).read_text(encoding="utf-8")
    for name, old, new in edits:
        count = found[name].count(old)
        if count != 1:
            raise EditError(f"{name} has {count} times, and not once: {old!r}")
        found[name] = found[name].replace(old, new)
    return found


def copy_of(found: dict[str, str], name: str) -> Path:
    """Return a folder with these texts as modules whose names begin with ``name``."""
    folder = Path(os.environ.get(COPIES) or Path(tempfile.gettempdir(), f"midepoch-{os.getuid()}"))
    wanted = folder / name
    if wanted.exists():
        return wanted
    folder.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder))
    for file, text in found.items():
        copied = _IMPORTED.sub(rf"\1 {name}", text)
        (made / file.replace("tideway", name, 1)).write_text(copied, encoding="utf-8")
    try:
        made.rename(wanted)
    except OSError:  # another process was faster
        shutil.rmtree(made)
    return wanted


def module(edits: Sequence[Edit]) -> ModuleType:
    """Return the loader's first module with the edits.

    Raises:
        EditError: an edit does not fit.
    """
    found = texts(edits)
    name = "tideway_" + hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()[:16]
    folder = str(copy_of(found, name))
    if folder not in sys.path:
        sys.path.append(folder)
    importlib.invalidate_caches()
    return importlib.import_module(name)


def edited(edits: Sequence[Edit]) -> type[Any]:
    """Return the adapter of the loader with the edits.

    Raises:
        EditError: an edit does not fit.
    """
    caller = sys._getframe(1).f_globals["__name__"]
    return type("Adapter", (adapter.Adapter,), {"lib": module(edits), "__module__": caller})
