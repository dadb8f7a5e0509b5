"""``midepoch inspect``: what it shows of a state, and what it says of everything else."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from midepoch_conformance.cli import main
from midepoch_conformance.states import files, view
from midepoch_conformance.states.files import StateFileError, StoredState, read_states
from midepoch_conformance.verdict.format import published


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

    loader = StatefulDataLoader(Stream(), batch_size=2, lanes=3, seed=7)
    batches = iter(loader)
    for _ in range(4):
        next(batches)
    return loader.state_dict()


def in_json(state: object) -> bytes:
    from midepoch import state_to_json

    return state_to_json(state)


def inspected(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Return the status of the command and its output, on one line."""
    status, text = _printed(capsys, *arguments)
    return status, " ".join(text.split())


def transcript(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the command, its output and its status."""
    status, text = _printed(capsys, *arguments)
    # The words of an error of torch's differ from version to version.
    text = re.sub(r"\(\w+Error: .*\)$", "(...)", text, flags=re.MULTILINE)
    return f"$ midepoch inspect {' '.join(arguments)}\n{text}[{status}]\n"


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(["inspect", *arguments])
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return status, printed.out + printed.err


Golden = Callable[[str, str], None]

PLANS: list[tuple[int, dict[str, Any], int]] = [
    (20, {"batch_size": 4}, 0),
    (20, {"batch_size": 7}, 2),
    (20, {"batch_size": 7}, 3),
    (20, {"batch_size": 7, "drop_last": True}, 2),
    (20, {"batch_size": None}, 19),
    (9000, {"batch_size": 5000}, 0),
]


def test_valid_states_look_as_they_did(capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    """A state of each plan, with the batch that comes next; a stream; states in a checkpoint."""
    from midepoch import StatefulDataLoader

    state, stream = a_state()[0], a_stream_state()
    for number, (n, options, drained) in enumerate(PLANS, start=1):
        loader = StatefulDataLoader(Numbers(n), seed=7, **options)
        batches = iter(loader)
        for _ in range(drained):
            next(batches)
        Path(f"plan{number}.json").write_bytes(in_json(loader.state_dict()))
    torch.save(state, "state.pt")
    torch.save(stream, "stream.pt")
    lanes = StatefulDataLoader(Stream(), batch_size=2, lanes=40, seed=7).state_dict()
    torch.save(lanes, "lanes.pt")
    no_json = a_stream_state()
    no_json["lanes"]["entries"][0]["dataset"] = {"dtype": torch.float32}
    torch.save(no_json, "no_json.pt")
    content = {"model": {"w": torch.zeros(3)}, "data": {"train": state, "more": [stream]}, "e": 1}
    torch.save(content, "checkpoint.pt")
    names = [*(f"plan{n}.json" for n in range(1, len(PLANS) + 1))]
    names += ["state.pt", "stream.pt", "lanes.pt", "no_json.pt", "checkpoint.pt"]
    commands = [(name,) for name in names]
    keys = [("checkpoint.pt", "--key", key) for key in ("data.more", "data.evil")]
    golden("inspect-valid.txt", "\n".join(transcript(capsys, *c) for c in (*commands, *keys)))


def test_a_state_has_the_same_form_in_json_and_of_torch(
    capsys: pytest.CaptureFixture[str],
) -> None:
    state, third = a_state()
    torch.save(state, "state.pt")
    Path("state.json").write_bytes(in_json(state))
    (one, of_torch), (other, of_json) = (
        inspected(capsys, f"state.{name}") for name in ("pt", "json")
    )
    assert one == other == 0
    assert of_torch.replace("state.pt", "state.json") == of_json
    assert f"next samples {', '.join(map(str, third))}" in of_json


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


def test_a_key_may_hold_dots_and_the_rest_of_a_json_file_anything(
    capsys: pytest.CaptureFixture[str],
) -> None:
    state = json.loads(in_json(a_state()[0]))
    content = {"trainer.v1": {"loader": state}, "loss": float("nan"), "$ref": 2**70}
    Path("checkpoint.json").write_text(json.dumps(content, indent=1))
    status, text = inspected(capsys, "checkpoint.json", "--key", "trainer.v1.loader")
    assert (status, "at trainer.v1.loader: valid" in text) == (0, True), text


def test_a_key_with_a_typo_gets_the_place_of_a_state(capsys: pytest.CaptureFixture[str]) -> None:
    content = {"trainer": {"loader": json.loads(in_json(a_state()[0]))}, "step": 3}
    Path("checkpoint.json").write_text(json.dumps(content))
    for key, hint in (("trainer.loder", "did you mean 'trainer.loader'?"), ("x", "its states: ")):
        assert main(["inspect", "checkpoint.json", "--key", key]) == 2
        assert hint in " ".join(capsys.readouterr().err.split())


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


FAULTS: list[tuple[str, object]] = [
    ("position.batches", 99),
    ("position.batches", "2"),
    ("plan.tail", ...),
    ("plan.colour", "red"),
    ("version", 2),
    ("format", ...),
    ("format", "other"),
    ("plan.seed", float("nan")),
]


def test_faulty_states_look_as_they_did(capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    commands = []
    for number, (path, value) in enumerate(FAULTS, start=1):
        state = edited(path, value)
        name = f"{number}-{path}"
        Path(f"{name}.json").write_text(json.dumps(state))
        torch.save(state, f"{name}.pt")
        commands += [f"{name}.json", f"{name}.pt"]
    plain = json.dumps(edited("plan.seed", 7))
    twice = plain.replace('"seed": 7', '"seed": 7, "seed": 8')
    Path("twice.json").write_text(f'{{"loader": {twice}}}')
    found = [transcript(capsys, name) for name in (*commands, "twice.json")]
    assert all(text.endswith("[1]\n") for text in found)
    golden("inspect-invalid.txt", "\n".join(found))


@pytest.mark.parametrize("vector", published.vectors("invalid"), ids=lambda v: str(v.name))
def test_no_published_invalid_state_is_called_valid(
    vector: published.Vector, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("state.json").write_text(vector.text, encoding="utf-8")
    status, text = inspected(capsys, "state.json")
    if vector.error == "PlanMismatchError":  # well-formed, and wrong for its loader alone
        assert status == 0, text
    else:
        assert status == 1 or "midepoch state" in text, text


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


FILES = [
    ("nothing.pt", write_nothing),
    ("cut.pt", write_torch_cut),
    ("cut.json", write_json_cut),
    ("code.pt", write_code),
    ("pickle.pt", write_pickle),
    ("pickle.json", write_pickle),
    ("torchdata.pt", write_torchdata),
    ("torchdata_workers.pt", write_torchdata_workers),
    ("model.pt", write_model),
    ("deep.json", write_deep),
    ("bytes.json", write_bytes),
    ("bytes.pt", write_bytes),
]


def test_files_without_a_state_look_as_they_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    for name, write in FILES:
        write(tmp_path / name)
    names = [*(name for name, _ in FILES), "none.pt", "."]
    found = [transcript(capsys, name) for name in names]
    assert all(text.endswith("[2]\n") for text in found)
    assert not any("this must never run" in text for text in found)
    golden("inspect-refused.txt", "\n".join(found))


def test_a_states_own_texts_move_no_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    state = a_stream_state()
    state["lanes"]["entries"][0]["dataset"] = {"\x1b[2Jgone": 1}
    torch.save({"\x1b[2J": state}, "state.pt")
    status, text = inspected(capsys, "state.pt")
    assert (status, "\x1b" in text, "\\x1b[2J" in text) == (0, False, True), text


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
