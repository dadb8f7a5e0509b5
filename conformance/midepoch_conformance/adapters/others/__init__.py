"""Adapters of loaders that the suite's own development does not install, one file for each.

``conformance/environments`` pins an environment for each of them, which ``--python PATH`` names.
The rule of the folder above holds here too.
"""
