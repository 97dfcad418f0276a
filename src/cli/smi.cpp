// SPDX-License-Identifier: Apache-2.0
// gpulse smi: nvidia-smi's command line over any vendor's GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"
#include "cli/drop_in.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "cli/smi_arguments.hpp"
#include "cli/smi_set.hpp"
#include "feed/live_feed.hpp"
#include "source/adapters.hpp"
#include "source/registry.hpp"
#include "view/smi/log.hpp"
#include "view/smi/monitor.hpp"
#include "view/smi/table.hpp"
#include "view/smi/topology.hpp"

namespace gpulse::cli {

namespace {

using namespace view::smi;

// Where the output goes: the standard output, or a file that is written anew.
class Output {
 public:
  static Result<Output> open(const std::string &file) {
    Output output;
    if (file.empty()) return output;
    output.file_ = std::fopen(file.c_str(), "w");
    if (output.file_ == nullptr) return failure(fmt::format("Failed to open file {} for writing.", file));
    return output;
  }
  Result<void> write(std::string_view text) {
    if (file_ == nullptr) return write_out(text);
    const bool good = std::fwrite(text.data(), 1, text.size(), file_) == text.size() && std::fflush(file_) == 0;
    if (!good) return failure("cannot write to the file");
    return {};
  }

 private:
  std::FILE *file_ = nullptr;  // open until the program ends
};

// A session of one command: looks again and again, each time at what it needs and no more.
class Session {
 public:
  // `pace`: between two looks; none: there is only one.
  static SmiResult<Session> open(const Options &options, const MetricSet &only,
                                 std::optional<std::chrono::nanoseconds> pace = std::nullopt) {
    auto reading = feed_options(options);
    reading.only = only;
    reading.rates = feed::Rates::if_needed;
    reading.either_limit = true;
    reading.window = std::chrono::milliseconds(110);
    reading.interval = pace.value_or(reading.interval);
    reading.all_each_time = true;
    const auto feed = open_feed(reading);
    if (!feed) return std::unexpected(SmiRefusal{feed.error().line() + "\n", kOther});
    return Session(**feed, pace);
  }

  // Looks once, or again and again until `show` gives an exit code. The snapshot of a selection stays until the next
  // look.
  int look(const std::string &which, const std::function<std::optional<int>(const SmiResult<Selection> &)> &show) {
    auto snapshot = pace_ && feed_->is_live() ? first_next(*feed_, {}) : first_look(*feed_);
    std::optional<int> code;
    const auto take = [&](const SnapshotPtr &sample) {
      code = show(select(sample, which));
      return !code.has_value();
    };
    if (!snapshot) return say({snapshot.error().line() + "\n", kOther});
    if (!take(*snapshot) || !pace_) return code.value_or(kGood);
    if (feed_->is_live()) {
      const auto followed = feed_->follow({}, take);
      return followed ? code.value_or(kGood) : say({followed.error().line() + "\n", kOther});
    }
    // A recording stands still: it is shown at this pace, as it is.
    auto due = monotonic_now();
    do {
      due = next_turn(due, *pace_, monotonic_now());
      sleep_until(due);
    } while (take(*snapshot));
    return code.value_or(kGood);
  }
  SmiResult<Selection> look() {
    const auto snapshot = first_look(*feed_);
    if (!snapshot) return std::unexpected(SmiRefusal{snapshot.error().line() + "\n", kOther});
    return select(*snapshot, "");
  }
  // What is to be said of devices that are gone; empty when all are there.
  const std::string &complaint() const { return complaint_; }

 private:
  Session(feed::Feed &feed, std::optional<std::chrono::nanoseconds> pace) : feed_(&feed), pace_(pace) {}

  SmiResult<Selection> select(const SnapshotPtr &snapshot, const std::string &which) {
    snapshot_ = snapshot;
    auto selection = select_devices(*snapshot_, which);
    if (snapshot_->devices.empty()) return std::unexpected(nothing_found(*snapshot_));
    if (!selection) return std::unexpected(SmiRefusal{"No devices were found\n", kNotFound});
    if (selection->devices.empty()) return std::unexpected(nothing_found(*snapshot_));
    return take_out_lost(std::move(*selection));
  }

