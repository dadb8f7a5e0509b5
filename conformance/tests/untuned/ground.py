"""The ground of the small loaders' mutants: the loaders of ``../mutants`` and their adapter."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "mutants"))

import base
import simple

__all__ = ["base", "mutant", "simple"]


def mutant(
    loader: type[simple.Loader] = simple.Loader,
    session: type[base.Session] = base.Session,
    *,
    sound: type[simple.Loader] = simple.Loader,
    adapter: type[base.Adapter] = base.Adapter,
    **changes: Any,
) -> type[base.Adapter]:
    """Return an adapter of a broken loader; its ``sound`` is the adapter of the sound one."""
    good = type("Adapter", (adapter,), {"loader": sound, "changes": changes})
    parts = {"loader": loader, "session": session, "changes": changes, "sound": good}
    return type("Adapter", (adapter,), parts)
