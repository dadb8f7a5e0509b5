"""The shortest adapter for torchdata's loader: map-style datasets, inline and with workers."""

import torch
from torchdata.stateful_dataloader import StatefulDataLoader


class Rows:
    def __init__(self, w):
        self.w = w

    def __len__(self):
        return self.w.n

    def __getitem__(self, i):
        return self.w.row(i)


class Session:
    def __init__(self, w, x):
        self.loader = StatefulDataLoader(
            Rows(w), w.batch_size, w.shuffle, num_workers=x.workers, collate_fn=list,
            generator=torch.Generator().manual_seed(w.seed), snapshot_every_n_steps=x.interval,
        )  # fmt: skip
        self.epoch = self.loader.__iter__
        self.state, self.load = self.loader.state_dict, self.loader.load_state_dict

    def close(self):
        self.__dict__.clear()


class Adapter:
    def offer(self):
        return {
            "name": "torchdata",
            "workers": (0, 1, 2),
            "intervals": (1, 2),
            "fixed_plan": ("map",),
        }

    def declines(self, w, x):
        return "shuffle needs samples" if w.shuffle and not w.n else None

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        return Session(w, x)
