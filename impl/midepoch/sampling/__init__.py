"""Sampling: which keys make batch i of an epoch, for built-in orders and for users' samplers.

- ``batches``: the protocol of an order, and the built-in orders.
- ``custom``: the order under a user's sampler; ``chain``: the samplers inside a sampler, and
  their states.
- ``distributed``: a rank's share of the samples, with a position.

Rule: an order knows batches by their index; it knows no workers and no datasets.
"""
