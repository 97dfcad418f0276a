# SPDX-License-Identifier: Apache-2.0
"""pytest and the GPU: what a test takes, and what it must not take.

    def test_forward(gpu_region): ...          # gpu_region.settle() says what the test took so far

    @pytest.mark.gpu_memory("2GiB")            # the most GPU memory that this process may hold meanwhile
    @pytest.mark.gpu_energy("500J")            # of all GPUs that it sees
    @pytest.mark.gpu_leak_check                # no GPU memory may be left behind; `gpu_leak_check = true`: by any test

What cannot be measured is never passed over in silence: without a GPU such a test is skipped, and where a figure is
missing it warns. A module of its own, outside the package: pytest imports it in every run, and this costs nothing.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Optional, cast

import pytest

if TYPE_CHECKING:
    import gpulse

_JOULES = {"": 1.0, "j": 1.0, "kj": 1e3, "wh": 3.6e3, "kwh": 3.6e6}
# Drivers and libraries take some when they are first used.
_LEAK_ALLOWED = "16MiB"


class GpuNotMeasuredWarning(pytest.PytestWarning):
    """A budget that was not checked, because its figure is not there."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("gpu_leak_check", "fail tests that leave GPU memory behind", type="bool", default=False)
    parser.addini("gpu_leak_allowed", f"how much they may leave behind ({_LEAK_ALLOWED})", default=_LEAK_ALLOWED)


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        "gpu_memory(limit): the most GPU memory that the process may hold during the test, such as '2GiB'",
        "gpu_energy(limit): the most energy that the GPUs may use during the test, such as '500J'",
        "gpu_leak_check(allowed): the test may leave no GPU memory behind, or as much as is allowed",
    ):
        config.addinivalue_line("markers", line)


@pytest.fixture
def gpu_region(request: pytest.FixtureRequest) -> Iterator[gpulse.Region]:
    """The test as a region: `gpu_region.settle().energy_joules`."""
    import gpulse

    test = cast(pytest.Item, request.node)  # pyright: ignore[reportUnknownMemberType]
    with gpulse.region(test.name) as region:
        yield region


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    wanted = _Budget.of(item)
    if wanted is None:
        yield
        return
    with _Meter(item.name) as meter:
        if meter.absence is not None:
            pytest.skip(f"no GPU to measure the test on: {meter.absence}")
        outcome = yield
        if outcome.excinfo is not None:  # it has failed by itself, which says more
            return
        meter.end()
        problems = list(wanted.problems(item, meter))
    if problems:
        outcome.force_exception(pytest.fail.Exception("\n".join(problems), pytrace=False))


class _Budget:
    """What a test may take. None: that does not matter."""

    def __init__(self, memory: Optional[float], energy: Optional[float], leak: Optional[float]) -> None:
        self.memory, self.energy, self.leak = memory, energy, leak

    @classmethod
    def of(cls, item: pytest.Item) -> Optional[_Budget]:
        memory, energy, leak = map(item.get_closest_marker, ("gpu_memory", "gpu_energy", "gpu_leak_check"))
        leaks = leak is not None or item.config.getini("gpu_leak_check")
        if memory is None and energy is None and not leaks:
            return None
        from gpulse._pick import bytes_of

        allowed = _argument(leak, "allowed") if leak is not None and (leak.args or leak.kwargs) else None
        return cls(
            None if memory is None else bytes_of(_argument(memory, "limit")),
            None if energy is None else _joules_of(_argument(energy, "limit")),
            bytes_of(item.config.getini("gpu_leak_allowed") if allowed is None else allowed) if leaks else None,
        )

    def problems(self, item: pytest.Item, meter: _Meter) -> Iterator[str]:
        if self.memory is not None:
            peak, why = meter.memory_peak()
            if peak is None:
                item.warn(GpuNotMeasuredWarning(f"gpu_memory was not checked: {why}"))
            elif peak > self.memory:
                yield f"held {_bytes(peak)} of GPU memory at its peak, and may hold {_bytes(self.memory)}"
        if self.energy is not None:
            low, high = meter.energy()
            if low is None or high is None:
                item.warn(GpuNotMeasuredWarning("gpu_energy was not checked: the GPU does not count its energy"))
            elif low > self.energy:
                yield f"used {low:.4g} J, and may use {self.energy:.4g} J"
            elif high > self.energy:
                item.warn(GpuNotMeasuredWarning(f"gpu_energy was not checked: the test is too short to tell, "
                                                f"it used {low:.3g} to {high:.3g} J"))  # fmt: skip
        if self.leak is not None:
            left, why = meter.memory_left()
            if left is None:
                item.warn(GpuNotMeasuredWarning(f"gpu_leak_check was not done: {why}"))
            elif left > self.leak:
                yield f"left {_bytes(left)} of GPU memory behind, and may leave {_bytes(self.leak)}"


