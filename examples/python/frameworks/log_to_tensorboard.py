"""A writer that is there already: the GPU among the training's own scalars, and what each epoch took.

    python log_to_tensorboard.py runs/today && tensorboard --logdir runs/today
"""

import sys
import time

from torch.utils.tensorboard import SummaryWriter

from gpulse.integrations.tensorboard import gpu_log

BATCH = 16

with SummaryWriter(sys.argv[1]) as writer, gpu_log(writer) as gpu:
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 2):
        with gpu.epoch():
            for _ in range(50):
                time.sleep(0.05)  # a training step
                gpu.step(samples=BATCH)
