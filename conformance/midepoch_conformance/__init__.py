"""The midepoch conformance suite: it judges any resumable loader by its behaviour.

This file and what it imports need the standard library alone: it is also loaded by the
interpreter of the loader under test, which may have none of the suite's dependencies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from midepoch_conformance.resuming import assert_resumes

__all__ = ["assert_resumes"]


def __getattr__(name: str) -> Any:
    """Import ``assert_resumes`` when it is first asked for: a host never needs it."""
    if name != "assert_resumes":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from midepoch_conformance.resuming import assert_resumes

    return assert_resumes
