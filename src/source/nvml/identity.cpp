// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/identity.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "source/nvml/code.hpp"

namespace gpulse::nvml {

namespace {

using Buffer = std::array<char, kNameBytes>;

TextReading read_text(const Api::Text &call, Handle handle) {
  Buffer buffer{};
  const auto code = call(handle, buffer.data(), static_cast<std::uint32_t>(buffer.size()));
  if (code != Return::success) return text_reason_of(code);
  return text_of(buffer);
}

template <std::size_t N>
TextReading named(const std::array<std::string_view, N> &names, Return code, std::uint32_t value) {
  if (code != Return::success) return text_reason_of(code);
  if (value >= N || names[value].empty()) return Reason::not_supported;
  return std::string(names[value]);
}

TextReading read_architecture(const Api &api, Handle handle) {
  static constexpr std::array<std::string_view, 14> kNames{"",          "",       "Kepler", "Maxwell", "Pascal",
                                                           "Volta",     "Turing", "Ampere", "Ada",     "Hopper",
                                                           "Blackwell", "T23X",   "",       "Rubin"};
  std::uint32_t value = 0;
  const auto code = api.architecture(handle, &value);
  return named(kNames, code, value);
}

TextReading read_brand(const Api &api, Handle handle) {
  static constexpr std::array<std::string_view, 17> kNames{
      "",    "Quadro", "Tesla",        "NVS",        "GRID",       "GeForce", "Titan",       "vApps",    "vPC",
      "vCS", "vWS",    "cloud gaming", "Quadro RTX", "NVIDIA RTX", "NVIDIA",  "GeForce RTX", "Titan RTX"};
  std::uint32_t value = 0;
  const auto code = api.brand(handle, &value);
  return named(kNames, code, value);
}

TextReading read_compute_capability(const Api &api, Handle handle) {
  int major = 0;
  int minor = 0;
  const auto code = api.compute_capability(handle, &major, &minor);
  if (code != Return::success) return text_reason_of(code);
  return fmt::format("{}.{}", major, minor);
}

TextReading read_gsp(const Api &api, Handle handle) {
  Buffer buffer{};
  const auto code = api.gsp_version(handle, buffer.data());
  if (code != Return::success) return text_reason_of(code);
  return text_of(buffer);
}

TextReading read_affinity(const Api &api, Handle handle) {
  std::array<unsigned long, 32> bits{};
  const auto code = api.cpu_affinity(handle, static_cast<std::uint32_t>(bits.size()), bits.data());
  if (code != Return::success) return text_reason_of(code);
  return bits_as_ranges(bits);
}

void fill_texts(const Api &api, Handle handle, const Versions &versions, const SourceOptions &options, TextRow &texts) {
  const auto fill = [&](MetricId id, auto read) {
    if (options.wants_text(id)) texts[id] = read();
  };
  const auto plain = [&](MetricId id, const Api::Text &call) { fill(id, [&] { return read_text(call, handle); }); };
  plain(device_metric("serial"), api.serial);
  plain(device_metric("vbios_version"), api.vbios);
  plain(device_metric("board_part_number"), api.board_part);
  plain(device_metric("inforom_version"), api.inforom_image);
  fill(device_metric("gsp_firmware_version"), [&] { return read_gsp(api, handle); });
  fill(device_metric("architecture"), [&] { return read_architecture(api, handle); });
  fill(device_metric("brand"), [&] { return read_brand(api, handle); });
  fill(device_metric("compute_capability"), [&] { return read_compute_capability(api, handle); });
  fill(device_metric("cpu_affinity"), [&] { return read_affinity(api, handle); });
  fill(device_metric("cuda_version"), [&] { return versions.cuda; });
}

}  // namespace

std::string bits_as_ranges(std::span<const unsigned long> bits) {
  constexpr std::size_t kWord = 8 * sizeof(unsigned long);
  const auto set = [&](std::size_t i) { return i < bits.size() * kWord && (bits[i / kWord] >> (i % kWord) & 1U) != 0; };
  std::string out;
  for (std::size_t i = 0; i < bits.size() * kWord; ++i) {
    if (!set(i) || (i > 0 && set(i - 1))) continue;
    std::size_t last = i;
    while (set(last + 1)) ++last;
    out += fmt::format("{}{}", out.empty() ? "" : ",", i);
    if (last > i) out += fmt::format("-{}", last);
  }
  return out;
}

std::string cuda_text(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

Versions read_versions(const Api &api, bool with_cuda) {
  Versions versions;
  std::array<char, 80> buffer{};
  if (api.driver_version(buffer.data(), buffer.size()) == Return::success) versions.driver = text_of(buffer);
  buffer = {};
  if (api.library_version(buffer.data(), buffer.size()) == Return::success) versions.library = text_of(buffer);
  if (!with_cuda) return versions;
  int cuda = 0;
  auto code = api.cuda_version_v2(&cuda);
  if (try_older(code)) code = api.cuda_version(&cuda);
  if (code != Return::success) {
    versions.cuda = text_reason_of(code);
  } else if (cuda > 0) {
    versions.cuda = cuda_text(cuda);
  }
  return versions;
}

std::expected<std::string, Return> find_pci(const Api &api, Handle handle) {
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
  PciInfo info{};
  auto code = api.pci_v3(handle, &info);
  if (code == Return::success) {
    domain = info.domain;
    bus = info.bus;
    device = info.device;
  } else {
    PciInfoV2 old{};
    code = api.pci_v2(handle, &old);
    if (code != Return::success) code = api.pci_v1(handle, &old);
    if (code != Return::success) return std::unexpected(code);
    domain = old.domain;
    bus = old.bus;
    device = old.device;
  }
  return fmt::format("{:04x}:{:02x}:{:02x}.0", domain, bus, device);
}

std::string read_pci(const Api &api, Handle handle) { return find_pci(api, handle).value_or(""); }

bool is_integrated(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames{"GB10", "Thor", "Orin", "Xavier", "nvgpu"};
  const auto is_letter = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  // Whole words only: GB102 would be another chip.
  while (!name.empty()) {
    const auto end = std::find_if_not(name.begin(), name.end(), is_letter);
    const std::string_view part(name.begin(), end);
    if (std::find(kNames.begin(), kNames.end(), part) != kNames.end()) return true;
    name.remove_prefix(std::min(part.size() + 1, name.size()));
  }
  return false;
}

bool is_of_nvgpu(std::string_view name) { return name.ends_with("(nvgpu)"); }

std::shared_ptr<DeviceIdentity> read_identity(const Api &api, const DeviceData &device, const Versions &versions,
                                              const SourceOptions &options) {
  auto identity = std::make_shared<DeviceIdentity>();
  identity->source = "nvml";
  identity->vendor = "nvidia";
  identity->driver = versions.driver;
  identity->name = read_text(api.name, device.handle).value_or("NVIDIA GPU");
  identity->uuid = read_text(api.uuid, device.handle).value_or("");
  identity->pci = read_pci(api, device.instance ? device.parent : device.handle);
  if (device.instance) {
    const auto at = identity->name.str().rfind("MIG ");
    identity->label = at == std::string::npos ? fmt::format("{}/{}", device.gpu_instance, device.compute_instance)
                                              : identity->name.str().substr(at + 4);
  }
  // Without a UUID the device still needs a lasting name.
  if (identity->uuid.empty()) identity->uuid = "PCI-" + identity->pci;
  fill_texts(api, device.handle, versions, options, identity->texts);
  return identity;
}

}  // namespace gpulse::nvml
