"""Weights & Biases: the GPU in the run, on the axis of the training's own steps.

    WANDB_MODE=offline python log_to_wandb.py
"""

import sys
import time

import wandb

from gpulse.integrations.wandb import gpu_log

BATCH = 16

with wandb.init(project="gpulse-example") as run, gpu_log(run) as gpu:
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 2):
        with gpu.epoch():
            for _ in range(50):
                time.sleep(0.05)  # a training step
                gpu.step(samples=BATCH)
