"""Each untuned mutant can be loaded, fits the loader that it edits, and is broken indeed.

The suite has no part in this: a mutant's own demonstration shows its bug. Whether the suite finds
the mutants is measured by ``detection.py``, not tested.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import detection
import pytest

from midepoch_conformance.verdict import requirements

MUTANTS = detection.untuned()
SHARE = int(os.environ.get("MIDEPOCH_SHOW_ONE_UNTUNED_LOADER_IN", "4"))
"""Of so many loaders one has its demonstration played here; `.ci/nightly mutants` plays all."""

ENOUGH = 60
EDITS_ENOUGH = 20
"""How many of them must be edits of the reference loader's own text."""

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(autouse=True, scope="module")
def _quick_collections() -> Iterator[None]:
    """Let each collection look at a test's own objects only, and not at all of torch's."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@contextlib.contextmanager
def imported(path: Path, *, sound: bool) -> Iterator[ModuleType]:
    """Import a mutant's file, or the same file without its edits; undo all imports afterwards."""
    modules, paths = dict(sys.modules), list(sys.path)
    sys.path.insert(0, str(detection.UNTUNED))
    try:
        importlib.import_module("edited").sound = sound  # type: ignore[attr-defined]
        yield importlib.import_module(path.stem)
    finally:
        sys.path[:] = paths
        for name in set(sys.modules) - set(modules):
            del sys.modules[name]
        sys.modules.update(modules)


def shown(mutant: detection.Mutant, *, sound: bool) -> tuple[Any, Any]:
    """Return what a mutant's demonstration, or its sound loader's, shows, and what is right."""
    with imported(mutant.path, sound=sound) as module:
        play = importlib.import_module("play")
        made: list[Any] = []

        def begun(adapter: Any, **fields: Any) -> Any:
            made.append(play.Play(adapter, **fields))
            return made[-1]

        adapter = module.Adapter
        if sound and not mutant.edits:
            adapter = adapter.sound
        try:
            seen, right = module.shows(functools.partial(begun, adapter()))
            return seen, right
        finally:
            for one in made:
                one.close()
            gc.collect()


@pytest.mark.parametrize("name", [n for n in MUTANTS if zlib.crc32(n.encode()) % SHARE == 0])
def test_a_mutant_is_broken_and_its_sound_loader_is_not(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIDEPOCH_EDITED_COPIES", str(tmp_path))
    seen, right = shown(MUTANTS[name], sound=True)
    assert seen == right, "the sound loader fails the mutant's demonstration"
    try:
        seen, right = shown(MUTANTS[name], sound=False)
    except Exception as error:  # the mutant may fail in any way, but it is there
        if type(error).__name__ == "EditError":
            raise
        seen = error
    assert seen != right, "the mutant's demonstration shows nothing"


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_says_what_it_is(name: str) -> None:
    mutant = MUTANTS[name]
    assert mutant.family
    assert set(mutant.breaks) <= set(requirements.load())
    assert mutant.words.endswith(".")
    if mutant.edits:
        with imported(mutant.path, sound=True):
            edited = importlib.import_module("edited")
            assert edited.texts(edited.edits_in(mutant.path)), "the texts that it edits are there"


def test_they_are_many() -> None:
    assert len(MUTANTS) >= ENOUGH
    assert sum(mutant.edits > 0 for mutant in MUTANTS.values()) >= EDITS_ENOUGH
    assert not set(MUTANTS) & set(detection.tuned())
