"""The two ends of a worker's connection, and how a batch crosses between them.

The worker packs a batch into a segment of shared memory and sends the segment's number. A small
batch travels in the message itself. The main process unpacks the batch at its delivery, as views
of the segment. When the last view is gone, the segment is free, and the next task tells the
worker so.
"""

from __future__ import annotations

import errno
import os
import pickle
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import torch

from midepoch.lane.messages import (
    Batch,
    Fetch,
    Finish,
    Open,
    Opened,
    Reply,
    Snapshot,
    Stop,
    decode,
)
from midepoch.stateful import Frozen
from midepoch.transport.channel import Channel
from midepoch.transport.collating import Collating
from midepoch.transport.layouts import Builder, MainLayouts, Reference, WorkerLayouts, described
from midepoch.transport.packing import Packed, Span, pack, pack_plain, unpack
from midepoch.transport.segments import AVAILABLE, Leases, Pool, Returned, Segment

__all__ = ["HELD_BYTES", "LostBatchError", "MainEnd", "PackedBatch", "Parcel", "WorkerEnd"]

IN_MESSAGE = 8 * 1024
"""Bytes of the largest batch that travels in its message and not in a segment."""

HELD_BYTES = 64 * 1024 * 1024
"""Bytes of one worker's segments that the consumer may hold; further batches are copied."""


class LostBatchError(Exception):
    """A batch cannot be received, because the system lacks descriptors or memory."""


class _Shipment(NamedTuple):
    """The answer to a ``Fetch``; its batch lies in a block beside it."""

    iteration: int
    slot: int
    samples: int
    last: bool
    snapshot: tuple[bytes | None, bytes | None, str | None] | None
    busy: float
    content: str | None
    form: bytes | Reference | None
    """The stream, or a layout. ``None``: the stream is long, and stands at the block's end."""
    places: list[Span] | list[int]
    packed: int
    """Bytes of the block that hold the buffers."""
    used: int
    """Bytes of the block."""
    segment: int
    """The number of the block's segment; 0: the block is the message's tail."""
    size: int
    """Bytes of a new segment, whose descriptor comes with the message; else 0."""
    dropped: tuple[int, ...]
    """Numbers of segments that the worker will not use again."""


class WorkerEnd:
    """A worker's end: receives questions, sends answers."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._pool = Pool()
        self._layouts = WorkerLayouts()
        self.collating = Collating(self._pool)

    def next_question(self) -> Open | Fetch | Finish | Stop | None:
        """Return the next question that has arrived, or ``None``."""
        data = self._channel.next()
        if data is None:
            return None
        usable, spoiled, question = pickle.loads(data)
        if usable or spoiled:
            self._pool.take_back(Returned(usable, spoiled))
        message: Any = Fetch(*question) if type(question) is tuple else question
        return message  # type: ignore[no-any-return]

    def send(self, answer: bytes) -> None:
        """Send an answer that was encoded."""
        self._channel.send(answer)

    def pack(self, batch: Batch) -> Packed:
        """Pack a batch, and drop it; errors of its own pickling methods are raised."""
        arena, packed = self.collating.arena(), None
        plain = described(batch.data)
        if plain is not None:
            reference = self._layouts.reference(plain.layout)
            if reference is not None:
                packed = pack_plain(plain, reference, arena)
        if packed is None:
            packed = pack(batch.data, arena)
        batch.data = None
        return packed

    def ship(self, reply: Reply, packed: Packed, start: float) -> None:
        """Send an answer with its batch; the worker began to make it at ``start``."""
        batch: Any = reply.outcome
        form: Any = packed.form
        size, beside = packed.size, type(form) is not bytes or len(form) <= IN_MESSAGE
        used = size if beside else size + len(form)
        block = self._fill(packed, used)
        if not beside:
            block.view[size:used] = form
        packed.release()
        block = self._settle(block, used)
        self.collating.expect(used)
        shipment = (  # the fields of a _Shipment: pickling a class takes longer
            reply.iteration,
            reply.slot,
            batch.samples,
            batch.last,
            None if reply.snapshot is None else _fields(reply.snapshot),
            time.perf_counter() - start,
            reply.content,
            form if beside else None,
            packed.places,
            size,
            used,
            block.segment.number if block.segment is not None else 0,
            len(block.view) if block.descriptor is not None else 0,
            self._pool.dropped(),
        )
        try:
            data = pickle.dumps(shipment, protocol=5)
            tail = block.view if block.segment is None else b""
            self._channel.send(data, tail=tail, descriptor=block.descriptor)
            self._layouts.note_sent(form)
        finally:
            if block.descriptor is not None:
                os.close(block.descriptor)

    def _fill(self, packed: Packed, used: int) -> _Block:
        """Write a packed batch into the block in which it was collated, or into a new one."""
        collated = self.collating.segment
        if collated is not None and packed.inside and used <= collated.size:
            block = _Block(collated.view, collated)
        else:
            block = self._new_block(used)
            if collated is not None:
                block.view[: packed.inside] = collated.view[: packed.inside]
        packed.write(block.view, None if block.segment is None else block.segment.address)
        return block

    def _settle(self, block: _Block, used: int) -> _Block:
        """Return the block to send; a copy, if an object of this process still views it."""
        if self.collating.segment is None:
            return block
        collated, seen = self.collating.give_up()
        if collated is not block.segment:
            self._pool.put_back(collated, usable=not seen)
        elif seen:
            copied = self._new_block(used)
            copied.view[:used] = collated.view[:used]
            self._pool.put_back(collated, usable=False)
            return copied
        return block

    def _new_block(self, size: int) -> _Block:
        if size > IN_MESSAGE and AVAILABLE:
            # Without descriptors or shared memory, the slower socket still works.
            with suppress(OSError):
                segment, descriptor = self._pool.take(size)
                return _Block(segment.view, segment, descriptor)
        return _Block(memoryview(bytearray(size)))


class _Block(NamedTuple):
    """Memory for a batch: a segment, or memory of this process that goes into the message."""

    view: memoryview
    segment: Segment | None = None
    descriptor: int | None = None
    """The descriptor of a new segment."""


class MainEnd:
    """The main process's end: sends questions, receives answers, lends their batches out."""

    # ``taken`` is called with the bytes of a batch in a segment when the consumer takes it.
    def __init__(self, channel: Channel, taken: Callable[[int], None]) -> None:
        self._channel = channel
        self._leases = Leases()
        self._layouts = MainLayouts()
        self._taken = taken

    def encode(self, question: Open | Fetch | Finish | Stop) -> bytes:
        """Return the bytes of a question; it also names the segments that are free again."""
        usable, spoiled = self._leases.take_returned()
        body: Any = question
        if isinstance(question, Fetch):  # the frequent one: pickling its fields is faster
            body = (
                question.iteration,
                question.slot,
                question.lane,
                question.route,
                question.number,
                question.keys,
                question.snapshot,
                question.ship,
                question.raises,
                question.place,
            )
        return pickle.dumps((usable, spoiled, body), protocol=5)

    def next_answer(self) -> Opened | Reply | None:
        """Return the next answer that has arrived, or ``None``.

        Raises:
            LostBatchError: the system has no descriptor or memory left for the batch.
        """
        data = self._channel.next()
        if data is None:
            return None
        message: Any = decode(data)
        if type(message) is not tuple:
            return message  # type: ignore[no-any-return]
        shipment = _Shipment(*message)
        form: Any = shipment.form
        if form is not None and type(form) is not bytes:
            form = self._layouts.builder(form)
        parcel = Parcel(shipment, form, self._block(shipment, data), self._leases, self._taken)
        batch = PackedBatch(parcel, shipment.samples, shipment.last)
        snapshot = None if shipment.snapshot is None else _snapshot(*shipment.snapshot)
        return Reply(
            shipment.iteration,
            shipment.slot,
            batch,
            snapshot,
            shipment.busy,
            shipment.content,
        )

    def _block(self, shipment: _Shipment, data: bytes) -> memoryview:
        if shipment.dropped:
            self._leases.unmap(shipment.dropped)
        if not shipment.segment:
            tail = data[len(data) - shipment.used :] if shipment.used else b""
            return memoryview(bytearray(tail))
        if shipment.size:
            self._map(shipment)
        return self._leases.lend(shipment.segment)

    def _map(self, shipment: _Shipment) -> None:
        try:
            descriptor = self._channel.next_descriptor()
            if descriptor is None:
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            self._leases.map(shipment.segment, shipment.size, descriptor)
        except OSError as error:
            raise LostBatchError(
                f"the loader killed this worker, because a batch of {shipment.used} bytes could "
                f"not be received: {error}; raise the limit on open files (ulimit -n) or on "
                "memory (ulimit -v)"
            ) from error

    def close(self) -> None:
        """Close the connection; batches that the consumer holds stay valid."""
        self._channel.close()
        self._leases.close()


