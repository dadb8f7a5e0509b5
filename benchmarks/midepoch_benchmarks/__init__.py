"""The benchmarks: the costs of a loader beside other loaders, in one run (``midepoch bench``).

A part of its own: it uses the suite's adapters, and the suite finds its command by an entry point.
"""
