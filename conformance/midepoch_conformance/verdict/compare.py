"""The first difference of expected and delivered batches, in words and as data (pure)."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Sequence
from typing import cast

from midepoch_conformance.case.trace import Batch
from midepoch_conformance.verdict.expected import Epochs, Stretch

__all__ = ["Difference", "are_numbered", "difference", "ids", "show", "unwhole"]

_SHOWN = 12


@dataclasses.dataclass(frozen=True)
class Difference:
    """The place at which a stretch leaves the expected batches."""

    kind: str
    """``missing``, ``repeated``, ``reordered``, ``extra``, ``values`` or ``different``."""

    words: str
    """The difference in a sentence."""

    expected: list[Batch]
    """The expected batches from there on."""

    got: list[Batch]
    """The delivered batches from there on."""

    at: int = 0
    """How many batches of the stretch are right."""


def difference(stretch: Stretch, epochs: Epochs) -> Difference | None:
    """Return the first difference of a stretch, or None if there is none.

    A stretch that was not drained is compared as far as it went.
    """
    if stretch.want is None or stretch.leading:
        return None
    want, got = stretch.want, stretch.got
    at = next(
        (i for i, (w, g) in enumerate(zip(want, got, strict=False)) if w != g),
        min(len(want), len(got)),
    )
    if at < len(got):
        return _wrong(stretch, at, epochs)
    if stretch.ended and at < len(want):
        rest = want[at:]
        where = f"epoch {stretch.start.epoch} ends after batch {stretch.start.batches + at}"
        return Difference("missing", f"{where}: {_batches(len(rest))} missing", rest, [], at)
    return None


def ids(batches: Sequence[Batch]) -> list[float]:
    """Return the sample ids of batches in delivered order.

    Example:
        >>> ids([[[0, 0.5], [1, 0.25]], [[2, 0.75]]])
        [0, 1, 2]
    """
    return [row[0] for batch in batches for row in batch]


def are_numbered(batches: Sequence[Batch]) -> bool:
    """Return whether the samples of batches have numbers; a user's own batch is one text.

    Example:
        >>> are_numbered([[[0], [1]]]), are_numbered([[["[0 1]"]]])
        (True, False)
    """
    return not any(isinstance(i, str) for i in ids(batches))


def unwhole(
    batches: Sequence[Batch], n: int, missing: int = 0, droppable: Collection[int] | None = None
) -> Difference | None:
    """Return how batches fail to be samples 0 to n - 1, each once, up to ``missing`` of them.

    A loader's own samples have no numbers, so they never are these samples. ``droppable``: the only
    samples that may be missing, if that is known.

    Example:
        >>> unwhole([[[0], [1]], [[1]]], 3).words
        'sample 1 comes twice and sample 2 is missing'
        >>> unwhole([[[1], [2]]], 3, 1, droppable=[2]).words
        'sample 0 is missing'
        >>> unwhole([[[0]]], 3, 1).words
        'samples 1, 2 are missing, and only 1 may be'
    """
    counts: Counter[float | str] = Counter(ids(batches))
    if not are_numbered(batches):
        return Difference("different", "samples without numbers", [], list(batches))
    numbers = cast("Counter[float]", counts)
    twice = sorted(i for i, c in numbers.items() if c > 1)
    foreign = sorted(i for i in numbers if not (0 <= i < n and i == int(i)))
    absent = [i for i in range(n) if i not in counts]
    faults = []
    if twice:
        faults.append(f"{_samples(twice)} {'come' if len(twice) > 1 else 'comes'} twice")
    if foreign:
        faults.append(f"{_samples(foreign)} of no such epoch")
    if droppable is not None:
        absent, missing = [i for i in absent if i not in droppable], 0
    if len(absent) > missing:
        allowed = f", and only {missing} may be" if missing else ""
        faults.append(f"{_samples(absent)} {'are' if len(absent) > 1 else 'is'} missing{allowed}")
    if not faults:
        return None
    kind = "repeated" if twice else "missing" if len(absent) > missing else "extra"
    return Difference(kind, " and ".join(faults), [[[i]] for i in absent], list(batches))


def show(batches: Sequence[Batch]) -> str:
    """Return batches on one line: ids alone, or whole rows where samples draw.

    Example:
        >>> show([[[0], [1]], [[2]]])
        '[0 1] [2]'
    """
    words = [_batch(batch) for batch in batches[:_SHOWN]]
    more = len(batches) - _SHOWN
    return " ".join(words) + (f" and {more} more" if more > 0 else "") if words else "nothing"


def _wrong(stretch: Stretch, at: int, epochs: Epochs) -> Difference:
    want = (stretch.want or [])[at:]
    got = stretch.got[at:]
    place = f"epoch {stretch.start.epoch}, batch {stretch.start.batches + at}"
    expected = f"expected {show(want[:1])}" if want else "expected the end of the epoch"
    kind, reason = _kind(stretch, at, epochs)
    tail = f" ({reason})" if reason else ""
    return Difference(kind, f"{place}: {expected}, got {show(got[:1])}{tail}", want, got, at)


def _kind(stretch: Stretch, at: int, epochs: Epochs) -> tuple[str, str]:
    """Describe the wrong batch at ``at``: the words are a guess, the kind is certain."""
    want, got = (stretch.want or [])[at:], stretch.got[at:]
    whole = epochs[stretch.start.epoch]
    before = whole[: stretch.start.batches + at]
    if want and ids(want[:1]) == ids(got[:1]):
        return "values", "the same samples, other values"
    if before and _starts_over(got, whole):
        return "repeated", "the epoch starts over"
    if not want:
        return ("repeated", "already delivered") if got[0] in before else ("extra", "")
    if got[0] in before:
        return "repeated", "already delivered"
    if got[0] in want and sorted(ids(want)) == sorted(ids(got)):
        return "reordered", "the same samples, another order"
    if got[0] in want:
        skipped = f"{_batches(want.index(got[0]))} skipped"
        again = _is_the_end_again(stretch, got, epochs)
        last = stretch.start.epoch - 1
        return "missing", f"{skipped}, or the end of epoch {last} comes again" if again else skipped
    other = next((e for e, batches in enumerate(epochs) if batches and batches[0] == got[0]), None)
    if other is not None:
        return "different", f"epoch {other} begins so"
    seen = set(ids(before))
    if any(i in seen for i in ids(got)):
        return "repeated", "with samples that were delivered before"
    if sorted(ids(want)) == sorted(ids(got)):
        return "reordered", "the same samples, another order"
    return "different", ""


def _is_the_end_again(stretch: Stretch, got: Sequence[Batch], epochs: Epochs) -> bool:
    """Return whether an epoch gives the last batches of the one before; equal epochs have both."""
    if stretch.start.batches or not stretch.start.epoch or not stretch.loaded:
        return False
    before = epochs[stretch.start.epoch - 1]
    return len(got) < len(before) and list(got) == list(before[-len(got) :])


def _starts_over(got: Sequence[Batch], whole: Sequence[Batch]) -> bool:
    """Return whether all batches are those of the epoch from its beginning.

    One batch alone may be any that is equal: several streams in one loader repeat each other's.
    """
    enough = len(got) > 1 or len({repr(batch) for batch in whole}) == len(whole)
    length = min(len(got), len(whole))
    return enough and list(got[:length]) == list(whole[:length])


def _batch(batch: Batch) -> str:
    words = " ".join(map(_row, batch))
    # A user's own batch is one text, which has its own brackets.
    return words if batch and isinstance(batch[0][0], str) else f"[{words}]"


def _row(row: list[float]) -> str:
    values = [str(v) if isinstance(v, (int, str)) else f"{v:.6g}" for v in row]
    return values[0] if len(values) == 1 else f"({', '.join(values)})"


def _samples(numbers: Sequence[float]) -> str:
    text = ", ".join(f"{n:g}" for n in numbers[:_SHOWN])
    more = " and more" if len(numbers) > _SHOWN else ""
    return f"sample{'s' if len(numbers) > 1 else ''} {text}{more}"


def _batches(count: int) -> str:
    return f"{count} batch{'' if count == 1 else 'es'}"
