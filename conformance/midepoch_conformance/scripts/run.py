"""Runs a failure's script by itself."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

from midepoch_conformance.host.processes import end_marked

__all__ = ["NO_VERDICT", "ScriptRun", "run_script"]

NO_VERDICT = 2
"""The status of a run that broke before it compared anything."""


@dataclasses.dataclass(frozen=True)
class ScriptRun:
    """How a script ended."""

    status: int
    """1 if the failure shows, 0 if not, :data:`NO_VERDICT` if the script broke or was too slow."""

    output: str
    """The text that it printed."""


def run_script(
    text: str, python: str | None = None, timeout: float = 60.0, folder: Path | None = None
) -> ScriptRun:
    """Run a script by itself, in a clean environment and an empty folder.

    Args:
        text: the script.
        python: the interpreter that has the loader; this one by default.
        timeout: seconds after which it is killed, with all that it started.
        folder: where the folder is made; with the system's other temporary files by default.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    with tempfile.TemporaryDirectory(prefix="midepoch-script-", dir=folder) as own:
        path, printed = Path(own, "failure.py"), Path(own, "printed")
        path.write_text(text, encoding="utf-8")
        # A file, not a pipe: processes that the loader leaves behind would keep a pipe open.
        mark = f"midepoch-{uuid.uuid4()}"
        with printed.open("wb") as out:
            process = subprocess.Popen(
                [python or sys.executable, str(path)],
                cwd=own,
                # The files that a script leaves for its reader go with this folder.
                env=environment | {"TMPDIR": own, "MIDEPOCH_SCRIPT": mark},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            return ScriptRun(NO_VERDICT, f"no end within {timeout:g} s")
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            # The sessions of a script that was killed are in groups of their own.
            end_marked(mark)
        output = printed.read_text(encoding="utf-8", errors="replace")
    # A script that breaks ends with status 1 as well, but not after these words.
    compared = "\nexpected: " in output and "\ngot:      " in output
    compared = compared and "\nTraceback" not in output.rpartition("\ngot:      ")[2]
    return ScriptRun(status if compared else NO_VERDICT, output)
