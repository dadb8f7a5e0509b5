"""Adapters of loaders that run a pipeline of their own over files of their own format.

The rule of the folder above holds here too.
"""
