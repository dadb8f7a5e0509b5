"""Read the code fences of a Markdown page, and run them.

A fence's language decides how it runs. Comments on the lines directly before it add directives:

``<!-- not run: reason -->``   the fence does not run, for this reason
``<!-- file: name.py -->``     its code is written to that file of the page's folder; a later fence
                               uses the file
``<!-- patch: name.py -->``    (diff) its lines are replaced in that file
``<!-- output -->``            the shown output is compared with standard output; ``...`` stands for
                               anything within a line and, alone, for any lines
``<!-- output: both -->``      the same, with standard error after it
``<!-- output: numbers may differ -->``   the same, but any number matches any other
``<!-- exit: 1 -->``           the command ends with that status

A ``python`` fence runs as a script, ``pycon`` as a doctest, ``console`` command by command
(``$ ``). ``json`` is parsed. ``text`` with ``output`` is compared with the output of the fence
before it. Any other fence needs a reason why it does not run. A line ``--8<-- "file"`` stands for
a file of ``docs/assets`` or ``docs/recipes``, as on the site.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

LIMIT = 240.0
_OPENING = re.compile(r"^(?P<indent>[ >]*)(?P<ticks>`{3,}|~{3,})\s*(?P<language>[\w+-]*)[^`]*$")
_COMMENT = re.compile(r"^\s*<!--\s*(?P<name>[a-z ]+?)(?::\s*(?P<value>.*?))?\s*-->\s*$")
_DIRECTIVES = {"not run", "file", "patch", "output", "exit"}
_NUMBERS = "numbers may differ"
_INCLUDED = re.compile(r'^--8<-- "(?P<name>[^"/]+)"\n', re.MULTILINE)
_FOLDERS = [Path(__file__).resolve().parents[1] / name for name in ("assets", "recipes")]
_HOW = {"", "both", _NUMBERS}
_DOCTEST = "import doctest, sys; sys.exit(bool(doctest.testfile(sys.argv[1], False).failed))"


class FenceError(AssertionError):
    """A fence does not behave as its page says."""


@dataclass
class Fence:
    """A code fence with the comments before it."""

    line: int
    language: str
    code: str
    directives: dict[str, str] = field(default_factory=dict)


@dataclass
class Output:
    """The output and exit status of a command."""

    status: int
    printed: str
    both: str


def parse(text: str) -> list[Fence]:
    """Return the fences of a page.

    Raises:
        FenceError: a fence is never closed, or a comment before one is no known directive.
    """
    fences = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        opening = _OPENING.match(lines[at])
        if opening is None:
            at += 1
            continue
        end = _end(lines, at, opening["ticks"])
        indent = len(opening["indent"])
        code = "".join(f"{line[indent:]}\n" for line in lines[at + 1 : end])
        code = _INCLUDED.sub(_included, code)
        fences.append(Fence(at + 1, opening["language"], code, _directives(lines, at)))
        at = end + 1
    return fences


def run(fences: list[Fence], folder: Path) -> None:
    """Run a page's fences, in order, in ``folder``.

    Raises:
        FenceError: a fence fails, prints other output, or neither runs nor has a reason.
    """
    __tracebackhide__ = True
    before: Output | None = None
    for number, fence in enumerate(fences):
        try:
            if "not run" in fence.directives:
                _explained(fence)
            elif "file" in fence.directives:
                _write(fence, folder, fences[number + 1 :])
            elif fence.language == "text" and "output" in fence.directives:
                _compare(fence.code, before, fence)
            elif fence.language in _RUNNERS:
                before = _RUNNERS[fence.language](fence, folder) or before
            else:
                what = fence.language or "this fence"
                raise FenceError(f"{what} is not run: say why in <!-- not run: reason -->")
        except FenceError as error:
            raise FenceError(f"line {fence.line}: {error}") from None


def matches(shown: str, printed: str) -> bool:
    """Return whether ``printed`` matches ``shown``; ``...`` matches anything.

    >>> matches("took ... s", "took 0.3 s"), matches("a", "b")
    (True, False)
    """
    pattern = ""
    for line in _lines(shown):
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += "[^\n]*".join(re.escape(part) for part in line.split("...")) + r"\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _lines(printed))) is not None


def _without_numbers(text: str) -> str:
    # "2" and "1 of 2" are counts alike; a longer one takes from the spaces of its column
    return re.sub(r"\d+( of \d+)? *", "0 ", text)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def _end(lines: list[str], opening: int, ticks: str) -> int:
    for number in range(opening + 1, len(lines)):
        line = lines[number].strip(" >")
        if line.startswith(ticks) and not line.strip(ticks[0]):
            return number
    raise FenceError(f"line {opening + 1}: the fence is never closed")


def _included(line: re.Match[str]) -> str:
    for path in (folder / line["name"] for folder in _FOLDERS):
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise FenceError(f"no file to include: {line['name']}")


def _directives(lines: list[str], opening: int) -> dict[str, str]:
    found: dict[str, str] = {}
    for number in range(opening - 1, -1, -1):
        match = _COMMENT.match(lines[number])
        if match is None:
            break
        if match["name"] not in _DIRECTIVES:
            raise FenceError(f"line {number + 1}: {match['name']!r} is none of {_DIRECTIVES}")
        found[match["name"]] = match["value"] or ""
    return found


def _explained(fence: Fence) -> None:
    if not fence.directives["not run"]:
        raise FenceError("<!-- not run: reason --> lacks the reason")


def _write(fence: Fence, folder: Path, later: list[Fence]) -> None:
    name = fence.directives["file"]
    if not any(Path(name).stem in other.code for other in later):
        raise FenceError(f"{name} is written and no later fence of the page uses it")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(fence.code, encoding="utf-8")


def _run_python(fence: Fence, folder: Path) -> Output:
    script = folder / f"fence_{fence.line}.py"
    script.write_text(fence.code, encoding="utf-8")
    output = _execute([sys.executable, script.name], folder)
    _check_status(output, fence)
    return output


def _run_doctest(fence: Fence, folder: Path) -> Output:
    text = folder / f"fence_{fence.line}.txt"
    text.write_text(fence.code, encoding="utf-8")
    output = _execute([sys.executable, "-c", _DOCTEST, str(text)], folder)
    _check_status(output, fence)
    return output


def _run_console(fence: Fence, folder: Path) -> Output:
    commands = _commands(fence.code)
    if not commands:
        raise FenceError("a console fence has lines that start with '$ '")
    if "output" not in fence.directives and any(shown.strip() for _, shown in commands):
        raise FenceError("output is shown: mark it with <!-- output -->")
    output = None
    for number, (command, shown) in enumerate(commands):
        output = _execute(["bash", "-c", _one_job(command)], folder)
        _check_status(output, fence if number == len(commands) - 1 else Fence(0, "", ""))
        if "output" in fence.directives and shown.strip():
            _compare(shown, output, fence)
    assert output is not None
    return output


def _one_job(command: str) -> str:
    # The tests use all CPUs already. A report is the same with any number of jobs.
    return command.replace("midepoch check", "midepoch check --jobs 1")


def _commands(code: str) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    continued = False
    for line in code.splitlines():
        if continued:
            out[-1] = (f"{out[-1][0]}\n{line}", "")
        elif line.startswith("$ "):
            out.append((line[2:], ""))
        elif out:
            out[-1] = (out[-1][0], f"{out[-1][1]}{line}\n")
        continued = line.endswith("\\") and (continued or line.startswith("$ "))
    return out


def _parse_json(fence: Fence, folder: Path) -> None:
    try:
        json.loads(fence.code)
    except ValueError as error:
        raise FenceError(f"no JSON: {error}") from error


def _patch(fence: Fence, folder: Path) -> None:
    if "patch" not in fence.directives:
        raise FenceError("a diff needs <!-- patch: file -->, or <!-- not run: reason -->")
    path = folder / fence.directives["patch"]
    lines = path.read_text(encoding="utf-8").splitlines()
    at = None
    for line in fence.code.splitlines():
        mark, text = (line[:1], line[1:].removeprefix(" ") if line[1:2] == " " else line[1:])
        if mark == "-":
            if lines.count(text) != 1:
                raise FenceError(f"{path.name} holds {text!r} {lines.count(text)} times")
            at = lines.index(text)
            del lines[at]
        elif mark == "+":
            if at is None:
                raise FenceError("a diff opens with a line that it takes away")
            lines.insert(at, text)
            at += 1
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _execute(command: list[str], folder: Path) -> Output:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "COLUMNS": "100",
        "MIDEPOCH_JOBS": "1",  # other tests use the other CPUs
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for name in ("PYTHONPATH", "PYTEST_CURRENT_TEST", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        printed, errors = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise FenceError(f"{command[-1]}: not done after {LIMIT:.0f} s") from None
    finally:
        _end_group(process)
    text = printed.decode(errors="replace")
    return Output(process.returncode, text, text + errors.decode(errors="replace"))


def _end_group(process: subprocess.Popen[bytes]) -> None:
    # Workers that outlive their fence would use the CPUs of the test run.
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def _check_status(output: Output, fence: Fence) -> None:
    wanted = int(fence.directives.get("exit", "0"))
    if output.status != wanted:
        raise FenceError(f"exit status {output.status}, not {wanted}:\n{output.both[-3000:]}")


def _compare(shown: str, output: Output | None, fence: Fence) -> None:
    if output is None:
        raise FenceError("no fence before this one has printed anything")
    how = fence.directives["output"]
    if how not in _HOW:
        raise FenceError(f"<!-- output: {how} --> is none of {sorted(_HOW)}")
    printed = output.both if how == "both" else output.printed
    view = _without_numbers if how == _NUMBERS else str
    if not matches(view(shown), view(printed)):
        raise FenceError(f"the page shows:\n{shown}\nbut it printed:\n{printed[-6000:]}")


_RUNNERS: dict[str, Callable[[Fence, Path], Output | None]] = {
    "python": _run_python,
    "pycon": _run_doctest,
    "console": _run_console,
    "json": _parse_json,
    "diff": _patch,
}
