// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/excluded.hpp"

#include <algorithm>

#include "source/nvml/code.hpp"
#include "source/nvml/identity.hpp"
#include "source/nvml/library.hpp"

namespace gpulse::nvml {

Result<std::vector<ExcludedDevice>> excluded_devices() {
  const auto api = load_library();
  if (!api) return std::unexpected(api.error());
  if (const auto code = (*api)->init_v2(); code != Return::success) return failure(std::string(code_text(code)));
  const Function<Return(std::uint32_t *)> count_of((*api)->resolver, "nvmlGetExcludedDeviceCount");
  const Function<Return(std::uint32_t, ExcludedInfo *)> info_of((*api)->resolver, "nvmlGetExcludedDeviceInfoByIndex");
  std::vector<ExcludedDevice> all;
  std::uint32_t count = 0;
  if (count_of(&count) != Return::success) count = 0;
  constexpr std::uint32_t kMax = 1024;
  for (std::uint32_t i = 0; i < std::min(count, kMax); ++i) {
    ExcludedInfo info{};
    if (info_of(i, &info) == Return::success) all.push_back({text_of(info.pci.bus_id), text_of(info.uuid)});
  }
  (*api)->shutdown();
  return all;
}

}  // namespace gpulse::nvml
