"""Faults: dying workers, errors from anywhere, signals, forks; an error at once, never a hang."""

from __future__ import annotations

import faulthandler
import gc
import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import sources
import torch
from histories import keep

import midepoch
from midepoch.errors import WorkerDiedError, WorkerStartError
from midepoch.workers import losses, processes

N = 11
SHOWN = "DataLoader worker"


def loader(dataset: Any = None, **arguments: Any) -> Any:
    chosen = {"batch_size": 1, "seed": 5, "collate_fn": keep, "num_workers": 1, **arguments}
    return midepoch.StatefulDataLoader(dataset or sources.Plain(N), **chosen)


class Dying(sources.Plain):
    """Ends its process at row 2, in one of several ways."""

    def __init__(self, n: int, how: str, marker: Path | None = None) -> None:
        super().__init__(n)
        self.how = how
        self.marker = marker

    def __getitem__(self, index: int) -> Any:
        if index == 2 and (self.marker is None or not self.marker.exists()):
            if self.marker is not None:
                self.marker.touch()
            if self.how == "exit":
                os._exit(3)
            if self.how == "sys.exit":
                sys.exit(4)
            faulthandler.disable()  # pytest's: its report of the signal is not this test's
            os.kill(os.getpid(), getattr(signal, self.how))
        return index


@pytest.mark.parametrize(
    ("how", "message", "code"),
    [
        ("SIGKILL", r"\(pid \d+\) is killed by signal: Killed", -signal.SIGKILL),
        ("SIGBUS", r"is killed by signal: Bus error.*shared memory", -signal.SIGBUS),
        ("SIGTERM", "is killed by signal: Terminated", -signal.SIGTERM),
        ("exit", r"\(pid\(s\) \d+\) exited unexpectedly", 3),
        ("sys.exit", "exited unexpectedly", 4),
    ],
)
def test_a_dead_worker_is_an_error_after_the_good_batches(
    how: str, message: str, code: int, tmp_path: Path
) -> None:
    made = loader(Dying(N, how, tmp_path / "died"))
    batches = iter(made)
    assert [next(batches), next(batches)] == [[0], [1]]
    with pytest.raises(WorkerDiedError, match=message) as caught:
        next(batches)
    assert caught.value.exitcode == code
    with pytest.raises(WorkerDiedError):
        next(batches)
    state = made.state_dict()
    assert state["position"]["batches"] == 2
    made.load_state_dict(state)
    assert list(made) == [[index] for index in range(2, N)]
    assert len(list(made)) == N


class Later(sources.Plain):
    """Row 0 is made once row 1 has ended its worker."""

    def __init__(self, marker: Path, kind: str) -> None:
        super().__init__(6)
        self.marker = marker
        self.kind = kind

    def __getitem__(self, index: int) -> int:
        if index == 1:
            self.marker.touch()
            if self.kind == "thread":
                raise SystemExit(3)
            os._exit(3)
        while index == 0 and not self.marker.exists():
            time.sleep(0.01)
        if index == 0:
            time.sleep(0.2)
        return index


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("kind", ["process", "thread"])
def test_a_death_takes_no_batch_of_another_worker_with_it(
    kind: str, in_order: bool, tmp_path: Path
) -> None:
    made = loader(
        Later(tmp_path / "ended", kind), num_workers=2, worker_type=kind, in_order=in_order
    )
    batches = iter(made)
    assert next(batches) == [0]
    state = made.state_dict()
    with pytest.raises(WorkerDiedError, match="worker 1"):
        list(batches)
    assert state["position"]["batches"] == 1


def test_a_death_is_an_error_although_the_batch_before_never_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(losses, "PATIENCE", 0.5)
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    class Half(sources.Plain):
        def __getitem__(self, index: int) -> int:
            if index == 0:
                gate.read_text()  # never opened
            os._exit(3)

    for timeout in (0, 0.2):
        batches = iter(loader(Half(4), num_workers=2, timeout=timeout))
        with pytest.raises(WorkerDiedError, match="worker 1"):
            next(batches)


def test_a_loaded_position_survives_a_death_before_the_first_batch(tmp_path: Path) -> None:
    made = loader(Dying(N, "exit", tmp_path / "died"))
    state = made.state_dict()
    state["position"].update(batches=2, samples=2)
    made.load_state_dict(state)
    with pytest.raises(WorkerDiedError):
        next(iter(made))
    assert list(made) == [[index] for index in range(2, N)]


class OddError(Exception):
    def __init__(self, one: Any, two: Any) -> None:
        super().__init__(one, two)


