"""The rows of the compatibility matrix: which adapter is played in which environment (pure)."""

from __future__ import annotations

import dataclasses

from midepoch_conformance.errors import CheckError
from midepoch_conformance.text import meant

__all__ = ["ENVIRONMENTS", "ROWS", "Row", "named"]

ENVIRONMENTS = ".venv-matrix"
"""The folder of the environments, at the top of the project."""


@dataclasses.dataclass(frozen=True)
class Row:
    """A loader in one of its modes."""

    name: str
    """The name of the row and of its report."""
    adapter: str
    """The loader, as ``midepoch check`` names it."""
    environment: str
    """The lock whose packages are installed, a file of ``conformance/environments``."""
    stand_in: bool = False
    """Whether the names that the loader takes from torchvision come from ``stand_in`` beside the
    locks: torchvision has no build for a PyTorch without CUDA."""

    @property
    def python(self) -> str:
        """The interpreter of the row's environment, where ``midepoch matrix`` makes it."""
        return f"{ENVIRONMENTS}/{self.environment}/bin/python"


ROWS = (
    Row("reference", "reference", "shared"),
    Row("torchdata", "torchdata", "shared"),
    Row("torchdata-old", "torchdata", "torchdata-old"),
    Row("nodes", "nodes", "shared"),
    Row("torch", "torch", "shared"),
    Row("grain", "grain", "shared"),
    Row("grain-loader", "grain-loader", "shared"),
    Row("grain-elastic", "grain-elastic", "shared"),
    Row("datasets", "datasets", "shared"),
    Row("datasets-midepoch", "datasets-midepoch", "shared"),
    Row("streaming", "streaming", "shared", stand_in=True),
    Row("litdata", "litdata", "shared"),
    Row("accelerate", "accelerate", "shared"),
    Row("accelerate-midepoch", "accelerate-midepoch", "shared"),
    Row("lightning", "lightning", "shared"),
    Row("lightning-midepoch", "lightning-midepoch", "shared"),
    Row("energon", "energon", "shared"),
    Row("lhotse", "lhotse", "shared"),
    Row("lhotse-dynamic", "lhotse-dynamic", "shared"),
    Row("webdataset", "webdataset", "shared"),
    Row("dali", "dali", "dali"),
    Row("spdl", "spdl", "spdl"),
    Row("mxnet", "mxnet", "mxnet"),
)


def named(names: tuple[str, ...], rows: tuple[Row, ...] = ROWS) -> tuple[Row, ...]:
    """Return the rows of these names, in the matrix's order; all rows if there are no names.

    Raises:
        CheckError: a name is that of no row.

    Example:
        >>> [row.environment for row in named(("torchdata-old", "torchdata"))]
        ['shared', 'torchdata-old']
    """
    known = [row.name for row in rows]
    for name in names:
        if name not in known:
            hint = meant(name, known) or f"the rows are {', '.join(known)}"
            raise CheckError(f"the matrix has no row {name!r}", hint)
    return tuple(row for row in rows if not names or row.name in names)
