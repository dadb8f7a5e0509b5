"""Lanes: the user's dataset, iterators and random streams run here, in any kind of worker."""
