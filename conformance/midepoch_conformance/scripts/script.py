"""The stand-alone script of a failure: the case, a player, the adapter's own lines (no suite).

It is what a stranger looks at first: it imports the loader and the standard library, plays the
uninterrupted run and the case's sessions, each in an interpreter of its own, prints what was
expected and what came, and ends with status 1 when the failure shows, with 0 when it does not.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Sequence

from midepoch_conformance.case.adapter import LoaderInfo
from midepoch_conformance.case.case import Case
from midepoch_conformance.case.uninterrupted import counted, usual_lengths
from midepoch_conformance.scripts import (
    script_checks,
    script_faults,
    script_format,
    script_held,
    script_player,
    script_states,
)
from midepoch_conformance.scripts.script_data import quoted, row_text
from midepoch_conformance.scripts.script_functions import (
    begun,
    chained,
    epochs,
    numbered,
    one_function,
    resumed_or_whole,
)
from midepoch_conformance.scripts.script_material import Material
from midepoch_conformance.scripts.script_names import apart, import_line, imports, names_module
from midepoch_conformance.scripts.script_sessions import (
    Session,
    Style,
    session_lines,
    unread,
)
from midepoch_conformance.scripts.script_steps import needed
from midepoch_conformance.scripts.script_table import table
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.finding import Finding

__all__ = ["LINES", "MARK", "added_lines", "make_script"]

MARK = "# The adapter's own lines, as far as this case needs them."
"""What stands before the adapter's source in a script."""

LINES = 40
"""How many lines a script may have beyond the adapter's own."""

_FAMILIES = (script_checks, script_faults, script_format, script_held, script_states)
"""The modules register their recipes when they are imported."""

_MEASURES = 7
"""What is done, one after the other, while a script is too long: (1) what is short shares a
line; (2) an error is told by its process's status, and in full where the interpreter prints it,
and a session has one seed for all; (3) sessions that do nearly the same share functions, and a
state that nobody reads is taken, but not written; (4) their calls share lines; (5) the sessions
are a table of steps; (6) a session has no limit of time where no hang is shown; (7) sessions that
load, take from epochs and save are one function, and epochs that follow each other a generator."""

_TABLED, _UNLIMITED = 5, 6
"""The measures that make a table of the sessions, and that leave out a session's limit of time."""

_MODULES = ("midepoch", "numpy", "torch")
"""What the data and the end of a script may need, and the adapter may not import."""

_WORDS = ("refused", "str(", "startswith", "on purpose")
"""What looks at the words of an error."""

_HEADING, _WIDTH = 5, 96


def make_script(
    info: LoaderInfo,
    case: Case,
    finding: Finding,
    words: str = "",
    lengths: Sequence[int] | None = None,
    *,
    path: tuple[str | int, ...] | None = None,
    folded: bool = True,
) -> str:
    """Return the script that shows ``finding``.

    Args:
        info: the loader, as the runner knows it.
        case: the failing case.
        finding: what a judge found on it.
        words: the case in words.
        lengths: batches of each epoch of the uninterrupted run, where they are known.
        path: where in its state the part lies that a session removes, where that is known.
        folded: whether the adapter is folded for the case; else it is pasted whole.
    """
    if lengths is None:
        lengths = usual_lengths(case.workload, case.sessions[0].execution)
    case = needed(counted(case, lengths), finding, lengths)
    script = _Script(info, case, finding, lengths, path, folded)
    texts = []
    for measures in range(_MEASURES + 1):
        texts.append(script.text(words, measures))
        if len(added_lines(texts[-1])) <= LINES:
            return texts[-1]
    return min(texts, key=lambda text: len(added_lines(text)))


def added_lines(text: str) -> list[str]:
    """Return the lines of a script that are counted: those beyond the adapter's own.

    These are all but blank lines, the docstring, imports, and the adapter's lines, which stand
    between :data:`MARK` and the script's last part. The first line of that marks its begin.
    """
    body = ast.parse(text).body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    lines = text.splitlines()[body[documented].lineno - 1 :]
    if MARK in lines:
        start = lines.index(MARK)
        stop = len(lines) - lines[::-1].index('if __name__ == "__main__":') - 1
        del lines[start:stop]
    return [n for n in lines if n.strip() and not n.startswith(("import ", "from "))]


