"""Lanes: the user's dataset, iterators and random streams run here, in any kind of worker.

- ``lane``: one lane; ``host``: the lanes of one process.
- ``messages``: the messages between the main process and its workers.
- ``progress``: how far a lane was delivered, and its entry in a state.
- ``passes``: a restartable pass over a dataset or a sampler.
- ``datasets``: checks that an object can be a dataset; ``datapipes``: sharding and seeds of data
  pipes.
- ``streams``: the three global random streams; ``ambient``: the torch settings of a thread.
- ``batch_info``: ``batch_info()``, which dataset code calls.

Rule: a lane does not know where it runs, nor how far other lanes are.
"""
