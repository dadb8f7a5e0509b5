"""The state document: DOC-1 to DOC-4, DOC-7, DOC-8, REFUSE-1, and the published schema."""

from __future__ import annotations

import copy
import json
from collections import OrderedDict
from collections.abc import Callable
from importlib.resources import files
from itertools import pairwise
from typing import Any

import jsonschema
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from midepoch.errors import StateError, StateFormatError, StateVersionError
from midepoch.format import canonical
from midepoch.format.plan import Plan
from midepoch.format.seeds import ROOT_MAX
from midepoch.format.state import (
    COUNT_MAX,
    EPOCH_MAX,
    LANE_SLOTS,
    NESTING_MAX,
    SAMPLER_SLOTS,
    Document,
    GeneratorState,
    LaneEntry,
    LanesState,
    Position,
    SamplerState,
)

SCHEMA = json.loads((files("midepoch_spec") / "schema" / "state-1.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
thorough = examples(300)


class Text(str):
    __slots__ = ()


# ------------------------------------------------------------------ valid documents

counts = st.one_of(st.integers(0, 20), st.integers(0, COUNT_MAX), st.just(COUNT_MAX))
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=4)
)
plain = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(-1e9, 1e9), names),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=5,
)
users = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.text(max_size=3), st.integers()), inner, max_size=3),
    ),
    max_leaves=5,
)


def slots(keys: tuple[str, ...]) -> st.SearchStrategy[tuple[dict[str, Any], tuple[str, ...]]]:
    """Slots of users' values and the names of those that hold one."""
    values = st.fixed_dictionaries({}, optional=dict.fromkeys(keys, users))
    return values.map(lambda held: ({k: held.get(k) for k in keys}, tuple(held)))


