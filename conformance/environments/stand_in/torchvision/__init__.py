"""A stand-in for torchvision on machines without CUDA, where its wheels fail beside a CPU torch.

MosaicML's streaming imports the names below when it is imported, and uses them for images alone.
"""

__version__ = "0.0.0"
STAND_IN = True  # reports say so
