"""A plain ``make_loader`` function as an adapter (standard library only).

A batch is then one row with its content in words. The suite judges every requirement that does not
need to know the samples.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.host.session.batch_values import shown
from midepoch_conformance.host.system import stacks
from midepoch_conformance.host.system.deadline import Deadline
from midepoch_conformance.host.system.processes import living

__all__ = ["ALONE", "OWN", "BuildError", "FunctionAdapter"]

ALONE = "a function offers its own data and num_workers alone, and an adapter can offer more"
"""Why a function does not offer a case."""

OWN = "own"
"""The name of the offer of a user's own training loader."""

STATEFUL = ("state_dict", "load_state_dict")
"""The methods of an object that can be saved and loaded."""


class BuildError(RuntimeError):
    """The function did not return a loader."""

    trace: str
    """The traceback, or the stacks of a function that did not end; empty if there is none."""
    late: bool
    """Whether the function did not end."""

    def __init__(self, message: str, trace: str, late: bool = False) -> None:
        super().__init__(message)
        self.trace, self.late = trace, late


_DIVIDED = (
    "its order may depend on the number of workers: the loader has no attribute dataset of random "
    "access"
)


class _Looks(NamedTuple):
    """The facts about a function's loader that its offer follows from."""

    missing: str
    random_access: bool


def _random_access(loader: Any) -> bool:
    """Return whether a loader's dataset can be asked for any sample; torch is not imported."""
    dataset = getattr(loader, "dataset", None)
    # torch's IterableDataset inherits an indexing that only raises.
    stream = any(kind.__name__ == "IterableDataset" for kind in type(dataset).__mro__)
    return hasattr(dataset, "__getitem__") and not stream


class FunctionAdapter:
    """Offers what ``function(num_workers=...)`` returns: any iterable, Stateful or not."""

    limit = 180.0
    """The seconds that a loader has to be built for the first time, and longer while it works."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def offer(self) -> Offer:
        """Return an offer of one map-style workload, the function's own."""
        missing, random_access = self._looked_at()
        return Offer(
            name=OWN,
            kinds=("map",),
            workers=(0, 1, 2, 3),
            shuffles=(False,),
            saves=() if missing else ("start", "mid", "end"),
            # A stream may divide itself among the workers, which the suite cannot see.
            fixed_plan=("map",) if random_access else (),
            reasons={
                **({"saves": f"the loader has no {missing}"} if missing else {}),
                **({} if random_access else {"fixed_plan": _DIVIDED}),
                "draws": ALONE,
            },
        )

    def _looked_at(self) -> tuple[str, bool]:
        """Return the methods of a Stateful object that the loader lacks, as ``a/b``.

        And whether its dataset can be asked for any sample. The loader is built in a process of
        its own, so that the host can still be forked.
        """
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe(duplex=False)
        with tempfile.TemporaryDirectory(prefix="midepoch-") as folder:
            process = context.Process(target=self._probe, args=(theirs, folder), daemon=True)
            process.start()
            theirs.close()
            try:
                deadline = Deadline(process.pid or 0, self.limit, folder)
                while (left := deadline.left()) > 0 and not ours.poll(left):
                    pass
                answer = ours.recv() if left > 0 else self._late(process.pid or 0, folder)
            except EOFError:
                answer = "its process died", ""
            finally:
                process.kill()
                process.join()
                ours.close()
        if isinstance(answer, _Looks):
            return answer.missing, answer.random_access
        name = self.function.__name__
        raise BuildError(f"{name}(num_workers=0): {answer[0]}", answer[1], late=left <= 0)

    def _late(self, pid: int, folder: str) -> tuple[str, str]:
        """Return where a process stands that has not built the loader, in words and whole."""
        found = stacks.ask([pid, *(living(pid) or ())], folder)
        line = stacks.innermost(found)
        words = f"not built within {self.limit:g} s"
        return f"{words}: it stands at {line}" if line else words, found

    def _probe(self, answer: Any, folder: str) -> None:
        """Send the missing methods, or the error with its traceback."""
        stacks.write_when_asked(folder)
        try:
            loader = self.function(num_workers=0)
            if not hasattr(loader, "__iter__") and not hasattr(loader, "__getitem__"):
                answer.send((f"it returned {loader!r:.80}, which cannot be iterated", ""))
            else:
                missing = "/".join(name for name in STATEFUL if not hasattr(loader, name))
                answer.send(_Looks(missing, _random_access(loader)))
        except BaseException as error:
            # Without a frame below this one, the call itself was wrong.
            below = error.__traceback__ is not None and error.__traceback__.tb_next is not None
            form = "" if below else f"; write it as def {self.function.__name__}(num_workers)"
            told = traceback.format_exc() if below else ""
            answer.send((f"{type(error).__name__}: {error}{form}", told))

    def declines(self, w: Workload, x: Execution) -> str | None:
        """Return why a cell with another workload or execution is not offered."""
        asked = dataclasses.replace(w, seed=0, epochs=2, shuffle=False, n=13, batch_size=4)
        if asked != Workload() or x != Execution(workers=x.workers):
            return ALONE
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

    def epoch(self) -> Iterator[list[list[str]]]:
        """Iterate the loader once."""
        return _read(self.loader)

    def state(self) -> Any:
        """Return the loader's state."""
        return self.loader.state_dict()

    def load(self, state: Any) -> None:
        """Load a state."""
        self.loader.load_state_dict(state)

    def close(self) -> None:
        """Drop the loader."""
        del self.loader


class ReadBatch:
    """A batch as one row with its content in words, read again each time."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch

    def __iter__(self) -> Iterator[list[str]]:
        return iter([[shown(self.batch)]])


def _read(batches: Iterable[Any]) -> Iterator[Any]:
    # The source is iterated when the epoch is asked for, as a `for` statement would.
    return map(ReadBatch, iter(batches))
