"""One session: its steps are taken, and what they show is written down.

- ``play``: takes the steps; ``journal``: the session's record, and the fetches of its dataset.
- ``kept_states``: the states that it took or loads; ``codecs``: states to bytes and back.
- ``batch_values``: what a batch holds; ``held_batches``: the batches that are looked at again.
- ``holdings``: the processes, threads and descriptors that the loader holds.
- ``streams``: the global random streams; ``beside``: another loader in the same process.
"""
