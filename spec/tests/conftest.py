"""Put this folder on the path: the tests share their tools with the scripts beside them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
