"""Lightning: the GPU beside the loss, in whichever logger there is.

    python train_with_lightning.py logs
"""

import os
import sys
import time

import lightning.pytorch as pl
import torch
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from torch.utils.data import DataLoader, TensorDataset

from gpulse.integrations.lightning import GpulseCallback


class Model(pl.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], index: int) -> torch.Tensor:
        time.sleep(0.05)  # so that there is something to see
        loss = torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.01)


data = DataLoader(TensorDataset(torch.randn(800, 8), torch.randn(800, 1)), batch_size=16)
trainer = pl.Trainer(
    max_epochs=int(sys.argv[2]) if len(sys.argv) > 2 else 2,
    accelerator=os.environ.get("ACCELERATOR", "auto"),
    callbacks=[GpulseCallback()],
    logger=[TensorBoardLogger(sys.argv[1], name="tensorboard", version=""), CSVLogger(sys.argv[1], name="csv", version="")],
    log_every_n_steps=10,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Model(), data)
