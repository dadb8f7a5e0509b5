"""The names of torchvision's module that MosaicML's streaming imports."""

from typing import Any


def to_tensor(image: Any) -> Any:
    """Refuse: only images need it."""
    raise NotImplementedError("this is a stand-in: install torchvision")
