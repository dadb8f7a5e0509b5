"""Exceptions and endings of processes as faults of a trace (standard library only)."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Collection
from types import TracebackType

from midepoch_conformance.case.trace import Fault
from midepoch_conformance.case.workload import WorkloadError
from midepoch_conformance.host.system.deadline import BUSY, SPINS, STANDS
from midepoch_conformance.host.system.stacks import innermost

__all__ = ["ENDLESS", "crash", "fault_of", "from_outside", "hang", "is_late"]

ENDLESS = "endless epoch"
"""The type of a hang of an epoch that delivers batches without an end."""

_SUITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

_MESSAGE, _TRACEBACK = 2000, 4000


def fault_of(error: BaseException, at: str, own: Collection[str], kind: str = "raised") -> Fault:
    """Return ``error`` as a fault.

    An error whose innermost frame lies in a file of ``own`` (the adapter's files) is the adapter's,
    unless the workload raised it on purpose.
    """
    if kind == "raised" and _innermost(error) in own and not isinstance(error, WorkloadError):
        kind = "adapter"
    cls = type(error)
    return Fault(
        kind=kind,
        type=cls.__name__,
        bases=tuple(base.__name__ for base in cls.__mro__ if base is not object),
        message=_text(error)[:_MESSAGE],
        traceback="".join(traceback.format_exception(cls, error, error.__traceback__))[
            -_TRACEBACK:
        ],
        at=at,
    )


def hang(at: str, limit: float, stacks: str = "", did: str = STANDS) -> Fault:
    """Return the fault of a session that did not end within its limit.

    Args:
        at: the phase.
        limit: the seconds that it had.
        stacks: the places of its processes, as ``stacks.ask`` tells.
        did: what they did meanwhile, as :class:`Deadline` tells.
    """
    line = innermost(stacks)
    words = f"no end within {limit:g} s: killed{f' at {line}' if line else ''}"
    if did != STANDS:
        words = words.replace("no end", "still at work, and no end", 1)
    return Fault("hang", did, message=words, traceback=stacks, at=at)


def is_late(fault: Fault) -> bool:
    """Return whether a clock alone made this a fault."""
    return fault.kind == "hang" and fault.type in (STANDS, SPINS, BUSY)


def crash(at: str, status: int | None, output: str = "") -> Fault:
    """Return the fault of a process that died in a session.

    ``status`` is a result of ``os.waitstatus_to_exitcode``, or None if it is unknown. ``output`` is
    the text that the process had printed.
    """
    if status is None:
        name, words = "died", "the process died"
    elif status < 0:
        name = signal.Signals(-status).name
        words = f"the process was killed by {name}"
    else:
        name, words = f"exit status {status}", f"the process ended with exit status {status}"
    return Fault("crash", name, message=words, traceback=output[-_TRACEBACK:], at=at)


def from_outside(error: BaseException) -> bool:
    """Return whether code that is not the suite's raised ``error``."""
    return not os.path.abspath(_innermost(error)).startswith(_SUITE + os.sep)


def _innermost(error: BaseException) -> str:
    """Return the file in which ``error`` was raised, or "" if it is unknown."""
    # Python turns a StopIteration that leaves a generator into a RuntimeError of that generator.
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, StopIteration):
        error = error.__cause__
    frame: TracebackType | None = error.__traceback__
    file = ""
    while frame is not None:
        file = frame.tb_frame.f_code.co_filename
        frame = frame.tb_next
    return file


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:
        return f"(its text cannot be made: {type(broken).__name__} in {os.path.basename(__file__)})"
