"""GPU use beside the loss in TensorBoard, on the axis of training steps, without slowing the loop down.

    python background_stats.py runs/today && tensorboard --logdir runs/today
"""

import sys
import time

import gpulse

sample = None
with gpulse.Monitor(interval=1.0, sinks=[gpulse.TensorBoard(sys.argv[1])]) as monitor:
    for step in range(int(sys.argv[2]) if len(sys.argv) > 2 else 30):
        time.sleep(0.1)  # a training step
        monitor.set_step(step)
        sample = monitor.latest()
    for gpu in sample.devices if sample else []:
        print(f"gpu-{gpu.id}: {gpu.memory_used_percent:.1f} % of memory, {gpu.temperature_gpu_celsius:.0f} °C, "
              f"{gpu.gpu_utilization_percent:.0f} % busy")  # fmt: skip
