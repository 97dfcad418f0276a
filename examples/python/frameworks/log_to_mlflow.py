"""MLflow: the GPU among the system metrics of the run.

    MLFLOW_TRACKING_URI=sqlite:///runs.db python log_to_mlflow.py
"""

import sys
import time

import mlflow

from gpulse.integrations.mlflow import gpu_log

BATCH = 16

with mlflow.start_run() as run, gpu_log(run) as gpu:
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 2):
        with gpu.epoch():
            for _ in range(50):
                time.sleep(0.05)  # a training step
                gpu.step(samples=BATCH)
print(run.info.run_id)
