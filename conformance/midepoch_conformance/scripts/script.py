"""Puts the script of a failure together: the case, the loader's and the data's lines, the player.

A script's first reader does not know the suite, so it imports the loader and the standard library
alone. It plays the uninterrupted run and the case's sessions, each in a process of its own,
and prints the expected and the delivered batches. Its status is 1 if this very failure shows, and 0
if all is well. It is 2 if a session could not be played, if another error comes than the failure's,
or if the uninterrupted run is empty.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from midepoch_conformance.case import notation
from midepoch_conformance.case.adapter import LoaderInfo
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.uninterrupted import counted, oracle_case, usual_lengths
from midepoch_conformance.scripts.comparison import Comparison
from midepoch_conformance.scripts.evidence import compared
from midepoch_conformance.scripts.layout import broken, heading, table, wrapped
from midepoch_conformance.scripts.source.beside import absolute, beside, finder
from midepoch_conformance.scripts.source.source_tree import SHARED, SUITE, Part, defined
from midepoch_conformance.scripts.source.specialise import specialise
from midepoch_conformance.verdict.evidence import UNINTERRUPTED, Evidence
from midepoch_conformance.verdict.finding import Finding

__all__ = ["MARK", "make_script", "player"]

MARK = "# The player, the same in every script"
"""The line before the player."""

_SUITE = Path(__file__).parents[1]
_DATA = (
    "case/data/draws.py",
    "case/data/rows.py",
    "case/data/samplers.py",
    "case/data/sources.py",
    "case/data/published.py",
    "case/data/trees.py",
)
_TOOLS = (
    *("host/session/streams.py", "host/session/codecs.py", "case/tampering.py"),
    *("host/session/beside.py", "scripts/rare.py"),
)
_OF_FUNCTIONS = ("session/batch_values.py", "function_adapter.py")
_SAID = ("form", "private", "ambient", "whole", "special_stream", "special_order", "gives_batches")
"""The properties of a workload that count as facts, beside its fields."""

_OWN = {
    *("SESSIONS", "RARE", "LOOKS", "CODEC", "CANONICAL", "DOCUMENTS", "ERRORS", "LIMIT", "EMPTY"),
    *("PREPARE", "MODULES", "Beside", "compare", "open_loader", "prepare"),
}
"""The names that a script defines itself."""

_PLAYED = {"take", "drain", "break", "save", "load", "close", "open", "kill"}
"""The steps that the player takes by itself."""

_HASHES = {"a": 1, "b": 2}


def make_script(
    info: LoaderInfo,
    case: Case,
    finding: Finding,
    words: str = "",
    lengths: Sequence[int] | None = None,
    *,
    whole: bool = False,
    hashes: bool = True,
    errors: Collection[str] | None = None,
    limit: float = 30.0,
) -> str:
    """Return the script that shows ``finding``.

    Args:
        info: the loader, as the runner knows it.
        case: the failing case.
        finding: what a judge found on it.
        words: the case in words.
        lengths: batches of each epoch of the uninterrupted run, if they are known.
        whole: whether all lines of the loader and of the data are kept.
        hashes: whether each session has the case's seed of hashes, and an interpreter of its own
            for it; if not, each is a copy of the script's own process where the system has these.
        errors: the types of the errors that belong to the failure; None: any. A dead process is
            ``"the process died"``.
        limit: the seconds after which a session hangs.
    """
    if lengths is None:
        lengths = usual_lengths(case.workload, case.sessions[0].execution)
    case = counted(case, lengths)
    found = compared(case, finding, finding.evidence or Evidence("recipe"))
    script = _Script(info, found.case or case, found, whole, hashes)
    # An uninterrupted run without batches shows nothing, unless the case has none.
    e = finding.evidence
    seen = () if e is None else (e.session, *(piece.session for piece in e.pieces))
    looked_at = UNINTERRUPTED in seen
    empty = looked_at or not any(lengths)
    expects = f"ERRORS, EMPTY, LIMIT = {_names(errors)}, {empty}, {max(1, round(limit))}"
    return script.text(heading(info, finding, words), expects)


def _names(errors: Collection[str] | None) -> str:
    return repr(errors if errors is None else sorted(errors))


@functools.cache
def player() -> tuple[str, frozenset[str]]:
    """Return the player's lines, and the names of the modules that they import."""
    text = (_SUITE / "scripts/player.py").read_text(encoding="utf-8")
    modules = (n for n in ast.parse(text).body if isinstance(n, ast.Import))
    return text[text.index(MARK) :], frozenset(a.name for n in modules for a in n.names)


