"""``assert_resumes``: exact resuming as one line in a project's own tests.

Batches are compared by value and type. Tensors and arrays are recognised by their attributes, so
that neither torch nor numpy is imported.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import pickle
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

__all__ = ["assert_resumes"]

_METHODS = ("state_dict", "load_state_dict")
_PLAIN, _OTHER = 1, 2
"""Two different states of the global random streams."""

_SHOWN = 200
"""The most characters of a batch in an error's text."""
_IDENTITY: Any = object.__eq__

Epochs = list[list[Any]]


@dataclasses.dataclass(frozen=True)
class _Cut:
    """The position of a state: after ``batches`` of ``epoch``; ``seen`` if its end was seen."""

    epoch: int
    batches: int
    seen: bool = False

    def words(self) -> str:
        end = " and its end" if self.seen else ""
        return f"saved after {self.batches} batches{end} of epoch {self.epoch}"

    def requirement(self, expected: Epochs) -> str:
        if self.seen:
            return "EPOCH-2"
        if self.batches == len(expected[self.epoch]):
            return "EPOCH-3"
        if self.epoch:
            return "EPOCH-4"
        return "RESUME-1" if self.batches else "RESUME-4"

    def rest(self, expected: Epochs) -> list[tuple[int, int]]:
        """Return the positions (epoch, first batch) of the rest, without leading empty epochs."""
        places = [(self.epoch, self.batches)]
        places += [(epoch, 0) for epoch in range(self.epoch + 1, len(expected))]
        while places and not expected[places[0][0]][places[0][1] :]:
            del places[0]
        return places


@dataclasses.dataclass(frozen=True)
class _Saved:
    """A state, its position, and the history so far in words."""

    cut: _Cut
    state: Any
    story: str


