"""The runner: plays cases on a loader in two host processes of the loader's Python.

It never imports a loader. It reads the events of a session from its journal, even if the process
that played the session died.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import sys
import tempfile
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from midepoch_conformance.case.adapter import Execution, LoaderInfo, Offer
from midepoch_conformance.case.case import Case, SessionPlan
from midepoch_conformance.case.trace import SessionTrace, Trace
from midepoch_conformance.case.uninterrupted import batches_left, counted
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.host.faults import crash, hang
from midepoch_conformance.host.job import CLOSING, Job
from midepoch_conformance.host.session.journal import read_journal
from midepoch_conformance.host.system.deadline import STANDS, Deadline
from midepoch_conformance.host.system.stacks import innermost
from midepoch_conformance.host.system.surroundings import SHARED
from midepoch_conformance.playing.host_process import (
    HostLostError,
    HostProcess,
    RunnerError,
    too_old,
)

__all__ = ["Runner", "RunnerError"]

HASH_SEEDS = {"a": "1", "b": "2"}
"""The hosts and their hash seeds."""

START = 180.0
"""The time in seconds for a host to start and to import the loader, if the user sets none."""

GRACE = 10.0
"""The time in seconds, beyond a session's own, for its host to answer."""

ROOM = 2**30
"""The bytes that the shared memory must have free to hold the files of plays."""


