"""Real frameworks, on the processor, with the simulator as the GPU beside them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import machines

# 300 J a second, for ever, so that the energy of an epoch is known.
STEADY = """
[[device]]
profile = "h100"
uuid = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
gpu_util = 37
power_w = 300
temperature = 51
"""


@pytest.fixture
def steady(scenario: Callable[[str], Path]) -> Path:
    return scenario(STEADY)


@pytest.fixture
def small_kernels(scenario: Callable[[str], Path]) -> Path:
    return scenario(machines.small_kernels())
