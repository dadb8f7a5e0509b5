"""The published vectors hold for the reference implementation, and are well-made."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import json
import random
from typing import Any

import invalid_states
import jsonschema
import numpy as np
import pytest
import requirement_index
import resume_runs
import torch
from resume_datasets import Cursor, Map, Permuted, Reversed
from vector_files import VECTORS, dump, each, load

import midepoch.errors
from midepoch import StatefulDataLoader
from midepoch.encoding import canonical
from midepoch.encoding.canonical import chain_digest
from midepoch.errors import PlanMismatchError, StateError, StateFormatError
from midepoch.format.permutation import Permutation, mix64
from midepoch.format.plan import Plan, compare
from midepoch.format.seeds import derive, derive_words
from midepoch.format.state import Document
from midepoch.lane.batch_info import BatchInfo

IDS = {entry["id"] for entry in json.loads(requirement_index.INDEX.read_text())["requirements"]}
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((requirement_index.SPEC / "schema" / "state-1.schema.json").read_text())
)
LARGEST_HASHED_HERE = 10**5  # beyond it one key is enough


def vectors(*folders: str) -> pytest.MarkDecorator:
    found = [one for folder in folders for one in each(folder)]
    assert found, f"no vectors in {folders}"
    return pytest.mark.parametrize(
        ("name", "vector"), found, ids=[name.rsplit("/", 1)[-1] for name, _ in found]
    )


def test_every_vector_names_a_requirement_and_is_written_in_one_form() -> None:
    for path in VECTORS.rglob("*.json"):
        vector = load(path)
        assert vector["requirement"] in IDS, path
        assert vector["description"], path
        assert path.read_text(encoding="ascii") == dump(vector), path


@vectors("order")
def test_order(name: str, vector: dict[str, Any]) -> None:
    if "values" in vector:
        for pair in vector["values"]:
            assert mix64(int(pair["x"])) == int(pair["mix64"])
        return
    n = int(vector["n"])
    for index, order in enumerate(vector["orders"]):
        permutation = Permutation(n, int(order["key"]))
        if "elements" in order:
            elements = list(map(int, order["elements"]))
            assert sorted(elements) == list(range(n))
            assert permutation.indices(0, n) == elements
        for part in order.get("at", []):
            elements = list(map(int, part["elements"]))
            start = int(part["position"])
            assert permutation.indices(start, start + len(elements)) == elements
            assert all(0 <= element < n for element in elements)
        if "sha256" in order and (n <= LARGEST_HASHED_HERE or index == 0):
            lines = "".join(f"{element}\n" for element in permutation.iterate())
            assert hashlib.sha256(lines.encode("ascii")).hexdigest() == order["sha256"]


def test_the_order_vectors_reach_the_edges() -> None:
    sizes = {int(vector["n"]) for _, vector in each("order") if "n" in vector}
    assert {0, 1, 2, 4096, 4097, 2**32 - 1, 2**63 - 1} <= sizes


@vectors("seeds")
def test_seeds(name: str, vector: dict[str, Any]) -> None:
    for place in vector.get("derivations", []) + vector.get("streams", []):
        arguments = (int(place["root"]), place["purpose"], *map(int, place["numbers"]))
        w = derive_words(*arguments)
        expected = list(map(int, place["words"]))
        w0, w1, w2, w3 = expected
        assert list(w) == [w0 >> 1, w1, w2 >> 32, w3 >> 1]
        assert derive(*arguments) == expected[0]
    for place in vector.get("streams", []):
        assert draws(*map(int, place["words"])) == (
            place["torch"],
            place["python"],
            place["numpy"],
        )
        info = BatchInfo(0, 0, 0, int(place["words"][3]) >> 1)
        raw = info.numpy.bit_generator.random_raw(4)
        assert [str(word) for word in raw] == place["private_numpy"]
        own = torch.rand(4, dtype=torch.float64, generator=info.torch)
        assert own.tolist() == place["private_torch"]


def draws(w0: int, w1: int, w2: int, w3: int) -> tuple[list[float], ...]:
    generator = torch.Generator().manual_seed(w0 >> 1)
    python = random.Random(w1)
    legacy = np.random.RandomState(w2 >> 32)
    return (
        torch.rand(4, dtype=torch.float64, generator=generator).tolist(),
        [python.random() for _ in range(4)],
        legacy.random_sample(4).tolist(),
    )


@vectors("epochs")
def test_epochs(name: str, vector: dict[str, Any]) -> None:
    root, length, size = int(vector["root"]), int(vector["length"]), vector["batch_size"]
    for epoch in vector["epochs"]:
        assert derive(root, "order", epoch["epoch"]) == int(epoch["key"])
        order = Permutation(length, int(epoch["key"]))
        whole = length // size if vector["tail"] == "drop" else -(-length // size)
        assert whole == int(epoch["count"])
        for i, batch in enumerate(epoch["batches"]):
            expected = order.indices(i * size, min((i + 1) * size, length))
            assert list(map(int, batch)) == expected


def encodings() -> list[Any]:
    return [
        pytest.param(value, id=f"{name.split('/')[1]}-{i}")
        for name, vector in each("canonical")
        for i, value in enumerate(vector.get("values", []))
    ]


@pytest.mark.parametrize("vector", encodings())
def test_canonical_encodings(vector: dict[str, str]) -> None:
    data = vector["canonical"].encode("utf-8")
    assert hashlib.sha256(data).hexdigest() == vector["sha256"]
    assert canonical.dumps(canonical.loads(data)) == data
    if "python" in vector:
        value = ast.literal_eval(vector["python"])
        assert canonical.dumps(value) == data
        back = canonical.loads(data)
        assert back == value
        assert type(back) is type(value)


def refusals() -> list[Any]:
    vector = load(VECTORS / "canonical" / "refused.json")
    return [pytest.param(case, id=case["fault"].replace(" ", "-")) for case in vector["refused"]]


@pytest.mark.parametrize("case", refusals())
def test_canonical_refusals(case: dict[str, str]) -> None:
    given = bytes.fromhex(case["hex"]) if "hex" in case else case["text"].encode("utf-8")
    with pytest.raises(StateFormatError):
        canonical.loads(given)


def test_the_longest_integers() -> None:
    vector = load(VECTORS / "canonical" / "limits.json")
    for case in vector["repeated"]:
        data = (case["before"] + case["digit"] * case["times"] + case["after"]).encode("ascii")
        assert hashlib.sha256(data).hexdigest() == case["sha256"]
        if case["decoded"]:
            value = canonical.loads(data)
            assert canonical.dumps(value) == data
            with pytest.raises(midepoch.errors.StateEncodingError):
                canonical.dumps(value * 10)
        else:
            with pytest.raises(StateFormatError):
                canonical.loads(data)


@vectors("digests")
def test_digests(name: str, vector: dict[str, Any]) -> None:
    for chain in vector["chains"]:
        digest = vector["start"]
        for step in chain["steps"]:
            if "opaque" in step:
                gave: Any = type("Other", (), {"__qualname__": step["opaque"]})()
                if step["opaque"] in ("list", "tuple"):
                    gave = {"list": [object()], "tuple": (object(),)}[step["opaque"]]
            else:
                gave = canonical.loads(step.get("canonical", "null"))
            digest = chain_digest(digest, gave)
            assert digest == step["digest"]


def state_of(vector: dict[str, Any]) -> Any:
    return canonical.loads(json.dumps(vector["state"]).encode("utf-8"))


def plan_of(vector: dict[str, Any]) -> Plan:
    fields = canonical.loads(json.dumps(vector["plan"]).encode("utf-8"))
    return Plan(**{**fields, "seed": int(fields["seed"])})


def refuse(state: Any, here: Plan) -> None:
    """Raise what a load into a loader of plan ``here`` raises, all of it given explicitly."""
    differing = compare(Document.from_dict(state).plan, here)
    if differing:
        raise PlanMismatchError(differing)


@vectors("invalid")
def test_invalid_states(name: str, vector: dict[str, Any]) -> None:
    expected: type[StateError] = getattr(midepoch.errors, vector["error"])
    with pytest.raises(StateError) as caught:
        refuse(state_of(vector), plan_of(vector))
    assert type(caught.value) is expected
    assert str(caught.value)
    if isinstance(caught.value, PlanMismatchError):
        assert [field for field, _, _ in caught.value.fields] == vector["fields"]


def loader_of(plan: Plan) -> StatefulDataLoader[Any]:
    """Return a loader of this plan, as far as its arguments say it."""
    length = 10 if plan.length is None else plan.length
    samplers = {"Reversed": Reversed, "Permuted": Permuted}
    stateful = plan.dataset == "iterable"
    return StatefulDataLoader(
        Cursor(length, draws=False) if stateful else Map(length, draws=False),
        batch_size=plan.batch_size,
        shuffle=True if plan.sampler == "shuffle" else None,
        sampler=samplers[plan.sampler_name](length) if plan.sampler_name else None,
        drop_last=plan.tail == "drop",
        lanes=plan.lanes,
        seed=plan.seed,
        data_id=plan.data,
        collate_fn=list,
    )


@vectors("invalid")
def test_the_loader_refuses_and_is_as_it_was(name: str, vector: dict[str, Any]) -> None:
    loader = loader_of(plan_of(vector))
    iterator = iter(loader)
    first = next(iterator, None)
    before = canonical.dumps(loader.state_dict())
    with pytest.raises(StateError) as caught:
        loader.load_state_dict(state_of(vector))
    assert type(caught.value).__name__ == vector["error"]
    assert canonical.dumps(loader.state_dict()) == before
    rest = list(iterator)
    assert [first, *rest] == list(loader_of(plan_of(vector)))


def test_the_states_behind_the_invalid_ones_are_valid() -> None:
    for state in invalid_states.BASES.values():
        document = Document.from_dict(state)
        assert document.to_dict() == state


def test_there_are_enough_invalid_states_of_each_error() -> None:
    errors = [vector["error"] for _, vector in each("invalid")]
    assert len(errors) >= 30
    for error in ("StateFormatError", "StateVersionError", "PlanMismatchError"):
        assert errors.count(error) >= 3, error


@vectors("resumes", "users")
def test_resumes(name: str, vector: dict[str, Any]) -> None:
    assert resume_runs.continue_run(vector) == vector["epochs"]


@vectors("resumes", "users")
def test_resumed_states_are_documents(name: str, vector: dict[str, Any]) -> None:
    state = state_of(vector)
    document = Document.from_dict(state)
    assert document.to_dict() == {key: state[key] for key in state if not key.startswith("x-")}
    adopted = dataclasses.replace(plan_of(vector), lifetime=document.plan.lifetime)
    assert compare(document.plan, adopted) == []
    SCHEMA.validate(vector["state"])


@vectors("mismatches")
def test_mismatches(name: str, vector: dict[str, Any]) -> None:
    expected: type[Exception] = getattr(midepoch.errors, vector["error"])
    with pytest.raises(expected):
        resume_runs.continue_run(vector)


@pytest.mark.parametrize("name", ["map-draws", "stream-draws-lanes", "cursor-lanes-interval"])
def test_resumes_hold_with_workers(name: str) -> None:
    vector = load(VECTORS / "resumes" / f"{name}.json")
    assert resume_runs.continue_run(vector, workers=2) == vector["epochs"]
