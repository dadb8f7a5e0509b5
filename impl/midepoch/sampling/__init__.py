"""Sampling: which keys make batch i of an epoch, for built-in orders and for users' samplers."""
