"""The families on unusual workloads, which break loaders that are right on plain ones (pure).

They do the same as the basic families, on the workloads of ``aspects.py``, and have the same
judges. Importing the package registers them, in the tables' order.
"""

from midepoch_conformance.families.unusual import cuts, executions, states, timing

__all__ = ["cuts", "executions", "states", "timing"]