class Runner:
    """Plays cases on the loader that ``spec`` names; belongs to one thread.

    Example:
        >>> from midepoch_conformance.case.adapter import Execution
        >>> from midepoch_conformance.case.case import Case, SessionPlan, Step
        >>> from midepoch_conformance.case.workload import Workload
        >>> plan = SessionPlan(Execution(), (Step("take", n=1), Step("close")))
        >>> with Runner("torch") as runner:
        ...     trace = runner.play(Case("example", Workload(), (plan,)))
        >>> trace.sessions[0].events[0].batches
        [[[0], [1], [2], [3]]]

    Args:
        spec: the loader; see :func:`midepoch_conformance.host.loading.load`.
        python: the interpreter in which it is installed; this one by default.
        root: a folder for the files of plays; by default a temporary one, in the shared memory if
            that has room and ``TMPDIR`` names no other place.
        limit: the seconds that a session has if :meth:`play` is not told.
        start: the seconds that the loader has to be imported and built for the first time, and
            that the adapter's other methods have, while they stand still.
    """

    def __init__(
        self,
        spec: str,
        python: str | None = None,
        root: str | os.PathLike[str] | None = None,
        limit: float = 60.0,
        start: float | None = None,
    ) -> None:
        self.spec, self.python, self.limit = spec, python or sys.executable, limit
        self._start = START if start is None else start
        # An import that works has its time, even if the user's limit is short.
        self._most = max(Deadline.MOST, START / self._start)
        memory = _roomy_memory()
        self.root = Path(tempfile.mkdtemp(prefix="midepoch-", dir=root or memory)).resolve()
        self._hosts: dict[str, HostProcess] = {}
        self._info: LoaderInfo | None = None
        self._reasons: dict[str, str | None] = {}
        self._prepared: set[str] = set()
        self._played = 0
        # Not below the root, whose path may be long: the path of a socket may not.
        self._temporary = Path(tempfile.mkdtemp(prefix="midepoch-", dir=memory)).resolve()
        folders = [self.root, self._temporary]
        self._memory: Path | None = None
        self._folders = folders
        self._finish = weakref.finalize(self, _finish, self._hosts, folders)
        (self.root / "package").mkdir()
        package = Path(__file__).resolve().parents[1]
        (self.root / "package" / package.name).symlink_to(package, target_is_directory=True)

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the hosts and remove the files of plays."""
        self._finish()

    @property
    def info(self) -> LoaderInfo:
        """The loader, as its interpreter describes it.

        Raises:
            RunnerError: it cannot be reached.
        """
        if self._info is None:
            self._info = _info(self._host("a").told)
        return self._info

    def begin(self) -> None:
        """Start the hosts without waiting for them: loaders take seconds to import."""
        for name in HASH_SEEDS:
            self._started(name)

    def declines(self, workload: Workload, execution: Execution) -> str | None:
        """Return why the adapter does not offer this combination; None if it does.

        Raises:
            RunnerError: the adapter's own ``declines`` failed.
        """
        processes = execution.workers > 0 and execution.worker_kind == "process"
        if workload.die_at is not None and not (processes or execution.together):
            return "a sample that kills its worker needs a worker that is a process"
        if workload.exits_at and not (execution.workers or execution.together):
            return "a sample that ends its worker needs a worker"
        asked = {
            "workload": vars(workload),
            "execution": vars(self._execution(execution)),
        }
        key = json.dumps(asked, sort_keys=True)
        if key not in self._reasons:
            self._reasons[key] = self._ask("a", "declines", asked, self._start + GRACE)["reason"]
        return self._reasons[key]

    def play(
        self,
        case: Case,
        lengths: Sequence[int] | None = None,
        limit: float | None = None,
        most: float = Deadline.MOST,
    ) -> Trace:
        """Play ``case`` and return its trace.

        A session ends the play if it ends by a fault that its step does not tolerate. A loader
        with only one start method is played with that one. A session that is late ends by a
        fault that tells where its processes stood; whether it hangs is for the caller to decide.

        Args:
            case: the case.
            lengths: the number of batches of each epoch of the uninterrupted run; needed if a step
                takes the rest of an epoch (``n = -1``), and to recognise errors at its end.
            limit: the seconds that each session has.
            most: how many limits it has while it makes progress.

        Raises:
            RunnerError: something other than the loader went wrong.
            CaseError: a step has ``n = -1``, and no lengths are given.
        """
        self._check_open()
        limit = self.limit if limit is None else limit
        case = counted(case, lengths)
        left = batches_left(case, lengths)
        self._played += 1
        folder = self.root / "plays" / str(self._played)
        own = self._surroundings(str(self._played))
        trace = Trace(case.id, [])
        states: dict[str, tuple[str, str]] = {}
        try:
            for index, plan in enumerate(case.sessions):
                workload = case.session_workload(index)
                job = Job(
                    workload=workload,
                    execution=self._execution(plan.execution),
                    steps=plan.steps,
                    ambient=plan.ambient,
                    root=self._prepare(plan.host, workload),
                    folder=str(folder / str(index)),
                    states=dict(states),
                    left=left[index],
                    patience=min(CLOSING, limit / 4),
                    temporary=str(own[0]),
                    memory="" if own[1] is None else str(own[1]),
                )
                session, saved = self._session(plan, job, limit, most)
                trace.sessions.append(session)
                states.update(saved)
                if _ended_by_fault(plan, session):
                    break
        finally:
            for one in (folder, *own):
                if one is not None:
                    shutil.rmtree(one, ignore_errors=True)
        return trace

    def _surroundings(self, name: str) -> tuple[Path, Path | None]:
        """Return a play's folders for temporary files and for shared memory; None: not its own."""
        alone = self._host("a").told.get("alone", False)
        if alone and self._memory is None:
            with contextlib.suppress(OSError):
                self._memory = Path(tempfile.mkdtemp(prefix=f"{self.root.name}-", dir=SHARED))
                self._folders.append(self._memory)
        memory = self._memory / name if alone and self._memory is not None else None
        if memory is not None:
            memory.mkdir()
            memory.chmod(0o1777)
        return self._temporary / name, memory

    def _session(
        self, plan: SessionPlan, job: Job, limit: float, most: float
    ) -> tuple[SessionTrace, dict[str, tuple[str, str]]]:
        asked = {"job": job.to_json(), "limit": limit, "most": most}
        began = time.monotonic()
        for chance in (1, 2):
            os.makedirs(job.folder, exist_ok=True)
            # A player inside the host has this time, and is then killed with the host. A host that
            # watches a player of its own answers later than that.
            apart = self.info.offer.fork_safe
            time_given = most * limit + GRACE if apart else limit
            folder = None if apart else job.folder
            try:
                answer = self._ask(plan.host, "play", asked, time_given, folder, most)
            except HostLostError as lost:
                # A host that dies beside its play may have been killed by accident, once.
                if self.info.offer.fork_safe and chance == 1:
                    shutil.rmtree(job.folder, ignore_errors=True)
                    continue
                answer = {"outcome": "limit" if lost.late else "died", "status": lost.status}
                answer |= {"did": lost.did, "stacks": lost.stacks}
            break
        session, end = read_journal(job.journal)
        if not end.done:
            session.seconds = time.monotonic() - began
        if not (end.done or end.killed):
            _add_ending(session, end.phase, end.pending, answer, limit, job.folder)
        if not answer.get("fit", True):
            self._hosts.pop(plan.host).end()
        return session, end.states

    def _execution(self, execution: Execution) -> Execution:
        """Return the execution with the loader's start method, if it has only one."""
        methods = self.info.offer.start_methods
        if len(methods) == 1:
            return dataclasses.replace(execution, start_method=methods[0])
        return execution

    def _prepare(self, host: str, workload: Workload) -> str:
        """Return the folder with the files that this workload needs.

        Workloads that differ only in their plan share it: kind, size and rows are the data.
        """
        draws = "-".join(workload.draws) or "none"
        name = f"{workload.kind}-{workload.n}-{draws}" + ("-tree" if workload.tree else "")
        root = str(self.root / "data" / name)
        if name not in self._prepared:
            asked = {
                "workload": dataclasses.asdict(workload),
                "root": root,
                "limit": self._start,
                "most": self._most,
            }
            self._ask(host, "prepare", asked, self._start * self._most + GRACE)
            self._prepared.add(name)
        return root

    def _ask(
        self,
        host: str,
        op: str,
        asked: dict[str, Any],
        seconds: float,
        folder: str | None = None,
        most: float = Deadline.MOST,
    ) -> dict[str, Any]:
        try:
            answer = self._host(host).ask(op, asked, seconds, folder, most)
        except BaseException:
            # Also after Ctrl-C: a host is useless once an answer of it was not read.
            lost = self._hosts.pop(host, None)
            if lost is not None:
                lost.end()
            raise
        if "error" in answer:
            raise RunnerError.answered(answer)
        return answer

    def _check_open(self) -> None:
        if not self._finish.alive:
            raise RunnerError("protocol", "this runner is closed", "make a new one")

    def _host(self, name: str) -> HostProcess:
        host = self._started(name)
        if not host.told:
            try:
                # The host itself watches a function that is built, and answers first.
                limit, folder = self._start + GRACE, str(self._greeted(name))
                deadline = Deadline(host.process.pid, limit, folder, self._most)
                answer = host.answer("hello", deadline)
            except BaseException as error:
                self._hosts.pop(name).end()
                if isinstance(error, HostLostError) and error.late:
                    line = innermost(error.stacks)
                    where = f": it stands at {line}" if line else ""
                    words = f"{self.spec} was not imported within {limit:g} s{where}"
                    raise RunnerError("limit", words, error.stacks) from error
                if isinstance(error, HostLostError):
                    error.hint = f"{too_old(self.python)}{error.hint}"
                raise
            if "error" in answer:
                self._hosts.pop(name).end()
                raise RunnerError.answered(answer)
            host.told = answer
        return host

    def _started(self, name: str) -> HostProcess:
        """Return a host, started and asked for what it knows of the loader."""
        if name not in self._hosts:
            self._check_open()
            host = HostProcess(self.python, self.root, HASH_SEEDS[name], self._temporary)
            self._hosts[name] = host
            # If it is dead already, that is said when its answer is read.
            with contextlib.suppress(HostLostError):
                folder = str(self._greeted(name))
                host.send("hello", {"spec": self.spec, "limit": self._start, "folder": folder})
        return self._hosts[name]

    def _greeted(self, name: str) -> Path:
        """Return the folder of a host's start."""
        return self.root / "hosts" / name