@st.composite
def documents(draw: st.DrawFn) -> Document:
    kind = draw(st.sampled_from(["sequential", "shuffle", "custom", "none"]))
    iterable, custom = kind == "none", kind == "custom"
    length = None if iterable or custom else draw(counts)
    size = draw(st.one_of(st.none(), st.integers(1, 9), st.just(COUNT_MAX)))
    tails = (
        ["keep"] if size is None else ["keep", "drop"] if iterable else ["keep", "drop", "rollover"]
    )
    lanes = draw(st.integers(0, 4))
    plan = Plan(
        dataset="iterable" if iterable else "map",
        length=length,
        sampler=kind,  # type: ignore[arg-type]  # drawn from a list of the allowed words
        sampler_name=draw(names) if custom else None,
        seed=draw(st.integers(0, ROOT_MAX)),
        batch_size=size,
        tail=draw(st.sampled_from(tails)),
        lanes=lanes,
        lifetime=draw(st.sampled_from(["epoch", "run"])),
    )
    carried = None
    if plan.tail == "rollover":
        few = {"max_size": min(3, (size or 1) - 1)}
        indices = users if length is None else st.integers(0, max(0, length - 1))
        carried = tuple(draw(st.lists(indices, **few))) if length != 0 else ()
    whole = COUNT_MAX if length is None else min(length + len(carried or ()), COUNT_MAX)
    batches = draw(st.integers(0, whole // (size or 1)))
    samples = batches * (size or 1)
    if length is None:
        samples = draw(st.integers(0, samples))
    digest = draw(st.binary(min_size=32, max_size=32)).hex() if custom else None
    position = Position(min(draw(counts), EPOCH_MAX), batches, samples, digest, (), carried)
    stateful = iterable or draw(st.booleans())
    return Document(
        plan,
        position,
        draw(samplers(batches)) if custom else None,
        draw(lanes_states(plan, batches)) if stateful else None,
    )


@st.composite
def samplers(draw: st.DrawFn, batches: int) -> SamplerState:
    paths = draw(st.lists(names, unique=True, max_size=2))
    kinds = st.sampled_from(["torch", "numpy", "python"])
    generators = tuple(GeneratorState(path, draw(kinds), draw(plain)) for path in paths)  # type: ignore[arg-type]  # drawn from the allowed words
    states, stated = draw(slots(SAMPLER_SLOTS))
    epoch = draw(st.one_of(st.none(), st.integers(-COUNT_MAX, COUNT_MAX)))
    at = draw(st.integers(-COUNT_MAX, batches)) if stated else 0
    return SamplerState(epoch, generators, states, stated, at)


@st.composite
def lanes_states(draw: st.DrawFn, plan: Plan, batches: int) -> LanesState:
    count, iterable = max(1, plan.lanes), plan.dataset == "iterable"
    if iterable:
        cuts = sorted(
            draw(st.lists(st.integers(0, batches), min_size=count - 1, max_size=count - 1))
        )
        shares = [high - low for low, high in pairwise([0, *cuts, batches])]
        turn = draw(st.integers(0, count - 1))
    else:
        turns, turn = divmod(batches, count)
        shares = [turns + (i < turn) for i in range(count)]
    entries = []
    for share in shares:
        states, stated = draw(slots(LANE_SLOTS))
        low = -COUNT_MAX if iterable and plan.lifetime == "run" else 0
        ordinal = draw(st.integers(low, share)) if stated else 0
        ended = iterable and draw(st.booleans())
        replay = share - max(0, ordinal)
        entries.append(
            LaneEntry(**states, stated=stated, ordinal=ordinal, ended=ended, replay=replay)
        )
    return LanesState(turn, tuple(entries))


def canonical_json(tree: object) -> Any:
    """Return the plain JSON of the canonical encoding, which a schema checks."""
    return json.loads(canonical.dumps(tree))


def schema_accepts(tree: object) -> bool:
    return bool(VALIDATOR.is_valid(canonical_json(tree)))


def accepts(tree: object) -> bool:
    try:
        Document.from_dict(tree)
    except StateError:
        return False
    return True


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@thorough
@given(documents())
def test_documents_survive_dicts_and_json_and_fit_the_schema(document: Document) -> None:
    tree = document.to_dict()
    text = canonical.dumps(tree)
    VALIDATOR.validate(json.loads(text))
    again = Document.from_dict(canonical.loads(text))
    assert canonical.dumps(again.to_dict()) == text
    assert again.plan == document.plan
    assert again.position == document.position


def test_the_loaders_own_part_is_of_json_types() -> None:
    document = Document.from_dict(state(CUSTOM))
    assert json.loads(json.dumps(document.to_dict())) == document.to_dict()


def test_users_parts_are_carried_untouched() -> None:
    mine, tree = object(), state(ITERABLE)
    tree["lanes"]["entries"][1]["dataset"] = mine
    document = Document.from_dict(tree)
    assert document.lanes is not None
    assert document.lanes.entries[1].dataset is mine
    assert document.to_dict()["lanes"]["entries"][1]["dataset"] is mine


def test_the_dict_does_not_share_its_own_part() -> None:
    document = Document.from_dict(state(CUSTOM))
    before = canonical.dumps(document.to_dict())
    tree = document.to_dict()
    tree["plan"]["seed"] = -1
    tree["sampler"]["states"].clear()
    tree["sampler"]["stated"].append("x")
    tree["sampler"]["generators"][0]["path"] = ""
    assert canonical.dumps(document.to_dict()) == before


def test_ignorable_keys_are_dropped() -> None:
    tree = {**state(MAP), "x-note": {"$": 1}, "x-": None}
    assert schema_accepts(tree)
    assert Document.from_dict(tree).to_dict() == state(MAP)


# ------------------------------------------------------------------ single faults

MAP = Document(
    Plan("map", 100, "shuffle", None, 7, 8, "keep", 2, "epoch"), Position(1, 3, 24), None, None
)
CUSTOM = Document(
    Plan("map", None, "custom", "m.S", 7, 8, "keep", 0, "epoch"),
    Position(1, 3, 24, "0" * 64),
    SamplerState(
        4,
        (GeneratorState("sampler.generator", "python", [1]), GeneratorState("g", "torch", [2])),
        {**dict.fromkeys(SAMPLER_SLOTS), "sampler": {"i": 1}},
        ("sampler", "sampler_iter"),
        2,
    ),
    None,
)
ITERABLE = Document(
    Plan("iterable", None, "none", None, 7, 8, "drop", 2, "epoch"),
    Position(0, 4, 30),
    None,
    LanesState(
        1, tuple(LaneEntry({"i": n}, None, ("dataset", "iterator"), n, False, 1) for n in (0, 2))
    ),
)
STATEFUL = Document(
    Plan("map", 100, "sequential", None, 7, 8, "keep", 3, "run"),
    Position(0, 4, 32),
    None,
    LanesState(1, tuple(LaneEntry(None, None, (), 0, False, n) for n in (2, 1, 1))),
)
BASES = {"map": MAP, "custom": CUSTOM, "iterable": ITERABLE, "stateful": STATEFUL}


def state(document: Document) -> dict[str, Any]:
    return copy.deepcopy(document.to_dict())


Where = tuple[Any, ...]
GONE = object()


def altered(base: str, where: Where, value: object) -> dict[str, Any]:
    tree = state(BASES[base])
    node: Any = tree
    for step in where[:-1]:
        node = node[step]
    if value is GONE:
        del node[where[-1]]
    else:
        node[where[-1]] = value
    return tree


def places(node: object, at: Where = ()) -> list[Where]:
    """Every place of a document's own part, with the users' roots but not what is in them."""
    found = [at] if at else []
    if at[-1:] in (("state",), ("dataset",), ("iterator",)) and len(at) > 2:
        return found
    if len(at) > 1 and at[-2] == "states":
        return found
    if isinstance(node, dict):
        for key, inner in node.items():
            found += places(inner, (*at, key))
    elif isinstance(node, list):
        for i, inner in enumerate(node):
            found += places(inner, (*at, i))
    return found


ALL_PLACES = [
    (base, where) for base, document in BASES.items() for where in places(document.to_dict())
]
KEYS = [(base, where) for base, where in ALL_PLACES if isinstance(where[-1], str)]
RECORDS = [(base, (*where[:-1], "extra")) for base, where in KEYS]

LANE: dict[str, Any] = {"dataset": None, "iterator": None, "stated": [], "ended": False}
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
    ("map", ("plan", "length"), 2**63),
    ("map", ("plan", "length"), 10**5000),
    ("map", ("plan", "length"), "100"),
    ("map", ("plan", "length"), float("nan")),
    ("map", ("plan", "sampler"), "random"),
    ("map", ("plan", "sampler"), "none"),
    ("map", ("plan", "sampler"), "custom"),
    ("map", ("plan", "sampler"), ["shuffle"]),
    ("map", ("plan", "sampler_name"), "m.S"),
    ("map", ("plan", "seed"), -1),
    ("map", ("plan", "seed"), 2**64),
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
    ("map", ("position",), [1, 3, 24]),
    ("map", ("position", "epoch"), -1),
    ("map", ("position", "epoch"), "1"),
    ("map", ("position", "batches"), -1),
    ("map", ("position", "batches"), None),
    ("map", ("position", "samples"), -1),
    ("map", ("position", "epoch"), EPOCH_MAX + 1),
    ("map", ("position", "samples"), 2**63),
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
    ("iterable", ("lanes", "entries", 0, "ordinal"), -(2**63)),
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
    ("custom", ("sampler", "epoch"), 2**63),
    ("custom", ("sampler", "epoch"), -(2**63)),
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
    ("custom", ("sampler", "batches"), -(2**63)),
    ("custom", ("sampler", "batches"), None),
    ("custom", ("sampler", "batches"), False),
]

# Faults across fields, and of type, that JSON Schema has no words for.
BEYOND_THE_SCHEMA: list[tuple[str, Where, object]] = [
    ("map", ("plan", "seed"), 7.0),
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
    for state in (cyclic, shared):
        with pytest.raises(StateFormatError, match="within each other") as caught:
            Document.from_dict(altered("custom", ("sampler", "generators", 1, "state"), state))
        assert caught.value.path == "$.sampler.generators[1].state"


@pytest.mark.parametrize("odd", [object(), Text("a"), {Text("a"): 1}, {b"a": 1}, [{None: 1}]])
def test_a_generators_state_is_of_exact_json_types(odd: object) -> None:
    with pytest.raises(StateFormatError):
        Document.from_dict(altered("custom", ("sampler", "generators", 0, "state"), odd))


@pytest.mark.parametrize("version", [2, 17, 10**30])
def test_another_version_is_told_as_such_even_if_all_else_is_foreign(version: int) -> None:
    with pytest.raises(StateVersionError, match="version 1"):
        Document.from_dict({"format": "midepoch.state", "version": version, "new": True})


# ------------------------------------------------------------------ anything at all


class Hostile:
    """A value whose every method raises."""

    def _raise(self, *args: object) -> Any:
        raise RuntimeError("hostile")

    __eq__ = __hash__ = __repr__ = __str__ = __len__ = __iter__ = __bool__ = _raise
    __getitem__ = __contains__ = __lt__ = __int__ = __index__ = __format__ = _raise
    __class__ = property(_raise)


class HostileDict(dict[str, Any]):
    def _raise(self, *args: object) -> Any:
        raise RuntimeError("hostile")

    keys = values = items = get = __iter__ = __getitem__ = __contains__ = __len__ = _raise


class HostileKey(str):
    __slots__ = ()

    def __hash__(self) -> int:
        return 5

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("hostile")


def nested(depth: int) -> list[Any]:
    tree: list[Any] = []
    for _ in range(depth):
        tree = [tree]
    return tree


class IntSubclass(int):
    pass


ODD: list[Callable[[], object]] = [
    Hostile,
    lambda: HostileDict(state(MAP)),
    lambda: OrderedDict(state(MAP)),
    lambda: IntSubclass(1),
    lambda: 10**5000,
    lambda: float("nan"),
    lambda: -0.0,
    lambda: "\ud800",
    lambda: nested(3_000),
    lambda: {HostileKey("a"): 1},
    lambda: {1: 2},
    lambda: [Hostile()],
    lambda: object,
    lambda: {"format": Hostile(), "version": Hostile()},
    lambda: ["dataset", Hostile()],
]


@pytest.mark.parametrize("value", [None, {}, [], "", b"", 0, True, object(), [("format", 1)]])
def test_what_is_no_state_is_refused(value: object) -> None:
    with pytest.raises(StateFormatError, match="not a midepoch state") as caught:
        Document.from_dict(value)
    assert caught.value.requirement == "REFUSE-1"


@pytest.mark.parametrize("odd", ODD)
def test_odd_values_as_a_whole_are_refused(odd: Callable[[], object]) -> None:
    with pytest.raises(StateError):
        Document.from_dict(odd())


USER_ROOTS = ("state", "dataset", "iterator", *SAMPLER_SLOTS)


@pytest.mark.parametrize("odd", ODD)
def test_odd_values_anywhere_in_the_own_part_are_refused(odd: Callable[[], object]) -> None:
    for base, where in ALL_PLACES:
        if where[-1] in USER_ROOTS and len(where) > 2:
            continue
        tree = altered(base, where, odd())
        with pytest.raises(StateError):
            Document.from_dict(tree)


@pytest.mark.parametrize("base", BASES)
def test_odd_keys_are_refused(base: str) -> None:
    keys = [HostileKey("a"), HostileKey("plan"), Text("x-a"), 1, None, ("plan",), b"plan"]
    for key in keys:
        tree: dict[Any, Any] = {**state(BASES[base]), key: 1}
        with pytest.raises(StateFormatError):
            Document.from_dict(tree)


@pytest.mark.parametrize("name", ["format", "version", "plan", "lanes"])
def test_a_key_of_a_subclass_is_not_the_key(name: str) -> None:
    tree = {Text(key) if key == name else key: value for key, value in state(MAP).items()}
    assert tree == state(MAP)
    with pytest.raises(StateFormatError):
        Document.from_dict(tree)


anything = st.recursive(
    st.one_of(
        scalars,
        st.floats(),
        st.binary(max_size=3),
        st.sampled_from(["format", "version", "plan", "midepoch.state", "map", "x-"]),
        st.builds(Hostile),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner),
        st.dictionaries(
            st.one_of(st.sampled_from(["format", "version", "plan", "position"]), st.integers()),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=8,
)


@thorough
@given(anything)
def test_any_object_is_refused_by_a_typed_error(value: object) -> None:
    assert not accepts(value)


@thorough
@given(st.data(), documents(), anything)
def test_any_change_gives_a_document_or_a_typed_error(
    data: st.DataObject, document: Document, value: object
) -> None:
    tree = document.to_dict()
    where = data.draw(st.sampled_from(places(tree)))
    node: Any = tree
    for step in where[:-1]:
        node = node[step]
    node[where[-1]] = value
    if accepts(tree):
        again = Document.from_dict(tree).to_dict()
        assert again.keys() == document.to_dict().keys()


# ------------------------------------------------------------------ how far an epoch goes


@pytest.mark.parametrize(
    ("length", "size", "tail", "batches", "samples"),
    [
        (0, 4, "keep", 0, 0),
        (10, 4, "keep", 3, 10),
        (12, 4, "keep", 3, 12),
        (10, 4, "drop", 2, 8),
        (3, 4, "drop", 0, 0),
        (10, None, "keep", 10, 10),
    ],
)
def test_a_position_is_at_most_the_end_of_its_epoch(
    length: int, size: int | None, tail: Any, batches: int, samples: int
) -> None:
    plan = Plan("map", length, "sequential", None, 0, size, tail, 0, "epoch")

    def allowed(position: Position) -> bool:
        return accepts(Document(plan, position, None, None).to_dict())

    assert allowed(Position(0, batches, samples))
    assert not allowed(Position(0, batches + 1, samples))
    assert not allowed(Position(0, batches, samples + 1))
    assert not batches or not allowed(Position(0, batches, samples - 1))
    assert not allowed(Position(0, 0, 1))


def test_a_snapshot_may_be_of_the_pass_before_where_one_object_lives_on() -> None:
    tree = altered("iterable", ("plan", "lifetime"), "run")
    tree["lanes"]["entries"][1].update(ordinal=-3, replay=3)
    assert schema_accepts(tree)
    assert Document.from_dict(tree).to_dict() == tree
    tree = altered("custom", ("sampler", "batches"), -3)
    assert schema_accepts(tree)
    assert Document.from_dict(tree).to_dict() == tree


@pytest.mark.parametrize("samples", [0, 5, COUNT_MAX])
def test_batches_of_a_custom_batch_sampler_hold_any_number_of_samples(samples: int) -> None:
    tree = altered("custom", ("plan", "batch_size"), None)
    tree["position"]["samples"] = samples
    assert accepts(tree)
    tree["position"].update(batches=0)
    tree["sampler"].update(batches=0)
    assert accepts(tree) is (samples == 0)


def test_rollover_needs_what_was_carried() -> None:
    tree = altered("map", ("plan", "tail"), "rollover")
    assert not accepts(tree)
    tree["position"]["carried"] = [5]
    assert accepts(tree)
    for carried in ([5] * 8, [100], [-1], [True], [5.0], ["5"], None):
        tree["position"]["carried"] = carried
        assert not accepts(tree), carried
