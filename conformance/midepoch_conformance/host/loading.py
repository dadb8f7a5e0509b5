"""Finds the adapter that a loader's name stands for (standard library only)."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from midepoch_conformance.case.adapter import Adapter
from midepoch_conformance.host.builders import advice, builders
from midepoch_conformance.host.function_adapter import FunctionAdapter
from midepoch_conformance.text import meant

__all__ = ["BUILT_IN", "ELSEWHERE", "Loaded", "SpecError", "load", "source_of"]

BUILT_IN = ("reference", "torchdata", "torch", "grain")
"""The adapters whose loaders the suite's own development installs."""

ELSEWHERE = {
    "nodes": "others.nodes:Adapter",
    "grain-loader": "others.grain_loader:Adapter",
    "grain-elastic": "others.grain_elastic:Adapter",
    "datasets": "others.datasets:Adapter",
    "datasets-midepoch": "others.datasets:Ours",
    "streaming": "others.streaming:Adapter",
    "litdata": "others.litdata:Adapter",
    "accelerate": "trainers.accelerate:Adapter",
    "accelerate-midepoch": "trainers.accelerate_midepoch:Adapter",
    "lightning": "trainers.lightning:Adapter",
    "lightning-midepoch": "trainers.lightning_midepoch:Adapter",
    "energon": "pipelines.energon:Adapter",
    "dali": "pipelines.dali:Adapter",
    "lhotse": "others.lhotse:Adapter",
    "lhotse-dynamic": "others.lhotse:Dynamic",
    "webdataset": "others.webdataset:Adapter",
    "spdl": "others.spdl:Adapter",
    "mxnet": "others.mxnet:Adapter",
}
"""Further adapters, whose loaders have environments of their own: ``--python PATH``."""

TORCH_DATA = "midepoch_conformance.adapters.torch_data"
"""The module of the suite that adapters may import: its errors are the adapter's own."""

FORMS = (
    f"one of {', '.join((*BUILT_IN, *ELSEWHERE))}; path/to/file.py:Adapter; "
    "package.module:Adapter; or, in place of Adapter, the name of a function of num_workers that "
    "makes a loader"
)


NAMED = f"a loader is named as {FORMS}"


def _hint(name: str, known: Iterable[str]) -> str:
    return meant(name, known) or NAMED


class SpecError(ValueError):
    """A loader's name leads to no adapter."""

    def __init__(self, message: str, hint: str = NAMED) -> None:
        super().__init__(message)
        self.hint = hint


@dataclasses.dataclass
class Loaded:
    """An adapter and its origin."""

    adapter: Adapter
    """The adapter itself."""
    module: str
    """The name of the module that holds it."""
    name: str
    """Its name in the module."""
    file: str
    """That module's file."""
    digest: str
    """The SHA-256 of the file's content; empty if it cannot be read."""
    function: bool
    """Whether it is a plain ``make_loader`` function."""
    own: frozenset[str]
    """The files whose errors are the adapter's, not the loader's."""

    @property
    def title(self) -> str:
        """The name of a function in reports: its file, or the module in a package, and its name."""
        place = self.module if "." in self.module else os.path.basename(self.file)
        return f"{place}:{self.name}"


def load(spec: str) -> Loaded:
    """Import the adapter that ``spec`` names and return it.

    A file is imported under its stem with its folder on ``sys.path``, so that spawned workers
    find it by the same name. An adapter whose file also holds the loader has an attribute
    ``loader_here = True``: errors raised in the file are then the loader's.

    Raises:
        SpecError: ``spec`` has none of the forms, or the name does not exist.
        Exception: any error of the module's import or of the adapter's constructor.
    """
    named = f"{spec}:Adapter" if spec in BUILT_IN else ELSEWHERE.get(spec)
    at = f"midepoch_conformance.adapters.{named}" if named else spec
    typed, name = _parted(at)
    source = _add_folder(typed) if typed.endswith(".py") else typed
    if source == typed and not name:
        raise SpecError(f"{spec!r} names no loader", _meant_by(typed))
    module = importlib.import_module(source)
    file = module.__file__ or ""
    if not name and not hasattr(module, "Adapter"):
        raise SpecError(
            f"{spec!r} names no function and no adapter, and has no class Adapter",
            advice(typed, file),
        )
    if name and not hasattr(module, name):
        names = [n for n, value in vars(module).items() if callable(value) and n[0] != "_"]
        raise SpecError(
            f"module {module.__name__} ({file}) has no {name!r}",
            meant(name, names) or (advice(typed, file) if builders(file) else NAMED),
        )
    return _found(module, name or "Adapter")


