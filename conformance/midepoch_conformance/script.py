"""The stand-alone script of a failure: the case, a player, the adapter's own lines (no suite).

It is what a stranger looks at first: it imports the loader and the standard library, plays the
uninterrupted run and the case's sessions, each in an interpreter of its own, prints what was
expected and what came, and ends with status 1 when the failure shows, with 0 when it does not.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import textwrap
from collections.abc import Sequence
from typing import Any

from midepoch_conformance import (
    requirements,
    script_checks,
    script_faults,
    script_format,
    script_player,
)
from midepoch_conformance.case import Case
from midepoch_conformance.cases import oracle_case
from midepoch_conformance.folding import Facts, fold
from midepoch_conformance.handing import escapes, parameters
from midepoch_conformance.lengths import counted, places, usual_lengths
from midepoch_conformance.runner import LoaderInfo
from midepoch_conformance.script_checks import Check, check_of
from midepoch_conformance.script_data import (
    FAULTS,
    asked_for,
    data_of,
    everything,
    quoted,
    row_text,
    workload_facts,
)
from midepoch_conformance.script_functions import begun, numbered, resumed_or_whole
from midepoch_conformance.script_names import apart, import_line, imports, names_module
from midepoch_conformance.script_sessions import (
    NAMES,
    Session,
    Style,
    one_name,
    renamed,
    session_lines,
    states_of_ranks,
)
from midepoch_conformance.script_source import adapter_source, split_futures
from midepoch_conformance.script_steps import needed
from midepoch_conformance.script_table import table
from midepoch_conformance.verdict import Finding

__all__ = ["LINES", "MARK", "added_lines", "make_script"]

MARK = "# The adapter's own lines, as far as this case needs them."
"""What stands before the adapter's source in a script."""

LINES = 40
"""How many lines a script may have beyond the adapter's own."""

_FAMILIES = (script_checks, script_faults, script_format)
"""The modules register their recipes when they are imported."""

_MEASURES = 5
"""What is done, one after the other, while a script is too long: (1) what is short shares a
line; (2) an error is told by its process's status, and in full where the interpreter prints it;
(3) sessions that do nearly the same share functions; (4) their calls share lines; (5) the
sessions are a table of steps."""

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


