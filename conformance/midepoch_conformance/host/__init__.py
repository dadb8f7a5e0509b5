"""The host: it plays sessions inside the loader's own interpreter.

- ``host``: serves the suite's requests; ``__main__`` starts it.
- ``loading``: finds the adapter of a loader's name; ``function_adapter``: a ``make_loader``
  function as an adapter.
- ``job``: the session that is asked for; ``play``: plays it; ``journal``: the session's record.
- ``streams``: the global random streams; ``codecs``: states to bytes and back.
- ``faults``: exceptions and dead processes as faults of a trace.
- ``held``: the processes, threads and descriptors that a session holds.
- ``system``: finds and ends processes; their time limits, their stacks, a play's surroundings.

Rule: a module here imports the standard library alone, except inside functions.
"""
