// SPDX-License-Identifier: Apache-2.0
// gpulse smi topo: how the devices reach each other, and what of the host is near.
#include <fmt/format.h>

#include <array>

#include "base/text.hpp"
#include "cli/smi_arguments.hpp"
#include "cli/smi_commands.hpp"
#include "cli/smi_session.hpp"
#include "cli/smi_subcommand.hpp"
#include "source/adapters.hpp"
#include "view/smi/paths.hpp"
#include "view/smi/peer_access.hpp"
#include "view/smi/topology.hpp"

namespace gpulse::cli {

namespace {

using namespace view::smi;

constexpr std::array kOptions{
    SubOption{"-h", "--help"},
    SubOption{"-m", "--matrix"},
    SubOption{"-mp", "--matrix_pci"},
    SubOption{"-i", "--id", true},
    SubOption{"-c", "--cpu", true},
    SubOption{"-n", "--nearest_gpus", true},
    SubOption{"-p", "--gpu_path"},
    SubOption{"-p2p", "--p2pstatus", true},
    SubOption{"-C", "--get-numa-id-of-nearby-cpu"},
    SubOption{"-M", "--get-numa-id-of-nearby-mem"},
    SubOption{"-gnid", "--gpu-numa-id"},
    SubOption{"-nvme", "--matrix_nvme", false, Offer::no},
};

// Whether a processor is in "0-15,32-47".
bool is_in(std::string_view ranges, std::uint32_t number) {
  for (const auto piece : split(ranges, ',')) {
    auto rest = piece;
    const auto first = parse_integer<std::uint32_t>(next_piece(rest, '-'));
    const auto last = rest.empty() ? first : parse_integer<std::uint32_t>(rest);
    if (first && last && *first <= number && number <= *last) return true;
  }
  return false;
}

SmiRefusal show_near(const Selection &selection, std::uint32_t processor) {
  std::string near;
  for (const auto *device : selection.devices) {
    const auto affinity = text_reading(*device, device_metric("cpu_affinity"));
    if (affinity && is_in(affinity.value(), processor))
      near += fmt::format("{}{}", near.empty() ? "" : ", ", device->id.index);
  }
  if (near.empty()) return {fmt::format("No GPUs were found to have an affinity with CPU {}.\n\n", processor), kGood};
  return {fmt::format("The GPUs that have an affinity with CPU {} are:\n{}\n\n", processor, near), kGood};
}

// Looks once at all devices, or at those of `which`.
SmiRefusal look(const Options &options, const MetricSet &needs, const auto &show, const std::string &which = "") {
  auto here = options;
  here.no_agent = true;  // an agent does not look for the ways between devices again
  auto session = SmiSession::open(here, needs);
  if (!session) return session.error();
  const auto selection = session->look(which);
  if (!selection) return selection.error();
  auto shown = show(*selection);
  shown.text = session->complaint() + shown.text;
  return shown;
}

// A recording does not tell of adapters.
std::vector<TopologyAdapter> adapters_of(const Selection &selection, const Options &options) {
  if (!options.replay.empty() || options.demo) return {};
  const Sysroot root(options.sysroot);
  const auto found = network_adapters(root);
  std::vector<PciPlace> places;
  for (const auto *device : selection.devices) places.push_back(pci_place(root, device->identity->pci.str()));
  std::vector<TopologyAdapter> adapters;
  for (const auto &one : found) {
    TopologyAdapter adapter{.name = one.name, .to_devices = {}, .to_adapters = {}};
    for (const auto &place : places) adapter.to_devices.emplace_back(path_between(place, one.place));
    for (const auto &other : found) adapter.to_adapters.emplace_back(path_between(one.place, other.place));
    adapters.push_back(std::move(adapter));
  }
  return adapters;
}

SmiRefusal show_matrix(const Options &options, bool links) {
  return look(options, needs_of_topology(links), [&](const Selection &all) {
    return SmiRefusal{topology_matrix(all, links, adapters_of(all, options)), kGood};
  });
}

// The numbers of the devices that -i gives; of all devices none.
SmiResult<std::vector<std::uint32_t>> chosen(const Selection &all, std::string_view which) {
  const auto selection = select_devices(*all.snapshot, which);
  if (!selection) return refuse("No devices were found\n", kNotFound);
  std::vector<std::uint32_t> numbers;
  for (const auto *device : selection->devices) numbers.push_back(device->id.index);
  return numbers;
}

SmiRefusal show_nearest(const Options &options, std::string_view which, std::uint32_t level) {
  constexpr std::string_view kUsage =
      "Nearest GPUs argument must be used in conjunction with the -i argument which must be a single identifier.\n\n";
  if (which.empty()) return {std::string(kUsage), kBadArgument};
  return look(options, needs_of_paths(), [&](const Selection &all) -> SmiRefusal {
    const auto devices = chosen(all, which);
    if (!devices) return devices.error();
    if (devices->size() != 1) return {std::string(kUsage), kBadArgument};
    return {nearest_text(all, devices->front(), level), kGood};
  });
}

SmiRefusal show_path(const Options &options, std::string_view which) {
  constexpr std::string_view kUsage =
      "Path command line flag must be used in conjection with the -i argument which must be two GPU identifiers.\n\n";
  if (which.empty()) return {std::string(kUsage), kBadArgument};
  return look(options, needs_of_paths(), [&](const Selection &all) -> SmiRefusal {
    const auto devices = chosen(all, which);
    if (!devices || devices->size() != 2) return {std::string(kUsage), kBadArgument};
    return {path_text(all, devices->front(), devices->back()), kGood};
  });
}

// What a command says about one device, which must be given.
struct NodeText {
  std::string_view option, missing, label;
  std::string (*value)(const Device &);
};
constexpr std::array kNodeTexts{
    NodeText{"--get-numa-id-of-nearby-cpu", "NUMA ID of nearest CPU", "NUMA IDs of closest CPU: ", near_memory},
    NodeText{"--get-numa-id-of-nearby-mem", "NUMA ID of nearest memory", "NUMA IDs of closest memory: ", near_memory},
    NodeText{"--gpu-numa-id", "GPU NUMA ID command", "", own_node},
};

SmiRefusal show_node(const Options &options, std::string_view which, const NodeText &node) {
  const auto usage = fmt::format(
      "{} must be used in conjunction with the -i argument which must be a single identifier.\n\n", node.missing);
  if (which.empty()) return {usage, kBadArgument};
  return look(
      options, needs_of_nodes(),
      [&](const Selection &selection) -> SmiRefusal {
        if (selection.devices.size() != 1) return {usage, kBadArgument};
        return {fmt::format("{}{}\n", node.label, node.value(*selection.devices.front())), kGood};
      },
      std::string(which));
}

// Each part of what was asked for, in nvidia-smi's order.
std::vector<std::function<SmiRefusal()>> parts_of(const SubArguments &given, const Options &options,
                                                  std::optional<std::uint32_t> processor,
                                                  std::optional<std::uint32_t> level,
                                                  std::optional<PeerAccess PeerStatus::*> access) {
  const auto which = given.value("--id");
  std::vector<std::function<SmiRefusal()>> parts;
  if (given.has("--matrix")) parts.emplace_back([&] { return show_matrix(options, true); });
  if (given.has("--matrix_pci")) parts.emplace_back([&] { return show_matrix(options, false); });
  if (processor) {
    parts.emplace_back([&options, processor] {
      return look(options, {device_metric("cpu_affinity")},
                  [&](const Selection &all) { return show_near(all, *processor); });
    });
  }
  if (level) parts.emplace_back([&options, which, level] { return show_nearest(options, which, *level); });
  if (given.has("--gpu_path")) parts.emplace_back([&options, which] { return show_path(options, which); });
  if (access) {
    parts.emplace_back([&options, access] {
      return look(options, needs_of_peer_access(),
                  [&](const Selection &all) { return SmiRefusal{peer_matrix(all, *access), kGood}; });
    });
  }
  for (const auto &node : kNodeTexts) {
    if (given.has(node.option))
      parts.emplace_back([&options, which, &node] { return show_node(options, which, node); });
  }
  return parts;
}

}  // namespace

int run_topo(std::span<const std::string_view> arguments, const Options &options) {
  const auto given = parse_subcommand(arguments, kOptions);
  if (!given) return say(given.error());
  if (given->all().empty() || given->has("--help")) return say({topo_help(), kGood});
  const auto processor = given->number("--cpu");
  if (!processor) return say(processor.error());
  const auto level = given->number("--nearest_gpus");
  if (!level) return say(level.error());
  if (*level && **level >= kPathLevels) {
    return say({fmt::format("Option \"{}\" is invalid for \"-n\".\n", **level), kBadArgument});
  }
  std::optional<PeerAccess PeerStatus::*> access;
  if (given->has("--p2pstatus")) {
    access = parse_peer_access(given->value("--p2pstatus"));
    if (!access) return say({"Invalid p2p capability index specified at the command-line\n", kBadArgument});
  }
  const bool about_some =
      *level || given->has("--gpu_path") ||
      std::any_of(kNodeTexts.begin(), kNodeTexts.end(), [&](const NodeText &node) { return given->has(node.option); });
  if (given->has("--id") && !about_some) {
    return say({"The -i command line argument must be used in conjunction with -n or -p.\n\n", kOther});
  }
  for (const auto &part : parts_of(*given, options, *processor, *level, access)) {
    if (const int code = say(part()); code != kGood) return code;
  }
  return kGood;
}

}  // namespace gpulse::cli
