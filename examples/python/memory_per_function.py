"""How much GPU memory each function takes, and how much it leaves behind."""

import time

import gpulse


@gpulse.region(memory="process")
def load_model() -> None:
    time.sleep(0.5)


@gpulse.region(memory="process")
def train_epoch() -> None:
    time.sleep(0.5)


load_model()
for _ in range(3):
    train_epoch()
for row in gpulse.report():
    peak, left = row.memory_peak_bytes, row.memory_delta_bytes
    words = "no GPU" if peak is None or left is None else f"peak {peak / 2**20:.0f} MiB, {left / 2**20:+.0f} MiB"
    print(f"{row.name}, called {row.calls}x: {words}")
