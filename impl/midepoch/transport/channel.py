"""One end of the connection between the main process and a worker: whole messages, in order.

Messages go through memory of both, without a system call, where that can be had (``ring``). What
is too long, and what brings a file descriptor, goes through a socket, which also wakes who sleeps
and tells when the other end is gone.
"""

from __future__ import annotations

import array
import contextlib
import os
import socket
import struct
from collections import deque
from typing import Any

from midepoch.transport import mapping, ring
from midepoch.transport.mapping import Mapping, anonymous
from midepoch.transport.ring import SIZE, Ring, fence
from midepoch.transport.spinning import Spin

__all__ = ["Channel"]

_LENGTH = struct.Struct("<Q")

CHUNK = 64 * 1024
"""Bytes that one call reads at most."""

DESCRIPTORS = 8
"""Descriptors that one call receives at most: a read ends with a message that brings one."""

_ANCILLARY = socket.CMSG_SPACE(DESCRIPTORS * array.array("i").itemsize)

# In the place of a length:
_WORDS = 1 << 63
_OFFERED, _TAKEN, _DECLINED, _WAKE = range(_WORDS, _WORDS + 4)


class Channel:
    """One end of a pair of connected sockets.

    ``spin``: seconds that a wait looks for a message before it sleeps.
    """

    def __init__(self, end: socket.socket, spin: float = 0.0) -> None:
        self._socket = end
        self._arrived: deque[bytes] = deque()
        self._rest = bytearray()
        """The beginning of a message of which more is to come."""
        self.descriptors: deque[int | None] = deque()
        """What arrived with the messages; the receiver closes them. ``None``: one that was lost,
        as this process may have no more."""
        self._outgoing: Ring | None = None
        self._incoming: Ring | None = None
        self._shared = False
        """Whether both ends have the rings; until then these only keep the order."""
        self._spin = Spin(spin)

    def fileno(self) -> int:
        """Return the socket's descriptor."""
        return self._socket.fileno()

    # What goes out

    def send(self, message: bytes, *, tail: Any = b"", descriptor: int | None = None) -> None:
        """Send a message, of which ``tail``, a buffer of bytes, is the end.

        Raises:
            OSError: the other end is closed.
        """
        outgoing = self._outgoing
        if outgoing is None:
            self._transmit(message, tail, descriptor)
            return
        if not self._shared or descriptor is not None or not outgoing.put(message, tail):
            self._transmit(message, tail, descriptor)
            outgoing.mark()
        if outgoing.to_wake():
            self._tell(_WAKE)

    def _transmit(self, message: bytes, tail: Any, descriptor: int | None) -> None:
        parts: list[Any] = [_LENGTH.pack(len(message) + len(tail)), message]
        if len(tail):
            parts.append(tail)
        sent = self._socket.sendmsg(parts, _beside(descriptor))
        if sent < sum(map(len, parts)):
            self._socket.sendall(memoryview(b"".join(parts))[sent:])

    def _tell(self, word: int, descriptor: int | None = None) -> None:
        self._socket.sendmsg([_LENGTH.pack(word)], _beside(descriptor))

    def offer(self) -> None:
        """Offer memory for messages to the other end, once, before anything is sent.

        Where there is none, or the other end cannot map it, all goes through the socket.
        """
        if not (mapping.AVAILABLE and ring.AVAILABLE):
            return
        with contextlib.suppress(OSError):
            mapped, descriptor = anonymous(2 * SIZE)
            try:
                self._tell(_OFFERED, descriptor)
            finally:
                os.close(descriptor)
            memory = mapped.view()
            self._outgoing, self._incoming = Ring(memory[:SIZE]), Ring(memory[SIZE:])

    # What comes in

    def receive(self, *, wait: bool = True) -> bool:
        """Read what has arrived, in one call; return False where the other end is closed.

        With ``wait``, this may return also when nothing has come, and when nothing had to be read.

        Raises:
            BlockingIOError: nothing is there, or came for as long as the socket waits.
        """
        if not wait:
            return self._read(socket.MSG_DONTWAIT)
        if self._shared and (self.ready() or self._spin.finds(self.ready)):
            return True
        try:
            self.sleep()
            fence()
            return (self._shared and self.ready()) or self._read(0)
        finally:
            self.awake()

    @property
    def shared(self) -> bool:
        """Whether messages go through memory."""
        return self._shared

    def sleep(self) -> None:
        """Ask to be woken through the socket, unless after a ``fence`` a message is there."""
        if self._shared and self._incoming is not None:
            self._incoming.sleep()

    def awake(self) -> None:
        """Ask for that no more."""
        if self._incoming is not None:
            self._incoming.awake()

    def ready(self) -> bool:
        """Tell whether a message is there that was received whole."""
        if self._shared and self._incoming is not None:
            return self._incoming.ready
        return bool(self._arrived)

    def _read(self, flags: int) -> bool:
        try:
            data, beside, told, _ = self._socket.recvmsg(CHUNK, _ANCILLARY, flags)
        except ConnectionError:
            return False
        if told & socket.MSG_CTRUNC:  # else the next message's would be taken for this one's
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
            start, length = at + _LENGTH.size, _LENGTH.unpack_from(data, at)[0]
            if length >= _WORDS:
                self._heed(length)
                at = start
                continue
            stop = start + length
            if stop > end:
                break
            self._arrived.append(data[start:stop])
            at = stop
        self._rest += data[at:]

    def _missing(self) -> int:
        """Return the bytes up to the end of the first message."""
        if len(self._rest) < _LENGTH.size:
            return _LENGTH.size
        length = int(_LENGTH.unpack_from(self._rest)[0])
        return _LENGTH.size + (0 if length >= _WORDS else length)

    def _heed(self, word: int) -> None:
        if word == _OFFERED:
            self._tell(_TAKEN if self._take() else _DECLINED)
        elif word == _TAKEN:
            self._shared = True
        elif word == _DECLINED:
            self._outgoing = self._incoming = None

    def _take(self) -> bool:
        """Map the memory that is offered; return whether that could be done."""
        descriptor = self.next_descriptor()
        if descriptor is None:
            return False
        try:
            memory = Mapping(descriptor, 2 * SIZE).view()
        except OSError:
            return False
        finally:
            os.close(descriptor)
        self._incoming, self._outgoing = Ring(memory[:SIZE]), Ring(memory[SIZE:])
        self._shared = True
        return True

    def goes_on(self) -> bool:
        """Tell whether the other end is there, which messages in memory do not show."""
        try:
            while self._read(socket.MSG_DONTWAIT):
                pass
        except BlockingIOError:
            return True
        return False

    def next(self) -> bytes | None:
        """Return the next message that was received whole, or ``None``.

        Raises:
            OSError: the other end said that it sent what did not arrive.
        """
        if not self._shared or self._incoming is None:
            return self._arrived.popleft() if self._arrived else None
        message = self._incoming.get()
        if message != b"":
            return message
        while not self._arrived:  # it was sent before the mark
            if not self._read(socket.MSG_DONTWAIT):
                raise ConnectionResetError("the connection ended in the middle of a message")
        return self._arrived.popleft()

    def next_descriptor(self) -> int | None:
        """Return what came with the next message that brings one; ``None``: it was lost."""
        return self.descriptors.popleft() if self.descriptors else None

    def end(self) -> None:
        """Tell the other end that what it sends is not read any more, and close this one."""
        if self._incoming is not None:
            self._incoming.close()
        self.close()

    def close(self) -> None:
        """Close this process's copy of this end, and the descriptors that nobody took."""
        self._socket.close()
        self._outgoing = self._incoming = None
        while self.descriptors:
            descriptor = self.next_descriptor()
            if descriptor is not None:
                with contextlib.suppress(OSError):
                    os.close(descriptor)


def _beside(descriptor: int | None) -> list[tuple[int, int, Any]]:
    if descriptor is None:
        return []
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