def _roomy_memory() -> str | None:
    """Return the folder of shared memory if plays may keep their files there.

    Plays make and delete thousands of small files. A file system on a disk then spends a tenth of
    the machine's time on looking for free inodes.
    """
    if "TMPDIR" in os.environ:
        return None
    with contextlib.suppress(OSError):
        if os.access(SHARED, os.W_OK) and shutil.disk_usage(SHARED).free > ROOM:
            return SHARED
    return None


def _finish(hosts: dict[str, HostProcess], folders: list[Path]) -> None:
    while hosts:
        hosts.popitem()[1].end()
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _info(answer: dict[str, Any]) -> LoaderInfo:
    names = {field.name for field in dataclasses.fields(LoaderInfo)} - {"offer"}
    offer: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in answer["offer"].items()
    }
    return LoaderInfo(offer=Offer(**offer), **{name: answer[name] for name in names})


def _ended_by_fault(plan: SessionPlan, session: SessionTrace) -> bool:
    if session.fault is not None:
        return True
    faulty = [event for event in session.events if event.fault is not None]
    return any(
        not plan.steps[event.step].tolerate or event.fault.kind in ("hang", "crash")
        for event in faulty
        if event.fault is not None
    )


def _add_ending(
    session: SessionTrace,
    phase: str,
    pending: bool,
    answer: dict[str, Any],
    limit: float,
    folder: str,
) -> None:
    """Add the fault of a session whose process did not finish."""
    if phase == "closing":
        # All steps are done: no requirement is about the end of a loader that nobody closed.
        return
    if answer["outcome"] == "limit":
        fault = hang(phase, limit, answer.get("stacks", ""), answer.get("did", STANDS))
    else:
        output = ""
        with contextlib.suppress(FileNotFoundError):
            output = Path(folder, "output").read_text(encoding="utf-8", errors="replace")
        fault = crash(phase, answer.get("status"), output)
    if pending:
        session.events[-1].fault = fault
    else:
        session.fault = fault