class LocalRaiser(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        if index == 0:
            raise OddError(1, 2)
        if index == 1:

            class LocalError(Exception):
                pass

            raise LocalError("local")
        raise ZeroDivisionError("plain")


def test_a_caught_error_does_not_keep_the_workers_alive(tmp_path: Path) -> None:
    gc.disable()
    try:
        for dataset, caught in (
            (LocalRaiser(9), RuntimeError),
            (Dying(9, "exit"), WorkerDiedError),
        ):
            batches = iter(loader(dataset, num_workers=2))
            pids = [one.pid for one in batches._workers]
            with suppress(caught):
                for _ in range(4):
                    next(batches)
            del batches
            assert gone(pids, 10)
    finally:
        gc.enable()


def test_errors_keep_their_type_where_it_can_be_rebuilt_and_their_traceback() -> None:
    batches = iter(loader(LocalRaiser(3)))
    with pytest.raises(RuntimeError, match="OddError") as odd:
        next(batches)
    assert "in __getitem__" in str(odd.value)
    with pytest.raises(RuntimeError, match="local"):
        next(batches)
    with pytest.raises(ZeroDivisionError, match="in DataLoader worker process 0"):
        next(batches)
    assert next(batches, "end") == "end"


def test_inline_errors_are_the_users_own() -> None:
    error = OSError("mine")

    class Raising(sources.Plain):
        def __getitem__(self, index: int) -> Any:
            raise error

    with pytest.raises(OSError, match="mine") as caught:
        next(iter(loader(Raising(2), num_workers=0)))
    assert caught.value is error


def test_errors_of_worker_init_fn_and_iter_arrive_at_iter() -> None:
    def fail(lane: int) -> None:
        raise ValueError(f"lane {lane}")

    class NoIter(sources.Stream):
        def __iter__(self) -> Any:
            raise LookupError("no iter")

    for workers in (0, 1):
        made = loader(worker_init_fn=fail, num_workers=workers, lanes=1)
        with pytest.raises(ValueError, match="lane 0"):
            iter(made)
        with pytest.raises(LookupError, match="no iter"):
            iter(loader(NoIter(N), num_workers=workers))


class Unspawnable(sources.Plain):
    def __reduce__(self) -> Any:
        return (_fail_in_child, ())


def _fail_in_child() -> Any:
    raise ImportError("not here")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_worker_that_cannot_start_is_an_error(helpers: None) -> None:
    made = loader(Unspawnable(3), multiprocessing_context="spawn")
    with pytest.raises(WorkerDiedError, match="exited unexpectedly"):
        iter(made)


def test_an_error_while_forking_is_not_blamed_on_pickling(
    helpers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(process: Any) -> None:
        raise ImportError("not here")

    monkeypatch.setattr(multiprocessing.context.ForkProcess, "start", start)
    made = loader(sources.Plain(3), multiprocessing_context="fork")
    with pytest.raises(WorkerStartError, match=r"not here; nothing is pickled") as caught:
        iter(made)
    assert isinstance(caught.value.__cause__, ImportError)


def run(program: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    source = textwrap.dedent(program)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    return subprocess.Popen(
        [sys.executable, "-c", source, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **options,
    )


PROGRAM = """
    import os, sys, time, midepoch, sources
    from histories import keep

    class Pid(sources.Plain):
        def __getitem__(self, index):
            return os.getpid()

    made = midepoch.StatefulDataLoader(Pid(1000), num_workers=2, collate_fn=keep)
    batches = iter(made)
    print(next(batches)[0], next(batches)[0], flush=True)
"""


def gone(pids: list[int], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(_runs(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def started(process: subprocess.Popen[str]) -> list[int]:
    assert process.stdout is not None
    return [int(word) for word in process.stdout.readline().split()]


def test_workers_die_with_a_killed_main_process() -> None:
    process = run(PROGRAM + "    time.sleep(600)\n")
    pids = started(process)
    process.kill()
    process.wait()  # not for the end of what it prints to, which its workers have, too
    assert gone(pids, 20)
    process.communicate()


def test_a_busy_worker_leaves_before_its_tasks_are_done() -> None:
    process = run("""
        import os, time, midepoch, sources
        from histories import keep

        class Slow(sources.Plain):
            def __getitem__(self, index):
                time.sleep(0.5)
                return os.getpid()

        made = midepoch.StatefulDataLoader(
            Slow(1000), num_workers=1, prefetch_factor=100, collate_fn=keep
        )
        batches = iter(made)
        print(next(batches)[0], flush=True)
        time.sleep(600)
    """)
    pids = started(process)
    process.kill()
    process.wait()
    assert gone(pids, 5)  # it has tasks for more than twice of that
    process.communicate()


class EndlessButOne(torch.utils.data.IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        info = torch.utils.data.get_worker_info()
        assert info is not None
        for number in itertools.count():
            if info.id == 1 and number == 5:
                os.kill(os.getpid(), signal.SIGKILL)
            yield number


def test_a_death_is_seen_while_others_always_have_a_batch_ready() -> None:
    made = midepoch.StatefulDataLoader(EndlessButOne(), num_workers=2, in_order=False)

    def consume() -> None:
        for _ in itertools.islice(made, 2000):
            time.sleep(0.002)  # the other one is faster

    with pytest.raises(WorkerDiedError):
        consume()


def test_ctrl_c_ends_cleanly_and_workers_print_nothing() -> None:
    process = run(PROGRAM + "    time.sleep(600)\n", start_new_session=True)
    pids = started(process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    _, printed = process.communicate(timeout=60)
    assert gone(pids, 20)
    assert printed.count("Traceback") == 1
    assert "KeyboardInterrupt" in printed


def test_a_program_that_ends_with_live_workers_in_a_cycle_ends() -> None:
    process = run(PROGRAM + "    loop = [made, batches]; loop.append(loop)\n")
    pids = started(process)
    _, printed = process.communicate(timeout=60)
    assert (process.returncode, printed) == (0, "")
    assert gone(pids, 20)


def test_a_fork_of_the_main_process_does_not_touch_the_workers() -> None:
    made = loader()
    batches = iter(made)
    first = next(batches)
    child = os.fork()
    if child == 0:
        del batches, made
        import gc

        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert [first, *batches] == list(loader())


def test_a_second_loader_opened_meanwhile_does_not_keep_the_firsts_workers_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processes, "GRACE", 1000.0)  # a test that waits so long is killed
    first = iter(loader(num_workers=2))
    second = iter(loader(num_workers=2))
    next(first), next(second)
    del first
    assert len(list(second)) == N - 1


def test_a_dropped_loader_and_iterator_leave_no_process() -> None:
    made = loader(num_workers=2, persistent_workers=True)
    pids = made_pids(made)
    batches = iter(made)
    next(batches)
    del made, batches
    assert gone(pids, 10)


def made_pids(made: Any) -> list[int]:
    list(made)
    return [one.pid for one in made._pool.between.idle.members()]
