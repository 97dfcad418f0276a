# SPDX-License-Identifier: Apache-2.0
"""What a training loop or a framework's callback holds: it does the work, and never harms the training.

A failure in here is told once; from then on nothing is written, and the training goes on.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Generator
from types import TracebackType
from typing import TYPE_CHECKING, Optional, TypeVar

from ._rank import Rank, rank_of_environment
from ._session import Options, Session, Tell, Write

if TYPE_CHECKING:
    from typing_extensions import Unpack

Result = TypeVar("Result")

logger = logging.getLogger("gpulse")


class GpuLog:
    """GPU values of a training, for one place where they are written to.

        with gpu_log(writer) as gpu:
            for epoch in range(epochs):
                with gpu.epoch():
                    for batch in loader:
                        train(batch)
                        gpu.step(samples=len(batch))

    A step writes the newest sample, where that is new. The end of an epoch writes what it took.
    """

    def __init__(self, make: Optional[Callable[[], Session]] = None) -> None:
        """`make` begins to sample. None: nothing is to be logged here, or not yet."""
        self._make = make
        self._session: Optional[Session] = None

    def start(self) -> GpuLog:
        """Begins to sample; `with` does so too."""
        if self._make is not None and self._session is None:
            self._session = self._guarded(self._make)
        return self

    def step(self, number: Optional[int] = None, samples: Optional[float] = None) -> None:
        """A training step has ended: its number, by default the next one, and how many samples were in it."""
        session = self._session
        if session is not None:
            self._guarded(lambda: session.step(number, samples))

    def begin_epoch(self) -> None:
        session = self._session
        if session is not None:
            self._guarded(session.begin_epoch)

    def end_epoch(self) -> Optional[dict[str, float]]:
        """Writes what the epoch took, and returns it."""
        session = self._session
        return None if session is None else self._guarded(session.end_epoch)

    @contextlib.contextmanager
    def epoch(self) -> Generator[None, None, None]:
        self.begin_epoch()
        try:
            yield
        finally:
            self.end_epoch()

    def close(self) -> None:
        """Ends the sampling. Does nothing the second time."""
        session, self._session = self._session, None
        if session is not None:
            self._guarded(session.close)

    def __enter__(self) -> GpuLog:
        return self.start()

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:  # fmt: skip
        self.close()

    def _guarded(self, work: Callable[[], Result]) -> Optional[Result]:
        try:
            return work()
        except Exception as problem:
            logger.warning("gpulse: %s: %s: the training goes on without GPU values", type(problem).__name__, problem)
            session, self._session, self._make = self._session, None, None
            if session is not None:
                with contextlib.suppress(Exception):
                    session.close()
            return None


def log_of_rank(write: Write, tell: Tell = logger.warning, **options: Unpack[Options]) -> GpuLog:
    """Where every rank has a place to write to: each logs its own GPU."""
    return GpuLog(lambda: Session(write, tell, rank_of_environment(), False, options))


def log_of_node(make_write: Callable[[], Write], tell: Tell, rank: Rank, options: Options) -> GpuLog:
    """Where only the first rank has one: it logs the GPUs of all ranks of its machine, and the first rank of every other
    machine tells what it finds there."""
    if rank.local > 0:
        return GpuLog()
    return GpuLog(lambda: Session(make_write(), tell, rank, True, options))
