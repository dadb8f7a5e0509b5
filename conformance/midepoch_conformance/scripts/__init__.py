"""Scripts: each failure as a program of its own, made of the case and the adapter's source.

- ``write``: the folder of scripts; ``run``: runs one script; ``script``: puts its text together.
- ``player``: the part that is the same in every script; ``rare``: steps and observations that few
  scripts need.
- ``evidence``: how a script shows an observation; ``comparison``: the compared expressions;
  ``recipes``: those of a format's bytes.
- ``layout``: a script's heading and its long lines; ``source``: the lines of the adapter and of the
  data, as far as the case needs them.

Rule: a script imports nothing of the suite.
"""
