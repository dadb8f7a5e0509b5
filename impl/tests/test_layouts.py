"""Which batches cross by the number of their layout, and that they arrive as they were."""

from __future__ import annotations

import socket
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import torch
from crossing_values import CATALOGUE, REFUSED_BY_BOTH, Tagged, batches
from hypothesis import HealthCheck, given, settings
from pictures import contents, picture

from midepoch.lane.messages import Batch, Fetch, Reply
from midepoch.transport import layouts
from midepoch.transport.channel import Channel
from midepoch.transport.ends import MainEnd, WorkerEnd
from midepoch.transport.layouts import Builder, New, described

pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse:UserWarning"),
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning"),
    pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning"),
]


class Line:
    """A worker's connection, both ends in one process."""

    def __init__(self) -> None:
        self.ours, self.theirs = map(Channel, socket.socketpair())
        self.main, self.worker = MainEnd(self.ours, lambda size: None), WorkerEnd(self.theirs)

    def cross(self, data: Any) -> tuple[Any, Any]:
        """Send a batch over; return it, and the form in which it crossed."""
        self.ours.send(self.main.encode(Fetch(1, 2, 3, 4, 5, [6], False, True)))
        assert self.theirs.receive()
        self.worker.next_question()
        batch = Batch(data, 1)
        packed = self.worker.pack(batch)
        self.worker.ship(Reply(1, 2, batch), packed, 0.0)
        while (answer := self.main.next_answer()) is None:
            assert self.ours.receive()
        assert isinstance(answer, Reply)
        assert isinstance(answer.outcome, Batch)
        return answer.outcome.take(), packed.form

    def close(self) -> None:
        self.main.close()
        self.theirs.close()


@pytest.fixture
def line() -> Iterator[Line]:
    made = Line()
    yield made
    made.close()


def test_the_second_in_a_row_tells_its_layout_and_the_third_its_number(line: Line) -> None:
    forms = [line.cross({"x": torch.full((3,), i), "y": [torch.ones(2)]})[1] for i in range(4)]
    assert [type(form) for form in forms] == [bytes, New, int, int]
    assert len({form if type(form) is int else form.number for form in forms[1:]}) == 1


def test_a_layout_that_does_not_come_again_is_told_nothing_of(line: Line) -> None:
    for length in [1, 2] * 5 + list(range(3, 10)):
        got, form = line.cross(torch.arange(length))
        assert type(form) is bytes
        assert got.tolist() == list(range(length))


def test_a_numbered_layout_need_not_come_in_a_row(line: Line) -> None:
    for length in [1, 1, 2, 2]:
        line.cross(torch.arange(length))
    assert all(type(line.cross(torch.arange(length))[1]) is int for length in [1, 2] * 3)


def test_no_more_layouts_are_remembered_than_the_limit(line: Line) -> None:
    forms = []
    for length in range(1, layouts.NUMBERED + 10):
        for _ in range(3):
            got, form = line.cross(torch.arange(length))
            assert got.tolist() == list(range(length))
        forms.append(type(form))
    assert forms == [int] * layouts.NUMBERED + [bytes] * 9
    assert len(line.main._layouts._builders) == layouts.NUMBERED


def test_a_layout_counts_as_told_when_it_was_sent(line: Line, monkeypatch: Any) -> None:
    line.cross(torch.ones(3))
    for _ in range(2):  # made, and then not sent
        assert type(line.worker.pack(Batch(torch.ones(3), 1)).form) is New
    got, form = line.cross(torch.full((3,), 5.0))
    assert type(form) is New
    assert got.tolist() == [5.0] * 3


class Point(NamedTuple):
    x: torch.Tensor


class Row(list[Any]):
    pass


class Text(str):
    __slots__ = ()


def deep() -> Any:
    made: Any = torch.ones(2)
    for _ in range(layouts.DEPTH + 1):
        made = [made]
    return made


def endless() -> Any:
    made: list[Any] = [torch.ones(2)]
    made.append(made)
    return made


T = torch.arange(12.0).reshape(3, 4)

SHARED = [torch.ones(1) for _ in range(30)]

