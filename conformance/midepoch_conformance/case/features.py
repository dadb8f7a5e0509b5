"""What is special about a case's workload: what tells causes apart (pure)."""

from __future__ import annotations

from midepoch_conformance.case.case import Case

__all__ = ["feature_of", "sort_of"]


def sort_of(case: Case) -> tuple[str, str]:
    """Return the kind of a case's workload, and what is special about it."""
    return case.workload.kind, feature_of(case)


def feature_of(case: Case) -> str:
    """Return what is special about a case's workload, in a word or two; ``""``: nothing is."""
    return str(getattr(case.workload, "feature", ""))
