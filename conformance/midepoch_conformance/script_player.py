"""The parts of a failure's script that play it: workload, sessions, player (pure text).

Only what the case needs is written out. A session is a generator of what it delivers.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from midepoch_conformance.adapter import Execution
from midepoch_conformance.case import Case, SessionPlan, Step
from midepoch_conformance.lengths import Place
from midepoch_conformance.runner import LoaderInfo
from midepoch_conformance.tampering import bogus
from midepoch_conformance.workload import Workload

__all__ = ["Session", "opener", "player", "quoted", "session", "workload"]

LIMIT = 30
"""Seconds that a session of a script has."""

_DRAWS = {
    "python": "random.random()",
    "numpy": "float(numpy.random.random())",
    "torch": "float(torch.rand(()))",
    "own": "rng()",
}
_SEEDS = {
    "numpy": "numpy.random.seed(ambient)",
    "torch": "torch.manual_seed(ambient)",
}


@dataclasses.dataclass(frozen=True)
class Session:
    """One session of a script: its name, its plan and where that stands before each step."""

    name: str
    plan: SessionPlan
    places: Sequence[Place]


def workload(w: Workload, source: str, calls: bool) -> list[str]:
    """Return the workload's class, as far as the adapter's ``source`` asks for it.

    ``calls``: it notes fetches and calls beside its session.
    """
    fault = next((f for f in ("fail_at", "stop_at", "die_at") if getattr(w, f) is not None), "")
    plan = _named(source, ("kind", "n", "batch_size", "epochs", "shuffle", "seed", "tail"))
    plan += [name for name in ("draws", "tree") if f".{name}" in source]
    plan = [*(plan or ["kind"]), *([fault] if fault else [])]
    return [
        "class Workload:  # what the adapter is asked for",
        f"    {', '.join(plan)} = {', '.join(quoted(getattr(w, name)) for name in plan)}",
        *(_note(calls) if calls or ".note(" in source or w.kind == "stateful_iterable" else []),
        "",
        "    def row(self, i, rng=None):",
        *(_fault(fault, w) if fault else []),
        *(['        self.note("fetch")'] if calls else []),
        f"        return [{', '.join(['i', *(_DRAWS[name] for name in w.draws)])}]",
        *(_stateful(w) if w.kind == "stateful_iterable" else []),
    ]


def _note(calls: bool) -> list[str]:
    if not calls:
        return ["    note = print"]
    return [
        "",
        "    def note(self, what):",
        '        open(sys.argv[1] + ".log", "a").write(what + "\\n")',
    ]


def _named(source: str, names: Sequence[str]) -> list[str]:
    """Return those of the attributes that the adapter looks at."""
    return [name for name in names if re.search(rf"\.{name}\b", source)]


def quoted(value: object) -> str:
    """Return the source of a value, texts in double quotes where that is safe."""
    text = repr(value)
    return text if '"' in text or "\\" in text else text.replace("'", '"')


def _fault(fault: str, w: Workload) -> list[str]:
    act = {
        "fail_at": f'raise RuntimeError("sample {w.fail_at} fails on purpose")',
        "stop_at": "raise StopIteration",
        "die_at": "os.kill(os.getpid(), signal.SIGKILL)",
    }[fault]
    return [f"        if i == self.{fault}:", f"            {act}"]


def _stateful(w: Workload) -> list[str]:
    if not w.tree:
        state, check = '{"position": position}', []
    else:
        # The position is put back into the text of a tree made for a number like no other.
        mark = 10**30
        tree = repr(w.state_tree(mark)).replace(repr(2**70 + mark), "2**70 + position")
        tree = tree.replace(repr(mark), "position")
        state = f'{{"position": position, "tree": {tree}}}'
        check = [
            '        if repr(state) != repr(self.dataset_state(state["position"])):',
            '            raise RuntimeError(f"the dataset\'s state came back as {state}")',
        ]
    return [
        "",
        "    def dataset_state(self, position):",
        '        self.note("state_dict")',
        f"        return {state}",
        "",
        "    def dataset_position(self, state):",
        *check,
        '        return state["position"]',
    ]


def opener(info: LoaderInfo, source: str, case: Case, plans: bool) -> list[str]:
    """Return the function that builds the loader as a session asks for it.

    ``plans``: some session changes the workload.
    """
    usual = dataclasses.asdict(Execution())
    if len(info.offer.start_methods) == 1:
        usual["start_method"] = info.offer.start_methods[0]
    varied = {name for plan in case.sessions for name in _changed(plan, info)}
    written = ", ".join(
        f"{name}={quoted(value)}"
        for name, value in usual.items()
        if name in varied or _named(source, (name,))
    )
    w = "w" if plans else "Workload()"
    seeds = ["random.seed(ambient)", *(_SEEDS[m] for m in _modules(source, case))]
    return [
        f"def opened(ambient, folder, {'plan, ' if plans else ''}**execution):",
        f"    {'; '.join(seeds)}",
        *(["    w = Workload()", "    vars(w).update(plan)"] if plans else []),
        f"    x = types.SimpleNamespace(**dict({written}) | execution)",
        f"    return {_adapter(info, source)}.open({w}, x, str(folder))",
    ]


def _changed(plan: SessionPlan, info: LoaderInfo) -> dict[str, object]:
    """Return what a session's execution has that is not usual."""
    usual = Execution()
    one = len(info.offer.start_methods) == 1
    return {
        field.name: getattr(plan.execution, field.name)
        for field in dataclasses.fields(Execution)
        if getattr(plan.execution, field.name) != getattr(usual, field.name)
        and not (one and field.name == "start_method")
    }


