# SPDX-License-Identifier: Apache-2.0
"""Which process of a distributed training this is, and whose GPUs it speaks for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

from .._sample import Device, Sample
from .._visible import torch_uuid, visible

# How launchers name rank, local rank, all ranks, and those of this machine. Slurm's are those of a step, which `srun`
# sets: a batch script has the job's own, also where it starts one process.
_LAUNCHERS = (
    ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"),
)


@dataclass(frozen=True)
class Rank:
    number: int = 0
    local: int = 0
    world: int = 1
    local_world: int = 1  # on this machine

    @property
    def is_distributed(self) -> bool:
        return self.world > 1


def rank_of_environment() -> Rank:
    """As torchrun, mpirun and srun tell it."""
    for names in _LAUNCHERS:
        number, local, world, local_world = (_whole(os.environ.get(name)) for name in names)
        if number is not None and world is not None:
            return Rank(number, local or 0, world, local_world or 1)
    return Rank()


def _whole(text: Optional[str]) -> Optional[int]:
    # Slurm writes "4" or "4(x2)".
    digits = (text or "").partition("(")[0]
    return int(digits) if digits.isdecimal() else None


def spoken_for(sample: Sample, rank: Rank, for_node: bool) -> Sequence[Device]:
    """The GPUs that this process logs: all that it sees where it trains alone, its own where others train beside it, and
    those of all ranks of the machine where only it has a logger (`for_node`)."""
    seen = visible(sample).devices
    if not rank.is_distributed or len(seen) < 2:
        return seen
    if for_node:
        return seen[: rank.local_world]
    torch = sys.modules.get("torch")
    current = torch_uuid(seen) if torch is not None else None
    return [device for device in seen if device.uuid == current] or seen[rank.local : rank.local + 1]
