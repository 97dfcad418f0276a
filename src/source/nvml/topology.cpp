// SPDX-License-Identifier: Apache-2.0
#include "source/nvml/topology.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "source/nvml/code.hpp"

namespace gpulse::nvml {

namespace {

std::string_view level_word(std::uint32_t level) {
  switch (level) {
    case 0:
      return "internal";
    case 10:
      return "PIX";
    case 20:
      return "PXB";
    case 30:
      return "PHB";
    case 40:
      return "NODE";
    case 50:
      return "SYS";
    default:
      return "?";
  }
}

std::string pcie_path(const Api &api, const Peer &from, const Peer &to) {
  std::uint32_t level = ~0U;
  if (to.handle == nullptr || api.common_ancestor(from.handle, to.handle, &level) != Return::success) return "?";
  return std::string(level_word(level));
}

// A link needs both of its ends.
int direct_links(const Peer &from, const Peer &to) {
  const auto count = [](const NvLinks &links, const std::string &pci) {
    const auto found = links.to_devices.find(pci);
    return found != links.to_devices.end() ? found->second : 0;
  };
  const int links = count(*from.links, to.pci);
  return to.links ? std::min(links, count(*to.links, from.pci)) : links;
}

// A switch connects any of its links with any other, so that the smaller number counts.
int links_through_switches(std::span<const Peer> peers, const NvLinks &from, const NvLinks &to) {
  int links = 0;
  for (const auto &[pci, count] : from.to_switches) {
    const auto other = to.to_switches.find(pci);
    const bool is_device = std::ranges::find(peers, pci, &Peer::pci) != peers.end();
    if (other != to.to_switches.end() && !is_device) links += std::min(count, other->second);
  }
  return links;
}

std::string any_path(const Api &api, std::span<const Peer> peers, const Peer &from, const Peer &to) {
  if (!from.links || to.handle == nullptr) return "?";
  if (const int links = direct_links(from, to); links > 0) return fmt::format("NV{}", links);
  if (!from.links->to_switches.empty()) {
    if (!to.links) return "?";
    const int links = links_through_switches(peers, *from.links, *to.links);
    if (links > 0) return fmt::format("NV{}", links);
  }
  return pcie_path(api, from, to);
}

template <class Path>
std::string list_paths(std::span<const Peer> peers, std::size_t device, Path path_to) {
  std::string text;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", i, i == device ? "X" : path_to(peers[i]));
  }
  return text;
}

}  // namespace

std::optional<NvLinks> read_links(const Api &api, Handle handle) {
  constexpr std::uint32_t kMaxLinks = 36;
  constexpr std::uint32_t kActive = 1;
  constexpr std::uint32_t kSwitch = 2;
  NvLinks links;
  for (std::uint32_t link = 0; link < kMaxLinks; ++link) {
    std::uint32_t state = 0;
    auto code = api.nvlink_state(handle, link, &state);
    if (try_older(code)) break;  // there are no more links
    PciInfo remote{};
    std::uint32_t type = 0;
    if (code == Return::success && state == kActive) code = api.nvlink_remote(handle, link, &remote);
    if (code == Return::success && state == kActive) code = api.nvlink_remote_type(handle, link, &type);
    // Drivers before 470 do not tell the type: what is at the address of no device is a switch.
    const bool untold = try_older(code);
    if (code != Return::success && !untold) return std::nullopt;
    if (state != kActive || remote.bus_id[0] == '\0') continue;
    const auto pci = fmt::format("{:04x}:{:02x}:{:02x}.0", remote.domain, remote.bus, remote.device);
    if (untold || type != kSwitch) ++links.to_devices[pci];
    if (untold || type == kSwitch) ++links.to_switches[pci];
  }
  return links;
}

std::string read_topology(const Api &api, std::span<const Peer> peers, std::size_t device) {
  return list_paths(peers, device, [&](const Peer &to) { return any_path(api, peers, peers[device], to); });
}

std::string read_pcie_topology(const Api &api, std::span<const Peer> peers, std::size_t device) {
  return list_paths(peers, device, [&](const Peer &to) { return pcie_path(api, peers[device], to); });
}

std::vector<PeerStatus> read_peer_access(const Api &api, std::span<const Peer> peers, std::size_t device) {
  const auto ask = [&](const Peer &peer, std::uint32_t kind) {
    auto status = static_cast<std::uint32_t>(PeerAccess::unknown);
    if (peer.handle == nullptr || api.p2p_status(peers[device].handle, peer.handle, kind, &status) != Return::success) {
      return PeerAccess::unknown;
    }
    return static_cast<PeerAccess>(std::min(status, static_cast<std::uint32_t>(PeerAccess::unknown)));
  };
  constexpr std::uint32_t kRead = 0, kWrite = 1, kLinks = 2, kAtomics = 3, kPcie = 4;
  std::vector<PeerStatus> all(peers.size());
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (i == device) continue;
    all[i] = {.read = ask(peers[i], kRead),
              .write = ask(peers[i], kWrite),
              .atomics = ask(peers[i], kAtomics),
              .links = ask(peers[i], kLinks),
              .pcie = ask(peers[i], kPcie)};
  }
  return all;
}

}  // namespace gpulse::nvml
