"""The evidence in findings, and the player that shows it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from written import FIRST, ORACLE, case, found, trace

from midepoch_conformance.judges import REGISTRY
from midepoch_conformance.scripts import evidence, recipes
from midepoch_conformance.scripts.run import run_script
from midepoch_conformance.scripts.script import player
from midepoch_conformance.verdict.evidence import KINDS, Evidence
from midepoch_conformance.verdict.finding import Finding


def test_each_observation_is_printed() -> None:
    assert KINDS.keys() == evidence.KNOWN


def test_an_observation_is_one_of_a_few() -> None:
    with pytest.raises(ValueError, match="an observation is one of batches, samples"):
        Evidence("smell")


def test_recipes_are_few_and_of_judged_requirements() -> None:
    assert REGISTRY.keys() >= recipes.REQUIREMENTS
    assert recipes.COUNT <= 17


@pytest.mark.parametrize(
    ("sessions", "texts", "shown"),
    [
        (
            ("take 2, save s", "load s, drain"),
            (["01|23", ""], ["", "23|45."]),
            Evidence("batches", 1, 0, 1, 0, (0, 2, None)),
        ),
        (
            ("take 1, save s", "load s, take 1, drain"),
            (["01", ""], ["", "23", "23|45."]),
            Evidence("batches", 1, 0, 2, 0, (0, 1, None)),
        ),
        (
            ("take 1, save s", "load s, take 1"),
            (["01", ""], ["", "45"]),
            Evidence("batches", 1, 0, 1, 0, (0, 1, 2)),
        ),
        (
            ("take 3, save s", "load s, drain, drain"),
            ([FIRST, ""], ["", ".", f"{FIRST}."]),
            Evidence("batches", 1, 0, 2, 0, (1, 0, None)),
        ),
        (
            ("take 2, save s", "load s, drain"),
            (["01|23", ""], ["!load KeyError s"]),
            Evidence("error", 1, last=0, wanted="no error"),
        ),
    ],
)
def test_where_a_resume_is_wrong_is_told(
    sessions: tuple[str, ...], texts: tuple[list[str], ...], shown: Evidence
) -> None:
    family = "end unseen" if shown.run and shown.run[0] else "cut"
    of = case(family, *sessions)
    requirement = "EPOCH-3" if family == "end unseen" else "RESUME-1"
    finding = found(requirement, of, trace(of, *texts), ORACLE)
    assert finding is not None
    assert finding.evidence == shown


LOADER = '''"""A loader that forgets."""

import contextlib, ctypes, faulthandler, itertools, json, os, pathlib, pickle, signal
import subprocess, sys, tempfile, time, traceback

SESSIONS = {
    "whole": (1, 1, {}, "drain, drain"),
    "1": (1, 1, {"right": RIGHT}, "take 2, save s, drain"),
    "2": (101, 2, {"right": RIGHT}, "load s, hop?, take 1, drain, drain"),
}


def compare(seen):
    expected, got = epochs(seen["whole"])[0][2:], epochs(seen["2"])[0]
    assert [step["do"] for step in seen["2"]] == SESSIONS["2"][3].split(", ")
    assert seen["2"][1]["error"] == "KeyError: 'hop'"
    return expected, got, got != expected


class Session:
    done = 0
    def epoch(self):
        begin, self.done = self.done, 0
        return ([[i], [i, 0.5]] for i in range(begin, 4))
    def state(self): return {"done": 2}
    def load(self, state): self.done = state["done"] if self.right else 1


def open_loader(root, right=True):
    session = Session()
    session.right = right
    return session


def encode(codec, state, canonical): return pickle.dumps(state)
def decode(codec, data, canonical): return pickle.loads(data)
def seed_streams(seed): pass


CODEC, CANONICAL, RARE, LOOKS = "pickle", False, {}, {}
PREPARE, ERRORS, EMPTY, LIMIT = None, None, False, 30
'''


@pytest.mark.parametrize(("right", "status"), [(True, 0), (False, 1)])
def test_the_player_plays(right: bool, status: int) -> None:
    text = f"{LOADER.replace('RIGHT', str(right))}\n\n{player()[0]}\n\nmain(*sys.argv[1:])\n"
    ran = run_script(text)
    assert ran.status == status, ran.output
    assert "expected: [[2, [2, 0.5]], [3, [3, 0.5]]]" in ran.output
    assert ("got:      [[1, [1, 0.5]], [2," in ran.output) == (not right)


def test_what_cannot_be_played_shows_nothing() -> None:
    text = LOADER.replace("RIGHT", "True").replace("begin, self.done = ", "begin = self.lost = ")
    ran = run_script(f"{text}\n\n{player()[0]}\n\nmain(*sys.argv[1:])\n".replace("range(", "rnge("))
    assert ran.status == 2
    assert "the uninterrupted run: NameError" in ran.output


def told(**constants: object) -> str:
    """Return a script whose constants are others."""
    text = LOADER.replace("RIGHT", "False")
    lines = "".join(f"{name} = {value}\n" for name, value in constants.items())
    return f"{text}\n{lines}\n{player()[0]}\n\nmain(*sys.argv[1:])\n"


@pytest.mark.parametrize(
    ("constants", "status", "words"),
    [
        ({"ERRORS": "('KeyError',)"}, 1, "got: "),
        ({"PREPARE": "lambda root, **changes: 1 / 0"}, 2, "session whole could not be played"),
        ({"PREPARE": "lambda root, **changes: open(root + '/x', 'x')"}, 1, "got: "),
        ({"decode": "lambda *given: 1 / 0"}, 2, "has another error: ZeroDivisionError"),
        # This error may come, so the sessions are compared, which the loader's own lines refuse.
        ({"decode": "lambda *given: 1 / 0", "ERRORS": "('ZeroDivisionError',)"}, 2, "AssertionErr"),
    ],
)
def test_another_error_is_not_the_failure(
    constants: dict[str, str], status: int, words: str
) -> None:
    given = {"ERRORS": "()", **constants}
    ran = run_script(told(**given))
    assert ran.status == status, ran.output
    assert words in ran.output


def test_an_uninterrupted_run_without_batches_shows_nothing() -> None:
    text = told().replace("range(begin, 4)", "range(0)")
    ran = run_script(text)
    assert ran.status == 2
    assert "the uninterrupted run delivers nothing" in ran.output


def test_a_session_that_hangs_ends_and_says_where() -> None:
    hanging = "import time\n        time.sleep(1000)\n        begin, self.done = self.done, 0"
    text = told(LIMIT=1, EMPTY=True, ERRORS=("the process died",))
    ran = run_script(text.replace("begin, self.done = self.done, 0", hanging))
    assert ran.status == 2
    assert "the process died: no end within 1 s" in ran.output
    assert "in epoch" in ran.output


LEAVES = """
import subprocess
from multiprocessing import shared_memory
def leave(root, **changes):
    mark = os.environ["LEFT"]
    memory = shared_memory.SharedMemory(f"left {mark}", create=True, size=1)
    subprocess.Popen(["sleep", mark])
    subprocess.Popen(["sleep", mark], start_new_session=True)
