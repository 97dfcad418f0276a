#!/usr/bin/env python3
"""Lightning and Hugging Face's Trainer with gpulse's callback, on a machine with a GPU.

    PYTHONPATH=python bench/framework_training.py starved lightning|transformers --seconds 60
    PYTHONPATH=python bench/framework_training.py cost lightning|transformers --seconds 60

`starved` trains on JPEGs that two workers decode: what the callback says of it is in the log of the run, and GPU values
are in the folder. `cost` feeds the GPU well and lets the callback work in every third block of steps, blocks in random
order; what it costs is the mean over all rounds of (its block minus the one without, of the same round), and a second
block without tells how much of that is noise. The bounds hold 95 of 100 draws (bootstrap over rounds).

Needs torch with CUDA, torchvision, and the framework. Prints Markdown.
"""

from __future__ import annotations

import argparse
import logging
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))
from step_cost import bounds_of_mean  # noqa: E402
from workloads import Pictures, resnet  # noqa: E402


class Labelled(torch.utils.data.Dataset):
    """Pictures with a label, by the names that the model takes them by."""

    def __init__(self, pictures: object) -> None:
        self.pictures = pictures

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"images": self.pictures[index], "labels": torch.tensor(0)}


class Repeated(torch.utils.data.Dataset):
    """Vectors that cost nothing to make."""

    def __init__(self, width: int) -> None:
        self.row = torch.randn(width)

    def __len__(self) -> int:
        return 1 << 24

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"images": self.row, "labels": torch.tensor(0)}


