// SPDX-License-Identifier: Apache-2.0
#include "view/smi/links.hpp"

#include <fmt/format.h>

#include <array>

namespace gpulse::view::smi {

namespace {

std::string count_of(const Reading &reading) {
  if (!reading) return reason_cell(reading.reason(), reading.code()).text;
  return fmt::format("{:.0f}", reading.value());
}

bool is_up(const DeviceLink &link) { return link.state && link.state.value() > 0; }

std::string status_of(const DeviceLink &link) {
  if (!is_up(link)) return fmt::format("\t Link {}: <inactive>\n", link.number);
  constexpr double kGiga = 1e9;
  const auto &speed = link.bytes_per_second;
  return fmt::format(
      "\t Link {}: {}\n", link.number,
      speed ? fmt::format("{:.3f} GB/s", speed.value() / kGiga) : reason_cell(speed.reason(), speed.code()).text);
}

std::string capabilities_of(const DeviceLink &link) {
  constexpr std::array<std::string_view, 6> kNames{"P2P is supported",      "Access to system memory supported",
                                                   "P2P atomics supported", "System memory atomics supported",
                                                   "SLI is supported",      "Link is supported"};
  std::string out;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const auto &able = link.capabilities[i];
    const std::string word = !able                 ? reason_cell(able.reason(), able.code()).text
                             : able.value() != 0.0 ? "true"
                                                   : "false";
    out += fmt::format("\t Link {}, {}: {}\n", link.number, kNames[i], word);
  }
  return out;
}

std::string remote_of(const DeviceLink &link) {
  const auto address = link.remote_pci.empty() ? std::string(kNotAvailable) : link.remote_pci.str();
  return fmt::format("\t Link {}: Remote Device {}: Link {}\n", link.number, address, count_of(link.remote_link));
}

std::string errors_of(const DeviceLink &link) {
  return fmt::format(
      "\t Link {0}: Replay Errors: {1}\n\t Link {0}: Recovery Errors: {2}\n\t Link {0}: CRC Errors: {3}\n\n",
      link.number, count_of(link.replays), count_of(link.recoveries), count_of(link.crc_errors));
}

std::string traffic_of(const DeviceLink &link, std::string_view kind, const Reading &tx, const Reading &rx) {
  constexpr double kKibi = 1024;
  const auto amount = [&](const Reading &bytes) {
    return bytes ? fmt::format("{:.0f} KiB", bytes.value() / kKibi) : reason_cell(bytes.reason(), bytes.code()).text;
  };
  return fmt::format("\t Link {0}: {1} Tx: {2}\n\t Link {0}: {1} Rx: {3}\n", link.number, kind, amount(tx), amount(rx));
}

std::string lines_of(const DeviceLink &link, LinkTable table) {
  if (table == LinkTable::status) return status_of(link);
  if (!is_up(link)) return "";
  switch (table) {
    case LinkTable::capabilities:
      return capabilities_of(link);
    case LinkTable::bus_ids:
      return fmt::format("\t Link {}: {}\n", link.number,
                         link.remote_pci.empty() ? std::string(kNotAvailable) : link.remote_pci.str());
    case LinkTable::remote:
      return remote_of(link);
    case LinkTable::errors:
      return errors_of(link);
    case LinkTable::data:
      return traffic_of(link, "Data", link.data_tx_bytes, link.data_rx_bytes);
    case LinkTable::raw:
      return traffic_of(link, "Raw", link.raw_tx_bytes, link.raw_rx_bytes);
    case LinkTable::status:
      break;
  }
  return "";
}

}  // namespace

MetricId need_of_links(LinkTable table) {
  switch (table) {
    case LinkTable::status:
      break;
    case LinkTable::capabilities:
      return detail_metric("link_capability_count");
    case LinkTable::bus_ids:
    case LinkTable::remote:
      return detail_metric("link_peer_count");
    case LinkTable::errors:
      return detail_metric("link_error_count");
    case LinkTable::data:
    case LinkTable::raw:
      return detail_metric("link_traffic_count");
  }
  return detail_metric("link_count");
}

std::string link_text(const Selection &selection, LinkTable table, std::optional<std::uint32_t> only) {
  std::string out;
  for (const auto *device : selection.devices) {
    if (device->details == nullptr || device->details->links.empty()) continue;
    out += fmt::format("GPU {}: {} (UUID: {})\n", device->id.index, device->identity->name, device->identity->uuid);
    for (const auto &link : device->details->links) {
      if (!only || *only == link.number) out += lines_of(link, table);
    }
  }
  return out;
}

}  // namespace gpulse::view::smi
