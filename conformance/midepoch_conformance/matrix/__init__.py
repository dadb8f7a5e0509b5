"""The compatibility matrix: real loaders, each in its own environment, put to the suite."""
