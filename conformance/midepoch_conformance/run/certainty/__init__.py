"""Certain verdicts: no clock and no other case decides whether a loader fails.

- ``turns``: cases are played together, or one is alone on the machine.
- ``hangs``: the time limit of plays, and the hangs that are known.
- ``plays``: plays a case, and makes sure of each hang.
"""
