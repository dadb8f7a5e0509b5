"""The scripts of failures: they show what they say, alone, and stay short."""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from midepoch_conformance import judges
from midepoch_conformance.case.adapter import Execution, LoaderInfo, Offer
from midepoch_conformance.case.case import HISTORY, Case, SessionPlan, Step
from midepoch_conformance.case.trees import TREES
from midepoch_conformance.case.uninterrupted import oracle_case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.tables import load_table
from midepoch_conformance.host.processes import _runs
from midepoch_conformance.judges import REGISTRY, applicable
from midepoch_conformance.run.runner import Runner
from midepoch_conformance.scripts import script_material
from midepoch_conformance.scripts.folding import Facts, fold
from midepoch_conformance.scripts.run import NO_VERDICT, run_script
from midepoch_conformance.scripts.script import LINES, MARK, added_lines, make_script
from midepoch_conformance.scripts.script_checks import recipes
from midepoch_conformance.scripts.script_source import adapter_source
from midepoch_conformance.search.shrink import size
from midepoch_conformance.verdict.finding import FAILURES, Finding

TORCHDATA = LoaderInfo(
    name="torchdata",
    version="0",
    python="",
    platform="",
    packages={},
    offer=Offer(),
    file="/nowhere/torchdata.py",
    module="midepoch_conformance.adapters.torchdata",
    attribute="Adapter",
)
HERE = Path(__file__).parent
ONE, TWO = Execution(), Execution(workers=1)
SAVED = (Step("take", n=2), Step("save", state="s"))
REST = (Step("drain"), Step("drain"))
LOADED = (Step("load", state="s"), *REST)


def plans(*sessions: Sequence[Step], execution: Execution = ONE) -> tuple[SessionPlan, ...]:
    return tuple(
        SessionPlan(execution, tuple(steps), ambient=1 + 100 * i, host="ab"[i % 2])
        for i, steps in enumerate(sessions)
    )


def judged(runner: Runner, case: Case) -> dict[str, Finding]:
    """Return what is found wrong, by requirement."""
    oracle = runner.play(oracle_case(case))
    lengths = [len(event.batches) for event in oracle.sessions[0].events]
    trace = runner.play(case, lengths)
    found = judges.judge(case, trace, oracle)
    return {f.requirement: f for f in found if f.outcome in FAILURES}


def scripted(fakes: Path, loader: str, case: Case, requirement: str) -> tuple[str, Finding]:
    with Runner(f"{fakes / 'lies.py'}:{loader}", limit=5) as runner:
        findings = judged(runner, case)
        assert requirement in findings, f"not found; found {findings}"
        return make_script(runner.info, case, findings[requirement], "a case"), findings[
            requirement
        ]


