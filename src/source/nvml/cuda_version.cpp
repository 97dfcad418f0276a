// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/cuda_version.hpp"

#include <memory>
#include <thread>

#include "base/shared_library.hpp"

namespace gpulse::nvml {

std::future<std::optional<int>> ask_cuda_version() {
  std::packaged_task<std::optional<int>()> task([]() -> std::optional<int> {
    auto library = SharedLibrary::open("libcuda.so.1");
    if (!library) return std::nullopt;
    // Never closed: the program that asks exits soon.
    const auto &kept = *new SharedLibrary(std::move(*library));
    const auto version = reinterpret_cast<int (*)(int *)>(kept.symbol("cuDriverGetVersion"));
    int number = 0;
    if (version == nullptr || version(&number) != 0 || number <= 0) return std::nullopt;
    return number;
  });
  auto answer = task.get_future();
  std::thread(std::move(task)).detach();
  return answer;
}

}  // namespace gpulse::nvml
