// SPDX-License-Identifier: Apache-2.0
#include "insight/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "insight/advice_parts.hpp"
#include "insight/catalogue.hpp"
#include "model/xid.hpp"

namespace gpulse::insight {

namespace {

using enum Framework;

Framework framework_of(std::string_view name) {
  // vLLM runs on PyTorch, so that it may be named beside it.
  if (name.contains("vLLM")) return vllm;
  if (name.contains("PyTorch")) return pytorch;
  if (name.contains("TensorFlow")) return tensorflow;
  if (name.contains("JAX")) return jax;
  return none;
}

Lines launch_bound(const Job &job) {
  Lines lines;
  switch (job.framework) {
    case pytorch:
      lines.emplace_back("Replay the step as a CUDA graph: torch.compile(model, mode=\"reduce-overhead\").");
      break;
    case jax:
      lines.emplace_back("Put the whole step into one jax.jit, and run several steps per call with jax.lax.scan.");
      break;
    case tensorflow:
      lines.emplace_back(
          "Compile the step, tf.function(jit_compile=True), and set steps_per_execution in model.compile.");
      break;
    case vllm:
      lines.emplace_back(
          "Leave out --enforce-eager, so that vLLM replays CUDA graphs, and send more requests at once.");
      return lines;
    case none:
      lines.emplace_back(
          "Launch the step as one CUDA graph or compile it, in PyTorch torch.compile(mode=\"reduce-overhead\").");
      break;
  }
  if (const auto factor = batch_words(job.known); !factor.empty()) {
    lines.push_back(fmt::format("Raise the batch size: the GPU's memory has room for {} as much.", factor));
  } else {
    lines.emplace_back("Raise the batch size: larger kernels fill more of the GPU in hardly more time.");
  }
  lines.emplace_back("Take out of the loop what waits for the GPU: .item(), printing, copies back to the host.");
  return lines;
}

Lines memory_bandwidth(const Job &job) {
  switch (job.framework) {
    case vllm:
      return {"Use smaller weights (--quantization fp8 or an AWQ model): decoding reads all of them for every token.",
              "Let more requests share each read of the weights: raise --max-num-seqs."};
    case jax:
      return {"Compute in jnp.bfloat16, and put whole steps into jax.jit so that XLA joins operations."};
    case tensorflow:
      return {"Use tf.keras.mixed_precision.set_global_policy(\"mixed_bfloat16\") and tf.function(jit_compile=True)."};
    case pytorch:
    case none:
      break;
  }
  return {in_words(job, "Halve the bytes: torch.autocast(\"cuda\", dtype=torch.bfloat16).",
                   "Halve the bytes: compute in bf16, in PyTorch with torch.autocast."),
          in_words(job,
                   "Join operations: torch.compile(model), an optimiser with fused=True, scaled_dot_product_attention.",
                   "Join operations with a compiler or fused kernels, so that values need not go to memory and back.")};
}

Lines tensor_unused(const Job &job) {
  constexpr std::string_view kShapes =
      "Make layer and batch sizes multiples of 8, or the tensor cores cannot take them.";
  switch (job.framework) {
    case jax:
      return {"Allow tensor cores: jax.config.update(\"jax_default_matmul_precision\", \"tensorfloat32\").",
              "Keep parameters and activations in jnp.bfloat16 where the accuracy allows it.", std::string(kShapes)};
    case tensorflow:
      return {"Use mixed precision: tf.keras.mixed_precision.set_global_policy(\"mixed_bfloat16\").",
              "Allow TF32 where it was switched off: tf.config.experimental.enable_tensor_float_32_execution(True).",
              std::string(kShapes)};
    case vllm:
      return {"Serve the model in bf16: --dtype bfloat16."};
    case pytorch:
      return {"Allow TF32: torch.set_float32_matmul_precision(\"high\").",
              "Train in bf16: with torch.autocast(\"cuda\", dtype=torch.bfloat16).", std::string(kShapes)};
    case none:
      break;
  }
  return {"Allow TF32 for fp32 matrices, in PyTorch with torch.set_float32_matmul_precision(\"high\").",
          "Use mixed precision (bf16), in PyTorch with torch.autocast.", std::string(kShapes)};
}

Lines wrong_precision(const Job &job) {
  constexpr std::string_view kNumpy =
      "NumPy makes float64 unless told otherwise: array.astype(numpy.float32) on inputs.";
  switch (job.framework) {
    case jax:
      return {"Switch 64-bit mode off: no jax_enable_x64, no JAX_ENABLE_X64=1.", std::string(kNumpy)};
    case tensorflow:
      return {std::string(kNumpy), "Check tf.keras.backend.floatx(), and cast inputs with tf.cast(x, tf.float32)."};
    case vllm:
      return {"Set --dtype bfloat16."};
    case pytorch:
      return {std::string(kNumpy),
              "Look for .double() and torch.set_default_dtype(torch.float64); model.float() undoes it."};
    case none:
      break;
  }
  return {std::string(kNumpy), "Compute in fp32 or bf16, unless the science needs fp64."};
}

Lines copy_bound(const Job &job) {
  constexpr std::string_view kKeep = "Keep on the GPU what is used again; look for copies to and fro inside the loop.";
  switch (job.framework) {
    case jax:
      return {
          "Keep arrays on the GPU between steps: jax.device_put once, donate_argnums in jax.jit, no numpy in the loop.",
          "Send the next batch while the last is computed: flax.jax_utils.prefetch_to_device or device_put ahead."};
    case tensorflow:
      return {"Send batches ahead: dataset.apply(tf.data.experimental.prefetch_to_device(\"/GPU:0\")).",
              std::string(kKeep)};
    case vllm:
      return {"Let less go to the host: lower --cpu-offload-gb and --swap-space, or use more GPUs or a smaller model."};
    case pytorch:
      return {"Copy while computing: DataLoader(pin_memory=True) and batch.to(device, non_blocking=True).",
              "Look for .cpu(), .numpy() and .to() inside the loop, and keep on the GPU what is used again.",
              "Send uint8 instead of floats, and convert on the GPU: a quarter of the bytes."};
    case none:
      break;
  }
  return {"Copy while computing, from pinned memory, in PyTorch with pin_memory=True and non_blocking=True.",
          std::string(kKeep)};
}

Lines periodic_stalls(const Job &job) {
  const auto seconds = sound(job.known.stall_seconds);
  const auto each = seconds ? fmt::format(" (each stall takes {})", seconds_words(*seconds)) : std::string();
  if (job.known.writes) {
    std::string_view how = "in a thread of its own";
    if (job.framework == pytorch) how = "with torch.distributed.checkpoint.async_save";
    if (job.framework == jax) how = "with orbax.checkpoint.AsyncCheckpointer";
    if (job.framework == tensorflow) how = "with tf.train.CheckpointOptions(enable_async=True)";
    return {fmt::format("Write checkpoints in the background, {}{}.", how, each),
            "Write them to a local disk first, and less often."};
  }
  if (job.known.reads) {
    return {fmt::format("Read ahead across the pause{}: {}.", each,
                        in_words(job, "DataLoader(persistent_workers=True) and a larger prefetch_factor",
                                 "keep loaders alive between epochs and let them work ahead")),
            "Copy the data set to a local disk, so that the start of an epoch need not wait for it."};
  }
  return {fmt::format("Find what runs every so often{}: validation or metrics on the CPU, logging, garbage collection.",
                      each),
          in_words(job, "Validate on the GPU, with model.eval() and torch.inference_mode(), or less often.",
                   "Validate on the GPU, or less often.")};
}

Lines stuck(const Job &job, bool spinning) {
  Lines lines{fmt::format("See where it waits: py-spy dump --pid {}.",
                          job.known.pid ? fmt::format("{}", *job.known.pid) : std::string("PID"))};
  lines.emplace_back(
      job.framework == pytorch
          ? "If it runs on several GPUs, run again with NCCL_DEBUG=INFO TORCH_NCCL_DUMP_ON_TIMEOUT=1 to "
            "find the rank that is missing."
          : "If it runs on several GPUs, run again with NCCL_DEBUG=INFO to find the rank that is missing.");
  if (spinning) {
    lines.emplace_back("If the kernel is your own, look with cuda-gdb for a loop that waits for a flag.");
  } else {
    lines.emplace_back(in_words(job,
                                "Let waits fail instead of lasting: a timeout in DataLoader and init_process_group.",
                                "If nothing moves any more, end it: it holds memory that others could use."));
  }
  return lines;
}

Lines health(const Job &job) {
  if (job.known.code > 0) {
    const auto *entry = find_xid(job.known.code);
    if (entry != nullptr) return {fmt::format("XID {}: {}.", job.known.code, entry->remedy)};
    return {fmt::format("XID {}: read the driver's own words with dmesg | grep -i xid.", job.known.code)};
  }
  const std::string_view metric = job.known.metric;
  if (metric == "remapped_rows_failure") return {"Have the board replaced: it has no spare rows of memory left."};
  if (metric.ends_with("_pending"))
    return {"Reset the GPU when nobody uses it, so that the repair takes effect: gpulse set reset."};
  if (metric == "recovery_action") return {"Do what the driver asks for: gpulse explain recovery_action."};
  if (metric.starts_with("ecc_"))
    return {"Run no job whose result matters here; reset the GPU, and replace it if errors return."};
  return {
      "Take the GPU out of work, reset it when nobody uses it (gpulse set reset), and test it with the vendor's tool."};
}

Lines hardware(FindingId id) {
  switch (id) {
    case FindingId::throttled_power:
      return {"If the limit is below the default, set it back: gpulse set power-limit default.",
              "At the default limit leave it: boards are meant to work at their limit under full load."};
    case FindingId::throttled_thermal:
      return {"Check fans, dust, air flow and the temperature of the room.",
              "Until it is cooler, a lower power limit (gpulse set power-limit WATTS) costs less than throttling."};
    case FindingId::throttled_hardware:
      return {"Check the board's power cables, the power supplies and a power cap of the machine or rack.",
              "Let the driver say why: nvidia-smi -q -d PERFORMANCE; the machine's management log names power events."};
    case FindingId::link_degraded:
      return {"Reseat the card, or try another slot, riser or cable: lost lanes are nearly always a matter of contact.",
              "If only the generation is low, look at the slot's setting in the BIOS."};
    default:
      return {};
  }
}

Lines imbalance(const Job &job) {
  return {"Look at the slowest GPU: throttling, a slower link, another job on it.",
          in_words(job, "Give each rank equal work: DistributedSampler(drop_last=True), batches of similar length.",
                   "Give each rank equal work: shards of one size, batches of similar length."),
          "Move what only rank 0 does (checkpoints, logs, validation) out of the way of the others."};
}

Lines lines_for(FindingId id, const Job &job) {
  switch (id) {
    case FindingId::input_cpu:
      return input_cpu(job);
    case FindingId::input_io:
      return input_io(job);
    case FindingId::launch_bound:
      return launch_bound(job);
    case FindingId::memory_bandwidth:
      return memory_bandwidth(job);
    case FindingId::tensor_unused:
      return tensor_unused(job);
    case FindingId::wrong_precision:
      return wrong_precision(job);
    case FindingId::copy_bound:
      return copy_bound(job);
    case FindingId::throttled_power:
    case FindingId::throttled_thermal:
    case FindingId::throttled_hardware:
    case FindingId::link_degraded:
      return hardware(id);
    case FindingId::memory_leak:
      return memory_leak(job);
    case FindingId::memory_full:
      return memory_full(job);
    case FindingId::out_of_memory:
      return out_of_memory(job);
    case FindingId::memory_headroom:
      return memory_headroom(job);
    case FindingId::memory_held_idle:
      return memory_held_idle(job);
    case FindingId::host_memory:
      return host_memory(job);
    case FindingId::spinning:
    case FindingId::hung:
      return stuck(job, id == FindingId::spinning);
    case FindingId::periodic_stalls:
      return periodic_stalls(job);
    case FindingId::imbalance:
      return imbalance(job);
    case FindingId::health:
      return health(job);
    case FindingId::unknown:
      return {"Measure for longer, past the start of the job, as its owner or as root."};
    case FindingId::healthy:
    case FindingId::idle:
      break;
  }
  return {};
}

}  // namespace

std::optional<double> sound(const std::optional<double> &value) {
  return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

std::string in_words(const Job &job, std::string_view of_pytorch, std::string_view neutral) {
  return std::string(job.framework == pytorch ? of_pytorch : neutral);
}

std::string seconds_words(double seconds) {
  if (seconds >= 120) return fmt::format("{:.0f} min", seconds / 60);
  return seconds >= 9.5 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.1f} s", seconds);
}

std::string batch_words(const AdviceContext &known) {
  // Rounded down: a batch that does not fit helps nobody.
  constexpr double kLeast = 1.1;
  const double factor = sound(known.batch_factor).value_or(0);
  if (factor < kLeast) return {};
  return factor < 3 ? fmt::format("{:.1f} times", std::floor(factor * 10) / 10)
                    : fmt::format("{:.0f} times", std::floor(factor));
}

std::vector<std::string> advice(FindingId id, const AdviceContext &context) {
  auto lines = lines_for(id, {framework_of(context.framework), context});
  const auto &kind = describe(id);
  if (lines.empty() || kind.helped.empty()) return lines;
  const auto lost = sound(context.lost_share).value_or(0);
  const bool told = lost >= 0.01 && lost <= 1;
  lines.push_back(told ? fmt::format("{} ({:.0f} % of GPU time is lost now).", kind.helped, lost * 100)
                       : fmt::format("{}.", kind.helped));
  return lines;
}

}  // namespace gpulse::insight
