"""``midepoch inspect``: what it shows of a state, and what it says of everything else."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from midepoch_conformance.cli import main
from midepoch_conformance.states import files, view
from midepoch_conformance.states.files import StateFileError, StoredState, read_states
from midepoch_conformance.verdict import published


class Numbers(torch.utils.data.Dataset[int]):
    def __init__(self, n: int = 20) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> int:
        return index


class Stream(torch.utils.data.IterableDataset[int]):
    """A Stateful stream that keeps a tensor in its state."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        while self.at < 12:
            self.at += 1
            yield self.at - 1
        self.at = 0

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at, "left": torch.arange(self.at, 12)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.at = state["at"]


class Runs:
    """Code that a pickle names."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("this must never run",))


@pytest.fixture(autouse=True)
def _away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


def a_state(**options: Any) -> tuple[dict[str, Any], list[int]]:
    """Return a state of the reference loader after two batches, and the third batch."""
    from midepoch import StatefulDataLoader

    loader = StatefulDataLoader(Numbers(), batch_size=4, shuffle=True, seed=7, **options)
    batches = iter(loader)
    for _ in range(2):
        next(batches)
    state = loader.state_dict()
    return state, next(batches).tolist()


def a_stream_state() -> dict[str, Any]:
    from midepoch import StatefulDataLoader

    loader = StatefulDataLoader(Stream(), batch_size=2, lanes=3)
    batches = iter(loader)
    for _ in range(4):
        next(batches)
    return loader.state_dict()


def in_json(state: object) -> bytes:
    from midepoch import state_to_json

    return state_to_json(state)


def inspected(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Return the status of the command and all that it printed, on one line."""
    status = main(["inspect", *arguments])
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return status, " ".join((printed.out + printed.err).split())


