"""Source text for scripts: the lines of an adapter and of its data, as far as a case needs them.

- ``specialise``: drops lines that a case does not need; ``source_tree``, ``fold`` and
  ``unreached``: its parts.
- ``beside``: the modules that lie beside a loader.
"""