@dataclasses.dataclass(frozen=True)
class _Setup:
    """The arguments of the caller."""

    build: Callable[[int], Any]
    epochs: int
    cuts: tuple[int, ...] | None
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]
    start_epoch: Callable[[Any, int], None] | None

    def fresh(self, workers: int, ambient: int) -> Any:
        __tracebackhide__ = True
        _seed_streams(ambient)
        loader = self.build(workers)
        missing = "/".join(name for name in _METHODS if not hasattr(loader, name))
        if missing:
            raise AssertionError(
                f"nothing about resuming can be judged: the loader has no {missing}, so a run that "
                "restarts begins its epoch again"
            )
        return loader

    def epoch(self, loader: Any, number: int) -> Iterator[Any]:
        if self.start_epoch is not None:
            self.start_epoch(loader, number)
        yield from loader

    def state(self, loader: Any) -> Any:
        return self.encode(loader.state_dict())

    def places(self, length: int) -> set[int]:
        if self.cuts is not None:
            return {cut for cut in self.cuts if cut <= length}
        return {place for place in (0, 1, length // 2, length - 1, length) if place >= 0}


def assert_resumes(
    make_loader: Callable[..., Any],
    epochs: int = 2,
    *,
    workers: int | Sequence[int] = 0,
    resume_workers: int | Sequence[int] | None = None,
    cuts: Iterable[int] | None = None,
    encode: Callable[[Any], Any] = pickle.dumps,
    decode: Callable[[Any], Any] = pickle.loads,
    start_epoch: Callable[[Any, int], None] | None = None,
) -> None:
    """Assert that a loader resumes exactly, from every position asked for, in this process.

    An uninterrupted run is compared with runs that are cut, saved, and resumed in a fresh
    loader while the global random streams differ. Each resumed run is cut and resumed once
    more. This checks RESUME-1, RESUME-2, RESUME-4, EPOCH-1 to EPOCH-4 and BASIS-4 on your own
    loader; ``midepoch check`` does so across processes, and checks more.

    Args:
        make_loader: builds a fresh loader, with its dataset, from a number of workers (or
            from no argument); it must seed what it shuffles. The loader is iterable an epoch
            at a time and has ``state_dict`` and ``load_state_dict``.
        epochs: how many epochs are compared.
        workers: the number, or numbers, of workers to save with.
        resume_workers: those to resume with; by default the same as for saving.
        cuts: numbers of batches after which states are taken in each epoch; by default none,
            one, half, all but one, and all.
        encode: turns a state into the form that is stored; by default ``pickle.dumps``.
        decode: turns the stored form into a state again.
        start_epoch: called with the loader and the epoch's number before each epoch, for
            samplers with ``set_epoch``.

    Raises:
        AssertionError: the loader does not resume exactly; the text names the position, the
            first batch that differs, the expected batch and the delivered one. Or the loader has
            no state.
        ValueError: an argument makes no sense.

    Example:
        >>> class Loader:
        ...     position = 0
        ...     def __iter__(self):
        ...         while self.position < 5:
        ...             self.position += 1
        ...             yield self.position
        ...         self.position = 0
        ...     def state_dict(self):
        ...         return {"position": self.position}
        ...     def load_state_dict(self, state):
        ...         self.position = state["position"]
        >>> assert_resumes(Loader)
    """
    if epochs < 1:
        raise ValueError(f"epochs must be at least 1, got {epochs}")
    __tracebackhide__ = True  # pytest shows the line of the test
    chosen = None if cuts is None else tuple(sorted(set(cuts)))
    if chosen is not None and (not chosen or chosen[0] < 0):
        raise ValueError(f"cuts are numbers of batches, at least one of them; got {list(chosen)}")
    saves = _numbers(workers, "workers")
    resumes = None if resume_workers is None else _numbers(resume_workers, "resume_workers")
    build = _builder(make_loader, [*saves, *(resumes or [])])
    setup = _Setup(build, epochs, chosen, encode, decode, start_epoch)
    with _streams_put_back():
        for number in saves:
            expected = _uninterrupted(setup, number)
            saved = [
                _Saved(cut, state, f"{cut.words()} ({number} workers)")
                for cut, state in _saved(setup, number, expected)
            ]
            for other in resumes or [number]:
                # Single resumes first: a failing chain then fails because it is a chain.
                again = []  # no comprehension: pytest would show its frame
                for each in saved:
                    again.append(_check(setup, expected, each, other))
                for later in filter(None, again):
                    _check(setup, expected, later, other, "RESUME-2")


def _uninterrupted(setup: _Setup, workers: int) -> Epochs:
    __tracebackhide__ = True  # pytest shows the line of the test
    runs = []
    for _ in range(2):
        loader = setup.fresh(workers, _PLAIN)
        runs.append([list(setup.epoch(loader, number)) for number in range(setup.epochs)])
    if not any(runs[0]):
        raise AssertionError("an uninterrupted run delivers nothing (BASIS-1)")
    whole = _Cut(0, 0).rest(runs[0])
    difference = _difference(runs[0], whole, runs[1][whole[0][0] :])
    if difference:
        raise AssertionError(
            "two uninterrupted runs differ (BASIS-2), so that no resume can be judged: build "
            f"the dataset, the sampler and their seeds inside make_loader\n{difference.words}"
        )
    return runs[0]


def _saved(setup: _Setup, workers: int, expected: Epochs) -> list[tuple[_Cut, Any]]:
    """Take every state in one run; taking them must not change the batches."""
    __tracebackhide__ = True  # pytest shows the line of the test
    states: list[tuple[_Cut, Any]] = []
    got: Epochs = []
    loader = setup.fresh(workers, _PLAIN)
    for epoch, batches in enumerate(expected):
        places = setup.places(len(batches))
        got.append([])
        if epoch == 0 and 0 in places:
            states.append((_Cut(0, 0), setup.state(loader)))
        for count, batch in enumerate(setup.epoch(loader, epoch), start=1):
            got[-1].append(batch)
            if count in places:
                states.append((_Cut(epoch, count), setup.state(loader)))
        if len(batches) in places:
            states.append((_Cut(epoch, len(batches), seen=True), setup.state(loader)))
    whole = _Cut(0, 0).rest(expected)
    difference = _difference(expected, whole, got[whole[0][0] :])
    if difference:
        raise AssertionError(
            f"taking states changes what is delivered (BASIS-4; {workers} workers)\n"
            f"{difference.words}"
        )
    return states


def _check(
    setup: _Setup, expected: Epochs, saved: _Saved, workers: int, requirement: str = ""
) -> _Saved | None:
    """Resume and compare the rest; return a state taken after its first batch."""
    __tracebackhide__ = True  # pytest shows the line of the test
    name = requirement or saved.cut.requirement(expected)
    story = f"{saved.story}, resumed in a fresh loader ({workers} workers)"
    rest = saved.cut.rest(expected)
    loader = setup.fresh(workers, _OTHER)
    try:
        loader.load_state_dict(setup.decode(saved.state))
        got, later = _follow(setup, loader, saved.cut, len(rest))
    except Exception as error:
        raise AssertionError(
            f"the loader does not resume ({name}): {story}: {type(error).__name__}: {error}"
        ) from error
    difference = _difference(expected, rest, got)
    if difference is not None:
        # A fault in a later epoch only is about another requirement.
        name = name if difference.epoch == rest[0][0] else "EPOCH-1"
        raise AssertionError(
            f"the loader does not resume exactly ({name}): {story}\n{difference.words}"
        )
    if not rest:
        return None
    epoch, first = rest[0]
    cut = _Cut(epoch, first + 1)
    return _Saved(cut, later, f"{story}, {cut.words()}")


def _follow(setup: _Setup, loader: Any, cut: _Cut, epochs: int) -> tuple[Epochs, Any | None]:
    """Deliver the rest, and take a state after its first batch."""
    got: Epochs = []
    state: Any | None = None
    number = cut.epoch + cut.seen
    emptied = False
    while len(got) < epochs:
        got.append([])
        for batch in setup.epoch(loader, number):
            got[-1].append(batch)
            if state is None:
                state = setup.state(loader)
        number += 1
        if got == [[]] and not emptied:
            # The rest of an epoch whose end was not seen may be empty (EPOCH-3).
            got.clear()
            emptied = True
    return got, state


@dataclasses.dataclass(frozen=True)
class _Difference:
    """The epoch of the first difference, and the difference in words."""

    epoch: int
    words: str


def _difference(expected: Epochs, rest: list[tuple[int, int]], got: Epochs) -> _Difference | None:
    """Return the first difference between ``got`` and the ``rest`` of the expected batches."""
    for (epoch, first), batches in zip(rest, got, strict=True):
        wanted = expected[epoch][first:]
        for index in range(max(len(wanted), len(batches))):
            here = wanted[index : index + 1]
            there = batches[index : index + 1]
            if not _equal(here, there):
                lines = [
                    f"  first difference: epoch {epoch}, batch {first + index}",
                    f"  expected: {_show(here[0]) if here else 'the end of the epoch'}",
                    f"  got:      {_placed(there, expected)}",
                ]
                return _Difference(epoch, "\n".join(lines))
    return None


def _placed(batch: list[Any], expected: Epochs) -> str:
    if not batch:
        return "the end of the epoch"
    for number, epoch in enumerate(expected):
        for index, other in enumerate(epoch):
            if _equal(other, batch[0]):
                return f"{_show(batch[0])}  (batch {index} of epoch {number})"
    return f"{_show(batch[0])}  (no batch of the uninterrupted run)"


def _numbers(value: int | Sequence[int], name: str) -> list[int]:
    numbers = [value] if isinstance(value, int) else list(value)
    if not numbers or any(number < 0 for number in numbers):
        raise ValueError(f"{name} are worker counts, at least one of them; got {value!r}")
    return numbers


def _builder(make_loader: Callable[..., Any], numbers: list[int]) -> Callable[[int], Any]:
    parameters = inspect.signature(make_loader).parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(p.kind in positional or p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        return make_loader
    if set(numbers) != {0}:
        raise ValueError(
            f"worker counts {sorted(set(numbers))} were asked for, but make_loader takes no "
            "argument: give it one, the number of workers"
        )
    return lambda _: make_loader()


@contextlib.contextmanager
def _streams_put_back() -> Iterator[None]:
    """Leave the caller's global random streams as they were."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    python_state = random.getstate()
    numpy_state = None if numpy is None else numpy.random.get_state()
    torch_state = None if torch is None else torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(python_state)
        if numpy is not None and numpy_state is not None:
            numpy.random.set_state(numpy_state)
        if torch is not None and torch_state is not None:
            torch.set_rng_state(torch_state)


def _seed_streams(seed: int) -> None:
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def _equal(a: Any, b: Any) -> bool:
    """Return whether ``a`` and ``b`` are equal in structure, type and value; NaN equals NaN.

    Example:
        >>> _equal({"x": [1, float("nan")]}, {"x": [1, float("nan")]}), _equal([1], [True])
        (True, False)
    """
    if type(a) is not type(b):
        return False
    if isinstance(a, Mapping):
        return list(a) == list(b) and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_equal, a, b))
    if hasattr(a, "dtype") and hasattr(a, "shape"):
        return _equal_arrays(a, b)
    if dataclasses.is_dataclass(a) and not isinstance(a, type):
        names = [field.name for field in dataclasses.fields(a)]
        return all(_equal(getattr(a, name), getattr(b, name)) for name in names)
    if type(a).__eq__ is _IDENTITY and hasattr(a, "__dict__"):
        return _equal(vars(a), vars(b))
    # Only a NaN differs from itself.
    return bool(a == b) or bool(a != a and b != b)


def _show(value: Any) -> str:
    """Return ``value`` on one line, for an error's text."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"


def _equal_arrays(a: Any, b: Any) -> bool:
    if a.dtype != b.dtype or tuple(a.shape) != tuple(b.shape):
        return False
    if str(a.dtype) == "object":
        return _equal(a.tolist(), b.tolist())
    same = (a == b) | ((a != a) & (b != b))
    return bool(same.all())
