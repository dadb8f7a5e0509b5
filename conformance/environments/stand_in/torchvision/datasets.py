"""The names of torchvision's module that MosaicML's streaming imports."""

from typing import Any


class VisionDataset:
    """A base class; nothing of it runs before an image is asked for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("this is a stand-in: install torchvision")
