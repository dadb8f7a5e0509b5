"""The published vectors against the second implementation, which knows the pages alone."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
import second

VECTORS = Path(__file__).resolve().parent.parent / "vectors"
WHOLE = 70_000  # whole permutations up to this size are computed under every key, else under one
Batch = tuple[list[int], second.Words]


def files(folder: str, holding: str = "") -> list[Any]:
    """Give the files of a folder that have a key, as parameters named after them."""
    found = [(path, json.loads(path.read_text("ascii"))) for path in sorted(VECTORS.glob(folder))]
    return [
        pytest.param(file, id=path.stem) for path, file in found if not holding or holding in file
    ]


def decoded(tree: object) -> Any:
    """Decode what stands in a file in its canonical form."""
    return second.decode(second.dump(tree).encode("utf-8"))


def test_no_category_is_empty() -> None:
    counts = {folder: len(files(f"{folder}/*.json")) for folder in FOLDERS}
    assert all(counts.values()), counts
    assert len(list(VECTORS.rglob("*.json"))) == sum(counts.values())
    for folder, holding in PARTS:
        assert files(folder, holding), (folder, holding)


FOLDERS = ("order", "seeds", "epochs", "canonical", "digests", "invalid", "resumes")
PARTS = [("order/*.json", "orders"), ("order/*.json", "values"), ("seeds/*.json", "derivations")]
PARTS += [("seeds/*.json", "streams"), ("canonical/*.json", "values")]
PARTS += [
    ("canonical/*.json", "refused"),
    ("invalid/*.json", "error"),
    ("resumes/*.json", "epochs"),
]


@pytest.mark.parametrize("file", files("order/*.json", "values"))
def test_mixing(file: dict[str, Any]) -> None:
    for pair in file["values"]:
        assert second.mix64(int(pair["x"])) == int(pair["mix64"])


@pytest.mark.parametrize("file", files("order/*.json", "orders"))
def test_order(file: dict[str, Any]) -> None:
    n = int(file["n"])
    for number, order in enumerate(file["orders"]):
        element = second.permutation(n, int(order["key"]))
        stretches = order.get("at", [])
        if "elements" in order:
            assert len(order["elements"]) == n
            stretches = [*stretches, {"position": "0", "elements": order["elements"]}]
        for stretch in stretches:
            first = int(stretch["position"])
            positions = range(first, first + len(stretch["elements"]))
            assert [element(p) for p in positions] == [int(x) for x in stretch["elements"]]
        if "sha256" in order and (n <= WHOLE or number == 0):
            whole = "".join(f"{element(p)}\n" for p in range(n))
            assert hashlib.sha256(whole.encode("ascii")).hexdigest() == order["sha256"]


@pytest.mark.parametrize("file", files("seeds/*.json"))
def test_seeds(file: dict[str, Any]) -> None:
    for one in file.get("derivations", []) + file.get("streams", []):
        words = second.words(int(one["root"]), one["purpose"], *map(int, one["numbers"]))
        assert words == tuple(int(word) for word in one["words"])
        if "python" in one:
            random = Random(words[1])
            assert [random.random() for _ in one["python"]] == one["python"]
            for name, word in (("torch", words[0]), ("private_torch", words[3])):
                draw = second.twister(word >> 1)
                pairs = [(draw() << 32) + draw() for _ in one[name]]
                assert [(pair % 2**53) * 2.0**-53 for pair in pairs] == one[name]


@pytest.mark.parametrize("file", files("epochs/*.json"))
def test_epochs(file: dict[str, Any]) -> None:
    plan = {"length": int(file["length"]), "batch_size": file["batch_size"], "tail": file["tail"]}
    plan |= {"seed": file["root"], "sampler": "shuffle"}
    for epoch in file["epochs"]:
        number, expected = int(epoch["epoch"]), epoch["batches"]
        assert second.words(int(file["root"]), "order", number)[0] == int(epoch["key"])
        assert second.batch_count(plan) == int(epoch["count"])
        assert len(expected) in (3, int(epoch["count"]))
        batches = islice(second.follow(plan, number, 0), len(expected))
        assert [ids for ids, _ in batches] == [[int(x) for x in ids] for ids in expected]


@pytest.mark.parametrize("file", files("canonical/*.json", "values"))
def test_canonical(file: dict[str, Any]) -> None:
    for value in file["values"]:
        text = value["canonical"].encode("utf-8")
        assert hashlib.sha256(text).hexdigest() == value["sha256"]
        assert second.encode(second.decode(text)) == text
        if "python" in value:
            assert second.encode(ast.literal_eval(value["python"])) == text


@pytest.mark.parametrize("file", files("canonical/*.json", "refused"))
def test_refused(file: dict[str, Any]) -> None:
    for one in file["refused"]:
        text = bytes.fromhex(one["hex"]) if "hex" in one else one["text"].encode("utf-8")
        with pytest.raises(second.StateFormatError):
            pytest.fail(f"{one['fault']}: {second.decode(text)!r}")


@pytest.mark.parametrize("file", files("digests/*.json"))
def test_digests(file: dict[str, Any]) -> None:
    assert hashlib.sha256().hexdigest() == file["start"]
    for chain in file["chains"]:
        digest = file["start"]
        for step in chain["steps"]:
            text = step.get("canonical", "null").encode("utf-8")
            text = second.encode(second.by_value(second.decode(text)))
            if "opaque" in step:
                text = second.encode({"$opaque": step["opaque"]})
            digest = hashlib.sha256(bytes.fromhex(digest) + text).hexdigest()
            assert digest == step["digest"]


@pytest.mark.parametrize("file", files("invalid/*.json"))
def test_invalid(file: dict[str, Any]) -> None:
    plan = decoded(file["plan"])
    with pytest.raises(ValueError, match=r"\S") as refusal:
        second.validate(decoded(file["state"]), plan)
    assert type(refusal.value).__name__ == file["error"]
    if "fields" in file:
        assert list(refusal.value.args[0]) == file["fields"]


def stream(plan: dict[str, Any], length: int, epoch: int) -> Iterator[Batch]:
    """Deal the batches of an epoch of the iterable datasets that the vectors describe."""
    lanes, size = max(1, plan["lanes"]), plan["batch_size"] or 1
    ended, made, turn = [False] * lanes, [0] * lanes, 0
    while not all(ended):
        if not ended[turn]:
            rows = range(turn, length, lanes)[made[turn] * size : (made[turn] + 1) * size]
            ended[turn] = len(rows) < size
            if rows and (not ended[turn] or plan["tail"] == "keep"):
                seeds = (int(plan["seed"]), "batch.iterable", epoch, turn, made[turn])
                yield list(rows), second.words(*seeds)
            made[turn] += 1
        turn = (turn + 1) % lanes


def forward(plan: dict[str, Any], length: int) -> dict[str, Any]:
    """Return the plan of the order that goes from the first id to the last."""
    return {**plan, "length": length, "sampler": "sequential"}


def turned(ids: Iterable[int], length: int) -> tuple[int, ...]:
    return tuple(length - 1 - x for x in ids)


def reversed_batches(
    plan: dict[str, Any], length: int, epoch: int, carried: tuple[int, ...] = ()
) -> Iterator[Batch]:
    """Give the batches of the samplers that go from the last id to the first."""
    batches = second.follow(forward(plan, length), epoch, 0, turned(carried, length))
    return (([*turned(ids, length)], words) for ids, words in batches)


def sampled(
    sampler: str, state: dict[str, Any], length: int, epoch: int, carried: tuple[int, ...]
) -> Iterator[Batch]:
    """Give the batches of a vector's sampler."""
    plan = state["plan"]
    if sampler not in ("turned", "permuted", "spun"):
        return reversed_batches(plan, length, epoch, carried)
    order = [(i + 3 * epoch) % length for i in range(length)]
    if sampler == "permuted":
        seed = second.words(int(plan["seed"]), "sampler", epoch)[0] >> 1
        order = second.randperm(length, second.twister(seed))
    if sampler == "spun":
        [generator] = state["sampler"]["generators"]
        inner = generator["state"]["state"]
        passed = epoch - state["position"]["epoch"]
        draw = next(islice(second.pcg64(inner["state"], inner["inc"]), passed, None))
        order = [(int(length * draw) + i) % length for i in range(length)]
    batches = second.follow(forward(plan, length), epoch, 0, ())
    return (([order[i] for i in ids], words) for ids, words in batches)


