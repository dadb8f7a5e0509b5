"""The typed errors: their types, their texts, and their way through pickle."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from importlib.resources import files

import pytest

from midepoch import errors
from midepoch.errors import MidepochError, show, type_name

EXAMPLES: list[MidepochError] = [
    errors.ArgumentError("lanes must be at least 0, got -1"),
    errors.UnsupportedError("pin_memory is not offered yet"),
    errors.StateError("no"),
    errors.StateFormatError("expected a dict, got None", "$.plan"),
    errors.StateFormatError("not a midepoch state", "$", "REFUSE-1"),
    errors.ForeignStateError("it is of a data pipe", "$._shared_seed"),
    errors.StateVersionError(2, 1),
    errors.PlanMismatchError([("length", 1, None)]),
    errors.StateEncodingError("$.x", "object"),
    errors.StateEncodingError("$.x", "Tensor", "move it with .cpu()"),
    errors.ReplayMismatchError("the sampler yields other indices"),
    errors.StaleIteratorError("a state was loaded after this iterator was made"),
    errors.BusyIteratorError("another thread is inside next()"),
    errors.RanksError("there is no process group"),
    errors.LaneCopyError("attribute 'lock' cannot be copied"),
    errors.SnapshotError("the dataset's state_dict failed"),
    errors.WorkerStartError("worker 1 did not start"),
    errors.WorkerDiedError(1, 4242, -9, "it may be out of memory"),
    errors.WorkerDiedError(1, None, None),
    errors.WorkerTimeoutError(5.0),
    errors.OutsideBatchError("batch_info() was called where no batch is made"),
]


def test_every_error_has_an_example() -> None:
    public = {getattr(errors, name) for name in errors.__all__}
    kinds = {k for k in public if isinstance(k, type) and issubclass(k, MidepochError)}
    assert {type(example) for example in EXAMPLES} == kinds - {MidepochError}


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "travel", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_errors_travel_between_processes(
    error: MidepochError, travel: Callable[[MidepochError], MidepochError]
) -> None:
    arrived = travel(error)
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)
    assert vars(arrived) == vars(error)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda e: type(e).__name__)
def test_errors_cite_their_requirement_and_say_something(error: MidepochError) -> None:
    assert len(error.message()) >= 2
    if error.requirement is None:
        assert str(error) == error.message()
    else:
        assert str(error) == f"{error.message()} [{error.requirement}]"


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda e: type(e).__name__)
def test_errors_are_what_programs_catch_today(error: MidepochError) -> None:
    assert isinstance(error, ValueError | RuntimeError)
    assert isinstance(error, ValueError) or not isinstance(error, errors.StateError)


def test_every_cited_requirement_is_in_the_index() -> None:
    index = json.loads((files("midepoch_spec") / "requirements.json").read_text("utf-8"))
    known = {requirement["id"] for requirement in index["requirements"]}
    assert {error.requirement for error in EXAMPLES} - {None} <= known


def test_the_classic_wording_is_kept() -> None:
    killed = str(errors.WorkerDiedError(1, 4242, -9))
    assert "DataLoader worker (pid 4242) is killed by signal: Killed" in killed
    left = str(errors.WorkerDiedError(1, 4242, 1))
    assert "DataLoader worker (pid(s) 4242) exited unexpectedly" in left
    assert "DataLoader timed out after 5 seconds" in str(errors.WorkerTimeoutError(5))


def test_an_unknown_signal_is_still_told() -> None:
    assert "signal 200" in str(errors.WorkerDiedError(0, 1, -200))


class Hostile(type):
    """A metaclass that answers nothing."""

    def __getattribute__(cls, name: str) -> object:
        raise RuntimeError("asked")

    def __instancecheck__(cls, instance: object) -> bool:
        raise RuntimeError("asked")


class Victim(metaclass=Hostile):
    @property  # type: ignore[misc]  # the lie is the point
    def __class__(self) -> type:
        raise RuntimeError("asked")

    def __repr__(self) -> str:
        raise RuntimeError("asked")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (-3, "-3"),
        (1.5, "1.5"),
        ("a'\ud800", '"a\'\\ud800"'),
        pytest.param(10**5000, "an integer of 16610 bits", id="huge"),
        ([1], "a list"),
        ({}, "a dict"),
        (b"", "a bytes"),
        pytest.param(Victim(), "a Victim", id="hostile"),
    ],
)
def test_show_is_short_and_safe(value: object, text: str) -> None:
    assert show(value) == text


def test_show_cuts_long_strings() -> None:
    assert len(show("x" * 10_000)) < 70


def test_show_and_type_name_ask_no_metaclass() -> None:
    class Unequal(type):
        def __eq__(cls, other: object) -> bool:
            raise RuntimeError("asked")

        __hash__ = type.__hash__

    class Odd(metaclass=Unequal):
        pass

    assert type_name(Victim()) == "Victim"
    assert show(Odd()) == "an Odd"


def test_an_error_about_a_huge_number_can_be_shown() -> None:
    """A version of 5,000 digits is beyond what ``str`` converts."""
    error = errors.StateVersionError(10**5000, 1)
    assert repr(error) == f"StateVersionError({str(error)!r})"
