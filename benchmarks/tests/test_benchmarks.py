"""The benchmarks: their table, verdicts and words, their file and drawings, and one small run."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from midepoch_benchmarks import run, tables
from midepoch_benchmarks.cases import CASES, ROWS, Case, chosen
from midepoch_benchmarks.entries import BUILT_IN, pairs
from midepoch_benchmarks.goals import COST, RATIO, VALUE, Goal, verdict
from midepoch_benchmarks.plots import pictures
from midepoch_benchmarks.results import (
    Absent,
    CaseResult,
    Compared,
    FormatError,
    Measured,
    Results,
    parse,
)
from midepoch_benchmarks.tables import rows_of
from midepoch_benchmarks.view import show_results
from midepoch_conformance.cli import main

KB, MB = 1 << 10, 1 << 20

GOALS: dict[str, tuple[str, float, float | None]] = {
    **{f"throughput-{size}-k1-w{w}": (RATIO, 15, 40) for size in ("1KB", "64KB") for w in (1, 2)},
    **{f"throughput-{size}-k10-w{w}": (RATIO, 25, 70) for size in ("1KB", "64KB") for w in (1, 2)},
    **{f"throughput-1MB-k1-w{w}": (RATIO, 12, 30) for w in (1, 2)},
    **{f"throughput-1MB-k10-w{w}": (RATIO, 20, 60) for w in (1, 2)},
    **{f"throughput-16MB-k1-w{w}": (RATIO, 5, 10) for w in (1, 2)},
    **{f"tuned-k{k}-w{w}": (RATIO, 2.5, 10) for k in (1, 10) for w in (1, 2)},
    **{f"keep-w{w}": (RATIO, 1, 2) for w in (1, 2)},
    "page-faults": (VALUE, 0.1, 0.01),
    "system-calls": (VALUE, 4, 2),
    "inline-cheap": (RATIO, 0.15, 0.5),
    "inline-1ms": (RATIO, 0.9, 1),
    "first-batch": (RATIO, 1, 2),
    **{f"threads-w{w}": (RATIO, 30, 60) for w in (1, 2)},
    **{f"snapshot-w{w}": (COST, 0.10, 0.02) for w in (0, 1)},
    **{f"state-dict-w{w}": (VALUE, 100e-6, 20e-6) for w in (0, 1)},
    **{f"order-1e{power}": (VALUE, 60e-9, 40e-9) for power in (6, 8, 10, 12)},
    "order-memory": (VALUE, 4 * MB, MB),
    **{f"resume-{place}": (VALUE, 2e-3, 0.1e-3) for place in ("first", "middle", "last")},
    "skip": (RATIO, 10, 50),
    "ranks-resume": (VALUE, 5e-3, None),
    "ranks-state": (VALUE, 10**6, None),
    "ranks-merge": (VALUE, 1.0, None),
    "ranks-seeds": (VALUE, 12e-6, None),
    **{f"work-0.25ms-w{w}": (RATIO, 2, 3) for w in (1, 2)},
    "work-0.25ms-w0": (RATIO, 1, None),
    **{f"work-5ms-w{w}": (RATIO, 1, None) for w in (0, 1, 2)},
}
"""What the cases are held to, written a second time."""


def result(case: Case | str, **found: object) -> CaseResult:
    case = CASES[case] if isinstance(case, str) else case
    return CaseResult(case, "reference", **found)  # type: ignore[arg-type]


def of(*results: CaseResult) -> Results:
    machine = {
        "cpu": "a processor", "cores": 2, "memory": 8 << 30, "kernel": "Linux 6",
        "python": "3.11", "versions": {"torch": "2.6"}, "load": [0.1, 0.2, 0.3],
        "round_trip": 2e-5,
    }  # fmt: skip
    settings = {"loader": "reference", "peers": ["torch"], "rounds": 20, "seconds": 0.03}
    return Results(settings, machine, list(results))


def beside(case: str, figure: float, low: float, high: float, peer: str = "torch") -> CaseResult:
    measured = [
        Measured("reference", 40e-6, 39e-6, 42e-6, (39e-6, 40e-6, 42e-6)),
        Measured(peer, figure * 40e-6, figure * 39e-6, figure * 42e-6, (1.0,)),
    ]
    compared = [Compared("reference", peer, figure, low, high)]
    return result(case, measured=measured, compared=compared)


# The table


def test_every_goal_is_a_case_and_no_case_has_another() -> None:
    held = {
        case.id: (case.goal.of, case.goal.required, case.goal.hoped)
        for case in CASES.values()
        if case.goal.required is not None
    }
    assert held == GOALS


def test_throughput_is_measured_at_every_size_number_of_tensors_and_workers() -> None:
    cells = {
        (case.parameters["total"], case.parameters["k"], case.parameters["workers"])
        for case in chosen(["throughput"])
    }
    sizes = (KB, 64 * KB, MB, 16 * MB)
    assert cells == {(size, k, w) for size in sizes for k in (1, 10) for w in (1, 2)}


def test_every_row_has_a_title_and_cases() -> None:
    assert {case.row for case in CASES.values()} == set(ROWS)


def test_growth_reaches_what_was_asked() -> None:
    most = {
        "order": ("n", 10**12), "grow-lanes": ("lanes", 256), "grow-tensors": ("k", 100),
        "grow-state": ("size", MB), "grow-resume": ("position", 999_000),
    }  # fmt: skip
    for row, (parameter, largest) in most.items():
        found = [case.parameters[parameter] for case in chosen([row]) if case.id != "order-memory"]
        assert max(found) == largest


def test_every_measure_and_contender_is_there() -> None:
    from midepoch_benchmarks.measuring.contenders import BUILT_IN as CONTENDERS
    from midepoch_benchmarks.measuring.measures import MEASURES

    assert {case.measure for case in CASES.values()} == set(MEASURES)
    assert set(BUILT_IN) | {"memcpy"} == set(CONTENDERS)
    assert all(made().name == name for name, made in CONTENDERS.items())


@pytest.mark.parametrize("names", [["first-batch"], ["work-*", "skip"], ["throughput"], []])
def test_cases_are_chosen_by_id_pattern_and_row(names: list[str]) -> None:
    found = [case.id for case in chosen(names)]
    assert found == [name for name in CASES if name in found]
    assert len(found) == {"first-batch": 1, "work-*": 7, "throughput": 16}.get(
        names[0] if names else "", len(CASES)
    )


# Who is beside whom


def test_a_case_of_a_fixed_peer_asks_no_other() -> None:
    assert [theirs and theirs.name for _, theirs in pairs(CASES["skip"], "reference", ["grain"])] \
        == ["torchdata"]  # fmt: skip
    ((ours, none),) = pairs(CASES["snapshot-w1"], "reference", ["torch"])
    assert none is not None
    assert (ours.snapshots, none.snapshots, none.spec) == (True, False, "reference")


def test_two_meet_through_their_adapters_where_one_needs_it() -> None:
    found = pairs(CASES["first-batch"], "reference", ["torch", "mine.py:Adapter"])
    names = [(ours.name, theirs and theirs.name) for ours, theirs in found]
    assert names == [("reference", "torch"), ("reference (adapter)", "mine.py:Adapter")]
    ((ours, theirs),) = pairs(CASES["first-batch"], "mine.py:Adapter", ["torch"])
    assert theirs is not None
    assert (ours.adapted, theirs.adapted, theirs.name) == (True, True, "torch (adapter)")


def test_a_bound_of_its_own_is_measured_as_the_loader_is_built_plainly() -> None:
    found = pairs(CASES["state-dict-w0"], "reference", ["mine.py:Adapter"])
    assert [(ours.name, theirs is None) for ours, theirs in found] == [
        ("reference", True), ("reference (adapter)", False)
    ]  # fmt: skip


# Verdicts


@pytest.mark.parametrize(
    ("goal", "figure", "expected"),
    [
        (Goal(RATIO, 15, 40), 14.99, "missed"),
        (Goal(RATIO, 15, 40), 15.0, "met"),
        (Goal(RATIO, 15, 40), 40.0, "hoped for"),
        (Goal(COST, 0.10, 0.02), 0.11, "missed"),
        (Goal(COST, 0.10, 0.02), 0.10, "met"),
        (Goal(COST, 0.10, 0.02), -0.01, "hoped for"),
        (Goal(VALUE, 4, 2), 4.1, "missed"),
        (Goal(VALUE, 4, 2), 3.0, "met"),
        (Goal(VALUE, 4, 2), 2.0, "hoped for"),
        (Goal(RATIO), 0.1, "reported"),
    ],
)
def test_a_bound_is_kept_by_the_figure_alone(goal: Goal, figure: float, expected: str) -> None:
    # However wide the interval is.
    assert verdict(goal, figure, 0.0, 100.0) == expected


def test_not_slower_is_missed_only_where_the_whole_interval_says_slower() -> None:
    goal = Goal(RATIO, 1.0, 2.0)
    assert verdict(goal, 0.97, 0.95, 1.0) == "met"
    assert verdict(goal, 0.97, 0.95, 0.99) == "missed"
    assert verdict(Goal(RATIO, 0.9, 1.0), 0.89, 0.8, 1.0) == "missed"


def test_other_peers_are_reported_and_a_loader_that_fails_has_missed() -> None:
    assert beside("first-batch", 0.5, 0.4, 0.6).verdicts() == ["reported", "missed"]
    other = beside("first-batch", 0.5, 0.4, 0.6, peer="torch-file-system")
    assert "missed" not in other.verdicts()
    assert "missed" in beside("skip", 9.0, 8.0, 10.0, peer="torchdata").verdicts()
    failed = result("first-batch", absent=[Absent("reference", "failed", "OSError: no")])
    assert of(failed).missed == ["first-batch"]
    absent = result("first-batch", absent=[Absent("reference", "not offered", "no")])
    assert of(absent).missed == []


# Statistics


def test_a_ratio_of_known_medians_and_its_interval() -> None:
    from midepoch_benchmarks.measuring.spread import ratio, spread

    assert spread([5.0, 1.0, 3.0, 2.0, 4.0]) == (3.0, 2.0, 4.0)
    value, low, high = ratio([10.0, 12.0, 11.0, 30.0, 11.0], [1.0, 1.2, 1.1, 3.0, 1.1])
    # Rounds are drawn in pairs: what disturbed both of a round does not widen the interval.
    assert (round(value, 9), round(low, 9), round(high, 9)) == (10.0, 10.0, 10.0)
    value, low, high = ratio([9.0, 10.0, 11.0] * 7, [1.0, 1.0, 1.0] * 7)
    assert (value, low, high) == (10.0, 9.0, 11.0)


def test_rounds_are_by_turns_and_one_that_fails_leaves_the_others() -> None:
    from midepoch_benchmarks.measuring.rounds import Entrant, interleaved

    ran: list[str] = []

    class Counting:
        def __init__(self, name: str, fails_at: int = -1) -> None:
            self.name, self.fails_at, self.closed = name, fails_at, False

        def round(self) -> float:
            ran.append(self.name)
            if ran.count(self.name) - 1 == self.fails_at:
                raise OSError("no more")
            return float(ran.count(self.name))

        def close(self) -> None:
            self.closed = True

    bad = Counting("b", fails_at=1)
    entrants: dict[str, Entrant] = {"a": Counting("a"), "b": bad, "c": Counting("c")}
    failed: list[tuple[str, str]] = []
    found = interleaved(entrants, 3, lambda name, error: failed.append((name, str(error))))
    assert "".join(ran) == "abc" + "cba" + "ac"
    assert found == {"a": [1.0, 2.0, 3.0], "c": [1.0, 2.0, 3.0]}
    assert (failed, bad.closed, set(entrants)) == ([("b", "no more")], True, {"a", "c"})


# The file, the tables, the drawings


def test_results_survive_their_file() -> None:
    absent = [Absent("torchdata", "not installed", "torchdata is not installed")]
    there = of(beside("throughput-1KB-k1-w1", 22.0, 20.0, 24.0), result("skip", absent=absent))
    again = parse(there.text())
    assert (again.settings, again.machine, again.results) == (
        there.settings, there.machine, there.results
    )  # fmt: skip
    written = json.loads(there.text())
    assert (written["format"], written["version"]) == ("midepoch.benchmarks", 1)
    assert written["results"][0]["compared"][0]["verdict"] == "met"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "midepoch.benchmarks"}',
                                  '{"format": "midepoch.benchmarks", "version": 2}'])  # fmt: skip
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match=r"not a midepoch\.benchmarks document of version 1"):
        parse(text)


def test_tables_say_what_was_missed_and_what_is_not_there() -> None:
    absent = [Absent("odd|one", "not offered", "it has <no> such\nthing")]
    missed = beside("throughput-1MB-k1-w2", 3.0, 2.5, 3.5)
    missed.absent += absent
    text = tables.markdown(of(missed, beside("inline-cheap", 0.6, 0.5, 0.7)))
    assert "; missed: `throughput-1MB-k1-w2`." in text
    row = next(line for line in text.splitlines() if "| torch |" in line)
    assert "| 3x | 2.5x to 3.5x | &gt;= 12x, 30x | missed |" in row
    assert "* 1 MB in 1 tensor, 2 workers: odd\\|one: not offered: it has &lt;no&gt; such thing" \
        in text  # fmt: skip
    assert "0.6x | 0.5x to 0.7x | &gt;= 0.15x, 0.5x | hoped for |" in text


@pytest.mark.parametrize("width", [80, 100, 180])
@pytest.mark.parametrize("peer", ["torch", "/home/somebody/a/long/way/from/here.py:make_loader"])
def test_a_table_cuts_no_number_and_no_name_at_any_width(width: int, peer: str) -> None:
    results = of(
        beside("first-batch", 22.0, 20.0, 24.0, peer=peer),
        beside("throughput-16MB-k10-w1", 22.0, 20.0, 24.0, peer=peer),
    )
    results.machine["versions"] = {f"package{n}": "1.2.3" for n in range(12)}
    shown = io.StringIO()
    show_results(results, Console(file=shown, width=width))
    text = shown.getvalue()
    *lines, last = text.splitlines()
    assert last.startswith("goals met: ")
    assert max(map(len, lines)) <= width
    table = text[text.index(" median ") :]
    # A long name is folded.
    assert peer in "".join(table.split())
    for words in ("throughput-16MB-k10-w1", "reference", "40 µs", "880 µs", "22x"):
        assert words in table
    assert (">= 1x, 2x" in table) == (peer == "torch")  # other peers have no goal
    head = next(line for line in lines if " median " in line)
    left_out = [name for name in ("quartiles", "95% interval") if name not in head]
    assert ("a wider terminal also shows" in text) == bool(left_out)
    assert all(name in table for name in left_out)
    assert width < 180 or peer != "torch" or not left_out


def test_a_figure_of_the_loader_itself_is_in_its_own_row() -> None:
    alone = result("state-dict-w0", measured=[Measured("reference", 2e-4, 1e-4, 3e-4)])
    ((*_, goal, shown),) = rows_of(alone)
    assert (goal, shown) == ("<= 100 µs, 20 µs", "missed")


# matplotlib keeps the files of its fonts open: what draws is a process of its own.
DRAW = """
import sys
from pathlib import Path
from midepoch_benchmarks.plots import draw
from midepoch_benchmarks.results import parse

