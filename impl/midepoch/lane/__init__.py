"""Lanes: the user's dataset, its iterators and its random streams run here, wherever a lane is hosted."""
