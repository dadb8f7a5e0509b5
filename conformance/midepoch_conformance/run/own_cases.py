"""The cases of a table as a ``make_loader`` function can play them (pure).

A function has one workload, its own. A case of another kind of data asks the same of it, as long
as its steps and not its data make the case.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from midepoch_conformance.case.adapter import LoaderInfo
from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import Workload

__all__ = ["cases_for", "on_own_data"]

_DATA = ("kind", "shuffle", "seed")
"""The fields that say which data is delivered; a case with other fields is about its data."""


def cases_for(info: LoaderInfo, table: Iterable[Case]) -> list[Case]:
    """Return the cases of a table for a loader, each once."""
    cases = map(on_own_data, table) if info.function else table
    return list({case.id: case for case in cases}.values())


def on_own_data(case: Case) -> Case:
    """Return ``case`` on the function's own data; unchanged if it is about the data.

    Example:
        >>> on_own_data(Case("cut", Workload("iterable", shuffle=True, n=7), ())).workload
        Workload(n=7)
    """
    # The families of unusual data would repeat the plain ones, and know the samples.
    if case.probe.startswith("work ") or any(plan.workload for plan in case.sessions):
        return case
    plain = Workload()
    data = {name: getattr(plain, name) for name in _DATA}
    return dataclasses.replace(case, workload=dataclasses.replace(case.workload, **data))
