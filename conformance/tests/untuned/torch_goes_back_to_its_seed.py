"""Puts torch's generator back to the seed that it had, which is shorter than its state.

A model that draws between two batches draws the same numbers at every step.
"""

from typing import Any

from edited import edited

FAMILY = "random numbers"
BREAKS = ("SEED-6", "BASIS-2")
EDITS = [
    (
        "lane/streams.py",
        "    return Streams(torch.default_generator.get_state(), random.getstate(), "
        "numpy_stream.current())\n",
        "    return Streams(\n"
        "        torch.default_generator.initial_seed(),\n"
        "        random.getstate(),\n"
        "        numpy_stream.current(),\n"
        "    )\n",
    ),
    (
        "lane/streams.py",
        "    torch.default_generator.set_state(streams.torch)\n",
        "    torch.default_generator.manual_seed(streams.torch)\n",
    ),
]


def shows(play: Any) -> Any:
    import torch

    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(range(6), 2, seed=1, collate_fn=list)
    torch.manual_seed(5)
    right = [float(torch.rand(())) for _ in range(3)]
    torch.manual_seed(5)
    return [float(torch.rand(())) for _ in loader], right


Adapter = edited(EDITS)