class _Script:
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
        self.info, self.case, self.finding = info, case, finding
        self.check = self._checked(lengths)
        self.sessions = self._played(lengths)
        self.calls = self.check.notes == "calls"
        w = case.workload
        # Rows that are their id alone are shown as that.
        plain = w.kind != "stateful_map" and w.state_at != "both" and w.stream != "packing"
        self.flat = plain and not w.draws and not info.function and not self.check.rows
        self._fold(folded)
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

    def _checked(self, lengths: Sequence[int]) -> Check:
        check = check_of(self.case, self.finding, self._cut(lengths))
        sessions = list(self.case.sessions)
        for number, steps in check.steps:
            sessions[number] = dataclasses.replace(sessions[number], steps=steps)
        sessions = [sessions[number] for number in check.sessions] or sessions
        self.case = dataclasses.replace(self.case, sessions=tuple(sessions))
        return check

    def _cut(self, lengths: Sequence[int]) -> list[int]:
        """Return the lengths of the epochs that are reached."""
        deliveries = [
            before.epoch
            for plan, walked in zip(self.case.sessions, places(self.case, lengths), strict=True)
            for step, before in zip(plan.steps, walked[:-1], strict=True)
            if step.do in ("take", "drain")
        ]
        own = self.finding.requirement in script_checks.recipes() - script_checks.CUT
        return list(lengths) if own else list(lengths)[: max(deliveries, default=0) + 1]

    def _played(self, lengths: Sequence[int]) -> list[Session]:
        """Return the sessions that are played, the uninterrupted run first where it is needed."""
        case = self.case
        plans = one_name(case.sessions)
        self.ranked = states_of_ranks(plans)
        if self.ranked:
            plans = [renamed(plan, "case.state") for plan in plans]
        named = zip(NAMES, plans, places(case, lengths), strict=False)
        played = [Session(name, plan, walked) for name, plan, walked in named]
        if "@whole" in f"{self.check.expected}{self.check.got}{self.check.shows}":
            oracle = oracle_case(case)
            plan = oracle.sessions[0]
            if self.check.epochs:
                plan = dataclasses.replace(plan, steps=plan.steps[: self.check.epochs])
            elif not any(step.tolerate for step in plan.steps):
                plan = dataclasses.replace(plan, steps=plan.steps[: len(self._cut(lengths))])
            oracle = dataclasses.replace(oracle, sessions=(plan,))
            played.insert(0, Session("whole", plan, places(oracle, lengths)[0]))
        return played

    def _workload(self, part: Session) -> Any:
        if part.name == "whole":
            return oracle_case(self.case).workload
        return dataclasses.replace(self.case.workload, **dict(part.plan.workload))

    def _fold(self, folded: bool) -> None:
        """Fold the adapter's source, and find out what it asks for."""
        case, info = self.case, self.info
        fields = [self._fields(part) for part in self.sessions]
        varied = {name for name in fields[0] if any(f[name] != fields[0][name] for f in fields)}
        same = {name: value for name, value in fields[0].items() if name not in varied}
        self.futures, source = split_futures(adapter_source(info))
        names = None if info.function else parameters(source)
        row = row_text(case.workload, self.calls)
        if folded and not info.function:
            used = {"save": "state", "load": "load", "close": "close"}
            steps = {step.do.partition("_")[0] for p in self.sessions for step in p.plan.steps}
            facts = Facts(
                info.attribute,
                {n: v for n, v in same.items() if n in workload_facts(case.workload)},
                {n: v for n, v in same.items() if n not in workload_facts(case.workload)},
                frozenset({"epoch", *(used[do] for do in steps if do in used)}),
                self.calls,
                "" if row.startswith("row(") else row,
            )
            source = fold(source, facts)
        self.source = source
        asked = set() if info.function else asked_for(source, names)
        if not info.function and escapes(source, names):
            asked = everything(case.workload)
        elif case.workload.form in ("iterable", "stream") and "stream_of" in asked:
            asked -= {"source"}  # named for those that have a state
        self.numbers = self.tabled = False
        self.changes = sorted(varied & (asked | ({"workers"} if info.function else set())))
        faulty = [part.name for part in self.sessions if self._is_faulty(part)]
        self.data = data_of(
            case.workload,
            same,
            asked,
            self.calls,
            faulty if len(faulty) < len(self.sessions) else (),
        )
        self.opened = self._opened(same)

    def _fields(self, part: Session) -> dict[str, Any]:
        """Return all that a session's workload and execution say, but for faults and log."""
        execution = dataclasses.asdict(part.plan.execution)
        methods = self.info.offer.start_methods
        if len(methods) == 1:
            execution["start_method"] = methods[0]
        facts = workload_facts(self._workload(part)) | execution
        unsaid = {*FAULTS, "die_once", "log", "tree", "gate", "epochs"}
        whole = workload_facts(self.case.workload) | {"log": None}
        return facts | {name: whole[name] for name in unsaid}

    def _opened(self, same: dict[str, Any]) -> str:
        """Return the expression that builds the loader."""
        info = self.info
        if info.function:
            workers = 'json.loads(sys.argv[3])["workers"]' if self.changes else same["workers"]
            return f"{info.attribute}(num_workers={workers})"
        assigned = re.search(rf"^{info.attribute}\s*[:=]", self.source, re.MULTILINE)
        adapter = info.attribute if assigned else f"{info.attribute}()"
        handed = "case, case" if self._handed() else "None, None"
        return f'{adapter}.open({handed}, ".")'

    def _handed(self) -> str:
        """Return the expression of what the adapter gets as workload and as execution."""
        given = [f"{name}={value}" for name, value in self.data.members.items()]
        given += ["**json.loads(sys.argv[3])"] if self.changes or self.ranked else []
        return f"types.SimpleNamespace({', '.join(given)})" if given else ""

    # The text.

    def text(self, words: str, measures: int = 0) -> str:
        """Return the script; ``words`` tell the case, ``measures``: what is done to shorten it."""
        check = self.check
        sessions, calls = self._functions(merged=measures > 2)
        tabled = self._tabled() if measures == _MEASURES else None
        self.tabled = tabled is not None
        sessions, calls = tabled or (sessions, calls)
        blocks = [*self.data.blocks, *sessions]
        spoken = " ".join((check.expected, check.got, check.shows))
        inside = "\n".join(line for block in blocks for line in block)
        blocks += script_player.helpers(inside, script_player.HELPERS)
        blocks += script_player.helpers(spoken, script_checks.HELPERS)
        by_status = measures > 1 and self._told() and not any(n in spoken for n in _WORDS)
        varied = bool(self.changes or self.ranked)
        dies = self._dies() or by_status
        blocks.append(script_player.player(varied, dies, measures > 1, self.numbers))
        joined = measures > 3
        blocks.append(
            script_player.comparison(check.expected, check.got, check.shows, calls, joined)
        )
        if check.document:
            blocks.insert(0, [f"DOCUMENT = {check.document}"])
        main = "\n\n\n".join("\n".join(block) for block in blocks)
        last = "\n".join(self._end(self._told() and not by_status, measures > 0))
        main, last = apart(main, last, self.source)
        loaded = [m for m in ("midepoch", "numpy", "torch") if names_module(m, main + last)]
        missing = [f"import {m}" for m in loaded if not imports(m, self.source)]
        head = [*self.futures, import_line(main + last)]
        source = "\n".join([MARK, *missing, *([""] if missing else []), self.source.strip("\n")])
        parts = [self._heading(words) + "\n".join(head), main, source, last]
        return "\n\n\n".join(parts) + "\n"

    def _functions(self, merged: bool) -> tuple[list[list[str]], dict[str, str]]:
        """Return the sessions' functions, and the call that plays each session.

        ``merged``: whether the uninterrupted run is played by what resumes one, if it can be.
        """
        codecs: dict[str, str] = {}
        written = {part.name: session_lines(part, self.style, codecs) for part in self.sessions}
        # What a sample does may be told by the session's name.
        named = self.calls or self.case.workload.gate or any(map(self._is_faulty, self.sessions))
        blocks: list[list[str]] = []
        calls: dict[str, str] = {}
        functions: dict[tuple[object, ...], str] = {}
        merged = merged and not named
        if merged and resumed_or_whole(written):
            functions |= {("", *written["whole"]): "rest"}
            begun(written, written["whole"])
        counted = numbered(written) if merged else {}
        self.numbers = bool(counted)
        for part in self.sessions:
            lines = written[part.name] or ["    yield from ()"]
            number = ""
            if part.name in counted:
                lines, number = counted[part.name]
                functions.setdefault(("", *lines), "some")
            # Two sessions that do the same are one function, but where it tells its log or its
            # fault by its name.
            own = part.name if self.calls or self._is_faulty(part) else ""
            name = functions.setdefault((own, *lines), part.name)
            if name not in {call.split('"')[1] for call in calls.values()}:
                given = "loader" if self.info.function else "session"
                given += ", n" if number else ""
                blocks.append([f"def {name}({given}):", *lines])
            calls[part.name] = self._call(part, name, number)
        return blocks, calls

    def _tabled(self) -> tuple[list[list[str]], dict[str, str]] | None:
        """Return the table of the sessions and its function, and the call that plays each."""
        if self.calls or self.case.workload.gate or any(map(self._is_faulty, self.sessions)):
            return None
        blocks = table(self.sessions, self.style)
        self.numbers = False
        calls = {part.name: self._call(part, part.name) for part in self.sessions}
        return (blocks, calls) if blocks else None

    def _is_faulty(self, part: Session) -> bool:
        w = self._workload(part)
        return any(getattr(w, fault) is not None for fault in FAULTS)

    def _call(self, part: Session, function: str, number: str = "") -> str:
        """Return the call that plays a session, which may be handed a number."""
        seed = {"a": "1", "b": "2"}.get(part.plan.host, "3")
        fields = self._fields(part)
        changes = "".join(f", {name}={quoted(fields[name])}" for name in self.changes)
        if part.name in self.ranked:
            changes += f", state={quoted(self.ranked[part.name])}"
        given = f', "{number}"' if number else ""
        return f'play("{function}", "{seed}", "{part.plan.ambient}"{given}{changes})'

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

    def _end(self, told: bool, tight: bool) -> list[str]:
        drawn = self.case.workload.draws
        seeds = ["random.seed(int(sys.argv[2]))"]
        if imports("numpy", self.source) or "numpy" in drawn:
            seeds.append("numpy.random.seed(int(sys.argv[2]))")
        if imports("torch", self.source) or "torch" in drawn:
            seeds.append("torch.manual_seed(int(sys.argv[2]))")
        shown = "[row[0] for row in batch]" if self.flat else "batch"
        if self.info.function:
            shown = "[hashlib.sha256(pickle.dumps(batch)).hexdigest()[:8]]"
        elif not self.info.module.startswith("midepoch_conformance."):
            # What a loader makes of a number may be one of its own.
            shown += ", default=float"
        opened = self.opened
        if self.numbers:
            opened += f", *sys.argv[{4 if self.changes or self.ranked else 3}:]"
        function = "steps" if self.tabled else ""
        return script_player.end(function, self._handed(), opened, seeds, shown, told, tight)

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
