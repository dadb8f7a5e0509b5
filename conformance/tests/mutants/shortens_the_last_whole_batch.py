"""Under drop_last, delivers the last whole batch without its last sample."""

from base import mutant, simple

EXPECTED = "BASIS-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 1}


class Loader(simple.Loader):
    def order(self, epoch: int) -> list[list[int]]:
        batches = super().order(epoch)
        if self.drop_last and batches:
            batches[-1] = batches[-1][:-1]
        return batches


Adapter = mutant(Loader)
