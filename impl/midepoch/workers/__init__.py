"""Workers: they run tasks inline, in threads or in processes.

- ``protocol``: the interface between the epoch's iterator and the workers.
- ``inline``: tasks in the caller's process; ``threads``: worker threads; ``processes``: worker
  processes.
- ``process``: one worker process, seen from the main process; ``process_main``: its own side.
- ``task_log``: the messages that a replacement of a dead worker needs.
- ``deadline``: the deadline of a wait for workers; ``losses``: workers that ended meanwhile.
- ``pinning``: copies received batches into pinned memory.

Rule: a worker knows no position in the epoch.
"""
