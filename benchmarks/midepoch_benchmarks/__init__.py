"""The benchmarks: what a loader costs, beside others, in one run (``midepoch bench``)."""