class Classifier(torch.nn.Module):
    """Any network, with its loss as frameworks expect it."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        with torch.autocast("cuda", torch.bfloat16):
            out = self.network(images).float()
        return {"loss": torch.nn.functional.cross_entropy(out, labels)}


def perceptron(width: int, layers: int) -> torch.nn.Module:
    parts = [part for _ in range(layers) for part in (torch.nn.Linear(width, width), torch.nn.ReLU())]
    return torch.nn.Sequential(*parts).cuda()


@dataclass
class Blocks:
    """Steps in blocks; `begin` and `end` start and stop what is measured."""

    begin: Callable[[], object]
    end: Callable[[], object]
    length: int
    seconds: float
    skip: int = 20  # of each block: the first ones do not count
    ways: tuple[str, ...] = ("without", "without (again)", "with the callback")
    means: dict[str, list[float]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    steps: int = 0
    begun: float = field(default_factory=time.monotonic)
    block_begun: float = 0.0
    over: bool = False

    @property
    def is_watched(self) -> bool:
        return bool(self.order) and self.order[0] == self.ways[-1]

    def before_step(self) -> None:
        if self.steps == 0:
            if not self.order:
                self.over = time.monotonic() - self.begun > self.seconds
                self.order = random.sample(self.ways, len(self.ways))
            if self.is_watched:
                self.begin()
        if self.steps == self.skip:
            torch.cuda.synchronize()
            self.block_begun = time.perf_counter()

    def after_step(self) -> None:
        self.steps += 1
        if self.steps < self.length:
            return
        torch.cuda.synchronize()
        taken = (time.perf_counter() - self.block_begun) / (self.length - self.skip)
        self.means.setdefault(self.order[0], []).append(taken)
        if self.is_watched:
            self.end()
        self.order.pop(0)
        self.steps = 0

    def report(self, framework: str) -> None:
        base = self.means[self.ways[0]]
        rounds = min(len(values) for values in self.means.values())
        whole = statistics.fmean(base)
        print(f"{framework}: {rounds} rounds of blocks of {self.length - self.skip} steps; a step takes {whole * 1e3:.3f} ms.\n")
        print("| | mean ms | more than without | bounds |\n|---|---|---|---|")
        for way in self.ways:
            differences = [(a - b) / whole * 100 for a, b in zip(self.means[way], base)]
            low, middle, high = bounds_of_mean(differences)
            print(f"| {way} | {statistics.fmean(self.means[way]) * 1e3:.4f} | {middle:+.3f} % | {low:+.3f} to {high:+.3f} % |")


def loader(options: argparse.Namespace) -> torch.utils.data.DataLoader:
    if options.what == "starved":
        return torch.utils.data.DataLoader(Labelled(Pictures()), 128, num_workers=2, pin_memory=True)
    rows = torch.randn(1536, options.width, device="cuda"), torch.zeros(1536, dtype=torch.long, device="cuda")
    batch = {"images": rows[0], "labels": rows[1]}
    return torch.utils.data.DataLoader([batch] * (1 << 20), batch_size=None)


def network(options: argparse.Namespace) -> Classifier:
    return Classifier(resnet(torch) if options.what == "starved" else perceptron(options.width, 2))


def with_lightning(options: argparse.Namespace) -> None:
    try:
        import lightning.pytorch as pl
        from lightning.pytorch.loggers import CSVLogger
    except ImportError:
        import pytorch_lightning as pl
        from pytorch_lightning.loggers import CSVLogger
    from gpulse.integrations.lightning import GpulseCallback

    class Module(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = network(options)

        def training_step(self, batch: dict[str, torch.Tensor], index: int) -> torch.Tensor:
            return self.model(**batch)["loss"]

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), 1e-6)

    class Measure(pl.Callback):
        def __init__(self) -> None:
            self.watched = GpulseCallback()
            self.blocks: Blocks | None = None

        def on_train_batch_start(self, trainer: pl.Trainer, module: Module, *_: object) -> None:
            if self.blocks is None:
                self.blocks = Blocks(lambda: self.watched.on_train_start(trainer, module),
                                     lambda: self.watched.on_train_end(trainer, module), options.block, options.seconds)
            self.blocks.before_step()

        def on_train_batch_end(self, trainer: pl.Trainer, *more: object) -> None:
            assert self.blocks
            if self.blocks.is_watched:
                self.watched.on_train_batch_end(trainer, *more)
            self.blocks.after_step()
            trainer.should_stop = self.blocks.over

    measure = Measure()
    logging.basicConfig(level=logging.INFO, stream=sys.stdout)
    limit = {"days": 0, "seconds": int(options.seconds)} if options.what == "starved" else None
    trainer = pl.Trainer(max_epochs=1, accelerator="gpu", devices=1, max_time=limit, logger=CSVLogger(options.folder, "lightning", ""),
                         callbacks=[GpulseCallback() if options.what == "starved" else measure], enable_checkpointing=False,
                         enable_progress_bar=False, enable_model_summary=False, log_every_n_steps=50)
    trainer.fit(Module(), loader(options))
    if measure.blocks:
        measure.blocks.report(f"pytorch-lightning {pl.__version__}")


def with_transformers(options: argparse.Namespace) -> None:
    import transformers
    from gpulse.integrations.transformers import GpulseCallback

    class Own(transformers.Trainer):
        def get_train_dataloader(self) -> torch.utils.data.DataLoader:
            return loader(options)

    class Limit(transformers.TrainerCallback):
        def __init__(self) -> None:
            self.end = 0.0

        def on_step_end(self, args: object, state: object, control: object, **_: object) -> None:
            self.end = self.end or time.monotonic() + options.seconds
            control.should_training_stop = time.monotonic() > self.end

    class Measure(transformers.TrainerCallback):
        def __init__(self) -> None:
            self.watched = GpulseCallback()
            self.blocks: Blocks | None = None

        def on_step_begin(self, args: object, state: object, control: object, **more: object) -> None:
            if self.blocks is None:
                self.blocks = Blocks(lambda: self.watched.on_train_begin(args, state, control),
                                     lambda: self.watched.on_train_end(args, state, control), options.block, options.seconds)
            self.blocks.before_step()

        def on_step_end(self, args: object, state: object, control: object, **more: object) -> None:
            assert self.blocks
            if self.blocks.is_watched:
                self.watched.on_step_end(args, state, control)
            self.blocks.after_step()
            control.should_training_stop = self.blocks.over

    measure = Measure()
    callbacks = [GpulseCallback(), Limit()] if options.what == "starved" else [measure]
    arguments = transformers.TrainingArguments(
        output_dir=options.folder, max_steps=1 << 20, per_device_train_batch_size=128, report_to=[], save_strategy="no",
        logging_steps=1 << 20 if options.what == "cost" else 20, disable_tqdm=True, remove_unused_columns=False, optim="sgd", max_grad_norm=0)
    Own(network(options), arguments, train_dataset=Repeated(1), callbacks=callbacks).train()
    if measure.blocks:
        measure.blocks.report(f"transformers {transformers.__version__}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["starved", "cost"])
    parser.add_argument("framework", choices=["lightning", "transformers"])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--folder", default="runs", help="where the run is logged (runs)")
    parser.add_argument("--block", type=int, default=520, help="steps in a row")
    parser.add_argument("--width", type=int, default=8192)
    options = parser.parse_args()
    (with_lightning if options.framework == "lightning" else with_transformers)(options)


if __name__ == "__main__":
    main()
