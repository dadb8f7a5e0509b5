"""Transport: bytes between processes.

- ``ends``: the two ends of a worker's connection.
- ``channel``: whole messages, in order; ``segments``: shared memory that is used again.
- ``packing``: a batch as bytes and a block of memory; ``layouts``: batches of the same form,
  without a pickle.
- ``collating``: collates a batch directly in shared memory.

Rule: a module here knows no batch's meaning and no position.
"""
