"""The broken variants of three other independent loaders, and what kept cases show of all four's.

Their authors had the specification and the adapter's page. The files are kept as they were written,
but for what cases showed of the sound loaders, which are mended, and for the tool that makes the
variants, which they share.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

from midepoch_conformance.families.kept import kept
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.results import failing

HERE = Path(__file__).parent
PACKAGES = {"ledger_loader": "dockload", "pipeline_loader": "pullline", "queue_loader": "carousel"}
"""The folder of each loader, and its package."""

LEAVES_THREADS = {
    "closed_threads_wait_for_ever",
    "engine_dropped_by_a_load",
    "interrupted_threads_stay",
    "threads_share_one_source",
}
"""The variants whose own play leaves threads in its process: the suite alone plays them."""

RACES = {"persistent_stale_replies"}
"""The variants whose own play shows nothing on a busy machine: the suite alone plays them."""

BROKEN = {
    path.stem: folder
    for folder in PACKAGES
    for path in sorted((HERE / folder / "broken").glob("[!_]*.py"))
    if path.stem not in LEAVES_THREADS | RACES
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
            own = module.startswith(("pl_", "dk_", "cz_", "_edit", *PACKAGES.values()))
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


SEEN = {
    "independent_loader": {
        "adopts_the_seed_of_a_state_that_it_refuses": "after a refusal",
        "counts_the_interval_from_the_last_resume": "fetched again",
        "draws_its_seed_when_it_is_first_needed": "saving",
        "ends_the_epoch_where_many_items_raise_StopIteration": "stop iteration",
        "forgets_what_an_epoch_without_a_batch_carries": "rollover",
        "gives_a_loaded_state_back_as_it_is": "edited after load",
        "keeps_the_old_order_when_a_loaded_position_is_renamed": "named epoch",
        "replays_under_the_streams_of_the_first_batches": "interval",
        "returns_to_its_own_lanes_after_the_loaded_epoch": "elastic",
        "sends_errors_that_cannot_be_read_back": "failing sample",
        "takes_a_failed_attempt_for_a_beginning": "failed replay",
        "takes_an_interrupt_in_collate_for_an_error_of_its_batch": "interrupted",
    },
    "ledger_loader": {
        "another_sampler_of_the_same_class": "other plan",
        "closed_threads_wait_for_ever": "held",
        "failed_batch_made_again_whole": "caught",
        "half_a_snapshot": "work cut",
        "load_forgets_persistent_crew": "held",
        "mix_interval_begins_at_a_resume": "fetched again",
        "mix_interval_not_begun_anew": "calls",
        "name_dropped_by_refused_load": "named epoch",
        "name_drops_a_loaded_rest": "named epoch",
        "name_outlives_the_load": "named epoch",
        "numbers_of_pulls_begin_anew_at_a_block": "ambient values",
        "replaced_worker_begins_behind_its_replies": "healed",
        "seal_leaves_lanes_out": "part removed",
        "second_resume_forgets_failed_pulls": "caught again",
        "set_up_left_out_after_a_snapshot": "work cut",
        "start_of_a_pass_taken_anew_after_an_interrupt": "interrupted",
        "state_fixes_sampler_start": "saving",
    },
    "pipeline_loader": {
        "a_pending_state_between_epochs_asks_the_sampler": "reload",
        "a_replay_with_one_known_error_drops_all_errors": "caught",
        "an_interrupted_draw_leaves_the_generators": "interrupted",
        "batch_size_of_streams_not_compared": "other plan",
        "batches_of_a_batch_sampler_are_kept_by_reference": "whole",
        "errors_are_listed_for_ever": "size",
        "flat_dicts_are_not_copied": "work interval",
        "interrupted_threads_stay": "held",
        "lanes_adopted_before_the_refusal": "after a refusal",
        "length_is_counted_in_batches": "other plan",
        "missing_carry_is_read_as_empty": "part removed",
        "naming_an_epoch_forgets_the_carry": "rollover",
        "numpy_seed_of_sixteen_bits": "ambient streams",
        "replay_error_leaves_answers_behind": "failed replay",
        "sampler_is_not_rewound_for_a_new_iterator": "interrupted",
        "saving_throws_the_read_ahead_away": "fetched once",
        "second_persistent_epoch_counts_as_idle": "break",
        "seed_is_adopted_only_inside_an_epoch": "start",
        "the_order_is_kept_by_its_epoch_alone": "used",
        "the_streams_of_a_sampler_follow_the_hash_seed": "work plain",
        "unsized_samplers_are_counted_by_a_pass": "saving",
    },
    "queue_loader": {
        "answers_that_wait_survive_a_broken_epoch": "set and left",
        "breaking_off_takes_the_samplers_epoch_back": "set and left",
        "order_wraps_instead_of_walking": "whole",
        "reused_list_of_a_batch_sampler_is_not_copied": "whole",
    },
}
"""The variants of each loader that a kept case shows, and its family."""


@pytest.mark.usefixtures("warm_hosts")
@pytest.mark.parametrize(
    ("loader", "name"), [(loader, name) for loader, names in SEEN.items() for name in names]
)
def test_a_kept_case_shows_a_variant(loader: str, name: str) -> None:
    path = HERE / loader / "broken" / f"{name}.py"
    with Runner(f"{path}:Adapter", limit=20.0) as runner:
        bench = Bench(runner)
        cases = [case for case in kept() if case.probe == SEEN[loader][name]]
        played = [case for case in cases if not bench.not_offered(case)]
        assert any(failing(f) for case in played for f in bench.judge(case, 0).findings)
