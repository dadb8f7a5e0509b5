"""The stand-alone script of a failure: the adapter's own lines, the case, a player (no suite).

It is what a stranger looks at first: it imports the loader and the standard library, plays the
uninterrupted run and the case's sessions, each in an interpreter of its own, prints what was
expected and what came, and ends with status 1 when the failure shows, with 0 when it does not.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

from midepoch_conformance import requirements
from midepoch_conformance.case import Case, SessionPlan
from midepoch_conformance.cases import oracle_case
from midepoch_conformance.lengths import counted, places, usual_length
from midepoch_conformance.runner import LoaderInfo
from midepoch_conformance.script_checks import NAMES, Check, check_of
from midepoch_conformance.script_player import Session, opener, player, session, workload
from midepoch_conformance.verdict import Finding

__all__ = ["ScriptRun", "adapter_source", "make_script", "run_script"]

NO_VERDICT = 3
"""Status of a run that broke before it had compared anything."""

_WIDTH = 96


@dataclasses.dataclass(frozen=True)
class ScriptRun:
    """How a script ended.

    Attributes:
        status: 1 where the failure shows, 0 where it does not, :data:`NO_VERDICT` where the
            script broke or ran out of time.
        output: what it printed.
    """

    status: int
    output: str


def make_script(
    info: LoaderInfo,
    case: Case,
    finding: Finding,
    words: str = "",
    lengths: Sequence[int] | None = None,
) -> str:
    """Return the script that shows ``finding``.

    Args:
        info: the loader, as the runner knows it.
        case: the failing case.
        finding: what a judge found on it.
        words: the case in words.
        lengths: batches of each epoch of the uninterrupted run, where they are known.
    """
    if lengths is None:
        length = usual_length(case.workload, case.sessions[0].execution)
        lengths = [length] * case.workload.epochs
    case = counted(case, lengths)
    check = check_of(case, finding, lengths)
    source = adapter_source(info)
    body = _body(info, source, case, finding, check, lengths)
    parts = [_heading(info, finding, words), source, "", "", _imports(body), "", "", body]
    return "\n".join(parts) + "\n"


def run_script(text: str, python: str | None = None, timeout: float = 60.0) -> ScriptRun:
    """Run a script by itself, in a clean environment and an empty folder.

    Args:
        text: the script.
        python: the interpreter that has the loader; this one by default.
        timeout: seconds after which it is killed, with all that it started.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    with tempfile.TemporaryDirectory(prefix="midepoch-script-") as folder:
        path, printed = Path(folder, "failure.py"), Path(folder, "printed")
        path.write_text(text, encoding="utf-8")
        # A file, not a pipe: what the loader leaves behind would keep that open.
        with printed.open("wb") as out:
            process = subprocess.Popen(
                [python or sys.executable, str(path)],
                cwd=folder,
                env=environment,
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
        output = printed.read_text(encoding="utf-8", errors="replace")
    # A script that breaks ends with status 1 as well, but not after these words.
    compared = "\nexpected: " in output and "\ngot:      " in output
    compared = compared and "Traceback" not in output.rpartition("\ngot:      ")[2]
    return ScriptRun(status if compared else NO_VERDICT, output)


def adapter_source(info: LoaderInfo) -> str:
    """Return the source of the adapter's module, its docstring left out.

    A ``make_loader`` function is imported in its place, wrapped as the suite wraps it.
    """
    if info.function:
        return _FUNCTION.format(
            folder=str(Path(info.file).parent), module=info.module, name=info.attribute
        ).strip("\n")
    source = _file(info).read_text(encoding="utf-8")
    body = ast.parse(source).body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    # Comments between the docstring and the first statement speak of the file, not of the loader.
    text = "\n".join(source.splitlines()[body[documented].lineno - 1 :]).strip("\n")
    if info.module.startswith("midepoch_conformance."):
        return text
    return _with_folder(text, str(Path(info.file).parent))


def _file(info: LoaderInfo) -> Path:
    """Return the adapter's file; built-in ones lie here, under whatever path the host saw them."""
    package, _, rest = info.module.partition(".")
    if package == "midepoch_conformance":
        return Path(__file__).parent / f"{rest.replace('.', '/')}.py"
    return Path(info.file)


def _with_folder(text: str, folder: str) -> str:
    """Make what lies beside a user's adapter importable, as the suite does."""
    futures = [
        node.end_lineno or 0
        for node in ast.parse(text).body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    lines = text.splitlines()
    lines.insert(max(futures, default=0), f"import sys\n\nsys.path.insert(0, {folder!r})")
    return "\n".join(lines)


_FUNCTION = '''
import hashlib
import pickle
import sys

sys.path.insert(0, {folder!r})
from {module} import {name}


class Adapter:
    """Reaches the loader that {name} makes; a batch is shown as its content's hash."""

    def open(self, w, x, root):
        self.loader = {name}(num_workers=x.workers)
        self.state = getattr(self.loader, "state_dict", None)
        self.load = getattr(self.loader, "load_state_dict", None)
        return self

    def epoch(self):
        for batch in self.loader:
            yield [[hashlib.sha256(pickle.dumps(batch)).hexdigest()[:8]]]
'''


def _heading(info: LoaderInfo, finding: Finding, words: str) -> str:
    known = requirements.load().get(finding.requirement)
    loader = f"{info.name} {info.version}".strip()
    lines = [
        f"{loader} {finding.outcome} at {finding.requirement} of midepoch's specification.",
        "",
        *_wrapped(known.text if known else ""),
        *_wrapped(f"The case: {words}." if words else ""),
        *_wrapped(f"The suite saw: {finding.words}." if finding.words else ""),
    ]
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""\n'


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), _WIDTH, max_lines=3, placeholder=" ...")


