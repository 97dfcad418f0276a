// SPDX-License-Identifier: Apache-2.0
// gpulse smi: nvidia-smi's command line over any vendor's GPUs.
#include <fmt/format.h>

#include <array>

#include "base/text.hpp"
#include "cli/drop_in.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "cli/smi_arguments.hpp"
#include "cli/smi_commands.hpp"
#include "cli/smi_session.hpp"
#include "cli/smi_set.hpp"
#include "feed/live_feed.hpp"
#include "source/registry.hpp"
#include "view/smi/log.hpp"
#include "view/smi/monitor.hpp"
#include "view/smi/table.hpp"
#include "view/smi/units.hpp"

namespace gpulse::cli {

namespace {

using namespace view::smi;

MetricSet needs_of(const SmiCommand &command) {
  switch (command.mode) {
    case SmiCommand::Mode::list:
      return needs_of_list();
    case SmiCommand::Mode::query:
      return needs_of_query(command.kind, command.fields);
    case SmiCommand::Mode::log:
      if (command.units) return {device_metric("cuda_version")};
      return needs_of_log(command.log, command.xml);
    case SmiCommand::Mode::version:
      return {device_metric("cuda_version")};
    default:
      return needs_of_table();
  }
}

std::string version_text(const Selection &selection) {
  const auto driver = driver_version(selection);
  const auto second = driver.find('.', driver.find('.') + 1);
  return fmt::format(
      "NVIDIA-SMI version  : {0}\nNVML version        : {1}\nDRIVER version      : {0}\nCUDA Version        : {2}\n",
      driver, driver.substr(0, second), cuda_version(selection));
}

std::string render(const SmiCommand &command, const Selection &selection, bool first) {
  switch (command.mode) {
    case SmiCommand::Mode::list:
      return device_list(selection);
    case SmiCommand::Mode::query: {
      const bool header = first && command.style.header;
      return (header ? query_header(command.fields) : "") +
             query_rows(command.kind, command.fields, selection, command.style);
    }
    case SmiCommand::Mode::log:
      if (command.units) return unit_log(selection, command.xml);
      return command.xml ? log_xml(selection, command.log) : log_text(selection, command.log);
    case SmiCommand::Mode::version:
      return version_text(selection);
    default:
      return table(selection);
  }
}

int run_views(const SmiCommand &command, const Options &options) {
  auto output = SmiOutput::open(command.file);
  if (!output) return say({output.error().what + "\n", kOther});
  auto session = SmiSession::open(options, needs_of(command), command.loop);
  if (!session) return say(session.error());
  bool first = true;
  return session->look(command.devices, [&] [[gnu::hot]] (const SmiResult<Selection> &selection) -> std::optional<int> {
    if (!selection) return say(selection.error());
    auto written = output->write(session->complaint());
    const bool headed = std::exchange(first, false);
    if (written && !selection->devices.empty()) written = output->write(render(command, *selection, headed));
    if (!written) return fail(written.error());
    if (command.loop) return std::nullopt;
    return session->complaint().empty() ? kGood : kLost;
  });
}

// The header comes again as often as a screen is full.
constexpr std::uint64_t kLinesPerHeader = 10;

int run_monitor(const MonitorCommand &command, const Options &options, const MetricSet &only, const std::string &header,
                const auto &lines) {
  auto output = SmiOutput::open(command.file);
  if (!output) return say({output.error().what + "\n", kOther});
  auto session = SmiSession::open(options, only, command.delay);
  if (!session) return say(session.error());
  std::uint64_t shown = 0;
  return session->look(command.devices, [&](const SmiResult<Selection> &selection) -> std::optional<int> {
    if (!selection) return say(selection.error());
    auto written = output->write(session->complaint());
    if (written && (shown == 0 || (!command.csv && shown % kLinesPerHeader == 0))) written = output->write(header);
    if (written) written = output->write(lines(*selection));
    if (!written) return fail(written.error());
    return ++shown == command.count ? std::optional(kGood) : std::nullopt;
  });
}

MonitorStyle style_of(const MonitorCommand &command) {
  return {
      .date = command.date, .time = command.time, .csv = command.csv, .names = command.names, .units = command.units};
}

int run_dmon(std::span<const std::string_view> arguments, const Options &options) {
  const auto command = parse_dmon(arguments);
  if (!command) return say(command.error());
  auto columns = device_columns(command->select);
  const auto gpm = gpm_columns(command->activities);
  if (!gpm) {
    return say({gpm.error().what + "\nCould not parse GPM metrics\nFailed to process command line \n\n", kOther});
  }
  columns.insert(columns.end(), gpm->begin(), gpm->end());
  const auto style = style_of(*command);
  return run_monitor(*command, options, needs_of_columns(columns), device_header(columns, style),
                     [&](const Selection &selection) { return device_lines(selection, columns, style); });
}

int run_pmon(std::span<const std::string_view> arguments, const Options &options) {
  const auto command = parse_pmon(arguments);
  if (!command) return say(command.error());
  const ProcessColumns columns{.use = command->select.find('u') != std::string::npos,
                               .memory = command->select.find('m') != std::string::npos};
  const auto style = style_of(*command);
  return run_monitor(*command, options, needs_of_processes(columns), process_header(columns, style),
                     [&](const Selection &selection) { return process_lines(selection, columns, style); });
}

int run_excluded() {
  const Sysroot root;
  auto sources = make_sources("nvml", root, {.events = false, .excluded_only = true});
  if (!sources) return say({sources.error().line() + "\n", kOther});
  // Left open at the end, as in open_feed().
  auto *feed = feed::make_live(std::move(*sources), root, {.rates = feed::Rates::never, .only = MetricSet{}}).release();
  const auto snapshot = first_look(*feed);
  if (!snapshot) return say({snapshot.error().line() + "\n", kOther});
  std::string out;
  for (const auto &source : (*snapshot)->sources) {
    if (!source.problem.empty()) return say({Error{source.problem, source.remedy}.line() + "\n", kOther});
    for (const auto &device : source.excluded) out += fmt::format("GPU {} (UUID: {})\n", device.pci, device.uuid);
  }
  return say({out.empty() ? "No excluded devices found.\n" : out, kGood});
}

struct Subcommand {
  std::string_view name;
  int (*run)(std::span<const std::string_view>, const Options &);
};
constexpr std::array kSubcommands{
    Subcommand{"dmon", run_dmon},     Subcommand{"pmon", run_pmon}, Subcommand{"topo", run_topo},
    Subcommand{"nvlink", run_nvlink}, Subcommand{"mig", run_mig},   Subcommand{"compute-policy", run_compute_policy},
};

}  // namespace

int run_smi(std::span<char *> arguments) {
  Options options;
  const auto rest = take_own_options(arguments, options);
  if (!rest) return fail(rest.error(), kUsage);
  const std::span<const std::string_view> words(*rest);
  if (!words.empty()) {
    for (const auto &[name, run] : kSubcommands) {
      if (words[0] == name) return run(words.subspan(1), options);
    }
    if (const auto refused = refuse_subcommand(words[0])) return *refused;
  }
  const auto command = parse_smi(words);
  if (!command) return say(command.error());
  switch (command->mode) {
    case SmiCommand::Mode::help:
      return say({smi_help(), kGood});
    case SmiCommand::Mode::help_query:
      return say({query_help(command->kind), kGood});
    case SmiCommand::Mode::excluded:
      return run_excluded();
    case SmiCommand::Mode::parse:
      return run_parse(command->file, options.columns);
    case SmiCommand::Mode::set:
      return run_smi_setting(*command, options);
    default:
      return run_views(*command, options);
  }
}

}  // namespace gpulse::cli
