"""A loader's handler of ``SIGCHLD``, kept from running in the suite's own lines (standard library).

Torch's handler raises an error wherever the main thread is when a worker dies. In the lines between
two steps the error would end the play, although the loader raised it.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

__all__ = ["ChildSignals"]


class ChildSignals:
    """Lets the handler run in the loader's turns alone; a signal between two of them waits.

    Example:
        >>> def died(*_: object) -> None:
        ...     raise RuntimeError("a worker died")
        >>> before = signal.signal(signal.SIGCHLD, died)
        >>> signals = ChildSignals()
        >>> with signals.turn():
        ...     pass
        >>> signal.raise_signal(signal.SIGCHLD)
        >>> try:
        ...     with signals.turn():
        ...         pass
        ... except RuntimeError as error:
        ...     print(error)
        a worker died
        >>> signals.give_back()
        >>> _ = signal.signal(signal.SIGCHLD, before)
    """

    def __init__(self) -> None:
        self._handler: Callable[[int, FrameType | None], Any] | None = None
        self._waits = False

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Let the handler run; first of all, for a signal that waits."""
        try:
            handler, waits = self._handler, self._waits
            self.give_back()
            if waits and handler is not None:
                handler(signal.SIGCHLD, None)
            yield
        finally:
            raised = self.hold()
            if raised is not None:
                raise raised

    def hold(self) -> Exception | None:
        """Keep the handler from running; return the error that it raised before it was kept."""
        raised = None
        while self._handler is None:
            try:
                handler = signal.getsignal(signal.SIGCHLD)
                if not callable(handler):
                    break
                signal.signal(signal.SIGCHLD, self._wait)
                self._handler = handler
            except Exception as error:
                raised = error
        return raised

    def give_back(self) -> None:
        """Let the handler run again; a signal that waits is forgotten."""
        handler, self._handler, self._waits = self._handler, None, False
        if handler is not None:
            signal.signal(signal.SIGCHLD, handler)

    def _wait(self, *_: object) -> None:
        self._waits = True
