"""A host's requests to the operating system: processes, time limits, stacks, surroundings.

Rule: as for the host, a module here imports the standard library alone.
"""