CASES = {
    ("Forgets", "RESUME-1"): Case("cut", Workload(), plans(SAVED, LOADED)),
    ("Refuses", "STATE-5"): Case(
        "edited after load",
        Workload(),
        plans(SAVED, (LOADED[0], Step("edit", state="s"), *REST)),
    ),
    ("Shares", "STATE-1"): Case(
        "sealed late",
        Workload(),
        plans(
            (*SAVED, Step("take", n=1), *REST, Step("seal", state="s", into="late")),
            (Step("load", state="late"), *REST),
        ),
    ),
    ("Shares", "STATE-2"): Case(
        "edited after save",
        Workload(),
        plans(
            (*SAVED, Step("edit", state="s"), Step("take", n=1), Step("save", state="t"), *REST),
            (Step("load", state="t"), *REST),
        ),
    ),
    ("StartsOver", "REFUSE-1"): Case(
        "no state", Workload(), plans((Step("load_bogus", value="foreign"), *REST))
    ),
    ("StartsOver", "REFUSE-2"): Case(
        "part removed", Workload(), plans(SAVED, (Step("load_cut", 1, state="s"), *REST))
    ),
    ("StartsOver", "REFUSE-3"): Case(
        "other plan",
        Workload(epochs=1),
        (
            plans(SAVED)[0],
            SessionPlan(ONE, LOADED, 2, "b", workload=(("batch_size", 3),)),
        ),
    ),
    ("Breaks", "REFUSE-4"): Case(
        "after a refusal",
        Workload(),
        plans((Step("take", n=1), Step("load_bogus", value="text", tolerate=True), *REST)),
    ),
    ("Ignores", "RESUME-5"): Case(
        "live",
        Workload(),
        plans(
            (Step("take", n=1), Step("save", state="s")),
            (
                Step("take", n=2),
                Step("load", state="s"),
                Step("take", n=1, tolerate=True),
                Step("break"),
                *REST,
            ),
        ),
    ),
    ("Swallows", "FAULT-2"): Case("failing sample", Workload(epochs=1, fail_at=6), plans(REST[:1])),
    ("Swallows", "FAULT-3"): Case("stop iteration", Workload(epochs=1, stop_at=6), plans(REST[:1])),
    ("Hangs", "FAULT-2"): Case("failing sample", Workload(epochs=1, fail_at=6), plans(REST[:1])),
    ("Dies", "FAULT-2"): Case("failing sample", Workload(epochs=1, fail_at=6), plans(REST[:1])),
    ("Leaves", "FAULT-4"): Case(
        "left behind", Workload(), plans((Step("take", n=1), Step("close")), execution=TWO)
    ),
    ("Draws", "BASIS-5"): Case("saving", Workload(), plans((*SAVED, *REST))),
    ("Loses", "BASIS-3"): Case("whole", Workload(), plans(REST)),
    ("Sticks", "EPOCH-5"): Case(
        "break", Workload(epochs=3), plans((Step("take", n=1), Step("break"), *REST))
    ),
    ("Grows", "COST-1"): Case(
        "size",
        Workload(n=4000, epochs=1),
        plans(
            (Step("take", 112), Step("save", state="a"), Step("take", 800), Step("save", state="b"))
        ),
    ),
    ("Repeats", "VAMB-2"): Case("ambient streams", Workload(draws=("python",)), plans(REST)),
}


@pytest.mark.parametrize(("loader", "requirement"), CASES, ids=lambda value: value)
def test_a_script_shows_its_failure(fakes: Path, loader: str, requirement: str) -> None:
    case = CASES[loader, requirement]
    with Runner(f"{fakes / 'lies.py'}:{loader}", limit=5) as runner:
        finding = judged(runner, case)[requirement]
        path = ("done",) if requirement == "REFUSE-2" else None
        text = make_script(runner.info, case, finding, "a case", path=path)
        honest = dataclasses.replace(runner.info, attribute="Honest")
        other = make_script(honest, case, finding, "a case", path=path)
    assert "midepoch_conformance" not in text
    assert is_short(text)
    # What hangs need not do so for long; what is left behind has its five seconds.
    limit = "signal.alarm(30)" if requirement == "FAULT-4" else "signal.alarm(3)"
    ran = run_script(text.replace("signal.alarm(30)", limit))
    assert ran.status == 1, ran.output
    assert "\nexpected: " in ran.output
    assert "\ngot:      " in ran.output
    assert requirement in ran.output
    assert run_script(other).status == 0


