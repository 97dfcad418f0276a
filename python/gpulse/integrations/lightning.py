# SPDX-License-Identifier: Apache-2.0
"""GPU values in Lightning's loggers, whichever they are.

    from gpulse.integrations.lightning import GpulseCallback

    Trainer(callbacks=[GpulseCallback()])

For `lightning` and `pytorch_lightning`. Only the first rank has loggers, so it logs the GPUs of all ranks of its machine.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._framework import framework
from ._log import GpuLog, log_of_node
from ._rank import Rank
from ._session import Options
from ._throughput import batch_size_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    class _Callback: ...


_lightning: Any = framework("lightning.pytorch", "pytorch_lightning", install="lightning")
if not TYPE_CHECKING:
    _Callback = _lightning.Callback


class GpulseCallback(_Callback):
    """Logs while the trainer fits: each sample at the step that goes on, and what each epoch took."""

    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__()
        self._options = options
        self._log = GpuLog()

    def on_train_start(self, trainer: Any, module: Any) -> None:
        def write(values: Mapping[str, float], step: int) -> None:
            for logger in trainer.loggers:
                logger.log_metrics(dict(values), step)

        rank = Rank(trainer.global_rank, trainer.local_rank, trainer.world_size, trainer.num_devices)
        self._log = log_of_node(lambda: write, _tell, rank, self._options).start()

    def on_train_epoch_start(self, trainer: Any, module: Any) -> None:
        self._log.begin_epoch()

    def on_train_batch_end(self, trainer: Any, module: Any, outputs: Any, batch: Any, batch_index: int) -> None:
        size = batch_size_of(batch)
        self._log.step(_step_of(trainer), None if size is None else size * trainer.world_size)

    def on_train_epoch_end(self, trainer: Any, module: Any) -> None:
        self._log.end_epoch()

    def on_train_end(self, trainer: Any, module: Any) -> None:
        self._log.close()

    def on_exception(self, trainer: Any, module: Any, exception: BaseException) -> None:
        self._log.close()


def _step_of(trainer: Any) -> int:
    """As the loggers count, which differs from `global_step` where there are several optimizers."""
    counted = getattr(trainer.fit_loop.epoch_loop, "_batches_that_stepped", None)
    return int(trainer.global_step if counted is None else counted)


def _tell(message: str) -> None:
    # The first rank of every machine tells, so this is no matter of Lightning's rank zero.
    logging.getLogger(_lightning.__name__).info(message)
