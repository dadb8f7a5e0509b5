"""The run: which cases are played, what their failures have in common, and its events.

- ``check``: a whole check; ``settings``: its settings; ``smoke``: the gate before it.
- ``piecewise``: a check in pieces for a test runner; ``explore``: cases beyond the tables.
- ``failures``: groups, shrinks and explains failing cases; ``measure``: what states cost.
- ``known``: accepted failures; ``summary``: a row for each requirement; ``events``: the events of
  a check.

Rule: a module here writes no report and prints nothing.
"""