print(*(path.name for path in draw(parse(sys.stdin.read()), Path(sys.argv[1]))))
"""


def test_drawings_are_of_what_was_measured_alone(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    results = of(
        beside("throughput-1KB-k1-w1", 22.0, 20.0, 24.0),
        beside("throughput-16MB-k1-w1", 2.0, 1.0, 4.0, peer="memcpy"),
        beside("grow-state-1MB", 0.5, 0.4, 0.6, peer="none"),
    )
    assert [picture.name for picture in pictures(results)] == ["throughput", "snapshots"]
    for folder in ("first", "second"):
        drawn = subprocess.run(
            [sys.executable, "-c", DRAW, str(tmp_path / folder)],
            input=results.text(),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert drawn.stdout.split() == ["throughput.svg", "snapshots.svg"], drawn.stderr
    texts = []
    for name in drawn.stdout.split():
        path = tmp_path / "first" / name
        assert path.read_bytes() == (tmp_path / "second" / name).read_bytes()
        texts.append("".join(ElementTree.parse(path).getroot().itertext()))
    assert "torch, 1 tensor" in texts[0]
    assert "memcpy" not in texts[0]
    assert "reference, no snapshots" in texts[1]


# The command

STUB = """
import os, time

class Session:
    def __init__(self, w):
        self.w, self.done = w, 0
    def epoch(self):
        while True:
            yield [self.w.row(self.done + i) for i in range(self.w.batch_size)]
            self.done += self.w.batch_size
    def state(self):
        raise NotImplementedError
    def load(self, state):
        raise NotImplementedError
    def close(self):
        pass

