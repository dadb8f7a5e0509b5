"""The host: it plays sessions inside the loader's own interpreter.

- ``host``: serves the suite's requests; ``__main__`` starts it.
- ``loading``: finds the adapter of a loader's name; ``function_adapter``: a ``make_loader``
  function as an adapter.
- ``job``: the session that is asked for; ``session``: plays it, and keeps its record.
- ``faults``: exceptions and dead processes as faults of a trace.
- ``system``: finds and ends processes; their time limits, their stacks, a play's surroundings.

Rule: a module here imports the standard library alone, except inside functions.
"""
