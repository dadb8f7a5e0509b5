"""The scripts of failures: they show what they say, alone, and nothing of a right loader."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from mutant_trials import caught_by
from warm_hosts import WarmHosts, modules_of

from midepoch_conformance import judges
from midepoch_conformance.case.adapter import LoaderInfo, Offer
from midepoch_conformance.case.case import Case
from midepoch_conformance.case.notation import parse
from midepoch_conformance.case.uninterrupted import oracle_case
from midepoch_conformance.families.tables import load_table
from midepoch_conformance.judges import applicable
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.scripts.run import run_script
from midepoch_conformance.scripts.script import make_script, player
from midepoch_conformance.search.shrink import size
from midepoch_conformance.verdict.evidence import Evidence
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
REFERENCE = dataclasses.replace(
    TORCHDATA, name="reference", module="midepoch_conformance.adapters.reference"
)
pytestmark = pytest.mark.usefixtures("warm_hosts")
HERE = Path(__file__).parent
CASE_LINES = 15
"""How many lines the case may have in a script."""


def judged(runner: Runner, case: Case) -> dict[str, Finding]:
    """Return what is found wrong, by requirement."""
    oracle = runner.play(oracle_case(case))
    lengths = [len(event.batches) for event in oracle.sessions[0].events]
    trace = runner.play(case, lengths)
    found = judges.judge(case, trace, oracle)
    return {f.requirement: f for f in found if f.outcome in FAILURES}


def case_lines(text: str) -> list[str]:
    """Return the lines of a script that say what the case is and what is compared."""
    part = text[text.index("SESSIONS = {") : text.index("# The loader,")]
    return [line for line in part.splitlines() if line.strip()]


CASES = {
    ("Forgets", "RESUME-1"): "cut: take 2, save s | load s, drain, drain",
    ("Refuses", "STATE-5"): "edited after load: take 2, save s | load s, edit s, drain, drain",
    ("Shares", "STATE-1"): "sealed late: take 2, save s, take 1, drain, drain, seal s late | "
    "load late, drain, drain",
    ("Shares", "STATE-2"): "edited after save: take 2, save s, edit s, take 1, save t, drain, "
    "drain | load t, drain, drain",
    ("StartsOver", "REFUSE-1"): "no state: load_bogus foreign, drain, drain",
    ("StartsOver", "REFUSE-2"): "part removed: take 2, save s | load_cut s 1, drain, drain",
    ("StartsOver", "REFUSE-3"): "other plan: epochs=1; take 2, save s | "
    "[batch_size=3 ambient=2] load s, drain, drain",
    ("Breaks", "REFUSE-4"): "after a refusal: take 1, load_bogus text?, drain, drain",
    ("Ignores", "RESUME-5"): "live: take 1, save s | take 2, load s, take 1?, break, drain, drain",
    ("Swallows", "FAULT-2"): "failing sample: epochs=1 fail_at=6; drain",
    ("Swallows", "FAULT-3"): "stop iteration: epochs=1 stop_at=6; drain",
    ("Hangs", "FAULT-2"): "failing sample: epochs=1 fail_at=6; drain",
    ("Dies", "FAULT-2"): "failing sample: epochs=1 fail_at=6; drain",
    ("Leaves", "FAULT-4"): "left behind: workers=1; take 1, close",
    ("Draws", "BASIS-5"): "saving: take 2, save s, drain, drain",
    ("Loses", "BASIS-3"): "whole: drain, drain",
    ("Sticks", "EPOCH-5"): "break: epochs=3; take 1, break, drain, drain",
    ("Grows", "COST-1"): "size: n=4000 epochs=1; take 112, save a, take 800, save b",
    ("Turns", "WORKERS-1"): "workers: | [workers=1 ambient=1] drain, drain",
    ("TurnsLater", "WORKERS-1"): "work left early: n=8 batch_size=2 epochs=0; "
    "take 3, break, drain | [workers=1 ambient=1] take 3, break, drain",
    ("Repeats", "VAMB-2"): "ambient streams: draws=[python]; drain, drain",
}
"""The requirement that each lie fails, and the case that shows it."""


@pytest.mark.parametrize(("loader", "requirement"), CASES, ids=lambda value: value)
def test_a_script_shows_its_failure(fakes: Path, loader: str, requirement: str) -> None:
    case = parse(CASES[loader, requirement])
    with Runner(f"{fakes / 'lies.py'}:{loader}", limit=5) as runner:
        finding = judged(runner, case)[requirement]
        text = make_script(runner.info, case, finding, "a case")
        honest = dataclasses.replace(runner.info, attribute="Honest")
        other = make_script(honest, case, finding, "a case")
    assert "midepoch_conformance" not in text
    assert len(case_lines(text)) <= CASE_LINES
    assert f"\n{player()[0].rstrip()}\n" in text
    # A hang need not last long; a process that is left behind has its five seconds.
    limit = "signal.alarm(30)" if requirement == "FAULT-4" else "signal.alarm(4)"
    ran = run_script(text.replace("signal.alarm(30)", limit))
    assert ran.status == 1, ran.output
    assert "\nexpected: " in ran.output
    assert "\ngot:      " in ran.output
    assert requirement in ran.output
    ran = run_script(other)
    assert ran.status == 0, ran.output


MUTANTS = {
    "counts_what_died_with_its_worker": "FAULT-6",
    "ends_at_a_caught_exception": "FAULT-5",
    "fetches_each_batch_twice": "COST-5",
    "forgets_the_failed_batch": "FAULT-11",
    "keeps_a_descriptor_of_each_loader": "FAULT-7",
    "leaves_its_seeds_to_the_caller": "SEED-6",
    "a_resumed_rank_is_a_batch_behind": "WORLD-1",
    "drops_errors_of_its_replay": "FAULT-10",
    "swallows_an_interrupt": "FAULT-9",
    "loaders_share_their_orders": "RESUME-7",
    "counts_an_end_again": "RESUME-7",
    "a_whole_counts_the_steps_of_one_rank": "DOC-19",
    "encodes_with_spaces": "DOC-5",
    "counts_a_lanes_batches_once_too_often": "DOC-18",
    "counts_no_samples_that_come_alone": "DOC-19",
    "ignores_the_content_of_a_replay": "DOC-9",
    "overlooks_private_generators": "DOC-6",
    "layout_depends_on_workers": "DOC-2",
    "shuffles_small_orders_backwards": "ORDER-3",
    "forgets_what_is_left_over": "EPOCH-6",
    "draws_without_what_was_carried": "EPOCH-7",
    "a_resume_loses_what_was_carried": "EPOCH-6",
    "second_resume_forgets_what_overtook": "UNORD-1",
    "repeats_a_batch_of_its_dead_worker": "FAULT-8",
    "a_batchs_generator_goes_on": "SEED-7",
    "refills_one_buffer": "BASIS-6",
    "delivers_its_cache": "BASIS-7",
    "workers_reuse_held_memory": "BASIS-6",
}
"""Mutants whose scripts are run, and what each fails."""

OTHERS = ("WORLD-1", "FAULT-10", "DOC-6", "DOC-9", "DOC-18", "DOC-19")
"""The requirements that no plain workload shows."""


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutants_script_shows_its_failure(name: str, warm_hosts: WarmHosts) -> None:
    requirement = MUTANTS[name]
    text = ""
    path = HERE / "mutants" / f"{name}.py"
    warm_hosts.modules = modules_of(path)
    caught = caught_by().get(name)  # the case that caught it last comes first
    with Runner(f"{path}:Adapter", limit=5) as runner:
        for case in sorted(load_table("quick"), key=lambda case: (case.id != caught, size(case))):
            plain = case.workload.kind == "map" and not case.workload.sampler
            if requirement not in applicable(case) or not (plain or requirement in OTHERS):
                continue
            finding = judged(runner, case).get(requirement)
            if finding is not None:
                text = make_script(runner.info, case, finding, "a case", hashes=False)
                break
    assert text, f"no case fails {requirement}"
    assert len(case_lines(text)) <= CASE_LINES
    ran = run_script(text)
    assert ran.status == 1, ran.output
    assert requirement in ran.output


PUBLISHED = {
    "faulty-checked": "leaves_errors_out_of_a_content",
    "map-unbatched": "counts_epochs_from_one",
    "tally-seen": "counts_epochs_from_one",
}
"""Published resumes with batches that raised, without batches and with longer rows."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_script_of_a_published_resume_has_its_batches(name: str, warm_hosts: WarmHosts) -> None:
    published = [c for c in load_table("quick") if c.probe == "published resume"]
    case = next(c for c in published if c.sessions[0].steps[0].value == name)
    path = HERE / "mutants" / f"{PUBLISHED[name]}.py"
    warm_hosts.modules = modules_of(path)
    with Runner(f"{path}:Adapter", limit=5) as runner:
        finding = judged(runner, case)["DOC-11"]
        made = [make_script(runner.info, case, finding)]
    made.append(make_script(REFERENCE, case, finding))
    for script, status in zip(made, (1, 0), strict=True):
        ran = run_script(script)
        assert ran.status == status, ran.output


