"""Families: which cases are played, and which of them a loader offers; pure.

- ``family``: a family of cases, and the facts that it states; ``offered``: whether a loader
  offers a case.
- ``tables``: the case tables of the profiles; ``covering``: few rows that combine all axes;
  ``kept``: cases that no table must lose; ``crossed``: families on values that they do not vary.
- ``basics``: basis, resume, epochs and state, on plain workloads.
- ``unusual``: the same on unusual workloads.
- ``execution``: changed executions and random numbers; ``delivery``: order, ranks and held
  batches.
- ``faults``: refused states and faults, costs, and outages; ``histories``: combinations of steps.
- ``users``: set-ups of workers, samplers of keys, and errors that are survived.
- ``published``: the families for implementers of midepoch's own format.

Importing the package registers all families.
"""

from midepoch_conformance.families import (
    basics,
    delivery,
    execution,
    faults,
    histories,
    published,
    unusual,
    users,
)

__all__ = [
    "basics",
    "delivery",
    "execution",
    "faults",
    "histories",
    "published",
    "unusual",
    "users",
]
