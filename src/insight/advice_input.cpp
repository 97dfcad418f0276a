// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "insight/advice_parts.hpp"

namespace gpulse::insight {

namespace {

using enum Framework;

// More than these hardly ever help a job that had no loaders.
constexpr double kFirstLoaders = 8;

// So many that they keep up, if each of those there are now gives its share. 0: there are as many as make sense.
int loaders_to_keep_up(double now, const std::optional<double> &lost, double most) {
  // Not all of the lost time is theirs when nearly all is lost; four times as many is a step that can be judged.
  constexpr double kMostGrowth = 4;
  double wanted = now * 2;
  if (lost && *lost < 1) wanted = std::min(now / (1 - *lost), now * kMostGrowth);
  const double least = now + 1;
  if (least > most) return 0;
  return static_cast<int>(std::ceil(std::clamp(wanted, least, most) - 0.01));
}

// Loaders that prepare on the CPU: no more than there are cores for. 0: none is idle.
std::optional<int> preparing_loaders(const AdviceContext &known) {
  auto idle = sound(known.idle_cores);
  const auto busy = sound(known.busy_processes);
  if (!idle && sound(known.cores) && busy) idle = std::max(0.0, *known.cores - *busy);
  const auto processes = sound(known.tree_processes);
  if (!idle) return std::nullopt;
  const double room = std::floor(*idle);
  if (room < 1) return 0;
  if (processes && *processes <= 1) return static_cast<int>(std::min(kFirstLoaders, room));
  if (!busy || *busy < 1) return std::nullopt;
  const double now = std::round(*busy);
  return loaders_to_keep_up(now, sound(known.lost_share), now + room);
}

// Loaders that wait for bytes: they need few cores, but each needs memory.
std::optional<int> reading_loaders(const AdviceContext &known) {
  const auto processes = sound(known.tree_processes);
  const auto cores = sound(known.cores);
  if (!processes || !cores || *cores < 1) return std::nullopt;
  if (*processes <= 1) return static_cast<int>(std::min(kFirstLoaders, std::floor(*cores)));
  return loaders_to_keep_up(std::round(*processes) - 1, sound(known.lost_share), std::floor(*cores) * 2);
}

std::string loader_setting(Framework framework, std::optional<int> count) {
  const auto number = count ? fmt::format("{}", *count) : std::string();
  switch (framework) {
    case jax:
      return count ? fmt::format("{} loader processes (Grain: worker_count={})", number, number)
                   : "more loader processes (Grain: worker_count)";
    case tensorflow:
      return "dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)";
    case pytorch:
      return count ? fmt::format("DataLoader(num_workers={})", number) : "a larger DataLoader(num_workers=…)";
    case vllm:
    case none:
      break;
  }
  return count ? fmt::format("{} loader processes (PyTorch: DataLoader(num_workers={}))", number, number)
               : "more loader processes (PyTorch: DataLoader(num_workers=…))";
}

std::string_view work_ahead(Framework framework) {
  switch (framework) {
    case jax:
      return "Prepare batches ahead, in a thread or with Grain's prefetch, and put them on the GPU with "
             "jax.device_put.";
    case tensorflow:
      return "Let the input run ahead: dataset.prefetch(tf.data.AUTOTUNE), and cache() after the costly part.";
    case pytorch:
      return "Let loaders work ahead: pin_memory=True, a larger prefetch_factor, persistent_workers=True.";
    case vllm:
    case none:
      break;
  }
  return "Let loaders work ahead: a larger prefetch, pinned memory, loaders that live across epochs.";
}

std::string_view on_the_gpu(Framework framework) {
  switch (framework) {
    case jax:
      return "Move transforms to the GPU, into the jitted step (jax.image, DALI).";
    case tensorflow:
      return "Move transforms to the GPU: Keras preprocessing layers inside the model, or DALI.";
    case pytorch:
      return "Move transforms to the GPU, on whole batches: Kornia, DALI or torchvision.transforms.v2.";
    case vllm:
    case none:
      break;
  }
  return "Move transforms to the GPU, on whole batches (Kornia, DALI or torchvision.transforms.v2 with PyTorch).";
}

}  // namespace

Lines input_cpu(const Job &job) {
  if (job.framework == vllm) {
    return {"Tokenise and decode images outside the server's process, or give it more CPU cores.",
            "Start several API servers for one engine: --api-server-count."};
  }
  const auto loaders = preparing_loaders(job.known);
  if (loaders == 0) {
    return {"No core is idle: more loaders would not help, less work for each sample or more cores will.",
            std::string(on_the_gpu(job.framework)),
            "Do once, and store, what is the same in every epoch: decoding, resizing, tokenising."};
  }
  const auto processes = sound(job.known.tree_processes);
  const bool first = loaders && processes && *processes <= 1 && job.framework != tensorflow;
  const auto idle = sound(job.known.idle_cores);
  const auto room = idle && *idle >= 1 ? fmt::format(": {:.0f} cores are idle", std::floor(*idle)) : std::string();
  return {fmt::format("{} {}{}.", first ? "Load in processes of their own, to begin with" : "Try",
                      loader_setting(job.framework, loaders), room),
          std::string(on_the_gpu(job.framework)), std::string(work_ahead(job.framework))};
}

Lines input_io(const Job &job) {
  if (job.framework == vllm) return {"Keep the model on a local disk: only loading it should read."};
  Lines lines{"Copy the data set to a local disk, or cache it there on the first pass."};
  lines.emplace_back(
      job.framework == tensorflow
          ? "Read large pieces: TFRecord shards with interleave(num_parallel_calls=tf.data.AUTOTUNE)."
          : "Read large pieces: shards (WebDataset, Parquet, Arrow) instead of one small file per sample.");
  const auto loaders = reading_loaders(job.known);
  if (job.framework == tensorflow || loaders == 0) {
    lines.emplace_back(work_ahead(job.framework));
  } else {
    lines.push_back(fmt::format("Keep more reads in flight, if the storage can do more: {}.",
                                loader_setting(job.framework, loaders)));
  }
  return lines;
}

}  // namespace gpulse::insight
