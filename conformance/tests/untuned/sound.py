"""Sound loaders: ``sound.py:NAME`` is the one that the mutant NAME of this folder was made of."""

import importlib
from typing import Any

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return importlib.import_module(name).Adapter.sound
