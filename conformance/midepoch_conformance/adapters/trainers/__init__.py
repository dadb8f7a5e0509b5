"""Adapters of trainers, which save and restore the loaders of others.

The rule of the folder above holds here too.
"""