class Parcel:
    """A batch as it arrived."""

    __slots__ = ("_block", "_form", "_leases", "_shipment", "_taken")

    def __init__(
        self,
        shipment: _Shipment,
        form: bytes | Builder | None,
        block: memoryview,
        leases: Leases,
        taken: Callable[[int], None],
    ) -> None:
        self._shipment = shipment
        self._form = form
        self._block: memoryview | None = block
        self._leases = leases
        self._taken = taken

    @property
    def nbytes(self) -> int:
        """The bytes that crossed for it."""
        beside = len(self._form) if isinstance(self._form, bytes) else 0
        return self._shipment.used + beside

    @property
    def shared(self) -> int:
        """The bytes of shared memory that it fills."""
        return self._shipment.used if self._shipment.segment else 0

    def unpack(self) -> Any:
        """Return the batch, once; errors of unpickling are raised here."""
        form, used = self._form, self._shipment.used
        places: Any = self._shipment.places
        block, self._block = self._block, None
        if block is None:
            raise RuntimeError("this batch was taken already")
        number = self._shipment.segment
        if number:
            self._taken(used)
            if places and not self._leases.hold(number, used, HELD_BYTES):
                block = _copy(block[:used])
        if isinstance(form, Builder):
            return form.build(block, places)
        stream = block[self._shipment.packed : used] if form is None else form
        return unpack(stream, places, block)


class PackedBatch(Batch):
    """A batch that came from another process."""

    __slots__ = ()

    def take(self) -> Any:
        """Return the batch; errors of unpickling are raised here."""
        return self.data.unpack()


def _fields(snapshot: Snapshot) -> tuple[bytes | None, bytes | None, str | None]:
    dataset, iterator = snapshot.dataset, snapshot.iterator
    return (
        None if dataset is None else bytes(dataset),
        None if iterator is None else bytes(iterator),
        snapshot.trouble,
    )


def _snapshot(dataset: bytes | None, iterator: bytes | None, trouble: str | None) -> Snapshot:
    return Snapshot(
        None if dataset is None else Frozen(dataset),
        None if iterator is None else Frozen(iterator),
        trouble,
    )


def _copy(block: memoryview) -> memoryview:
    """Return a copy in memory of this process; torch's memory is aligned and not zeroed first."""
    memory: Any = torch.empty(block.nbytes, dtype=torch.uint8).numpy()
    copied = memoryview(memory)
    copied[:] = block
    return copied