def _adapter(info: LoaderInfo, source: str) -> str:
    """Return the expression of the adapter: its class is called, an instance is not."""
    if info.function:
        return "Adapter()"
    assigned = re.search(rf"^{info.attribute}\s*[:=]", source, re.MULTILINE)
    return info.attribute if assigned else f"{info.attribute}()"


def _modules(source: str, case: Case) -> list[str]:
    """Return the modules of random streams that the adapter imports or a sample draws from."""
    drawn = case.workload.draws
    return [m for m in _SEEDS if f"import {m}" in source or m in drawn]


def session(
    part: Session, info: LoaderInfo, codec: str, plans: bool, parts: bool, notes: str
) -> list[str]:
    """Return a session as a function.

    Args:
        part: the session.
        info: the loader.
        codec: the codec of its states.
        plans: whether some session changes the workload.
        parts: whether an epoch is delivered as one list of samples instead of batch by batch.
        notes: ``drew``, ``size`` or ``calls``: what is delivered besides.
    """
    plan = part.plan
    arguments = [str(plan.ambient), "folder"]
    arguments += [quoted(dict(plan.workload))] if plans else []
    arguments += [f"{name}={quoted(value)}" for name, value in _changed(plan, info).items()]
    writer = _Writer(plan.steps, codec, parts, notes, canonical="midepoch" in info.offer.formats)
    for step, before, after in zip(plan.steps, part.places[:-1], part.places[1:], strict=True):
        writer.add(step, ended=after.epoch != before.epoch)
    log = [f'    yield (folder / "{part.name}.log").read_text()'] if notes == "calls" else []
    return [
        f"def {part.name}(folder):",
        f"    session = opened({', '.join(arguments)})",
        *writer.lines,
        *log,
    ]


class _Writer:
    """Writes a session's steps as statements."""

    def __init__(
        self, steps: Sequence[Step], codec: str, parts: bool, notes: str, canonical: bool
    ) -> None:
        self.lines: list[str] = []
        self.parts, self.notes, self.codec = parts, notes, codec
        self.dump, self.parse = _codec(codec, canonical)
        self.kept = {step.state for step in steps if step.do in ("seal", "edit")}
        self.live = False

    def add(self, step: Step, ended: bool) -> None:
        """Write one step; ``ended``: the epoch's end is seen in it."""
        lines: list[str] = getattr(self, f"_{step.do}")(step)
        if step.do in ("take", "drain", "break"):
            self.live = not ended and step.do == "take"
        if step.tolerate:
            lines = [
                "try:",
                *(f"    {line}" for line in lines),
                "except Exception as error:",
                '    yield f"{type(error).__name__}: {error}"',
            ]
        self.lines += [f"    {line}" for line in lines]

    def _take(self, step: Step) -> list[str]:
        opening = [] if self.live else ["epoch = iter(session.epoch())"]
        return [*opening, f"yield from itertools.islice(epoch, {step.n})"]

    def _drain(self, step: Step) -> list[str]:
        source = "epoch" if self.live else "session.epoch()"
        if self.parts:
            return [f"yield [row for batch in {source} for row in batch]"]
        return [f"yield from {source}"]

    def _break(self, step: Step) -> list[str]:
        return ["epoch = None"]

    def _save(self, step: Step) -> list[str]:
        path, name = f"({_path(step.state)})", f"state_{step.state}"
        taken = "session.state()"
        before: list[str] = []
        after: list[str] = []
        if self.notes == "drew":
            return [
                "before = streams()",
                "session.state()",
                "if streams() != before:",
                '    yield "a save moved a global random stream"',
            ]
        if step.state in self.kept:
            before, taken = [f"{name} = session.state()"], name
        if self.notes == "size":
            after = [f"yield {path}.stat().st_size"]
        return [*before, f"{path}.write_bytes({self.dump.format(taken)})", *after]

    def _seal(self, step: Step) -> list[str]:
        written = self.dump.format(f"state_{step.state}")
        return [f"({_path(step.into)}).write_bytes({written})"]

    def _edit(self, step: Step) -> list[str]:
        return [f"edit(state_{step.state})"]

    def _load(self, step: Step) -> list[str]:
        state = self._parsed(step)
        if step.state in self.kept:
            return [f"state_{step.state} = {state}", f"session.load(state_{step.state})"]
        return [f"session.load({state})"]

    def _load_bogus(self, step: Step) -> list[str]:
        return [f"session.load({quoted(bogus(step.value, self.codec))})"]

    def _load_cut(self, step: Step) -> list[str]:
        return [f"session.load(cut({self._parsed(step)}, {step.n}))"]

    def _load_document(self, step: Step) -> list[str]:
        return [f"session.load(midepoch.state_from_json({step.document.encode()!r}))"]

    def _close(self, step: Step) -> list[str]:
        return [
            "epoch = None",
            "session.close()",
            "del session",
            "until = time.monotonic() + 5",
            "while multiprocessing.active_children() and time.monotonic() < until:",
            "    time.sleep(0.01)",
            "yield len(multiprocessing.active_children())",
        ]

    def _parsed(self, step: Step) -> str:
        return self.parse.format(f"({_path(step.state)}).read_bytes()")


