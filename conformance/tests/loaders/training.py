"""A training program's own loader: ``midepoch check loaders/training.py:make_loader``."""

import torch
from torch.utils.data import Dataset

from midepoch import StatefulDataLoader


class Noisy(Dataset):
    """Samples with noise, as an augmentation adds it."""

    def __len__(self):
        return 22

    def __getitem__(self, i):
        return torch.arange(3.0) + i + 0.1 * torch.randn(3)


def make_loader(num_workers):
    return StatefulDataLoader(Noisy(), batch_size=4, shuffle=True, seed=1, num_workers=num_workers)
