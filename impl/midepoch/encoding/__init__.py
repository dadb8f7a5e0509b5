"""The canonical encoding of a state in JSON.

- ``canonical``: the encoding of a whole value, and its digests; ``codecs``: the table of its tags.
- ``leaves``: numbers, strings and bytes; ``shapes``: containers; ``buffers``: arrays and tensors.

Rule: a module here imports neither torch nor multiprocessing.
"""
