"""Passes over a user's object: their states, and what is loaded, left and stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from midepoch.errors import StateFormatError
from midepoch.lane.passes import FirstState, Pass
from midepoch.stateful import freeze, thaw


class Counter:
    """An iterable with a state, whose loaded position holds for the next ``iter`` alone."""

    def __init__(self, n: int) -> None:
        self.n, self.at, self.calls = n, 0, 0

    def __iter__(self) -> Iterator[int]:
        start, self.at = self.at, 0
        return iter(range(start, self.n))

    def state_dict(self) -> dict[str, int]:
        self.calls += 1
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


class OwnIterator(Counter):
    """An object that is its own iterator."""

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if self.at == self.n:
            raise StopIteration
        self.at += 1
        return self.at


def begun(source: Any, **how: bool) -> Pass:
    made = Pass(source, lambda: iter(source))
    made.begin(**how)
    return made


def test_an_iterator_is_needed() -> None:
    made = Pass([1], lambda: iter([1]))
    assert (made.state, list(made), made.stateful) == ("not begun", [], False)
    made.rest()
    assert (made.state, list(made)) == ("resting", [])


def test_an_end_after_a_sample_is_the_end() -> None:
    made = begun(Counter(2), loaded=True)
    assert made.state == "loaded"
    assert next(made) == 0
    assert made.state == "running"
    assert list(made) == [1]
    assert list(made) == []


def test_a_loaded_end_is_followed_by_the_next_pass_once() -> None:
    source = Counter(2)
    source.load_state_dict({"at": 2})
    made = begun(source, loaded=True)
    assert list(made) == [0, 1]
    assert made.state == "running"
    source.load_state_dict({"at": 2})
    assert list(begun(source)) == []
    assert list(begun(Counter(0), loaded=True)) == []


def test_the_next_pass_within_a_batch_has_a_beginning_of_its_own() -> None:
    made = Pass([], lambda: iter([]), lambda: iter("again"))
    made.begin(loaded=True)
    assert "".join(made) == "again"


def test_leaving_a_pass_takes_an_end_and_the_errors_that_were_shown() -> None:
    drawn: list[int] = []

    def draw(number: int) -> None:
        drawn.append(number)
        if number == 1:
            raise ValueError("seen by the run before")
        if number == 3:
            raise StopIteration

    begun([]).leave(9, draw, (1,))
    assert drawn == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="seen by the run before"):
        begun([]).leave(9, draw, (0, 2))


def test_an_object_that_is_its_own_iterator_is_stored_once() -> None:
    source = OwnIterator(3)
    made = begun(source)
    next(made)
    states = made.states({"dataset": source}, "iterator")
    assert {slot: thaw(state) for slot, state in states.items()} == {"iterator": {"at": 1}}
    assert source.calls == 1
    other = Counter(3)
    assert set(begun(other).states({"dataset": other}, "iterator")) == {"dataset"}


def test_an_iterator_without_a_state_refuses_one() -> None:
    with pytest.raises(StateFormatError, match=r"iter\(\) of Counter gave range_iterator") as error:
        begun(Counter(1)).load_iterator(freeze({}), "$.lanes.entries[0].iterator")
    assert error.value.path == "$.lanes.entries[0].iterator"


def test_the_first_states_are_kept_and_applied_only_to_restore() -> None:
    first, source = FirstState(), Counter(5)
    objects = {"dataset": source, "other": [1]}
    first.apply(objects, restoring=True)
    source.at = 3
    first.apply(objects, restoring=False)
    assert source.at == 3
    first.apply(objects, restoring=True)
    assert source.at == 0


def test_an_object_whose_first_state_fails_has_none() -> None:
    class Late(Counter):
        def state_dict(self) -> dict[str, int]:
            raise RuntimeError("iterate first")

    first, source = FirstState(), Late(5)
    first.apply({"dataset": source}, restoring=True)
    source.at = 3
    first.apply({"dataset": source}, restoring=True)
    assert source.at == 3
