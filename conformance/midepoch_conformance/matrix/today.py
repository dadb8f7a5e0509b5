"""Whether a report was made by the suite, the cases and the adapter of today."""

from __future__ import annotations

import functools
import hashlib

from midepoch_conformance.families.tables import load_table
from midepoch_conformance.host.loading import source_of
from midepoch_conformance.report.document import Document, Header
from midepoch_conformance.report.lines import spec_version, suite_version

__all__ = ["same_adapter", "same_cases", "same_version"]


def same_version(header: Header) -> bool:
    """Return whether this version of the suite judged, by this version of the specification."""
    return (header.suite, header.spec) == (suite_version(), spec_version())


def same_cases(document: Document) -> bool:
    """Return whether the profile's table had the cases that it has today.

    A report of some requirements, or of a user's own loader, has other cases anyway.
    """
    header = document.header
    if header.only is not None or header.loader.function:
        return True
    table = _table(header.profile)
    return tuple(case.id for case in document.cases[: len(table)]) == table


@functools.cache
def _table(profile: str) -> tuple[str, ...]:
    return tuple(case.id for case in load_table(profile))


def same_adapter(header: Header) -> bool:
    """Return whether the loader's adapter is the one that was played, or none of the suite's."""
    source = source_of(header.loader.spec)
    return source is None or hashlib.sha256(source.encode()).hexdigest() == header.loader.digest
