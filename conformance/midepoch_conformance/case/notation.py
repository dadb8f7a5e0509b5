"""A case as one line of text, and back: ``cut: n=6; take 2, save s | load s, drain`` (pure).

The text names the family, then the fields of the workload and of the first session's execution
that are not the usual ones, then the sessions with a ``|`` between them. A session may begin with
its differences from the first one, in brackets: ``[workers=2 host=a] load s, drain``. The hash seed
and the random streams of a session are usually those of its number: ``a`` and ``b`` in turn, and
1, 101, 201 and so on.

A step is its action and the action's fields, in the order of :data:`ORDER`; any other field is
named: ``save s codec=json``. A question mark tolerates an error: ``take 2?``. ``take all`` takes
the rest of the epoch. An empty step counts for nothing.
A value is a word, a number, ``true``, ``false``, ``null``, a JSON string or a list of values.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, CaseError, SessionPlan, Step
from midepoch_conformance.case.workload import Workload

__all__ = [
    "ORDER", "parse", "parse_session", "parse_sessions", "show", "show_session", "show_step",
    "usual",
]  # fmt: skip

ORDER: dict[str, tuple[str, ...]] = {
    "take": ("n",),
    "drain": ("n",),
    "save": ("state",),
    "seal": ("state", "into"),
    "recode": ("state", "into"),
    "edit": ("state", "n"),
    "load": ("state",),
    "load_merged": ("state",),
    "load_bogus": ("value",),
    "load_cut": ("state", "n"),
    "load_document": ("value", "document"),
    "name_epoch": ("n",),
    "beside": ("n",),
}
"""The fields of an action that are written without their names."""

_TOKEN = re.compile(r'\s*(?:"(?:[^"\\]|\\.)*"|[\[\]|,;=?:]|[^\s"\[\]|,;=?:]+)')
_WORD = re.compile(r"[A-Za-z_][\w./-]*|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_EXECUTION = {field.name: field.default for field in dataclasses.fields(Execution)}
_WORKLOAD = {field.name: field.default for field in dataclasses.fields(Workload)}
_STEP = {field.name: field.default for field in dataclasses.fields(Step)}


# Printing


def show(case: Case) -> str:
    """Return a case as text, from which :func:`parse` makes an equal one.

    Example:
        >>> steps = (Step("take", 2), Step("save", state="s")), (Step("load", state="s"),)
        >>> plans = [SessionPlan(Execution(), some, *usual(i)) for i, some in enumerate(steps)]
        >>> show(Case("cut", Workload(n=6), tuple(plans)))
        'cut: n=6; take 2, save s | load s'
    """
    execution = case.sessions[0].execution if case.sessions else Execution()
    facts = [*_facts(vars(case.workload), _WORKLOAD), *_facts(vars(execution), _EXECUTION)]
    head = f"{_value(case.probe) if ':' in case.probe else case.probe}:"
    sessions = " | ".join(_session(plan, i, execution) for i, plan in enumerate(case.sessions))
    return " ".join(filter(None, [head, *([f"{' '.join(facts)};"] if facts else []), sessions]))


def show_session(plan: SessionPlan) -> str:
    """Return the steps of a session as text."""
    return ", ".join(map(show_step, plan.steps))


def show_step(step: Step) -> str:
    """Return a step as text.

    Example:
        >>> show_step(Step("load_cut", 3, state="s", tolerate=True))
        'load_cut s 3?'
    """
    fields, words = dict(vars(step)), [step.do]
    del fields["do"], fields["tolerate"]
    if step.do == "take":
        words.append("all" if fields.pop("n") == -1 else str(step.n))
    for name in ORDER.get(step.do, ()):
        if fields.get(name, _STEP[name]) == _STEP[name]:
            break
        words.append(_value(fields.pop(name)))
    return " ".join([*words, *_facts(fields, _STEP)]) + "?" * step.tolerate


def usual(number: int) -> tuple[int, str]:
    """Return the seed of the random streams and the interpreter that a session usually has."""
    return 1 + 100 * number, "ab"[number % 2]


def _session(plan: SessionPlan, number: int, execution: Execution) -> str:
    ambient, host = usual(number)
    facts = [
        *_facts(vars(plan.execution), vars(execution)),
        *_facts({"ambient": plan.ambient, "host": plan.host}, {"ambient": ambient, "host": host}),
        *(f"{name}={_value(value)}" for name, value in plan.workload),
    ]
    head = [f"[{' '.join(facts)}]"] if facts else []
    return " ".join([*head, show_session(plan)])


def _facts(fields: dict[str, Any], usual: dict[str, Any]) -> Iterator[str]:
    for name, value in fields.items():
        if name in usual and value != usual[name]:
            yield f"{name}={_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str) and _WORD.fullmatch(value) and _plain(value) == value:
        return value
    return json.dumps(value)


# Parsing


def parse(text: str) -> Case:
    """Return the case that a text is of.

    Example:
        >>> parse("cut: workers=2; take 2, save s | [workers=1] load s, drain?").sessions[1]
        SessionPlan(execution=Execution(workers=1, lanes=None, interval=1, start_method='fork', \
persistent=False, prefetch=None, in_order=True, rank=0, world=1, worker_kind='process', \
restarts=0, together=False), steps=(Step(do='load', n=0, state='s', into='', codec='', value='', \
document='', tolerate=False), Step(do='drain', n=0, state='', into='', codec='', value='', \
document='', tolerate=True)), ambient=101, host='b', workload=())

    Raises:
        CaseError: the text is of no case.
    """
    tokens = _tokens(text)
    at = tokens.index(":") if ":" in tokens else 0
    family = _plain(tokens[0]) if at == 1 else " ".join(tokens[:at])
    rest = tokens[at + 1 :]
    facts: dict[str, Any] = {}
    if ";" in rest:
        cut = rest.index(";")
        facts, rest = dict(_named(rest[:cut])), rest[cut + 1 :]
    unknown = facts.keys() - _WORKLOAD.keys() - _EXECUTION.keys()
    if not at or unknown:
        raise CaseError(f"{_listed(unknown) or 'no family'}: {text!r} is not the text of a case")
    workload = Workload(**{n: _fitting(v) for n, v in facts.items() if n in _WORKLOAD})
    execution = Execution(**{n: v for n, v in facts.items() if n in _EXECUTION})
    return Case(family, workload, _plans(rest, execution))


def parse_session(text: str, number: int = 0, **execution: Any) -> SessionPlan:
    """Return the session that a text is of, under an execution.

    Example:
        >>> [step.do for step in parse_session("take 2, break, drain").steps]
        ['take', 'break', 'drain']
    """
    return _plan(_tokens(text), number, Execution(**execution))


@functools.lru_cache(maxsize=4096)
def parse_sessions(text: str, execution: Execution) -> tuple[SessionPlan, ...]:
    """Return the sessions that a text is of; their brackets change the execution.

    A table of cases has the same few texts in many rows.

    Example:
        >>> [len(plan.steps) for plan in parse_sessions(", save s | load s, drain", Execution())]
        [1, 2]

    Raises:
        CaseError: the text is of no sessions.
    """
    return _plans(_tokens(text), execution)


def _plans(tokens: Sequence[str], execution: Execution) -> tuple[SessionPlan, ...]:
    # Without tokens there is one session, which only opens the loader.
    parts = enumerate(_split(tokens, "|"))
    return tuple(_plan(part, number, execution) for number, part in parts)


def _plan(tokens: Sequence[str], number: int, execution: Execution) -> SessionPlan:
    changes: list[tuple[str, Any]] = []
    if tokens[:1] == ["["]:
        end = _closing(tokens)
        changes, tokens = _named(tokens[1:end]), tokens[end + 1 :]
    ambient, host = usual(number)
    given = dict(changes)
    if unknown := given.keys() - _WORKLOAD.keys() - _EXECUTION.keys() - {"ambient", "host"}:
        raise CaseError(f"a session has no {_listed(unknown)}")
    return SessionPlan(
        dataclasses.replace(execution, **{n: v for n, v in changes if n in _EXECUTION}),
        tuple(_step(part) for part in _split(tokens, ",") if part),
        given.get("ambient", ambient),
        given.get("host", host),
        tuple((n, _fitting(v)) for n, v in changes if n in _WORKLOAD),
    )


def _step(tokens: Sequence[str]) -> Step:
    do, *rest = tokens
    tolerate = rest[-1:] == ["?"]
    rest = rest[: len(rest) - tolerate]
    bare = next((i for i in range(len(rest)) if rest[i + 1 : i + 2] == ["="]), len(rest))
    names = ORDER.get(do, ())
    if bare > len(names):
        raise CaseError(f"{do!r} takes {_listed(names) or 'nothing'}, got {' '.join(rest[:bare])}")
    words = [-1 if (do, word) == ("take", "all") else _plain(word) for word in rest[:bare]]
    fields = {**dict(zip(names, words, strict=False)), **dict(_named(rest[bare:]))}
    if fields.keys() - _STEP.keys():
        raise CaseError(f"a step has no {_listed(fields.keys() - _STEP.keys())}")
    count = fields.pop("n", 0)
    texts = {name: str(value) for name, value in fields.items()}
    return Step(do, int(count), tolerate=tolerate, **texts)


def _named(tokens: Sequence[str]) -> list[tuple[str, Any]]:
    """Read ``name=value`` again and again."""
    found: list[tuple[str, Any]] = []
    while tokens:
        if len(tokens) < 3 or tokens[1] != "=":
            raise CaseError(f"name=value is expected, got {' '.join(tokens)}")
        size = _closing(tokens[2:]) + 1 if tokens[2] == "[" else 1
        found.append((tokens[0], _read(tokens[2 : 2 + size])))
        tokens = tokens[2 + size :]
    return found


def _read(tokens: Sequence[str]) -> Any:
    if tokens[0] != "[":
        return _plain(tokens[0])
    return [_read(part) for part in _split(tokens[1:-1], ",") if part]


def _plain(word: str) -> Any:
    """Return what a word stands for: itself, or what JSON makes of it."""
    try:
        return json.loads(word)
    except ValueError:
        return word


def _fitting(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _tokens(text: str) -> list[str]:
    tokens = [match[0].strip() for match in _TOKEN.finditer(text)]
    if "".join(tokens) != re.sub(r'("(?:[^"\\]|\\.)*")|\s', r"\1", text):
        raise CaseError(f"a quote is left open in {text!r}")
    return tokens


def _split(tokens: Sequence[str], mark: str) -> list[list[str]]:
    """Return the parts between marks that are in no brackets."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token == "[") - (token == "]")
        if token == mark and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _closing(tokens: Sequence[str]) -> int:
    """Return where the bracket closes that the tokens begin with."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token == "[") - (token == "]")
        if not depth:
            return at
    raise CaseError(f"a bracket is left open in {' '.join(tokens)}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
