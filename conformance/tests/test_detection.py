"""The scripts that measure the suite: they play whole profiles, go on, and count rightly."""

from __future__ import annotations

import json
from pathlib import Path

import detection
import pytest
import traceability
from detection import Mutant, Result
from warm_hosts import WarmHosts

from midepoch_conformance.families.tables import load_table

pytestmark = pytest.mark.timeout(300)


@pytest.mark.usefixtures("warm_hosts")
def test_playing_stops_at_the_first_failing_case() -> None:
    path = traceability.MUTANTS / "loses_last_sample.py"
    facts = detection.playing(f"{path}:Adapter", "quick", 5.0)
    assert facts["caught"]
    assert facts["requirement"].startswith("BASIS-")
    assert facts["number"] < 30


@pytest.mark.usefixtures("warm_hosts")
def test_what_the_sound_loader_fails_as_well_is_no_find(monkeypatch: pytest.MonkeyPatch) -> None:
    path = traceability.MUTANTS / "loses_last_sample.py"
    whole = (c for c in load_table("quick") if c.probe == "whole")
    case = next(c for c in whole if (c.workload.kind, c.workload.tail) == ("map", "keep"))
    assert "BASIS-3" in detection.failed_by(f"{path}:Adapter", case, 5.0)
    monkeypatch.setattr(detection, "failed_by", lambda *_: {f"BASIS-{n}" for n in range(1, 7)})
    facts = detection.playing(f"{path}:Adapter", "quick", 5.0)
    assert not facts.get("requirement", "").startswith("BASIS-")


def test_a_loader_that_does_not_run_is_no_find(warm_hosts: WarmHosts, tmp_path: Path) -> None:
    path = tmp_path / "no_loader.py"
    path.write_text("Adapter = 3 / 0\n", encoding="utf-8")
    facts = detection.playing(f"{path}:Adapter", "quick", 5.0)
    assert not facts["caught"]
    assert facts["trouble"]


def test_an_interrupted_run_plays_only_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[str] = []

    def playing(spec: str, profile: str, limit: float, jobs: int, sound: str) -> dict[str, object]:
        played.append(f"{Path(spec).stem} {profile}")
        return {"caught": profile == "full" or "c.py" in spec, "number": 3}

    monkeypatch.setattr(detection, "playing", playing)
    kept = tmp_path / "kept.jsonl"
    mutants = [Mutant(name, tmp_path / f"{name}.py", "costs", (), "") for name in "abc"]
    detection.measured(mutants[:1], ["quick"], kept, False)
    results = detection.measured(mutants, ["quick", "full"], kept, True)
    # What quick has caught is not played through full.
    assert played == ["a quick", "b quick", "c quick", "a full", "b full"]
    assert [r.caught for r in results] == [False, False, True, True, True]
    assert detection.measured(mutants, ["quick", "full"], kept, True) == results
    assert len(played) == 5


def test_the_requirement_that_found_a_mutant_before_is_asked_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[str] = []

    def playing(*facts: object) -> dict[str, object]:
        only = facts[5] if len(facts) > 5 else ()
        played.append(f"{Path(str(facts[0])).stem} {facts[1]} {only}")
        return {"caught": only == ("COST-1",), "number": 3}

    monkeypatch.setattr(detection, "playing", playing)
    monkeypatch.setattr(detection, "found_before", {"a": "COST-1", "b": "COST-2"}.copy)
    kept = tmp_path / "kept.jsonl"
    mutants = [Mutant(name, tmp_path / f"{name}.py", "costs", (), "") for name in "abc"]
    results = detection.measured(mutants, ["quick", "full"], kept, True)
    assert [r.name for r in results if r.caught] == ["a"]
    assert played == [
        "a quick ('COST-1',)",
        "b quick ('COST-2',)",
        "b quick ()",
        "c quick ()",
        "b full ()",
        "c full ()",
    ]


def test_the_last_run_names_judged_requirements() -> None:
    assert detection.found_before().keys() <= {**detection.tuned(), **detection.untuned()}.keys()


def test_what_quick_has_caught_counts_in_full_as_well() -> None:
    results = [
        Result("a", "costs", "quick", True, "COST-1"),
        Result("b", "costs", "quick", False),
        Result("c", "values", "quick", False, trouble="does not run"),
        Result("b", "costs", "full", True, "COST-3"),
    ]
    made = detection.summary(results)
    assert made["profiles"]["quick"] == {
        "mutants": 3,
        "caught": 2,
        "families": {"costs": {"mutants": 2, "caught": 1}, "values": {"mutants": 1, "caught": 1}},
    }
    assert made["profiles"]["full"]["caught"] == made["profiles"]["full"]["mutants"] == 3
    assert set(detection.summary(results[:3])["profiles"]) == {"quick"}
    json.dumps(made)


def test_a_mutants_file_is_read_without_running_it(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text(
        '"""Says\nsomething.\n\nMore."""\nFAMILY = "costs"\nBREAKS: tuple[str, ...] = ()\n'
        'EDITS = [("a.py", "b", "c")]\nraise SystemExit\n',
        encoding="utf-8",
    )
    found = detection.described(path)
    assert found == Mutant("one", path, "costs", (), "Says something.", 1, True)
    path.write_text("x = 1\n", encoding="utf-8")
    assert detection.described(path) is None


def test_mutations_follow_from_their_files() -> None:
    pytest.importorskip("cosmic_ray")
    mutation = pytest.importorskip("mutation")
    known = mutation.places("stateful.py")
    assert known == mutation.places("stateful.py")
    one = next(many[0] for many in known.values() if many[0].operator == "ReplaceAndWithOr")
    assert " or callable(" in one.text()
    assert one.text() != mutation.source("stateful.py")
    assert one.words().startswith("- ")
    assert mutation.meaning("x: int = 1") == mutation.meaning("x: str = 1")
    assert mutation.meaning("def f(<<): ...") is None


def test_a_broken_version_of_another_loader_is_measured_beside_that_loader() -> None:
    mutants = detection.independent()
    assert len(mutants) >= 69
    mutant = mutants["deals_some_workers_their_last_batch_again"]
    assert (mutant.family, mutant.torch) == ("another loader", True)
    assert mutant.sound == f"{detection.INDEPENDENT[0].parent}/adapter.py:Adapter"
    assert not set(mutants) & {*detection.tuned(), *detection.untuned()}
