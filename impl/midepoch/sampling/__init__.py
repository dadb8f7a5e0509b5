"""Sampling: which keys make batch i of an epoch, for built-in orders and for users' samplers.

Rule: an order knows batches by their index; it knows no workers and no datasets.
"""
