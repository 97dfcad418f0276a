// SPDX-License-Identifier: Apache-2.0
// nvidia-smi's command line, parsed; and its messages about arguments that it does not understand.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/smi_refusal.hpp"
#include "view/smi/log.hpp"
#include "view/smi/query.hpp"

namespace gpulse::cli {

// A setting to change, as typed.
struct SmiSetting {
  std::string_view option;  // the short form: "-pm"
  std::string value;        // empty where it takes none
  std::string typed{};      // "--persistence-mode=1"
};

struct SmiCommand {
  enum class Mode : std::uint8_t { table, list, excluded, log, query, version, help, help_query, parse, set };
  Mode mode = Mode::table;
  std::string devices;  // as -i gives them
  std::string file;     // -f; or what --parse reads
  std::optional<std::chrono::milliseconds> loop;
  view::smi::LogStyle log;
  bool xml = false;
  bool units = false;  // instead of devices
  smi::QueryKind kind = smi::QueryKind::gpu;
  std::vector<const smi::QueryField *> fields;
  view::smi::QueryStyle style;
  SmiSetting setting;
  bool yes = false;  // change settings without asking
};

SmiResult<SmiCommand> parse_smi(std::span<const std::string_view> arguments);

// dmon and pmon.
struct MonitorCommand {
  std::string devices, file;
  std::string select;  // letters
  std::string activities;
  std::chrono::seconds delay{1};
  std::optional<std::uint64_t> count;
  bool date = false, time = false, csv = false, names = true, units = true;
};
SmiResult<MonitorCommand> parse_dmon(std::span<const std::string_view> arguments);
SmiResult<MonitorCommand> parse_pmon(std::span<const std::string_view> arguments);

std::string smi_help();
std::string dmon_help();
std::string pmon_help();
std::string topo_help();
std::string nvlink_help();
std::string mig_help();
std::string compute_policy_help();

}  // namespace gpulse::cli
