"""The state format: orders, seeds, the plan, the document and its JSON form; neither torch nor multiprocessing."""
