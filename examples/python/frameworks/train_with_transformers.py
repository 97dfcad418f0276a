"""Hugging Face's Trainer: the GPU beside the loss, wherever `report_to` says.

    python train_with_transformers.py logs && tensorboard --logdir logs
"""

import sys
import time

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

from gpulse.integrations.transformers import GpulseCallback


class Sentences(torch.utils.data.Dataset[dict[str, torch.Tensor]]):
    def __len__(self) -> int:
        return 400

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        time.sleep(0.006)  # so that there is something to see
        return {"input_ids": torch.randint(0, 100, (8,)), "labels": torch.tensor(index % 2)}


config = BertConfig(vocab_size=100, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
arguments = TrainingArguments(
    output_dir=sys.argv[1],
    num_train_epochs=int(sys.argv[2]) if len(sys.argv) > 2 else 2,
    per_device_train_batch_size=8,
    logging_steps=10,
    report_to=["tensorboard"],
    save_strategy="no",
    disable_tqdm=True,
)
Trainer(BertForSequenceClassification(config), arguments, train_dataset=Sentences(), callbacks=[GpulseCallback()]).train()
