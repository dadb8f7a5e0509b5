"""Closes the descriptor of shared memory that cannot be mapped.

That of memory which was mapped stays open as well, and nothing closes it later: each loader whose
workers send large batches leaves some behind.
"""

import gc
import os
from typing import Any

import numpy as np
from edited import edited

FAMILY = "leftovers"
BREAKS = ("FAULT-7",)
EDITS = [
    (
        "transport/segments.py",
        """            self._mapped[number] = Mapping(descriptor, size)
        finally:
            os.close(descriptor)
""",
        """            self._mapped[number] = Mapping(descriptor, size)
        except OSError:
            os.close(descriptor)
            raise
""",
    )
]


class Images:
    """Samples of 32 kilobytes."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        return np.full((64, 128), index, dtype=np.float32)


def shows(play: Any) -> Any:
    import midepoch

    counts = []
    for _ in range(5):
        loader: Any = midepoch.StatefulDataLoader(Images(), batch_size=2, num_workers=1, seed=0)
        for batch in loader:
            del batch
        del loader
        gc.collect()
        counts.append(len(os.listdir("/proc/self/fd")))
    return counts[-1] - counts[1], 0


Adapter = edited(EDITS)
