"""What an epoch costs: joules from the GPU's own counter, and what they cost in money."""

import time

import gpulse

PRICE = 0.30  # of a kWh

with gpulse.region("epoch") as epoch:
    time.sleep(3)  # the training
took = epoch.settle()
if took.energy_joules is not None:
    print(f"{took.energy_joules:.0f} J in {took.seconds:.1f} s: {took.energy_joules / 3.6e6 * PRICE:.6f} per epoch")
elif took.energy_max_joules is not None:
    print(f"too short to tell: at most {took.energy_max_joules:.0f} J")
else:
    print(took.note or "this GPU does not count its energy")