MUTANTS = {
    "counts_what_died_with_its_worker": "FAULT-6",
    "ends_at_a_caught_exception": "FAULT-5",
    "fetches_each_batch_twice": "COST-5",
    "forgets_the_failed_batch": "FAULT-5",
    "keeps_a_descriptor_of_each_loader": "FAULT-7",
    "leaves_its_seeds_to_the_caller": "SEED-6",
    "a_resumed_rank_is_a_batch_behind": "WORLD-1",
    "encodes_with_spaces": "DOC-5",
    "layout_depends_on_workers": "DOC-2",
    "shuffles_small_orders_backwards": "ORDER-3",
    "forgets_what_is_left_over": "EPOCH-6",
    "a_resume_loses_what_was_carried": "EPOCH-6",
    "second_resume_forgets_what_overtook": "UNORD-1",
    "repeats_a_batch_of_its_dead_worker": "FAULT-8",
    "a_batchs_generator_goes_on": "SEED-7",
    "refills_one_buffer": "BASIS-6",
    "delivers_its_cache": "BASIS-6",
    "workers_reuse_held_memory": "BASIS-6",
}
"""Mutants whose scripts are run, and what each fails."""


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutants_script_shows_its_failure(name: str) -> None:
    requirement = MUTANTS[name]
    text = ""
    with Runner(f"{HERE / 'mutants' / name}.py:Adapter", limit=5) as runner:
        for case in sorted(load_table("quick"), key=size):
            plain = case.workload.kind == "map" and not case.workload.sampler
            if requirement not in applicable(case) or not (plain or requirement == "WORLD-1"):
                continue
            finding = judged(runner, case).get(requirement)
            if finding is not None:
                text = make_script(runner.info, case, finding, "a case")
                break
    assert text, f"no case fails {requirement}"
    assert len(added_lines(text)) <= LINES
    ran = run_script(text)
    assert ran.status == 1, ran.output
    assert requirement in ran.output


def test_a_history_goes_on_after_errors_that_are_caught() -> None:
    on = Step("drain", tolerate=True)
    sessions = (
        (on, Step("take", 1, tolerate=True), Step("save", state="a"), on, on),
        (Step("load", state="a"), *(on,) * 4),
    )
    w = Workload(shuffle=True, epochs=3, fail_at=6)
    case = Case(HISTORY, w, plans(*sessions))
    with Runner(f"{HERE / 'mutants' / 'forgets_the_failed_batch.py'}:Adapter", limit=5) as runner:
        finding = judged(runner, case)["RESUME-7"]
        text = make_script(runner.info, case, finding, "a case")
        honest = dataclasses.replace(runner.info, file=str(HERE / "mutants" / "base.py"))
        honest = dataclasses.replace(honest, module="base")
        other = make_script(honest, case, finding, "a case")
    assert is_short(text), f"{len(added_lines(text))} lines"
    ran = run_script(text)
    assert ran.status == 1, ran.output
    ran = run_script(other)
    assert ran.status == 0, ran.output


def is_short(text: str) -> bool:
    """Return whether a script is no longer and no wider than it may be."""
    added = added_lines(text)
    return len(added) <= LINES and max(map(len, added)) <= 100


def test_every_recipe_is_a_requirement_with_a_judge() -> None:
    assert recipes() <= set(REGISTRY)


def test_lines_are_counted_beyond_the_adapters_own(fakes: Path) -> None:
    text, _ = scripted(fakes, "Forgets", CASES["Forgets", "RESUME-1"], "RESUME-1")
    added = added_lines(text)
    assert len(added) == 24
    assert added[0] == "def whole(session):"
    assert "class Loader:" not in added
    assert not [line for line in added if not line.strip() or line.startswith("import ")]
    assert text.index("import itertools") < text.index("def whole") < text.index(MARK)


def test_the_heading_is_short_whatever_is_said() -> None:
    finding = Finding("RESUME-1", "fails", "error", "word " * 200)
    text = make_script(TORCHDATA, CASES["Forgets", "RESUME-1"], finding, "word " * 200)
    assert len(text.partition('"""\n\n')[0].splitlines()) <= 8


FORMS = (
    Workload(shuffle=True),
    Workload(kind="iterable"),
    Workload(kind="stateful_iterable"),
    Workload(kind="stateful_iterable", draws=("python", "numpy")),
    Workload(sampler="random"),
    Workload(sampler="distributed"),
    Workload(grow=4),
)


@pytest.mark.parametrize("w", FORMS, ids=lambda w: w.feature or w.kind)
@pytest.mark.parametrize("requirement", ["RESUME-1", "RESUME-2", "ELASTIC-2", "STATE-5"])
def test_scripts_of_the_usual_workloads_are_short(w: Workload, requirement: str) -> None:
    first = (Step("take", 2), Step("save", state="a"))
    middle = (Step("load", state="a"), Step("take", 1), Step("save", state="b"))
    steps = (first, middle, (Step("load", state="b"), *REST))
    if requirement == "ELASTIC-2":
        steps = (first, (Step("load", state="a"), *REST))
    if requirement == "STATE-5":
        steps = (first, (Step("load", state="a"), Step("edit", state="a"), *REST))
    case = Case("cut", w, plans(*steps, execution=TWO))
    text = make_script(TORCHDATA, case, Finding(requirement, "fails", "bare error", expected=2))
    compile(text, "failure.py", "exec")
    assert is_short(text), f"{len(added_lines(text))} lines"


