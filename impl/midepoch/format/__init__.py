"""The state format: orders, seeds, plan and document.

- ``state``: the state document and all its keys; ``parts``: its parts below the plan, as values.
- ``plan``: the settings that decide which batches come in which order.
- ``checks``: checks of a state's fields; ``consistency``: the rules across fields.
- ``permutation``: the order of a shuffled epoch; ``seeds``: every seed, derived from the root
  seed.
- ``dealing``: the lanes that a rank has; ``merging``: the whole of several ranks' states.

Rule: a module here imports neither torch nor multiprocessing.
"""
