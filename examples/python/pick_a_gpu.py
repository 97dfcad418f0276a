"""A GPU with room for the model, for this process alone, before anything uses CUDA."""

import os

import gpulse

try:
    lease = gpulse.pick(1, min_free="20GiB", wait="5s").apply()
except gpulse.NoGpuAvailable as problem:
    raise SystemExit(str(problem)) from None
print(f"GPU {lease.devices[0].id}, {lease.devices[0].name}")
print(os.environ["CUDA_VISIBLE_DEVICES"] == lease.uuids[0])
