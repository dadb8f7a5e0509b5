"""Saved states: the files that ``midepoch inspect`` reads and shows.

- ``files``: finds states in files: JSON or ``torch.save``, alone or inside a checkpoint.
- ``view``: examines a state and shows it.

Rule: nothing here runs a loader.
"""
