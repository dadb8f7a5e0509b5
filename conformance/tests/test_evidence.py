"""The evidence in findings, and the player that shows it."""

from __future__ import annotations

import pytest
from written import FIRST, ORACLE, case, found, trace

from midepoch_conformance.judges import REGISTRY
from midepoch_conformance.scripts import evidence, recipes
from midepoch_conformance.scripts.run import run_script
from midepoch_conformance.scripts.script import player
from midepoch_conformance.verdict.evidence import KINDS, Evidence


def test_each_observation_is_printed() -> None:
    assert KINDS.keys() == evidence.KNOWN


def test_an_observation_is_one_of_a_few() -> None:
    with pytest.raises(ValueError, match="an observation is one of batches, samples"):
        Evidence("smell")


def test_recipes_are_few_and_of_judged_requirements() -> None:
    assert REGISTRY.keys() >= recipes.REQUIREMENTS
    assert recipes.COUNT <= 15


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

import itertools, json, os, pathlib, pickle, signal, subprocess, sys, tempfile, traceback

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


def open_loader(right=True):
    session = Session()
    session.right = right
    return session


def encode(codec, state, canonical): return pickle.dumps(state)
def decode(codec, data, canonical): return pickle.loads(data)
def seed_streams(seed): pass


CODEC, CANONICAL, RARE, LOOKS = "pickle", False, {}, {}
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
