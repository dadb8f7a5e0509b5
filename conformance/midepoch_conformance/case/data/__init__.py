"""Data: the datasets and samplers of workloads, each of which a failure's script can hold.

- ``rows``: the samples of a workload; ``draws``: the numbers that they draw.
- ``sources``: streams and generators; ``samplers``; ``published``: those of the published vectors.
- ``trees``: trees in a dataset's state.

Rule: a class here stands alone, and imports numpy or torch inside functions only.
"""