_STATEFUL = "stateful_iterable"
STREAMS = (
    "uneven", "hollow", "buffer", "packing", "filter", "flatten", "oneshot", "rewinding",
)  # fmt: skip
ORDERS = (
    "random", "replacement", "subset", "weighted", "batches", "custom", "stateful", "distributed",
)  # fmt: skip
UNUSUAL = (
    *(Workload(kind="iterable", stream=s) for s in STREAMS),
    *(Workload(kind=_STATEFUL, stream=s) for s in STREAMS),
    *(Workload(kind=_STATEFUL, state_at=at) for at in ("iterator", "both")),
    *(Workload(kind=_STATEFUL, tree=tree) for tree in TREES),
    *(Workload(kind=_STATEFUL, draws=(f"private {s}",)) for s in ("python", "numpy", "torch")),
    *(Workload(sampler=sampler) for sampler in ORDERS),
    Workload(kind="stateful_map"),
    Workload(kind="stateful_map", sampler="custom"),
    Workload(kind="files"),
    Workload(gate=(0, 4)),
)


def cut(w: Workload) -> Case:
    """Return the case of two sessions, with one worker, of which the second resumes."""
    w = dataclasses.replace(w, epochs=1) if w.stream == "oneshot" else w
    first = (Step("take", 2), Step("save", state="a"))
    return Case("cut", w, plans(first, (Step("load", state="a"), Step("drain")), execution=TWO))


def assert_short(info: LoaderInfo, case: Case, requirement: str) -> None:
    """Assert that the script of a case that fails is one, and no longer than it may be."""
    text = make_script(info, case, Finding(requirement, "fails", "bare error", expected=2))
    statements = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.stmt)]
    assert len({n.lineno for n in statements}) == len(statements), "two statements share a line"
    assert is_short(text), f"{case.workload}: {len(added_lines(text))} lines"


@pytest.mark.parametrize("w", UNUSUAL, ids=lambda w: f"{w.kind} {w.feature}".strip())
def test_scripts_of_unusual_workloads_are_short(w: Workload) -> None:
    assert_short(TORCHDATA, cut(w), "RESUME-1")


def alike(w: Workload) -> Workload:
    """Return a workload with the numbers that make its script no longer."""
    faults = {name: getattr(w, name) for name in ("fail_at", "stop_at", "die_at")}
    faults = {name: at if at in (None, -1) else 6 for name, at in faults.items()}
    return dataclasses.replace(
        w, n=13, batch_size=4, epochs=2, seed=3, tail="keep", shuffle=False, grow=4 * bool(w.grow),
        gate=w.gate and (0, 4), **faults,
    )  # fmt: skip


def test_scripts_of_all_workloads_of_the_tables_are_short() -> None:
    """Of each combination of what makes the rows and the states, and of what goes wrong."""
    found = {repr(w): w for w in (alike(case.workload) for case in load_table("full"))}
    assert len(found) > 100
    for w in found.values():
        assert_short(TORCHDATA, cut(w), "RESUME-1")


TOLD = tuple(
    w for w in UNUSUAL if not w.gate and w.sampler in ("", "custom", "batches", "stateful")
)
"""Those whose data differ in a script; one process has no other worker to wait for."""


