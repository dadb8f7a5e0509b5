"""Epochs: which batch is next, what was delivered, and how the loader executes it.

- ``position``: where a loader stands, and what its state says.
- ``planning``: the plan of a loader's arguments, and the order of an epoch.
- ``execution``: all that depends on ``num_workers``, ``worker_type``, ``persistent_workers`` and
  ``in_order``.
- ``opening``: which epoch an iterator opens; ``between``: how it is started, now or early.
- ``schedule``: the epoch's next batch, and the worker that makes it.
- ``iterator``: delivers batches; ``progress``: what was delivered, and the state of that moment.
- ``samplers``: the samplers that a loader shows, and the arguments of one that is rebuilt.
- ``pool``: the workers that outlive an iterator.

Rule: a module here does not know which kind of worker runs a task, apart from ``execution`` and
``pool``.
"""
