"""Where it drops an incomplete batch, drops the last sample of the batch before it, too."""

from base import mutant, simple

EXPECTED = "BASIS-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 3}


class Loader(simple.Loader):
    def order(self, epoch: int) -> list[list[int]]:
        batches = super().order(epoch)
        if self.drop_last and batches and len(self.data) % self.batch_size:
            batches[-1] = batches[-1][:-1]
        return batches


Adapter = mutant(Loader)
