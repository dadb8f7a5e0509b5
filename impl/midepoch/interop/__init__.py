"""Interoperation: other loaders' states, read into documents of this package's format.

Rule: nothing else in this package knows the keys of another loader's state.
"""
