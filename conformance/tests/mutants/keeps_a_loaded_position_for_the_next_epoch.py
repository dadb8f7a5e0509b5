"""Leaves a lane that gave nothing since a load where it is, when the epoch is broken off."""

from unittest.mock import patch

from format_base import mutant

from midepoch.epoch.progress import Progress

EXPECTED = "RESUME-7"
LARGEST = {"workers": 0, "sessions": 3, "steps": 10, "samples": 2}

patch.object(Progress, "unasked", new=False).start()

Adapter = mutant()
