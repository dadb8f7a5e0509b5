"""The sessions of a failure's script: each a function that yields what is delivered (pure text)."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence, Set

from midepoch_conformance.case.case import SessionPlan, Step
from midepoch_conformance.case.tampering import bogus
from midepoch_conformance.case.uninterrupted import Place
from midepoch_conformance.scripts.script_data import quoted

__all__ = [
    "NAMES",
    "Session",
    "Style",
    "Writer",
    "one_name",
    "renamed",
    "session_lines",
    "states_of_ranks",
    "unread",
]

NAMES = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth",
)  # fmt: skip
"""The sessions' names in a script."""


@dataclasses.dataclass(frozen=True)
class Session:
    """One session of a script: its name, its plan and where that stands before each step."""

    name: str
    plan: SessionPlan
    places: Sequence[Place]


@dataclasses.dataclass(frozen=True)
class Style:
    """How the sessions of a script are written.

    Attributes:
        codec: the codec of states where a step names none.
        canonical: whether the loader implements midepoch's format.
        function: whether the loader comes from a function: there is no adapter.
        flat: whether a batch is shown as the list of its samples' ids.
        word: what is counted of what was noted.
        parts: whether an epoch is delivered as one list of samples instead of batch by batch.
        notes: ``drew``, ``moved``, ``size``, ``calls``, ``document``, ``state and document``,
            ``bytes`` or ``bases``: what is delivered besides.
        quiet: whether errors that are tolerated are not told.
        caught: whether an epoch goes on after an error that is caught.
        left: whether a session that closes its loader tells how many processes it leaves.
        edit: the function that changes a state in place.
        path: where in a state the part lies that is removed, where that is known.
        opened: the expression that opens a loader anew.
    """

    codec: str
    canonical: bool = False
    function: bool = False
    flat: bool = True
    parts: bool = False
    notes: str = ""
    word: str = ""
    quiet: bool = False
    caught: bool = False
    left: bool = False
    edit: str = "edit"
    path: tuple[str | int, ...] | None = None
    opened: str = ""


def one_name(plans: Sequence[SessionPlan]) -> list[SessionPlan]:
    """Return the plans with all states under one name, if only the newest is ever asked for.

    Example:
        >>> from midepoch_conformance.case.adapter import Execution
        >>> steps = (Step("load", state="s0"), Step("save", state="s1"))
        >>> plan = SessionPlan(Execution(), (Step("save", state="s0"), *steps))
        >>> [step.state for step in one_name([plan])[0].steps]
        ['state', 'state', 'state']
    """
    newest = ""
    for step in (step for plan in plans for step in plan.steps):
        if step.do == "save":
            newest = step.state
        elif step.state != newest and step.state:
            return list(plans)
        newest = step.into or newest

    return [renamed(plan, "state") for plan in plans]


def renamed(plan: SessionPlan, name: str) -> SessionPlan:
    """Return the plan with all its states under one name."""
    steps = tuple(
        dataclasses.replace(s, state=s.state and name, into=s.into and name) for s in plan.steps
    )
    return dataclasses.replace(plan, steps=steps)


def states_of_ranks(plans: Sequence[SessionPlan]) -> dict[str, str]:
    """Return the one state that each session has to do with, if the sessions are ranks'."""
    if all(plan.execution.world == 1 for plan in plans):
        return {}
    asked = [{step.state for step in plan.steps if step.state} for plan in plans]
    if any(len(states) != 1 for states in asked):
        return {}
    return {name: states.pop() for name, states in zip(NAMES, asked, strict=False)}


