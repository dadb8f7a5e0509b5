"""A host's requests to the operating system about plays: time limits, stacks, surroundings.

Rule: as for the host, a module here imports the standard library alone.
"""
