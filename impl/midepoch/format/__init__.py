"""The state format: orders, seeds, plan, document and JSON.

- ``state``: the state document and all its keys; ``parts``: its parts below the plan, as values.
- ``plan``: the settings that decide which batches come in which order.
- ``checks``: checks of a state's fields; ``consistency``: the rules across fields.
- ``permutation``: the order of a shuffled epoch; ``seeds``: every seed, derived from the root
  seed.
- ``canonical``: the canonical JSON encoding; ``codecs``: the table of its tags.
- ``leaves``: numbers, strings and bytes in JSON; ``shapes``: containers; ``buffers``: arrays and
  tensors.

Rule: a module here imports neither torch nor multiprocessing.
"""