class _Script(Material):
    """One script being written."""

    def __init__(
        self,
        info: LoaderInfo,
        case: Case,
        finding: Finding,
        lengths: Sequence[int],
        path: tuple[str | int, ...] | None,
        folded: bool,
    ) -> None:
        super().__init__(info, case, finding, lengths, folded)
        self.numbers = self.tabled = self.short = False
        self.style = Style(
            codec=(info.offer.codecs or ("pickle",))[0],
            canonical="midepoch" in info.offer.formats,
            function=info.function,
            flat=self.flat,
            parts=self.check.parts,
            notes=self.check.notes,
            word=self.check.word,
            path=path,
            quiet=self.check.quiet,
            caught=self.check.caught,
            left=finding.requirement == "FAULT-4",
            edit="change" if self._has_tensors() else "edit",
            opened=self.opened,
        )

    # The text.

    def text(self, words: str, measures: int = 0) -> str:
        """Return the script; ``words`` tell the case, ``measures``: what is done to shorten it."""
        check, self.short = self.check, measures > 1
        sessions, calls = self._functions(merged=measures > 2)
        if measures > _UNLIMITED:
            sessions, calls = self._one_function() or self._functions(merged=True, chain=True)
        tabled = self._tabled() if measures == _TABLED else None
        self.tabled = tabled is not None
        sessions, calls = tabled or (sessions, calls)
        blocks = [*self.data.blocks, *sessions]
        spoken = " ".join((check.expected, check.got, check.shows))
        inside = "\n".join(line for block in blocks for line in block)
        blocks += script_player.helpers(inside, script_player.HELPERS)
        held = f"{inside} {check.notes}()" if check.notes in script_held.HOLDING else inside
        blocks += script_player.helpers(held, script_held.HELPERS)
        blocks += script_player.helpers(spoken, script_checks.HELPERS)
        by_status = measures > 1 and self._told() and not any(n in spoken for n in _WORDS)
        varied = bool(self.changes or self.ranked)
        dies = self._dies() or by_status
        blocks.append(script_player.player(varied, dies, self.short))
        joined = measures > 3
        blocks.append(
            script_player.comparison(check.expected, check.got, check.shows, calls, joined)
        )
        if check.document:
            blocks.insert(0, [f"DOCUMENT = {check.document}"])
        if check.vector:
            blocks[0][:0] = [
                f'VECTOR = importlib.resources.files("midepoch_spec") / "{check.vector}"',
                "VECTOR = json.loads(VECTOR.read_text())",
            ]
        main = "\n\n\n".join("\n".join(block) for block in blocks)
        limited = self._dies() or measures < _UNLIMITED
        last = "\n".join(self._end(self._told() and not by_status, measures > 0, limited))
        main, last = apart(main, last, self.source)
        row = row_text(self.case.workload, self.calls)
        loaded = [m for m in _MODULES if names_module(m, "\n".join((main, row, last)))]
        missing = [f"import {m}" for m in loaded if not imports(m, self.source)]
        head = [*self.futures, import_line(main + last)]
        source = "\n".join([MARK, *missing, *([""] if missing else []), self.source.strip("\n")])
        parts = [self._heading(words) + "\n".join(head), main, source, last]
        return "\n\n\n".join(parts) + "\n"

    def _written(self, merged: bool) -> dict[str, list[str]]:
        """Return each session's statements; ``merged``: whether each line counts."""
        codecs: dict[str, str] = {}
        spare = unread(self.sessions) if merged and not self.ranked else {}
        return {
            part.name: session_lines(part, self.style, codecs, spare.get(part.name))
            for part in self.sessions
        }

    def _told_by_name(self) -> bool:
        """Return whether what a sample does may be told by the session's name."""
        named = self.calls or self.case.workload.gate or any(map(self.is_faulty, self.sessions))
        return bool(named)

    def _one_function(self) -> tuple[list[list[str]], dict[str, str]] | None:
        """Return the one function of all sessions, and the call that plays each; None without."""
        shared = None if self._told_by_name() or self.changes else one_function(self._written(True))
        if shared is None or self.ranked:
            return None
        lines, given = shared
        self.numbers = True
        loader = "loader" if self.info.function else "session"
        head = f"def some({loader}, load, save, *counts):  # batches of each epoch; null: all"
        calls = {
            part.name: self._call(part, "some", '", "'.join(given[part.name]))
            for part in self.sessions
        }
        return [[head, *lines]], calls

    def _functions(
        self, merged: bool, chain: bool = False
    ) -> tuple[list[list[str]], dict[str, str]]:
        """Return the sessions' functions, and the call that plays each session.

        ``merged``: whether the uninterrupted run is played by what resumes one, if it can be;
        ``chain``: whether epochs that follow each other are one generator.
        """
        written = self._written(merged)
        if chain:
            written = {name: chained(lines) for name, lines in written.items()}
        named = self._told_by_name()
        blocks: list[list[str]] = []
        calls: dict[str, str] = {}
        functions: dict[tuple[object, ...], str] = {}
        merged = merged and not named
        if merged and resumed_or_whole(written):
            functions |= {("", *written["whole"]): "rest"}
            begun(written, written["whole"])
        counted = (epochs(written) or numbered(written)) if merged else {}
        self.numbers = bool(counted)
        for part in self.sessions:
            lines = written[part.name] or ["    yield from ()"]
            number = ""
            if part.name in counted:
                lines, number = counted[part.name]
                whole = counted.get("whole", ([], ""))[0]
                functions.setdefault(("", *lines), "rest" if lines == whole else "some")
            # Two sessions that do the same are one function, but where it tells its log or its
            # fault by its name.
            own = part.name if self.calls or self.is_faulty(part) else ""
            name = functions.setdefault((own, *lines), part.name)
            if name not in {call.split('"')[1] for call in calls.values()}:
                given = "loader" if self.info.function else "session"
                given += ", n" if number else ""
                blocks.append([f"def {name}({given}):", *lines])
            calls[part.name] = self._call(part, name, number)
        return blocks, calls

    def _tabled(self) -> tuple[list[list[str]], dict[str, str]] | None:
        """Return the table of the sessions and its function, and the call that plays each."""
        if self.calls or self.case.workload.gate or any(map(self.is_faulty, self.sessions)):
            return None
        blocks = table(self.sessions, self.style)
        self.numbers = False
        calls = {part.name: self._call(part, part.name) for part in self.sessions}
        return (blocks, calls) if blocks else None

    def _call(self, part: Session, function: str, number: str = "") -> str:
        """Return the call that plays a session, which may be handed a number."""
        seed = {"a": "1", "b": "2"}.get(part.plan.host, "3")
        fields = self.fields_of(part)
        changed = {name: fields[name] for name in self.changes}
        if part.name in self.ranked:
            changed["state"] = self.ranked[part.name]
        changes = "".join(f", {name}={quoted(value)}" for name, value in changed.items())
        if changed and self.short:
            changes = f", {json.dumps(changed)!r}"
        given = f', "{number}"' if number else ""
        if self.short:
            ambient = part.plan.ambient
            hosts = {p.plan.host for p in self.sessions if p.plan.ambient == ambient}
            alone = f"{ambient}{seed}" if len(hosts) > 1 else f"{ambient}"
            return f'play("{function}", "{alone}"{changes}{given})'
        return f'play("{function}", "{seed}", "{part.plan.ambient}"{changes}{given})'

    def _has_tensors(self) -> bool:
        """Return whether a state may hold a tensor or an array: they are changed otherwise."""
        w = self.case.workload
        held = w.shuffle or w.sampler or w.private or w.tree in ("arrays", "tensors")
        return bool(held) and re.search(r"\b(torch|numpy)\b", self.source) is not None

    def _dies(self) -> bool:
        """Return whether it has to be told that a session's process died."""
        fault = self.finding.requirement in ("FAULT-1", "FAULT-2", "FAULT-3", "FAULT-4")
        return fault or self.finding.kind in ("hang", "crash")

    def _told(self) -> bool:
        """Return whether an error is told among what is delivered."""
        # An error that is the failure is compared; any other is printed where it is raised.
        words = f"{self.check.got}{self.check.shows}"
        silent = self.finding.outcome == "fails silently" or self.finding.kind == "leftover"
        return not silent or "is_error" in words or "refused" in words or self._dies()

    def _end(self, told: bool, tight: bool, limited: bool) -> list[str]:
        drawn = self.case.workload.draws
        seeds = ["random.seed"]
        if imports("numpy", self.source) or "numpy" in drawn:
            seeds.append("numpy.random.seed")
        if imports("torch", self.source) or "torch" in drawn:
            seeds.append("torch.manual_seed")
        shown = "[row[0] for row in batch]" if self.flat else "batch"
        if self.case.workload.width > 1:
            shown = "[int(row[0]) for row in batch]"
        if self.info.function:
            shown = "[[hashlib.sha256(pickle.dumps(batch)).hexdigest()[:8]]]"
        elif not self.info.module.startswith("midepoch_conformance."):
            # What a loader makes of a number may be one of its own.
            shown += ", default=float"
        opened = self.opened
        if self.numbers:
            opened += f", *sys.argv[{4 if self.changes or self.ranked else 3}:]"
        function = "steps" if self.tabled else ""
        if self.check.notes in script_held.HOLDING:
            delivered = f"{function or 'globals()[sys.argv[1]]'}({opened})"
            function, opened = self.check.notes, delivered
        return script_player.end(
            function, self.handed(), opened, seeds, shown, told, tight, limited
        )

    def _heading(self, words: str) -> str:
        info, finding = self.info, self.finding
        known = requirements.load().get(finding.requirement)
        loader = f"{info.name} {info.version}".strip()
        texts = [
            known.text if known else "",
            f"The case: {words}." if words else "",
            f"The suite saw: {finding.words}." if finding.words else "",
        ]
        lines: list[str] = []
        for number, said in enumerate(texts):
            left = _HEADING - len(lines) - sum(map(bool, texts[number + 1 :]))
            lines += _wrapped(said, min(2, left))
        title = f"{loader} {finding.outcome} at {finding.requirement} of midepoch's specification."
        text = "\n".join([title, "", *lines]).replace("\\", "\\\\").replace('"""', "'''")
        return f'"""{text}\n"""\n\n'


def _wrapped(text: str, most: int) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), _WIDTH, max_lines=most, placeholder=" ...")
