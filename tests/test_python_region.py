"""Regions: what a stretch of a Python program takes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import ROOT
from python_program import output_of

MIB = 1 << 20

# 300 W without end, so that energy is known: 300 J a second.
STEADY = """
[[device]]
profile = "h100"
uuid = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
gpu_util = 50
power_w = 300
"""


@pytest.fixture
def steady(scenario: Callable[[str], Path]) -> Path:
    return scenario(STEADY)


def test_a_region_measures_time_memory_use_and_energy(steady: Path) -> None:
    out = output_of(
        """
        import time
        with gpulse.region("sleep") as sleep:
            time.sleep(3.2)
        result = sleep.settle()
        one = result.devices[0]
        print(round(result.seconds, 1), one.samples >= 20, one.settled, result.synced, one.utilization_percent)
        print(one.memory_begin_bytes == one.memory_end_bytes == one.memory_peak_bytes, one.memory_delta_bytes)
        print(one.energy_min_joules, one.energy_joules, one.energy_max_joules)
        """,
        scenario=steady,
    ).splitlines()
    assert out[:2] == ["3.2 True True False 50.0", "True 0.0"]
    low, best, high = (float(word) for word in out[2].split())
    # The truth is 960 J. The counter is read every second, moves in steps, and the card may draw 700 W between.
    assert low <= 960 <= high and abs(best - 960) < 60


def test_memory_is_whose_it_was_asked_for(steady: Path) -> None:
    out = output_of(
        """
        results = {}
        for whose in ("device", "process"):
            with gpulse.region(whose, memory=whose) as region:
                pass
            results[whose] = region.settle()
        print(results["device"].memory_peak_bytes == results["device"].devices[0].memory_peak_bytes > 0)
        # The simulator knows nothing of this process: it holds nothing.
        print(results["process"].memory_peak_bytes, results["process"].memory_delta_bytes)
        """,
        scenario=steady,
    )
    assert out == "True\n0.0 0.0\n"


def test_a_short_region_has_a_bound_and_no_made_up_energy(steady: Path) -> None:
    out = output_of(
        """
        with gpulse.region("short") as short:
            pass
        one = short.settle().devices[0]
        print(one.energy_joules, one.energy_min_joules, one.energy_max_joules > 0, one.settled)
        """,
        scenario=steady,
    )
    assert out == "None 0.0 True True\n"


def test_functions_of_every_kind_can_be_decorated(steady: Path) -> None:
    out = output_of(
        """
        import asyncio

        @gpulse.region
        def plain(a, *, b=2):
            "what it does"
            return a + b

        @gpulse.region("named")
        def other():
            return plain(1)

        @gpulse.region()
        async def waits():
            await asyncio.sleep(0.01)
            return "awaited"

        @gpulse.region
        def numbers():
            got = yield 1
            yield got
            return "end"

        @gpulse.region
        async def letters():
            yield "a"
            yield "b"

        class Model:
            @gpulse.region
            def forward(self, x):
                return x

        async def main():
            print(await asyncio.gather(waits(), waits()), [letter async for letter in letters()])

        print(plain(1), plain(1, b=5), plain.__name__, plain.__doc__, other())
        asyncio.run(main())
        generator = numbers()
        print(next(generator), generator.send("sent"), list(generator))
        print(Model().forward(3))
        try:
            gpulse.region(lambda: 1 / 0)()
        except ZeroDivisionError:
            print("raised")
        report = gpulse.report()
        print(sorted((row.name, row.calls) for row in report))
        print(str(report).splitlines()[0].split())
        """,
        scenario=steady,
    ).splitlines()
    assert out == [
        "3 6 plain what it does 3",
        "['awaited', 'awaited'] ['a', 'b']",
        "1 sent []",
        "3",
        "raised",
        "[('<lambda>', 1), ('Model.forward', 1), ('letters', 1), ('named', 1), ('numbers', 1), ('plain', 3), ('waits', 2)]",
        "['REGION', 'CALLS', 'TOTAL', 's', 'MEAN', 's', 'PEAK', 'MB', 'DELTA', 'MB', 'BUSY', '%', 'ACTIVE', '%', 'ENERGY']",
    ]


def test_regions_nest_and_overlap_on_threads(steady: Path) -> None:
    out = output_of(
        """
        import threading, time
        shared = gpulse.region("shared")

        def work():
            with shared:
                with shared, gpulse.region("inner"):
                    time.sleep(0.05)

        threads = [threading.Thread(target=work) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        report = gpulse.report()
        print({row.name: row.calls for row in report})
        """,
        scenario=steady,
    )
    assert out == "{'shared': 16, 'inner': 8}\n"


def test_the_line_of_a_decorated_function_speaks_of_the_gpu_behind_the_mask() -> None:
    # Two functions under a reordered mask: GPU 6 of the machine is this process's first, and only, one.
    eight = ROOT / "sim" / "scenarios" / "eight.toml"
    for mask in ("6", "GPU-%s" % uuid_of(eight, 6)):
        out = output_of(ROOT / "examples" / "python" / "decorator.py", scenario=eight, CUDA_VISIBLE_DEVICES=mask)
        line, returned, *table = out.splitlines()
        # 61900 MiB of the process and what the card reserves for itself, of an H100's 81559 MiB.
        assert re.fullmatch(
            r"get_model: GPU 6, (\d+)/81559 MB \((\d+\.\d) %\), \+0 MB, 100 % busy, \d+ % active, .*J, 0\.3\d* s", line
        ), line
        assert returned == "text of model"
        assert [row.split()[:2] for row in table[1:]] in (
            [["get_model", "1"], ["generate", "1"]],
            [["generate", "1"], ["get_model", "1"]],
        )


def uuid_of(scenario: Path, index: int) -> str:
    return output_of(f"print(gpulse.devices()[{index}].uuid[4:])", scenario=scenario).strip()


def test_print_gpu_utilization_knows_the_mask() -> None:
    eight = ROOT / "sim" / "scenarios" / "eight.toml"
    out = output_of("gpulse.print_gpu_utilization()", scenario=eight, CUDA_VISIBLE_DEVICES="3,1").splitlines()
    assert [line.split(" memory occupied: ")[0] for line in out] == ["GPU 3", "GPU 1"]
    assert all(re.fullmatch(r"GPU \d memory occupied: \d+/81559 MB = \d+\.\d %, \d+ % busy", line) for line in out)
    assert len(output_of("gpulse.print_gpu_utilisation()", scenario=eight).splitlines()) == 8


def test_wrong_words_are_refused(steady: Path) -> None:
    out = output_of(
        """
        for bad in (dict(memory="all"), dict(sync="cuda"), dict(memory="torch")):
            try:
                with gpulse.region("x", **bad):
                    pass
            except (ValueError, gpulse.GpulseError) as problem:
                print(problem)
        """,
        scenario=steady,
    ).splitlines()
    assert out == [
        "memory='all': one of 'device', 'process', 'torch'",
        "sync='cuda': one of None, 'torch', 'cupy', 'jax', or a function",
        "torch has not used a GPU yet: there is nothing to ask its allocator for",
    ]
