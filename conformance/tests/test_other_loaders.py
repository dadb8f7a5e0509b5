"""The broken variants of two other independent loaders: a pipeline of stages, and a ledger.

Their authors had the specification and the adapter's page. The files are kept as they were written.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

from midepoch_conformance.case.notation import parse
from midepoch_conformance.families import tables
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.results import failing

HERE = Path(__file__).parent
PACKAGES = {"ledger_loader": "dockload", "pipeline_loader": "pullline"}
"""The folder of each loader, and its package."""

BROKEN = {
    path.stem: folder
    for folder in PACKAGES
    for path in sorted((HERE / folder / "broken").glob("[!_]*.py"))
}
"""The folder of each variant's loader."""


@pytest.fixture(autouse=True, scope="module")
def _tracker() -> None:
    """Start the tracker of spawned processes' resources, which lives as long as this process."""
    resource_tracker.ensure_running()


@pytest.fixture
def folder(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Let a test import the files of a variant's loader, and undo its imports."""
    found = HERE / BROKEN[name]
    monkeypatch.setenv("MIDEPOCH_EDITED_COPIES", str(tmp_path))
    modules, paths = set(sys.modules), list(sys.path)
    sys.path[:0] = [str(found), str(found / "broken")]
    try:
        yield found / "broken"
    finally:
        sys.path[:] = paths
        for module in set(sys.modules) - modules:
            own = module.startswith(("pl_", "dk_", "_edit", *PACKAGES.values()))
            if module in BROKEN or own:
                del sys.modules[module]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", BROKEN)
def test_a_variant_is_broken(name: str) -> None:
    module = importlib.import_module(name)
    assert set(module.BREAKS) <= set(requirements.load())
    assert module.EDITS
    sound, broken = module.shows()
    assert sound != broken


SHOWN = {
    "the_order_is_kept_by_its_epoch_alone": "used: batch_size=2 shuffle=true seed=3;"
    " take 2, save s | [adopts=true] take 1, break, load s, drain, drain",
    "the_streams_of_a_sampler_follow_the_hash_seed": "work plain: batch_size=2"
    " sampler=permuting; [host=b] drain, drain",
}
"""Variants, and a case of every profile that shows each."""


@pytest.mark.usefixtures("warm_hosts")
@pytest.mark.parametrize("name", SHOWN)
def test_a_case_shows_a_variant(name: str) -> None:
    case = parse(SHOWN[name])
    assert case.id in {one.id for one in tables.load_table("quick")}
    with Runner(f"{HERE / BROKEN[name] / 'broken' / name}.py:Adapter", limit=20.0) as runner:
        bench = Bench(runner)
        assert not bench.not_offered(case)
        assert any(failing(finding) for finding in bench.judge(case, 0).findings)