@functools.cache
def _rare() -> frozenset[str]:
    """Return the names of the functions in rare.py."""
    text = (_SUITE / "scripts/rare.py").read_text(encoding="utf-8")
    nodes = (n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef))
    return frozenset(node.name for node in nodes)


@dataclasses.dataclass(frozen=True)
class _Played:
    """A session of a script: its name, its plan, and the facts of its workload and execution."""

    name: str
    plan: SessionPlan
    workload: Mapping[str, Any]
    execution: Mapping[str, Any]


class _Script:
    """One script being written."""

    def __init__(
        self, info: LoaderInfo, case: Case, found: Comparison, whole: bool, hashes: bool
    ) -> None:
        self.info, self.case, self.found = info, case, found
        self.whole, self.hashes = whole, hashes
        self.words = f"{found.expected} {found.got} {found.shows}"
        self.played = [self._session(i, plan) for i, plan in enumerate(case.sessions)]
        if 'seen["whole"]' in self.words:
            self.played.insert(0, self._uninterrupted())
        self.codec = (info.offer.codecs or ("pickle",))[0]
        self.canonical = "midepoch" in info.offer.formats
        self.beside = beside(info)
        # A module beside the adapter may use any fact.
        self.open_ended = whole or bool(self.beside and not info.function)
        self.prepares = not info.function and not _is_idle(_source(info), "prepare")
        self.steps = [step for part in self.played for step in part.plan.steps]
        self.rare = sorted({step.do for step in self.steps} - _PLAYED)

    # The sessions

    def _session(self, number: int, plan: SessionPlan) -> _Played:
        w = self.case.session_workload(number)
        name = str(number + 1)
        w = dataclasses.replace(w, log=f"log of {name}" if w.log else None)
        return _Played(name, plan, _facts(w), self._execution(plan))

    def _uninterrupted(self) -> _Played:
        """Return the uninterrupted run; fields that do not show in its batches are the case's."""
        oracle = oracle_case(self.case)
        faults = ("fail_at", "fails_also", "stop_at", "die_at", "exits_at", "interrupt_at")
        found = {name: getattr(oracle.workload, name) for name in faults}
        log = "log of whole" if self.case.workload.log else None
        w = dataclasses.replace(self.case.workload, log=log, **found)
        plan = oracle.sessions[0]
        return _Played("whole", plan, _facts(w), self._execution(plan))

    def _execution(self, plan: SessionPlan) -> dict[str, Any]:
        execution = dataclasses.asdict(plan.execution)
        methods = self.info.offer.start_methods
        return execution | ({"start_method": methods[0]} if len(methods) == 1 else {})

    # The text

    def text(self, heading: str, expects: str) -> str:
        """Return the script; ``expects`` is a line of its own."""
        imports, adapter, data, tools = self._sources()
        if self.prepares and _is_idle(adapter, "prepare"):
            self.prepares = False
            imports, adapter, data, tools = self._sources()
        handed = self._everything() if self.open_ended else _handed([adapter, data])
        text, modules = player()
        modules |= {*re.findall(r"\b(re|json)\.", self.words), "types"}
        modules |= {"importlib.machinery"} if self.beside else set()
        known = {f"import {module}" for module in modules}
        lines = [line for line in imports.splitlines() if line not in known]
        rest = [
            f"CODEC, CANONICAL = {self.codec!r}, {self.canonical}",
            f"RARE = {table((do, f'do_{do}') for do in self.rare)}",
            f"LOOKS = {table((name, f'look_{name}') for name in self.found.looks)}",
            f"PREPARE = {'prepare' if self.prepares else None}",
            expects,
        ]
        parts = [
            f"{heading}\n\nimport {', '.join(sorted(modules))}",
            "\n".join(finder(self.beside)),
            "\n".join(lines),
            "\n".join(self._sessions(handed)),
            broken("\n".join(self._compare())),
            f"# The loader, as far as the case needs it.\n\n{broken(adapter)}",
            f"# The data, as far as the case needs it.\n\n{broken(data)}" if data else "",
            f"# The functions that the steps need.\n\n{broken(tools)}",
            "\n".join(self._opening(handed, adapter, data)),
            "\n".join(rest),
            f'{text.rstrip()}\n\n\nif __name__ == "__main__":\n    main(*sys.argv[1:])\n',
        ]
        return "\n\n\n".join(part for part in parts if part)

    def _sessions(self, handed: Collection[str]) -> list[str]:
        varied = self._varied() & set(handed)
        rows = []
        for part in self.played:
            facts = {**part.workload, **part.execution}
            changes = {name: facts[name] for name in facts if name in varied}
            seed = _HASHES.get(part.plan.host, 3) if self.hashes else None
            seeds = f"{part.plan.ambient}, {seed}"
            row = f'    "{part.name}": ({seeds}, {changes!r}, '
            rows += wrapped(row, ", ".join(map(self._step, part.plan.steps)))
        documents = {_bare(step.value): step.document for step in self.steps if step.document}
        told = [f"    {name!r}: {text!r}," for name, text in documents.items()]
        head = "SESSIONS = {  # seeds of random streams and of hashes, differences, steps"
        return [head, *rows, "}", *(["DOCUMENTS = {", *told, "}"] if told else [])]

    def _step(self, step: Step) -> str:
        if step.do == "load_document":
            step = dataclasses.replace(step, document="", state="")
            # The line is written between quotes, so the document's name must need none.
            step = dataclasses.replace(step, value=_bare(step.value))
        if step.do == "seal" and not step.codec:
            saved = (s.codec for s in self.steps if s.do == "save" and s.state == step.state)
            step = dataclasses.replace(step, codec=next(saved, ""))
        return notation.show_step(step)

    def _compare(self) -> list[str]:
        lines = [f"    expected = {self.found.expected}", f"    got = {self.found.got}"]
        if re.search(r"\bgot\b", self.found.expected) and not self.found.expected.startswith('"'):
            lines.reverse()  # the expected value is computed from the delivered one
        begin = "def compare(seen):  # seen: the records of each session's steps"
        return [begin, *lines, f"    return expected, got, {self.found.shows}"]

    def _opening(self, handed: Collection[str], adapter: str, data: str) -> list[str]:
        """Return the function that builds the loader."""
        first, asked = self.played[0], {*handed} - self._varied() - {*_members(data)}
        given = [
            "".join(f"{name}={value!r}, " for name, value in facts.items() if name in asked)
            for facts in (first.workload, first.execution)
        ]
        made = [f"{head}({facts}**changes)" for head, facts in zip(_MAKERS, given, strict=True)]
        if self.info.function:
            return [
                "def open_loader(root, **changes):",
                f"    adapter = FunctionAdapter({self.info.attribute})",
                f"    return adapter.open(None, {made[1]}, root)",
            ]
        name = self.info.attribute
        name = f"{name}_" if re.search(rf"^(class )?{name}_\b", adapter, re.MULTILINE) else name
        made_of = f"{name}()"
        if re.search(rf"^{name}\s*=", adapter, re.MULTILINE):
            made_of = f"({name}() if isinstance({name}, type) else {name})"
        lines = [
            "def open_loader(root, **changes):",
            f"    return {made_of}.open({made[0]}, {made[1]}, root)",
        ]
        if self.prepares:
            lines += [
                "",
                "",
                "def prepare(root, **changes):",
                f"    {made_of}.prepare({made[0]}, root)",
            ]
        return lines

    # The sources

    def _varied(self) -> set[str]:
        """Return the names of the facts in which sessions differ."""
        told = [{**part.workload, **part.execution} for part in self.played]
        varied = {name for name in told[0] if any(one[name] != told[0][name] for one in told)}
        if "beside" in self.rare:  # another loader has another seed, and no sample that fails
            fails = self.case.workload.fail_at is not None
            varied |= {"seed", *(("fail_at", "fails_also") if fails else ())}
        return varied | ({"log"} if self.case.workload.log else set())  # each has its own

    def _everything(self) -> set[str]:
        return {*self.played[0].workload, *self.played[0].execution}

    def _known(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        varied = self._varied()
        return {} if self.whole else {n: v for n, v in facts.items() if n not in varied}

    def _sources(self) -> list[str]:
        """Return the imports and the lines of the adapter, of the data and of the tools."""
        w, x = self._known(self.played[0].workload), self._known(self.played[0].execution)
        foreign = self._adapter(w, x)
        data = [] if self.info.function else [Part(_read(_DATA[0]), {"self": w})]
        data += [Part(_read(name), {"w": w}) for name in _DATA[1:] if data]
        codecs = {self.codec, *(step.codec for step in self.steps if step.codec)}
        codecs |= (
            {"json"} if {"document", "load_document"} & {*self.found.looks, *self.rare} else set()
        )
        values = {"canonical": self.canonical} | ({"codec": self.codec} if len(codecs) == 1 else {})
        asks = {"left", "held", "lose"} & {*self.found.looks, *self.rare}
        counted = ("host/system/processes.py",) if asks else ()
        names = (*_TOOLS, *counted)
        tools = [Part(_read(n), values=values if "codecs" in n else {}) for n in names]
        named = _rare() & set(re.findall(r"\w+", self.words))
        named |= {f"do_{do}" for do in self.rare} | {f"look_{n}" for n in self.found.looks}
        roots = {self.info.attribute, f"{self.info.attribute}_", "Rows", "FunctionAdapter", *named}
        roots |= {"encode", "decode", "seed_streams"}
        asked = {"open", "epoch", "state", "load", "close"} | (
            {"prepare"} if self.prepares else set()
        )
        if self.open_ended:
            every = [n for p in [*foreign, *data] for n in ast.walk(ast.parse(p.text))]
            asked |= {n.name for n in every if isinstance(n, ast.FunctionDef)} - w.keys()
        if self.whole:
            roots |= {name for p in foreign for n in ast.parse(p.text).body for name in defined(n)}
        text, _ = player()
        taken = {name for node in ast.parse(text).body for name in defined(node)} | {*_OWN}
        imports, *texts = specialise([*foreign, *data, *tools], roots, asked, taken)
        first, second = len(foreign), len(foreign) + len(data)
        joined = ("\n\n\n".join(filter(None, some)) for some in
                  (texts[:first], texts[first:second], texts[second:]))  # fmt: skip
        return [imports, *joined]

    def _adapter(self, w: Mapping[str, Any], x: Mapping[str, Any]) -> list[Part]:
        """Return the adapter, after the parts that it shares with other adapters."""
        info = self.info
        if info.function:
            made = f"from {info.module} import {info.attribute}"
            own = [Part(_read(f"host/{name}")) for name in _OF_FUNCTIONS]
            return [Part(made, foreign=True), *own]
        text = _source(info)
        given = _parameters(text)
        facts = {"w": w, "x": x} | dict(zip(given, (w, x), strict=False))
        shared = [_read(f"adapters/{name}.py") for name in SHARED if name in text]
        return [Part(t, facts, foreign=True) for t in (*shared, text)]


_MAKERS = ("Rows", "types.SimpleNamespace")


def _facts(w: Any) -> dict[str, Any]:
    names = [field.name for field in dataclasses.fields(w)]
    return {name: getattr(w, name) for name in (*names, *_SAID)}


@functools.cache
def _read(name: str) -> str:
    return (_SUITE / name).read_text(encoding="utf-8")


def _source(info: LoaderInfo) -> str:
    """Return the adapter's text; the suite's own adapters are read from this suite."""
    package, _, rest = info.module.partition(".")
    if package == SUITE:
        return _read(f"{rest.replace('.', '/')}.py")
    return absolute(Path(info.file).read_text(encoding="utf-8"), info.module)


def _parameters(text: str) -> list[str]:
    """Return the adapter's names for the workload and the execution."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == "open":
            return [arg.arg for arg in node.args.args[1:3]]
    return []


def _handed(texts: Iterable[str]) -> set[str]:
    """Return the names of all attributes that the texts read."""
    found = set()
    for node in (n for text in texts for n in ast.walk(ast.parse(text))):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
    return found


def _members(data: str) -> Iterable[str]:
    """Return the names of the methods of the data's own class."""
    for node in ast.parse(data).body:
        if isinstance(node, ast.ClassDef) and node.name == "Rows":
            yield from (member.name for member in node.body if isinstance(member, ast.FunctionDef))


def _is_idle(text: str, name: str) -> bool:
    """Return whether all functions of this name do nothing; no if there is none."""
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]
    bodies = [node.body for node in nodes if node.name == name]
    idle = (ast.Pass, ast.Expr)
    return bool(bodies) and all(
        isinstance(n, idle) and (isinstance(n, ast.Pass) or isinstance(n.value, ast.Constant))
        for body in bodies
        for n in body
    )


def _bare(name: str) -> str:
    """Return a document's name as one word that begins with a letter."""
    word = re.sub(r"\W", "_", name)
    return word if word[:1].isalpha() else f"document_{word}"