def _path(state: str) -> str:
    return f"folder / {quoted(state)}"


def _codec(codec: str, canonical: bool) -> tuple[str, str]:
    """Return the expressions that write a state as bytes and read it again."""
    if codec == "json" and canonical:
        return "midepoch.state_to_json({})", "midepoch.state_from_json({})"
    return {
        "pickle": ("pickle.dumps({})", "pickle.loads({})"),
        "torch": ("saved({})", "torch.load(io.BytesIO({}), weights_only=True)"),
        "json": ("json.dumps({}).encode()", "json.loads({})"),
        "bytes": ("{}", "{}"),
    }[codec]


def player(body: str) -> list[str]:
    """Return the helpers that ``body`` uses, and the functions that play a session."""
    return [
        *(line for name, lines in _HELPERS.items() if f"{name}(" in body for line in lines),
        "def run(session, folder):  # what the session delivers, an error in words",
        "    seen = []",
        "    try:",
        "        for batch in session(folder):",
        "            rows = batch if isinstance(batch, list) else []",
        "            seen.append([row[0] if len(row) == 1 else row for row in rows] or batch)",
        "    except BaseException as error:",
        '        seen.append(f"{type(error).__name__}: {error}")',
        "    return seen",
        "",
        "",
        "def run_anew(session, folder):  # the same in a new interpreter",
        "    path = folder / session.__name__",
        '    env, quiet = {**os.environ, "PYTHONHASHSEED": "7"}, subprocess.DEVNULL',
        "    command = [sys.executable, __file__, str(path)]",
        "    status = subprocess.run(command, env=env, stdout=quiet, stderr=quiet).returncode",
        "    end = f\"{'hang' if status == -signal.SIGALRM else 'crash'}: status {status}\"",
        "    return json.loads(path.read_text()) if path.exists() else [end]",
        "",
        "",
        'if __name__ == "__main__" and sys.argv[1:]:',
        "    path = pathlib.Path(sys.argv[1])",
        f"    signal.alarm({LIMIT})",
        "    path.write_text(json.dumps(run(globals()[path.name], path.parent)))",
    ]


_HELPERS = {
    "saved": (
        "def saved(state):",
        "    torch.save(state, file := io.BytesIO())",
        "    return file.getvalue()",
        "",
        "",
    ),
    "streams": (
        "def streams():",
        '    t, n = sys.modules.get("torch"), sys.modules.get("numpy")',
        "    torchs, numpys = t and t.get_rng_state().tolist(), n and str(n.random.get_state())",
        "    return random.getstate(), torchs, numpys",
        "",
        "",
    ),
    "edit": (
        "def edit(node):  # change all of it in place",
        "    for key in list(node) if isinstance(node, dict) else range(len(node)):",
        '        if hasattr(node[key], "dtype"):',
        "            node[key] += 1",
        "        elif isinstance(node[key], (dict, list)):",
        "            edit(node[key])",
        "        else:",
        '            node[key] = "edited"',
        "",
        "",
    ),
    "cut": (
        "def parts(node):",
        "    for key in list(node) if isinstance(node, dict) else ():",
        "        yield node, key",
        "        yield from parts(node[key])",
        "    for item in node if isinstance(node, (list, tuple)) else ():",
        "        yield from parts(item)",
        "",
        "",
        "def cut(state, number):  # leave a part out",
        "    text = isinstance(state, bytes)",
        "    state = json.loads(state) if text else state",
        "    node, key = list(parts(state))[number]",
        "    del node[key]",
        "    return json.dumps(state).encode() if text else state",
        "",
        "",
    ),
}
