"""What functions take of the GPU that this process sees, whatever CUDA_VISIBLE_DEVICES says."""

import time

import gpulse


@gpulse.gpu_util  # prints a line after each call
def get_model() -> str:
    time.sleep(0.3)
    return "model"


@gpulse.region  # silent: see the report
def generate(model: str) -> str:
    time.sleep(0.3)
    return f"text of {model}"


print(generate(get_model()))
print(gpulse.report())
