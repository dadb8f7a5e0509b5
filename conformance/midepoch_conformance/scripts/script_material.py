"""What a failure's script is made of: the case's sessions and data, the adapter folded for them."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from midepoch_conformance.case.adapter import LoaderInfo
from midepoch_conformance.case.case import Case
from midepoch_conformance.case.uninterrupted import oracle_case, places
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.scripts import script_checks
from midepoch_conformance.scripts.folding import Facts, fold
from midepoch_conformance.scripts.handing import escapes, parameters
from midepoch_conformance.scripts.nodes import identifiers
from midepoch_conformance.scripts.script_checks import Check, check_of
from midepoch_conformance.scripts.script_data import (
    FAULTS,
    Data,
    asked_for,
    data_of,
    everything,
    row_text,
    state_expressions,
    workload_facts,
)
from midepoch_conformance.scripts.script_sessions import (
    NAMES,
    Session,
    one_name,
    renamed,
    states_of_ranks,
)
from midepoch_conformance.scripts.script_source import adapter_source, split_futures
from midepoch_conformance.verdict.finding import Finding

__all__ = ["Material"]


class Material:
    """The material of one script.

    Args:
        info: the loader, as the runner knows it.
        case: the failing case.
        finding: what a judge found on it.
        lengths: batches of each epoch of the uninterrupted run.
        folded: whether the adapter is folded for the case.
    """

    def __init__(
        self,
        info: LoaderInfo,
        case: Case,
        finding: Finding,
        lengths: Sequence[int],
        folded: bool,
    ) -> None:
        self.info, self.case, self.finding = info, case, finding
        self.check = self._checked(lengths)
        self.sessions = self._played(lengths)
        self.calls = self.check.notes == "calls"
        w = case.workload
        # Rows that are their id alone are shown as that, and where only ids are looked at.
        plain = w.kind != "stateful_map" and w.state_at != "both" and w.stream != "packing"
        plain = (
            (plain and not w.draws and not self.check.rows) or self.check.parts or self.check.ids
        )
        self.flat = plain and not info.function
        self._fold(folded)

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

    def workload_of(self, part: Session) -> Workload:
        """Return the workload as a session sees it."""
        if part.name == "whole":
            return oracle_case(self.case).workload
        return dataclasses.replace(self.case.workload, **dict(part.plan.workload))

    def _fold(self, folded: bool) -> None:
        """Fold the adapter's source, and find out what it asks for."""
        case, info = self.case, self.info
        fields = [self.fields_of(part) for part in self.sessions]
        varied = {name for name in fields[0] if any(f[name] != fields[0][name] for f in fields)}
        same = {name: value for name, value in fields[0].items() if name not in varied}
        self.futures, source = split_futures(adapter_source(info))
        names = None if info.function else parameters(source)
        row = row_text(case.workload, self.calls)
        facts = None
        if folded and not info.function:
            used = {"save": "state", "load": "load", "close": "close"}
            steps = {step.do.partition("_")[0] for p in self.sessions for step in p.plan.steps}
            facts = Facts(
                info.attribute,
                {n: v for n, v in same.items() if n in workload_facts(case.workload)},
                {n: v for n, v in same.items() if n not in workload_facts(case.workload)},
                frozenset({"epoch", *(used[do] for do in steps if do in used)}),
                self.calls and self.check.word != "fetch",
                "" if row.startswith("row(") else row,
                state_expressions(case.workload, self.calls and self.check.word != "fetch"),
            )
            source = fold(source, facts)
        asked = set() if info.function else asked_for(source, names)
        handed_on = not info.function and escapes(source, names)
        if handed_on:
            asked = everything(case.workload)
        elif case.workload.form in ("iterable", "stream") and "stream_of" in asked:
            asked -= {"source"}  # named for those that have a state
        self.changes = sorted(varied & (asked | ({"workers"} if info.function else set())))
        self.data = self._data(same, asked, bare=False)
        self.source = source
        if facts and names and not handed_on:
            for bare in (True, False):
                self.data = self._data(same, asked, bare)
                self.source, left = self._named(source, facts, names)
                if "source" not in left:
                    break
            self.data = dataclasses.replace(
                self.data, members={n: v for n, v in self.data.members.items() if n in left}
            )
        self.opened = self._opened(same)

    def _data(self, same: dict[str, Any], asked: set[str], bare: bool) -> Data:
        """Return the data that the adapter asks for."""
        faulty = [part.name for part in self.sessions if self.is_faulty(part)]
        return data_of(
            self.case.workload,
            same,
            asked,
            self.calls,
            faulty if len(faulty) < len(self.sessions) else (),
            bare=bare,
            word=self.check.word,
            checked=self._is_checked(),
            loads=self._loads(),
            plain=not faulty and all(map(_is_plain, self.sessions)),
        )

    def _loads(self) -> bool:
        """Return whether a state may be loaded: not where it is only taken."""
        taken = self.finding.requirement in ("BASIS-4", "BASIS-5")
        steps = [step.do for part in self.sessions for step in part.plan.steps]
        return not taken or any(do.startswith("load") for do in steps)

    def _is_checked(self) -> bool:
        """Return whether a dataset looks at the tree that comes back to it."""
        # What changes in place is a whole tree at each time.
        silent = self.finding.outcome == "fails silently" or self.case.workload.tree == "mutated"
        return self.finding.requirement == "STATE-6" or not silent

    def _named(self, source: str, facts: Facts, names: tuple[str, str]) -> tuple[str, set[str]]:
        """Return the adapter with the data's own names in it, and what it still has to be handed.

        It keeps the workload's method where the name is one of its own.
        """
        taken = identifiers(ast.parse(source))
        given = {
            method: text
            for method, text in self.data.expressions.items()
            if not {text, text.removesuffix("()")} & taken
        }
        source = fold(source, dataclasses.replace(facts, row="", expressions=given))
        return source, asked_for(source, names)

    def fields_of(self, part: Session) -> dict[str, Any]:
        """Return all that a session's workload and execution say, but for faults and log."""
        execution = dataclasses.asdict(part.plan.execution)
        methods = self.info.offer.start_methods
        if len(methods) == 1:
            execution["start_method"] = methods[0]
        facts = workload_facts(self.workload_of(part)) | execution
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
        handed = "case, case" if self.handed() else "None, None"
        return f'{adapter}.open({handed}, ".")'

    def handed(self) -> str:
        """Return the expression of what the adapter gets as workload and as execution."""
        given = [f"{name}={value}" for name, value in self.data.members.items()]
        given += ["**json.loads(sys.argv[3])"] if self.changes or self.ranked else []
        return f"types.SimpleNamespace({', '.join(given)})" if given else ""

    def is_faulty(self, part: Session) -> bool:
        """Return whether a sample goes wrong in a session."""
        w = self.workload_of(part)
        return any(getattr(w, fault) is not None for fault in FAULTS)


def _is_plain(part: Session) -> bool:
    """Return whether a session begins each epoch at its start or at the end of another one."""
    others = (step.do for step in part.plan.steps[1:])
    return not any(step.tolerate for step in part.plan.steps) and set(others) <= _ONWARD


_ONWARD = frozenset({"take", "drain", "save", "seal", "edit"})
"""Steps that leave an epoch as far as it is, or bring it on."""
