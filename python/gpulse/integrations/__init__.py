# SPDX-License-Identifier: Apache-2.0
"""GPU values in what people train with: a module per framework, imported when it is asked for.

    from gpulse.integrations.lightning import GpulseCallback       # also .transformers, .keras
    from gpulse.integrations.wandb import gpu_log                  # also .mlflow, .tensorboard

All of them write the same: a point per sample on the axis of training steps, what an epoch took when it ends, and each
finding once, where the framework itself speaks to the user. A failure in here is told once and never ends a training.
"""
