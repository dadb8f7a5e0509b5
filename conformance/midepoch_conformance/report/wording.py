"""Parts of sentences that the page, the comment, the badges and the terminal share (pure)."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from midepoch_conformance.report.document import Document, Failure, Header, Loader, Measured
from midepoch_conformance.text import clipped, counted, printable

__all__ = [
    "COSTS",
    "batch_words",
    "batches_words",
    "cell_words",
    "command_words",
    "cost_words",
    "judged_words",
    "kinds_words",
    "not_offered_words",
    "replay_words",
]

_FORMATS = {"json": "JSON", "torch": "torch.save, weights only", "bytes": "bytes"}

COSTS = {
    "Early state": "the size of a state after 10 batches",
    "Late state": "the size of a state after 10,000 batches",
    "Format": "the encoding of the states",
    "Fetched again": "the samples that a resume after 10,000 batches fetches until its first "
    "batch, beyond those of a fresh run",
    "First batch": "from building the loader to the first batch after that resume",
    "Fresh run": "from building the loader to the first batch of a fresh run",
}
"""The figures of states and resumes, and what they mean."""

_BATCHES, _VALUE = 12, 1200
"""The number of batches that are shown of a difference, and of characters of any other value."""


def command_words(header: Header) -> str:
    """Return the command that judges the loader by the same cases again."""
    spec = header.loader.spec
    if header.profile == "explore":
        words = ["midepoch", "explore", spec, "--seed", str(header.seed or 0)]
    else:
        words = ["midepoch", "check", spec, "--profile", header.profile]
    if header.only:
        words += ["--only", ",".join(header.only)]
    words += header.options
    return shlex.join(words)


def replay_words(header: Header, failure: Failure, report: str | None = "FILE") -> str:
    """Return the command that plays a failure's case again, step by step.

    Args:
        header: the report's header.
        failure: the failure.
        report: the report's file, or a word for it; None if the case is a committed one, which
            needs no report.
    """
    words = ["midepoch", "replay", failure.id, header.loader.spec]
    # Only the report has a case that was explored or made smaller.
    if report is not None and (header.profile == "explore" or failure.shrunk):
        words += ["--report", report]
    return shlex.join(words)


def judged_words(document: Document) -> str:
    """Return how many cases were judged, and by which suite."""
    header = document.header
    by = f"midepoch {header.suite} against specification {header.spec}"
    played = sum(case.not_offered is None for case in document.cases)
    left = len(document.cases) - played
    if header.cases is not None and header.offered is not None:
        left = header.cases - header.offered  # also those that an unfinished run did not reach
    words = f"{counted(played, 'case')} of the profile {header.profile}, judged by {by}"
    return f"{words}; {left:,} {not_offered_words(header.loader)}" if left else words


def not_offered_words(loader: Loader) -> str:
    """Return why cases were not played, for the place after their number."""
    if not loader.function:
        return "not offered"
    # They would apply to a loader with a state.
    return "not judged" if "saves" in loader.reasons else "do not apply to a make_loader function"


def kinds_words(kinds: Sequence[str]) -> str:
    """Return kinds of workload in words.

    Example:
        >>> kinds_words(["map", "iterable_state"])
        'map, iterable state'
    """
    return ", ".join(kinds).replace("_", " ")


def cell_words(outcome: str, counts: Mapping[str, int]) -> str:
    """Return an outcome and the number of judged cases that have it.

    Example:
        >>> cell_words("fails", {"fails": 1, "pass": 3, "not offered": 2})
        'fails 1 of 4'
        >>> cell_words("pass", {"pass": 4})
        'pass 4'
    """
    if outcome == "not offered":
        return outcome
    asked = sum(n for name, n in counts.items() if name != "not offered")
    count = counts.get(outcome, 0)
    return f"{outcome} {count}" if count == asked else f"{outcome} {count} of {asked}"


def batches_words(value: Any) -> str:
    """Return the expected or the delivered batches on one line.

    A row is shown as its id, or whole if samples draw random numbers. Other values are shown as
    JSON.

    Example:
        >>> batches_words([[[0], [1]], [[2]]]), batches_words([[[0, 0.25]]])
        ('[0 1] [2]', '[(0, 0.25)]')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return clipped(printable(value), _VALUE)
    if not _are_batches(value):
        return clipped(printable(json.dumps(value, ensure_ascii=False)), _VALUE)
    texts = any(_is_text(batch) for batch in value)
    shown = [batch_words(batch) for batch in value[:_BATCHES]]
    more = len(value) - len(shown)
    text = ("; " if texts else " ").join(shown) or "nothing"
    return clipped(printable(text), _VALUE) + (f" and {more} more" if more > 0 else "")


def _are_batches(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(batch, list) and all(isinstance(row, list) and row for row in batch)
        for batch in value
    )


def batch_words(batch: Sequence[Sequence[Any]]) -> str:
    """Return one batch; a user's own batch is one text.

    Example:
        >>> batch_words([[0], [1]]), batch_words([["{'id': 3}"]])
        ('[0 1]', "{'id': 3}")
    """
    return str(batch[0][0]) if _is_text(batch) else f"[{' '.join(map(_row, batch))}]"


def _is_text(batch: Sequence[Sequence[Any]]) -> bool:
    return len(batch) == 1 and len(batch[0]) == 1 and isinstance(batch[0][0], str)


def _row(row: Sequence[Any]) -> str:
    values = [f"{v:.6g}" if isinstance(v, float) else str(v) for v in row]
    return values[0] if len(values) == 1 else f"({', '.join(values)})"


def cost_words(measured: Measured | None) -> dict[str, str]:
    """Return the figures of states and resumes by name; one that is not known is a dash.

    Example:
        >>> cost_words(Measured(kind="map", workers=2, codec="json", early=310))["Early state"]
        '310 bytes'
    """
    if measured is None:
        return dict.fromkeys(COSTS, "\N{EN DASH}")
    figures = (
        _figure(measured.early, "{:,} bytes"),
        _figure(measured.late, "{:,} bytes"),
        _FORMATS.get(measured.codec, measured.codec),
        _figure(measured.refetched, "{:,}"),
        _figure(measured.first, "{:.2f} s"),
        _figure(measured.fresh, "{:.2f} s"),
    )
    return dict(zip(COSTS, figures, strict=True))


def _figure(value: float | None, form: str) -> str:
    return "\N{EN DASH}" if value is None else form.format(value)
