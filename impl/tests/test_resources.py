"""Faults of the system: limits, exits, forks, threads; nothing is left behind or hangs."""

from __future__ import annotations

import gc
import os
import resource
import signal
import threading
import traceback
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sources
from belongings import belongings
from histories import keep
from test_faults import PROGRAM, gone, run, started

import midepoch
from midepoch.errors import StaleIteratorError, WorkerDiedError, WorkerStartError

N = 11


def loader(dataset: Any = None, **arguments: Any) -> Any:
    chosen = {"batch_size": 1, "seed": 5, "collate_fn": keep, "num_workers": 1, **arguments}
    return midepoch.StatefulDataLoader(dataset or sources.Plain(N), **chosen)


# Limits of the system


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
def test_too_few_descriptors_are_an_error_that_leaks_nothing() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    made = loader(num_workers=6)
    before = belongings()
    fillers = [os.open(os.devnull, os.O_RDONLY)]
    highest = max(int(name) for name in os.listdir("/proc/self/fd"))
    while fillers[-1] < highest:  # no gaps below the limit
        fillers.append(os.open(os.devnull, os.O_RDONLY))
    resource.setrlimit(resource.RLIMIT_NOFILE, (fillers[-1] + 20, hard))
    try:
        with pytest.raises(WorkerStartError, match="Too many open files; raise the limit on open"):
            iter(made)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for filler in fillers:
            os.close(filler)
    assert belongings() == before
    assert len(list(made)) == N


def test_a_failing_fork_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fork() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    made = loader()
    with monkeypatch.context() as patch:
        descriptors = belongings().descriptors
        patch.setattr(os, "fork", fork)
        with pytest.raises(WorkerStartError, match="worker 0 cannot be started: BlockingIOError"):
            iter(made)
    for leaked in belongings().descriptors - descriptors:  # multiprocessing's own, of this start
        os.close(int(leaked.split(":")[0]))
    assert len(list(made)) == N


def test_what_a_new_interpreter_cannot_be_given_is_an_error(helpers: None) -> None:
    made = loader(collate_fn=lambda samples: samples, multiprocessing_context="spawn")
    with pytest.raises(WorkerStartError, match=r"are pickled.*multiprocessing_context='fork'"):
        iter(made)


SMALL_FILES = """
    import resource, midepoch, sources, torch
    from torch.utils.data import DataLoader

    class Large(sources.Plain):
        def __getitem__(self, index):
            return torch.full((1 << 20,), float(index))

    # Files, shared memory among them, end at 64 KiB: as where /dev/shm is full.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
    for kind in midepoch.StatefulDataLoader, DataLoader:
        try:
            print([batch[0, -1].item() for batch in kind(Large(3), num_workers=1)])
        except RuntimeError as error:
            print(type(error).__name__)
"""


@pytest.fixture
def torch_leaves_nothing() -> Iterator[None]:
    """Remove the segments that torch's loader leaves where it cannot fill them."""
    before = set(Path("/dev/shm").glob("torch_*"))
    yield
    for path in set(Path("/dev/shm").glob("torch_*")) - before:
        # torch names a segment after its maker; that of a living one is another test's.
        if not Path("/proc", path.name.split("_")[1]).exists():
            path.unlink(missing_ok=True)


@pytest.mark.usefixtures("torch_leaves_nothing")
def test_a_full_dev_shm_does_not_matter() -> None:
    printed, _ = run(SMALL_FILES).communicate(timeout=60)
    # torch's own loader shows that the limit is one that shared memory meets.
    assert printed.splitlines() == ["[0.0, 1.0, 2.0]", "RuntimeError"]


# Exits and signals


def test_an_exit_with_live_persistent_workers_is_clean() -> None:
    program = PROGRAM.replace("workers=2", "workers=2, persistent_workers=True, pin_memory=True")
    process = run(program + "    list(made)\n")
    pids = started(process)
    _, printed = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Error" not in printed
    assert gone(pids, 20)


