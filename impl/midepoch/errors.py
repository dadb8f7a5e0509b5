"""The typed errors and warnings; each cites the requirement that it answers.

Programs written for the classic loaders catch these errors already: wrong input is a
``ValueError``, and a failure while running a ``RuntimeError``. All of them survive pickling, so
that a worker can send one to the main process.
"""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Iterable
from types import FrameType

__all__ = [
    "ArgumentError",
    "BusyIteratorError",
    "ForeignStateError",
    "LaneCopyError",
    "MidepochError",
    "OutsideBatchError",
    "PlanMismatchError",
    "RanksError",
    "ReplayMismatchError",
    "ReplayWarning",
    "SlowWorkerWarning",
    "SnapshotError",
    "SnapshotWarning",
    "StaleIteratorError",
    "StateEncodingError",
    "StateError",
    "StateFormatError",
    "StateVersionError",
    "UnsupportedError",
    "WorkerDiedError",
    "WorkerStartError",
    "WorkerTimeoutError",
    "show",
    "type_name",
    "warn_user",
]

_SHOWN = 60

_PACKAGE = __name__.partition(".")[0]


def type_name(value: object) -> str:
    """Return the name of ``value``'s type without running any code of that type.

    >>> type_name(3)
    'int'
    """
    # type(value).__name__ would ask a metaclass, which may be any user's code.
    name: str = type.__dict__["__name__"].__get__(type(value))
    return name


def show(value: object) -> str:
    """Return a short text for ``value`` that is safe whatever the value is.

    Only values of exact built-in scalar types are shown; of all others, the type.

    >>> show("abc"), show(None), show([1, 2])
    ("'abc'", 'None', 'a list')
    """
    # By identity throughout: to compare a foreign class may run its metaclass's code.
    if value is None or type(value) is bool or type(value) is float:
        return repr(value)
    if type(value) is int:
        bits = value.bit_length()  # repr() of a huge integer raises
        return repr(value) if bits <= 128 else f"an integer of {bits} bits"
    if type(value) is str:
        return ascii(value if len(value) <= _SHOWN else value[: _SHOWN - 3] + "...")
    name = type_name(value)
    return f"{'an' if name[:1].lower() in tuple('aeiou') else 'a'} {name}"


class MidepochError(Exception):
    """The base of all errors of this package.

    ``requirement`` is the id of the requirement in the specification that the error answers,
    or ``None``; it stands in brackets at the end of the message.

    >>> str(WorkerStartError("lane 2 did not start"))
    'lane 2 did not start'
    >>> str(StaleIteratorError("a state was loaded after this iterator was made"))
    'a state was loaded after this iterator was made [RESUME-5]'
    """

    requirement: str | None = None

    def message(self) -> str:
        """Return the message without the requirement's id."""
        return str(self.args[0]) if self.args else type(self).__name__

    def __str__(self) -> str:
        text = self.message()
        return f"{text} [{self.requirement}]" if self.requirement else text

    def __repr__(self) -> str:
        # The arguments may hold values of a state, which may be of any size.
        return f"{type(self).__name__}({str(self)!r})"


class ArgumentError(MidepochError, ValueError):
    """An argument of a public function is wrong, alone or together with the others."""


class UnsupportedError(MidepochError, RuntimeError):
    """A feature that this version does not offer yet."""


class StateError(MidepochError, ValueError):
    """The base of all errors about states."""


class StateFormatError(StateError):
    """A state is malformed, incomplete or another loader's (DOC-1, DOC-7, DOC-8, REFUSE-1).

    ``path`` names the place of the fault, as in ``$.plan.seed``.

    >>> error = StateFormatError("expected an integer from 0 to 9, got True", "$.plan.seed")
    >>> error.path
    '$.plan.seed'
    >>> str(error)
    'state at $.plan.seed: expected an integer from 0 to 9, got True [DOC-1]'
    """

    requirement = "DOC-1"

    def __init__(self, reason: str, path: str = "$", requirement: str | None = None) -> None:
        super().__init__(reason, path, requirement)
        self.reason = reason
        self.path = path
        if requirement is not None:
            self.requirement = requirement

    def message(self) -> str:
        """Return the place and the reason."""
        return f"state at {self.path}: {self.reason}"


class ForeignStateError(StateFormatError):
    """Another loader's state lacks information that is needed to continue here (REFUSE-1).

    >>> str(ForeignStateError("it is of a data pipe", "$._shared_seed"))
    "torchdata's state at $._shared_seed: it is of a data pipe [REFUSE-1]"
    """

    requirement = "REFUSE-1"

    def message(self) -> str:
        """Return the place and the reason."""
        return f"torchdata's state at {self.path}: {self.reason}"


class StateVersionError(StateError):
    """A state of this format, in a version that this package does not read (DOC-17)."""

    requirement = "DOC-17"

    def __init__(self, found: object, known: int) -> None:
        super().__init__(found, known)
        self.found = found
        self.known = known

    def message(self) -> str:
        """Return both versions and what to do."""
        return (
            f"state at $.version: this package reads version {self.known} of the format, the "
            f"state is of version {show(self.found)}; load it with the midepoch that saved it, "
            "or a newer one"
        )


