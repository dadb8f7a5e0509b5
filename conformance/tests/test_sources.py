"""Sources, generators and samplers: each goes on exactly from each of its states."""

from __future__ import annotations

import inspect
import itertools
import json
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from midepoch_conformance.case.data import sources
from midepoch_conformance.case.data.samplers import SAMPLERS
from midepoch_conformance.case.data.sources import GENERATORS, SOURCES
from midepoch_conformance.case.workload import Workload

ITS_OWN = ("oneshot", "rewinding")
AGAIN = [name for name in SOURCES if name != "oneshot"]


def made(stream: str, lane: int = 0, lanes: int = 1, **fields: Any) -> Any:
    w = Workload("stateful_iterable", stream=stream, **fields)
    return w.source(lane, lanes)


def through_json(state: Any) -> Any:
    return json.loads(json.dumps(state))


def through_pickle(state: Any) -> Any:
    return pickle.loads(pickle.dumps(state))


@pytest.mark.parametrize("stream", SOURCES)
@pytest.mark.parametrize("lanes", [1, 2, 3, 5])
def test_each_sample_comes_once_whatever_the_lanes(stream: str, lanes: int) -> None:
    rows = [row for lane in range(lanes) for row in made(stream, lane, lanes)]
    assert sorted(row[0] for row in rows) == list(range(13))


@pytest.mark.parametrize("stream", SOURCES)
@pytest.mark.parametrize("codec", [through_json, through_pickle])
@pytest.mark.parametrize("at", range(14))
@pytest.mark.parametrize("early", [True, False])
def test_a_source_goes_on_from_every_position(
    stream: str, codec: Any, at: int, early: bool
) -> None:
    """``early``: the state is loaded before ``iter``; what is its own iterator takes it after."""
    first = made(stream)
    rows = iter(first)
    list(itertools.islice(rows, at))
    state = codec(first.state_dict())
    rest = list(rows)
    other = made(stream)
    if early and stream != "rewinding":
        other.load_state_dict(state)
        assert list(other) == rest
    else:
        begun = iter(other)
        other.load_state_dict(state)
        assert list(begun) == rest
    if stream == "sticky":
        assert list(other) == rest  # the loaded state begins each pass
    elif stream != "oneshot" and (early or stream in ITS_OWN):
        assert list(other) == list(first)  # both begin the next pass


@pytest.mark.parametrize("stream", SOURCES)
def test_a_state_is_a_value(stream: str) -> None:
    source = made(stream)
    rows = iter(source)
    next(rows)
    state = source.state_dict()
    before = json.dumps(state)
    next(rows)
    assert json.dumps(state) == before
    other = made(stream)
    other.load_state_dict(state)
    list(other)
    assert json.dumps(state) == before


@pytest.mark.parametrize("stream", AGAIN)
def test_a_pass_that_is_broken_off_is_followed_by_a_whole_one(stream: str) -> None:
    source = made(stream)
    next(iter(source))
    assert sorted(row[0] for row in source) == list(range(13))


def test_a_one_shot_has_ended_for_ever() -> None:
    source = made("oneshot")
    assert iter(source) is source
    assert len(list(source)) == 13
    assert list(source) == []


def test_a_buffer_shuffles_and_its_passes_differ() -> None:
    source = made("buffer")
    first, second = list(source), list(source)
    assert first != sorted(first)
    assert first != second


def test_leftovers_show_in_the_rows_of_packing() -> None:
    source = made("packing")
    rows = list(source)
    for position in range(1, 13):
        source.load_state_dict({"position": position, "left": []})
        nothing_was_left = rows[position - 1][1] == 0
        assert (next(iter(source)) == rows[position]) is nothing_was_left


def test_a_filter_reads_more_and_a_flattening_stream_less_often_than_it_yields() -> None:
    for stream, key, after in (("filter", "read", 5), ("flatten", "files", 2)):
        source = made(stream)
        list(itertools.islice(source, 2))
        assert source.state_dict()[key] == after


