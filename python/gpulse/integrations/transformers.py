# SPDX-License-Identifier: Apache-2.0
"""GPU values beside those of Hugging Face's Trainer.

    from gpulse.integrations.transformers import GpulseCallback

    Trainer(..., callbacks=[GpulseCallback()])

They go where `report_to` says: TensorBoard, W&B, MLflow. Only the first process reports, so it logs the GPUs of all
processes of its machine.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import tensorboard
from ._framework import framework
from ._log import GpuLog, log_of_node
from ._rank import Rank, rank_of_environment
from ._session import Options, Write

if TYPE_CHECKING:
    from typing_extensions import Unpack

    class _Callback: ...


_transformers: Any = framework("transformers", install="transformers")
if not TYPE_CHECKING:
    _Callback = _transformers.TrainerCallback


class GpulseCallback(_Callback):
    """Logs while the trainer trains."""

    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__()
        self._options = options
        self._log = GpuLog()
        self._step_samples = 0
        self._reporters = contextlib.ExitStack()  # those that have to be closed

    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        rank = Rank(args.process_index, args.local_process_index, args.world_size, rank_of_environment().local_world)
        tell = _transformers.utils.logging.get_logger("transformers.gpulse").warning
        names = args.report_to if state.is_world_process_zero else ()
        self._step_samples = args.train_batch_size * args.gradient_accumulation_steps * args.world_size
        self._log = log_of_node(lambda: self._write_to(names, args), tell, rank, self._options).start()

    def _write_to(self, names: Sequence[str], args: Any) -> Write:
        # This callback comes after the reporters, which have begun their runs by now.
        writes = [_REPORTERS[name](args, self._reporters) for name in names if name in _REPORTERS]

        def write(values: Mapping[str, float], step: int) -> None:
            for one in writes:
                one(values, step)

        return write

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._log.begin_epoch()

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._log.step(state.global_step, self._step_samples)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._log.end_epoch()

    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._log.close()
        with contextlib.suppress(Exception):
            self._reporters.close()


def _tensorboard(args: Any, reporters: contextlib.ExitStack) -> Write:
    """A run of its own beside the trainer's: two writers in one folder would hide each other's points."""
    board = framework("torch.utils.tensorboard", install="tensorboard")
    folder = os.environ.get("TENSORBOARD_LOGGING_DIR") or os.path.join(args.output_dir, "runs")
    return tensorboard.write_to(reporters.enter_context(board.SummaryWriter(os.path.join(folder, "gpu"))))


def _wandb(args: Any, reporters: contextlib.ExitStack) -> Write:
    from . import wandb

    return wandb.write_to(wandb.wandb.run)


def _mlflow(args: Any, reporters: contextlib.ExitStack) -> Write:
    from . import mlflow

    return mlflow.write_to(mlflow.mlflow.active_run().info.run_id)


_REPORTERS: dict[str, Callable[[Any, contextlib.ExitStack], Write]] = {
    "tensorboard": _tensorboard,
    "wandb": _wandb,
    "mlflow": _mlflow,
}