def unread(parts: Sequence[Session]) -> dict[str, frozenset[int]]:
    """Return for each session the steps that write a state which nobody reads.

    The state is still taken: only its encoding may be left out.

    Example:
        >>> from midepoch_conformance.case.adapter import Execution
        >>> steps = (Step("save", state="s"), Step("save", state="s"), Step("load", state="s"))
        >>> unread([Session("first", SessionPlan(Execution(), steps), ())])
        {'first': frozenset({0})}
    """
    found: dict[str, set[int]] = {part.name: set() for part in parts}
    pending: dict[str, tuple[str, int]] = {}
    for part in parts:
        for number, step in enumerate(part.plan.steps):
            if step.do in ("load", "load_cut", "recode"):
                pending.pop(step.state, None)
            name = step.state if step.do == "save" else step.into
            if name and step.do in ("save", "seal", "recode"):
                if name in pending:
                    session, earlier = pending[name]
                    found[session].add(earlier)
                pending[name] = part.name, number
    for session, number in pending.values():
        found[session].add(number)
    kept = {
        part.name: {n for n, step in enumerate(part.plan.steps) if step.tolerate} for part in parts
    }
    return {name: frozenset(steps - kept[name]) for name, steps in found.items()}


def session_lines(
    part: Session, style: Style, codecs: dict[str, str], spare: Set[int] | None = None
) -> list[str]:
    """Return the statements of a session; ``codecs`` of the states so far are kept in there.

    ``spare``: the steps that need not write the state that they take, where each line counts.
    """
    writer = Writer(part.plan.steps, style, codecs, spare)
    moves = zip(part.places[:-1], part.places[1:], strict=True)
    ended = [before.epoch != after.epoch for before, after in moves]
    steps, number = part.plan.steps, 0
    while number < len(steps):
        times = 1
        if steps[number].do == "drain" and (style.caught or not writer.live):
            times = len(list(itertools.takewhile(steps[number].__eq__, steps[number:])))
        times = times if times > 2 else 1
        writer.add(number, ended[number], times)
        number += times
    if style.notes == "calls":
        count = f'open(sys.argv[1] + ".log").read().split().count("{style.word}")'
        writer.lines.append(f"    yield {writer.told(count)}")
    return _rounds(writer.lines)