class PlanMismatchError(StateError):
    """A state of another plan; every differing field is named (DOC-12, REFUSE-3).

    ``fields`` holds a triple ``(name, saved, here)`` for each; ``advice`` is what else can be done.

    >>> error = PlanMismatchError([("batch_size", 8, 4)])
    >>> error.fields
    (('batch_size', 8, 4),)
    >>> print(error.message().splitlines()[2])
      batch_size  8      4
    """

    requirement = "DOC-12"

    def __init__(self, fields: Iterable[tuple[str, object, object]], advice: str = "") -> None:
        self.fields = tuple((name, saved, here) for name, saved, here in fields)
        self.advice = advice
        super().__init__(self.fields, advice)

    def message(self) -> str:
        """Return a table of the differing fields."""
        rows = [("field", "saved", "here")]
        rows += [(name, show(saved), show(here)) for name, saved, here in self.fields]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        table = [
            "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        head = "the state is of another plan:"
        tail = "build the loader with the saved values, or start without the state"
        return "\n".join([head, *table, tail, *filter(None, [self.advice])])


class StateEncodingError(StateError):
    """A value in a state has no canonical encoding (DOC-5).

    ``path`` names the place, ``type`` the value's type.

    >>> str(StateEncodingError("$.x", "object"))
    'state at $.x: a value of type object has no canonical encoding [DOC-5]'
    """

    requirement = "DOC-5"

    def __init__(self, path: str, type: str, reason: str | None = None) -> None:  # noqa: A002 -- the word that fits
        super().__init__(path, type, reason)
        self.path = path
        self.type = type
        self.reason = reason

    def message(self) -> str:
        """Return the place, the type and, if there is one, the reason."""
        text = f"state at {self.path}: a value of type {self.type} has no canonical encoding"
        return f"{text}: {self.reason}" if self.reason else text


class ReplayMismatchError(StateError, RuntimeError):
    """A replayed sampler yields other indices than those consumed before the state was taken."""

    requirement = "EPOCH-4"


class StaleIteratorError(MidepochError, RuntimeError):
    """An iterator was used after a state was loaded into its loader (RESUME-5)."""

    requirement = "RESUME-5"


class BusyIteratorError(MidepochError, RuntimeError):
    """``next()`` was called while another thread, or the batch's own code, is inside it.

    Nothing has changed: the other call gives its batch.
    """


class RanksError(MidepochError, RuntimeError):
    """The ranks that should share a plan cannot be found, or cannot agree on a seed (RANK-8).

    >>> from midepoch import StatefulDataLoader
    >>> StatefulDataLoader([1, 2, 3, 4], ranks=(0, 2)).state_dict()
    Traceback (most recent call last):
    midepoch.errors.RanksError: each rank drew a seed of its own, and they agree on one in ...
    """


class LaneCopyError(MidepochError, RuntimeError):
    """A dataset cannot be copied for a lane that shares its process with another."""


class OutsideBatchError(MidepochError, RuntimeError):
    """``batch_info()`` was called where no batch is being made (SEED-7)."""

    requirement = "SEED-7"


class SnapshotError(MidepochError, RuntimeError):
    """The datasets' state is not known, because their own ``state_dict`` failed (LANE-35).

    No state can be taken then, and no lane restored that was lost.
    """


class WorkerStartError(MidepochError, RuntimeError):
    """A worker cannot be started: for lack of resources, or because of an unpicklable dataset."""


class WorkerDiedError(MidepochError, RuntimeError):
    """A worker process ended without being told to (FAULT-1).

    ``exitcode`` is negative for a signal, as in ``multiprocessing``.

    >>> print(WorkerDiedError(1, 4242, -9).message())
    DataLoader worker (pid 4242) is killed by signal: Killed. (worker 1, SIGKILL)
    >>> print(WorkerDiedError(0, 4242, 3).message())
    DataLoader worker (pid(s) 4242) exited unexpectedly with exit code 3 (worker 0)
    """

    requirement = "FAULT-1"

    def __init__(
        self, worker: int, pid: int | None, exitcode: int | None, hint: str | None = None
    ) -> None:
        super().__init__(worker, pid, exitcode, hint)
        self.worker = worker
        self.pid = pid
        self.exitcode = exitcode
        self.hint = hint

    def message(self) -> str:
        """Return the classic wording, the worker's number and what to do."""
        if self.exitcode is not None and self.exitcode < 0:
            name, words = _signal(-self.exitcode)
            text = (
                f"DataLoader worker (pid {self.pid}) is killed by signal: {words}. "
                f"(worker {self.worker}, {name})"
            )
        else:
            code = "unknown" if self.exitcode is None else self.exitcode
            text = (
                f"DataLoader worker (pid(s) {self.pid}) exited unexpectedly with exit code {code} "
                f"(worker {self.worker})"
            )
        return f"{text}; {self.hint}" if self.hint else text


class WorkerTimeoutError(MidepochError, RuntimeError):
    """No batch came within ``timeout`` seconds (FAULT-1).

    >>> str(WorkerTimeoutError(5))
    'DataLoader timed out after 5 seconds [FAULT-1]'
    """

    requirement = "FAULT-1"

    def __init__(self, seconds: float, hint: str | None = None) -> None:
        super().__init__(seconds, hint)
        self.seconds = seconds
        self.hint = hint

    def message(self) -> str:
        """Return the classic wording."""
        text = f"DataLoader timed out after {self.seconds} seconds"
        return f"{text}; {self.hint}" if self.hint else text


class ReplayWarning(UserWarning):
    """Batches are produced again to reach the loaded position; the message counts them."""


class SlowWorkerWarning(UserWarning):
    """No batch has come for two minutes, and the loader has no timeout; names the late worker."""


class SnapshotWarning(UserWarning):
    """A user's ``state_dict`` failed; the older snapshot is kept and more is replayed."""


def _signal(number: int) -> tuple[str, str]:
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}", f"signal {number}"
    return name, signal.strsignal(number) or name


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's program that called this package, however deep this is."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def _is_ours(frame: FrameType) -> bool:
    name = str(frame.f_globals.get("__name__", ""))
    return name.partition(".")[0] == _PACKAGE
