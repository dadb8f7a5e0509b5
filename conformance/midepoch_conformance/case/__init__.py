"""Cases: what a loader is asked to do, as data and as notation.

- ``case``: a case, its sessions and their steps; ``workload``: the dataset and its plan.
- ``data``: the datasets and samplers of workloads.
- ``adapter``: the adapter protocol: how the suite reaches a loader.
- ``notation``: a case as one line of text; ``words``: a case in words, for a report.
- ``history``: which steps are allowed, and the position after each.
- ``uninterrupted``: a case's uninterrupted run.
- ``tampering``: states that are damaged on purpose.
- ``trace``: the record of a played case.

Rule: a module here imports the standard library alone.
"""
