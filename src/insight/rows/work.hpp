// SPDX-License-Identifier: Apache-2.0
// Findings about what the GPU does with its time. "SM" is what NVIDIA calls a processor of the GPU.
#pragma once

#include "insight/catalogue.hpp"

namespace gpulse::insight {

inline constexpr FindingKind kWorkRows[] = {
    {.id = FindingId::input_cpu,
     .word = "input-cpu",
     .title = "starved by preprocessing on the CPU",
     .aliases = {"starved", "dataloader", "cpu-bound"},
     .meaning =
         "The GPU waits for its next batch while the job's own processes decode, augment or tokenise it on the "
         "CPU. The GPU works in bursts: full while a batch is there, empty until the next one. A faster GPU would "
         "change nothing; a faster input would.",
     .told =
         "While kernels run they fill the GPU, but for much of the time none runs, and the processes of the job use "
         "whole cores meanwhile. Where the job's processes cannot be seen, the load of the host has to do, with less "
         "confidence; without either the cause stays unknown.",
     .confirm =
         "Feed the same batch again and again, without the loader: if the steps get much faster, the input is the "
         "bottleneck. `py-spy top --pid PID` on a loader shows which transform takes the time.",
     .fix = {"Use more loader processes, as long as cores are idle (PyTorch: num_workers).",
             "Do the transforms on the GPU: Kornia, DALI, torchvision.transforms.v2 on batches that are already there.",
             "Do what is the same in every epoch once, and store the result: resized images, tokens.",
             "Let the loader work ahead: prefetch_factor and persistent_workers in PyTorch, prefetch in tf.data."},
     .helped = "Run it again under `gpulse run -- CMD`: the starved share should fall",
     .see_also = {"sm_active_percent", "graphics_active_percent", "tree_cpu_percent", "tree_busy_processes",
                  "cpu_idle_percent"}},

    {.id = FindingId::input_io,
     .word = "input-io",
     .title = "starved by a disk or the network",
     .aliases = {"io-bound", "slow-disk"},
     .meaning =
         "The GPU waits for its next batch while the job waits for bytes: from a disk, a network file system or an "
         "object store. The processors have time; what is missing is data. The first epoch is often the slowest, "
         "because later ones find the files in memory.",
     .told =
         "While kernels run they fill the GPU, but for much of the time none runs; the job's processes use little CPU, "
         "wait for a disk, and read. The kernel's own counts decide: tasks in uninterruptible sleep, the pressure on "
         "disks, bytes read.",
     .confirm = "Copy a part of the data to a local disk or to /dev/shm and run a few hundred steps on it: if they are "
                "faster, the storage is the bottleneck.",
     .fix = {"Copy the data set to a local disk, or cache it there on the first pass.",
             "Pack many small files into large shards (WebDataset, TFRecord, Parquet, Arrow): few large reads, not "
             "thousands of small ones.",
             "Keep more reads in flight: more loader processes, a larger prefetch.",
             "Read less: smaller images, only the columns in use, a better compression."},
     .helped =
         "Run it again under `gpulse run -- CMD`: the starved share and the time spent waiting for disks should fall",
     .see_also = {"sm_active_percent", "tree_disk_wait_percent", "tree_read_bytes_per_second",
                  "cgroup_pressure_io_percent", "cpu_iowait_percent"}},

    {.id = FindingId::launch_bound,
     .word = "launch-bound",
     .title = "kernels too small to fill the GPU",
     .aliases = {"small-kernels"},
     .meaning =
         "The GPU runs kernel after kernel, but each is so small that it occupies only a few processors and ends "
         "before the next one is launched. The utilisation looks high while most of the GPU is empty. The time "
         "goes into launching, not into computing.",
     .told =
         "How full the GPU is while it runs anything: sm_active_percent as a share of graphics_active_percent. Below a "
         "quarter the kernels are small. Without these two, low power at a high utilisation and one core at 100 % "
         "hints at it, and the finding is marked as estimated.",
     .confirm =
         "Double the batch size: if a step takes hardly longer, the launches are the bottleneck. Or record a few "
         "steps with `nsys profile` and look at the gaps between kernels.",
     .fix = {"Raise the batch size.",
             "Launch many kernels at once: CUDA graphs, in PyTorch torch.compile(model, mode=\"reduce-overhead\").",
             "Let a compiler join small operations: torch.compile, jax.jit, tf.function(jit_compile=True).",
             "Remove what makes the CPU wait for the GPU in each step: .item(), .cpu(), print of a tensor.",
             "Let several small jobs share the GPU (MPS, MIG) where one cannot fill it."},
     .helped = "Run it again under `gpulse run -- CMD`: sm_active_percent should rise at the same utilisation",
     .see_also = {"sm_active_percent", "graphics_active_percent", "gpu_utilization_percent", "sm_occupancy_percent",
                  "power_draw_watts"}},

    {.id = FindingId::memory_bandwidth,
     .word = "memory-bandwidth",
     .title = "limited by the GPU's memory",
     .aliases = {"memory-bound"},
     .meaning = "The GPU's processors wait for its own memory: each byte that comes in is used for little arithmetic. "
                "Embeddings, normalisations, optimiser steps and the decoding of language models are like that. It is "
                "the nature of some work, and then a note rather than a fault.",
     .told =
         "dram_active_percent is at 60 % or more (about 80 % is the practical ceiling), or the SMs and the memory are "
         "active while all arithmetic pipes are nearly idle.",
     .confirm = "`ncu --set roofline` on one step shows which kernels are on the memory's side of the roof.",
     .fix = {"Move fewer bytes: bf16 or fp16 instead of fp32, int8 or fp8 weights for inference.",
             "Join operations so that values stay on the chip: torch.compile, fused optimisers, FlashAttention.",
             "Do more with each byte: a larger batch uses the same weights for more samples."},
     .helped =
         "Run it again under `gpulse run -- CMD`: the same work should take less time; dram_active_percent may stay "
         "as it is",
     .see_also = {"dram_active_percent", "sm_active_percent", "tensor_active_percent", "fp32_active_percent"}},

    {.id = FindingId::tensor_unused,
     .word = "tensor-unused",
     .title = "tensor cores unused",
     .aliases = {"no-tensor-cores", "fp32"},
     .meaning =
         "The GPU is busy with matrix arithmetic on its ordinary fp32 units while its tensor cores, several times as "
         "fast, do nothing. Most often TF32 is off, or the model runs in fp32 without mixed precision.",
     .told = "sm_active_percent is at 50 or more, tensor_active_percent below 5, and the fp32 pipe is busy.",
     .confirm =
         "In PyTorch, torch.get_float32_matmul_precision() says \"highest\" when TF32 is off. Switch it on for a few "
         "hundred steps and compare the time of a step.",
     .fix = {"Allow TF32 for fp32 matrices: torch.set_float32_matmul_precision(\"high\").",
             "Use mixed precision: torch.autocast(\"cuda\", dtype=torch.bfloat16), or the same in your framework.",
             "Make sizes of layers and batches multiples of 8 (of 64 for large ones), so that the tensor cores can be "
             "used."},
     .helped =
         "Run it again under `gpulse run -- CMD`: tensor_active_percent should rise and a step should take less time",
     .see_also = {"tensor_active_percent", "fp32_active_percent", "sm_active_percent"}},

    {.id = FindingId::wrong_precision,
     .word = "wrong-precision",
     .title = "computing in double precision",
     .aliases = {"fp64", "float64"},
     .meaning =
         "The GPU computes in fp64. Data centre GPUs do that at half the speed of fp32 or less, others at a "
         "fraction of it, and neural networks gain nothing from it. It mostly comes from NumPy, whose numbers are "
         "float64 unless told otherwise. Scientific codes may need it: then all is well.",
     .told = "The fp64 pipe or the tensor cores' fp64 part is busy (fp64_active_percent, tensor_fp64_active_percent).",
     .confirm = "Print the dtype of the model's parameters and of one batch: float64 is the culprit.",
     .fix = {"Convert inputs where they are loaded: array.astype(numpy.float32), tensor.float().",
             "Look for .double(), dtype=torch.float64, torch.set_default_dtype(torch.float64), jax_enable_x64.",
             "Then allow TF32 or mixed precision, as `gpulse explain tensor-unused` says."},
     .helped =
         "Run it again under `gpulse run -- CMD`: fp64_active_percent and tensor_fp64_active_percent should be near 0",
     .see_also = {"fp64_active_percent", "tensor_fp64_active_percent", "tensor_active_percent"}},

    {.id = FindingId::copy_bound,
     .word = "copy-bound",
     .title = "copying instead of computing",
     .aliases = {"pcie-bound", "transfer-bound"},
     .meaning =
         "The job spends its time on copies between host and GPU. Batches, weights or results go over PCIe again and "
         "again, and the processors wait for them.",
     .told = "Copies over PCIe take 40 % of the time or more, judged by the bytes per second against what the link can "
             "carry, while the SMs are mostly idle.",
     .confirm = "`nsys profile` shows long rows of \"Memcpy HtoD\" and \"DtoH\"; or look at pcie_rx and pcie_tx in "
                "`gpulse top` while it runs.",
     .fix = {"Keep on the GPU what stays the same; look for .to(), .cpu() and .numpy() inside the loop.",
             "Copy while computing: pinned memory and non_blocking=True.",
             "Copy less: uint8 images and ids instead of floats, converted on the GPU.",
             "Where weights or optimiser states are offloaded to the host, offload less."},
     .helped = "Run it again under `gpulse run -- CMD`: the share of time that copies take should fall",
     .see_also = {"pcie_rx_bytes_per_second", "pcie_tx_bytes_per_second", "sm_active_percent", "pcie_link_generation",
                  "pcie_link_width"}},

    {.id = FindingId::spinning,
     .word = "spinning",
     .title = "busy without work",
     .aliases = {"busy-wait"},
     .meaning =
         "The GPU reports to be busy almost all the time, but nearly all of it is empty and nothing new is sent to "
         "it: one kernel runs and does not end. It may be a loop without an end, a kernel that polls, or a "
         "collective operation that waits for another GPU.",
     .told = "Busy more than 90 % of the time, sm_active_percent below 5, and no launches seen on PCIe.",
     .confirm = "`py-spy dump --pid PID`, twice with some seconds between: the same line both times is where it waits. "
                "Compare with the job's other GPUs: the one that differs is the one to look at.",
     .fix = {"In a job on several GPUs, find the rank that did not arrive: NCCL_DEBUG=INFO, py-spy dump on every rank.",
             "In a kernel of your own, attach cuda-gdb or run it under compute-sanitizer, and look for loops that wait "
             "for a flag.",
             "If it should not run at all, end the process."},
     .helped = "`gpulse diagnose` again: sm_active_percent should rise, or the GPU should be free",
     .see_also = {"gpu_utilization_percent", "sm_active_percent", "pcie_rx_bytes_per_second", "power_draw_watts"}},

    {.id = FindingId::hung,
     .word = "hung",
     .title = "holds the GPU, does nothing",
     .aliases = {"hang", "stuck", "deadlock"},
     .meaning =
         "A job that has worked holds its memory on the GPU, but neither the GPU nor the job's processes do anything "
         "any more. It waits for something that does not come: a lock, a dead worker, another machine, an input.",
     .told =
         "After work was seen, the GPU and all processes of the job are idle for a long time, with memory still held "
         "and nothing read or written. A job that never worked is memory-held-idle instead.",
     .confirm =
         "`py-spy dump --pid PID` shows where each thread waits; `py-spy dump --native` also those inside libraries.",
     .fix = {"Read the stacks: a queue's get() means a dead loader, a collective means a missing rank.",
             "For jobs on several GPUs set NCCL_DEBUG=INFO and TORCH_NCCL_DUMP_ON_TIMEOUT=1 and run again.",
             "Give waits a limit: DataLoader(timeout=…), init_process_group(timeout=…)."},
     .helped = "`gpulse diagnose` again: the GPU should work or be free",
     .see_also = {"gpu_utilization_percent", "gpu_memory_bytes", "tree_cpu_percent", "tree_idle_percent"}},

    {.id = FindingId::periodic_stalls,
     .word = "periodic-stalls",
     .title = "work stops again and again",
     .aliases = {"stall", "stalls", "checkpoint"},
     .meaning = "The GPU works well, but every so often it stops for seconds: while a checkpoint is written, while "
                "validation runs on the CPU, at the start of an epoch, while a log is uploaded.",
     .told =
         "Stretches of full work alternate with stretches without any, at even distances. What the job does meanwhile "
         "names the cause: it writes (checkpoint), it computes on the CPU (validation), it reads (input).",
     .confirm =
         "Leave the suspect out for a few minutes, or make it twice as rare: the stalls should go or become rarer.",
     .fix = {"Write checkpoints in the background (torch.distributed.checkpoint.async_save), to a local disk first, or "
             "less "
             "often.",
             "Validate on the GPU, on fewer samples or less often.",
             "Keep loaders alive between epochs: persistent_workers=True."},
     .helped = "Run it again under `gpulse run -- CMD`: the stalls should be shorter or gone",
     .see_also = {"sm_active_percent", "tree_write_bytes_per_second", "tree_read_bytes_per_second",
                  "tree_cpu_percent"}},

    {.id = FindingId::imbalance,
     .word = "imbalance",
     .title = "some GPUs of the job wait for others",
     .aliases = {"straggler", "stragglers"},
     .meaning =
         "A job runs on several GPUs, and some have less to do or finish earlier. All wait for the slowest at every "
         "step, so that it sets the pace for all.",
     .told =
         "The GPUs of one job are compared with their median: activity, power, clocks. One that waits in a collective "
         "operation looks busy at little power; the straggler shows more power, or a reason for lower clocks.",
     .confirm =
         "`gpulse top` with the job's GPUs beside each other; exchange two ranks: if the slow one moves with the "
         "rank it is the work, if it stays it is the GPU.",
     .fix = {"Give every rank the same work: equal shards, samples of similar length in a batch, drop_last=True.",
             "Move what only rank 0 does (logs, checkpoints, validation) off the critical path.",
             "Look at the slow GPU: throttling, a slower link, another job on it, another NUMA node."},
     .helped =
         "Run it again under `gpulse run -- CMD`: the GPUs of the job should be active for similar shares of the time",
     .see_also = {"sm_active_percent", "power_draw_watts", "clock_sm_mhz", "throttle_reasons"}},

    {.id = FindingId::healthy,
     .word = "healthy",
     .title = "the GPU computes",
     .aliases = {"compute-bound"},
     .meaning =
         "The GPU is well used: its processors are active most of the time. That is not the same as the peak of its "
         "arithmetic: well-tuned training of large models reaches about 40 % of that. Views keep silent about it.",
     .told = "sm_active_percent is high (from 80 % the GPU is well used) and no other finding applies.",
     .confirm =
         "Look at tensor_active_percent: the higher, the more of the work is matrix arithmetic on the fastest units.",
     .see_also = {"sm_active_percent", "tensor_active_percent", "power_draw_watts"}},

    {.id = FindingId::idle,
     .word = "idle",
     .title = "nobody uses the GPU",
     .meaning = "No process computes on the GPU and none holds much of its memory. Views keep silent about it.",
     .told = "No activity and no process with memory of note during the whole time.",
     .confirm = "`gpulse` lists the processes on each GPU; as root it sees those of all users.",
     .see_also = {"gpu_utilization_percent", "memory_used_bytes", "process_count"}},

    {.id = FindingId::unknown,
     .word = "unknown",
     .title = "the cause cannot be told",
     .meaning =
         "Something is not as it could be, but what was measured does not tell which of several causes it is, or "
         "there was too little of it. gpulse does not guess.",
     .told = "Too few samples, readings that the GPU or the permissions do not give, or a start-up phase.",
     .confirm = "`gpulse doctor` says which readings are missing and what would give them.",
     .fix =
         {"Measure for longer, past the start of the job: `gpulse diagnose` or `gpulse run -- CMD`.",
          "Measure as the owner of the job or as root, on the machine itself: the processes tell most of the causes."},
     .helped = "`gpulse diagnose` again: the cause should have a name",
     .see_also = {"sm_active_percent", "graphics_active_percent", "tree_cpu_percent"}},
};

}  // namespace gpulse::insight
