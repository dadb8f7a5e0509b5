"""Errors of user code, in any worker: their type, their text, and the batches after them."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import sources
from histories import keep

from midepoch import StatefulDataLoader

N = 6
both = pytest.mark.parametrize("workers", [0, 1])


class DetailedError(Exception):
    """Cannot be built from a message."""

    def __init__(self, code: int, *, detail: str) -> None:
        super().__init__(code)
        self.detail = detail


class MessageError(ValueError):
    """Has a ``message`` that its constructor does not take."""

    message = "see the code"

    def __init__(self, code: int) -> None:
        super().__init__(f"code {code:d}")


class KeywordError(Exception):
    """Takes its message by its name, as some libraries' errors do."""

    message = "none"

    def __init__(self, message: str) -> None:
        super().__init__(message)


class LockedError(Exception):
    """Cannot be pickled."""

    def __reduce__(self) -> Any:
        raise TypeError("locked")


class StrictError(Exception):
    """Its constructor raises what is no TypeError."""

    def __init__(self, code: int) -> None:
        super().__init__({1: "one"}[code])


ERRORS = [
    (ValueError("row 2"), ValueError),
    (KeyError("row 2"), KeyError),
    (KeywordError("row 2"), KeywordError),
    (OSError(2, "row 2"), FileNotFoundError),
    (UnicodeDecodeError("utf-8", b"x", 0, 1, "row 2"), RuntimeError),
    (DetailedError(2, detail="row 2"), RuntimeError),
    (MessageError(2), RuntimeError),
    (StrictError(1), RuntimeError),
    (LockedError("row 2"), LockedError),
]


class Raising(sources.Plain):
    """Raises at row 2, and goes on."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(N)
        self.error = error

    def __getitem__(self, index: int) -> Any:
        if index == 2:
            raise self.error
        return index


class RaisingCursor(sources.Cursors):
    """The same, as a stream."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(N)
        self.error = error

    def __iter__(self) -> Any:
        return _Cursor(self.error)


class _Cursor:
    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.at = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> int:
        if self.at == N:
            raise StopIteration
        self.at += 1
        if self.at == 3:
            raise self.error
        return self.at - 1


def loader(dataset: Any, **arguments: Any) -> Any:
    return StatefulDataLoader(dataset, **{"batch_size": 1, "collate_fn": keep, **arguments})


@pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning")
@both
@pytest.mark.parametrize(
    ("dataset", "error", "expected"),
    [*((Raising, *pair) for pair in ERRORS), (RaisingCursor, *ERRORS[0])],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value.__name__,
)
def test_an_error_keeps_its_type_and_place_and_the_next_batch_follows(
    dataset: Any, error: Exception, expected: type[Exception], workers: int
) -> None:
    made = loader(dataset(error), num_workers=workers)
    batches = iter(made)
    assert [next(batches), next(batches)] == [[0], [1]]
    with pytest.raises(Exception) as caught:  # noqa: PT011 -- its type is what is asked next
        next(batches)
    if workers:
        assert type(caught.value) is expected
        text = str(caught.value)
        assert text.startswith(f"Caught {type(error).__name__} in DataLoader worker process 0.\n")
        assert "Traceback (most recent call last)" in text
        assert f"{__file__}" in text
    else:
        assert caught.value is error
    state = made.state_dict()
    rest = list(batches)
    assert rest == [[3], [4], [5]]
    resumed = loader(dataset(error), num_workers=workers)
    resumed.load_state_dict(state)
    assert list(resumed) == rest


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups are of Python 3.11")
def test_a_group_keeps_its_members() -> None:
    group: Any = vars(__import__("builtins"))["ExceptionGroup"]
    members = [ValueError("one"), group("inner", [KeyError("two")])]
    for given, kept in ((members, 2), ([DetailedError(1, detail="")], None)):
        batches = iter(loader(Raising(group("both", given)), num_workers=1))
        for _ in range(2):
            next(batches)
        with pytest.raises(Exception, match="both") as caught:
            next(batches)
        if kept:
            assert type(caught.value) is group
            told: Any = caught.value
            assert [repr(member) for member in told.exceptions] == [repr(m) for m in members]
        else:
            assert type(caught.value) is RuntimeError


@both
@pytest.mark.parametrize("where", ["collate_fn", "sampler", "worker_init_fn"])
def test_errors_of_other_functions_keep_their_type(where: str, workers: int) -> None:
    def fail(_: Any) -> Any:
        raise LookupError("mine")

    class Sampler(sources.Lively):
        def __iter__(self) -> Any:
            yield 0
            raise LookupError("mine")

    given = Sampler(N) if where == "sampler" else fail
    made = loader(sources.Plain(N), num_workers=workers, lanes=1, **{where: given})
    with pytest.raises(LookupError, match="mine"):
        list(made)


@both
def test_a_caught_error_in_collate_takes_its_turn(workers: int) -> None:
    def fussy(rows: Any) -> Any:
        if rows[0][0] == 2:
            raise ValueError("not this one")
        return rows[0][0]

    made = loader(sources.Plain(N), collate_fn=fussy, num_workers=workers)
    seen = []
    batches = iter(made)
    while True:
        try:
            seen.append(next(batches))
        except ValueError:
            seen.append("error")
            assert made.state_dict()["position"]["batches"] == 3
        except StopIteration:
            break
    assert seen == [0, 1, "error", 3, 4, 5]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_inline_what_is_no_exception_passes_and_the_batch_is_asked_for_again(
    kind: type[BaseException],
) -> None:
    raising = Raising(kind())
    made = loader(raising)
    batches = iter(made)
    assert [next(batches), next(batches)] == [[0], [1]]
    with pytest.raises(kind):
        next(batches)
    assert made.state_dict()["position"]["batches"] == 2
    raising.error = ValueError("now it raises another")
    with pytest.raises(ValueError, match="another"):
        next(batches)
    assert list(batches) == [[3], [4], [5]]
