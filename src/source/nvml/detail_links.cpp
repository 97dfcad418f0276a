// SPDX-License-Identifier: Apache-2.0
// The links of a device one by one, for a command that shows them.
#include <fmt/format.h>

#include <span>

#include "source/nvml/code.hpp"
#include "source/nvml/detail_calls.hpp"
#include "source/nvml/identity.hpp"
#include "source/nvml/reader_calls.hpp"

namespace gpulse::nvml {

namespace {

constexpr std::uint32_t kMaxLinks = 36;
constexpr double kKibi = 1024, kMega = 1e6;

// The links that the device has, and whether they are up.
Return list_links(const Api &api, Handle handle, std::vector<DeviceLink> &links) {
  links.clear();
  for (std::uint32_t number = 0; number < kMaxLinks; ++number) {
    std::uint32_t state = 0;
    const auto code = api.nvlink_state(handle, number, &state);
    if (code != Return::success && (number == 0 || !try_older(code))) return code;
    if (code != Return::success) break;  // there are no more links
    links.push_back({.number = number, .state = static_cast<double>(state), .remote_pci = {}});
  }
  return Return::success;
}

// One field of every link.
void read_field(const Api &api, Handle handle, std::span<DeviceLink> links, std::uint32_t field,
                Reading DeviceLink::*into, double scale = 1) {
  if (links.empty()) return;
  std::vector<FieldValue> values(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    values[i].field = field;
    values[i].scope = links[i].number;
    values[i].result = Return::no_data;
  }
  const auto code = api.field_values(handle, static_cast<int>(values.size()), values.data());
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto result = code == Return::success ? values[i].result : code;
    const auto value = values[i].type == ValueType::u64 ? static_cast<double>(values[i].value.u64)
                                                        : static_cast<double>(values[i].value.u32);
    links[i].*into = result == Return::success ? Reading(value * scale) : reason_of(result);
  }
}

void read_speed(const Api &api, Handle handle, std::span<DeviceLink> links) {
  read_field(api, handle, links, field::kNvlinkSpeed, &DeviceLink::bytes_per_second, kMega);
  // Drivers before 520 know only the speed that all links have.
  if (!links.empty() && !links.front().bytes_per_second) {
    read_field(api, handle, links, field::kNvlinkSpeedCommon, &DeviceLink::bytes_per_second, kMega);
  }
}

void read_capabilities(const Api &api, Handle handle, DeviceLink &link) {
  for (std::uint32_t i = 0; i < link.capabilities.size(); ++i) {
    std::uint32_t able = 0;
    const auto code = api.nvlink_capability(handle, link.number, i, &able);
    link.capabilities[i] = code == Return::success ? Reading(able != 0 ? 1 : 0) : reason_of(code);
  }
}

void read_remote(const Api &api, Handle handle, DeviceLink &link) {
  PciInfo remote{};
  if (api.nvlink_remote(handle, link.number, &remote) != Return::success) return;
  link.remote_pci = fmt::format("{:08X}:{:02X}:{:02X}.0", remote.domain, remote.bus, remote.device);
}

void read_errors(const Api &api, Handle handle, DeviceLink &link) {
  constexpr std::uint32_t kReplay = 0, kRecovery = 1, kCrcFlit = 2;
  const auto count = [&](std::uint32_t kind) -> Reading {
    std::uint64_t errors = 0;
    const auto code = api.nvlink_errors(handle, link.number, kind, &errors);
    return code == Return::success ? Reading(static_cast<double>(errors)) : reason_of(code);
  };
  link.replays = count(kReplay);
  link.recoveries = count(kRecovery);
  link.crc_errors = count(kCrcFlit);
}

}  // namespace

Outcome links(const Driver &driver, DeviceData &device, Monotonic, Frame &frame) {
  const auto &api = *driver.api;
  auto &all = frame.details->links;
  const auto code = list_links(api, device.handle, all);
  const auto outcome = put(frame, detail_metric("link_count"), code, static_cast<double>(all.size()));
  for (const auto id : {detail_metric("link_capability_count"), detail_metric("link_peer_count"),
                        detail_metric("link_error_count"), detail_metric("link_traffic_count")}) {
    put(frame, id, code, static_cast<double>(all.size()));
  }
  read_speed(api, device.handle, all);
  if (wanted(driver, frame, detail_metric("link_peer_count"))) {
    for (auto &link : all) read_remote(api, device.handle, link);
    read_field(api, device.handle, all, field::kNvlinkRemoteLink, &DeviceLink::remote_link);
  }
  if (wanted(driver, frame, detail_metric("link_capability_count"))) {
    for (auto &link : all) read_capabilities(api, device.handle, link);
  }
  if (wanted(driver, frame, detail_metric("link_error_count"))) {
    for (auto &link : all) read_errors(api, device.handle, link);
  }
  if (wanted(driver, frame, detail_metric("link_traffic_count"))) {
    read_field(api, device.handle, all, field::kNvlinkDataTx, &DeviceLink::data_tx_bytes, kKibi);
    read_field(api, device.handle, all, field::kNvlinkDataRx, &DeviceLink::data_rx_bytes, kKibi);
    read_field(api, device.handle, all, field::kNvlinkRawTx, &DeviceLink::raw_tx_bytes, kKibi);
    read_field(api, device.handle, all, field::kNvlinkRawRx, &DeviceLink::raw_rx_bytes, kKibi);
  }
  return outcome;
}

}  // namespace gpulse::nvml