CTRL_C_AT_START = """
    import os, signal, midepoch, sources

    made = midepoch.StatefulDataLoader(sources.Plain(100), num_workers=2)
    # In the first worker, before it can run a line of its own; to all of them, as a terminal does.
    os.register_at_fork(after_in_child=lambda: os.killpg(0, signal.SIGINT))
    try:
        iter(made)
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_ctrl_c_while_workers_start_ends_cleanly() -> None:
    process = run(CTRL_C_AT_START, start_new_session=True)
    assert process.communicate(timeout=60) == ("interrupted\n", "")
    assert process.returncode == 0


def test_signals_that_the_program_handles_disturb_nothing() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    try:
        assert len(list(loader(sources.Plain(300), num_workers=2))) == 300
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rung


def test_a_program_that_ignores_its_childrens_ends_gets_its_batches() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert len(list(loader(num_workers=2))) == N
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_a_workers_own_child_does_not_hide_its_death(tmp_path: Path) -> None:
    class Forking(sources.Plain):
        def __getitem__(self, index: int) -> int:
            child = os.fork()
            if child == 0:
                (tmp_path / "gate").read_text()
                os._exit(0)
            os._exit(3)

    os.mkfifo(tmp_path / "gate")
    with pytest.raises(WorkerDiedError, match="exit code 3"):
        list(loader(Forking(N)))
    (tmp_path / "gate").write_text("open")


def test_children_of_the_users_own_are_left_alone() -> None:
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    assert len(list(loader(num_workers=2))) == N
    assert os.waitpid(child, os.WNOHANG) == (0, 0)
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL


# Dropped in the middle


def test_a_loader_in_a_cycle_is_collected_with_its_workers() -> None:
    made = loader(num_workers=2, persistent_workers=True)
    batches = iter(made)
    next(batches)
    pids = [one.pid for one in batches._workers]
    loop: list[Any] = [made, batches]
    loop.append(loop)
    reference = weakref.ref(made)
    del made, batches, loop
    gc.collect()
    assert reference() is None
    assert gone(pids, 0.1)


@pytest.mark.parametrize("persistent", [False, True])
def test_an_iterator_dropped_mid_epoch_ends_its_workers(persistent: bool) -> None:
    made = loader(num_workers=2, persistent_workers=persistent)
    batches = iter(made)
    next(batches)
    pids = [one.pid for one in batches._workers]
    del batches
    assert gone(pids, 0.1) is not persistent  # idle, for the next epoch
    del made
    assert gone(pids, 0.1)


# Forks and threads


def in_a_fork(action: Any) -> None:
    """Run ``action`` in a fork that ends as any Python program does."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            action()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            import multiprocessing.util

            multiprocessing.util._exit_function()  # type: ignore[attr-defined]  # as at its exit
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("persistent", [False, True])
def test_a_fork_may_iterate_the_loader_and_exit(persistent: bool) -> None:
    made = loader(num_workers=2, persistent_workers=persistent)
    twin = loader()
    list(made), list(twin)
    second = list(twin)
    in_a_fork(lambda: check(list(made) == second))
    batches = iter(made)
    first = next(batches)

    def child() -> None:
        state = made.state_dict()
        with pytest.raises(StaleIteratorError, match="belong to the process that made it"):
            list(batches)  # but for what had been received before the fork
        other = loader(num_workers=2)
        other.load_state_dict(state)
        check(list(other) == whole_rest)
        check(len(list(made)) == N)
        check(len(list(made)) == N)

    resumed = loader()
    resumed.load_state_dict(made.state_dict())
    whole_rest = list(resumed)
    in_a_fork(child)
    assert [first, *batches][1:] == whole_rest
    assert len(list(made)) == N


def check(fact: bool) -> None:
    assert fact


def test_workers_see_the_end_of_a_main_process_whose_fork_lives_on() -> None:
    program = PROGRAM + "    if os.fork() == 0: time.sleep(600)\n    os.kill(os.getpid(), 9)\n"
    process = run(program, start_new_session=True)
    pids = started(process)
    process.wait(timeout=60)
    assert gone(pids, 4)  # at once: not only when they look up
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_a_loader_runs_inside_a_thread() -> None:
    told: list[Any] = []

    def work() -> None:
        batches = iter(made)
        told.extend([next(batches), next(batches)])
        state = made.state_dict()
        del batches
        made.load_state_dict(state)
        told.extend(made)

    made = loader(num_workers=2)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert told == list(loader())


def test_two_loaders_run_side_by_side() -> None:
    one, other = loader(num_workers=2), loader(sources.Stream(N), num_workers=2)
    assert [len(pair) for pair in zip(one, other, strict=True)] == [2] * N


# Over a long time


def test_hundreds_of_epochs_leave_nothing() -> None:
    """The short form of ``soak.py``."""
    from soak import measure

    inline = measure(200)
    kept = measure(40, num_workers=2, persistent_workers=True)
    fresh = measure(10, num_workers=1)
    for found in (inline, kept, fresh):
        assert found.descriptors == found.processes == found.threads == 0
        assert found.kilobytes < 2048
