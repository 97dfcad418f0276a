# SPDX-License-Identifier: Apache-2.0
"""GPU values in a run of Weights & Biases.

    from gpulse.integrations.wandb import gpu_log

    with wandb.init(project="mnist") as run, gpu_log(run) as gpu: ...
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._framework import framework
from ._log import GpuLog, log_of_rank
from ._session import Options, Write

if TYPE_CHECKING:
    from typing_extensions import Unpack

wandb: Any = framework("wandb", install="wandb")

_PREFIX = "gpulse/"
_STEP = "gpulse/step"


def write_to(run: Any) -> Write:
    """On an axis of its own: run.log() counts W&B's own step on, which belongs to the training's values."""
    run.define_metric(_STEP, hidden=True)
    run.define_metric(f"{_PREFIX}*", step_metric=_STEP)

    def write(values: Mapping[str, float], step: int) -> None:
        run.log({_STEP: step, **{_PREFIX + name: value for name, value in values.items()}})

    return write


def gpu_log(run: Any = None, **options: Unpack[Options]) -> GpuLog:
    """`run`: the one that goes on, where none is given."""
    run = wandb.run if run is None else run
    if run is None:
        raise ValueError("no run of W&B goes on: call wandb.init() first")
    return log_of_rank(write_to(run), wandb.termwarn, **options)
