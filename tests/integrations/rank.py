"""One of two ranks of a real training: a step is an all-reduce. Prints the GPUs that it logged."""

import json
import pathlib
import sys
import time

import torch
import torch.distributed as distributed
from torch.utils.tensorboard import SummaryWriter

from gpulse.integrations.tensorboard import gpu_log

distributed.init_process_group("gloo")
rank = distributed.get_rank()
with SummaryWriter(f"{sys.argv[1]}/rank{rank}") as writer, gpu_log(writer, interval=0.5) as gpu:
    with gpu.epoch():
        for _ in range(60):
            time.sleep(0.05)
            distributed.all_reduce(torch.ones(1))
            gpu.step(samples=4)
    print(json.dumps({"rank": rank, "driver": "libnvidia-ml" in pathlib.Path("/proc/self/maps").read_text()}), flush=True)
distributed.destroy_process_group()
