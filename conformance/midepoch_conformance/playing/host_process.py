"""A host seen from the suite: a process and the pipes to it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import uuid
from pathlib import Path
from typing import Any

from midepoch_conformance.host.system import stacks
from midepoch_conformance.host.system.deadline import STANDS, Deadline
from midepoch_conformance.host.system.processes import end_marked, living, piped

__all__ = ["HostLostError", "HostProcess", "RunnerError", "too_old"]

_DYING = 10.0
"""The time in seconds for a host to exit once its pipe has closed."""


class RunnerError(RuntimeError):
    """Something other than the loader under test went wrong."""

    kind: str
    """``adapter`` (the adapter's own fault), ``environment`` (an interpreter or a package is
    missing) or ``protocol`` (the suite's own fault)."""
    message: str
    hint: str
    """Advice, or further facts."""
    trace: str
    """The traceback of an error whose hint is advice alone, or ``""``."""

    def __init__(self, kind: str, message: str, hint: str = "", trace: str = "") -> None:
        super().__init__(f"{message}\n{hint}" if hint else message)
        self.kind, self.message, self.hint, self.trace = kind, message, hint, trace

    @classmethod
    def answered(cls, answer: dict[str, Any]) -> RunnerError:
        """Return the error that a host answers with."""
        hint, trace = answer.get("hint", ""), answer.get("trace", "")
        return RunnerError(answer["kind"], answer["error"], hint, trace)


class HostLostError(RunnerError):
    """A host died or did not answer in time."""

    did = STANDS
    """The :class:`Deadline`'s word for a late host."""
    stacks = ""
    """The places at which the processes of a late host stood."""

    def __init__(self, message: str, hint: str, late: bool, status: int | None) -> None:
        super().__init__("environment", message, hint)
        self.late, self.status = late, status


class HostProcess:
    """A host process and the pipes to it."""

    def __init__(
        self, python: str, root: Path, hash_seed: str, temporary: Path | None = None
    ) -> None:
        package = str(root / "package")
        self.mark = f"midepoch-{uuid.uuid4()}"
        paths = [package, os.environ.get("PYTHONPATH", "")]
        environment = {
            # Plays are small and run side by side: thread pools would only compete.
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
            "PYTHONHASHSEED": hash_seed,
            **({} if temporary is None else {"TMPDIR": str(temporary)}),
            # Every descendant of the host inherits this mark.
            "MIDEPOCH_HOST": self.mark,
        }
        self.python, self.root = python, root
        self.told: dict[str, Any] = {}
        self.asked = 0
        self.unread = b""
        self.errors = tempfile.TemporaryFile(dir=root)  # noqa: SIM115 - closed by end()
        try:
            self.process = subprocess.Popen(
                [python, "-m", "midepoch_conformance.host"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                env=environment,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            self.errors.close()
            raise RunnerError(
                "environment",
                f"{python} cannot be started: {error}",
                "name the Python in which the loader is installed: --python PATH",
            ) from error
        self.requests, self.answers = piped(self.process.stdin), piped(self.process.stdout)

    def ask(
        self,
        op: str,
        asked: dict[str, Any],
        seconds: float,
        folder: str | None = None,
        most: float = Deadline.MOST,
    ) -> dict[str, Any]:
        """Send a request and return its answer; other lines are ignored.

        The host has ``seconds`` to answer, and longer while it makes progress; ``folder`` and
        ``most`` are those of :class:`Deadline`.
        """
        deadline = Deadline(self.process.pid, seconds, folder, most)
        self.send(op, asked)
        return self.answer(op, deadline)

    def send(self, op: str, asked: dict[str, Any]) -> None:
        """Send a request, whose answer is to be read before the next one."""
        self.asked += 1
        data = f"{json.dumps({'id': self.asked, 'op': op, 'with': asked})}\n".encode()
        try:
            while data:
                data = data[self.requests.write(data) :]
        except BrokenPipeError:
            raise self._lost(op, late=False) from None

    def answer(self, op: str, deadline: Deadline) -> dict[str, Any]:
        """Return the answer to the request that was sent last."""
        while True:
            line = self._line(op, deadline)
            with contextlib.suppress(ValueError):
                answer = json.loads(line)
                if isinstance(answer, dict) and answer.get("id") == self.asked:
                    return answer

    def _line(self, op: str, deadline: Deadline) -> bytes:
        poll = select.poll()
        poll.register(self.answers, select.POLLIN)
        while b"\n" not in self.unread:
            left = deadline.left()
            if left <= 0:
                raise self._late(op, deadline)
            if not poll.poll(1000 * left):
                continue
            piece = self.answers.read(1 << 16)
            if not piece:
                raise self._lost(op, late=False)
            self.unread += piece
        line, _, self.unread = self.unread.partition(b"\n")
        return line

    def _late(self, op: str, deadline: Deadline) -> HostLostError:
        """Return the error of a host that did not answer in time, with where it stood."""
        lost = self._lost(op, late=True)
        lost.did = deadline.did
        if deadline.folder is not None:
            pid = self.process.pid
            lost.stacks = stacks.ask([pid, *(living(pid) or ())], deadline.folder)
        return lost

    def _lost(self, op: str, late: bool) -> HostLostError:
        status = None
        if not late:
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = self.process.wait(_DYING)
        said = self.said()
        words = "did not answer in time" if late else f"ended with status {status}"
        hint = said or "it printed nothing"
        return HostLostError(f"{self.python}: the host {words} ({op})", hint, late, status)

    def said(self) -> str:
        """Return the last output of the host and its loader."""
        size = self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, size - 4000))
        return self.errors.read().decode(errors="replace")

    def end(self) -> None:
        """End the host and all processes that it started."""
        # A host whose pipe closes kills its play and exits: only it knows the play's process group.
        self.requests.close()
        self.answers.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0 if self.process.poll() is None else 0)
        # Before the group: the resource trackers in it tidy up first.
        end_marked(self.mark)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.errors.close()


def too_old(python: str) -> str:
    """Return a hint if an interpreter is too old for a host; else nothing."""
    asked = [python, "-c", "import sys; print(sys.version_info >= (3, 9))"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        if b"False" in subprocess.run(asked, capture_output=True, timeout=_DYING).stdout:
            return "a host needs Python 3.9 or newer; "
    return ""
