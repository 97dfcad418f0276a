// SPDX-License-Identifier: Apache-2.0
// Findings about memory: the GPU's and the host's.
#pragma once

#include "insight/catalogue.hpp"

namespace gpulse::insight {

inline constexpr FindingKind kMemoryRows[] = {
    {.id = FindingId::memory_leak,
     .word = "memory-leak",
     .title = "memory grows until it runs out",
     .aliases = {"leak"},
     .meaning =
         "A process takes more GPU memory step after step and gives none back. At this pace it runs out of memory at "
         "a time that can be told in advance, and then the job dies.",
     .told =
         "The memory of one process has risen steadily over many samples, past the growth of the first steps; the time "
         "left is what is free, divided by the pace. Frameworks that take all memory at once are not judged.",
     .confirm =
         "Print torch.cuda.memory_allocated() every hundred steps. If it grows, the program keeps references; if "
         "only memory_reserved() grows, the allocator's blocks are fragmented.",
     .fix =
         {"Keep numbers, not tensors: loss.item() or loss.detach() in what is summed up or logged, for a tensor that "
          "needs gradients keeps its whole graph.",
          "Delete what is no longer needed before the next step (del), and empty lists and caches.",
          "Against fragmentation: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
          "Save checkpoints often enough to survive the end."},
     .helped = "Run it again under `gpulse run -- CMD`: the memory should stay level after the first steps",
     .see_also = {"gpu_memory_bytes", "memory_used_percent", "memory_free_bytes"}},

    {.id = FindingId::memory_full,
     .word = "memory-full",
     .title = "nearly no GPU memory left",
     .meaning = "The GPU's memory is nearly used up. It does not grow any more, but the next larger batch, a longer "
                "sequence or another process will fail.",
     .told =
         "Nearly all memory is used and its use is level. Who holds how much is part of the finding; a framework that "
         "takes all memory by design is not counted as full.",
     .confirm = "`gpulse` lists the processes on the GPU with their memory.",
     .fix = {"End or move what does not belong on this GPU: notebooks, old runs.",
             "Use less per step: smaller batch with gradient accumulation, activation checkpointing, bf16.",
             "Choose a GPU with more room: `gpulse pick`."},
     .helped = "Run it again under `gpulse run -- CMD`: its memory peak should leave some room",
     .see_also = {"memory_used_percent", "memory_free_bytes", "gpu_memory_bytes"}},

    {.id = FindingId::out_of_memory,
     .word = "out-of-memory",
     .title = "a job ran out of GPU memory",
     .aliases = {"oom"},
     .meaning =
         "A job asked for more GPU memory than was free and died, or lives on after the error. There are three ways "
         "there: the first step is too big, memory grew over time, or another process holds what is missing.",
     .told =
         "The job ended with an error, or its memory dropped all at once, right after the memory was nearly full. The "
         "curve before that tells the way there: a jump in the first step, a steady growth, or another process.",
     .confirm =
         "The job's own error says how much it asked for and how much was free. torch.cuda.memory_summary() after "
         "the first step shows what the memory is made of.",
     .fix =
         {"First step too big: a smaller batch with gradient accumulation, bf16, activation checkpointing, smaller or "
          "shorter inputs.",
          "Growth: see `gpulse explain memory-leak`.",
          "Another process: end it or choose a free GPU with `gpulse pick`; frameworks that take everything at once "
          "need to be told not to.",
          "Large free blocks missing although enough is free: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True."},
     .helped = "Run it again under `gpulse run -- CMD`: it should live, and its memory peak should leave some room",
     .see_also = {"memory_used_percent", "gpu_memory_bytes", "memory_free_bytes"}},

    {.id = FindingId::memory_headroom,
     .word = "memory-headroom",
     .title = "room for a larger batch",
     .aliases = {"headroom", "batch-size"},
     .meaning =
         "The job computes well and uses only a part of the GPU's memory. A larger batch would fit, and often gets "
         "more samples per second; or a smaller, cheaper GPU would do.",
     .told =
         "The memory is level and much of it is free while the GPU works. The factor is what is there, divided by what "
         "is used, with some room left; as weights do not grow with the batch, it is a lower bound for most models.",
     .confirm = "Run a few hundred steps with the larger batch and compare samples per second, not steps per second.",
     .fix = {"Raise the batch size in steps, and the learning rate with it.",
             "Trade memory for time: switch activation checkpointing off, or keep the data set on the GPU.",
             "If neither helps, a second job or a smaller GPU makes better use of the money."},
     .helped = "Run it again under `gpulse run -- CMD`: a larger memory peak, and more samples per second",
     .see_also = {"memory_used_percent", "memory_free_bytes", "sm_active_percent"}},

    {.id = FindingId::memory_held_idle,
     .word = "memory-held-idle",
     .title = "memory held without work",
     .aliases = {"parked"},
     .meaning = "A process holds GPU memory but has not computed for a while: a notebook somebody left open, a server "
                "without requests, a debugger at a breakpoint. Nobody else can use that memory.",
     .told = "A process holds memory while the GPU was idle for the whole time.",
     .confirm = "`gpulse` shows whose it is and since when it runs; ask before ending it.",
     .fix = {"In a notebook shut the kernel down; deleting variables gives memory back only after "
             "torch.cuda.empty_cache().",
             "Let frameworks take memory as they need it: XLA_PYTHON_CLIENT_PREALLOCATE=false (JAX), "
             "TF_FORCE_GPU_ALLOW_GROWTH=true (TensorFlow), a lower gpu_memory_utilization (vLLM).",
             "End the process if nobody needs it."},
     .helped = "`gpulse` again: the memory should be free",
     .see_also = {"gpu_memory_bytes", "memory_used_bytes", "gpu_utilization_percent", "running_seconds"}},

    {.id = FindingId::host_memory,
     .word = "host-memory",
     .title = "the host's memory is nearly used up",
     .aliases = {"ram", "swap"},
     .meaning =
         "The job's processes use nearly all memory of the machine or swap. First everything gets slow, then the "
         "kernel kills a process, often a loader: \"DataLoader worker is killed by signal\".",
     .told = "Little memory of the host is available or the machine swaps, and the job's processes together hold much "
             "of it. "
             "What processes share is counted in each, so that the sum can exceed the truth.",
     .confirm =
         "`free -h`, and `dmesg | grep -i oom` for processes that were killed; `gpulse top` shows the job's memory.",
     .fix =
         {"Load lazily: open files in `__getitem__`, map arrays (numpy.load(…, mmap_mode=\"r\"), Arrow) instead of "
          "reading "
          "all at the start.",
          "Use fewer loader processes or a smaller prefetch_factor: each has its own batches, and its own copy of what "
          "Python objects hold.",
          "Keep lists of samples in arrays instead of Python objects: forked loaders then share them.",
          "In containers, raise the limit of the control group or of /dev/shm."},
     .helped = "Run it again under `gpulse run -- CMD`: the host's memory should stay available and swap quiet",
     .see_also = {"tree_memory_bytes", "memory_available_bytes", "swap_used_bytes", "swap_out_bytes_per_second",
                  "cgroup_pressure_memory_percent"}},
};

}  // namespace gpulse::insight
