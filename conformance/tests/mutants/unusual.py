"""More good loaders that are unusual: in how they make states, and in what they share."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import random
import tempfile
import time
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import base
import simple
from eccentric import MAP, good

SLOW = float(os.environ.get("MIDEPOCH_SLOW_STATES", "0.01"))
"""Seconds that a slow state takes; `.ci/nightly` lets it take some."""


class SlowStates(simple.Loader):
    """Takes its time to make a state, and to load one: it is large, and lies on a slow disk."""

    def state(self) -> dict[str, Any]:
        time.sleep(SLOW)
        return super().state()

    def load(self, state: Any) -> None:
        time.sleep(SLOW)
        super().load(state)


class BeginsAgain(simple.Loader):
    """Begins an epoch that was broken off anew: only one that ended counts."""

    def __iter__(self) -> simple.Epoch:
        if self.moved:
            self.batches, self.snapshot, self.moved, self.raised = 0, None, False, []
        return super().__iter__()


class KeysInAnyOrder(simple.Loader):
    """Writes the keys of its states, at each depth, in another order each time."""

    def state(self) -> dict[str, Any]:
        def mixed(tree: Any) -> Any:
            if type(tree) is not dict:
                return tree
            keys = list(tree)
            random.Random(uuid.uuid4().int).shuffle(keys)
            return {key: mixed(tree[key]) for key in keys}

        state: dict[str, Any] = mixed(super().state())
        return state


class OneOnEachMachine(simple.Loader):
    """Holds a lock with a name that all programs of the machine share, while it iterates."""

    held = False

    @property
    def lock(self) -> Path:
        return Path(tempfile.gettempdir(), f"eccentric-{os.getuid()}.lock")

    def __iter__(self) -> simple.Epoch:
        live = super().__iter__()
        try:
            descriptor = os.open(self.lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            if self.owner() not in (None, os.getpid()):
                raise RuntimeError("another loader of this kind runs on this machine") from None
            descriptor = os.open(self.lock, os.O_WRONLY | os.O_TRUNC)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(str(os.getpid()))
        self.held = True
        return live

    def owner(self) -> int | None:
        """Return the process that has the lock; None if it is gone, with the lock left behind."""
        try:
            pid = int(self.lock.read_text(encoding="ascii") or "0")
            os.kill(pid, 0)
        except (OSError, ValueError):
            return None
        return pid or None

    def stop(self) -> None:
        super().stop()
        if self.held:
            self.held = False
            self.lock.unlink(missing_ok=True)

    close = stop


class LooksFirst(simple.Loader):
    """Looks at a sample when it is made, to learn its shape."""

    def __init__(self, data: Any, **options: Any) -> None:
        super().__init__(data, **options)
        if self.random_access and len(data):
            self.copy = copy.deepcopy(data)
            self.attempt(0, 0, [0])


class Single:
    """A state of which there must be one only: it can be written to a file and not be copied."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __reduce__(self) -> Any:
        return Single, (self.data,)

    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("this state cannot be copied")

    __copy__ = __deepcopy__


class UncopyableStates(base.Session):
    """Its states cannot be copied in memory."""

    def state(self) -> Any:
        return Single(pickle.dumps(super().state()))

    def load(self, state: Any) -> None:
        if not isinstance(state, Single):
            raise TypeError(f"not a state of this loader: {state!r}")
        super().load(pickle.loads(state.data))


class NonceStates(base.Session):
    """Its states are bytes, encrypted under a nonce: no two of them are equal."""

    def state(self) -> Any:
        nonce = os.urandom(16)
        data = pickle.dumps(super().state())
        return nonce + hashlib.sha256(data).digest() + self.crypted(nonce, data)

    def load(self, state: Any) -> None:
        if not isinstance(state, bytes):
            raise TypeError(f"not a state of this loader: {state!r}")
        data = self.crypted(state[:16], state[48:])
        if hashlib.sha256(data).digest() != state[16:48]:
            raise ValueError("not a state of this loader: its digest differs")
        super().load(pickle.loads(data))

    def crypted(self, nonce: bytes, data: bytes) -> bytes:
        pad = random.Random(nonce).randbytes(len(data))
        return bytes(one ^ other for one, other in zip(data, pad, strict=True))


class CompressedStates(base.Session):
    """Its states are compressed, so that their sizes go up and down by some bytes."""

    def state(self) -> Any:
        return zlib.compress(pickle.dumps(super().state()), 9)

    def load(self, state: Any) -> None:
        try:
            whole = pickle.loads(zlib.decompress(state))
        except (zlib.error, TypeError) as error:
            raise ValueError(f"not a state of this loader: {state!r:.40}") from error
        super().load(whole)


class Generators(base.Session):
    """Its epochs are generators of the adapter's own."""

    def epoch(self) -> Any:
        # The loader's iterator is made now, as that of a for loop is.
        return self.batches(super().epoch())

    def batches(self, live: Any) -> Iterator[Any]:
        yield from live


slow_states = good(SlowStates)
begins_again = good(BeginsAgain, tails=("keep", "drop"), broken="again")
keys_in_any_order = good(KeysInAnyOrder)
one_on_each_machine = good(OneOnEachMachine, kinds=MAP)
looks_first = good(LooksFirst, kinds=MAP)
uncopyable_states = good(session=UncopyableStates, codecs=("pickle",))
nonce_states = good(session=NonceStates, codecs=("bytes", "pickle"))
compressed_states = good(session=CompressedStates, codecs=("bytes", "pickle"))
generators = good(session=Generators)
generators.loader_here = False
