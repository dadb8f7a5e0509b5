"""The committed cases by their ids: ``midepoch replay`` needs no report for them."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from midepoch_conformance.case.case import Case
from midepoch_conformance.families import tables
from midepoch_conformance.families.offered import on_own_data

__all__ = ["committed_cases"]


@functools.lru_cache(maxsize=1)
def committed_cases() -> Mapping[str, Case]:
    """Return all cases of the tables; reading them takes seconds.

    A case that a function plays on its own data is there as well.
    """
    table = [case for profile in tables.PROFILES for case in tables.load_table(profile)]
    return {played.id: played for case in table for played in (case, on_own_data(case))}
