"""The runner against loaders that hang, die, print, fork and leave things behind."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, CaseError, SessionPlan, Step
from midepoch_conformance.case.trace import Event, Trace
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.host.system.processes import living
from midepoch_conformance.playing.runner import Runner, RunnerError

INLINE = Execution()
BATCHES = [[[0], [1], [2], [3]], [[4], [5], [6], [7]], [[8], [9], [10], [11]], [[12]]]

Make = Callable[..., Runner]


@pytest.fixture
def runner(fakes: Path, tmp_path: Path) -> Iterator[Make]:
    made: list[Runner] = []

    def make(name: str, limit: float = 20.0, python: str | None = None) -> Runner:
        made.append(Runner(f"{fakes / 'odd.py'}:{name}", python, tmp_path, limit))
        return made[-1]

    yield make
    for one in made:
        one.close()


def plan(*steps: Step, host: str = "a", ambient: int = 1) -> SessionPlan:
    return SessionPlan(INLINE, steps, ambient, host)


def case(*plans: SessionPlan, workload: Workload | None = None) -> Case:
    return Case("test", workload or Workload(), plans)


def whole() -> Case:
    return case(plan(Step("drain"), Step("close")))


def events(trace: Trace) -> list[Event]:
    return [event for session in trace.sessions for event in session.events]


def test_saves_in_one_interpreter_and_resumes_in_the_other(runner: Make) -> None:
    both = case(
        plan(Step("take", n=2), Step("save", state="s")),
        plan(Step("load", state="s"), Step("drain"), Step("drain"), host="b", ambient=2),
        workload=Workload(log="auto"),
    )
    first, second = runner("Honest").play(both).sessions
    taken, saved = first.events
    assert (taken.batches, taken.opened, taken.ended, taken.fetched) == (
        BATCHES[:2],
        True,
        False,
        8,
    )
    assert saved.size
    assert saved.digest
    assert saved.drew is False
    loaded, rest, later = second.events
    assert (loaded.fault, rest.batches, rest.ended) == (None, BATCHES[2:], True)
    assert (later.batches, later.opened, later.ended, later.fetched) == (BATCHES, True, True, 13)
    assert first.first_fault() is second.first_fault() is None


def test_the_streams_are_the_sessions_own(runner: Make) -> None:
    draws = Workload(draws=("python",))
    engine = runner("Honest")
    trace = engine.play(case(plan(Step("take", n=1)), plan(Step("take", n=1)), workload=draws))
    random.seed(1)
    random.gauss(0, 1)  # each stream has one in store
    expected = [[i, random.random()] for i in range(4)]
    assert [event.batches for event in events(trace)] == [[expected], [expected]]
    other = engine.play(case(plan(Step("take", n=1), ambient=2), workload=draws))
    assert events(other)[0].batches != [expected]


def test_hosts_differ_in_their_hash_seed(runner: Make) -> None:
    engine = runner("make_loader")
    first, second = (engine.play(case(plan(Step("drain"), host=host))) for host in "ab")
    hashes = [row for batch in events(first)[0].batches for row in batch]
    assert events(first) == events(second)
    assert len(hashes) == 2
    assert hashes[0] != hashes[1]


@pytest.mark.parametrize("name", ["Hangs", "HangsDeaf", "HangsInHost"])
def test_a_hang_costs_its_limit_once(runner: Make, name: str) -> None:
    engine = runner(name, limit=1.0)
    assert engine.info.name == "odd"
    began = time.monotonic()
    (session,) = engine.play(case(plan(Step("drain")), plan(Step("drain")))).sessions
    assert time.monotonic() - began >= 1.0
    fault = session.events[0].fault
    assert fault is not None
    assert (fault.kind, fault.at) == ("hang", "next")
    assert session.events[0].batches == BATCHES[:2]
    assert events(engine.play(case(plan(Step("take", n=2)))))[0].batches == BATCHES[:2]


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("Exits", "exit status 5"),
        ("ExitsWell", "exit status 0"),
        ("ExitsInHost", "exit status 5"),
        ("Killed", "SIGKILL"),
        ("KillsHost", "SIGKILL"),
    ],
)
def test_a_death_is_a_crash_with_what_came_before(runner: Make, name: str, ending: str) -> None:
    engine = runner(name)
    (event,) = events(engine.play(case(plan(Step("drain")))))
    assert event.fault is not None
    assert (event.fault.kind, event.fault.type, event.fault.at) == ("crash", ending, "next")
    assert event.batches == BATCHES[:2]
    assert ("last words" in event.fault.traceback) == (name == "Exits")
    assert events(engine.play(case(plan(Step("take", n=2)))))[0].batches == BATCHES[:2]


@pytest.mark.parametrize("name", ["Honest", "InHost", "Leaves", "LeavesInHost"])
def test_a_session_that_a_step_kills_is_no_fault(runner: Make, name: str) -> None:
    engine = runner(name)
    saved = (Step("take", n=2), Step("save", state="s"), Step("take", n=1), Step("kill"))
    rest = (Step("load", state="s"), Step("drain"), Step("close"))
    first, second, third = engine.play(
        case(plan(*saved), plan(*rest, host="b"), plan(*rest))
    ).sessions
    assert (first.first_fault(), len(first.events)) == (None, 4)
    assert first.events[2].batches == BATCHES[2:3]
    for session in (second, third):
        assert session.first_fault() is None
        assert session.events[1].batches == BATCHES[2:]
    hosts = [host.process.pid for host in engine._hosts.values()]
    assert not [pid for host in hosts for pid in living(host) or ()]


def test_steps_after_a_kill_are_not_played(runner: Make) -> None:
    (session,) = runner("Honest").play(case(plan(Step("kill"), Step("drain")))).sessions
    assert [event.do for event in session.events] == ["kill"]


def test_what_is_left_has_a_share_of_the_limit_to_go(runner: Make) -> None:
    assert events(runner("Leaves", limit=1.0).play(whole()))[-1].left == 2


@pytest.mark.parametrize(
    "name", ["Prints", "PrintsInHost", "ClosesDescriptors", "Forks", "HangsAtEnd", "InHost"]
)
def test_what_a_loader_does_to_its_process_stays_there(runner: Make, name: str) -> None:
    engine = runner(name)
    for _ in range(2):
        (event,) = events(engine.play(case(plan(Step("drain")))))
        assert (event.batches, event.fault, event.ended) == (BATCHES, None, True)


@pytest.mark.parametrize("name", ["Leaves", "LeavesInHost"])
def test_processes_that_are_left_are_counted_and_ended(runner: Make, name: str) -> None:
    engine = runner(name)
    closed = events(engine.play(whole()))[-1]
    assert closed.left == 2
    assert events(engine.play(case(plan(Step("close")))))[-1].left == 0


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="semaphores are files on Linux alone")
@pytest.mark.parametrize("loader", ["KeepsSemaphores", "KeepsSemaphoresInHost"])
def test_named_semaphores_of_a_killed_loader_are_unlinked(
    loader: str, runner: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = tmp_path / "names"
    monkeypatch.setenv("SEMAPHORES", str(names))
    engine = runner(loader)
    engine.play(whole())
    engine.close()
    (name,) = names.read_text("ascii").split()
    assert not Path("/dev/shm", f"sem.{name.strip('/')}").exists()


def test_an_exit_may_take_its_time(runner: Make) -> None:
    assert events(runner("LeavesSlowly").play(whole()))[-1].left == 0


@pytest.mark.parametrize(
    ("name", "type_"), [("Interrupts", "KeyboardInterrupt"), ("Ends", "SystemExit")]
)
def test_errors_that_are_no_exceptions_are_faults(runner: Make, name: str, type_: str) -> None:
    (event,) = events(runner(name).play(case(plan(Step("drain")))))
    assert event.fault is not None
    assert (event.fault.kind, event.fault.type) == ("raised", type_)
    assert event.fault.bases[-1] == "BaseException"


def test_an_untolerated_fault_ends_the_play(runner: Make) -> None:
    bad = plan(Step("load_bogus", value="none"), Step("drain"))
    trace = runner("Honest").play(case(bad, plan(Step("drain"))))
    (event,) = events(trace)
    assert event.fault is not None
    assert (event.fault.kind, event.fault.type, event.fault.at) == ("raised", "ValueError", "load")
    assert event.fault.message == "no state of this loader: None"


def test_a_tolerated_fault_does_not(runner: Make) -> None:
    bad = plan(Step("load_bogus", value="empty", tolerate=True), Step("drain"))
    trace = runner("Honest").play(case(bad, plan(Step("drain"))))
    assert [len(session.events) for session in trace.sessions] == [2, 1]
    assert events(trace)[1].batches == BATCHES


def test_a_dataset_error_is_not_the_adapters(runner: Make) -> None:
    (event,) = events(
        runner("Failing").play(case(plan(Step("drain")))),
    )
    assert event.fault is not None
    assert (event.fault.kind, event.fault.at) == ("adapter", "iter")
    failing = Workload(fail_at=5)
    (event,) = events(runner("Honest").play(case(plan(Step("drain")), workload=failing)))
    assert event.fault is not None
    assert (event.fault.kind, event.fault.type) == ("raised", "WorkloadError")
    assert (event.fault.at, event.batches) == ("next", BATCHES[:1])


def test_an_endless_epoch_ends(runner: Make) -> None:
    (event,) = events(runner("Endless").play(case(plan(Step("drain")))))
    assert event.fault is not None
    assert (event.fault.kind, event.fault.type) == ("hang", "endless epoch")


def test_a_batch_of_something_else_is_a_fault(runner: Make) -> None:
    (event,) = events(runner("Nonsense").play(case(plan(Step("drain")))))
    assert event.fault is not None
    assert event.fault.type == "BatchError"
    assert event.fault.kind == "adapter"


def test_an_error_without_words(runner: Make) -> None:
    (event,) = events(runner("NoWords").play(case(plan(Step("load_bogus", value="text")))))
    assert event.fault is not None
    assert event.fault.type == "BrokenError"


def test_all_that_is_left_is_counted_from_the_lengths(runner: Make) -> None:
    engine = runner("Honest")
    steps = (Step("take", n=1), Step("take", n=-1), Step("save", state="s"))
    end = case(plan(*steps), plan(Step("load", state="s"), Step("drain"), Step("drain"), host="b"))
    trace = engine.play(end, [4, 4])
    assert [len(event.batches) for event in events(trace)] == [1, 3, 0, 0, 0, 4]
    assert [event.ended for event in events(trace)] == [False, False, False, False, True, True]
    with pytest.raises(CaseError, match="lengths"):
        engine.play(end)


def test_data_is_prepared_once_and_shared_by_both_hosts(runner: Make) -> None:
    stream = Workload(kind="iterable")
    engine = runner("Honest")
    plans = (plan(Step("save", state="s", codec="json")), plan(Step("save", state="t"), host="b"))
    assert all(event.fault is None for event in events(engine.play(case(*plans, workload=stream))))
    shard = engine.root / "data" / "iterable-13-none" / "shard-13"
    assert shard.read_text() == "prepared\n"


def test_declines(runner: Make) -> None:
    engine = runner("Honest")
    assert engine.declines(Workload(), INLINE) is None
    assert engine.declines(Workload(n=17), INLINE) == "never seventeen"
    assert engine.declines(Workload(die_at=3), INLINE) is not None
    assert engine.declines(Workload(die_at=3), Execution(workers=1)) is None
    threads = Execution(workers=1, worker_kind="thread")
    assert engine.declines(Workload(die_at=3), threads) is not None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("BadOffer", "unknown fields: kind"),
        ("Missing", "has no 'Missing'"),
        ("NUMBER", "neither an adapter nor a function"),
        ("make_failing", "no data here"),
    ],
)
def test_an_adapter_at_fault(runner: Make, name: str, words: str) -> None:
    with pytest.raises(RunnerError, match=words) as caught:
        _ = runner(name).info
    assert caught.value.kind == "adapter"
    assert caught.value.hint


def test_an_adapter_at_fault_later(runner: Make) -> None:
    with pytest.raises(RunnerError, match="no space left") as caught:
        runner("BadPrepare").play(whole())
    assert caught.value.kind == "adapter"
    with pytest.raises(RunnerError, match="no such cell") as caught:
        runner("BadDeclines").declines(Workload(), INLINE)
    assert caught.value.kind == "adapter"


def test_an_environment_at_fault(runner: Make, tmp_path: Path) -> None:
    for python in ("/nowhere/python", "/bin/false"):
        with pytest.raises(RunnerError) as caught:
            _ = runner("Honest", python=python).info
        assert caught.value.kind == "environment"
        assert caught.value.hint
    adapter = tmp_path / "lost.py"
    adapter.write_text("import a_loader_that_is_not_installed\n")
    with Runner(str(adapter)) as engine, pytest.raises(RunnerError) as caught:
        _ = engine.info
    assert caught.value.kind == "environment"
    assert "install 'a_loader_that_is_not_installed'" in caught.value.hint


def test_interrupting_leaves_nothing(fakes: Path, tmp_path: Path) -> None:
    engine = Runner(f"{fakes / 'odd.py'}:Hangs", root=tmp_path, limit=60)
    assert engine.info
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        engine.play(whole())
    timer.join()
    assert events(engine.play(case(plan(Step("take", n=1)))))[0].batches == BATCHES[:1]
    engine.close()
    assert not list(tmp_path.iterdir())
    with pytest.raises(RunnerError, match="closed"):
        engine.play(whole())


def test_a_host_killed_between_plays_is_replaced(runner: Make) -> None:
    engine = runner("Honest")
    engine.play(whole())
    pid = engine._hosts["a"].process.pid
    os.kill(pid, signal.SIGKILL)
    assert events(engine.play(whole()))[0].batches == BATCHES
    assert engine._hosts["a"].process.pid != pid


def test_plays_leave_no_files(runner: Make) -> None:
    engine = runner("Honest")
    engine.play(whole())
    assert not list((engine.root / "plays").iterdir())


def test_an_interpreter_that_is_too_old(runner: Make) -> None:
    old = Path("~/.pyenv/versions/3.8.18/bin/python").expanduser()
    if not old.exists():
        pytest.skip("there is no Python 3.8 here")
    with pytest.raises(RunnerError) as caught:
        _ = runner("Honest", python=str(old)).info
    assert caught.value.kind == "environment"
    assert "3.9 or newer" in caught.value.hint


def test_an_older_interpreter(runner: Make) -> None:
    old = Path("~/.pyenv/versions/3.9.18/bin/python").expanduser()
    if not old.exists():
        pytest.skip("there is no Python 3.9 here")
    engine = runner("Honest", python=str(old))
    assert engine.info.python == "3.9.18"
    assert events(engine.play(whole()))[0].batches == BATCHES
    assert sys.version_info >= (3, 10)
