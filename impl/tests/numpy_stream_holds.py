"""Check ``lane/numpy_stream.py`` under the NumPy that runs this file; torch is not needed.

``python numpy_stream_holds.py`` prints the version. ``.ci/nightly numpy`` runs it under every NumPy
that is supported.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).parents[1] / "midepoch/lane/numpy_stream.py"


def load() -> Any:
    """Return the module, loaded from its file: its package would import torch."""
    spec = importlib.util.spec_from_file_location("numpy_stream", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def the_callers_stream_comes_back(streams: Any) -> None:
    """The generator and its cached Gaussian come back, whatever was drawn in between."""
    np.random.seed(2)
    first, cached, rest = (np.random.standard_normal() for _ in range(3))
    np.random.seed(2)
    assert np.random.standard_normal() == first
    before = streams.current()
    assert before.gauss is not None
    borrowed = streams.spare()
    streams.put(borrowed)
    np.random.seed(5)  # asks for the generator's class
    drawn = np.random.standard_normal()
    inside = streams.current()
    streams.put(before)
    assert np.random.standard_normal() == cached
    assert np.random.standard_normal() == rest
    outside = streams.current()
    streams.put(inside)
    expected = np.random.RandomState(5)
    assert drawn == expected.standard_normal()
    assert np.random.standard_normal() == expected.standard_normal()
    streams.put(outside)
    streams.add_spare(borrowed)


def nothing_is_drawn(streams: Any) -> None:
    """Looking at the stream moves nothing."""
    np.random.seed(3)
    expected = np.random.RandomState(3).random_sample(4).tolist()
    found = []
    for _ in range(4):
        streams.current()
        found.append(np.random.random_sample())
    assert found == expected


def other_threads_draw_on(streams: Any) -> None:
    """A thread that draws while others look gets the generator's own numbers."""
    np.random.seed(4)
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            streams.current()

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    try:
        found = [np.random.random_sample() for _ in range(20_000)]
    finally:
        stop.set()
        for looker in lookers:
            looker.join()
    assert found == np.random.RandomState(4).random_sample(20_000).tolist()


def a_forked_child_has_the_generator(streams: Any) -> None:
    """A fork while another thread looks leaves the child the generator, and no lock."""
    np.random.seed(6)
    expected = np.random.RandomState(6).random_sample()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            streams.current()

    looker = threading.Thread(target=look)
    looker.start()
    try:
        for _ in range(50):
            child = os.fork()
            if child == 0:
                streams.current()
                os._exit(np.random.random_sample() != expected)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        looker.join()


CHECKS = (
    the_callers_stream_comes_back,
    nothing_is_drawn,
    other_threads_draw_on,
    a_forked_child_has_the_generator,
)

if __name__ == "__main__":
    loaded = load()
    assert loaded.SHORT, f"NumPy {np.__version__} has no short way to the Gaussian"
    for check in CHECKS:
        check(loaded)
    print(f"NumPy {np.__version__}: all hold")
