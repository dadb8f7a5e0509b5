"""The names of torchvision's package that MosaicML's streaming imports."""
