"""Drawn state documents, good ones to put faults into, and what judges them."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from typing import Any

import jsonschema
from examples import examples
from hypothesis import strategies as st

from midepoch.encoding import canonical
from midepoch.errors import StateError
from midepoch.format.plan import Plan
from midepoch.format.seeds import ROOT_MAX
from midepoch.format.state import (
    COUNT_MAX,
    EPOCH_MAX,
    LANE_SLOTS,
    SAMPLER_SLOTS,
    Document,
    GeneratorState,
    LaneEntry,
    LanesState,
    Position,
    SamplerState,
    Share,
)

SCHEMA = json.loads((files("midepoch_spec") / "schema" / "state-1.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
thorough = examples(300)


counts = st.one_of(st.integers(0, 20), st.integers(0, COUNT_MAX), st.just(COUNT_MAX))
shares = st.integers(0, 9).map(lambda rank: Share(rank, rank + 1))
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
        data=draw(st.none() | names),
        options=draw(st.dictionaries(st.sampled_from(["order", "x-a", "ä"]), names, max_size=2)),
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
    share = None if length is not None else draw(st.none() | shares)
    position = Position(min(draw(counts), EPOCH_MAX), batches, samples, digest, (), carried, share)
    stateful = iterable or draw(st.booleans())
    states = draw(lanes_states(plan, batches)) if stateful else None
    sampler = draw(samplers(position, states)) if custom else None
    return Document(plan, position, sampler, states)


@st.composite
def samplers(draw: st.DrawFn, position: Position, lanes: LanesState | None) -> SamplerState:
    paths = draw(st.lists(names, unique=True, max_size=2))
    kinds = st.sampled_from(["torch", "numpy", "python"])
    generators = tuple(GeneratorState(path, draw(kinds), draw(plain)) for path in paths)  # type: ignore[arg-type]  # drawn from the allowed words
    states, stated = draw(slots(SAMPLER_SLOTS))
    epoch = draw(st.one_of(st.none(), st.integers(-COUNT_MAX, COUNT_MAX)))
    entries = lanes.entries if lanes else ()
    # Lanes replay batches whose keys the sampler still has to tell.
    replayed = [one.cut * len(entries) + i for i, one in enumerate(entries) if one.replay]
    latest = min([position.batches, *replayed])
    at = draw(st.integers(-COUNT_MAX, latest)) if stated else 0
    digest = position.digest if at == position.batches else "1" * 64
    return SamplerState(epoch, generators, states, stated, at, digest if at > 0 else None)


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
        entry = LaneEntry(
            **states,
            stated=stated,
            ordinal=ordinal,
            ended=ended,
            replay=share - max(0, ordinal),
        )
        since = entry.left + entry.replay
        errors = draw(st.sets(st.integers(0, since - 1), max_size=3)) if since else ()
        entries.append(replace(entry, errors=tuple(sorted(errors))))
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


MAP = Document(
    Plan("map", 100, "shuffle", None, 7, 8, "keep", 2, "epoch"), Position(1, 3, 24), None, None
)
CUSTOM = Document(
    Plan("map", None, "custom", "m.S", 7, 8, "keep", 0, "epoch", "d"),
    Position(1, 3, 24, "0" * 64, share=Share(1, 2)),
    SamplerState(
        4,
        (GeneratorState("sampler.generator", "python", [1]), GeneratorState("g", "torch", [2])),
        {**dict.fromkeys(SAMPLER_SLOTS), "sampler": {"i": 1}},
        ("sampler", "sampler_iter"),
        2,
        "1" * 64,
    ),
    None,
)
ITERABLE = Document(
    Plan("iterable", None, "none", None, 7, 8, "drop", 2, "epoch"),
    Position(0, 4, 30),
    None,
    LanesState(
        1,
        tuple(
            LaneEntry({"i": n}, None, ("dataset", "iterator"), n, False, 1, (0,)) for n in (0, 2)
        ),
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
