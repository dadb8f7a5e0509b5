"""Verdicts: the expected batches, the findings, and the results of many findings.

- ``requirements``: the requirements of the specification; ``prerequisites``: which of them others
  rest on.
- ``expected``: the batches that must be delivered; ``compare``: the first difference from them.
- ``finding``: one judge's finding on one case; ``results``: the results of a whole check.
- ``evidence``: the observation that a failure's script prints; ``delivered``: the batches of a
  failing case.
- ``permutation``: the format's order and seeds; ``published``: the published test vectors.
- ``document``: a document's layout and encoding; ``consistency``: the rules across its fields;
  ``position``: the numbers that its position must have.

Rule: a module here is pure: it plays nothing.
"""
