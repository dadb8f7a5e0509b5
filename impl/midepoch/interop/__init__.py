"""Interoperation: other loaders' states, read into documents of this package's format.

- ``torchdata``: translates a state of torchdata's loader.
- ``torchdata_layout``: the layouts of these states, read into one form.
- ``torchdata_order``: the shuffled order of torchdata's loader.
- ``torchdata_samplers``: the sampler's position in a torchdata state.

Rule: nothing else in this package knows the keys of another loader's state.
"""
