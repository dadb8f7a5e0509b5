"""Families: which cases are played, and which of them a loader offers; pure.

Importing the package registers all families.
"""

from midepoch_conformance.families import (
    basics,
    delivery,
    document,
    execution,
    faults,
    histories,
    workloads,
)

__all__ = ["basics", "delivery", "document", "execution", "faults", "histories", "workloads"]
