// SPDX-License-Identifier: Apache-2.0
#include "view/smi/peer_access.hpp"

#include <fmt/format.h>

#include <array>

namespace gpulse::view::smi {

namespace {

struct Letter {
  std::string_view letter;
  PeerAccess PeerStatus::*kind;
};
constexpr std::array kLetters{Letter{"r", &PeerStatus::read}, Letter{"w", &PeerStatus::write},
                              Letter{"n", &PeerStatus::links}, Letter{"a", &PeerStatus::atomics},
                              Letter{"p", &PeerStatus::pcie}};

std::string_view word_of(PeerAccess access) {
  switch (access) {
    case PeerAccess::ok:
      return "OK";
    case PeerAccess::no_chipset:
      return "CNS";
    case PeerAccess::no_device:
      return "GNS";
    case PeerAccess::no_topology:
      return "TNS";
    case PeerAccess::disabled:
      return "DR";
    case PeerAccess::unsupported:
      return "NS";
    case PeerAccess::unknown:
      break;
  }
  return "U";
}

}  // namespace

std::optional<PeerAccess PeerStatus::*> parse_peer_access(std::string_view letter) {
  for (const auto &[known, kind] : kLetters) {
    if (known == letter) return kind;
  }
  return std::nullopt;
}

MetricSet needs_of_peer_access() { return {detail_metric("peer_access")}; }

std::string peer_matrix(const Selection &selection, PeerAccess PeerStatus::*kind) {
  const auto &devices = selection.devices;
  std::string out = " \t\x1B[4m";
  for (const auto *device : devices) out += fmt::format("GPU{}\t", device->id.index);
  out += "\x1B[0m\n";
  for (std::size_t i = 0; i < devices.size(); ++i) {
    out += fmt::format(" GPU{}\t", devices[i]->id.index);
    const auto &peers = devices[i]->identity->peers;
    for (std::size_t j = 0; j < devices.size(); ++j) {
      const auto access = j < peers.size() ? peers[j].*kind : PeerAccess::unknown;
      out += fmt::format("{}\t", i == j ? "X" : word_of(access));
    }
    out += '\n';
  }
  return out +
         "\nLegend:\n\n"
         "  X    = Self\n"
         "  OK   = Status Ok\n"
         "  CNS  = Chipset not supported\n"
         "  GNS  = GPU not supported\n"
         "  TNS  = Topology not supported\n"
         "  NS   = Not supported\n"
         "  U    = Unknown\n";
}

}  // namespace gpulse::view::smi
