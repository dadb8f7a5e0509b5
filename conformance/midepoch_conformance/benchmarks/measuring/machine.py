"""What the measurements ran on."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
from typing import Any

__all__ = ["described"]

_PACKAGES = ("torch", "torchdata", "midepoch", "grain", "numpy")


def described() -> dict[str, Any]:
    """Return the processor, cores, bytes of memory, kernel, versions and load average."""
    versions = {}
    for name in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": versions,
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def _cpu() -> str:
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
