"""The published vectors against the second implementation, which knows the pages alone."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import second
import second_loader
import torch
from resume_datasets import dataset_of, samplers_of
from second_samplers import ReplayMismatchError

VECTORS = Path(__file__).resolve().parent.parent / "vectors"
WHOLE = 70_000  # whole permutations up to this size are computed under every key, else under one


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


FOLDERS = ["order", "seeds", "epochs", "canonical", "digests", "invalid", "resumes", "users"]
FOLDERS += ["mismatches", "ranks"]  # those of ranks: test_rank_vectors.py
PARTS = [("order/*.json", "orders"), ("order/*.json", "values"), ("seeds/*.json", "derivations")]
PARTS += [("seeds/*.json", "streams"), ("canonical/*.json", "values")]
PARTS += [
    ("canonical/*.json", "refused"),
    ("canonical/*.json", "repeated"),
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
            outputs = islice(second.pcg64(*second.seed_sequence(words[3] >> 1)), 4)
            assert [str(output) for output in outputs] == one["private_numpy"]


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


@pytest.mark.parametrize("file", files("canonical/*.json", "repeated"))
def test_repeated(file: dict[str, Any]) -> None:
    for one in file["repeated"]:
        text = (one["before"] + one["digit"] * one["times"] + one["after"]).encode("ascii")
        assert hashlib.sha256(text).hexdigest() == one["sha256"]
        if one["decoded"]:
            value = second.decode(text)
            assert second.encode(value) == text
            with pytest.raises(second.StateEncodingError):
                second.encode(value * 10)
        else:
            with pytest.raises(second.StateFormatError):
                second.decode(text)


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


RULES = json.loads((VECTORS.parent / "rules.json").read_text(encoding="utf-8"))["rules"]
PINNED = [(rule["id"], name) for rule in RULES for name in rule["vectors"]]
BROKEN = [(rule, name) for rule, name in PINNED if name.startswith("invalid/")]


@pytest.mark.parametrize("name", dict.fromkeys(name for _, name in BROKEN))
def test_an_invalid_state_breaks_the_rule_that_it_is_said_to_pin(name: str) -> None:
    """Rules of validity only: the others are about the form of the document or about plans."""
    file = json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))
    with pytest.raises(ValueError, match=r"\S") as refusal:
        second.validate(decoded(file["state"]), decoded(file["plan"]))
    named = re.findall(r"VAL-[0-9]+", str(refusal.value))
    pinned = [one for one, vector in BROKEN if vector == name and one.startswith("VAL")]
    assert named == pinned


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


def test_generators_of_the_page() -> None:
    assert (
        second.randperm(9, second.twister(5))
        == torch.randperm(9, generator=torch.Generator().manual_seed(5)).tolist()
    )
    generator = np.random.default_rng(5)
    state = generator.bit_generator.state["state"]
    numbers = islice(second.pcg64(state["state"], state["inc"]), 9)
    assert [(x >> 11) * 2.0**-53 for x in numbers] == [generator.random() for _ in range(9)]
    assert second.seed_sequence(5) == (state["state"], state["inc"])


@pytest.mark.parametrize("file", files("resumes/*.json") + files("users/*.json"))
def test_resume(file: dict[str, Any]) -> None:
    assert continue_run(file) == file["epochs"]


@pytest.mark.parametrize("file", files("mismatches/*.json"))
def test_mismatch(file: dict[str, Any]) -> None:
    assert file["error"] == "ReplayMismatchError"
    with pytest.raises(ReplayMismatchError):
        continue_run(file)


def same(value: Any) -> Any:
    return value


def continue_run(file: dict[str, Any]) -> list[Any]:
    """Return the epochs that the second loader gives for a vector."""
    plan, samplers = decoded(file["plan"]), samplers_of(file["dataset"])
    batched = plan["batch_size"] is not None or "batch_sampler" in samplers
    loader = second_loader.Loader(
        dataset_of(file["dataset"]),
        decoded(file["state"]),
        plan,
        **samplers,
        collate=list if batched else same,
        known_by=list if "check" in file["loader"] else None,
    )
    return [taken(epoch) for epoch in islice(loader.epochs(), len(file.get("epochs", "0")))]


def taken(epoch: Iterator[Any]) -> list[Any]:
    """Take batches; null stands for one that raised."""
    found: list[Any] = []
    while True:
        try:
            found.append(next(epoch))
        except StopIteration:
            return found
        except OSError:
            found.append(None)
