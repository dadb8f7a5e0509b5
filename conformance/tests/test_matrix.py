"""The matrix: its rows, the environments that locks describe, and runs that fail or are stopped."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from midepoch_conformance.cli import main
from midepoch_conformance.errors import CheckError
from midepoch_conformance.host.loading import BUILT_IN, ELSEWHERE
from midepoch_conformance.matrix import playing
from midepoch_conformance.matrix.environments import LockError, interpreter
from midepoch_conformance.matrix.playing import Places, Played, play
from midepoch_conformance.matrix.rows import ROWS, Row, named
from midepoch_conformance.report.file import load_report
from midepoch_conformance.report.lines import suite_version

LOCKS = Path(__file__).parents[1] / "environments"
LOADER = Path(__file__).parent / "fakes" / "counter.py"

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    root = tmp_path_factory.mktemp("matrix")
    (root / "locks").mkdir()
    (root / "locks" / "empty.txt").write_text("# nothing\n")
    return Places(root / "locks", root / "environments", root / "results")


@pytest.fixture(scope="module")
def played(places: Places) -> list[Played]:
    """Return what became of two rows that fail and of one that does not: it plays a profile."""
    rows = (
        Row("unlocked", f"{LOADER}:Adapter", "missing"),
        Row("broken", f"{LOADER}:NoSuchAdapter", "empty"),
        Row("simple", f"{LOADER}:Adapter", "empty"),
    )
    return list(play(rows, places, "quick"))


def test_rows_name_adapters_and_locks_that_exist() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert row.adapter in (*BUILT_IN, *ELSEWHERE)
        assert (LOCKS / f"{row.environment}.txt").is_file()
    assert {row.adapter for row in ROWS} >= set(ELSEWHERE)


@pytest.mark.parametrize("lock", sorted(LOCKS.glob("*.txt")), ids=lambda path: path.stem)
def test_locks_pin_each_package_once(lock: Path) -> None:
    lines = [line for line in lock.read_text().splitlines() if line and not line.startswith("#")]
    names = [line.partition("==")[0] for line in lines]
    assert all(line.count("==") == 1 and "://" not in line for line in lines)
    assert len(set(names)) == len(names)


def test_a_name_of_no_row_is_refused() -> None:
    with pytest.raises(CheckError, match="no row 'torchdat'") as error:
        named(("torchdat",))
    assert "did you mean 'torchdata'" in error.value.hint


def test_an_environment_is_made_once_and_anew_with_another_lock(places: Places) -> None:
    lock = places.locks / "mine.txt"
    lock.write_text("# one\n")
    python = interpreter(lock, places.environments)
    found = subprocess.run(
        [python, "-c", "import importlib.util as u; print(u.find_spec('midepoch').origin)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert found.stdout.strip().endswith("midepoch/__init__.py")
    marker = python.parents[1] / "marker"
    marker.touch()
    assert interpreter(lock, places.environments) == python
    assert marker.exists()
    lock.write_text("# two\n")
    assert interpreter(lock, places.environments) == python
    assert not marker.exists()


def test_what_cannot_be_installed_says_why_and_leaves_nothing(places: Places) -> None:
    lock = places.locks / "absent.txt"
    lock.write_text(f"{places.locks.as_posix()}/no-such-package.whl\n")
    with pytest.raises(LockError, match="the environment absent cannot be made") as error:
        interpreter(lock, places.environments)
    assert "no-such-package" in error.value.hint
    assert not (places.environments / "absent").exists()


def test_a_row_that_fails_does_not_stop_the_others(places: Places, played: list[Played]) -> None:
    first, second, third = played
    assert first.path is None
    assert "the lock of the environment cannot be read" in first.trouble
    assert second.path is None
    assert "NoSuchAdapter" in second.trouble
    assert third.path is not None
    assert load_report(third.path).header.loader.name == "counter"
    assert not list(places.results.glob("*.part"))


def test_reports_are_kept_until_they_are_asked_for_again(
    places: Places, played: list[Played], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, path = (played[2].row,), played[2].path
    judged: list[Any] = []
    monkeypatch.setattr(playing, "_judge", lambda *asked: judged.append(asked))
    kept = next(play(rows, places, "quick"))
    assert kept.kept
    assert kept.path == path
    assert not judged
    next(play(rows, places, "full"))
    next(play(rows, places, "quick", again=True))
    assert len(judged) == 2
    monkeypatch.setattr(playing, "same_cases", lambda report: False)
    next(play(rows, places, "quick"))
    assert len(judged) == 3, "the table has changed"


def test_the_report_of_an_interrupted_run_is_continued(
    places: Places, played: list[Played]
) -> None:
    whole = played[2].path
    assert whole is not None
    lines = whole.read_text().splitlines(keepends=True)
    kept = sum('"type": "case"' in line for line in lines) - 40  # so many are played again
    (places.results / "cut.part").write_text("".join(lines[: kept + 1]))
    again = next(play((Row("cut", f"{LOADER}:Adapter", "empty"),), places, "quick")).path
    assert again is not None
    assert again.read_text().splitlines(keepends=True)[1 : kept + 1] == lines[1 : kept + 1]
    footers = [load_report(path).footer for path in (again, whole)]
    assert footers[0].status == footers[1].status
    assert footers[0].requirements == footers[1].requirements


@pytest.mark.parametrize("stand_in", [True, False])
def test_a_stand_in_is_on_the_path_of_its_rows_alone(
    places: Places, monkeypatch: pytest.MonkeyPatch, stand_in: bool
) -> None:
    paths: list[str] = []

    def run(command: list[str], **given: Any) -> subprocess.CompletedProcess[str]:
        paths.append(given["env"]["PYTHONPATH"])
        return subprocess.CompletedProcess(command, 2, "midepoch: the smoke gate failed")

    monkeypatch.setattr(playing, "interpreter", lambda *_: Path("python"))
    monkeypatch.setattr(playing.subprocess, "run", run)
    (played,) = play((Row("stood", "torch", "empty", stand_in),), places, "quick")
    assert played.trouble == "stood has no verdict\nmidepoch: the smoke gate failed"
    assert (str(places.locks / "stand_in") in paths[0].split(":")) is stand_in


def test_the_command_line(
    places: Places, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["--out", str(places.results), "--locks", str(places.locks / "none")]
    options += ["--environments", str(places.environments)]
    assert main(["matrix", "--loader", "torch,nodes", *options]) == 2
    said = capsys.readouterr().out
    assert "torch: no report" in said
    assert "2 of 2 rows have no report" in said
    assert main(["matrix", "--loader", "tochdata"]) == 2
    assert "did you mean 'torchdata'" in capsys.readouterr().err


def test_an_environment_tells_the_version_of_this_project(places: Places) -> None:
    (places.locks / "empty.txt").write_text("# nothing\n")
    python = interpreter(places.locks / "empty.txt", places.environments)
    asked = "from importlib.metadata import version; print(version('midepoch'))"
    run = subprocess.run([python, "-c", asked], check=True, stdout=subprocess.PIPE, text=True)
    assert run.stdout.strip() == suite_version()
