"""Saved states: the files that midepoch inspect reads and shows."""
