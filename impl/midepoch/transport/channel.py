"""One end of the connection between the main process and a worker: whole messages, in order.

A message is sent by one system call if the socket has room, and one call reads all messages that
have arrived. File descriptors travel beside them.
"""

from __future__ import annotations

import array
import contextlib
import os
import socket
import struct
from collections import deque
from typing import Any

__all__ = ["Channel"]

_LENGTH = struct.Struct("<Q")

CHUNK = 64 * 1024
"""Bytes that one call reads at most."""

DESCRIPTORS = 8
"""Descriptors that one call receives at most. A read ends after a message that brings one."""

_ANCILLARY = socket.CMSG_SPACE(DESCRIPTORS * array.array("i").itemsize)


class Channel:
    """One end of a pair of connected sockets."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._arrived: deque[bytes] = deque()
        self._rest = bytearray()
        """The beginning of a message whose end has not arrived."""
        self.descriptors: deque[int | None] = deque()
        """Descriptors that arrived with the messages; the receiver closes them.

        ``None``: the system left one out, because this process may have no more."""

    def fileno(self) -> int:
        """Return the socket's descriptor."""
        return self._socket.fileno()

    def send(self, message: bytes, *, tail: Any = b"", descriptor: int | None = None) -> None:
        """Send a message, of which ``tail``, a buffer of bytes, is the end.

        Raises:
            OSError: the other end is closed.
        """
        parts: list[Any] = [_LENGTH.pack(len(message) + len(tail)), message]
        if len(tail):
            parts.append(tail)
        beside = []
        if descriptor is not None:
            beside = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        sent = self._socket.sendmsg(parts, beside)
        if sent < sum(map(len, parts)):
            self._socket.sendall(memoryview(b"".join(parts))[sent:])

    def receive(self, *, wait: bool = True) -> bool:
        """Read what has arrived, in one call; return False if the other end is closed.

        Raises:
            BlockingIOError: nothing is there, or nothing came before the socket's timeout.
        """
        try:
            data, beside, flags, _ = self._socket.recvmsg(
                CHUNK, _ANCILLARY, 0 if wait else socket.MSG_DONTWAIT
            )
        except ConnectionError:
            return False
        if (
            flags & socket.MSG_CTRUNC
        ):  # a lost one keeps its place, so that the next one is not mistaken for it
            self.descriptors.append(None)
        for level, kind, content in beside:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                self.descriptors.extend(array.array("i", content))
        if not data:
            return False
        self._split(data)
        return True

    def _split(self, data: bytes) -> None:
        if self._rest:
            self._rest += data
            if len(self._rest) < self._missing():
                return
            data, self._rest = bytes(self._rest), bytearray()
        at, end = 0, len(data)
        while end - at >= _LENGTH.size:
            start = at + _LENGTH.size
            stop = start + _LENGTH.unpack_from(data, at)[0]
            if stop > end:
                break
            self._arrived.append(data[start:stop])
            at = stop
        self._rest += data[at:]

    def _missing(self) -> int:
        """Return the bytes up to the end of the first message."""
        if len(self._rest) < _LENGTH.size:
            return _LENGTH.size
        return _LENGTH.size + int(_LENGTH.unpack_from(self._rest)[0])

    def next(self) -> bytes | None:
        """Return the next message that was received whole, or ``None``."""
        return self._arrived.popleft() if self._arrived else None

    def next_descriptor(self) -> int | None:
        """Return the descriptor of the next message that brings one; ``None``: it was lost."""
        return self.descriptors.popleft() if self.descriptors else None

    def close(self) -> None:
        """Close this process's copy of this end, and the descriptors that nobody took."""
        self._socket.close()
        while self.descriptors:
            descriptor = self.next_descriptor()
            if descriptor is not None:
                with contextlib.suppress(OSError):
                    os.close(descriptor)
