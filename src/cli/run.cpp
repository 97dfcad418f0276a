// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "cli/child_command.hpp"
#include "cli/output.hpp"
#include "cli/process_tree.hpp"
#include "cli/session.hpp"
#include "insight/job_findings.hpp"
#include "insight/job_price.hpp"
#include "insight/job_report.hpp"
#include "insight/review.hpp"
#include "sink/replaced_file.hpp"
#include "view/job_report.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;

// Short jobs deserve a closer look; a long one must not pay for it.
constexpr auto kFine = 250ms, kCoarse = 1000ms;
constexpr auto kFineFor = 30s;
// A look after the end of the job, for what counters say then. Its exit status waits no longer than this.
constexpr auto kLastLook = 1s;
constexpr const char *kMark = "GPULSE_RUN";

sink::ReplacedFile::Target target_of(const Options &options, const std::string &path, std::string_view head) {
  return {.path = path, .existing = options.force ? sink::Existing::overwrite : sink::Existing::refuse, .head = head};
}
sink::ReplacedFile::Target html_target(const Options &options) {
  return target_of(options, options.html_to, view::kJobHtmlHead);
}
sink::ReplacedFile::Target json_target(const Options &options) {
  return target_of(options, options.json_to, view::kJobJsonHead);
}
bool wants_json_file(const Options &options) { return !options.json_to.empty() && options.json_to != "-"; }

// Whether the reports can be written, before the job runs for days.
Result<void> check_files(const Options &options) {
  if (!options.html_to.empty()) {
    if (const auto good = sink::ReplacedFile::open(html_target(options)); !good) return std::unexpected(good.error());
  }
  if (wants_json_file(options)) {
    if (const auto good = sink::ReplacedFile::open(json_target(options)); !good) return std::unexpected(good.error());
  }
  return {};
}

Result<void> write_file(const sink::ReplacedFile::Target &target, std::string_view text) {
  auto file = sink::ReplacedFile::open(target);
  return file ? file->write(text) : std::unexpected(file.error());
}

// Everything that is known of the job while it runs. The feed's thread adds to it, then the main one reads it.
class Observation {
 public:
  Observation(std::uint32_t pid, std::string mark, WallTime begin, std::chrono::nanoseconds interval)
      : tree_(pid, std::move(mark)), reporter_(begin, interval) {}

  void add(const Snapshot &sample) {
    const auto now = monotonic_now();
    // Once a second is enough for what /proc tells.
    const bool look = is_over_ || now >= next_use_;
    if (look && !is_over_) {
      use_ = tree_.use(now);
      next_use_ = now + kCoarse;
    }
    const auto is_ours = [&](const Process &process) { return tree_.contains(process); };
    reporter_.add(sample, is_ours, look ? std::optional(use_) : std::nullopt);
    if (const auto part = reporter_.part_of(sample)) {
      review_.add(part);
      is_judged_ = true;
    }
    any_ = true;
    hangs_ = false;
    for (const auto &device : sample.devices) hangs_ = hangs_ || device.state == DeviceState::not_responding;
    if (sample.devices.empty()) absence_ = Error{absence_words(sample), absence(sample)}.line();
  }
  // The job is over, but its number is still its own.
  void add_end() {
    use_ = tree_.use(monotonic_now());
    if (use_.processes == 0) use_.memory_bytes = Reason::not_sampled;
    is_over_ = true;
  }

  // Nothing to compare another sample with, or a driver that would not answer.
  bool is_done() const { return hangs_ || !any_; }
  insight::JobReport report(WallTime end, const CommandEnd &how) {
    auto report = reporter_.report(end, {.code = how.code, .signal = how.signal});
    report.use = use_;
    report.left_running = use_.processes;
    if (!report.gpus_found) report.absence = absence_;
    insight::finish(report, is_judged_ ? std::optional(review_.end()) : std::nullopt);
    return report;
  }

 private:
  ProcessTree tree_;
  insight::JobReporter reporter_;
  insight::Review review_;
  bool is_judged_ = false;
  insight::JobUse use_{};
  Monotonic next_use_{};
  bool any_ = false, hangs_ = false, is_over_ = false;
  std::string absence_;
};