@pytest.mark.parametrize("w", TOLD, ids=lambda w: f"{w.kind} {w.feature}".strip())
def test_scripts_of_unusual_workloads_tell_a_liar_from_a_good_loader(w: Workload) -> None:
    """The data that are pasted work: a loader that goes on from their states is found right."""
    finding = Finding("RESUME-1", "fails", "repeated")
    # The liar never looks at the data's state: it is enough to see it lie about each form once.
    lies = w in {workload.form: workload for workload in TOLD}.values()
    for attribute, status in (("Honest", 0), ("Forgets", 1))[: 1 + lies]:
        info = dataclasses.replace(
            TORCHDATA, file=str(HERE / "fakes" / "forms.py"), module="forms", attribute=attribute
        )
        text = make_script(info, dataclasses.replace(cut(w)), finding, lengths=[4, 4])
        ran = run_script(text)
        assert ran.status == status, ran.output


LONGEST = (
    # Classes with a state for the dataset and for the sampler.
    *((requirement, "stateful_map", f"{sampler} sampler")
      for requirement in ("RESUME-2", "BASIS-4", "BASIS-5", "EPOCH-1", "EPOCH-4")
      for sampler in ("stateful", "custom", "batches")),
    ("STATE-1", "map", "stateful sampler"),
    # A part of a state is left out, a refusal told from an accident, or fetches counted: each
    # is a function of its own.
    ("COST-3", "stateful_iterable", ""),
    ("DOC-13", "stateful_iterable", ""),
    ("REFUSE-2", "iterable", ""),
    # States are changed in place, which is a function of its own, and both epochs are played.
    *(("RESUME-7", kind, "") for kind in ("stateful_iterable", "iterable", "map", "files")),
    # The classes of the streams with most to remember.
    *((requirement, "stateful_iterable", f"{stream} stream")
      for requirement in ("VAMB-1", "BASIS-5", "EPOCH-4", "FAULT-2")
      for stream in ("flatten", "buffer", "packing", "filter")),
    ("STATE-1", "stateful_map", "tree: mutated"),
    # Sessions that resume each other, of epochs that hand on what they leave over.
    *(("EPOCH-6", "stateful_map", f"{sampler} sampler, rolled over")
      for sampler in ("custom", "stateful")),
    # A state is kept while its session goes on through all epochs.
    ("STATE-1", "stateful_iterable", "buffer stream"),
    ("STATE-1", "stateful_map", "stateful sampler"),
    # A published state of thousands of samples is read from its file.
    ("DOC-11", "map", ""),
)  # fmt: skip
"""What comes closest to the limit, by requirement, kind and feature."""

_SAMPLE = 1
"""Cases of each requirement whose scripts are made, besides all of the longest."""

_MOST = 5000
"""Samples of those cases: a script holds no list of them, but what counts batches makes one."""