@pytest.mark.parametrize("draw", GENERATORS)
@pytest.mark.parametrize("kind", ["stateful_iterable", "stateful_map"])
@pytest.mark.parametrize("at", [0, 1, 7])
def test_private_generators_go_on(draw: str, kind: str, at: int) -> None:
    w = Workload(kind, draws=(draw,), n=8)

    def rows(source: Any) -> Iterator[Any]:
        return iter(source) if kind == "stateful_iterable" else (source[i] for i in range(8))

    first, whole = w.source(), list(rows(w.source()))
    list(itertools.islice(rows(first), at))
    other = w.source()
    other.load_state_dict(through_pickle(first.state_dict()))
    if kind == "stateful_iterable":
        assert list(rows(other)) == whole[at:]
    else:
        assert [other[i] for i in range(at, 8)] == whole[at:]
    values = [row[-1] for row in whole]
    assert len(set(values)) == 8
    assert values != [row[-1] for row in rows(w.source(lane=1))]


def test_random_access_with_a_history_counts() -> None:
    source = Workload("stateful_map").source()
    assert [source[4], source[4], source[0]] == [[4, 1], [4, 2], [0, 3]]
    other = Workload("stateful_map").source()
    other.load_state_dict(source.state_dict())
    assert other[7] == [7, 4]


def test_an_iterator_has_the_sources_state_and_counts_for_a_dataset() -> None:
    class Dataset:
        count = 5

    dataset, w = Dataset(), Workload("stateful_iterable", state_at="both")
    rows = w.iterator(dataset=dataset)
    assert [next(rows), next(rows)] == [[0, 6], [1, 7]]
    other = w.iterator()
    other.load_state_dict(rows.state_dict())
    assert next(other) == [2]
    assert dataset.count == 7


@pytest.mark.parametrize("name", sorted({*SAMPLERS} - {"raising", "listed"}))  # of one order
def test_samplers_give_each_index_once_in_another_order_each_time(name: str) -> None:
    w = Workload(sampler=name, seed=3)
    sampler = w.order()

    def indices(epoch: int) -> list[int]:
        if w.sets_epoch:
            sampler.set_epoch(epoch)
        found = [list(i) if w.gives_batches else [i] for i in sampler]
        return [w.row(key)[0] for batch in found for key in batch]

    first, second = indices(0), indices(1)
    assert sorted(first) == sorted(second) == list(range(13))
    assert first != second


@pytest.mark.parametrize("at", range(14))
def test_a_stateful_sampler_goes_on_from_every_position(at: int) -> None:
    w = Workload(sampler="stateful", seed=3)
    first, other = w.order(), w.order()
    indices = iter(first)
    list(itertools.islice(indices, at))
    other.load_state_dict(through_json(first.state_dict()))
    assert list(other) == list(indices)
    assert list(other) == list(first)


@pytest.mark.parametrize(
    "cls", [value for value in vars(sources).values() if inspect.isclass(value)]
)
def test_each_class_stands_alone_in_a_script(cls: type) -> None:
    """It runs with nothing of the module but its bases, and is short."""
    if cls.__module__ != sources.__name__:
        return
    lines = inspect.getsource(cls).splitlines()
    assert len(lines) <= 32
    bases = [base for base in cls.__mro__[:0:-1] if base is not object]
    text = "from __future__ import annotations\nimport copy, random\nfrom typing import ClassVar\n"
    text += "\n".join(inspect.getsource(c) for c in (*bases, cls))
    names: dict[str, Any] = {}
    exec(compile(text, "script", "exec"), names)
    if issubclass(cls, (sources.Source, sources.OneShot)) and cls is not sources.Positions:
        w = Workload("iterable", n=5)
        assert sorted(row[0] for row in names[cls.__name__](w, list(range(5)))) == list(range(5))
