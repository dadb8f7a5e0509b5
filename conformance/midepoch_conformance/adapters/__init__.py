"""The suite's own adapters, one file for each loader.

An adapter imports nothing of the suite but ``torch_data``, with torch's datasets and samplers.
"""
