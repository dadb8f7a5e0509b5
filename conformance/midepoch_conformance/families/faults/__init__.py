"""Families of what goes wrong and of costs; importing the package registers them (pure)."""

from midepoch_conformance.families.faults import costs, outages, refused

__all__ = ["costs", "outages", "refused"]
