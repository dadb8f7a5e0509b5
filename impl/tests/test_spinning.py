"""Looking before sleeping: when it is done, and when not."""

from __future__ import annotations

import time

import pytest

from midepoch.transport import spinning
from midepoch.transport.spinning import Spin


class Clock:
    """Time that passes by looking: a look takes ``step`` seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.looks = 0
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def found_after(self, looks: int, step: float = 1.0) -> bool:
        def ready() -> bool:
            self.looks += 1
            self.now += step
            return self.looks > looks

        self.looks = 0
        return self.spin.finds(ready)

    spin = Spin(0.0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock(monkeypatch)
    made.spin = Spin(10.0)
    return made


def pauses(clock: Clock) -> int:
    """Return how many calls do not look before one does, which finds."""
    for number in range(200):
        clock.found_after(0)
        if clock.looks:
            return number
    raise AssertionError("it never looks again")


def test_it_looks_until_something_is_there(clock: Clock) -> None:
    for looks in (0, 1, 5, 8):
        assert clock.found_after(looks)
        assert clock.looks == looks + 1
    assert pauses(clock) == 0


def test_it_stops_when_the_moment_is_over(clock: Clock) -> None:
    assert not clock.found_after(1000)
    assert clock.looks == 10


def test_in_vain_it_looks_less_and_less_often_until_it_finds(clock: Clock) -> None:
    found = []
    for _ in range(8):
        while not clock.found_after(1000) and not clock.looks:
            found[-1] += 1
        found.append(0)
    assert found[:-1] == [1, 3, 7, 15, 31, 63, 63]
    assert pauses(clock) == 63
    assert pauses(clock) == 0


def test_what_was_found_late_keeps_it_from_looking_for_long(clock: Clock) -> None:
    assert clock.found_after(0, step=24.0)  # the other processes of the loader had their turn
    assert pauses(clock) == 0
    assert clock.found_after(0, step=51.0)
    assert pauses(clock) == 63


def test_others_have_the_processor_between_two_looks(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    let: list[int] = []
    monkeypatch.setattr(spinning, "_let_others", lambda: let.append(clock.looks))
    assert clock.found_after(3)
    assert let == [1, 2, 3]


def test_without_a_moment_it_does_not_look(clock: Clock) -> None:
    clock.spin = Spin(0.0)
    assert not clock.found_after(0)
    assert clock.looks == 0