def test_scripts_of_all_requirements_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the cases with the most steps; an adapter is folded once for what is alike to it."""
    folded: dict[tuple[str, str], str] = {}

    def fold_once(source: str, facts: Facts) -> str:
        key = source, repr(facts)
        if key not in folded:
            folded[key] = fold(source, facts)
        return folded[key]

    monkeypatch.setattr(script_material, "fold", fold_once)
    made: dict[str, int] = {}
    long: dict[tuple[str, str, str], int] = {}
    table = [case for case in load_table("full") if case.workload.n <= _MOST]
    for case in sorted(table, key=lambda c: -sum(len(plan.steps) for plan in c.sessions)):
        w = case.workload
        asked = [
            requirement
            for requirement in applicable(case)
            if made.get(requirement, 0) < _SAMPLE or (requirement, w.kind, w.feature) in LONGEST
        ]
        adapter = "grain" if w.kind == "files" else "torchdata"
        info = dataclasses.replace(TORCHDATA, module=f"midepoch_conformance.adapters.{adapter}")
        for requirement in asked:
            made[requirement] = made.get(requirement, 0) + 1
            finding = Finding(requirement, "fails", "bare error", expected=2)
            added = added_lines(make_script(info, case, finding))
            assert max(map(len, added)) <= 100
            lines = len(added)
            if lines > LINES:
                key = requirement, w.kind, w.feature
                long[key] = max(lines, long.get(key, 0))
    # That of ORDER-5 has more samples than are counted here.
    assert made.keys() >= recipes() - {"ORDER-5"}
    assert not long, long


CHAIN = tuple(
    (*((Step("load", state=str(n - 1)),) if n else ()), Step("take", 1 + n % 2), *save)
    for n, save in enumerate([(Step("save", state=str(n)),) for n in range(2)])
)
"""Two sessions, each of which saves; the second goes on from the first."""


def told_apart(case: Case, requirement: str, file: str, folder: Path | None = None) -> str:
    """Return the script of a case that shows a loader that forgets, and not an honest one."""
    finding = Finding(requirement, "fails", "repeated")
    text = ""
    for attribute, status in (("Honest", 0), ("Forgets", 1)):
        info = dataclasses.replace(
            TORCHDATA, file=str(HERE / "fakes" / f"{file}.py"), module=file, attribute=attribute
        )
        text = make_script(info, case, finding)
        ran = run_script(text, folder=folder)
        assert ran.status == status, ran.output
    return text


def test_sessions_of_a_chain_share_functions() -> None:
    w = Workload(kind=_STATEFUL, stream="flatten", epochs=1)
    last = (Step("load", state="1"), Step("drain"))
    text = told_apart(Case("chain", w, plans(*CHAIN, last)), "RESUME-2", "forms")
    assert text.count('*play("some"') == 2


_ROLLED = (
    (Step("drain"), Step("save", state="a")),
    (Step("load", state="a"), Step("drain"), Step("take", 1), Step("save", state="b")),
    (Step("load", state="b"), Step("drain"), Step("drain")),
)
_SEALED = (
    (*SAVED, Step("take", 1), Step("save", state="t"), *REST, Step("seal", state="s", into="late")),
    (Step("load", state="late"), *REST),
)
SHORTEST = {
    "one function of all sessions": ("EPOCH-6", 4, _ROLLED, "def some(session, load, save"),
    "one generator of several epochs": ("STATE-1", 2, _SEALED, "islice(epochs, 1)"),
}


@pytest.mark.parametrize(
    ("requirement", "epochs", "steps", "told"), SHORTEST.values(), ids=SHORTEST
)
def test_what_is_done_last_to_shorten_a_script_tells_a_liar_from_a_good_loader(
    requirement: str,
    epochs: int,
    steps: Sequence[Sequence[Step]],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("midepoch_conformance.scripts.script.LINES", 0)
    case = Case("shortest", Workload(epochs=epochs), plans(*steps))
    assert told in told_apart(case, requirement, "lies")


def test_a_script_runs_wherever_it_lies(tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s a "folder" of $HOME; and `more`'
    folder.mkdir()
    w = Workload(kind=_STATEFUL, stream="flatten", epochs=1)
    last = (Step("load", state="1"), Step("drain"))
    text = told_apart(Case("chain", w, plans(*CHAIN, last)), "RESUME-2", "forms", folder)
    assert "PYTHONHASHSEED" in text


def test_sessions_of_a_history_are_a_table() -> None:
    save, load = (tuple(Step(do, state=s) for s in "abcde") for do in ("save", "load"))
    misuse = Step("load_bogus", value="text", tolerate=True)
    take, drain, leave = Step("take", 1), Step("drain"), Step("break")
    sessions = (
        (take, save[0], misuse, take, save[1], leave),
        (load[1], take, load[0], leave, take, take, save[2], drain, save[3]),
        (load[2], drain, load[3], take, save[4], leave, drain),
        (load[4], drain, drain),
    )
    text = told_apart(Case(HISTORY, Workload(epochs=3), plans(*sessions)), "RESUME-7", "lies")
    assert '"first": "epoch, take 1, save a, misuse, take 1, save b, leave",' in text


def test_a_script_that_breaks_shows_nothing() -> None:
    assert run_script("raise SystemExit(1)").status == NO_VERDICT
    assert run_script("print('no words')").status == NO_VERDICT
    assert "bad is not defined" in run_script("bad").output.replace("'", "")
    slow = run_script("import time; time.sleep(60)", timeout=0.5)
    assert slow.status == NO_VERDICT
    assert "0.5 s" in slow.output


def test_a_script_leaves_no_process() -> None:
    text = "import subprocess; print(subprocess.Popen(['sleep', '1000']).pid)"
    pid = int(run_script(text).output)
    until = time.monotonic() + 10
    while _runs(pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not _runs(pid)


def test_a_make_loader_function_is_imported(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Loader(list):\n"
        "    def state_dict(self):\n"
        "        return {}\n"
        "    def load_state_dict(self, state):\n"
        "        pass\n"
        "def make_loader(num_workers):\n"
        "    return Loader([[1], [2], [3]])\n"
    )
    case = Case("cut", Workload(), plans((Step("take", 1), Step("save", state="s")), LOADED))
    with Runner(f"{tmp_path / 'mine.py'}:make_loader") as runner:
        findings = judged(runner, case)
        text = make_script(runner.info, case, findings["RESUME-1"], lengths=[3, 3])
    assert "from mine import make_loader" in text
    ran = run_script(text)
    assert ran.status == 1, ran.output


def test_names_of_the_adapters_are_not_taken(fakes: Path, tmp_path: Path) -> None:
    text = (fakes / "lies.py").read_text()
    text = text.replace("return self.w.row(i)", "return play(whole(self.w.row(i)))")
    same = "\n\ndef {name}(row):\n    return row\n"
    (tmp_path / "lies.py").write_text(text + same.format(name="play") + same.format(name="whole"))
    pasted, _ = scripted(tmp_path, "Forgets", CASES["Forgets", "RESUME-1"], "RESUME-1")
    ran = run_script(pasted)
    assert ran.status == 1, ran.output


@pytest.mark.parametrize("codec", ["json", "pickle"])
def test_the_codec_is_the_cases(fakes: Path, codec: str) -> None:
    first = (Step("take", n=2), Step("save", state="s", codec=codec))
    case = Case("codec", Workload(), plans(first, LOADED))
    text, _ = scripted(fakes, "Forgets", case, "STATE-3")
    assert f"{codec}.dumps(session.state())" in text
    assert run_script(text).status == 1


def test_built_in_adapters_are_folded_in() -> None:
    source = adapter_source(TORCHDATA)
    assert source.startswith("import inspect\n\nimport torch")
    assert re.search(r"^class Adapter:", source, re.MULTILINE)
    assert sys.executable not in source


LATE = (
    *(Step("take", n=1), Step("save", state="s"), Step("take", n=1), Step("save", state="t")),
    *(Step("drain"), Step("drain"), Step("seal", state="s", into="late")),
)
SEALED = plans(LATE, (Step("load", state="late"), Step("drain"), Step("drain")))
REFUSED = plans(
    (
        *(Step("load_bogus", value="number", tolerate=True), Step("drain", tolerate=True)),
        *(Step("take", n=1), Step("save", state="s"), Step("drain")),
    )
)
FAIR = {
    "a state in place": (
        Case("work sealed late", Workload("stateful_iterable", 3, 1, 1, tree="mutated"), SEALED),
        Finding("STATE-1", "fails silently", "missing", "the state changed"),
    ),
    "a map's state in place": (
        Case("work sealed late", Workload("stateful_map", 2, 1, 1, tree="mutated"), SEALED),
        Finding("STATE-1", "fails silently", "values", "the state changed"),
    ),
    "use after a refusal": (
        Case("after a refusal", Workload(n=1, batch_size=1, epochs=1), REFUSED),
        Finding("REFUSE-4", "fails", "error", "after the refusal it cannot be used any more"),
    ),
}
"""Failures of torchdata's, beyond the epochs of which the uninterrupted run is known."""


@pytest.mark.parametrize(("case", "finding"), FAIR.values(), ids=FAIR.keys())
def test_a_failures_script_shows_it_and_shows_nothing_of_a_good_loader(
    case: Case, finding: Finding
) -> None:
    reference = dataclasses.replace(
        TORCHDATA, name="reference", module="midepoch_conformance.adapters.reference"
    )
    for info, status in ((TORCHDATA, 1), (reference, 0)):
        ran = run_script(make_script(info, case, finding, lengths=[case.workload.n]))
        assert ran.status == status, ran.output
