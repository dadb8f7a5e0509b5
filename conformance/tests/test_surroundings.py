"""Plays do not meet each other: each has its own temporary folder and its own shared memory."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

import pytest
import written

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.trace import Trace
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.host.system import surroundings
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.run.check import open_benches
from midepoch_conformance.run.settings import Settings

CASE = written.case("killed", "take 1, kill", "take 1")


def met(trace: Trace) -> list[list[float]]:
    assert [session.first_fault() for session in trace.sessions] == [None, None]
    return [session.events[0].batches[0][0] for session in trace.sessions]


def test_the_sessions_of_a_play_share_names_and_plays_do_not(fakes: Path) -> None:
    alone = surroundings.can_be_alone()
    with Runner(f"{fakes / 'shared.py'}:Names") as runner:
        for _ in range(2):
            # The second session finds what the first, which was killed, has left.
            first, second = met(runner.play(CASE))
            assert (first[0], second[0]) == (0, 1)
            assert not alone or (first[1], second[1]) == (0, 1)
    if alone:
        assert not Path(surroundings.SHARED, "midepoch_test_of_names").exists()


def test_nothing_is_left_of_a_play(fakes: Path) -> None:
    def there() -> set[Path]:
        shared = Path(surroundings.SHARED)
        found = set(shared.glob("midepoch-*")) if shared.is_dir() else set()
        return found | set(Path(tempfile.gettempdir()).glob("midepoch-*"))

    before = there()
    with Runner(f"{fakes / 'shared.py'}:Names") as runner:
        runner.play(CASE)
        mine = [folder for folder in runner._folders if folder in there() - before]
        assert mine
        assert not [path for f in mine if f != runner.root for path in f.iterdir()]
    assert not [folder for folder in mine if folder.exists()]


@pytest.mark.skipif(not Path(surroundings.SHARED).is_dir(), reason="no shared memory here")
def test_the_temporary_folder_may_lie_in_the_shared_memory(
    fakes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="midepoch-tmp-", dir=surroundings.SHARED) as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        with Runner(f"{fakes / 'shared.py'}:Names") as runner:
            first, second = met(runner.play(CASE))
    assert (first[0], second[0]) == (0, 1)


def test_the_folders_that_a_play_needs() -> None:
    inside = f"{surroundings.SHARED}/jobs/7/play", f"{surroundings.SHARED}/jobs/8", "/tmp/play"
    assert surroundings.needed(*inside) == ["jobs"]


@pytest.mark.skipif(not surroundings.can_be_alone(), reason="this system allows no namespaces")
def test_a_folder_in_the_shared_memory_stays_visible() -> None:
    """A data set may lie there."""
    with (
        tempfile.TemporaryDirectory(dir=surroundings.SHARED) as data,
        tempfile.TemporaryDirectory(prefix="midepoch-", dir=surroundings.SHARED) as memory,
    ):
        Path(data, "rows").write_text("1 2 3")
        told, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            surroundings.be_alone(memory, surroundings.folders())
            os.write(tell, Path(data, "rows").read_bytes())
            Path(surroundings.SHARED, "mine").write_text("")
            os._exit(0)
        os.waitpid(pid, 0)
        os.close(tell)
        assert os.read(told, 99) == b"1 2 3"
        os.close(told)
        assert not Path(surroundings.SHARED, "mine").exists()
        Path(memory, "mine").unlink()


def test_workers_share_memory_by_the_names_of_files(fakes: Path) -> None:
    plan = SessionPlan(Execution(workers=1), (Step("drain"), Step("close")))
    with Runner(f"{fakes / 'shared.py'}:shares_by_file") as runner:
        (session,) = runner.play(Case("plain", Workload(), (plan,))).sessions
    assert session.first_fault() is None
    assert len(session.events[0].batches) == 4


@pytest.mark.parametrize(("name", "together"), [("Names", True), ("Exclusive", False)])
def test_an_exclusive_loader_plays_one_case_at_a_time(
    fakes: Path, name: str, together: bool
) -> None:
    settings = Settings(f"{fakes / 'shared.py'}:{name}", jobs=2)
    with open_benches(settings) as benches:
        ended = threading.Event()

        def play() -> None:
            benches[1].play(CASE)
            ended.set()

        # The other bench plays, as long as this turn lasts.
        with benches[0]._plays._turns.turn():
            thread = threading.Thread(target=play)
            thread.start()
            assert ended.wait(60 if together else 0.5) is together
        thread.join()
