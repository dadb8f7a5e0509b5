"""The independent loader, written from the specification alone, passes; its variants are broken.

The suite has no part in the tests of the variants: each one's own demonstration shows its bug.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path
from types import ModuleType

import pytest

import midepoch_conformance.families
from midepoch_conformance.case.case import Case
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.finding import FAILURES

HERE = Path(__file__).parent / "independent_loader"
BROKEN = {path.stem: path for path in sorted((HERE / "broken").glob("*.py"))}
QUICK = Path(midepoch_conformance.families.__file__).parent / "cases" / "quick.jsonl"

CASES = 10
"""The number of cases that the sound loader plays here, at equal distances in the table."""


def own(name: str) -> bool:
    """Tell whether a module is one of the independent loader's files or copies."""
    return name.startswith("tideway") or name == "adapter" or name in BROKEN


def taken() -> dict[str, ModuleType]:
    """Take the independent loader's modules out of the imported ones."""
    return {name: sys.modules.pop(name) for name in list(sys.modules) if own(name)}


@pytest.fixture(autouse=True, scope="module")
def _tracker() -> None:
    """Start the tracker of spawned processes' resources, which lives as long as this process."""
    resource_tracker.ensure_running()


@pytest.fixture
def imports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Let a test import the independent loader's files, and undo its imports."""
    monkeypatch.setenv("MIDEPOCH_EDITED_COPIES", str(tmp_path))
    modules, paths = taken(), list(sys.path)
    sys.path[:0] = [str(HERE), str(HERE / "broken")]
    try:
        yield
    finally:
        sys.path[:] = paths
        taken()
        sys.modules.update(modules)


@pytest.mark.usefixtures("imports")
@pytest.mark.parametrize("name", BROKEN)
def test_a_variant_is_broken_in_the_same_way_each_time(name: str) -> None:
    module = importlib.import_module(name)
    shown = module.shows()
    assert shown["differ"], "the variant's demonstration shows nothing"
    assert shown["sound"] != shown["variant"]
    assert module.shows() == shown


@pytest.mark.usefixtures("imports")
@pytest.mark.parametrize("name", BROKEN)
def test_a_variant_says_what_it_is(name: str) -> None:
    module = importlib.import_module(name)
    assert module.BREAKS
    assert set(module.BREAKS) <= set(requirements.load())
    assert module.__doc__.strip().endswith(".")
    sound = importlib.import_module("tideway_edited").texts([])
    assert module.EDITS
    for file, old, new in module.EDITS:
        assert sound[file].count(old) == 1
        assert old != new


@pytest.mark.usefixtures("imports")
def test_an_edit_that_does_not_fit_is_an_error() -> None:
    edited = importlib.import_module("tideway_edited")
    for old in ("no text of the loader's", "import"):
        with pytest.raises(edited.EditError, match="and not once"):
            edited.edited([("tideway.py", old, "")])


@pytest.mark.usefixtures("imports")
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_workers_run_the_edited_copy(context: str) -> None:
    edited = importlib.import_module("tideway_edited")
    lib = edited.module([("tideway_lanes.py", "return np.stack(rows)", "return -np.stack(rows)")])
    numpy = importlib.import_module("numpy")
    loader = lib.Loader(numpy.arange(4).reshape(4, 1), 2, workers=1, context=context)
    try:
        assert [batch.tolist() for batch in loader] == [[[0], [-1]], [[-2], [-3]]]
    finally:
        loader.close()


@pytest.mark.parametrize(
    "loader", ["independent_loader", "ledger_loader", "pipeline_loader", "queue_loader"]
)
def test_the_sound_loader_passes(loader: str) -> None:
    lines = QUICK.read_text(encoding="utf-8").splitlines()
    cases = (Case.from_json(json.loads(line)) for line in lines[:: len(lines) // (4 * CASES)])
    outcomes, failed = [], []
    with contextlib.ExitStack() as stack:
        runner = stack.enter_context(
            Runner(f"{HERE.parent / loader}/adapter.py:Adapter", limit=20.0)
        )
        bench = Bench(runner)
        for case in cases:
            if len(outcomes) == CASES:
                break
            if bench.not_offered(case):
                continue
            findings = bench.judge(case, 0).findings
            outcomes.append({finding.outcome for finding in findings})
            failed += [f for f in findings if f.outcome in {*FAILURES, "unstable", "error"}]
    assert [(f.requirement, f.outcome, f.words) for f in failed] == []
    assert len(outcomes) == CASES
    assert all("pass" in found for found in outcomes)
