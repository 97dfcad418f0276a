// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "pick/pick.hpp"

namespace gpulse::pick {

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Nothing that a shell would act on, whatever the driver says.
bool is_plain(std::string_view uuid) {
  return std::all_of(uuid.begin(), uuid.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '/';
  });
}

std::size_t place_in(const std::vector<std::size_t> &list, std::size_t device) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), device) - list.begin());
}

Variables for_cuda(std::span<const Device> devices, std::span<const std::size_t> chosen) {
  const auto has_name = [&](std::size_t i) {
    const auto &uuid = devices[i].identity->uuid;
    return (uuid.starts_with("GPU-") || uuid.starts_with("MIG-")) && is_plain(uuid);
  };
  std::vector<std::string> entries;
  if (std::all_of(chosen.begin(), chosen.end(), has_name)) {
    for (const auto i : chosen) entries.push_back(devices[i].identity->uuid);
    return {{"CUDA_VISIBLE_DEVICES", fmt::format("{}", fmt::join(entries, ","))}};
  }
  // The driver's numbers are CUDA's in this order.
  for (const auto i : chosen) entries.push_back(std::to_string(devices[i].id.index));
  return {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", fmt::format("{}", fmt::join(entries, ","))}};
}

// HIP numbers what the runtime leaves, so that an older mask of its own would be wrong.
Variables for_hip(std::span<const Device> devices, std::span<const std::size_t> chosen) {
  constexpr std::size_t kLongest = 20;
  const auto agents = hip_agents(devices);
  std::vector<std::string> entries;
  std::vector<std::size_t> numbers;
  for (const auto i : chosen) {
    const auto &uuid = devices[i].identity->uuid;
    const bool has_name =
        uuid.starts_with("GPU-") && uuid.size() <= kLongest && is_plain(uuid) && !devices[i].is_instance();
    entries.push_back(has_name ? uuid.str() : std::to_string(place_in(agents, i)));
    numbers.push_back(numbers.size());
  }
  return {{"ROCR_VISIBLE_DEVICES", fmt::format("{}", fmt::join(entries, ","))},
          {"HIP_VISIBLE_DEVICES", fmt::format("{}", fmt::join(numbers, ","))}};
}

Variables for_level_zero(std::span<const Device> devices, std::span<const std::size_t> chosen) {
  const auto cards = level_zero_devices(devices);
  std::vector<std::size_t> numbers;
  for (const auto i : chosen) numbers.push_back(place_in(cards, i));
  return {{"ZE_AFFINITY_MASK", fmt::format("{}", fmt::join(numbers, ","))}};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> variables_for(std::span<const Device> devices,
                                                               std::span<const std::size_t> chosen) {
  Variables all;
  const auto add = [&](std::string_view vendor, auto make) {
    std::vector<std::size_t> own;
    std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(own),
                 [&](std::size_t i) { return devices[i].identity->vendor == vendor; });
    if (own.empty()) return;
    const auto more = make(devices, own);
    all.insert(all.end(), more.begin(), more.end());
  };
  add("nvidia", for_cuda);
  add("amd", for_hip);
  add("intel", for_level_zero);
  return all;
}

}  // namespace gpulse::pick
