"""Three free GPUs for this process, and for no other that picks."""

import os

import gpulse

print(gpulse.grab_gpus(3))
print(os.environ["CUDA_VISIBLE_DEVICES"])