def test_a_history_goes_on_after_errors_that_are_caught() -> None:
    case = parse(
        "history: shuffle=true epochs=3 fail_at=6; drain?, take 1?, save a, drain?, drain? | "
        "load a, drain?, drain?, drain?, drain?"
    )
    with Runner(f"{HERE / 'mutants' / 'forgets_the_failed_batch.py'}:Adapter", limit=5) as runner:
        finding = judged(runner, case)["RESUME-7"]
        text = make_script(runner.info, case, finding, "a case")
        honest = dataclasses.replace(runner.info, file=str(HERE / "mutants" / "base.py"))
        honest = dataclasses.replace(honest, module="base")
        other = make_script(honest, case, finding, "a case")
    ran = run_script(text)
    assert ran.status == 1, ran.output
    ran = run_script(other)
    assert ran.status == 0, ran.output


FAIR = {
    "a state in place": (
        "work sealed late: kind=stateful_iterable n=3 batch_size=1 epochs=1 tree=mutated; take 1, "
        "save s, take 1, save t, drain, drain, seal s late | load late, drain, drain",
        "STATE-1",
    ),
    "use after a refusal": (
        "after a refusal: n=1 batch_size=1 epochs=1; load_bogus number?, drain?, take 1, save s, "
        "drain",
        "REFUSE-4",
    ),
}
"""Failures of torchdata's, and their requirements."""


