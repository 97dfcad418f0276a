// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "base/counted.hpp"
#include "base/process_handle.hpp"
#include "cli/child_command.hpp"
#include "cli/output.hpp"
#include "cli/process_tree.hpp"
#include "cli/session.hpp"
#include "metric/format.hpp"
#include "model/select.hpp"
#include "pick/visible.hpp"
#include "sink/sink.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;

sink::Existing existing_of(const Options &options) {
  if (options.append) return sink::Existing::append;
  return options.force ? sink::Existing::overwrite : sink::Existing::refuse;
}

Result<sink::RotationOptions> rotation_of(const Options &options) {
  sink::RotationOptions rotation;
  if (options.rotate_size > 0) rotation.bytes = options.rotate_size;
  if (options.rotate_time) {
    if (*options.rotate_time < 1s) return failure("--rotate-time is too short", "1s is the least");
    rotation.time = *options.rotate_time;
  }
  if (options.keep && !rotation.wanted()) return failure("--keep needs --rotate-size or --rotate-time");
  if (options.keep) rotation.keep = *options.keep;
  return rotation;
}

// An error is wrong usage.
Result<sink::SinkOptions> sink_options(const Options &options) {
  sink::SinkOptions to{.format = *sink::parse_format(options.format),
                       .path = options.output.empty() ? "-" : options.output,
                       .fields = options.fields,
                       .run = options.run,
                       .existing = existing_of(options),
                       .keep_newest = options.count.has_value()};
  const bool folder = to.format == sink::Format::tensorboard;
  if (folder && to.path == "-") return failure("--format tensorboard needs -o DIR", "TensorBoard's log directory");
  if (folder && (options.append || options.force)) {
    return failure("--append and --force are for files", "a TensorBoard run that is there is never touched");
  }
  const bool newest = to.format == sink::Format::prometheus;
  if (newest && to.path == "-" && options.count != 1) {
    return failure("--format prometheus needs -o FILE", "or --count 1, for one sample on the standard output");
  }
  if (newest && options.append) return failure("--append is for csv and jsonl", "Prometheus gets the newest sample");
  if (options.append && to.path == "-") return failure("--append needs a file", "the standard output is none");
  const auto rotation = rotation_of(options);
  if (!rotation) return std::unexpected(rotation.error());
  to.rotation = *rotation;
  if (!options.command.empty() && options.pid) return failure("--pid and a command do not go together");
  if (!options.command.empty() && options.output.empty()) {
    return failure("a command needs -o FILE", "the standard output is the command's");
  }
  return to;
}

// The devices that the process and those that it started are on.
std::vector<const Device *> devices_of(const Snapshot &snapshot, std::uint32_t pid) {
  std::vector<const Device *> found;
  for (const auto &device : snapshot.devices) {
    const auto is_there = [&](const Process &process) {
      return process.device == device.id && !process.foreign && descends_from(process.pid, pid);
    };
    if (device.identity != nullptr && std::ranges::any_of(snapshot.processes, is_there)) found.push_back(&device);
  }
  return found;
}

// The devices that the environment lets a command see, if it hides any.
void choose_visible_devices(const Snapshot &snapshot, sink::SinkOptions &to) {
  const auto visible = pick::visible(snapshot.devices, pick::own_environment());
  if (visible.method == pick::Method::no_mask) return;
  if (visible.uncertain) return complain("which GPUs the command sees cannot be told: all are logged");
  if (visible.allowed.empty()) return complain("the environment hides every GPU from the command: all are logged");
  std::vector<std::string> ids;
  for (const auto position : visible.allowed) {
    const auto &device = snapshot.devices[position];
    if (device.identity == nullptr) continue;
    to.devices.push_back(device.identity->uuid);
    ids.push_back(text(device.id));
  }
  std::ranges::sort(ids);
  complain(fmt::format("the command sees GPU {}: no other is logged", fmt::join(ids, ", ")));
}

void choose_devices_of(std::uint32_t pid, const Snapshot &snapshot, sink::SinkOptions &to) {
  std::vector<std::string> ids;
  for (const auto *device : devices_of(snapshot, pid)) {
    to.devices.push_back(device->identity->uuid);
    ids.push_back(text(device->id));
  }
  complain(ids.empty() ? fmt::format("process {} is on no GPU that can be told: all are logged", pid)
                       : fmt::format("process {} is on GPU {}: no other is logged", pid, fmt::join(ids, ", ")));
}

Result<void> choose_devices(const Options &options, const SnapshotPtr &snapshot, sink::SinkOptions &to) {
  if (!options.devices.empty() && !snapshot->devices.empty()) {
    const auto part = select_devices(snapshot, options.devices);
    if (!part) return std::unexpected(part.error());
    for (const auto &device : (*part)->devices) {
      if (device.identity != nullptr) to.devices.push_back(device.identity->uuid);
    }
  } else if (options.pid) {
    choose_devices_of(*options.pid, *snapshot, to);
  } else if (!options.command.empty()) {
    choose_visible_devices(*snapshot, to);
  }
  return {};
}

// Asks for a stop when the process is over.
void watch(ProcessHandle process, std::stop_source stop) {
  std::thread([process = std::move(process), stop = std::move(stop)]() mutable {
    while (process.alive() && sleep_until(monotonic_now() + 50ms, stop.get_token())) {
    }
    stop.request_stop();
  }).detach();
}