def left_over(
    plan: dict[str, Any], length: int, epoch: int, carried: tuple[int, ...]
) -> tuple[int, ...]:
    """Give what an epoch of any of these orders carries into the next one."""
    if plan["tail"] != "rollover":
        return ()
    if plan["sampler"] != "custom":
        return second.left_over(plan, epoch, carried)
    return turned(second.left_over(forward(plan, length), epoch, turned(carried, length)), length)


def carried_into(state: dict[str, Any]) -> tuple[int, ...]:
    """Tell what the epoch of a position begins with."""
    left = state["sampler"] is not None and state["sampler"]["batches"] < 0
    return () if left else tuple(state["position"]["carried"] or ())


def tallies_at(state: dict[str, Any], length: int) -> list[int]:
    """Tell how many samples each lane's copy of a tallying dataset had made at the position."""
    entries, batch_size = state["lanes"]["entries"], state["plan"]["batch_size"]
    tallies = [entry["dataset"]["count"] if entry["stated"] else 0 for entry in entries]
    for lane, entry in enumerate(entries):
        for ordinal in range(entry["ordinal"], entry["ordinal"] + entry["replay"]):
            start = (ordinal * len(entries) + lane) * batch_size
            tallies[lane] += min(batch_size, length - start)
    return tallies


def digest(batches: list[list[int]]) -> str:
    chain = hashlib.sha256()
    for batch in batches:
        chain = hashlib.sha256(chain.digest() + second.encode(batch))
    return chain.hexdigest()


