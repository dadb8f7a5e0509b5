"""A plain ``make_loader`` function as an adapter (standard library only).

A batch is then the hash of its content. The suite judges every requirement that does not need to
know the samples.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import multiprocessing
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.host.system import stacks

__all__ = ["OWN", "FunctionAdapter", "content"]

OWN = "own"
"""The name of the offer of a user's own training loader."""

_PROBING = 150.0
"""The seconds that a loader has to be built for the first time."""


class FunctionAdapter:
    """Offers what ``function(num_workers=...)`` returns: any iterable, Stateful or not."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def offer(self) -> Offer:
        """Return an offer of one map-style workload, the function's own."""
        stateful = self._is_stateful()
        return Offer(
            name=OWN,
            kinds=("map",),
            workers=(0, 1, 2, 3),
            shuffles=(False,),
            saves=("start", "mid", "end") if stateful else (),
            fixed_plan=("map",),
            reasons={
                **(
                    {}
                    if stateful
                    else {"saves": "the loader has no state_dict and load_state_dict"}
                ),
                "draws": "the workload is the function's own",
            },
        )

    def _is_stateful(self) -> bool:
        """Build the loader once, in a process of its own, so that the host can still be forked."""
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe(duplex=False)
        with tempfile.TemporaryDirectory(prefix="midepoch-") as folder:
            process = context.Process(target=self._probe, args=(theirs, folder), daemon=True)
            process.start()
            theirs.close()
            try:
                if ours.poll(_PROBING):
                    answer = ours.recv()
                else:
                    line = stacks.innermost(stacks.ask([process.pid or 0], folder))
                    answer = f"TimeoutError: not built within {_PROBING:g} s"
                    answer += f": it stands at {line}" if line else ""
            except EOFError:
                answer = "RuntimeError: the process that built the loader died"
            finally:
                process.kill()
                process.join()
                ours.close()
        if isinstance(answer, str):
            raise RuntimeError(f"{self.function.__name__}(num_workers=0) failed: {answer}")
        return bool(answer)

    def _probe(self, answer: Any, folder: str) -> None:
        stacks.write_when_asked(folder)
        try:
            loader = self.function(num_workers=0)
            answer.send(hasattr(loader, "state_dict") and hasattr(loader, "load_state_dict"))
        except BaseException as error:
            answer.send(f"{type(error).__name__}: {error}")

    def declines(self, w: Workload, x: Execution) -> str | None:
        """Return why a cell with another workload or execution is not offered."""
        asked = dataclasses.replace(w, seed=0, epochs=2, shuffle=False, n=13, batch_size=4)
        if asked != Workload() or x != Execution(workers=x.workers):
            return "make_loader has a workload of its own and takes num_workers alone"
        return None

    def prepare(self, w: Workload, root: str) -> None:
        """Do nothing: the function has its own data."""

    def open(self, w: Workload, x: Execution, root: str) -> FunctionSession:
        """Build the loader."""
        return FunctionSession(self.function(num_workers=x.workers))


class FunctionSession:
    """One life of a loader that a function made."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def epoch(self) -> Iterator[list[list[float]]]:
        """Iterate the loader once."""
        return _hashed(self.loader)

    def state(self) -> Any:
        """Return the loader's state."""
        return self.loader.state_dict()

    def load(self, state: Any) -> None:
        """Load a state."""
        self.loader.load_state_dict(state)

    def close(self) -> None:
        """Drop the loader."""
        del self.loader


class HashedBatch:
    """A batch as one row with the number of its content, computed again at each reading."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch

    def __iter__(self) -> Iterator[list[float]]:
        return iter([[content(self.batch)]])


def _hashed(batches: Iterable[Any]) -> Iterator[Any]:
    # The source is iterated when the epoch is asked for, as a `for` statement would.
    return map(HashedBatch, iter(batches))


def content(batch: Any) -> int:
    """Return a number that tells batches of different content or type apart.

    The number is the same in every process, with any hash seed. Order counts everywhere but in
    mappings and sets. The number has 48 bits, so a float can hold it.
    """
    return int.from_bytes(_digest(batch, ())[:6], "big")


def _digest(value: Any, above: tuple[int, ...]) -> bytes:
    if id(value) in above:
        return b"a cycle"
    inside = (*above, id(value))
    name = type(value).__qualname__
    if isinstance(value, Mapping):
        pairs = (_digest(k, inside) + _digest(v, inside) for k, v in value.items())
        return _hash(name, *sorted(pairs))
    if isinstance(value, (set, frozenset)):
        return _hash(name, *sorted(_digest(item, inside) for item in value))
    if isinstance(value, (list, tuple)):
        return _hash(name, *(_digest(item, inside) for item in value))
    if isinstance(value, (bytes, bytearray)):
        return _hash(name, bytes(value))
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return _hash(name, repr(value).encode())
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _hash(name, str(value.dtype).encode(), str(tuple(value.shape)).encode(), _raw(value))
    if getattr(value, "__dict__", None):
        return _hash(name, _digest(vars(value), inside))
    return _hash(name, pickle.dumps(value, protocol=4))


def _raw(array: Any) -> bytes:
    """Return the elements of a tensor or an array."""
    with contextlib.suppress(TypeError, RuntimeError):
        array = array.detach().cpu().numpy() if hasattr(array, "detach") else array
        if array.dtype.kind != "O":
            return bytes(array.tobytes())
    # Objects, and types that NumPy does not have.
    return _digest(array.tolist(), ())


def _hash(name: str, *parts: bytes) -> bytes:
    whole = hashlib.sha256(name.encode())
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.digest()
