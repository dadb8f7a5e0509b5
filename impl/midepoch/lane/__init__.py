"""Lanes: the user's dataset, iterators and random streams run here, in any kind of worker.

Rule: a lane does not know where it runs, nor how far other lanes are.
"""