PREPARE = leave
"""


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("way", ["ends", "is terminated", "is killed"])
def test_a_script_leaves_no_process_and_no_memory(
    way: str, copies: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = str(100_000 + os.getpid())
    hangs = "time.sleep(1000)" if way != "ends" else "pass"
    # The data is prepared by the first session, which is the one that hangs.
    stands = f"def epoch(self):\n        {hangs}\n"
    text = told().replace("def epoch(self):\n", stands)
    if copies:
        text = re.sub(r"\((\d+), \d, {", r"(\1, None, {", text)
    script = tmp_path / "failure.py"
    script.write_text(text.replace("\n\nmain(*", f"\n\n{LEAVES}\n\nmain(*"))
    process = subprocess.Popen(
        [sys.executable, str(script)],
        env={**os.environ, "LEFT": seconds, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if way != "ends":
        # The session that hangs has started its processes.
        while process.poll() is None and len(sleeping(seconds)) < 2:
            time.sleep(0.01)
        (process.terminate if way == "is terminated" else process.kill)()
    process.wait(60)
    if way == "is killed":
        # Nobody can tidy up after that, but the session itself ends with its script.
        until = time.monotonic() + 20
        while sessions_of(script) and time.monotonic() < until:
            time.sleep(0.01)
        assert not sessions_of(script)
        for pid in sleeping(seconds):
            os.kill(pid, signal.SIGKILL)
    else:
        assert not sleeping(seconds)
        assert not Path(f"/dev/shm/left {seconds}").exists()


def commands() -> dict[int, list[str]]:
    found = {}
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found[int(entry.parent.name)] = entry.read_text().split("\0")
    return found


def sleeping(seconds: str) -> list[int]:
    return [pid for pid, words in commands().items() if words[:2] == ["sleep", seconds]]


def sessions_of(script: Path) -> list[int]:
    return [pid for pid, words in commands().items() if str(script) in words]


@pytest.mark.parametrize(
    ("kind", "shows"),
    [
        ("error", 'got and not refused(seen["2"])'),
        ("bare error", 'got and not refused(seen["2"])'),
        *((kind, "got") for kind in ("codec", "save", "close", "values")),
    ],
)
def test_an_error_of_a_codec_or_a_save_is_no_refusal(kind: str, shows: str) -> None:
    of = case("cut", "take 1, save s", "load s, drain")
    what = Evidence("error", 1, wanted="no error")
    assert evidence.compared(of, Finding("REFUSE-2", "fails", kind), what).shows == shows


def test_a_correct_loader_may_deliver_an_empty_rest_first() -> None:
    of = case("end unseen", "take 3, save s", "load s, drain, drain")
    wrong = Finding("EPOCH-3", "fails silently", "repeated")
    what = Evidence("batches", 1, 0, 1, 0, (1, 0, None))
    shown = evidence.compared(of, wrong, what).case
    assert shown is not None
    steps = shown.sessions[-1].steps
    assert [(step.do, step.tolerate) for step in steps] == [
        ("load", False),
        ("drain", False),
        ("drain", True),
    ]
