"""Runs a failure's script by itself."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

from midepoch_conformance.host.system.processes import end_marked, piped

__all__ = ["NO_VERDICT", "Interpreter", "ScriptRun", "WarmInterpreter", "run_script"]

NO_VERDICT = 2
"""The status of a run that broke before it compared anything."""

_FRAMEWORKS = ("grain", "midepoch", "numpy", "torch", "torchdata")
"""The packages that a warm interpreter imports before a script does."""

_IMPORT = re.compile(rf"^(?:from|import) ((?:{'|'.join(_FRAMEWORKS)})(?:\.\w+)*)\b", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class ScriptRun:
    """How a script ended."""

    status: int
    """1 if the failure shows, 0 if not, :data:`NO_VERDICT` if the script broke or was too slow."""

    output: str
    """The text that it printed."""


class Interpreter:
    """Runs each script in a new process of an interpreter.

    Args:
        python: the interpreter that has the loader; this one by default.
    """

    def __init__(self, python: str | None = None) -> None:
        self._python = python or sys.executable

    def run(self, path: Path, printed: Path, timeout: float) -> int | None:
        """Run a script, and return its exit status; None: it was killed after ``timeout`` seconds.

        Args:
            path: the script, in a folder of its own.
            printed: the file that receives what it prints. It is no pipe, which processes that the
                loader leaves behind would keep open.
            timeout: the seconds that it has.
        """
        mark = f"midepoch-{uuid.uuid4()}"
        with printed.open("wb") as out:
            process = subprocess.Popen(
                [self._python, str(path)],
                cwd=path.parent,
                # The files that a script leaves for its reader go with this folder.
                env=_environment(mark) | {"TMPDIR": str(path.parent)},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            # The sessions of a script that was killed are in groups of their own. And a resource
            # tracker in the script's group tidies up first.
            end_marked(mark)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class WarmInterpreter:
    """Runs each script in a copy of one process, which has imported the script's frameworks.

    A new interpreter takes longer to import them than most scripts take to run.

    Args:
        python: the interpreter that has the loader; this one by default.
    """

    def __init__(self, python: str | None = None) -> None:
        self._python = python
        self._mark = f"midepoch-{uuid.uuid4()}"
        self._process = subprocess.Popen(
            [python or sys.executable, str(Path(__file__).with_name("forker.py"))],
            env=_environment(self._mark),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        self._requests, self._answers = piped(self._process.stdin), piped(self._process.stdout)

    def run(self, path: Path, printed: Path, timeout: float) -> int | None:
        """Run a script as :meth:`Interpreter.run` does."""
        modules = sorted(set(_IMPORT.findall(path.read_text(encoding="utf-8"))))
        request = {"path": str(path), "printed": str(printed), "modules": modules}
        try:
            self._requests.write(f"{json.dumps(request)}\n".encode())
        except BrokenPipeError:
            return Interpreter(self._python).run(path, printed, timeout)
        status = self._status(timeout)
        # A late answer would be taken for the next script's, so a late interpreter ends.
        end_marked(self._mark, spare=None if status is None else self.pid)
        if status is None:
            # While it ends, its pipe may still take a request, which nobody would answer.
            self._process.kill()
            self._process.wait()
        return status

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def close(self) -> None:
        """End the interpreter."""
        self._process.kill()
        self._process.wait()
        end_marked(self._mark)
        self._requests.close()
        self._answers.close()

    def _status(self, timeout: float) -> int | None:
        """Return the exit status of the script that was asked for; None: it did not come."""
        if not select.select([self._answers], [], [], timeout)[0]:
            return None
        line = self._answers.readline()
        return int(line) if line else None


def run_script(
    text: str,
    interpreter: Interpreter | WarmInterpreter | None = None,
    timeout: float = 60.0,
    folder: Path | None = None,
) -> ScriptRun:
    """Run a script by itself, in a clean environment and an empty folder.

    Args:
        text: the script.
        interpreter: runs it; by default a new process of this Python.
        timeout: seconds after which it is killed, with all that it started.
        folder: where the folder is made; with the system's other temporary files by default.
    """
    with tempfile.TemporaryDirectory(prefix="midepoch-script-", dir=folder) as own:
        path, printed = Path(own, "failure.py"), Path(own, "printed")
        path.write_text(text, encoding="utf-8")
        status = (interpreter or Interpreter()).run(path, printed, timeout)
        if status is None:
            return ScriptRun(NO_VERDICT, f"no end within {timeout:g} s")
        output = printed.read_text(encoding="utf-8", errors="replace")
    # A script that breaks ends with status 1 as well, but not after these words.
    compared = "\nexpected: " in output and "\ngot:      " in output
    compared = compared and "\nTraceback" not in output.rpartition("\ngot:      ")[2]
    return ScriptRun(status if compared else NO_VERDICT, output)


def _environment(mark: str) -> dict[str, str]:
    """Return a clean environment, with a mark that every descendant has."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return clean | {"MIDEPOCH_SCRIPT": mark}