// Asks for a stop after so long, unless it is gone before.
class Deadline {
 public:
  explicit Deadline(std::chrono::nanoseconds time)
      : thread_([stop = stop_, until = monotonic_now() + time](const std::stop_token &gone) mutable {
          if (sleep_until(until, gone)) stop.request_stop();
        }) {}
  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::jthread thread_;
};

Result<void> follow(feed::Feed &feed, const Options &options, Observation &seen, const std::stop_token &stop) {
  const auto take = [&](const SnapshotPtr &sample) {
    seen.add(*sample);
    return true;
  };
  if (options.run_interval) return feed.follow(stop, take);
  const auto fine_until = monotonic_now() + kFineFor;
  const auto take_some = [&](const SnapshotPtr &sample) { return take(sample) && monotonic_now() < fine_until; };
  if (const auto good = feed.follow(stop, take_some); !good || stop.stop_requested()) return good;
  feed.set_interval(kCoarse);
  return feed.follow(stop, take);
}

// Samples until the job ends; an error is that of the sampling, never of the job.
Result<void> observe(const Options &options, Observation &seen, const std::stop_token &over) {
  auto reading = feed_options(options);
  reading.interval = options.run_interval.value_or(kFine);
  reading.continuous = true;
  reading.instances = true;
  const auto feed = open_feed(reading, over);
  if (!feed) return std::unexpected(feed.error());
  const auto followed = follow(**feed, options, seen, over);
  seen.add_end();
  if (!followed) return followed;
  if (seen.is_done()) return {};
  const Deadline deadline(kLastLook);
  const auto last = (*feed)->again(deadline.token());
  if (last && *last != nullptr) seen.add(**last);
  return {};
}

void write_reports(const insight::JobReport &report, const Options &options) {
  const auto price = insight::parse_price(options.price);
  const view::JobReportOptions how{.style = style_of(options, STDERR_FILENO),
                                   .price = options.price.empty() ? std::nullopt : price};
  if (!options.quiet) tell(view::render_job_report(report, how));
  const auto complain_of = [](const Result<void> &written) {
    if (!written) complain(written.error().line());
  };
  if (!options.html_to.empty()) complain_of(write_file(html_target(options), view::job_report_html(report, how)));
  if (options.json_to.empty()) return;
  const auto json = view::job_report_json(report, how);
  complain_of(wants_json_file(options) ? write_file(json_target(options), json) : write_out(json));
}

std::string make_mark() {
  const auto value = fmt::format("{}.{}", ::getpid(), wall_now().time_since_epoch().count());
  ::setenv(kMark, value.c_str(), 1);
  return fmt::format("{}={}", kMark, value);
}

}  // namespace

int run_run(const Options &options) {
  if (options.command.empty()) {
    return fail({"no job is given", "gpulse run [options] -- PROGRAM …"}, kUsage);
  }
  if (!options.html_to.empty() && options.html_to == options.json_to) {
    return fail({"--html and --json name the same file"}, kUsage);
  }
  if (const auto good = ChildCommand::check(options.command); !good) return fail(good.error(), kNotFound);
  if (const auto good = check_files(options); !good) return fail(good.error());
  auto mark = make_mark();
  ChildCommand child;
  // When the job ended, whatever is being waited for then.
  std::atomic<std::int64_t> ended{0};
  const std::stop_source over;
  const std::stop_callback note_end(over.get_token(), [&] { ended = wall_now().time_since_epoch().count(); });
  const auto begin = wall_now();
  if (const auto begun = child.start(options.command, over); !begun) return fail(begun.error(), kCannotRun);
  Observation seen(static_cast<std::uint32_t>(child.pid()), std::move(mark), begin,
                   options.run_interval.value_or(kFine));
  const auto observed = observe(options, seen, over.get_token());
  if (!observed) complain(observed.error().line());
  const auto how = child.wait();
  seen.add_end();
  // The one that notes it may be a moment late.
  const auto end = ended != 0 ? WallTime(std::chrono::nanoseconds(ended)) : wall_now();
  auto report = seen.report(end, how);
  report.command = options.command;
  if (!observed) report.absence = observed.error().line();
  write_reports(report, options);
  return how.code;
}

}  // namespace gpulse::cli