def _rounds(lines: list[str]) -> list[str]:
    """Return the statements, those that are done again and again as a loop where that is shorter.

    Example:
        >>> print("\\n".join(_rounds(["    a()", "    b()", "    a()", "    b()", "    a()"])))
            for _ in range(2):
                a()
                b()
            a()
    """
    for start in range(len(lines)):
        for size in range(2, (len(lines) - start) // 2 + 1):
            block = lines[start : start + size]
            times = 1
            while lines[start + times * size : start + (times + 1) * size] == block:
                times += 1
            end = start + times * size
            edges = lines[start:end:size] + lines[end : end + 1]
            whole = all(_begins(line) for line in edges)
            if times > 1 and whole:
                loop = [f"    for _ in range({times}):", *(f"    {line}" for line in block)]
                return [*lines[:start], *loop, *_rounds(lines[end:])]
    return lines


def _begins(line: str) -> bool:
    """Return whether a statement of a session begins in a line."""
    return line[4:5] not in (" ", "") and not line.startswith("    except")


class Writer:
    """Writes a session's steps as statements."""

    def __init__(
        self,
        steps: Sequence[Step],
        style: Style,
        codecs: dict[str, str],
        spare: Set[int] | None = None,
    ) -> None:
        self.lines: list[str] = []
        self.steps, self.style, self.codecs = steps, style, codecs
        self.tight, self.spare = spare is not None, spare or frozenset()
        self.live, self.number = False, 0
        function = style.function
        self.epoch = "loader" if function else "session.epoch()"
        self.state = "loader.state_dict()" if function else "session.state()"
        self.give = "loader.load_state_dict({})" if function else "session.load({})"

    def add(self, number: int, ended: bool, times: int) -> None:
        """Write a step, or several equal ones; ``ended``: the epoch's end is seen in it."""
        step = self.steps[number]
        self.number = number
        if self.style.caught and step.do in ("take", "drain"):
            epochs = "loader.__iter__" if self.style.function else "session.epoch"
            count = f", n={step.n}" if step.do == "take" else ""
            given = epochs + (f", {times}" if times > 1 else "") + count
            self.lines.append(f"    yield from go_on({given})")
            return
        lines = self.statements(step)
        if step.do in ("take", "drain", "break"):
            self.live = not ended and step.do == "take"
        if step.do in ("take", "drain") and self.style.notes == "moved":
            told = self.told("global_streams() == before")
            lines = ["before = global_streams()", *lines, f"yield {told}"]
        if step.tolerate and self.style.quiet:
            lines = ["with contextlib.suppress(Exception):", *(f"    {line}" for line in lines)]
        elif step.tolerate and self.style.notes == "bases":
            body = [f"    {line}" for line in lines]
            lines = ["try:", *body, "except Exception as error:"]
            lines.append("    yield [[kind.__name__] for kind in type(error).__mro__]")
        elif step.tolerate:
            error = self.told('f"{type(error).__name__}: {error}"')
            body = [f"    {line}" for line in lines]
            lines = ["try:", *body, "except Exception as error:", f"    yield {error}"]
        if times > 1:
            lines = [f"for _ in range({times}):", *(f"    {line}" for line in lines)]
        self.lines += [f"    {line}" for line in lines]

    def statements(self, step: Step) -> list[str]:
        """Return what a step does, errors that it tolerates aside."""
        lines: list[str] = getattr(self, f"_{step.do}")(step)
        return lines

    def told(self, text: str) -> str:
        """Return what is yielded for something that is no batch."""
        return f"[[{text}]]" if self.style.flat else f"[{text}]"

    def _take(self, step: Step) -> list[str]:
        if self.live:
            return [f"yield from itertools.islice(epoch, {step.n})"]
        # What follows finds the iterator alive, as a training loop would leave it.
        last = self.number + 1 == len(self.steps)
        source = self.epoch if last else f"epoch := iter({self.epoch})"
        return [f"yield from itertools.islice({source}, {step.n})"]

    def _drain(self, step: Step) -> list[str]:
        source = "epoch" if self.live else self.epoch
        if step.tolerate and not self.live and self.number + 1 < len(self.steps):
            # What follows finds the iterator that has raised.
            source = f"(epoch := iter({self.epoch}))"
        if self.style.parts:
            return [f"yield [row for batch in {source} for row in batch]"]
        return [f"yield from {source}"]

    def _break(self, step: Step) -> list[str]:
        return ["epoch = None  # broken off"]

    def _save(self, step: Step) -> list[str]:
        name, taken = _variable(step.state), self.state
        notes = self.style.notes
        if notes == "drew":
            told = self.told("global_streams() == before")
            if self.tight:
                # In the order in which it is written.
                told = self.told(f"global_streams() == ({taken}, global_streams())[1]")
                return [f"yield {told}  # before and after"]
            return ["before = global_streams()", taken, f"yield {told}"]
        if notes == "state and document":
            told = self.told(f"json.loads(midepoch.state_to_json({name}))")
            return [f"{name} = {taken}", self.write(step, name, step.state), f"yield {told}"]
        if notes == "document":
            return [f"yield {self.told(f'json.loads(midepoch.state_to_json({taken}))')}"]
        if notes == "bytes":
            return [f"yield {self.told(f'midepoch.state_to_json({taken}).decode()')}"]
        before = []
        kept = self._is_kept(step.state)
        if self.number in self.spare and notes != "size":
            return [f"{name} = {taken}" if kept else taken]
        if kept and self.tight:
            taken = f"{name} := {taken}"
        elif kept:
            before, taken = [f"{name} = {taken}"], name
        size = f"{_path(step.state)}.stat().st_size"
        after = [f'yield [["bytes"], [{size}]]' if self.style.flat else f'yield ["bytes", {size}]']
        return [*before, self.write(step, taken, step.state), *(after if notes == "size" else [])]

    def _seal(self, step: Step) -> list[str]:
        if self.number in self.spare:
            return []
        return [self.write(step, _variable(step.state), step.into)]

    def _recode(self, step: Step) -> list[str]:
        return [self.write(step, self.read(step), step.into)]

    def _edit(self, step: Step) -> list[str]:
        return [f"{self.style.edit}({_variable(step.state)})"]

    def _overwrite(self, step: Step) -> list[str]:
        return ["overwrite()"]

    def _load(self, step: Step) -> list[str]:
        state = self.read(step)
        if self._is_kept(step.state):
            name = _variable(step.state)
            if self.tight:
                return [self.give.format(f"{name} := {state}")]
            return [f"{name} = {state}", self.give.format(name)]
        return [self.give.format(state)]

    def _load_bogus(self, step: Step) -> list[str]:
        return [self.give.format(quoted(bogus(step.value, self.style.codec)))]

    def _load_cut(self, step: Step) -> list[str]:
        path = self.style.path
        if path is None:
            return [self.give.format(f"cut({self.read(step)}, {step.n})")]
        place = "".join(f"[{quoted(key)}]" for key in path)
        if self.codecs.get(step.state, self.style.codec) == "bytes":
            return [
                f"state = json.loads({self.read(step)})",
                f"del state{place}",
                self.give.format("json.dumps(state).encode()"),
            ]
        return [f"state = {self.read(step)}", f"del state{place}", self.give.format("state")]

    def _load_document(self, step: Step) -> list[str]:
        return [self.give.format("midepoch.state_from_json(DOCUMENT)")]

    def _close(self, step: Step) -> list[str]:
        name = "loader" if self.style.function else "session"
        close = [] if self.style.function else ["session.close()"]
        left = [f"yield {self.told('left()')}"] if self.style.left else []
        return [*close, f"epoch = {name} = None", *left]

    def _open(self, step: Step) -> list[str]:
        name = "loader" if self.style.function else "session"
        return [f"{name} = {self.style.opened}"]

    def _count(self, step: Step) -> list[str]:
        return [f"yield {self.told('held()')}"]

    def _kill(self, step: Step) -> list[str]:
        return ["os.kill(os.getpid(), signal.SIGKILL)"]

    # States.

    def _is_kept(self, state: str) -> bool:
        """Return whether the object itself is used before another takes its place."""
        for step in self.steps[self.number + 1 :]:
            if step.state == state and step.do in ("seal", "edit"):
                return True
            if step.state == state and step.do in ("save", "load"):
                return False
        return False

    def write(self, step: Step, state: str, name: str) -> str:
        """Return the statement that writes a state, in the step's codec, under a name."""
        codec, path = step.codec or self.style.codec, _path(name)
        self.codecs[name] = codec
        if codec == "torch":
            return f"torch.save({state}, {_file(name)})"
        written = {
            "pickle": f"pickle.dumps({state})",
            "json": f"json.dumps({state}).encode()",
            "bytes": state,
        }[codec]
        if codec == "json" and self.style.canonical:
            written = f"midepoch.state_to_json({state})"
        return f"{path}.write_bytes({written})"

    def read(self, step: Step) -> str:
        """Return the expression of the state that a step asks for."""
        codec, path = self.codecs.get(step.state, self.style.codec), _path(step.state)
        if codec == "torch":
            return f"torch.load({_file(step.state)}, weights_only=True)"
        read = f"{path}.read_bytes()"
        if codec == "json" and self.style.canonical:
            return f"midepoch.state_from_json({read})"
        return {"pickle": f"pickle.loads({read})", "json": f"json.loads({read})"}.get(codec, read)


def _variable(state: str) -> str:
    return "state" if state in ("state", "case.state") else f"state_{state}"


def _path(state: str) -> str:
    return f"pathlib.Path({_file(state)})"


def _file(state: str) -> str:
    """Return the expression of a state's file: its name, or what the session is handed as that."""
    return state if state == "case.state" else quoted(state)
