"""libgpulse.so beside an agent, which may be killed at any time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

from agent import Agent, open_folder, wait_for
from harness import BUILD, environment

LIBRARY = BUILD / "libgpulse.so"

CLIENT = textwrap.dedent("""
    import ctypes, sys, time
    library = ctypes.CDLL(sys.argv[1])
    library.gpulse_value.restype = ctypes.c_double
    class Info(ctypes.Structure):
        _fields_ = [("size", ctypes.c_size_t), ("number", ctypes.c_uint64), ("time", ctypes.c_int64), ("monotonic", ctypes.c_int64),
                    ("step", ctypes.c_int64), ("devices", ctypes.c_uint32), ("processes", ctypes.c_uint32), ("from_agent", ctypes.c_int32)]
    class Options(ctypes.Structure):
        _fields_ = [("size", ctypes.c_size_t), ("interval", ctypes.c_double), ("history", ctypes.c_double), ("metrics", ctypes.c_char_p),
                    ("flags", ctypes.c_uint32)]
    options, monitor, sample = Options(), ctypes.c_void_p(), ctypes.c_void_p()
    library.gpulse_options_init(ctypes.byref(options))
    options.interval = 0.1
    assert library.gpulse_open(ctypes.byref(options), ctypes.byref(monitor)) == 0
    number = 0
    while True:
        if library.gpulse_wait(monitor, ctypes.c_uint64(number), ctypes.c_double(20), ctypes.byref(sample)) != 0:
            sys.exit("no sample")
        info = Info(size=ctypes.sizeof(Info))
        library.gpulse_get_info(sample, ctypes.byref(info))
        age = time.time() - info.time / 1e9
        number = info.number
        print(info.number, info.from_agent, info.devices, f"{age:.3f}", info.time, flush=True)
        library.gpulse_release(sample)
    """)  # fmt: skip


def test_the_monitor_goes_on_when_its_agent_is_killed(tmp_path: Path) -> None:
    client = tmp_path / "client.py"
    client.write_text(CLIENT)
    log = tmp_path / "log"
    with open_folder() as folder, Agent(folder, scenario="single") as agent, log.open("w") as out:
        env = environment("single", GPULSE_AGENT=str(folder))
        process = subprocess.Popen([sys.executable, str(client), str(LIBRARY)], env=env, stdout=out, stderr=out)

        def samples() -> list[list[float]]:
            return [[float(word) for word in line.split()] for line in log.read_text().splitlines(keepends=True) if line.endswith("\n")]

        try:
            wait_for(lambda: len(samples()) >= 5, "samples of the agent")
            assert all(sample[1] == 1 and sample[2] == 1 for sample in samples()), log.read_text()
            os.kill(agent.pid, signal.SIGKILL)
            agent.process.wait()
            wait_for(lambda: len([sample for sample in samples() if sample[1] == 0]) >= 5, "samples of its own", 20)
        finally:
            process.kill()
            process.wait()
        seen = samples()
        own = [sample[1] for sample in seen].index(0)
        assert all(sample[1] == 0 for sample in seen[own:]), "an agent that is gone came back"
        # Each is new: its number and its time are greater, and it was young when it was handed out.
        for before, after in zip(seen, seen[1:]):
            assert after[0] > before[0] and after[4] > before[4]
        assert all(sample[3] < 1.0 for sample in seen[1:]), log.read_text()
