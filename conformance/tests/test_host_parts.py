"""The parts that a host's player uses: journal, codecs, tampering, faults, streams, deadlines."""

from __future__ import annotations

import ast
import dataclasses
import enum
import os
import random
import signal
import subprocess
import sys
import time
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from midepoch_conformance.case import tampering
from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.trace import Event
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.host import job
from midepoch_conformance.host.faults import crash, fault_of, hang
from midepoch_conformance.host.session.codecs import Codecs
from midepoch_conformance.host.session.journal import FetchLog, Journal, read_journal
from midepoch_conformance.host.session.streams import Streams
from midepoch_conformance.host.system.child_signals import ChildSignals
from midepoch_conformance.host.system.deadline import Deadline

HOST_SIDE = sorted(
    path for room in (job, tampering) for path in Path(room.__file__).parent.rglob("*.py")
)
"""The modules of the rooms ``host`` and ``case``: a loader's interpreter imports them."""


def test_a_journal_cut_short(tmp_path: Path) -> None:
    path = str(tmp_path / "journal")
    journal = Journal(path)
    journal.at("open")
    journal.step(0, "take")
    journal.at("next")
    journal.batch([[0.5]])
    with open(path, "ab") as garbage:
        garbage.write(b'printed by mistake ["batch"')
    journal.batch([[1]])
    with open(path, "ab") as garbage:
        garbage.write(b'["nonsense"]\n["batch"]\n{}\n["event", 3]\n["batch", [[2')
    os.close(journal.fd)
    session, end = read_journal(path)
    assert session.events == [Event(0, "take", [[[0.5]], [[1]]])]
    assert (end.done, end.phase, end.pending) == (False, "next", True)


def test_a_journal_is_opened_anew(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "journal"))
    journal.step(0, "drain")
    fd = journal.fd
    other = os.open(os.devnull, os.O_WRONLY)
    os.dup2(other, fd)
    journal.ended()
    assert journal.fd != fd
    os.close(fd)
    os.close(other)
    os.close(journal.fd)
    session, _ = read_journal(str(tmp_path / "journal"))
    assert session.events[0].ended


def test_no_journal() -> None:
    session, end = read_journal("/nowhere/journal")
    assert (session.events, end.done, end.phase) == ([], False, "open")


@pytest.mark.parametrize(
    ("codec", "state"),
    [("pickle", {1: (2, b"x")}), ("json", {"a": [1, None]}), ("bytes", b"state")],
)
def test_codecs(codec: str, state: Any) -> None:
    codecs = Codecs(Offer())
    assert codecs.decode(codec, codecs.encode(codec, state)) == state


def test_torchs_codec() -> None:
    torch = pytest.importorskip("torch")
    codecs = Codecs(Offer(codecs=("torch",)))
    back = codecs.decode("torch", codecs.encode("torch", {"a": torch.arange(3)}))
    assert torch.equal(back["a"], torch.arange(3))
    with pytest.raises(Exception, match=r"[Ww]eights"):
        codecs.decode("torch", codecs.encode("torch", {"a": Codecs}))


def test_the_formats_own_json() -> None:
    pytest.importorskip("midepoch")
    codecs = Codecs(Offer(formats=("midepoch",)))
    assert codecs.document({"position": object()})["unreadable"]
    assert Codecs(Offer()).document({}) is None


def test_a_codec_that_is_none() -> None:
    for act in (Codecs(Offer()).encode, Codecs(Offer()).decode):
        with pytest.raises(ValueError, match="unknown codec 'xml'"):
            act("xml", b"")
    with pytest.raises(TypeError, match="the state is dict"):
        Codecs(Offer()).encode("bytes", {})


def test_an_edit_changes_all_of_it() -> None:
    class Thing:
        def __init__(self) -> None:
            self.value = 1

    numpy = pytest.importorskip("numpy")
    inner = [1, "a", None, True, 2.5, b"x"]
    thing, array, buffer = Thing(), numpy.zeros(2), bytearray(b"ab")
    flags = numpy.array([True])
    taken: set[object] = {1}
    state = OrderedDict(list=inner, tuple=(inner, {"k": 1}), thing=thing, array=array)
    state.update(buffer=buffer, flags=flags, set=taken)
    state["itself"] = state
    tampering.edit(state)
    assert inner == [b"x!", 3.5, False, 0, "a!", 2, "added by the suite"]
    assert state["tuple"][1] == {"k": 2, "added by the suite": 1}
    assert (thing.value, array.tolist(), flags.tolist()) == (2, [1, 1], [False])
    assert buffer == b"`c!"
    assert "added by the suite" in taken
    assert state["itself"] is state


def test_an_edit_leaves_what_no_user_can_change() -> None:
    class Colour(enum.Enum):
        RED = "red"

    @dataclasses.dataclass(frozen=True)
    class Plan:
        size: int
        order: list[Any]

    plan = Plan(4, [1])
    state = {"plan": plan, "colour": Colour.RED, "module": dataclasses}
    tampering.edit(state)
    assert plan == Plan(4, [2, "added by the suite"])
    assert Colour.RED.value == "red"
    assert not hasattr(dataclasses, "added by the suite")


