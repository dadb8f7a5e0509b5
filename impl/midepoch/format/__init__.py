"""The state format: orders, seeds, plan, document and JSON; neither torch nor multiprocessing."""