def _parted(spec: str) -> tuple[str, str]:
    """Return the file or the module that a loader's name begins with, and the name in it.

    Example:
        >>> _parted("a:b/train.py:make"), _parted("train.py"), _parted("train:make:loader")
        (('a:b/train.py', 'make'), ('train.py', ''), ('train', 'make:loader'))
    """
    folder, colon, name = spec.rpartition(".py:")
    if colon:
        return f"{folder}.py", name
    if spec.endswith(".py"):
        return spec, ""
    module, _, name = spec.partition(":")
    return module, name


def _meant_by(name: str) -> str:
    """Return what a name that leads to no loader may have been meant to be."""
    file = f"{name}.py"
    if name and os.path.isfile(file):
        return f"there is a file {file}: {advice(file, file)}"
    return _hint(name, (*BUILT_IN, *ELSEWHERE))


def source_of(name: str) -> str | None:
    """Return the source of the suite's adapter of this name, which is not imported; or None."""
    module = name if name in BUILT_IN else ELSEWHERE.get(name, "").partition(":")[0]
    if not module:
        return None
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "adapters")
    with open(os.path.join(folder, *module.split(".")) + ".py", encoding="utf-8") as file:
        return file.read()


def _add_folder(path: str) -> str:
    """Make the file importable by its stem, and return that."""
    path = os.path.realpath(path)
    stem = os.path.splitext(os.path.basename(path))[0]
    if not os.path.isfile(path):
        folder = os.path.dirname(path)
        files = os.listdir(folder) if os.path.isdir(folder) else []
        near = [name for name in files if name.endswith(".py")]
        raise SpecError(f"there is no file {path}", _hint(os.path.basename(path), near))
    if not stem.isidentifier():
        raise SpecError(f"{stem!r} is no name for a module", "rename the file to an identifier")
    sys.path.insert(0, os.path.dirname(path))
    known = importlib.util.find_spec(stem)
    if known is None or known.origin is None or os.path.realpath(known.origin) != path:
        raise SpecError(
            f"{stem!r} is already the name of another module",
            "rename the file: it is imported under its stem, so that spawned workers find it",
        )
    return stem


def _found(module: ModuleType, name: str) -> Loaded:
    value: Any = getattr(module, name)
    adapter: Any = value() if inspect.isclass(value) else value
    function = not hasattr(adapter, "open") and callable(adapter)
    if function:
        adapter = FunctionAdapter(adapter)
    missing = [m for m in ("offer", "declines", "prepare", "open") if not hasattr(adapter, m)]
    if missing:
        raise SpecError(
            f"{module.__name__}:{name} is neither an adapter nor a function: "
            f"it has no {', '.join(missing)}"
        )
    file = module.__file__ or ""
    own = {inspect.getfile(FunctionAdapter) if function else file, *_data_files(module)}
    if getattr(adapter, "loader_here", False):
        own = set()
    own -= {""}
    return Loaded(adapter, module.__name__, name, file, _digest(file), function, frozenset(own))


def _digest(file: str) -> str:
    with contextlib.suppress(OSError), open(file, "rb") as content:
        return hashlib.sha256(content.read()).hexdigest()
    return ""


def _data_files(module: ModuleType) -> set[str]:
    """Return the file of the suite's torch datasets, if the adapter's module uses them."""
    used = (value for value in vars(module).values() if isinstance(value, ModuleType))
    return {value.__file__ or "" for value in used if value.__name__ == TORCH_DATA}