@pytest.mark.usefixtures("warm_torch")
@pytest.mark.parametrize(("text", "requirement"), FAIR.values(), ids=FAIR)
def test_a_failures_script_shows_nothing_of_a_good_loader(text: str, requirement: str) -> None:
    case = parse(text)
    with Runner("torchdata") as runner:
        finding = judged(runner, case)[requirement]
        made = [make_script(runner.info, case, finding)]
    made.append(make_script(REFERENCE, case, finding))
    for script, status in zip(made, (1, 0), strict=True):
        ran = run_script(script)
        assert ran.status == status, ran.output


def test_a_loaders_workers_end_when_they_are_asked_to(fakes: Path) -> None:
    """They inherit the session's handlers, and a handler of Python's may not end a new process."""
    case = parse(CASES["Forgets", "RESUME-1"])
    with Runner(f"{fakes / 'lies.py'}:Forgets", limit=5) as runner:
        text = make_script(runner.info, case, judged(runner, case)["RESUME-1"], hashes=False)
    begin = "player = ScriptPlayer(root, changes)"
    assert begin in text
    handlers = "{signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}"
    ran = run_script(text.replace(begin, f"assert {handlers} == {{signal.SIG_DFL}}; {begin}"))
    assert ran.status == 1, ran.output


def test_the_heading_is_short_whatever_is_said() -> None:
    finding = Finding("RESUME-1", "fails", "error", "word " * 200)
    text = make_script(TORCHDATA, parse(CASES["Forgets", "RESUME-1"]), finding, "word " * 200)
    assert len(text.partition('"""\n\n')[0].splitlines()) <= 8


def test_a_case_is_short_with_a_long_session() -> None:
    steps = ", ".join(f"take 1, save s{number}" for number in range(36))
    finding = Finding("RESUME-7", "fails", evidence=Evidence("error", wanted="no error"))
    text = make_script(TORCHDATA, parse(f"history: {steps}"), finding)
    compile(text, "failure.py", "exec")
    lines = case_lines(text)
    assert len(lines) <= CASE_LINES
    assert max(map(len, lines)) <= 100


def test_a_script_runs_wherever_it_lies(fakes: Path, tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s a "folder" of $HOME; and `more`'
    folder.mkdir()
    case = parse(CASES["Forgets", "RESUME-1"])
    with Runner(f"{fakes / 'lies.py'}:Forgets", limit=5) as runner:
        text = make_script(runner.info, case, judged(runner, case)["RESUME-1"])
    ran = run_script(text, folder=folder)
    assert ran.status == 1, ran.output


@pytest.mark.parametrize("codec", ["json", "pickle"])
def test_the_codec_is_the_cases(fakes: Path, codec: str) -> None:
    case = parse(f"codec: take 2, save s codec={codec} | load s, drain, drain")
    with Runner(f"{fakes / 'lies.py'}:Forgets", limit=5) as runner:
        text = make_script(runner.info, case, judged(runner, case)["STATE-3"])
    assert f"save s codec={codec}" in text
    assert f"{codec}.dumps(state" in text
    assert run_script(text).status == 1
