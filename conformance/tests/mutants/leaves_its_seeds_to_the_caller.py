"""Leaves the global streams as the samples left them: a model's dropout depends on its data."""

import contextlib

from format_base import mutant

from midepoch.lane import streams

EXPECTED = "SEED-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 7, "samples": 1}

streams.isolated = contextlib.nullcontext

Adapter = mutant()