def test_worked_examples() -> None:
    assert [second.permutation(5, 0)(p) for p in range(5)] == [2, 3, 0, 1, 4]
    large = second.permutation(10007, 1)
    assert [large(p) for p in (0, 1, 2, 3, 4, 29)] == [9987, 4728, 7115, 7792, 4050, 2977]
    words = second.words(7, "batch.map", 2, 5)
    assert (words[0], words[1]) == (4592959449762576890, 17651984948780050961)
    assert Random(words[1]).random() == 0.639448550803967
    text = b'{"$dict":[["a",{"$tuple":[1,2.0]}],[3,null]]}'
    assert second.encode({"a": (1, 2.0), 3: None}) == text
    assert digest([]).startswith("e3b0c442")
    assert digest([[4, 2], [0]]).startswith("01dc32a1707d4c75c86d2a703cce71f4")


def test_documents_of_the_page() -> None:
    page = (VECTORS.parent / "state.md").read_text("utf-8")
    blocks = [block.split("```")[0] for block in page.split("```json\n")[1:]]
    assert len(blocks) == 2
    for block in blocks:
        state = decoded(json.loads(block))
        second.validate(state, state["plan"])


@pytest.mark.parametrize("file", files("resumes/*.json"))
def test_resume(file: dict[str, Any]) -> None:
    dataset, plan, state = file["dataset"], decoded(file["plan"]), decoded(file["state"])
    second.validate(state, plan)
    position = state["position"]
    saved, length, custom = state["plan"], dataset["length"], plan["sampler"] == "custom"
    tallies = tallies_at(state, length) if dataset["kind"] == "tally" else []
    carried, ahead = carried_into(state), position["ahead"]
    low = position["batches"] - len(ahead)
    for number, rows in enumerate(file["epochs"]):
        # Without automatic batching a batch is a row, and no list of rows.
        expected = rows if plan["batch_size"] else [[row] for row in rows]
        epoch, first = position["epoch"] + number, low if number == 0 else 0
        if plan["dataset"] == "map" and not custom:
            batches = second.follow(saved, epoch, first, carried)
        elif custom:
            drawn = sampled(dataset["sampler"], state, length, epoch, carried)
            batches = islice(drawn, first, None)
        else:
            batches = islice(stream(saved, length, epoch), first, None)
        carried = left_over(saved, length, epoch, carried)
        numbered = enumerate(batches, first)
        delivered = [batch for i, batch in numbered if number or i not in ahead]
        assert [ids for ids, _ in delivered] == [[row[0] for row in batch] for batch in expected]
        if dataset["draws"]:
            for (_, words), batch in zip(delivered, expected, strict=True):
                random = Random(words[1])
                assert [row[1] for row in batch] == [random.random() for _ in batch]
        if tallies:
            if number and saved["lifetime"] == "epoch":
                tallies = [0] * len(tallies)
            for index, batch in enumerate(expected, first):
                lane = index % len(tallies)
                assert [row[-1] for row in batch] == [tallies[lane] + i for i in range(len(batch))]
                tallies[lane] += len(batch)
    if custom:
        epoch = position["epoch"]
        whole = sampled(dataset["sampler"], state, length, epoch, carried_into(state))
        consumed = islice(whole, ahead[-1] + 1 if ahead else low)
        assert position["digest"] == digest([ids for ids, _ in consumed])
