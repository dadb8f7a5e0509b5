"""States of torchdata's loader continue as its uninterrupted run did, or are refused."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from recorded_states import VERSIONS, Recorded, recorded
from torchdata_programs import (
    PROGRAMS,
    CountingNumbers,
    Numbers,
    Plain,
    Reversed,
    Short,
    TurningSampler,
    rows,
)

from midepoch import StatefulDataLoader
from midepoch.encoding import canonical
from midepoch.errors import (
    ForeignStateError,
    MidepochError,
    PlanMismatchError,
    ReplayMismatchError,
    ReplayWarning,
    StateFormatError,
)

pytestmark = pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning")


def build(program: str, **arguments: Any) -> StatefulDataLoader[Any]:
    torch.manual_seed(99)
    return StatefulDataLoader(**{**PROGRAMS[program](), **arguments})


def epochs(loader: StatefulDataLoader[Any], count: int) -> list[list[Any]]:
    return [[rows(batch) for batch in loader] for _ in range(count)]


def chosen(version: str, program: str, **place: Any) -> Recorded:
    """The first recorded state at a place."""
    return next(
        one
        for one in recorded(version)
        if one.program == program and all(getattr(one, k) == v for k, v in place.items())
    )


def refusal(one: Recorded) -> str | None:
    """Why a state cannot be carried over; the guide's table says the same."""
    if one.program.startswith("sampler-random"):
        return "draws random numbers and has no state"
    if one.program == "shuffle-generator-unbatched" and not one.workers:
        return "versions before 0.11 draw another order"
    at_end = one.batches == 6 and not one.finished
    if one.program == "sampler-stateful" and at_end and not one.since:
        return 'give empty_rest="skip"'
    return None


# Going on


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_recorded_state_goes_on_as_its_run_did(version: str, program: str) -> None:
    tried, wrong = 0, []
    for one in recorded(version):
        if one.program != program or one.persistent:
            continue
        tried += 1
        loader = build(program)
        reason = refusal(one)
        try:
            loader.load_state_dict(one.state())
            got: Any = epochs(loader, len(one.expected))
        except ForeignStateError as error:
            got = str(error)
        if got != one.expected if reason is None else reason not in got:
            wrong.append((one.name, got, one.expected if reason is None else reason))
    assert tried
    assert not wrong


@pytest.mark.parametrize("version", ["0.8.0", "0.11.0"])
@pytest.mark.parametrize("program", ["shuffle-generator", "map-stateful", "iterable-seeking"])
@pytest.mark.parametrize("early", [False, True], ids=["", "next-epoch-ahead"])
def test_persistent_workers_go_on_from_epoch_to_epoch(
    version: str, program: str, early: bool
) -> None:
    of_program = [one for one in recorded(version) if one.program == program and one.persistent]
    assert len(of_program) > 6
    for one in of_program:
        if one.interval == 1 or not (one.finished or (one.epoch, one.batches) == (1, 2)):
            continue
        loader = build(program, num_workers=2, persistent_workers=True, prefetch_next_epoch=early)
        loader.load_state_dict(one.state())
        assert epochs(loader, 3) == one.expected, one.name


SHUFFLED = ["shuffle", "shuffle-generator", "shuffle-generator-drop", "map-stateful-shuffle"]


@pytest.mark.parametrize("version", ["0.8.0", "0.11.0"])
@pytest.mark.parametrize("program", [*SHUFFLED, "sampler-cursor", "iterable-seeking"])
@pytest.mark.parametrize(("workers", "interval"), [(0, 1), (3, 100)])
def test_our_own_states_go_on_from_there(
    version: str, program: str, workers: int, interval: int
) -> None:
    one = chosen(version, program, workers=workers, interval=interval, epoch=0, batches=3)
    left = [(epoch, batch) for epoch, rest in enumerate(one.expected) for batch in rest]
    state = one.state()
    delivered: list[Any] = []
    while len(delivered) < len(left):
        loader = build(program)
        loader.load_state_dict(state)
        position = loader.state_dict()["position"]["epoch"]
        delivered += [(position, rows(batch)) for batch in islice(loader, 2)]
        state = loader.state_dict()  # of the next epoch, where there were not two any more
    assert delivered[: len(left)] == left


@pytest.mark.parametrize("program", [*SHUFFLED, "sampler-cursor", "iterable-plain"])
def test_a_state_taken_right_after_the_load_is_the_same(program: str) -> None:
    one = chosen("0.11.0", program, workers=3, interval=100, epoch=0, batches=3)
    loader, again = build(program), build(program)
    loader.load_state_dict(one.state())
    state = json.loads(json.dumps(loader.state_dict()))  # JSON types alone
    assert canonical.dumps(loader.state_dict()) == canonical.dumps(state)
    again.load_state_dict(state)
    assert canonical.dumps(again.state_dict()) == canonical.dumps(state)
    assert epochs(again, 3) == one.expected == epochs(loader, 3)


