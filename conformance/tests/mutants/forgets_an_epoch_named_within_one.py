"""Ignores the name of the next epoch while another epoch has begun."""

from format_base import mutant, reference

EXPECTED = "EPOCH-8"
LARGEST = {"workers": 0, "sessions": 2, "steps": 8, "samples": 1}


class Session(reference.Session):
    def name_epoch(self, epoch: int) -> None:
        if not self.loader.state_dict()["position"]["batches"]:
            super().name_epoch(epoch)


Adapter = mutant(Session)
