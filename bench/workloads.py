#!/usr/bin/env python3
"""What gpulse says about jobs whose trouble is known, on a machine with a GPU.

Every job is a process of its own, as people run them, good ones and bad ones, under `gpulse run`; what it found is
compared with what the job was made to be. Prints Markdown; the reports stay in a folder.

    bench/workloads.py --gpulse build/gpulse --folder reports [--seconds 20] [--only REGEX]

Needs torch with CUDA; torchvision, transformers and JAX for the jobs that use them. A job that cannot be run here says so.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    name: str
    what: str
    right: tuple[str, ...]  # verdicts that somebody who knows the job accepts, the best one first
    may: tuple[str, ...] = ()  # problems that may be named besides


JOBS = [
    Job("resnet_good_loader", "ResNet-50, bf16, 12 loader workers, uint8 to the GPU", ("healthy", "memory-bandwidth")),
    Job("resnet_jpeg_2_workers", "ResNet-50, JPEG decoding and augmenting by 2 workers", ("input-cpu",)),
    Job("resnet_batch_2", "ResNet-50, batch of 2, all data on the GPU", ("launch-bound",)),
    Job("gpt_generate_one", "GPT-2 from Hugging Face, generates one text at a time", ("launch-bound",)),
    Job("decode_in_a_graph", "decoding with large matrices and batch 4, in a CUDA graph", ("memory-bandwidth",)),
    Job("transformer_fp32", "transformer, fp32 without TF32", ("tensor-unused",)),
    Job("notebook_left_open", "computes for a while, then a notebook sits on 20 GiB", ("memory-held-idle", "idle")),
    Job("two_trainings", "two trainings share the card", ("healthy",)),
    Job("checkpoint_every_7s", "training that writes 6 GiB to disk every 7 s", ("periodic-stalls",)),
    Job("jax_training", "JAX, takes 75 % of the memory at once", ("healthy", "memory-bandwidth")),
    Job("cache_never_freed", "a server that keeps every request's cache until there is no room",
        ("out-of-memory", "memory-leak"), ("memory-leak",)),
    Job("random_reads", "batches gathered by direct random reads of 4 KiB, 2 workers", ("input-io",)),
    Job("pageable_copies", "a GiB to the GPU and back in each step, not pinned", ("copy-bound", "input-cpu")),
    Job("requests_now_and_then", "a server with a request every 0.4 s", ("idle", "unknown")),
    Job("compiled", "torch.compile, then bf16 training", ("healthy", "memory-bandwidth")),
    Job("too_large_a_step", "the first step does not fit", ("out-of-memory",)),
    Job("no_gpu_at_all", "sorts numbers", ("no GPU",)),
]


def transformer(torch, width: int, layers: int):
    nn = torch.nn
    part = lambda: nn.TransformerEncoderLayer(width, width // 64, 4 * width, 0.0, batch_first=True, norm_first=True)
    return nn.Sequential(*[part() for _ in range(layers)]).cuda()


def trainer(torch, model, amp: bool = True):
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4)

    def step(data, target=None) -> None:
        with torch.autocast("cuda", torch.bfloat16, enabled=amp):
            out = model(data).float()
            loss = out.square().mean() if target is None else torch.nn.functional.cross_entropy(out, target)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return step


class Pictures:
    """A data set of JPEGs, decoded and augmented as the usual tutorial does it."""

    def __init__(self) -> None:
        import io

        import numpy
        from PIL import Image

        random = numpy.random.default_rng(0)
        self.files = []
        for _ in range(16):
            small = random.integers(0, 255, (24, 32, 3), dtype=numpy.uint8)
            file = io.BytesIO()
            Image.fromarray(small).resize((640, 480), Image.Resampling.BICUBIC).save(file, "JPEG", quality=90)
            self.files.append(file.getvalue())

    def __len__(self) -> int:
        return 1 << 20

    def __getitem__(self, index: int):
        import io

        from PIL import Image
        from torchvision import transforms

        steps = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(),
                                    transforms.ColorJitter(0.2, 0.2, 0.2), transforms.ToTensor()])
        return steps(Image.open(io.BytesIO(self.files[index % len(self.files)])).convert("RGB"))


class RawPictures:
    def __len__(self) -> int:
        return 1 << 20

    def __getitem__(self, index: int):
        import torch

        return torch.full((3, 224, 224), index % 255, dtype=torch.uint8)


class RandomReads:
    """Each item is gathered from all over a file that is not in the page cache."""

    def __init__(self, path: str, size: int) -> None:
        self.path, self.size = path, size

    def __len__(self) -> int:
        return 1 << 20

    def __getitem__(self, index: int):
        import mmap
        import random

        import torch

        page = mmap.mmap(-1, 4096)
        file = os.open(self.path, os.O_RDONLY | os.O_DIRECT)
        pieces = []
        for _ in range(150):
            os.preadv(file, [page], random.randrange(self.size // 4096) * 4096)
            pieces.append(torch.frombuffer(bytearray(page), dtype=torch.uint8))
        os.close(file)
        return torch.cat(pieces)


def resnet(torch):
    import torchvision

    return torchvision.models.resnet50().cuda().to(memory_format=torch.channels_last)


def loader_job(torch, data, batch: int, workers: int, model, seconds: float) -> None:
    loader = torch.utils.data.DataLoader(data, batch, num_workers=workers, pin_memory=True, persistent_workers=True,
                                         prefetch_factor=4)
    step = trainer(torch, model)
    end = 0.0
    for item in loader:
        end = end or time.time() + seconds  # the first batch has come
        images = item.cuda(non_blocking=True)
        images = images.float().div_(255) if images.dtype == torch.uint8 else images
        step(images.to(memory_format=torch.channels_last), torch.zeros(len(images), dtype=torch.long, device="cuda"))
        if time.time() > end:
            os._exit(0)  # workers need not be waited for


def run_job(name: str, seconds: float) -> None:
    if name == "no_gpu_at_all":
        end = time.time() + 5
        while time.time() < end:
            sorted(os.urandom(1 << 20))
        return
    if name == "two_trainings":
        both = [subprocess.Popen([sys.executable, __file__, "--job", "one_of_two", "--seconds", str(seconds)])
                for _ in range(2)]
        sys.exit(max(one.wait() for one in both))
    if name == "notebook_left_open":
        return run_notebook(seconds)
    if name == "jax_training":
        return run_jax(seconds)
    import torch

    torch.manual_seed(0)
    torch.ones(1, device="cuda")
    end = time.time() + seconds
    if name == "resnet_good_loader":
        loader_job(torch, RawPictures(), 256, 12, resnet(torch), seconds)
    elif name == "resnet_jpeg_2_workers":
        loader_job(torch, Pictures(), 128, 2, resnet(torch), seconds)
    elif name == "resnet_batch_2":
        step, images = trainer(torch, resnet(torch)), torch.rand(2, 3, 224, 224, device="cuda")
        while time.time() < end:
            step(images, torch.zeros(2, dtype=torch.long, device="cuda"))
    elif name == "gpt_generate_one":
        from transformers import GPT2Config, GPT2LMHeadModel

        model = GPT2LMHeadModel(GPT2Config()).cuda().eval().bfloat16()
        start, end = torch.ones(1, 16, dtype=torch.long, device="cuda"), time.time() + seconds
        while time.time() < end:
            model.generate(start, max_new_tokens=128, do_sample=False, pad_token_id=0,
                           attention_mask=torch.ones_like(start))
    elif name == "decode_in_a_graph":
        weights = [torch.randn(8192, 28672, device="cuda", dtype=torch.bfloat16) for _ in range(24)]
        data = torch.randn(4, 8192, device="cuda", dtype=torch.bfloat16)
        graph = torch.cuda.CUDAGraph()
        for weight in weights[:2]:
            torch.nn.functional.silu(data @ weight)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            for weight in weights:
                torch.nn.functional.silu(data @ weight)
        while time.time() < end:
            graph.replay()
            torch.cuda.synchronize()
    elif name == "transformer_fp32":
        torch.backends.cuda.matmul.allow_tf32 = False
        step = trainer(torch, transformer(torch, 1024, 8), amp=False)
        data = torch.randn(64, 256, 1024, device="cuda")
        while time.time() < end:
            step(data)
    elif name == "one_of_two":
        step, data = trainer(torch, transformer(torch, 1024, 8)), torch.randn(96, 256, 1024, device="cuda")
        while time.time() < end:
            step(data)
    elif name == "checkpoint_every_7s":
        step, data = trainer(torch, transformer(torch, 1024, 10)), torch.randn(96, 256, 1024, device="cuda")
        state = torch.empty(6 << 28, device="cuda")  # as large as weights and optimizer of a larger model
        last = time.time()
        while time.time() < end + 15:
            step(data)
            torch.cuda.synchronize()
            if time.time() - last > 7:
                torch.save(state, "/tmp/checkpoint.pt")
                last = time.time()
        os.unlink("/tmp/checkpoint.pt")
    elif name == "cache_never_freed":
        model, kept = transformer(torch, 1024, 12).bfloat16().eval(), []
        with torch.inference_mode():
            while time.time() < end:
                out = model(torch.randn(32, 256, 1024, device="cuda", dtype=torch.bfloat16))
                kept.append(torch.stack([out] * 4))
                torch.cuda.synchronize()
    elif name == "random_reads":
        path, size = "/tmp/records.bin", 4 << 30
        with open(path, "wb") as file:
            for _ in range(size >> 26):
                file.write(os.urandom(1 << 20) * 64)
            file.flush()
            os.fsync(file.fileno())
        loader = torch.utils.data.DataLoader(RandomReads(path, size), 64, num_workers=2, pin_memory=True)
        step = trainer(torch, transformer(torch, 1024, 4))
        end = time.time() + seconds
        for item in loader:
            step(item.cuda(non_blocking=True)[:, : 64 * 1024].float().reshape(64, 64, 1024))
            if time.time() > end:
                os.unlink(path)
                os._exit(0)
    elif name == "pageable_copies":
        host, weight = torch.randn(1 << 28), torch.randn(4096, 4096, device="cuda")
        while time.time() < end:
            data = host.cuda().reshape(-1, 4096) @ weight
            host.copy_(data.reshape(-1))
    elif name == "requests_now_and_then":
        model = transformer(torch, 2048, 24).bfloat16().eval()
        with torch.inference_mode():
            while time.time() < end:
                model(torch.randn(4, 128, 2048, device="cuda", dtype=torch.bfloat16))
                torch.cuda.synchronize()
                time.sleep(0.4)
    elif name == "compiled":
        model = transformer(torch, 1024, 8)
        step, data = trainer(torch, torch.compile(model)), torch.randn(96, 256, 1024, device="cuda")
        step(data)
        torch.cuda.synchronize()
        end = time.time() + seconds
        while time.time() < end:
            step(data)
    elif name == "too_large_a_step":
        step = trainer(torch, transformer(torch, 2048, 12))
        step(torch.randn(4096, 512, 2048, device="cuda"))


def run_notebook(seconds: float) -> None:
    """Somebody at a prompt, who goes to lunch."""
    person = subprocess.Popen([sys.executable, "-i"], stdin=subprocess.PIPE, text=True)
    assert person.stdin
    person.stdin.write("import torch\nheld = torch.empty(20 << 28, device='cuda')\n"
                       "for _ in range(3000): _ = held[: 1 << 28].mul_(1.0001)\n\ntorch.cuda.synchronize()\n")
    person.stdin.flush()
    time.sleep(seconds + 15)
    person.stdin.close()
    person.wait()


def run_jax(seconds: float) -> None:
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.PRNGKey(0), 8)
    weights = [jax.random.normal(key, (8192, 8192), jnp.bfloat16) * 0.01 for key in keys]
    data = jax.random.normal(keys[0], (8192, 8192), jnp.bfloat16)

    def loss(weights, data):
        for weight in weights:
            data = jnp.tanh(data @ weight)
        return jnp.mean(jnp.square(data.astype(jnp.float32)))

    @jax.jit
    def step(weights, data):
        slopes = jax.grad(loss)(weights, data)
        return [weight - 1e-3 * slope for weight, slope in zip(weights, slopes)]

    end = time.time() + seconds
    while time.time() < end:
        for _ in range(10):
            weights = step(weights, data)
        weights[0].block_until_ready()


def judge(job: Job, report: dict) -> tuple[str, str, bool]:
    if not report.get("gpus"):
        return "no GPU", "", "no GPU" in job.right
    verdict = report["verdict"]
    told = [f"{one['id']} ({one['severity']}, {one['confidence']:.2f})" for one in report["findings"]]
    wrong = [one["id"] for one in report["findings"]
             if one["severity"] == "problem" and one["id"] not in job.right + job.may]
    return verdict, ", ".join(told), verdict in job.right and not wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--gpulse", default="build/gpulse")
    parser.add_argument("--folder", default="reports")
    parser.add_argument("--seconds", type=float, default=20, help="how long a job works")
    parser.add_argument("--limit", type=float, default=120, help="no job gets longer than this")
    parser.add_argument("--only", default="", help="jobs whose name holds this regular expression")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        run_job(options.job, options.seconds)
        return 0
    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    print("| job | what it is | said | findings | right | exit | s |\n|---|---|---|---|---|---|---|", flush=True)
    for job in JOBS:
        if not re.search(options.only, job.name):
            continue
        file, begun = folder / f"{job.name}.json", time.time()
        command = [options.gpulse, "run", "--json", str(file), "--force", "--", sys.executable, __file__,
                   "--job", job.name, "--seconds", str(options.seconds)]
        with open(folder / f"{job.name}.txt", "w", encoding="utf-8") as log:
            try:
                subprocess.run(command, stdout=log, stderr=log, timeout=options.limit, check=False)
            except subprocess.TimeoutExpired:
                log.write("\nended by the limit\n")
        if not file.exists():
            print(f"| {job.name} | {job.what} | no report | | | | |", flush=True)
            continue
        report = json.loads(file.read_text())
        verdict, told, right = judge(job, report)
        print(f"| {job.name} | {job.what} | {verdict} | {told} | {'yes' if right else 'NO'} "
              f"| {report.get('exit_code')} | {time.time() - begun:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
