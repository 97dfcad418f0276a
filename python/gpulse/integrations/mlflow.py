# SPDX-License-Identifier: Apache-2.0
"""GPU values among the system metrics of an MLflow run.

    from gpulse.integrations.mlflow import gpu_log

    with mlflow.start_run(), gpu_log() as gpu: ...
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._framework import framework
from ._log import GpuLog, log_of_rank, logger
from ._session import Options, Tell, Write

if TYPE_CHECKING:
    from typing_extensions import Unpack

mlflow: Any = framework("mlflow", install="mlflow")

_PREFIX = "system/"  # MLflow shows what begins so on a page of its own


def write_to(run_id: str) -> Write:
    client = mlflow.MlflowClient()

    def write(values: Mapping[str, float], step: int) -> None:
        now = int(time.time() * 1000)
        metrics = [mlflow.entities.Metric(_PREFIX + name, value, now, step) for name, value in values.items()]
        # The server may be far away: MLflow's own thread waits for it.
        client.log_batch(run_id, metrics, synchronous=False)

    return write


def tell_in(run_id: str) -> Tell:
    """A tag for each finding: what MLflow has for words."""
    client = mlflow.MlflowClient()
    told = 0

    def tell(message: str) -> None:
        nonlocal told
        logger.warning(message)
        told += 1
        client.set_tag(run_id, f"gpulse.{told}", message)

    return tell


def gpu_log(run: Any = None, **options: Unpack[Options]) -> GpuLog:
    """`run`: the active one, where none is given."""
    run = mlflow.active_run() if run is None else run
    if run is None:
        raise ValueError("no run of MLflow is active: call mlflow.start_run() first")
    run_id = run.info.run_id
    return log_of_rank(write_to(run_id), tell_in(run_id), **options)