def test_a_loader_has_its_own_order_back_after_another_load() -> None:
    one = chosen("0.11.0", "shuffle-generator", workers=0, epoch=0, batches=3)
    loader = build("shuffle-generator")
    own = loader.state_dict()
    expected = epochs(build("shuffle-generator"), 2)
    loader.load_state_dict(one.state())
    assert epochs(loader, 1) == one.expected[:1]
    loader.load_state_dict(own)
    assert epochs(loader, 2) == expected
    assert loader.state_dict()["plan"]["sampler"] == "shuffle"


@pytest.mark.parametrize("workers", [1, 2])
def test_another_number_of_workers_goes_on_with_the_same_batches(workers: int) -> None:
    for program in ("shuffle-generator", "map-stateful", "iterable-seeking"):
        one = chosen("0.11.0", program, workers=3, interval=100, epoch=0, batches=3)
        loader = build(program, num_workers=workers)
        loader.load_state_dict(one.state())
        assert loader.lanes == 3
        assert epochs(loader, 3) == one.expected


def test_reading_moves_no_random_stream_and_no_generator_of_the_caller() -> None:
    for program in ("shuffle-generator", "sampler-plain", "sampler-random"):
        one = chosen("0.11.0", program, workers=0, epoch=0, batches=3)
        loader = build(program)
        before = streams(loader)
        with contextlib.suppress(ForeignStateError):
            loader.load_state_dict(one.state())
            loader.state_dict()
        assert streams(loader) == before


def streams(loader: StatefulDataLoader[Any]) -> list[Any]:
    own = [loader.generator, getattr(loader.sampler, "generator", None)]
    state: Any = np.random.get_state()
    generators = [one.get_state().tolist() for one in own if one is not None]
    return [torch.get_rng_state().tolist(), random.getstate(), state[1].tolist(), generators]


# Refusals


MISMATCHES: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("sequential", {"batch_size": 3}, PlanMismatchError, "batch_size"),
    ("sequential", {"batch_size": None}, PlanMismatchError, "batch_size"),
    ("sequential-unbatched", {"batch_size": 2}, PlanMismatchError, "batch_size"),
    ("sequential", {"shuffle": True}, PlanMismatchError, "sampler"),
    ("shuffle", {"shuffle": False}, PlanMismatchError, "sampler"),
    ("sampler-cursor", {"sampler": None}, PlanMismatchError, "sampler"),
    ("sampler-stateful", {"sampler": None, "shuffle": True}, PlanMismatchError, "sampler"),
    ("sequential", {"dataset": [0, 1, 2, 3]}, ForeignStateError, "an epoch has 2"),
    ("sequential", {"dataset": Plain()}, PlanMismatchError, "dataset"),
    ("iterable-plain", {"dataset": Numbers()}, PlanMismatchError, "dataset"),
    ("iterable-plain", {"batch_size": 3}, PlanMismatchError, "batch_size"),
    ("iterable-plain", {"batch_size": None}, PlanMismatchError, "batch_size"),
    ("iterable-plain", {"lanes": 1}, PlanMismatchError, "lanes"),
    ("sequential", {"lanes": 1}, PlanMismatchError, "lanes"),
    ("sequential", {"last_batch": "rollover"}, PlanMismatchError, "tail"),
    ("sequential", {"in_order": False}, ForeignStateError, "in_order"),
    ("map-stateful", {"dataset": Numbers()}, StateFormatError, "no state_dict"),
    ("sequential", {"dataset": CountingNumbers()}, ForeignStateError, "holds none"),
    (
        "sampler-stateful",
        {"sampler": Reversed()},
        StateFormatError,
        "no sampler here has a load_state_dict",
    ),
    ("sampler-plain", {"sampler": TurningSampler()}, ForeignStateError, "holds none"),
    ("sampler-plain", {"batch_size": None}, PlanMismatchError, "batch_size"),
    ("sampler-plain", {"batch_size": 3}, PlanMismatchError, "batch_size"),
    ("sampler-plain", {"sampler": [3, 2]}, ForeignStateError, "gives fewer"),
]


@pytest.mark.parametrize("version", ["0.8.0", "0.11.0"])
@pytest.mark.parametrize(("program", "arguments", "kind", "words"), MISMATCHES)
def test_a_state_of_other_arguments_is_refused(
    version: str, program: str, arguments: dict[str, Any], kind: type[Exception], words: str
) -> None:
    one = chosen(version, program, workers=2, interval=1, epoch=0, batches=3)
    loader = build(program, **copy.deepcopy(arguments))
    fresh = epochs(build(program, **copy.deepcopy(arguments)), 2)
    with pytest.raises(kind, match=words):
        loader.load_state_dict(one.state())
    assert epochs(loader, 2) == fresh  # REFUSE-4


def test_a_shorter_dataset_is_refused() -> None:
    one = chosen("0.11.0", "shuffle", workers=0, epoch=0, batches=6)
    with pytest.raises(PlanMismatchError, match="length"):
        build("shuffle", dataset=list(range(12))).load_state_dict(one.state())


def test_a_finished_epoch_of_another_length_is_refused() -> None:
    one = chosen("0.11.0", "sequential-unbatched", workers=0, epoch=1, batches=0)
    assert one.finished
    with pytest.raises(ForeignStateError, match="ended after 11 batches, but it has 20"):
        build("sequential-unbatched", dataset=list(range(20))).load_state_dict(one.state())


