"""Links to the reports of field failures that requirements cite (pure)."""

from __future__ import annotations

REPOSITORIES = {
    "DALI": "NVIDIA/DALI",
    "Energon": "NVIDIA/Megatron-Energon",
    "KempnerForge": "KempnerInstitute/KempnerForge",
    "Megatron-Bridge": "NVIDIA-NeMo/Megatron-Bridge",
    "Megatron-LM": "NVIDIA/Megatron-LM",
    "VeOmni": "ByteDance-Seed/VeOmni",
    "accelerate": "huggingface/accelerate",
    "data": "meta-pytorch/data",
    "datasets": "huggingface/datasets",
    "grain": "google/grain",
    "lancedb": "lancedb/lancedb",
    "lhotse": "lhotse-speech/lhotse",
    "litData": "Lightning-AI/litData",
    "prime-rl": "PrimeIntellect-ai/prime-rl",
    "pytorch": "pytorch/pytorch",
    "pytorch-lightning": "Lightning-AI/pytorch-lightning",
    "starVLA": "starVLA/starVLA",
    "streaming": "mosaicml/streaming",
    "torchft": "meta-pytorch/torchft",
    "torchtitan": "pytorch/torchtitan",
    "torchtune": "meta-pytorch/torchtune",
    "transformers": "huggingface/transformers",
    "verl": "verl-project/verl",
}


def link(reference: str) -> str:
    """Return a reference such as ``data#1520`` as a Markdown link.

    Raises:
        LookupError: the repository is not known here.
    """
    name, _, number = reference.partition("#")
    if name not in REPOSITORIES:
        raise LookupError(f"{reference}: add the repository of {name!r} to {__name__}.py")
    # GitHub leads on from an issue's address to the pull request of that number.
    return f"[{reference}](https://github.com/{REPOSITORIES[name]}/issues/{number})"
