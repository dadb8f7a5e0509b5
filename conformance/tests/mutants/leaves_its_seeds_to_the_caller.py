"""Leaves the global streams as the samples left them: a model's dropout follows its data."""

from __future__ import annotations

import contextlib

import format_base as base

from midepoch.lane import streams

EXPECTED = "SEED-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 7, "samples": 1}

streams.isolated = contextlib.nullcontext


class Adapter(base.Adapter):
    pass
