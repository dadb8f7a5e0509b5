"""The suite's own adapters, one file a loader: they import nothing of the suite."""
