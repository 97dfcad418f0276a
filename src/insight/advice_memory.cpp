// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "insight/advice_parts.hpp"

namespace gpulse::insight {

namespace {

using enum Framework;

constexpr std::string_view kSegments =
    "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, against fragments that fit nothing.";

// The switch of a framework that takes memory in advance.
std::string_view take_less(Framework framework) {
  switch (framework) {
    case jax:
      return "JAX takes most of the memory at the start: XLA_PYTHON_CLIENT_PREALLOCATE=false lets it take what it "
             "needs.";
    case tensorflow:
      return "TensorFlow takes all memory at the start: TF_FORCE_GPU_ALLOW_GROWTH=true lets it take what it needs.";
    case vllm:
      return "vLLM takes memory in advance for its cache: a lower --gpu-memory-utilization leaves room for others.";
    case pytorch:
    case none:
      break;
  }
  return {};
}

// A step that needs less memory.
Lines smaller_step(Framework framework) {
  switch (framework) {
    case jax:
      return {"Halve the batch and accumulate the gradients of two (optax.MultiSteps).",
              "Compute activations again instead of keeping them: jax.checkpoint; keep them in jnp.bfloat16."};
    case tensorflow:
      return {"Halve the batch and accumulate gradients (gradient_accumulation_steps in Keras optimizers).",
              "Compute activations again instead of keeping them (tf.recompute_grad), and use mixed_bfloat16."};
    case vllm:
      return {"Lower --max-model-len or --max-num-seqs: both set how much cache is needed.",
              "Use smaller weights (--quantization) or more GPUs (--tensor-parallel-size)."};
    case pytorch:
      return {
          "Halve the batch, and accumulate the gradients of two before optimizer.step().",
          "Compute activations again instead of keeping them, torch.utils.checkpoint, and use torch.autocast to bf16."};
    case none:
      break;
  }
  return {"Halve the batch, and accumulate the gradients of two before a step.",
          "Compute activations again instead of keeping them (checkpointing), and use bf16."};
}

}  // namespace

Lines memory_leak(const Job &job) {
  switch (job.framework) {
    case pytorch:
      return {
          "Sum up and log loss.item() or loss.detach(), not loss: a kept tensor keeps its whole graph.",
          "See what grows: torch.cuda.memory._record_memory_history(), then _dump_snapshot(); del what is not needed.",
          std::string(kSegments)};
    case jax:
      return {"Log float(loss), not loss, and let go of arrays that lists or caches still hold.",
              "See what grows: jax.profiler.save_device_memory_profile(\"memory.prof\"), twice, and compare."};
    case tensorflow:
      return {"Log float(loss), and create tensors, variables and tf.functions outside the loop.",
              "See what grows: tf.config.experimental.get_memory_info(\"GPU:0\") every few steps."};
    case vllm:
      return {"Restart the server before it runs out, and try the newest vLLM.", std::string(take_less(vllm))};
    case none:
      break;
  }
  return {"Keep numbers, not tensors, in what is summed up or logged (in PyTorch loss.item()).",
          "Let go of what lists, caches and closures still hold before the next step.",
          "Save a checkpoint before it runs out."};
}

Lines memory_full(const Job &job) {
  Lines lines{"End or move what does not belong on this GPU; gpulse pick finds one with room."};
  if (const auto line = take_less(job.framework); !line.empty()) lines.emplace_back(line);
  lines.push_back(smaller_step(job.framework).front());
  return lines;
}

Lines out_of_memory(const Job &job) {
  switch (job.known.cause) {
    case OutOfMemoryCause::growth:
      return memory_leak(job);
    case OutOfMemoryCause::other_process: {
      Lines lines{"Another process holds the memory: end it, or let gpulse pick -- CMD choose a GPU with room."};
      if (const auto line = take_less(job.framework); !line.empty()) lines.emplace_back(line);
      return lines;
    }
    case OutOfMemoryCause::first_step:
    case OutOfMemoryCause::unknown:
      break;
  }
  auto lines = smaller_step(job.framework);
  if (job.framework == pytorch) lines.emplace_back(kSegments);
  return lines;
}

Lines memory_headroom(const Job &job) {
  if (job.framework == vllm)
    return {"Raise --gpu-memory-utilization or --max-num-seqs, so that more requests run at once."};
  const auto factor = batch_words(job.known);
  Lines lines{factor.empty() ? std::string("Raise the batch size step by step, and the learning rate with it.")
                             : fmt::format("Raise the batch size up to {}, and the learning rate with it.", factor)};
  lines.emplace_back(
      "If activations are computed again to save memory (checkpointing), leave that out: there is room.");
  return lines;
}

Lines memory_held_idle(const Job &job) {
  Lines lines;
  if (job.known.pid) {
    lines.push_back(fmt::format("If nobody needs process {} any more, end it; in a notebook shut its kernel down.",
                                *job.known.pid));
  } else {
    lines.emplace_back("If nobody needs it any more, end it; in a notebook shut its kernel down.");
  }
  if (const auto line = take_less(job.framework); !line.empty()) {
    lines.emplace_back(line);
  } else {
    lines.emplace_back(
        in_words(job, "To keep the program but not the memory: del the tensors, then torch.cuda.empty_cache().",
                 "To keep the program but not the memory, delete what it holds (PyTorch: then empty_cache())."));
  }
  return lines;
}

Lines host_memory(const Job &job) {
  const auto processes = sound(job.known.tree_processes).value_or(0);
  const auto now = processes > 1 ? fmt::format(" (the job has {:.0f} processes)", processes) : "";
  Lines lines{
      "Load lazily: map arrays (numpy.load(…, mmap_mode=\"r\"), Arrow) and open files only when they are needed."};
  switch (job.framework) {
    case tensorflow:
      lines.emplace_back("Take cache() out or give it a file, and make shuffle() and prefetch() buffers smaller.");
      break;
    case vllm:
      lines.emplace_back("Lower --swap-space and --cpu-offload-gb.");
      break;
    case pytorch:
      lines.push_back(
          fmt::format("Use fewer workers or a smaller prefetch_factor{}: each holds batches of its own.", now));
      break;
    case jax:
    case none:
      lines.push_back(fmt::format("Use fewer loader processes{}: each holds batches of its own.", now));
  }
  return lines;
}

}  // namespace gpulse::insight
