// SPDX-License-Identifier: Apache-2.0
#include "fleet/engine_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "model/select.hpp"
#include "view/families.hpp"

namespace gpulse::fleet {

namespace {

constexpr std::string_view kUsualPort = ":9837";

Device device_of(const EngineGpu &gpu) {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->uuid = gpu.uuid;
  identity->vendor = gpu.vendor;
  identity->pci = gpu.pci;
  Device device;
  // A number that nobody can ask for.
  device.id = gpu.id.value_or(DeviceId{.index = ~std::uint32_t{0}});
  device.identity = std::move(identity);
  return device;
}

}  // namespace

std::string_view usual_name(std::string_view instance) {
  if (instance.ends_with(kUsualPort) && instance.size() > kUsualPort.size()) instance.remove_suffix(kUsualPort.size());
  return instance;
}

Text host_of(std::string_view instance) { return usual_name(instance); }

std::vector<EngineGpu> gpus_of(std::span<const EngineSeries> infos, bool in_each_cluster) {
  // After an update of the driver there are two of one.
  std::map<std::tuple<std::string, std::string, std::string>, EngineGpu> known;
  for (const auto &info : infos) {
    const auto uuid = info.label("uuid");
    if (uuid.empty()) continue;
    const std::string instance(info.label("instance")), cluster(info.label("cluster"));
    auto &gpu = known[{instance, in_each_cluster ? cluster : std::string(), std::string(uuid)}];
    gpu.instance = instance;
    gpu.cluster = cluster;
    gpu.uuid = uuid;
    gpu.host = host_of(instance);
    gpu.name = info.label("name");
    gpu.vendor = info.label("vendor");
    gpu.pci = info.label("pci");
    gpu.parent = info.label("parent");
    gpu.id = parse_device_id(info.label("gpu"));
  }
  std::vector<EngineGpu> gpus;
  gpus.reserve(known.size());
  for (auto &[key, gpu] : known) gpus.push_back(std::move(gpu));
  sort_gpus(gpus);
  return gpus;
}

void sort_gpus(std::vector<EngineGpu> &gpus) {
  std::ranges::stable_sort(gpus, {}, [](const EngineGpu &gpu) {
    return std::tuple(std::string_view(gpu.instance), std::string_view(gpu.cluster), gpu.id.value_or(DeviceId{}));
  });
}

EngineResult<std::vector<EngineGpu>> read_gpus(Engine &engine, WallTime from, WallTime to,
                                               const std::stop_token &stop) {
  const auto infos = engine.series(view::families::kInfo, from, to, stop);
  if (!infos) return std::unexpected(infos.error());
  return gpus_of(*infos);
}

Result<std::vector<EngineGpu>> choose_gpus(const std::vector<EngineGpu> &gpus,
                                           const std::vector<std::string> &selectors) {
  if (selectors.empty()) return gpus;
  std::vector<bool> is_chosen(gpus.size());
  for (const auto &list : selectors) {
    for (const auto piece : split(list, ',')) {
      const auto selector = trim(piece);
      bool any = false;
      for (std::size_t i = 0; i < gpus.size(); ++i) {
        if (!is_selected(device_of(gpus[i]), selector)) continue;
        is_chosen[i] = any = true;
      }
      if (!any) {
        return failure(fmt::format("no device \"{}\"", selector),
                       "give a number (0, or 0:1 for an instance), UUID, PCI address or vendor");
      }
    }
  }
  std::set<std::pair<std::string_view, std::string_view>> wholes;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (is_chosen[i]) wholes.emplace(gpus[i].instance, gpus[i].uuid);
  }
  std::vector<EngineGpu> chosen;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const auto &gpu = gpus[i];
    if (is_chosen[i] || (!gpu.parent.empty() && wholes.contains({gpu.instance, gpu.parent}))) chosen.push_back(gpu);
  }
  return chosen;
}

}  // namespace gpulse::fleet