class Adapter:
    def offer(self):
        return {"name": "stub", "shuffles": (False,)}
    def declines(self, w, x):
        return None
    def prepare(self, w, root):
        pass
    def open(self, w, x, root):
        print("a loader may print what it likes")
        return Session(w)

class Dies(Adapter):
    def open(self, w, x, root):
        os._exit(7)
"""


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "stubbed.py"
    path.write_text(STUB, encoding="utf-8")
    return path


def test_a_small_run_end_to_end(stub: Path, capsys: pytest.CaptureFixture[str]) -> None:
    peers = ["--peer", "torch", "--peer", "torch-file-system", "--peer", f"{stub}:Adapter"]
    wanted = ["--case", "inline-cheap", "--case", "order-memory", "--case", "first-batch"]
    command = ["bench", *peers, *wanted, "--quick", "--rounds", "2", "--json", "out/found.json"]
    status = main(command)
    printed = capsys.readouterr()
    found = parse(Path("out/found.json").read_text(encoding="utf-8"))
    # No assertion on speed: only that the status says what the verdicts say.
    assert status == (1 if found.missed else 0), printed
    by = {one.case.id: one for one in found.results}
    cheap = by["inline-cheap"]
    assert {one.name for one in cheap.measured} == {
        "reference", "torch", "torch-file-system", "reference (adapter)", f"{stub}:Adapter"
    }  # fmt: skip
    assert [(one.name, one.peer) for one in cheap.compared] == [
        ("reference", "torch"),
        ("reference", "torch-file-system"),
        ("reference (adapter)", f"{stub}:Adapter"),
    ]
    assert all(len(one.rounds) == 2 for one in cheap.measured)
    assert len(by["order-memory"].measured[0].rounds) == 1
    (absent,) = by["first-batch"].absent
    assert (absent.name, absent.kind) == (f"{stub}:Adapter", "not offered")
    assert "does not offer 2 workers" in printed.out
    assert "1/3" in printed.err
    assert found.machine["versions"]["torch"]
    assert 0 < found.machine["round_trip"] < 60


def test_an_interrupted_run_keeps_what_it_measured(
    stub: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = run._measured

    def stopped(case: Case, *rest: Any) -> Any:
        if case.id == "order-memory":
            raise KeyboardInterrupt
        return measured(case, *rest)

    monkeypatch.setattr(run, "_measured", stopped)
    wanted = ["--case", "order-1e6", "--case", "order-memory"]
    assert main(["bench", "--quick", "--rounds", "2", *wanted, "--json", "found.json"]) == 130
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == (
        "midepoch: stopped after 1 of 2 cases, which found.json keeps; "
        "the next one is order-memory: go on with --case ID and another file"
    )
    found = parse(Path("found.json").read_text(encoding="utf-8"))
    assert [one.case.id for one in found.results] == ["order-1e6"]


@pytest.mark.parametrize("done", [0, 1, 2])
@pytest.mark.parametrize("plot", [False, True])
def test_a_stopped_run_says_what_was_written(
    done: int,
    plot: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stopped(cases: list[Case], *rest: Any) -> Any:
        told, found = rest[-1], of()
        for case in cases[:done]:
            found.results.append(result(case))
            told(found)
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "run", stopped)
    command = ["bench", "--case", "order-1e6", "--case", "order-memory"]
    if plot:
        pytest.importorskip("matplotlib")
        command += ["--plot", "drawings"]
    assert main(command) == 130
    end = "; nothing was written"
    if done:
        end = f"{end}: --json FILE keeps the results"
    if plot and done == 2:
        end = "; drawings may have some of the drawings"
    line = f"midepoch: stopped after {f'{done} of 2 cases' if done else 'no case'}{end}"
    assert capsys.readouterr().err.splitlines()[-1] == line


def test_a_contender_whose_interpreter_dies_is_said_and_the_run_goes_on(
    stub: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["bench", "--loader", f"{stub}:Dies", "--peer", f"{stub}:Adapter", "--rounds", "2"]
    wanted = ["--case", "inline-cheap", "--case", "order-1e6"]
    assert main([*command, "--quick", *wanted]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "its interpreter ended with status 7" in out
    assert "missed: inline-cheap" in out
    assert "order-1e6: " in out
    assert "an adapter delivers samples, not indices" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--case", "nothing"], "no case or row 'nothing'"),
        (["--peer", "torhc"], "'torhc' names no loader"),
        (["--loader", "nowhere.py:Adapter"], "there is no file"),
        (["--rounds", "1"], "--rounds"),
        (["--json", "."], "is a folder"),
        (["--plot", "stubbed.py"], "is a file"),
    ],
)
def test_wrong_usage_is_a_clear_line_and_status_2(
    stub: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "--quick", *arguments]) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert "Traceback" not in printed.err


def test_the_list_names_every_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--list"]) == 0
    out = capsys.readouterr().out
    assert [name for name in CASES if name not in out] == []


def test_a_peer_that_is_not_installed_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    from midepoch_benchmarks.measuring import contenders
    from midepoch_benchmarks.measuring.datasets import Cheap

    monkeypatch.setitem(sys.modules, "torchdata.stateful_dataloader", None)
    with pytest.raises(contenders.NotInstalledError, match="torchdata"):
        contenders.Torchdata().open(contenders.Setting(Cheap(1024)))


# torch-file-system leaves a manager behind until its process ends: the small run has it.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["torch", "torchdata", "torch-tuned"])
def test_contenders_deliver_what_the_reference_does(name: str) -> None:
    import torch

    from midepoch_benchmarks.measuring.contenders import BUILT_IN as CONTENDERS
    from midepoch_benchmarks.measuring.contenders import Setting
    from midepoch_benchmarks.measuring.datasets import Cheap

    setting = Setting(Cheap(1024, k=2, n=24), workers=1)
    delivered = [list(CONTENDERS[which]().open(setting)) for which in ("reference", name)]
    flat = [[part for batch in batches for part in batch] for batches in delivered]
    assert [tensor.shape for tensor in flat[0]] == [(8, 16)] * 6
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(*flat, strict=True))


def test_the_summary_of_strace_is_read_with_and_without_errors() -> None:
    from midepoch_benchmarks.measuring.kernel import total_calls

    head = "% time     seconds  usecs/call     calls    errors syscall\n"
    lines = " 84.13    0.000053           0       100           getppid\n"
    for last, expected in [
        ("100.00    0.000063           0       105           total\n", 105),
        ("100.00    0.000063          12       107         2 total\n", 107),
    ]:
        assert total_calls(head + lines + last) == expected
    assert total_calls("") == 0
