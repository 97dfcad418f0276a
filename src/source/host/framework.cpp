// SPDX-License-Identifier: Apache-2.0
#include "source/host/framework.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "base/text.hpp"
#include "source/api/errno_reason.hpp"

namespace gpulse::host {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxMaps = 4U << 20U;
// A job of PyTorch has some thousand mappings, the reading of which takes milliseconds.
constexpr std::array kWaits{2s, 10s, 30s, 120s};
// By then all that is imported has been.
constexpr double kStartSeconds = 60;

// `folder`: part of the path; `file`: begin of the name. Empty fits all.
struct Library {
  std::string_view folder;
  std::string_view file;
  std::string_view framework;
};
// The first that any library fits. What stands on another framework comes before it, and what says that the GPU is in
// use before what is only loaded: jobs of JAX often import PyTorch for its loaders, those of PyTorch TensorFlow for its
// logs.
constexpr std::array kLibraries{
    Library{"", "libtritonserver", "Triton Server"},
    Library{"", "libtensorrt_llm", "TensorRT-LLM"},
    Library{"/vllm/_", "", "vLLM"},
    Library{"", "libllama.", "llama.cpp"},
    Library{"", "libggml", "llama.cpp"},
    Library{"", "xla_cuda_plugin", "JAX"},
    Library{"", "libtorch", "PyTorch"},
    Library{"", "libtensorflow", "TensorFlow"},
    Library{"", "_pywrap_tensorflow", "TensorFlow"},
    Library{"", "xla_extension", "JAX"},
    Library{"-packages/jaxlib/", "", "JAX"},
    Library{"", "libcudf", "RAPIDS"},
    Library{"", "libcuml", "RAPIDS"},
    Library{"", "libcugraph", "RAPIDS"},
    Library{"-packages/cupy", "", "CuPy"},
    Library{"", "libonnxruntime", "ONNX Runtime"},
    Library{"", "onnxruntime_pybind", "ONNX Runtime"},
    Library{"", "libnvinfer", "TensorRT"},
};

// Of "7f12-7f13 r-xp 0000 08:01 42   /usr/lib/libc.so.6"; empty for memory that is no file.
std::string_view path_of(std::string_view line) {
  const auto begin = line.find('/');
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

}  // namespace

std::string_view find_framework(std::string_view maps) {
  std::size_t best = kLibraries.size();
  std::string_view last;
  while (!maps.empty() && best > 0) {
    const auto path = path_of(next_piece(maps, '\n'));
    if (path == last) continue;
    last = path;
    if (!path.contains(".so")) continue;
    const auto name = path.substr(path.rfind('/') + 1);
    const auto fits = [&](const Library &one) { return name.starts_with(one.file) && path.contains(one.folder); };
    const auto found = std::find_if(kLibraries.begin(), kLibraries.begin() + static_cast<std::ptrdiff_t>(best), fits);
    best = static_cast<std::size_t>(found - kLibraries.begin());
  }
  return best < kLibraries.size() ? kLibraries.at(best).framework : std::string_view();
}

TextReading Frameworks::read(std::uint32_t pid) const {
  std::string maps;
  if (!root_.read_into(maps, fmt::format("/proc/{}/maps", pid), kMaxMaps)) return errno_reason(errno);
  const auto found = find_framework(maps);
  if (found.empty()) return Reason::not_supported;
  return std::string(found);
}

Frameworks::Known &Frameworks::find(const Process &process, Monotonic now) {
  auto &known = known_[process.pid];
  if (known.start_ticks != process.start_ticks) known = Known{};
  known.start_ticks = process.start_ticks;
  known.seen = std::max(known.seen, now);
  return known;
}

void Frameworks::add_to(Process &process, Monotonic now) {
  if (process.texts == nullptr || process.foreign || process.gone) return;
  std::unique_lock lock(mutex_);
  auto *known = &find(process, now);
  if (known->next && now >= *known->next) {
    known->next = known->looks < kWaits.size() ? std::optional(now + kWaits.at(known->looks)) : std::nullopt;
    ++known->looks;
    lock.unlock();
    auto framework = read(process.pid);
    lock.lock();
    known = &find(process, now);
    const auto age = process.row[process_metric("running_seconds")];
    if (framework && age.value_or(0) >= kStartSeconds) known->next.reset();
    // One that was seen stays: a process that ends has unloaded it.
    if ((framework || !known->framework) && framework != known->framework) {
      known->framework = std::move(framework);
      known->without.reset();
    }
  }
  if (known->without != process.texts) {
    auto texts = std::make_shared<TextRow>(*process.texts);
    (*texts)[process_metric("framework")] = known->framework;
    known->without = process.texts;
    known->with = std::move(texts);
  }
  process.texts = known->with;
}

void Frameworks::forget_unseen(Monotonic since) {
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [&](const auto &known) { return known.second.seen < since; });
}

}  // namespace gpulse::host
