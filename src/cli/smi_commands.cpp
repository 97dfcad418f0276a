// SPDX-License-Identifier: Apache-2.0
#include "cli/smi_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "cli/output.hpp"
#include "cli/smi_arguments.hpp"
#include "cli/smi_session.hpp"
#include "cli/smi_subcommand.hpp"
#include "view/smi/instances.hpp"
#include "view/smi/links.hpp"

namespace gpulse::cli {

namespace {

using namespace view::smi;

constexpr SubOption kHelp{"-h", "--help"};
constexpr SubOption kDevices{"-i", "--id", true};

constexpr std::array kLinkOptions{
    kHelp,
    kDevices,
    SubOption{"-l", "--link", true},
    SubOption{"-s", "--status"},
    SubOption{"-c", "--capabilities"},
    SubOption{"-p", "--pcibusid"},
    SubOption{"-R", "--remotelinkinfo"},
    SubOption{"-e", "--errorcounters"},
    SubOption{"-gt", "--getthroughput", true},
    SubOption{"-gc", "--getcontrol", false, Offer::no_more},
    SubOption{"-g", "--getcounters", false, Offer::no_more},
    SubOption{"-sc", "--setcontrol", true, Offer::no},
    SubOption{"-r", "--resetcounters", false, Offer::no},
    SubOption{"-ec", "--crcerrorcounters", false, Offer::no},
    SubOption{"-re", "--reseterrorcounters", false, Offer::no},
    SubOption{"-sLowPwrThres", "--setLowPowerThreshold", true, Offer::no},
    SubOption{"-gLowPwrInfo", "--getLowPowerInfo", false, Offer::no},
    SubOption{"-sBwMode", "--setBandwidthMode", true, Offer::no},
    SubOption{"-gBwMode", "--getBandwidthMode", false, Offer::no},
    SubOption{"-cBridge", "--checkBridge", false, Offer::no},
    SubOption{"-sLWidth", "--setLinkWidth", true, Offer::no},
    SubOption{"-gLWidth", "--getLinkWidth", false, Offer::no},
    SubOption{"-info", "--info", false, Offer::no},
};

std::optional<LinkTable> link_table(const GivenOption &given) {
  const auto full = given.option->full;
  if (full == "--status") return LinkTable::status;
  if (full == "--capabilities") return LinkTable::capabilities;
  if (full == "--pcibusid") return LinkTable::bus_ids;
  if (full == "--remotelinkinfo") return LinkTable::remote;
  if (full == "--errorcounters") return LinkTable::errors;
  if (full == "--getthroughput" && given.value == "d") return LinkTable::data;
  if (full == "--getthroughput" && given.value == "r") return LinkTable::raw;
  return std::nullopt;
}

constexpr std::array kMigOptions{
    kHelp,
    kDevices,
    SubOption{"-gi", "--gpu-instance-id", true},
    SubOption{"-ci", "--compute-instance-id", true},
    SubOption{"-lgip", "--list-gpu-instance-profiles"},
    SubOption{"-lgipp", "--list-gpu-instance-possible-placements"},
    SubOption{"-lgi", "--list-gpu-instances"},
    SubOption{"-lcip", "--list-compute-instance-profiles"},
    SubOption{"-lci", "--list-compute-instances"},
    SubOption{"-lcipp", "--list-compute-instance-possible-placements", false, Offer::no},
    SubOption{"-C", "--default-compute-instance", false, Offer::no},
    SubOption{"-cgi", "--create-gpu-instance", true, Offer::no},
    SubOption{"-dgi", "--destroy-gpu-instance", false, Offer::no},
    SubOption{"-cci", "--create-compute-instance", false, Offer::no},
    SubOption{"-dci", "--destroy-compute-instance", false, Offer::no},
};

// What to list, the first of these that is asked for.
struct Listing {
  std::string_view full;
  InstanceTable table;
};
constexpr std::array kListings{
    Listing{"--list-gpu-instance-profiles", InstanceTable::profiles},
    Listing{"--list-gpu-instance-possible-placements", InstanceTable::placements},
    Listing{"--list-gpu-instances", InstanceTable::gpu_instances},
    Listing{"--list-compute-instance-profiles", InstanceTable::compute_profiles},
    Listing{"--list-compute-instances", InstanceTable::compute_instances},
};

constexpr std::array kPolicyOptions{
    kHelp,
    kDevices,
    SubOption{"-l", "--list"},
    SubOption{"", "--set-timeslice", true, Offer::no},
};

// Subcommands of nvidia-smi that there is no counterpart for, and what comes nearest.
struct Missing {
  std::string_view name, instead;
};
constexpr std::string_view kRecorder =
    "gpulse record -o night.gpr keeps everything; gpulse --replay night.gpr --watch, gpulse top --replay night.gpr and "
    "gpulse smi --replay night.gpr dmon -c 1 show it";
constexpr std::array kMissing{
    Missing{"daemon", kRecorder},
    Missing{"replay", kRecorder},
    Missing{"clocks", "the clocks are in smi -q -d CLOCK, and -lgc, -lmc, -ac set them"},
    Missing{"encodersessions", "their number is in smi -q -d ENCODER_STATS"},
    Missing{"fbcsessions", "their number is in smi -q -d FBC_STATS"},
    Missing{"pci", "the PCIe link and its errors are in smi -q and in dmon -s et"},
    Missing{"conf-compute", "the memory that it protects is in smi -q"},
    Missing{"power-smoothing", "its values are in smi -q -d POWER_SMOOTHING"},
    Missing{"power-profiles", "those asked for and in force are in smi -q -d POWER_PROFILES"},
    Missing{"gpm", "dmon --gpm-metrics shows what it measures"},
    Missing{"drain", "use nvidia-smi itself for it"},
    Missing{"c2c", "use nvidia-smi itself for it"},
    Missing{"vgpu", "use nvidia-smi itself for it"},
    Missing{"boost-slider", "use nvidia-smi itself for it"},
    Missing{"power-hint", "use nvidia-smi itself for it"},
    Missing{"base-clocks", "use nvidia-smi itself for it"},
    Missing{"prm", "use nvidia-smi itself for it"},
};

std::vector<std::uint32_t> numbers_in(std::string_view list) {
  std::vector<std::uint32_t> numbers;
  while (!list.empty()) {
    if (const auto number = parse_integer<std::uint32_t>(trim(next_piece(list, ',')))) numbers.push_back(*number);
  }
  return numbers;
}

// Looks once at the devices of -i.
int show(const SubArguments &arguments, const Options &options, const MetricSet &needs, const auto &text) {
  auto session = SmiSession::open(options, needs);
  if (!session) return say(session.error());
  auto selection = session->look(std::string(arguments.value("--id")));
  if (!selection) return say(selection.error());
  const bool silent = session->take_out_silent(*selection);
  if (silent && selection->devices.empty()) return say({session->complaint(), kOther});
  auto shown = text(*selection);
  shown.text = session->complaint() + shown.text;
  if (silent) shown.code = kOther;
  return say(shown);
}

}  // namespace

int run_nvlink(std::span<const std::string_view> arguments, const Options &options) {
  const auto given = parse_subcommand(arguments, kLinkOptions);
  if (!given) return say(given.error());
  if (given->all().empty() || given->has("--help")) return say({nvlink_help(), kGood});
  const auto link = given->number("--link");
  if (!link) return say(link.error());
  std::vector<LinkTable> tables;
  MetricSet needs{detail_metric("link_count")};
  for (const auto &one : given->all()) {
    const auto table = link_table(one);
    if (!table || std::find(tables.begin(), tables.end(), *table) != tables.end()) continue;
    tables.push_back(*table);
    needs.add(need_of_links(*table));
  }
  return show(*given, options, needs, [&](const Selection &selection) {
    std::string text;
    for (const auto table : tables) text += link_text(selection, table, *link);
    return SmiRefusal{text, kGood};
  });
}

int run_mig(std::span<const std::string_view> arguments, const Options &options) {
  const auto given = parse_subcommand(arguments, kMigOptions);
  if (!given) return say(given.error());
  const auto listing =
      std::find_if(kListings.begin(), kListings.end(), [&](const Listing &one) { return given->has(one.full); });
  if (given->has("--help") || listing == kListings.end()) return say({mig_help(), kGood});
  const auto only = numbers_in(given->value("--gpu-instance-id"));
  return show(*given, options, needs_of_instances(listing->table), [&](const Selection &selection) {
    auto [text, code] = instance_text(selection, listing->table, only);
    return SmiRefusal{std::move(text), std::min<int>(code, kOther)};
  });
}

int run_compute_policy(std::span<const std::string_view> arguments, const Options &options) {
  const auto given = parse_subcommand(arguments, kPolicyOptions);
  if (!given) return say(given.error());
  if (given->has("--help") || !given->has("--list")) return say({compute_policy_help(), kGood});
  return show(*given, options, needs_of_policies(),
              [](const Selection &selection) { return SmiRefusal{policy_table(selection), kGood}; });
}

std::optional<int> refuse_subcommand(std::string_view name) {
  const auto found =
      std::find_if(kMissing.begin(), kMissing.end(), [&](const Missing &one) { return one.name == name; });
  if (found == kMissing.end()) return std::nullopt;
  complain(fmt::format("smi {} is not offered: {}", found->name, found->instead));
  return kOther;
}

}  // namespace gpulse::cli
