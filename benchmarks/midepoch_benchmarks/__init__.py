"""The benchmarks: the costs of a loader beside other loaders, in one run (``midepoch bench``).

The benchmarks use the suite's adapters, and the suite finds their command by an entry point.
"""
