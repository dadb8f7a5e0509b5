"""The sessions of a failure's script as a table of steps, and the function that does them.

Where a case has many sessions or steps this is shorter than a function for each (pure text).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from midepoch_conformance.case.case import Step
from midepoch_conformance.scripts.script_sessions import Session, Style, Writer

__all__ = ["table"]

_WIDTH = 100


def table(parts: Sequence[Session], style: Style) -> list[list[str]] | None:
    """Return the table ``SESSIONS``, and the function ``steps`` that does those of a session.

    None where a session does what the function cannot do.

    Example:
        >>> from midepoch_conformance.case.adapter import Execution
        >>> from midepoch_conformance.case.case import SessionPlan
        >>> from midepoch_conformance.case.uninterrupted import Place
        >>> plan = SessionPlan(Execution(), (Step("load", state="a"), Step("take", 2)))
        >>> places = [Place(), Place(0, 1), Place(0, 3, True)]
        >>> written = table([Session("first", plan, places)], Style("pickle"))
        >>> print("\\n".join(written[0]))
        SESSIONS = {
            "first": "load a, epoch, take 2",
        }
    """
    found = _Table(style)
    said = {part.name: found.session(part) for part in parts}
    if style.notes or style.caught or style.parts or not found.whole:
        return None
    rows = [f'    "{name}": "{", ".join(words)}",' for name, words in said.items()]
    if any(len(row) > _WIDTH for row in rows):
        return None
    return [["SESSIONS = {", *rows, "}"], found.function()]


class _Table:
    """Collects the words for steps, and what is done at each."""

    def __init__(self, style: Style) -> None:
        self.style, self.whole = style, True
        self.acts: dict[str, list[str]] = {}
        self.takes = False
        self.bogus: set[str] = set()

    def session(self, part: Session) -> list[str]:
        """Return the words for a session's steps."""
        said: list[str] = []
        live, newest = False, ""
        moves = zip(part.places[:-1], part.places[1:], strict=True)
        ended = [before.epoch != after.epoch for before, after in moves]
        writer = Writer(part.plan.steps, self.style, {})
        for number, step in enumerate(part.plan.steps):
            if step.codec or (step.tolerate and step.do not in ("drain", "load_bogus")):
                self.whole = False
            if step.tolerate and not self.style.quiet:
                self.whole = False
            if step.do in ("take", "drain"):
                said += [] if live else ["epoch"]
                said.append(self._delivery(step))
            elif step.do in ("edit", "seal") and step.state != newest:
                self.whole = False
            else:
                said.append(self._other(step, writer))
            live = step.do == "take" and not ended[number] if step.do in _MOVES else live
            newest = step.state if step.do in ("save", "load") else newest
        return said

    def _delivery(self, step: Step) -> str:
        if step.tolerate:
            suppressed = ["with contextlib.suppress(Exception):", "    yield from epoch"]
            self.acts.setdefault("try", suppressed)
            return "try"
        self.takes = self.takes or step.do == "take"
        return f"take {step.n}" if step.do == "take" else "rest"

    def _other(self, step: Step, writer: Writer) -> str:
        acts: Mapping[str, Callable[[], list[str]]] = {
            "save": lambda: self._saved(writer),
            "load": lambda: self._loaded(writer),
            "seal": lambda: [writer.write(Step("save", state="@"), "state", "@")],
            "edit": lambda: [f"{self.style.edit}(state)"],
            "break": lambda: ["epoch = None"],
            "kill": lambda: ["os.kill(os.getpid(), signal.SIGKILL)"],
            "close": lambda: self._closed(writer),
            "open": lambda: writer.statements(step),
            "load_bogus": lambda: self._tolerated(writer.statements(step)),
        }
        if step.do not in acts:
            self.whole = False
            return step.do
        if step.do == "load_bogus":
            self.bogus.add(step.value)
            self.whole = self.whole and len(self.bogus) == 1 and step.tolerate
        word = {"load_bogus": "misuse", "break": "leave"}.get(step.do, step.do)
        self.acts.setdefault(word, [line.replace('"@"', "name") for line in acts[step.do]()])
        name = step.into if step.do == "seal" else step.state
        return f"{word} {name}" if name and step.do != "edit" else word

    def _saved(self, writer: Writer) -> list[str]:
        taken = f"state = {writer.state}"
        return [taken, writer.write(Step("save", state="@"), "state", "@")]

    def _loaded(self, writer: Writer) -> list[str]:
        return [f"state = {writer.read(Step('load', state='@'))}", writer.give.format("state")]

    def _closed(self, writer: Writer) -> list[str]:
        name = "loader" if self.style.function else "session"
        return [*([] if self.style.function else ["session.close()"]), f"epoch = {name} = None"]

    def _tolerated(self, lines: list[str]) -> list[str]:
        return ["with contextlib.suppress(Exception):", *(f"    {line}" for line in lines)]

    def function(self) -> list[str]:
        """Return the function of a session whose steps are in the table."""
        given = "loader" if self.style.function else "session"
        begun = "iter(loader)" if self.style.function else "iter(session.epoch())"
        if "edit" not in self.acts and "seal" not in self.acts:
            # No state is looked at once it is written or loaded.
            for word in self.acts.keys() & {"save", "load"}:
                first, second = self.acts[word]
                state = first.removeprefix("state = ")
                self.acts[word] = [second.replace("(state)", f"({state})")]
        lines = [
            f"def steps({given}):  # those of the session that is played",
            '    for do, _, name in (n.partition(" ") for n in SESSIONS[sys.argv[1]].split(", ")):',
            '        if do == "epoch":',
            f"            epoch = {begun}",
        ]
        for word, act in self.acts.items():
            lines += [f'        elif do == "{word}":', *(f"            {line}" for line in act)]
        rest = "itertools.islice(epoch, int(name) if name else None)" if self.takes else "epoch"
        return [*lines, "        else:", f"            yield from {rest}"]


_MOVES = ("take", "drain", "break")
