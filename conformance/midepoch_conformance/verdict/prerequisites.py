"""The prerequisites of requirements: a failed one blocks those that rest on it (pure)."""

from __future__ import annotations

__all__ = ["PREREQUISITES", "presupposed"]

_RUNS = ("BASIS-1",)
_AGREES = ("BASIS-1", "BASIS-2")
_SAVES = ("BASIS-1", "BASIS-2", "BASIS-4")
_RESUMES = (*_SAVES, "RESUME-1")

PREREQUISITES: dict[str, tuple[str, ...]] = {
    "BASIS-1": (),
    "BASIS-2": _RUNS,
    "BASIS-3": _RUNS,
    "BASIS-4": _AGREES,
    "BASIS-5": _RUNS,
    "BASIS-6": _AGREES,
    "BASIS-7": (*_SAVES, "BASIS-6"),
    "RESUME-1": _SAVES,
    "RESUME-2": _RESUMES,
    "RESUME-3": (*_RESUMES, "RESUME-2"),
    "RESUME-4": _SAVES,
    "RESUME-5": _RESUMES,
    "RESUME-6": _RESUMES,
    # The other prerequisites depend on the history's steps: its findings name them.
    "RESUME-7": _AGREES,
    "RESUME-8": _RESUMES,
    "EPOCH-1": _RESUMES,
    "EPOCH-2": _SAVES,
    "EPOCH-3": _SAVES,
    "EPOCH-4": _RESUMES,
    "EPOCH-5": (*_RUNS, "BASIS-3"),
    "EPOCH-6": _SAVES,
    "EPOCH-7": _SAVES,
    "EPOCH-8": _RESUMES,
    "STATE-1": _RESUMES,
    "STATE-2": _RESUMES,
    "STATE-3": _RESUMES,
    "STATE-4": (*_RESUMES, "RESUME-2", "RESUME-3"),
    "STATE-5": _RESUMES,
    "STATE-6": _RESUMES,
    "STATE-7": _RESUMES,
    "INTERVAL-1": _RESUMES,
    "WORKERS-1": _AGREES,
    "WORKERS-2": _AGREES,
    "ELASTIC-1": (*_RESUMES, "WORKERS-1"),
    "ELASTIC-2": (*_RESUMES, "BASIS-3"),
    "ELASTIC-3": (*_RESUMES, "WORKERS-2"),
    "VOWN-1": _RESUMES,
    "VOWN-2": _RUNS,
    "VAMB-1": (*_RUNS, "BASIS-4", "RESUME-1"),
    "VAMB-2": _RUNS,
    "REFUSE-1": _RUNS,
    "REFUSE-2": _RESUMES,
    "REFUSE-3": (*_RESUMES, "BASIS-3"),
    "REFUSE-4": _AGREES,
    "UNORD-1": _RESUMES,
    "FAULT-1": _RUNS,
    "FAULT-2": _AGREES,
    "FAULT-3": _RUNS,
    "FAULT-4": _RUNS,
    "FAULT-5": (*_RESUMES, "FAULT-2"),
    "FAULT-6": (*_RESUMES, "FAULT-1"),
    "FAULT-7": (*_RUNS, "FAULT-4"),
    "FAULT-8": _RESUMES,
    "FAULT-9": _RUNS,
    "FAULT-10": (*_RESUMES, "FAULT-2"),
    "FAULT-11": (*_RESUMES, "FAULT-2", "FAULT-5"),
    "FAULT-12": (*_RESUMES, "FAULT-9"),
    "FAULT-13": (*_RESUMES, "FAULT-10"),
    "COST-1": _RESUMES,
    "COST-2": _RUNS,
    "COST-3": _RESUMES,
    "COST-4": _RESUMES,
    "COST-5": _RUNS,
    "WORLD-1": _RESUMES,
    "WORLD-2": (*_RESUMES, "WORLD-1"),
    "WORLD-3": _AGREES,
    "WORLD-4": (*_SAVES, "WORLD-3"),
    "WORLD-5": (*_RESUMES, "WORLD-3"),
    "WORLD-6": (*_AGREES, "WORLD-3"),
    "WORLD-7": (*_RESUMES, "WORLD-3"),
    "WORLD-8": _AGREES,
    "WORLD-9": _AGREES,
    "WORLD-10": (*_RESUMES, "WORLD-9"),
    "WORLD-11": _AGREES,
    "SEED-8": (*_RUNS, "WORLD-3"),
    "DOC-6": _RESUMES,
    "DOC-10": (*_SAVES, "EPOCH-3"),
    "DOC-15": (*_RUNS, "DOC-4"),
    "DOC-18": (*_RUNS, "DOC-1"),
}
"""The prerequisites of each requirement; one that is not named here has BASIS-1."""


def presupposed(requirement: str) -> tuple[str, ...]:
    """Return the prerequisites of ``requirement``.

    Example:
        >>> presupposed("BASIS-3")
        ('BASIS-1',)
    """
    return PREREQUISITES.get(requirement, _RUNS)