def _body(
    info: LoaderInfo,
    source: str,
    case: Case,
    finding: Finding,
    check: Check,
    lengths: Sequence[int],
) -> str:
    """Return all that follows the adapter's source, imports aside."""
    played = [
        Session(name, plan, walked)
        for name, plan, walked in zip(NAMES, case.sessions, places(case, lengths), strict=False)
    ]
    if check.oracle:
        whole = oracle_case(case)
        played.insert(0, Session("whole", _unspoilt(case, whole), places(whole, lengths)[0]))
    codecs = [step.codec for plan in case.sessions for step in plan.steps if step.codec]
    codec = (codecs or [*info.offer.codecs, "pickle"])[0]
    plans = any(part.plan.workload for part in played)
    blocks = [
        workload(case.workload, source, check.notes == "calls"),
        opener(info, source, case, plans),
        *(session(part, info, codec, plans, check.parts, check.notes) for part in played),
        *([list(check.helpers)] if check.helpers else []),
    ]
    text = "\n\n\n".join("\n".join(block) for block in blocks)
    # What may break the process that plays it is never played by the script's own.
    apart = check.notes == "calls" or finding.kind in ("hang", "crash", "leftover")
    apart = apart or finding.requirement.startswith("FAULT")
    runs = [
        f"        {part.name} = "
        + ("run_anew" if apart or part.plan.host == "b" else "run")
        + f"({part.name}, folder)"
        for part in played
    ]
    return "\n".join([text, "", "", *player(text), *_main(check, runs)])


def _unspoilt(case: Case, whole: Case) -> SessionPlan:
    """Return the uninterrupted run's session, without the workload's fault."""
    faults = ("fail_at", "stop_at", "die_at")
    changes = tuple((f, None) for f in faults if getattr(case.workload, f) is not None)
    return dataclasses.replace(whole.sessions[0], workload=changes)


def _main(check: Check, runs: list[str]) -> list[str]:
    compared = [f"    expected = {check.expected}", f"    got = {check.got}"]
    return [
        'elif __name__ == "__main__":',
        "    with tempfile.TemporaryDirectory() as name:",
        "        folder = pathlib.Path(name)",
        *runs,
        *(compared[::-1] if "got" in check.expected else compared),
        '    print(__doc__, f"expected: {expected}", f"got:      {got}", sep="\\n")',
        f"    sys.exit(bool({check.shows}))",
    ]


def _imports(body: str) -> str:
    """Return the import of what the lines after the adapter use."""
    return f"import {', '.join(m for m in _MODULES if re.search(rf'{_ALONE}{m}[.]', body))}"


_ALONE = r"(?<![\w.])"
_MODULES = (
    "collections", "io", "itertools", "json", "midepoch", "multiprocessing", "numpy", "os",
    "pathlib", "pickle", "random", "signal", "subprocess", "sys", "tempfile", "time", "torch",
    "types",
)  # fmt: skip
