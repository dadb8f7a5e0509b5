"""Which batches cross by the number of their layout, and that they arrive as they were."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from connection import Connection
from crossing_values import BY_NUMBER, CATALOGUE, GRID, REFUSED_BY_BOTH
from pictures import contents, picture

from midepoch.lane.messages import Batch
from midepoch.transport import layouts
from midepoch.transport.layouts import Builder, New, described

pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse:UserWarning"),
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning"),
    pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning"),
]


def test_the_second_in_a_row_tells_its_layout_and_the_third_its_number(
    connection: Connection,
) -> None:
    forms = [
        connection.cross({"x": torch.full((3,), i), "y": [torch.ones(2)]})[1] for i in range(4)
    ]
    assert [type(form) for form in forms] == [bytes, New, int, int]
    assert len({form if type(form) is int else form.number for form in forms[1:]}) == 1


def test_a_layout_that_does_not_come_again_is_told_nothing_of(connection: Connection) -> None:
    for length in [1, 2] * 5 + list(range(3, 10)):
        got, form = connection.cross(torch.arange(length))
        assert type(form) is bytes
        assert got.tolist() == list(range(length))


def test_a_numbered_layout_need_not_come_in_a_row(connection: Connection) -> None:
    for length in [1, 1, 2, 2]:
        connection.cross(torch.arange(length))
    assert all(type(connection.cross(torch.arange(length))[1]) is int for length in [1, 2] * 3)


def test_no_more_layouts_are_remembered_than_the_limit(connection: Connection) -> None:
    forms = []
    for length in range(1, layouts.NUMBERED + 10):
        for _ in range(3):
            got, form = connection.cross(torch.arange(length))
            assert got.tolist() == list(range(length))
        forms.append(type(form))
    assert forms == [int] * layouts.NUMBERED + [bytes] * 9
    assert len(connection.main._layouts._builders) == layouts.NUMBERED


def test_a_layout_counts_as_told_when_it_was_sent(connection: Connection, monkeypatch: Any) -> None:
    connection.cross(torch.ones(3))
    for _ in range(2):  # made, and then not sent
        assert type(connection.worker.pack(Batch(torch.ones(3), 1)).form) is New
    got, form = connection.cross(torch.full((3,), 5.0))
    assert type(form) is New
    assert got.tolist() == [5.0] * 3


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_batch_of_only_tensors_is_described_and_any_other_is_pickled(name: str) -> None:
    assert (described(CATALOGUE[name]()) is not None) == (name in BY_NUMBER)


def test_what_a_layout_cannot_show_is_pickled() -> None:
    endless: list[Any] = [torch.ones(2)]
    endless.append(endless)
    assert described(endless) is None
    assert described(torch._efficientzerotensor(3)) is None  # type: ignore[attr-defined]  # it has no memory


@pytest.mark.parametrize("name", sorted(set(CATALOGUE) - REFUSED_BY_BOTH))
def test_each_value_arrives_the_same_each_time(connection: Connection, name: str) -> None:
    value = CATALOGUE[name]()
    first, form = connection.cross(value)
    assert type(form) is bytes
    for kind in (New, int, int) if name in BY_NUMBER else (bytes,) * 3:
        got, form = connection.cross(value)
        assert type(form) is kind
        # Apart in one storage, they arrive in a storage each once they cross by number.
        seen = contents if name.startswith(("other: parts of", "other: large views")) else picture
        assert seen(got) == seen(first)


@pytest.mark.parametrize("size", [1, 20, 40_000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool], ids=str)
def test_tensors_of_a_batch_are_apart(
    connection: Connection, dtype: torch.dtype, size: int
) -> None:
    value = {"x": torch.ones(size, 3).to(dtype), "y": torch.zeros(size, 3).to(dtype)}
    for _ in range(4):
        got, _ = connection.cross(value)
        got["x"].fill_(7)
        assert got["x"]._version == 1  # autograd counts a view's changes with those of its base
        assert got["y"]._version == 0
        assert not got["y"].any()
        for name in ("x", "y"):
            assert got[name].untyped_storage().nbytes() == got[name].nbytes
    assert value["x"].eq(1).all()


def nested_often() -> Any:
    made: Any = [torch.ones(1)]
    for _ in range(layouts.DEPTH - 1):
        made = [made] * 40
    return made


def test_one_object_at_many_places_is_not_walked_at_each(monkeypatch: Any) -> None:
    steps = [0]
    walk = layouts._described

    def counted(*arguments: Any) -> Any:
        steps[0] += 1
        return walk(*arguments)

    monkeypatch.setattr(layouts, "_described", counted)
    assert described(nested_often()) is None
    assert steps[0] < 3 * layouts.TENSORS


def test_a_batch_too_large_for_its_message_crosses_in_a_segment(connection: Connection) -> None:
    for number in range(6):
        held, _ = connection.cross([torch.full((40_000,), number), torch.full((3,), -number)])
        assert held[0].eq(number).all()
        assert held[1].eq(-number).all()


def test_a_builder_makes_what_was_described() -> None:
    plain = described({"x": (GRID, torch.ones(2))})
    assert plain is not None
    block = memoryview(bytearray(GRID.numpy().tobytes() + torch.ones(2).numpy().tobytes()))
    made = Builder(plain.layout).build(block, [0, GRID.nbytes])
    assert picture(made) == picture({"x": (GRID, torch.ones(2))})