@pytest.mark.parametrize("name", ["state.pt", "state.json"])
def test_a_state_is_valid_and_shows_the_batch_that_comes_next(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    state, third = a_state()
    if name == "state.pt":
        torch.save(state, name)
    else:
        Path(name).write_bytes(in_json(state))
    status, text = inspected(capsys, name)
    assert status == 0
    assert text.startswith(f"{name}: valid plan a map-style dataset of 20 samples, shuffled")
    assert "position epoch 0, after 2 batches of 5 (8 samples)" in text
    assert f"next samples {', '.join(map(str, third))}" in text
    assert f"size {len(in_json(state)):,} bytes" in text


@pytest.mark.parametrize(
    ("n", "options", "drained", "expected"),
    [
        (20, {"batch_size": 4}, 0, "before its first batch next samples 0, 1, 2, 3 "),
        (20, {"batch_size": 7}, 2, "after 2 batches of 3 (14 samples) next samples 14, 15, 16,"),
        (20, {"batch_size": 7}, 3, "next the end of the epoch, then epoch 1"),
        (20, {"batch_size": 7, "drop_last": True}, 2, "of 2 (14 samples) next the end of the"),
        (20, {"batch_size": None}, 19, "next sample 19"),
        (9000, {"batch_size": 5000}, 0, "7 and 4,992 more"),
    ],
)
def test_what_comes_next_is_told_in_every_plan(
    n: int,
    options: dict[str, Any],
    drained: int,
    expected: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from midepoch import StatefulDataLoader

    loader = StatefulDataLoader(Numbers(n), **options)
    batches = iter(loader)
    for _ in range(drained):
        next(batches)
    Path("state.json").write_bytes(in_json(loader.state_dict()))
    status, text = inspected(capsys, "state.json")
    assert (status, expected in f"{text} ") == (0, True), text


def test_the_next_batch_of_a_large_shuffled_epoch_is_the_loaders_own() -> None:
    from midepoch import StatefulDataLoader
    from midepoch.format.state import Document

    loader = StatefulDataLoader(Numbers(100_000), batch_size=6, shuffle=True, seed=3)
    batches = iter(loader)
    for _ in range(50):
        next(batches)
    document = Document.from_dict(loader.state_dict())
    expected = f"samples {', '.join(map(str, next(batches).tolist()))}"
    assert dict(view.facts(document))["next"] == expected


def test_every_lane_of_a_stream_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    torch.save(a_stream_state(), "stream.pt")
    status, text = inspected(capsys, "stream.pt")
    assert status == 0
    assert "an iterable dataset, batches of 2" in text
    assert "3 lanes" in text
    lanes = text.partition("lane snapshot after")[2]
    assert "0 2 batches 0 {at, left}" in lanes
    assert "1 1 batch 0 {at, left}" in lanes
    assert lanes.count("no state") == 3  # the iterators' own
    assert lanes.index("next") > lanes.index("1 1 batch")


def test_states_are_found_inside_a_checkpoint(capsys: pytest.CaptureFixture[str]) -> None:
    state, stream = a_state()[0], a_stream_state()
    content = {"model": {"w": torch.zeros(3)}, "data": {"train": state, "more": [stream]}, "e": 1}
    torch.save(content, "checkpoint.pt")
    status, text = inspected(capsys, "checkpoint.pt")
    assert status == 0
    first, second = text.index("at data.train: valid"), text.index("at data.more.0: valid")
    assert first < second
    status, text = inspected(capsys, "checkpoint.pt", "--key", "data.more")
    assert (status, text.count(": valid")) == (0, 1)
    status, text = inspected(capsys, "checkpoint.pt", "--key", "data.evil")
    assert status == 2
    assert "nothing lies at 'data.evil' its keys: model, data, e" in text


def test_a_key_may_hold_dots_and_the_rest_of_a_json_file_anything(
    capsys: pytest.CaptureFixture[str],
) -> None:
    state = json.loads(in_json(a_state()[0]))
    content = {"trainer.v1": {"loader": state}, "loss": float("nan"), "$ref": 2**70}
    Path("checkpoint.json").write_text(json.dumps(content, indent=1))
    status, text = inspected(capsys, "checkpoint.json", "--key", "trainer.v1.loader")
    assert (status, "at trainer.v1.loader: valid" in text) == (0, True), text


def edited(path: str, value: object) -> dict[str, Any]:
    """Return a state with the part at ``path`` replaced, or left out where it is Ellipsis."""
    state: dict[str, Any] = json.loads(in_json(a_state()[0]))
    *parents, last = path.split(".")
    part = state
    for name in parents:
        part = part[name]
    if value is ...:
        del part[last]
    else:
        part[last] = value
    return state


@pytest.mark.parametrize("name", ["state.json", "state.pt"])
@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("position.batches", 99, "StateFormatError: state at $.position.batches: expected at"),
        ("position.batches", "2", "StateFormatError: state at $.position.batches: expected an"),
        ("plan.tail", ..., "StateFormatError: state at $.plan: missing: tail"),
        ("plan.colour", "red", "StateFormatError: state at $.plan.colour: the format knows no"),
        ("version", 2, "StateVersionError: state at $.version: this package reads version 1"),
        ("format", ..., 'StateFormatError: state at $: not a midepoch state: it has no key "for'),
        ("format", "other", "StateFormatError: state at $.format: expected"),
    ],
)
def test_a_faulty_state_is_told_with_its_place(
    name: str, path: str, value: object, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "state.json":
        Path(name).write_text(json.dumps(edited(path, value)))
    else:
        torch.save(edited(path, value), name)
    status, text = inspected(capsys, name)
    assert status == 1
    assert text.startswith(f"{name}: invalid problem {words}"), text


@pytest.mark.parametrize("vector", published.vectors("invalid"), ids=lambda v: str(v.name))
def test_no_published_invalid_state_is_called_valid(
    vector: published.Vector, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("state.json").write_text(vector.text, encoding="utf-8")
    status, text = inspected(capsys, "state.json")
    if vector.error == "PlanMismatchError":  # well-formed, and wrong for its loader alone
        assert status == 0, text
    else:
        assert status == 1 or "no midepoch state" in text, text


def test_not_a_number_and_doubled_keys_are_no_canonical_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("nan.json").write_text(json.dumps(edited("plan.seed", float("nan"))))
    status, text = inspected(capsys, "nan.json")
    assert (status, "NaN is no JSON" in text) == (1, True), text
    plain = json.dumps(edited("plan.seed", 7))
    twice = plain.replace('"seed": 7', '"seed": 7, "seed": 8')
    Path("twice.json").write_text(f'{{"loader": {twice}}}')
    status, text = inspected(capsys, "twice.json")
    assert (status, "the key 'seed' stands twice" in text) == (1, True), text


def test_a_value_without_a_json_form_is_carried_and_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    state = a_stream_state()
    state["lanes"]["entries"][0]["dataset"] = {"dtype": torch.float32}
    torch.save(state, "state.pt")
    status, text = inspected(capsys, "state.pt")
    assert status == 0
    assert "note the schema speaks of the JSON form, and it has none: state at" in text
    assert "{dtype}, no JSON form" in text


def test_what_the_schema_alone_refuses_is_invalid() -> None:
    """The loader reads no such state either; the schema is looked at apart."""
    found = view.against_schema({**json.loads(in_json(a_state()[0])), "more": 1})
    assert len(found) == 1
    assert found[0].startswith("the schema, at $: ")


def write_nothing(path: Path) -> None:
    path.write_bytes(b"")


def write_torch_cut(path: Path) -> None:
    torch.save(a_state()[0], path)
    path.write_bytes(path.read_bytes()[:-200])


def write_json_cut(path: Path) -> None:
    path.write_bytes(in_json(a_state()[0])[:-20])


def write_code(path: Path) -> None:
    torch.save({"loader": Runs()}, path)


def write_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps({"loader": Runs()}))


def write_torchdata(path: Path) -> None:
    counts = {"_sampler_iter_state": None, "_sampler_iter_yielded": 1, "_num_yielded": 1}
    torch.save({"dl": {**counts, "_iterator_finished": False}}, path)


def write_torchdata_workers(path: Path) -> None:
    torch.save({"_snapshot": {}, "_steps_since_snapshot": 0, "_iterator_finished": False}, path)


def write_model(path: Path) -> None:
    torch.save({f"layer{n}": torch.zeros(1) for n in range(20)}, path)


def write_deep(path: Path) -> None:
    path.write_text("[" * 100_000)


def write_bytes(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\xfa")


@pytest.mark.parametrize(
    ("name", "write", "words"),
    [
        ("state.pt", write_nothing, "the file is empty"),
        ("state.pt", write_torch_cut, "the file is damaged or cut off"),
        ("state.json", write_json_cut, "neither JSON nor a file of torch.save: Unterminated"),
        ("state.pt", write_code, "refused: to load it means to run code that it names (print)"),
        ("state.pt", write_pickle, "refused: it is a pickle of a kind that may run code"),
        ("state.json", write_pickle, "refused: it is a pickle of a kind that may run code"),
        ("state.pt", write_torchdata, "no midepoch state, but one of torchdata (at dl)"),
        ("state.pt", write_torchdata_workers, "no midepoch state, but one of torchdata midepoch"),
        ("state.pt", write_model, "the keys layer0, layer1, layer2, layer3, layer4, layer5, "),
        ("state.json", write_deep, "nested too deeply"),
        ("state.json", write_bytes, "the text is no UTF-8"),
        ("state.pt", write_bytes, "no file of torch.save"),
    ],
)
def test_a_file_without_a_state_is_told_apart(
    name: str, write: Any, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / name)
    status, text = inspected(capsys, name)
    assert status == 2
    assert text.startswith(f"midepoch: {name}: "), text
    assert words in text
    assert "this must never run" not in text


@pytest.mark.parametrize(
    ("name", "words"),
    [("none.pt", "no such file or directory"), (".", "is a directory")],
)
def test_what_is_no_file_is_told(name: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = inspected(capsys, name)
    assert (status, words in text) == (2, True), text


def test_a_states_own_texts_move_no_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    state = a_stream_state()
    state["lanes"]["entries"][0]["dataset"] = {"\x1b[2Jgone": 1}
    torch.save({"\x1b[2J": state}, "state.pt")
    status, text = inspected(capsys, "state.pt")
    assert (status, "\x1b" in text, "\\x1b[2J" in text) == (0, False, True), text


def test_many_lanes_are_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    from midepoch import StatefulDataLoader

    loader = StatefulDataLoader(Stream(), batch_size=2, lanes=40)
    torch.save(loader.state_dict(), "state.pt")
    status, text = inspected(capsys, "state.pt")
    assert (status, "and 24 more lanes" in text) == (0, True), text


def test_a_container_that_holds_itself_is_searched_to_an_end(tmp_path: Path) -> None:
    content: dict[str, Any] = {"loader": a_state()[0]}
    content["self"] = content
    torch.save(content, tmp_path / "state.pt")
    found = read_states(tmp_path / "state.pt")
    assert [one.path for one in found] == ["loader"]


def test_without_torch_the_command_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    torch.save({}, tmp_path / "state.pt")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(StateFileError, match="torch is needed to read it"):
        read_states(tmp_path / "state.pt")


def test_a_stored_state_is_judged_without_a_file() -> None:
    examined = view.examine(StoredState("", a_state()[0]))
    assert (examined.problems, examined.note) == ((), "")
    assert examined.size == len(in_json(a_state()[0]))
    assert files.FORMAT == "midepoch.state"


def test_the_command_line_starts_without_torch() -> None:
    code = "import sys, midepoch_conformance.cli; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
