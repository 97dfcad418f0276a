# SPDX-License-Identifier: Apache-2.0
"""GPU values in Keras 3, with any backend.

    from gpulse.integrations.keras import GpulseCallback

    model.fit(..., callbacks=[GpulseCallback()])

What an epoch took stands in its `logs`: in the history that fit() returns, and in what the callbacks after this one
write, such as keras.callbacks.CSVLogger and TensorBoard. Keras has no place for values of single steps: they go to
`writer`, if one is given.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Optional

from ._framework import framework
from ._log import GpuLog, log_of_rank
from ._session import Options, Write
from .tensorboard import Writer, write_to

if TYPE_CHECKING:
    from typing_extensions import Unpack

    class _Callback: ...


_keras: Any = framework("keras", install="keras")
if not TYPE_CHECKING:
    _Callback = _keras.callbacks.Callback


class GpulseCallback(_Callback):
    """`writer`: anything with add_scalar(), for the values of steps. `batch_size`: so that speeds are in samples."""

    # Else Keras would wait for the device after every batch, to have its logs ready for us. We look at none.
    async_safe = True

    def __init__(
        self, writer: Optional[Writer] = None, batch_size: Optional[int] = None, **options: Unpack[Options]
    ) -> None:
        super().__init__()
        self._write: Write = (lambda values, step: None) if writer is None else write_to(writer)
        self._batch_size = batch_size
        self._options = options
        self._log = GpuLog()
        self._lock = threading.Lock()  # Keras calls the ends of batches on several threads

    def on_train_begin(self, logs: Any = None) -> None:
        self._log = log_of_rank(self._write, **self._options).start()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._log.begin_epoch()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        with self._lock:
            self._log.step(samples=self._batch_size)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        took = self._log.end_epoch()
        if took is not None and logs is not None:
            logs.update(took)

    def on_train_end(self, logs: Any = None) -> None:
        self._log.close()
