# SPDX-License-Identifier: Apache-2.0
"""GPU values through a writer that is there already: torch.utils.tensorboard, tensorboardX, or anything like them.

    from gpulse.integrations.tensorboard import gpu_log

    with gpu_log(SummaryWriter("runs/today")) as gpu: ...

Where there is no writer, gpulse.Monitor(sinks=[gpulse.TensorBoard("runs/today")]) needs none, and no package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from ._log import GpuLog, log_of_rank, logger
from ._session import Options, Write

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Writer(Protocol):
    def add_scalar(self, tag: str, scalar_value: Any, global_step: Any = ..., /) -> Any: ...


def write_to(writer: Writer) -> Write:
    def write(values: Mapping[str, float], step: int) -> None:
        for name, value in values.items():
            writer.add_scalar(name, value, step)

    return write


def gpu_log(writer: Writer, **options: Unpack[Options]) -> GpuLog:
    """Writes beside what the training itself writes. Findings are among the texts, if the writer takes any."""

    def tell(message: str) -> None:
        logger.warning(message)
        add_text = getattr(writer, "add_text", None)
        if add_text is not None:
            add_text("gpulse", message)

    return log_of_rank(write_to(writer), tell, **options)