  Selection take_out_lost(Selection selection) {
    complaint_.clear();
    std::erase_if(selection.devices, [&](const Device *device) {
      if (device->state != DeviceState::lost) return false;
      const auto &why = device->row[device_metric("memory_total_bytes")];
      complaint_ += fmt::format(
          "Unable to determine the device handle for GPU{}: {}: {}\n", device->id.index, bus_id(*device),
          why.is(Reason::error) ? driver_words(why.code()) : "GPU is lost.  Reboot the system to recover this GPU");
      return true;
    });
    return selection;
  }

  feed::Feed *feed_;
  std::optional<std::chrono::nanoseconds> pace_;
  SnapshotPtr snapshot_;
  std::string complaint_;
};

MetricSet needs_of(const SmiCommand &command) {
  switch (command.mode) {
    case SmiCommand::Mode::list:
      return needs_of_list();
    case SmiCommand::Mode::query:
      return needs_of_query(command.kind, command.fields);
    case SmiCommand::Mode::log:
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
      return command.xml ? log_xml(selection, command.log) : log_text(selection, command.log);
    case SmiCommand::Mode::version:
      return version_text(selection);
    default:
      return table(selection);
  }
}

int run_views(const SmiCommand &command, const Options &options) {
  auto output = Output::open(command.file);
  if (!output) return say({output.error().what + "\n", kOther});
  auto session = Session::open(options, needs_of(command), command.loop);
  if (!session) return say(session.error());
  bool first = true;
  return session->look(command.devices, [&](const SmiResult<Selection> &selection) -> std::optional<int> {
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
  auto output = Output::open(command.file);
  if (!output) return say({output.error().what + "\n", kOther});
  auto session = Session::open(options, only, command.delay);
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

int run_near_processor(std::string_view word, const Options &options) {
  const auto number = parse_integer<std::uint32_t>(word);
  if (!number) return say({fmt::format("\"{}\" is not a valid CPU number.\n", Text(word)), kUsage});
  auto session = Session::open(options, {device_metric("cpu_affinity")});
  if (!session) return say(session.error());
  const auto selection = session->look();
  if (!selection) return say(selection.error());
  std::string near;
  for (const auto *device : selection->devices) {
    const auto affinity = text_reading(*device, device_metric("cpu_affinity"));
    if (affinity && is_in(affinity.value(), *number))
      near += fmt::format("{}{}", near.empty() ? "" : ", ", device->id.index);
  }
  return say({fmt::format("The GPUs that have an affinity with CPU {} are:\n{}\n\n", *number, near), kGood});
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

int run_topo(std::span<const std::string_view> arguments, const Options &options) {
  const auto word = arguments.empty() ? std::string_view("-h") : arguments[0];
  if (word == "-h" || word == "--help") return say({topo_help(), kGood});
  if ((word == "-c" || word == "--cpu") && arguments.size() == 2) return run_near_processor(arguments[1], options);
  const bool matrix = word == "-m" || word == "--matrix";
  const bool pci = word == "-mp" || word == "--matrix_pci";
  if (!matrix && !pci) return say({fmt::format("Option \"{}\" is not recognized.\n", Text(word)), kUsage});
  if (arguments.size() > 1) {
    return say({"The -i command line argument must be used in conjunction with -n or -p.\n\n", kOther});
  }
  auto session = Session::open(options, needs_of_topology(matrix));
  if (!session) return say(session.error());
  const auto selection = session->look();
  if (!selection) return say(selection.error());
  return say({session->complaint() + topology_matrix(*selection, matrix, adapters_of(*selection, options)), kGood});
}

}  // namespace

int run_smi(std::span<char *> arguments) {
  Options options;
  const auto rest = take_own_options(arguments, options);
  if (!rest) return fail(rest.error(), kUsage);
  const std::span<const std::string_view> words(*rest);
  if (!words.empty()) {
    if (words[0] == "dmon") return run_dmon(words.subspan(1), options);
    if (words[0] == "pmon") return run_pmon(words.subspan(1), options);
    if (words[0] == "topo") return run_topo(words.subspan(1), options);
    if (words[0] == "daemon" || words[0] == "replay") return say({daemon_words(), kOther});
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
