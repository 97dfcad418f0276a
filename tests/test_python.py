"""The Python package: devices, samples, monitors, the past."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent import Agent, open_folder
from harness import BUILD, ROOT, gpulse
from python_program import LIBRARY, output_of, python_environment, run_python

TWO = """
[[device]]
profile = "h100"
uuid = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
power_w = 111
temperature = 41

[[device]]
profile = "h100"
uuid = "GPU-bbbbbbbb-0000-0000-0000-000000000000"
power_w = 222
temperature = 42
"""


@pytest.fixture
def two(scenario: Callable[[str], Path]) -> Path:
    return scenario(TWO)


def test_a_reading_is_a_number_or_none_with_its_reason(two: Path) -> None:
    out = output_of(
        """
        first, second = gpulse.devices()
        print(first.power_draw_watts, second.power_draw_watts, second["temperature_gpu_celsius"])
        print(first.fan_speed_percent, first.reason("fan_speed_percent"), first.reason("power_draw_watts"))
        print(first.performance_state, first.uuid, first.index, first.vendor, first.state, first.parent, first.instance)
        try:
            first.nosuch
        except AttributeError as problem:
            print(problem)
        try:
            first["nosuch"]
        except gpulse.UnknownMetric as problem:
            print(problem)
        """,
        scenario=two,
    )
    assert out.splitlines() == [
        "111.0 222.0 42.0",
        "None not supported None",
        "P0 GPU-aaaaaaaa-0000-0000-0000-000000000000 0 nvidia ok None None",
        "no metric 'nosuch' here: gpulse.metrics() lists them",
        "no metric 'nosuch' here: gpulse.metrics() lists them",
    ]


def test_a_sample_is_what_the_command_prints_as_json(two: Path) -> None:
    mine = json.loads(output_of("import json; print(json.dumps(gpulse.snapshot('all').to_dict()))", scenario=two))
    command = gpulse("--json", scenario=two).json
    assert mine.keys() == command.keys()
    assert [device["uuid"] for device in mine["devices"]] == [device["uuid"] for device in command["devices"]]
    assert mine["devices"][0]["metrics"].keys() == command["devices"][0]["metrics"].keys()


def test_a_machine_without_a_gpu_says_so_and_nothing_fails() -> None:
    out = output_of(
        """
        print(gpulse.devices(), gpulse.visible_devices(), gpulse.snapshot().absence)
        gpulse.print_gpu_utilization()
        with gpulse.Monitor(interval=0.1) as monitor:
            print(monitor.wait().devices, monitor.latest().host.cpu_count > 0)
        with gpulse.region("nothing") as nothing:
            pass
        print(nothing.result.devices, nothing.result.note, nothing.result.energy_joules)
        try:
            gpulse.pick()
        except gpulse.NoGpuAvailable as problem:
            print("none:", problem)
        """
    ).splitlines()
    assert out[0].startswith("[] [] ") and out[0] != "[] [] None"
    assert out[2:3] == ["[] True"]
    assert out[3].startswith("[] ") and out[3].endswith(" None")
    assert out[4].startswith("none: ")


def test_the_import_loads_starts_and_prints_nothing(two: Path) -> None:
    out = output_of(
        """
        import os, pathlib, threading
        print(len(os.listdir("/proc/self/task")), threading.active_count())
        print("libgpulse" in pathlib.Path("/proc/self/maps").read_text(), "libnvidia-ml" in pathlib.Path("/proc/self/maps").read_text())
        """,
        scenario=two,
    )
    assert out == "1 1\nFalse False\n"


def test_a_missing_library_is_one_sentence() -> None:
    out = output_of(
        """
        try:
            gpulse.devices()
        except gpulse.LibraryError as problem:
            print(problem)
        """,
        GPULSE_LIBRARY="/nonexistent/libgpulse.so",
    )
    assert out.startswith("libgpulse.so cannot be loaded (/nonexistent/libgpulse.so: ") and out.count("\n") == 1


def test_a_monitor_shows_what_this_process_sees_in_its_order(two: Path) -> None:
    out = output_of(
        """
        with gpulse.Monitor(interval=0.05) as monitor:
            sample = monitor.wait()
            print([(device.id, device.cuda_index, device.power_draw_watts) for device in sample.devices])
            print([device.id for device in sample.all_devices])
        with gpulse.Monitor("all") as monitor:
            print([device.id for device in monitor.wait().devices])
        with gpulse.Monitor(["0"]) as monitor:
            print([(device.id, device.cuda_index) for device in monitor.wait().devices])
        """,
        scenario=two,
        CUDA_VISIBLE_DEVICES="GPU-bbbb,GPU-aaaa",
    )
    assert out.splitlines() == ["[('1', 0, 222.0), ('0', 1, 111.0)]", "['0', '1']", "['0', '1']", "[('0', 1)]"]


def test_devices_are_found_by_what_people_call_them(two: Path) -> None:
    out = output_of(
        """
        class TorchDevice:
            type, index = "cuda", 1

        for what in (0, 1, "0", "1", "cuda:0", "cuda", "GPU-bbbb", TorchDevice(), gpulse.devices()[1]):
            print(gpulse.device(what).id, end=" ")
        print()
        for what in (2, -1, "cuda:7", "GPU-", "nosuch", "cuda:x", None):
            try:
                print(gpulse.device(what))
            except gpulse.UnknownDevice as problem:
                print(problem)
        """,
        scenario=two,
        CUDA_VISIBLE_DEVICES="1,0",
    ).splitlines()
    assert out[0].split() == ["1", "0", "0", "1", "1", "1", "1", "0", "1"]
    assert len(out) == 8 and out[1] == "this process sees 2 GPUs: there is no number 2"


def test_a_monitor_is_an_iterator_in_both_worlds(two: Path) -> None:
    out = output_of(
        """
        import asyncio

        monitor = gpulse.Monitor(interval=0.02)
        numbers = []
        for sample in monitor:
            numbers.append(sample.number)
            if len(numbers) == 3:
                break

        async def watch():
            async for sample in monitor:
                numbers.append(sample.number)
                if len(numbers) == 6:
                    return

        asyncio.run(watch())
        print(numbers == sorted(numbers), len(set(numbers)) >= 5)
        monitor.close()
        print(list(monitor), monitor)
        """,
        scenario=two,
    )
    assert out == "True True\n[] <gpulse.Monitor every 0.02 s, closed>\n"


def test_callbacks_come_with_every_sample_and_end_with_the_monitor(two: Path) -> None:
    out = output_of(
        """
        import threading, time
        seen = []
        with gpulse.Monitor(interval=0.02, callback=lambda sample: seen.append(sample.number)) as monitor:
            while len(seen) < 3:
                time.sleep(0.01)
        count = len(seen)
        time.sleep(0.1)
        print(count == len(seen), threading.active_count(), seen == sorted(set(seen)))
        # One that is never closed must not keep the interpreter from ending, nor run after its end.
        forgotten = gpulse.Monitor(interval=0.01, callback=lambda sample: None).start()
        forgotten.wait()
        """,
        scenario=two,
    )
    assert out == "True 1 True\n"


def test_a_closed_monitor_says_so(two: Path) -> None:
    out = output_of(
        """
        monitor = gpulse.Monitor()
        monitor.start()
        monitor.close()
        monitor.close()
        for use in (monitor.latest, monitor.wait, monitor.refresh, monitor.history, monitor.stats, monitor.start):
            try:
                use()
            except gpulse.MonitorClosed as problem:
                print(problem)
        monitor.set_step(1)
        """,
        scenario=two,
    )
    assert out == "the monitor was closed: make a new one\n" * 6


def test_bad_arguments_are_refused_with_a_sentence(two: Path) -> None:
    out = output_of(
        """
        for bad in (dict(interval=0), dict(interval=-1), dict(interval="soon"), dict(metrics="nosuch"),
                    dict(history=-1), dict(interval=float("nan"))):
            try:
                gpulse.Monitor(**bad).start()
                print("taken", bad)
            except (ValueError, gpulse.GpulseError) as problem:
                print(type(problem).__name__, problem)
        """,
        scenario=two,
    ).splitlines()
    assert len(out) == 6 and all(line.startswith("ValueError ") for line in out), out


def test_steps_and_the_past_in_columns(two: Path) -> None:
    out = output_of(
        """
        import time, numpy, pandas, polars, pyarrow
        with gpulse.Monitor(interval=0.02, metrics=["power_draw_watts", "fan_speed_percent", "host.cpu_percent"]) as monitor:
            monitor.wait()
            monitor.set_step(7)
            last = monitor.wait(monitor.latest().number + 3)
            past = monitor.history()
            print(last.step, past.column_names[:5], len(past) >= 8, set(past["gpu"]), set(past["step"]) >= {None, 7})
            print(set(past["power_draw_watts"]), set(past["fan_speed_percent"]))
            arrow = pyarrow.table(past)
            print(arrow.schema.field("time").type, arrow.num_rows == len(past), arrow["fan_speed_percent"].null_count == len(past))
            frame = polars.DataFrame(past)
            print(frame["power_draw_watts"].to_list() == past["power_draw_watts"], frame["time"].dtype)
            print(past.to_pandas().groupby("gpu")["power_draw_watts"].mean().to_dict(), past.to_polars().shape == frame.shape)
            print(past.to_numpy()["time"].dtype, numpy.isnan(past.to_numpy()["fan_speed_percent"]).all())
            host = monitor.history(host=True)
            print("gpu" in host.column_names, len(host) >= 4)
            print(len(monitor.history(every=3600)), len(monitor.history(since=time.time() + 9)), len(monitor.history(since="1h")) >= len(past))
        """,
        scenario=two,
    )  # fmt: skip
    assert out.splitlines() == [
        "7 ['time', 'monotonic', 'step', 'gpu', 'uuid'] True {'0', '1'} True"
        if "{'0', '1'}" in out
        else "7 ['time', 'monotonic', 'step', 'gpu', 'uuid'] True {'1', '0'} True",
        "{111.0, 222.0} {None}" if "{111.0, 222.0}" in out else "{222.0, 111.0} {None}",
        "timestamp[ns, tz=UTC] True True",
        "True Datetime(time_unit='ns', time_zone='UTC')",
        "{'0': 111.0, '1': 222.0} True",
        "datetime64[ns] True",
        "False True",
        "2 0 True",
    ]


def test_whatever_speaks_arrow_takes_the_past_as_it_is(two: Path) -> None:
    """The same rows by each of them, with nothing in between: numbers, words, times, and what is not there."""
    out = output_of(
        """
        import duckdb, pandas, polars, pyarrow
        with gpulse.Monitor(interval=0.02, metrics=["power_draw_watts", "fan_speed_percent"]) as monitor:
            monitor.set_step(7)
            monitor.wait(monitor.wait().number + 3)
            past = monitor.history()
        rows = len(past)
        arrow = pyarrow.table(past)
        print("pyarrow", arrow.num_rows == rows, arrow["gpu"][1].as_py(), arrow["power_draw_watts"][1].as_py(), arrow["fan_speed_percent"].null_count == rows)
        frame = polars.DataFrame(past)
        print("polars", frame.height == rows, frame["gpu"][1], frame["power_draw_watts"][1], frame["fan_speed_percent"].null_count() == rows)
        table = pandas.DataFrame.from_arrow(past)
        print("pandas", len(table) == rows, table["gpu"][1], table["power_draw_watts"][1], table["fan_speed_percent"].isna().all())
        print("duckdb", *duckdb.sql("select count(*) = {}, max(gpu), max(power_draw_watts), count(fan_speed_percent) = 0 from past".format(rows)).fetchall()[0])
        times = [arrow["time"][0].value, frame["time"].dt.timestamp("ns")[0], table["time"][0].value,
                 duckdb.sql("select min(epoch_ns(time)) from past").fetchall()[0][0]]
        # DuckDB keeps microseconds of a time with a zone.
        print("times", {time // 1000 for time in times} == {past["time"][0] // 1000})
        """,
        scenario=two,
    )  # fmt: skip
    assert out.splitlines() == [f"{who} True 1 222.0 True" for who in ("pyarrow", "polars", "pandas", "duckdb")] + ["times True"]


def test_sampling_takes_no_turn_of_the_interpreter(two: Path) -> None:
    # A thread that never lets go of the interpreter's lock on its own account: samples come all the same.
    out = output_of(
        """
        import sys
        sys.setswitchinterval(1000)
        monitor = gpulse.Monitor(interval=0.01).start()
        first = monitor.wait().number
        total = 0
        for i in range(3_000_000):
            total += i
        print(monitor.latest().number - first >= 5, monitor.stats().samples >= 5, monitor.stats().processor_seconds > 0)
        """,
        scenario=two,
    )
    assert out == "True True True\n"


def test_the_sinks_are_written_in_the_background(two: Path, tmp_path: Path) -> None:
    output_of(
        """
        import sys
        folder = sys.argv[1]
        sinks = [gpulse.TensorBoard(folder), gpulse.Csv(folder + "/x.csv", ["id", "power_draw_watts"]),
                 gpulse.JsonLines(folder + "/x.jsonl", ["power_draw_watts"])]
        with gpulse.Monitor(interval=0.02, sinks=sinks) as monitor:
            monitor.set_step(1)
            for step in range(2, 6):
                monitor.wait(monitor.wait().number)
                monitor.set_step(step)
        """,
        tmp_path,
        scenario=two,
    )
    lines = (tmp_path / "x.csv").read_text().splitlines()
    assert len(lines) >= 9 and {line.split(",")[-1] for line in lines[1:]} >= {"111", "222"}
    objects = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    assert [device["metrics"]["power_draw_watts"] for device in objects[-1]["devices"]] == [111, 222]
    assert [path.name for path in (tmp_path / "gpu").iterdir()][0].startswith("events.out.tfevents.")
    assert not (tmp_path / "gpu_1").exists()


def test_what_a_sink_is_asked_for_is_read_for_it(two: Path, tmp_path: Path) -> None:
    output_of(
        """
        import sys
        fields = ["id", "clock_max_sm_mhz", "power_draw_watts"]
        with gpulse.Monitor(interval=0.02, metrics="temperature_gpu_celsius", sinks=[gpulse.Csv(sys.argv[1], fields)]) as monitor:
            monitor.wait(1)
        """,
        tmp_path / "x.csv",
        scenario=two,
    )
    # An H100's clock goes up to 1980 MHz.
    assert (tmp_path / "x.csv").read_text().splitlines()[:3] == ["id,clock_max_sm_mhz,power_draw_watts", "0,1980,111", "1,1980,222"]


def test_a_full_disk_is_told_and_the_rest_goes_on(two: Path, tmp_path: Path) -> None:
    out = output_of(
        """
        import sys, warnings
        sinks = [gpulse.Csv("/dev/full", ["id"]), gpulse.Csv(sys.argv[1], ["id"])]
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with gpulse.Monitor(interval=0.02, sinks=sinks) as monitor:
                monitor.wait(3)
                print(monitor.sink_error)
        print([str(one.message) for one in told])
        """,
        tmp_path / "x.csv",
        scenario=two,
    )
    words = "cannot write /dev/full: No space left on device"
    assert out.splitlines() == [words, f"['samples were lost: {words}']"]
    assert len((tmp_path / "x.csv").read_text().splitlines()) >= 5


def test_a_sink_that_cannot_be_opened_is_told_at_the_start(two: Path) -> None:
    out = output_of(
        """
        try:
            gpulse.Monitor(sinks=[gpulse.Csv("/nonexistent/x.csv")]).start()
        except gpulse.GpulseError as problem:
            print(problem)
        """,
        scenario=two,
    )
    assert "/nonexistent/x.csv" in out and out.count("\n") == 1


def test_with_an_agent_no_driver_is_opened_and_its_end_is_noticed(two: Path) -> None:
    with open_folder() as folder, Agent(folder, scenario=two) as agent:
        program = """
            import os, pathlib, signal, sys, time
            with gpulse.Monitor(interval=0.5) as monitor:
                sample = monitor.wait()
                print(sample.from_agent, [device.power_draw_watts for device in sample.devices])
                print("libnvidia-ml" in pathlib.Path("/proc/self/maps").read_text(), flush=True)
                os.kill(int(sys.argv[1]), signal.SIGKILL)
                end = time.monotonic() + 15
                while monitor.latest().from_agent and time.monotonic() < end:
                    time.sleep(0.05)
                sample = monitor.latest()
                print(sample.from_agent, [device.power_draw_watts for device in sample.devices], time.time() - sample.time < 5)
            """  # fmt: skip
        out = output_of(program, str(agent.pid), scenario=two, GPULSE_AGENT=str(agent.folder))
    assert out.splitlines() == ["True [111.0, 222.0]", "False", "False [111.0, 222.0] True"]


def test_the_program_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "gpulse", "--version"], env=python_environment(None), check=True,
                          capture_output=True, text=True)  # fmt: skip
    assert done.stdout == gpulse("--version").out


def test_every_function_of_the_library_is_declared() -> None:
    """The prototypes in Python are those of the header: each function that one has, the other has too."""
    header = (ROOT / "include" / "gpulse" / "gpulse.h").read_text()
    declared = set(__import__("re").findall(r"GPULSE_API [^;]*?\bgpulse_(\w+)\(", header))
    out = output_of("from gpulse import _library as l; print(' '.join(sorted({*l._FAST, *l._SLOW})))")
    assert declared - set(out.split()) <= {"values"} and set(out.split()) <= declared
    assert LIBRARY.exists() and BUILD.exists()


@pytest.mark.parametrize("scenario", ["mig", "laptop", "old-driver", "faulty", "unified"])
def test_every_kind_of_machine_can_be_looked_at(scenario: str) -> None:
    path = ROOT / "sim" / "scenarios" / f"{scenario}.toml"
    done = run_python("print([device.to_dict() and device.id for device in gpulse.devices()])", scenario=path)
    assert done.code == 0 and done.err == "" and "'0'" in done.out, done
