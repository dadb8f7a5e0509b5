"""The run: it starts hosts, plays cases, finds the causes of failures, and emits events.

- ``check``: a whole check; ``settings``: its settings; ``smoke``: the gate before it.
- ``piecewise``: a check in pieces for a test runner; ``explore``: cases beyond the tables.
- ``runner``: plays cases in two hosts; ``host_process``: one host and its pipes.
- ``bench``: plays and judges one case at a time; ``failures``: groups, shrinks and explains
  failing cases.
- ``known``: accepted failures; ``summary``: a row for each requirement; ``events``: the events of
  a check.

Rule: a module here writes no report and prints nothing.
"""