class _Meter:
    """Measures a test, with a monitor that runs only meanwhile."""

    def __init__(self, name: str) -> None:
        import gpulse

        self._monitor = gpulse.Monitor(interval=0.1, history=0)
        sample = self._monitor.refresh()
        self.absence = None if sample.devices else sample.absence or "this process sees none"
        self._torch = _torch_allocated()
        self._regions = gpulse.region(name, memory="process", monitor=self._monitor)
        self._region = self._regions.__enter__()
        self._result: Optional[gpulse.RegionResult] = None

    def __enter__(self) -> _Meter:
        return self

    def __exit__(self, kind: object, value: object, trace: object) -> None:
        if self._result is None:
            self._regions.__exit__(None, None, None)
        self._monitor.close()

    def end(self) -> None:
        gc.collect()  # what only waits to be collected is not left behind
        self._monitor.refresh()
        self._regions.__exit__(None, None, None)
        self._result = self._region.settle()

    def memory_peak(self) -> tuple[Optional[float], str]:
        assert self._result is not None
        why = self._unseen()
        return (None, why) if why else (self._result.process_memory_peak_bytes, "the driver does not tell")

    def memory_left(self) -> tuple[Optional[float], str]:
        """As torch's allocator counts where torch is in use: what it keeps to use again, and its context, are no leaks."""
        assert self._result is not None
        allocated = _torch_allocated()
        if allocated is not None:
            return allocated - (self._torch or 0), ""
        why = self._unseen()
        return (None, why) if why else (self._result.memory_delta_bytes, "the driver does not tell")

    def energy(self) -> tuple[Optional[float], Optional[float]]:
        assert self._result is not None
        best = self._result.energy_joules
        return (best, best) if best is not None else (self._result.energy_min_joules, self._result.energy_max_joules)

    def _unseen(self) -> str:
        """In a container the driver may not know this process by its number, and then it seems to hold nothing."""
        assert self._result is not None
        grown = any((device.memory_delta_bytes or 0) > 0 for device in self._result.devices)
        if not self._result.process_memory_peak_bytes and (grown or _torch_allocated()):
            return "the driver does not list this process on the GPU"
        return ""


def _torch_allocated() -> Optional[float]:
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    return float(sum(torch.cuda.memory_allocated(number) for number in range(torch.cuda.device_count())))


def _argument(mark: pytest.Mark, name: str) -> Any:
    if len(mark.args) + len(mark.kwargs) != 1 or not (mark.args or name in mark.kwargs):
        raise pytest.UsageError(f"{mark.name} takes one argument: pytest.mark.{mark.name}({name})")
    return mark.args[0] if mark.args else mark.kwargs[name]


def _joules_of(limit: Any) -> float:
    text = str(limit).strip()
    number = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
    try:
        return float(number) * _JOULES[text[len(number) :].strip().lower()]
    except (ValueError, KeyError):
        raise pytest.UsageError(f"{limit!r} is no energy: write '500J', '2kJ' or '0.1kWh'") from None


def _bytes(value: float) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f} bytes"