def test_cutting_bytes() -> None:
    assert tampering.cut(b'{"a": {"b": 1}}', 1) == b'{"a": {}}'
    assert tampering.cut(b'{"a": {"b": 1}, "c": 2}', -1) == b'{"a": {"b": 1}}'
    assert tampering.path({"a": {"b": 1}, "c": 2}, -2) == ["a", "b"]
    assert tampering.path({"a": {"b": 1}, "c": 2}, -4) is None
    lists = {"a": [1, {"b": [2]}]}
    assert tampering.path(lists, tampering.ITEMS + 2) == ["a", 1, "b", 0]
    assert tampering.cut(lists, tampering.ITEMS + 2) == {"a": [1, {"b": []}]}
    assert tampering.cut(lists, tampering.ITEMS) == {"a": [{"b": []}]}
    with pytest.raises(tampering.NoSuchPart):
        tampering.cut(lists, tampering.ITEMS + 1)
    assert tampering.cut(b"\xff\xfe1234", 0) == b"\xff\xfe1"
    with pytest.raises(tampering.NoSuchPart):
        tampering.cut(b"\xff\xfe1234", 1)
    with pytest.raises(tampering.NoSuchPart):
        tampering.cut({"a": 1}, -2)


@pytest.mark.parametrize("name", tampering.BOGUS)
def test_what_is_no_state(name: str) -> None:
    assert isinstance(tampering.bogus("empty", "bytes"), bytes)
    assert tampering.bogus(name, "pickle") is None or name != "none"


def test_faults() -> None:
    assert hang("next", 20).message == "no end within 20 s: killed"
    assert crash("next", -11).type == "SIGSEGV"
    assert crash("next", None).type == "died"
    try:
        raise StopIteration("x")
    except StopIteration as error:
        fault = fault_of(error, "iter", {__file__})
    assert (fault.kind, fault.bases[0]) == ("adapter", "StopIteration")
    assert len(fault_of(ValueError("x" * 9000), "next", ()).message) == 2000


def test_streams_that_move() -> None:
    numpy, torch = pytest.importorskip("numpy"), pytest.importorskip("torch")
    for draw in (random.random, numpy.random.random, lambda: torch.rand(1)):
        before = Streams()
        assert not before.moved()
        draw()
        assert before.moved()


def test_a_process_that_is_prepared_for_forks_still_works() -> None:
    code = """
from midepoch_conformance.host.system.processes import _writable, prepare_for_forks
kept = [bytes([i % 256]) * 4096 for i in range(4000)]
prepare_for_forks()
assert all(start % (2 << 20) == 0 for start, end in _writable())
print(sum(block[0] for block in kept))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(ran.stdout) == sum(i % 256 for i in range(4000))


def test_the_deadline_is_later_for_a_process_that_works() -> None:
    for code, least, most in (
        ("import time; print(flush=True); time.sleep(60)", 0.39, 0.55),
        ("print(flush=True)\nwhile True: pass", 0.49, 2.2),
    ):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()  # its start is over, which takes processor time too
            deadline = Deadline(process.pid, 0.4)
            waited = 0.0
            while (left := deadline.left()) > 0:
                time.sleep(left)
                waited += left
            process.kill()
        assert least <= waited <= most


@pytest.mark.parametrize("path", HOST_SIDE, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_host_side_files_are_for_python_39(path: Path) -> None:
    source = path.read_text()
    ast.parse(source, feature_version=(3, 9))
    assert path.stem in ("__init__", "__main__") or "from __future__ import annotations" in source


def test_a_handler_of_ended_children_runs_in_the_loaders_turns_alone() -> None:
    calls: list[str] = []
    place = "before"

    def died(*_: object) -> None:
        calls.append(place)
        raise RuntimeError("a worker died")

    before = signal.signal(signal.SIGCHLD, died)
    try:
        signals = ChildSignals()
        with signals.turn():
            place = "between"
        signal.raise_signal(signal.SIGCHLD)
        signal.raise_signal(signal.SIGCHLD)
        assert calls == []
        place = "second"
        with pytest.raises(RuntimeError, match="a worker died"), signals.turn():
            raise AssertionError("the turn begins with the signal that waits")
        place = "third"
        with signals.turn():
            assert calls == ["second"]
            with pytest.raises(RuntimeError, match="a worker died"):
                signal.raise_signal(signal.SIGCHLD)
            place = "after"
        signal.raise_signal(signal.SIGCHLD)
        signals.give_back()
        assert (calls, signal.getsignal(signal.SIGCHLD)) == (["second", "third"], died)
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.mark.parametrize("kind", [signal.SIG_DFL, signal.SIG_IGN])
def test_a_loader_without_a_handler_of_ended_children_gets_none(kind: signal.Handlers) -> None:
    before = signal.signal(signal.SIGCHLD, kind)
    try:
        signals = ChildSignals()
        with signals.turn():
            assert signal.getsignal(signal.SIGCHLD) is kind
        assert signal.getsignal(signal.SIGCHLD) is kind
        signals.give_back()
        assert signal.getsignal(signal.SIGCHLD) is kind
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.mark.parametrize(
    ("lines", "again"),
    [
        (["iter", "fetch 0", "fetch 4", "iter", "fetch 0", "fetch 4", "iter"], 0),
        (["iter", "iter", "fetch 0", "fetch 4", "iter"], 1),
        (["iter", "fetch 0", "iter", "fetch 0", "fetch 4", "iter", "fetch 0", "iter"], 2),
    ],
    ids=["ahead", "twice", "in each epoch"],
)
def test_a_pass_that_is_begun_within_another_one(
    tmp_path: Path, lines: list[str], again: int
) -> None:
    log = FetchLog(Workload("iterable", n=5, log="auto"), Execution(), str(tmp_path))
    for line in lines:
        log.workload.note(line)
    _, calls = log.counts()
    assert calls is not None
    assert calls.get("again", 0) == again


def test_each_copy_of_a_dataset_has_a_pass(tmp_path: Path) -> None:
    log = FetchLog(Workload("iterable", n=5, log="auto"), Execution(workers=2), str(tmp_path))
    for line in ("iter", "iter", "fetch 3", "iter", "iter"):  # the second worker is ahead
        log.workload.note(line)
    _, calls = log.counts()
    assert calls is not None
    assert calls["again"] == 1