def test_a_data_pipe_is_refused() -> None:
    state = chosen("0.11.0", "iterable-plain", workers=0, epoch=0, batches=3).state()
    state["_shared_seed"] = 4
    with pytest.raises(ForeignStateError, match="data pipe"):
        build("iterable-plain").load_state_dict(state)


def test_batches_delivered_ahead_are_refused() -> None:
    state = chosen("0.11.0", "sequential", workers=2, interval=1, epoch=0, batches=3).state()
    state["_snapshot"]["_last_yielded_worker_id"] = 1
    with pytest.raises(ForeignStateError, match="in_order=False"):
        build("sequential").load_state_dict(state)


def test_a_generator_that_was_drawn_from_before_is_refused() -> None:
    state = chosen("0.8.0", "shuffle-generator", workers=0, epoch=0, batches=3).state()
    generator = torch.Generator().manual_seed(7)
    torch.randperm(5, generator=generator)
    inner = state["_index_sampler_state"]["sampler_iter_state"]
    inner["generator"] = generator.get_state()
    with pytest.raises(ForeignStateError, match="first epoch or of a later one"):
        build("shuffle-generator").load_state_dict(state)


def test_an_empty_rest_is_skipped_where_its_sampler_has_gone_on() -> None:
    one = chosen("0.11.0", "sampler-stateful", workers=0, epoch=0, batches=6)
    loader = build("sampler-stateful", empty_rest="skip")
    loader.load_state_dict(one.state())
    assert epochs(loader, 2) == one.expected[1:]


def test_a_load_that_fails_on_the_way_leaves_the_loader_as_it_was() -> None:
    one = chosen("0.11.0", "iterable-plain", workers=2, interval=2, epoch=0, batches=3)
    loader = build("iterable-plain", dataset=Short(), lanes=2)
    fresh = epochs(build("iterable-plain", dataset=Short(), lanes=2), 2)
    with pytest.raises(ReplayMismatchError, match="ended after 2 of 3"):
        loader.load_state_dict(one.state())
    assert epochs(loader, 2) == fresh


def test_what_is_produced_again_is_announced() -> None:
    one = chosen("0.11.0", "iterable-plain", workers=2, interval=2, epoch=0, batches=3)
    with pytest.warns(ReplayWarning, match="3 batches are produced again"):
        build("iterable-plain").load_state_dict(one.state())


# Hostile input


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a state."""
    yield path
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from places(value, (*path, key))


VICTIMS = [
    chosen("0.11.0", "shuffle-generator", workers=2, interval=2, epoch=0, batches=3),
    chosen("0.11.0", "shuffle-unbatched", workers=0, epoch=0, batches=3),
    chosen("0.8.0", "shuffle-generator", workers=0, epoch=0, batches=3),
    chosen("0.8.0", "shuffle-generator", workers=2, interval=2, epoch=1, batches=2),
    chosen("0.11.0", "sequential", workers=0, epoch=1, batches=2),
    chosen("0.11.0", "sampler-plain", workers=2, interval=2, epoch=0, batches=3),
    chosen("0.11.0", "iterable-plain", workers=2, interval=2, epoch=0, batches=3),
    chosen("0.8.0", "iterable-seeking-unbatched", workers=2, interval=2, epoch=0, batches=3),
]

JUNK: list[Any] = [
    None,
    True,
    -1,
    3,
    2**70,
    1.5,
    float("nan"),
    "generator",
    chr(0xD800),
    (),
    [],
    {},
    {"samples_yielded": 2},
    {3: 4},
    torch.zeros(3),
    torch.zeros(5056, dtype=torch.uint8),
    object(),
]

USERS = {"dataset_state", "dataset_iter_state"}
"""Parts of a state that only the user's own code can check."""


@examples(100)
@given(st.data())
def test_a_mutated_state_is_read_or_refused_by_a_typed_error(data: st.DataObject) -> None:
    one = data.draw(st.sampled_from(VICTIMS))
    state: Any = one.state()
    for _ in range(data.draw(st.integers(1, 2))):
        found = [place for place in places(state) if place and not USERS & set(place)]
        if found:
            mutate(data, state, data.draw(st.sampled_from(found)))
    loader = build(one.program)
    try:
        loader.load_state_dict(state)
    except MidepochError:
        assert epochs(loader, 1) == epochs(build(one.program), 1)  # REFUSE-4
    else:
        with contextlib.suppress(MidepochError):
            list(islice(loader, 20))
        loader.state_dict()


def mutate(data: st.DataObject, state: Any, place: tuple[Any, ...]) -> None:
    *path, last = place
    parent = state
    for key in path:
        parent = parent[key]
    kind = data.draw(st.sampled_from(["drop", "replace", "nudge", "add"]))
    if kind == "drop":
        del parent[last]
    elif kind == "nudge" and type(parent[last]) is int:
        parent[last] += data.draw(st.sampled_from([-1, 1, 2**40]))
    elif kind == "add":
        parent["extra"] = 1
    else:
        parent[last] = data.draw(st.sampled_from(JUNK))
