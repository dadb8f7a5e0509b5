"""The suite's own adapters, one file for each loader.

- ``reference``: midepoch's own loader; ``torch``: PyTorch's; ``torchdata``: torchdata's;
  ``grain``: Grain.
- ``torch_data``: datasets, samplers and epochs for loaders that take torch's.
- ``process_group``: ranks that run at the same time.

Rule: an adapter imports nothing of the suite but the last two.
"""