MORE = {
    "no memory": torch._efficientzerotensor(3),
    "too many": [torch.ones(1) for _ in range(layouts.TENSORS + 1)],
    "too many in all": [[torch.ones(1) for _ in range(9)] for _ in range(layouts.TENSORS // 8)],
    "one list many times": [SHARED] * 200,
    "a number beside": [T, 1],
    "a text beside": {"x": T, "name": "a"},
    "none beside": (T, None),
    "gradient": T.clone().requires_grad_(),
    "parameter": torch.nn.Parameter(T.clone()),
    "subclass": T.as_subclass(Tagged),
    "column-major": T.t(),
    "every other": T[:, ::2],
    "expanded": torch.ones(1, 4).expand(3, 4),
    "no samples": torch.ones(0, 4),
    "conjugate": torch.ones(2, dtype=torch.complex64).conj(),
    "negative view": torch.ones(2, dtype=torch.complex64).conj().imag,
    "sparse": torch.eye(2).to_sparse(),
    "the same tensor twice": [T, T],
    "a view of another": [T, T[1]],
    "parts that overlap": [T.view(-1)[:8], T.view(-1)[4:]],
    "empty list": [T, []],
    "empty": {},
    "nothing": None,
    "keys of numbers": {1: T},
    "keys of a subclass": {Text("x"): T},
    "named tuple": Point(T),
    "list of a subclass": Row([T]),
    "ordered dictionary": OrderedDict(x=T),
    "array": T.numpy(),
}


@pytest.mark.parametrize("name", MORE)
def test_what_has_more_to_it_is_pickled(name: str) -> None:
    assert described(MORE[name]) is None


@pytest.mark.parametrize("make", [deep, endless])
def test_containers_within_containers_end_somewhere(make: Any) -> None:
    assert described(make()) is None


PLAIN = {
    "tensor": T,
    "scalar": torch.tensor(3),
    "list": [T, torch.ones(2, dtype=torch.int64)],
    "tuple in list in dictionary": {"a": [(T,), torch.tensor(True)], "b": torch.ones(1)},
    "apart in one storage": list(T.clone().unbind()),
    "odd strides of one": torch.ones(1, 3).as_strided((1, 3), (7, 1)),
    "huge strides of one": torch.ones(1, 3).as_strided((1, 3), (2**61, 1)),
    "more dimensions than NumPy's": torch.ones([1] * 70),
    "as many as there may be": [torch.ones(1) for _ in range(layouts.TENSORS)],
    "bfloat16": torch.ones(3, dtype=torch.bfloat16),
    "float8": torch.ones(3).to(torch.float8_e4m3fn),
    "uint32": torch.tensor([1, 2], dtype=torch.uint32),
}


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_only_tensors_crosses_by_number(line: Line, name: str) -> None:
    value = PLAIN[name]
    wanted = picture(value) if name != "apart in one storage" else contents(value)
    seen = picture if name != "apart in one storage" else contents
    for kind in (bytes, New, int):
        got, form = line.cross(value)
        assert type(form) is kind
        assert seen(got) == wanted


@pytest.mark.parametrize("size", [1, 20, 40_000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool], ids=str)
def test_tensors_of_a_batch_are_apart(line: Line, dtype: torch.dtype, size: int) -> None:
    value = {"x": torch.ones(size, 3).to(dtype), "y": torch.zeros(size, 3).to(dtype)}
    for _ in range(4):
        got, _ = line.cross(value)
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


def test_a_batch_too_large_for_its_message_crosses_in_a_segment(line: Line) -> None:
    for number in range(6):
        held, _ = line.cross([torch.full((40_000,), number), torch.full((3,), -number)])
        assert held[0].eq(number).all()
        assert held[1].eq(-number).all()


@pytest.mark.parametrize("name", sorted(set(CATALOGUE) - REFUSED_BY_BOTH))
def test_each_value_arrives_the_same_each_time(line: Line, name: str) -> None:
    value = CATALOGUE[name]()
    first, _ = line.cross(value)
    for _ in range(3):
        assert picture(line.cross(value)[0]) == picture(first)


# Batches take long to draw, and some hold much.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(value=batches)
def test_any_batch_arrives_the_same_each_time(value: Any) -> None:
    line = Line()
    try:
        first, _ = line.cross(value)
        before = picture(first)
        for _ in range(2):
            assert picture(line.cross(value)[0]) == before
    finally:
        line.close()


def test_a_builder_makes_what_was_described() -> None:
    plain = described({"x": (T, torch.ones(2))})
    assert plain is not None
    block = memoryview(bytearray(T.numpy().tobytes() + torch.ones(2).numpy().tobytes()))
    made = Builder(plain.layout).build(block, [0, T.nbytes])
    assert picture(made) == picture({"x": (T, torch.ones(2))})
