"""What checkpoints keep."""

from __future__ import annotations

from typing import Any

from ._library import known


def checkpoint_policy(context: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
    """The policy of every package's `checkpoint:`, for `torch.utils.checkpoint.create_selective_checkpoint_contexts`.
    Results of operators whose entries say nothing, PyTorch's among them, are computed again.
    """
    from torch.utils.checkpoint import CheckpointPolicy

    for package in known("packages", {}).values():
        word = package["table"].get((op.name(), "checkpoint"))
        if word is not None:
            return CheckpointPolicy[f"MUST_{word.upper()}"]
    return CheckpointPolicy.PREFER_RECOMPUTE