feed::Options reading_for(const Options &options, std::optional<MetricSet> needs) {
  auto reading = feed_options(options);
  reading.continuous = true;
  reading.instances = true;
  // Who is on which device.
  if (needs && options.pid) needs->add_roles(Scope::process, {Role::memory_used});
  reading.only = needs;
  return reading;
}

class Log {
 public:
  Log(const Options &options, sink::Sink &sink, bool with_progress)
      : options_(options), sink_(sink), progress_(with_progress && ::isatty(STDERR_FILENO) == 1) {}

  // Of the processes, only those of this one.
  void follow(std::uint32_t pid) { tree_.emplace(pid); }

  // False: it was the last.
  bool write(const Snapshot &sample) {
    written_ = tree_ ? sink_.write(tree_->part_of(sample)) : sink_.write(sample);
    if (!written_) return false;
    ++samples_;
    tell_complaint();
    if (progress_) tell(fmt::format("\r{}, {} \x1b[K", samples(), size()));
    return !(options_.count && samples_ >= *options_.count) &&
           !(options_.duration && monotonic_now() - begun_ >= *options_.duration);
  }

  Result<void> end() {
    std::optional<SlowNotice> notice;
    if (options_.rotate_size > 0 || options_.rotate_time) notice.emplace("old files are still being compressed …");
    const auto closed = sink_.close();
    tell_complaint();
    return written_ ? closed : written_;
  }
  void sum_up(bool gone) const {
    tell(fmt::format("{}logged {}, {}, in {}{}\n", progress_ ? "\r\x1b[K" : "gpulse: ", samples(), size(),
                     Text(sink_.place()), gone ? ", which is removed: its values would be old" : ""));
  }

 private:
  void tell_complaint() {
    const auto complaint = sink_.take_complaint();
    if (!complaint) return;
    if (progress_) tell("\r\x1b[K");
    complain(complaint->line());
  }
  std::string samples() const { return counted(samples_, "sample"); }
  std::string size() const { return format_bytes(static_cast<double>(sink_.size())); }

  const Options &options_;
  sink::Sink &sink_;
  bool progress_;
  std::optional<ProcessTree> tree_;
  Monotonic begun_ = monotonic_now();
  std::uint64_t samples_ = 0;
  Result<void> written_;
};

// Samples until the end, and the command where there is one.
int log_all(const Options &options, feed::Feed &feed, const SnapshotPtr &first, sink::Sink &sink, ChildCommand *child,
            const std::stop_source &stop) {
  if (child != nullptr) {
    if (const auto begun = child->start(options.command, stop); !begun) return fail(begun.error(), kCannotRun);
  }
  const bool standard = options.output.empty() || options.output == "-";
  Log log(options, sink, child == nullptr && !standard);
  // Nothing else shows processes.
  if (options.format == sink::word(sink::Format::jsonl)) {
    if (options.pid) log.follow(*options.pid);
    if (child != nullptr) log.follow(static_cast<std::uint32_t>(child->pid()));
  }
  const auto take = [&](const SnapshotPtr &sample) { return log.write(*sample); };
  const auto followed = take(first) ? feed.follow(stop.get_token(), take) : Result<void>{};
  const auto ended = log.end();
  // The command goes on without us where the log cannot.
  const int code = child != nullptr ? child->wait().code : kGood;
  if (!ended || !followed) {
    const int failed = fail(ended ? followed.error() : ended.error());
    return child != nullptr ? code : failed;
  }
  const bool gone = options.format == sink::word(sink::Format::prometheus) && !options.count;
  if (!standard) log.sum_up(gone);
  return child == nullptr && first->devices.empty() ? kNoDevice : code;
}

}  // namespace

int run_log(const Options &options) {
  auto to = sink_options(options);
  if (!to) return fail(to.error(), kUsage);
  const auto needs = sink::needs_of(*to);
  if (!needs) return fail(needs.error(), kUsage);
  if (const auto good = sink::check_target(*to); !good) return fail(good.error());
  if (is_same_file(options.replay, to->path)) {
    return fail({fmt::format("{} cannot be logged into itself", to->path), "choose another file"});
  }
  std::optional<ChildCommand> child;
  if (!options.command.empty()) {
    if (const auto good = ChildCommand::check(options.command); !good) return fail(good.error(), kNotFound);
    child.emplace();
  }
  const auto asked = child ? child->stop() : stop_on_signals();
  std::stop_source stop;
  const std::stop_callback passed_on(asked, [&] { stop.request_stop(); });
  if (options.pid) {
    auto process = ProcessHandle::open(*options.pid, std::nullopt);
    if (!process) return fail({fmt::format("cannot log process {}", *options.pid), process.error().line()});
    watch(std::move(*process), stop);
  }
  const auto opened = open_feed(reading_for(options, *needs), stop.get_token());
  if (!opened) return fail(opened.error());
  const auto first = first_next(**opened, stop.get_token());
  if (!first) return fail(first.error());
  const auto nothing = [] { return fail({"nothing was logged"}); };
  if (*first == nullptr) return nothing();
  if ((*first)->devices.empty()) complain(Error{absence_words(**first), absence(**first)}.line());
  if (const auto chosen = choose_devices(options, *first, *to); !chosen) return fail(chosen.error(), kUsage);
  auto sink = [&] {
    const SlowNotice notice(fmt::format("waiting for a reader of {} …", to->path));
    return sink::open(*to, stop.get_token());
  }();
  if (!sink) return stop.stop_requested() ? nothing() : fail(sink.error());
  return log_all(options, **opened, *first, **sink, child ? &*child : nullptr, stop);
}

}  // namespace gpulse::cli
