"""Documents with one fault each: DOC-1, DOC-7, DOC-8, DOC-17, REFUSE-1."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest
from state_documents import (
    BASES,
    CUSTOM,
    GONE,
    ITERABLE,
    KEYS,
    RECORDS,
    Where,
    altered,
    schema_accepts,
    state,
)

from midepoch.encoding import canonical
from midepoch.errors import StateError, StateFormatError, StateVersionError
from midepoch.format.state import (
    COUNT_MAX,
    EPOCH_MAX,
    NESTING_MAX,
    SAMPLER_SLOTS,
    Document,
)


class Text(str):
    __slots__ = ()


LANE: dict[str, Any] = {
    "dataset": None,
    "iterator": None,
    "stated": [],
    "ended": False,
    "errors": [],
    "content": None,
}
UNSTATED: dict[str, Any] = {"states": dict.fromkeys(SAMPLER_SLOTS), "stated": []}

# Faults that the schema sees as well as the loader.
FAULTS: list[tuple[str, Where, object]] = [
    *((base, where, GONE) for base, where in KEYS),
    *((base, where, None) for base, where in dict.fromkeys(RECORDS)),
    ("map", ("xnote",), 1),
    ("map", ("X-note",), 1),
    ("map", ("plan", "x-note"), 1),
    ("map", ("format",), "midepoch"),
    ("map", ("format",), None),
    ("map", ("version",), 0),
    ("map", ("version",), 2),
    ("map", ("version",), "1"),
    ("map", ("version",), True),
    ("map", ("plan",), None),
    ("map", ("plan",), []),
    ("map", ("plan", "dataset"), "Map"),
    ("map", ("plan", "dataset"), "iterable"),
    ("map", ("plan", "dataset"), None),
    ("map", ("plan", "dataset"), 1),
    ("map", ("plan", "length"), None),
    ("map", ("plan", "length"), -1),
    ("map", ("plan", "length"), 100.5),
    ("map", ("plan", "length"), True),
    ("map", ("plan", "length"), 2**53),
    ("map", ("plan", "length"), 10**5000),
    ("map", ("plan", "length"), "100"),
    ("map", ("plan", "length"), float("nan")),
    ("map", ("plan", "sampler"), "random"),
    ("map", ("plan", "sampler"), "none"),
    ("map", ("plan", "sampler"), "custom"),
    ("map", ("plan", "sampler"), ["shuffle"]),
    ("map", ("plan", "sampler_name"), "m.S"),
    ("map", ("plan", "seed"), "-1"),
    ("map", ("plan", "seed"), "+1"),
    ("map", ("plan", "seed"), "01"),
    ("map", ("plan", "seed"), ""),
    ("map", ("plan", "seed"), "٣"),
    ("map", ("plan", "seed"), "7\n"),
    ("map", ("plan", "seed"), str(2**64)),
    ("map", ("plan", "seed"), 7),
    ("map", ("plan", "seed"), True),
    ("map", ("plan", "seed"), None),
    ("map", ("plan", "seed"), (7,)),
    ("map", ("plan", "batch_size"), 0),
    ("map", ("plan", "batch_size"), -8),
    ("map", ("plan", "batch_size"), False),
    ("map", ("plan", "tail"), "wrap"),
    ("map", ("plan", "tail"), None),
    ("map", ("plan", "lanes"), -1),
    ("map", ("plan", "lanes"), None),
    ("map", ("plan", "lanes"), 65536),
    ("map", ("plan", "lanes"), 2**60),
    ("map", ("plan", "lifetime"), "forever"),
    ("map", ("plan", "data"), 1),
    ("map", ("plan", "options"), []),
    ("map", ("plan", "options"), {"a": 1}),
    ("map", ("plan", "options"), {"$a": "b"}),
    ("map", ("plan", "options"), {1: "b"}),
    ("map", ("position", "share"), {"rank": 0, "world": 2}),
    ("iterable", ("position", "share"), [0, 2]),
    ("iterable", ("position", "share"), {"rank": 0}),
    ("iterable", ("position", "share"), {"rank": 0, "world": 0}),
    ("iterable", ("position", "share"), {"rank": -1, "world": 2}),
    ("map", ("position",), [1, 3, 24]),
    ("map", ("position", "epoch"), -1),
    ("map", ("position", "epoch"), "1"),
    ("map", ("position", "batches"), -1),
    ("map", ("position", "batches"), None),
    ("map", ("position", "samples"), -1),
    ("map", ("position", "epoch"), EPOCH_MAX + 1),
    ("map", ("position", "samples"), 2**53),
    ("map", ("position", "digest"), "0" * 64),
    ("map", ("sampler",), state(CUSTOM)["sampler"]),
    ("map", ("sampler",), {}),
    ("map", ("lanes",), {}),
    ("map", ("lanes",), False),
    ("iterable", ("lanes",), None),
    ("iterable", ("lanes", "entries"), []),
    ("iterable", ("lanes", "entries"), {}),
    ("iterable", ("lanes", "next"), -1),
    ("iterable", ("lanes", "next"), None),
    ("iterable", ("lanes", "entries", 0), None),
    ("iterable", ("lanes", "entries", 0, "stated"), ["iterator"]),
    ("iterable", ("lanes", "entries", 0, "stated"), ["dataset", "dataset"]),
    ("iterable", ("lanes", "entries", 0, "stated"), ["dataset", "sampler"]),
    ("iterable", ("lanes", "entries", 0, "stated"), "dataset"),
    ("iterable", ("lanes", "entries", 1), {**LANE, "ordinal": 1, "replay": 2}),
    ("stateful", ("lanes", "entries", 1), {**LANE, "ordinal": 1, "replay": 0}),
    ("iterable", ("lanes", "entries", 0, "ordinal"), -1),
    ("iterable", ("lanes", "entries", 0, "ordinal"), -(2**53)),
    ("iterable", ("lanes", "entries", 0, "ordinal"), None),
    ("stateful", ("lanes", "entries", 1, "ordinal"), 1),
    ("stateful", ("lanes", "entries", 1, "ordinal"), -1),
    ("stateful", ("lanes", "entries", 1, "ended"), True),
    ("iterable", ("lanes", "entries", 0, "ended"), 0),
    ("iterable", ("lanes", "entries", 0, "ended"), None),
    ("iterable", ("lanes", "entries", 0, "replay"), -1),
    ("iterable", ("plan", "tail"), "rollover"),
    ("iterable", ("plan", "batch_size"), None),
    ("iterable", ("plan", "length"), 10),
    ("iterable", ("plan", "sampler"), "sequential"),
    ("iterable", ("plan", "dataset"), "map"),
    ("custom", ("plan", "sampler_name"), None),
    ("custom", ("plan", "length"), 100),
    ("custom", ("position", "digest"), None),
    ("custom", ("position", "digest"), "0" * 63),
    ("custom", ("position", "digest"), "A" * 64),
    ("custom", ("position", "digest"), b"0" * 64),
    ("custom", ("sampler",), None),
    ("custom", ("sampler", "epoch"), 1.5),
    ("custom", ("sampler", "epoch"), True),
    ("custom", ("sampler", "epoch"), 2**53),
    ("custom", ("sampler", "epoch"), -(2**53)),
    ("custom", ("sampler", "generators"), None),
    ("custom", ("sampler", "generators", 0, "kind"), "jax"),
    ("custom", ("sampler", "generators", 0, "path"), 0),
    ("custom", ("sampler", "generators", 0, "path"), "\ud800"),
    ("custom", ("sampler", "generators", 0, "state"), (1, 2)),
    ("custom", ("sampler", "generators", 0, "state"), [{"a": [b"x"]}]),
    ("custom", ("sampler", "generators", 0, "state"), {"a": {1: 2}}),
    ("custom", ("sampler", "generators", 0, "state"), {"$int": "5"}),
    ("custom", ("sampler", "generators", 0, "state"), [1, float("inf")]),
    ("custom", ("sampler", "generators", 0, "state"), ["\ud800"]),
    ("custom", ("sampler", "generators", 0, "state"), {"\ud800": 1}),
    ("custom", ("sampler", "generators", 0, "state"), OrderedDict(a=1)),
    ("custom", ("sampler", "states"), []),
    ("custom", ("sampler", "states", "batch_sampler"), 0),
    ("custom", ("sampler", "stated"), []),
    ("custom", ("sampler",), {**state(CUSTOM)["sampler"], **UNSTATED, "batches": 2}),
    ("custom", ("sampler",), {**state(CUSTOM)["sampler"], **UNSTATED, "batches": 1}),
    ("custom", ("sampler", "stated"), None),
    ("custom", ("sampler", "batches"), -(2**53)),
    ("custom", ("sampler", "batches"), None),
    ("custom", ("sampler", "batches"), False),
    ("custom", ("sampler", "digest"), None),
    ("custom", ("sampler", "digest"), "1" * 63),
    ("custom", ("sampler",), {**state(CUSTOM)["sampler"], "batches": 0}),
    ("iterable", ("lanes", "entries", 0, "errors"), None),
    ("iterable", ("lanes", "entries", 0, "errors"), [-1]),
    ("iterable", ("lanes", "entries", 0, "errors"), [0, 0]),
]

# Faults across fields, and of type, that JSON Schema has no words for.
BEYOND_THE_SCHEMA: list[tuple[str, Where, object]] = [
    ("map", ("plan", "lanes"), 2.0),
    ("map", ("position", "epoch"), 1.0),
    ("map", ("version",), 1.0),
    ("map", ("position", "batches"), 14),
    ("map", ("position", "batches"), COUNT_MAX),
    ("map", ("position", "samples"), 25),
    ("map", ("position", "samples"), 23),
    ("map", ("plan", "length"), 16),
    ("map", ("plan", "batch_size"), 7),
    ("iterable", ("position", "samples"), 33),
    ("iterable", ("position", "batches"), 0),
    ("iterable", ("position", "batches"), 5),
    ("iterable", ("lanes", "entries", 1, "ordinal"), 1),
    ("iterable", ("lanes", "entries", 1, "ordinal"), 3),
    ("iterable", ("lanes", "entries", 1, "replay"), 0),
    ("stateful", ("lanes", "next"), 0),
    ("stateful", ("lanes", "next"), 2),
    ("stateful", ("lanes", "entries", 0, "replay"), 1),
    ("stateful", ("lanes", "entries", 2, "replay"), 2),
    ("stateful", ("plan", "lanes"), 2),
    ("iterable", ("lanes", "entries"), state(ITERABLE)["lanes"]["entries"][:1]),
    ("iterable", ("lanes", "entries"), state(ITERABLE)["lanes"]["entries"] * 2),
    ("iterable", ("lanes", "next"), 2),
    ("iterable", ("plan", "lanes"), 3),
    ("custom", ("sampler", "batches"), 4),
    ("custom", ("sampler", "batches"), 3),
    ("custom", ("position", "share"), {"rank": 2, "world": 2}),
    ("iterable", ("lanes", "entries", 0, "errors"), [1]),
    ("iterable", ("lanes", "entries", 0), {**LANE, "replay": 1, "ordinal": 0, "errors": [1, 0]}),
    ("custom", ("sampler", "generators", 0, "path"), "g"),
]


def name(fault: tuple[str, Where, object]) -> str:
    base, where, value = fault
    text = "gone" if value is GONE else type(value).__name__
    return "-".join([base, *map(str, where), text])


@pytest.mark.parametrize("base", BASES)
def test_the_unaltered_documents_are_accepted(base: str) -> None:
    assert schema_accepts(state(BASES[base]))
    assert Document.from_dict(state(BASES[base])).to_dict() == state(BASES[base])


@pytest.mark.parametrize("fault", FAULTS, ids=name)
def test_a_single_fault_is_refused_by_schema_and_loader(fault: tuple[str, Where, object]) -> None:
    tree = altered(*fault)
    assert not schema_accepts(tree)
    with pytest.raises(StateError) as caught:
        Document.from_dict(tree)
    assert len(str(caught.value)) > 20


@pytest.mark.parametrize("fault", BEYOND_THE_SCHEMA, ids=name)
def test_a_fault_that_no_schema_can_tell_is_refused(fault: tuple[str, Where, object]) -> None:
    with pytest.raises(StateFormatError):
        Document.from_dict(altered(*fault))


@pytest.mark.parametrize(
    ("fault", "path", "requirement"),
    [
        (("map", ("plan", "seed"), -1), "$.plan.seed", "DOC-1"),
        (("map", ("plan", "seed"), GONE), "$.plan", "DOC-1"),
        (("map", ("plan", "a b"), 1), "$.plan['a b']", "DOC-7"),
        (("map", ("note",), 1), "$.note", "DOC-7"),
        (("map", ("plan", "x-note"), 1), "$.plan.x-note", "DOC-7"),
        (("map", ("format",), "torch"), "$.format", "DOC-8"),
        (("map", ("format",), GONE), "$", "REFUSE-1"),
        (("iterable", ("lanes",), None), "$.lanes", "DOC-1"),
        (("iterable", ("lanes", "entries", 1, "ended"), 1), "$.lanes.entries[1].ended", "DOC-1"),
        (("iterable", ("lanes", "next"), 2), "$.lanes.next", "DOC-1"),
    ],
)
def test_the_error_names_the_place_and_the_requirement(
    fault: tuple[str, Where, object], path: str, requirement: str
) -> None:
    with pytest.raises(StateFormatError) as caught:
        Document.from_dict(altered(*fault))
    assert caught.value.path == path
    assert str(caught.value).endswith(f"[{requirement}]")


@pytest.mark.parametrize("kind", [list, dict])
def test_a_generators_state_is_nested_as_deep_as_its_encoding_can_be(kind: type) -> None:
    tree: Any = kind()
    for _ in range(NESTING_MAX - 5):
        tree = [tree] if kind is list else {"a": tree}
    where = ("sampler", "generators", 0, "state")
    whole = altered("custom", where, tree)
    assert Document.from_dict(whole).to_dict() == whole
    assert canonical.loads(canonical.dumps(whole)) == whole
    with pytest.raises(StateFormatError, match="within each other"):
        Document.from_dict(altered("custom", where, [tree]))


def test_a_generators_state_cannot_overflow_the_stack_or_take_forever() -> None:
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    shared: list[Any] = []
    for _ in range(5_000):  # with as many paths as two to that power
        shared = [shared, shared]
    for tree in (cyclic, shared):
        with pytest.raises(StateFormatError, match="within each other") as caught:
            Document.from_dict(altered("custom", ("sampler", "generators", 1, "state"), tree))
        assert caught.value.path == "$.sampler.generators[1].state"


@pytest.mark.parametrize("odd", [object(), Text("a"), {Text("a"): 1}, {b"a": 1}, [{None: 1}]])
def test_a_generators_state_is_of_exact_json_types(odd: object) -> None:
    with pytest.raises(StateFormatError):
        Document.from_dict(altered("custom", ("sampler", "generators", 0, "state"), odd))


@pytest.mark.parametrize("version", [2, 17, 10**30])
def test_another_version_is_told_as_such_even_if_all_else_is_foreign(version: int) -> None:
    with pytest.raises(StateVersionError, match="version 1"):
        Document.from_dict({"format": "midepoch.state", "version": version, "new": True})
