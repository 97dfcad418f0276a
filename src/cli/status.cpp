// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "cli/choice.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "insight/needs.hpp"
#include "insight/watch.hpp"
#include "view/csv.hpp"
#include "view/json.hpp"
#include "view/status.hpp"

namespace gpulse::cli {

namespace {

using Findings = std::vector<insight::Finding>;

// What is wrong with the time before the sample that is shown, as far as anybody has seen it: an agent, or the command
// itself.
class PastJudge {
 public:
  PastJudge(feed::Feed &feed, bool watch) : feed_(feed), watches_(watch) {}

  // Null: there is nothing to judge.
  const Findings *judge(const SnapshotPtr &sample) { return watches_ ? watch(sample) : ask_agent(); }

 private:
  const Findings *ask_agent() {
    auto found = feed_.findings();
    return found ? keep(std::move(*found)) : nullptr;
  }

  const Findings *watch(const SnapshotPtr &sample) {
    if (!std::exchange(begun_, true)) {
      for (const auto &earlier : past_until(*sample)) watch_.add(earlier);
    }
    watch_.add(sample);
    if (watch_.last().samples == 0) return nullptr;
    Findings all;
    for (const auto &lasting : watch_.current()) all.push_back(lasting.finding);
    return keep(std::move(all));
  }

  std::vector<SnapshotPtr> past_until(const Snapshot &sample) {
    auto samples = feed_.past();
    std::erase_if(samples, [&](const SnapshotPtr &one) { return one->time >= sample.time; });
    return samples;
  }

  // Views are silent about what is well.
  const Findings *keep(Findings all) {
    std::erase_if(all, [](const insight::Finding &finding) { return finding.weight == insight::Weight::ok; });
    findings_ = std::move(all);
    return &findings_;
  }

  feed::Feed &feed_;
  bool watches_;
  bool begun_ = false;
  insight::Watch watch_;
  Findings findings_;
};

// Of the devices that are shown.
Findings of_devices(const Findings &all, const Snapshot &shown) {
  Findings chosen;
  for (const auto &finding : all) {
    const auto is_shown = [&](const DeviceId &id) {
      return std::ranges::find(shown.devices, id, &Device::id) != shown.devices.end();
    };
    if (std::ranges::any_of(finding.devices, is_shown)) chosen.push_back(finding);
  }
  return chosen;
}

class StatusWriter {
 public:
  static Result<StatusWriter> make(const Options &options) {
    StatusWriter writer(options);
    if (options.json) {
      auto fields = view::json_fields(options.fields);
      if (!fields) return std::unexpected(fields.error());
      if (!options.fields.empty()) writer.fields_ = *fields;
      return writer;
    }
    auto columns = view::csv_columns(options.fields);
    if (!columns) return std::unexpected(columns.error());
    writer.columns_ = std::move(*columns);
    return writer;
  }

  // What has to be read; none: everything.
  std::optional<MetricSet> needs() const {
    if (fields_) return view::needs_of_json(*fields_);
    if (options_.json || (options_.fast && options_.fields.empty())) return std::nullopt;
    // What is watched is judged too, and that takes more than what is shown.
    auto needs = options_.csv ? view::needs_of_csv(columns_) : view::needs_of_status();
    if (options_.watch && shows_findings()) needs.add(insight::needs_of_findings());
    return needs;
  }

  // Nobody pays for what was not asked for.
  bool shows_findings() const { return !options_.csv && !fields_; }

  bool on_screen() const { return options_.watch && !options_.json && !options_.csv && terminal_; }

  // Until the next call.
  std::string_view render(const Snapshot &snapshot, const Findings *findings, const std::string &absence) {
    auto &out = text_;
    out.clear();
    if (options_.json) {
      const bool pretty = terminal_ && !options_.watch;
      view::write_json(
          snapshot, out,
          {.pretty = pretty, .only = fields_ ? &*fields_ : nullptr, .memory = &memory_, .findings = findings});
      if (!pretty) out += '\n';
    } else if (options_.csv) {
      if (first_) view::write_csv_header(columns_, out);
      view::write_csv(snapshot, columns_, out);
    } else {
      const auto style = page_style();
      if (!first_ && !on_screen()) out += '\n';
      out += view::render_status(snapshot, {.style = style,
                                            .height = on_screen() ? term::terminal_rows(STDOUT_FILENO) : 0,
                                            .findings = findings,
                                            .absence = absence});
    }
    first_ = false;
    return out;
  }

 private:
  explicit StatusWriter(const Options &options) : options_(options), terminal_(::isatty(STDOUT_FILENO) == 1) {}

  // What reads a pipe looks for words, and finds none that have been cut off.
  term::Style page_style() const {
    auto style = style_of(options_, STDOUT_FILENO);
    const bool any_width = !terminal_ && options_.width == 0 && std::getenv("COLUMNS") == nullptr;
    if (any_width) style.width = view::kUncut;
    return style;
  }

  Options options_;
  bool terminal_;
  bool first_ = true;
  std::string text_;
  std::vector<view::CsvColumn> columns_;
  std::optional<MetricSet> fields_;  // of JSON; none: all
  view::JsonMemory memory_;
};

// Says in one line why there is no device; the table then need not.
[[gnu::cold]] SnapshotPtr explain_absence(const SnapshotPtr &snapshot) {
  complain(Error{absence_words(*snapshot), absence(*snapshot)}.line());
  auto plain = std::make_shared<Snapshot>(*snapshot);
  auto sources = plain->sources.get();
  for (auto &source : sources) source.problem = {};
  plain->sources = std::move(sources);
  return plain;
}

// The host alone, until there is something to show.
SnapshotPtr without_devices(const Snapshot &sample) {
  auto rest = std::make_shared<Snapshot>(sample);
  rest->devices.clear();
  rest->processes.clear();
  return rest;
}

}  // namespace

int run_status(const Options &options) {
  if (!options.fields.empty() && !options.json && !options.csv) return fail({"--fields needs --csv or --json"}, kUsage);
  auto writer = StatusWriter::make(options);
  if (!writer) return fail(writer.error(), kUsage);
  const auto stop = options.watch ? stop_on_signals() : std::stop_token{};
  auto reading = feed_options(options);
  reading.only = writer->needs();
  if (reading.only && Choice(options, true).chooses_processes()) {
    reading.only->add_roles(Scope::process, {Role::user, Role::memory_used});
    reading.only->add_roles(Scope::device, {Role::process_count});
  }
  reading.instances = true;
  // Fields that are named need no second reading unless one of them is a rate.
  if (!options.fields.empty()) reading.rates = feed::Rates::if_needed;
  if (options.fast) reading.rates = feed::Rates::never;
  reading.continuous = options.watch;
  // An agent's rates are over its own window.
  if (options.window != Options{}.window) reading.agent = false;
  const auto opened = open_feed(reading, stop);
  if (!opened) return fail(opened.error());
  auto &feed = **opened;
  // Taken down in reverse order: the last picture is left on a terminal that is as it was.
  LiveScreen screen(writer->on_screen(), LiveScreen::End::last_frame);
  const QuitKey quit(writer->on_screen());
  const auto first = options.watch ? first_next(feed, stop) : first_look(feed);
  if (!first) return fail(first.error());
  if (*first == nullptr) return kGood;
  int code = kGood;
  std::uint64_t shown = 0;
  PastJudge judge(feed, options.watch);
  Choice choice(options, feed.is_live());
  // False: it was the last.
  const auto show = [&] [[gnu::hot]] (const SnapshotPtr &sample) {
    SnapshotPtr other;    // in place of the sample
    std::string absence;  // why no device is shown
    if (sample->devices.empty() && shown == 0 && !writer->on_screen()) {
      code = kNoDevice;
      const auto plain = explain_absence(sample);
      if (!options.json) other = plain;
    } else if (!choice.is_everything()) {
      auto part = choice.part_of(sample);
      const bool waits = !part && choice.may_come() && options.watch;
      if (!part && !waits) return code = fail(part.error(), choice.may_come() ? kFailure : kUsage), false;
      absence = waits ? part.error().what.str() : std::string();
      other = waits ? without_devices(*sample) : std::move(*part);
    }
    const auto *findings = writer->shows_findings() ? judge.judge(sample) : nullptr;
    Findings chosen;
    if (findings != nullptr && other != nullptr) {
      chosen = of_devices(*findings, *other);
      findings = &chosen;
    }
    const auto text = writer->render(other != nullptr ? *other : *sample, findings, absence);
    if (auto written = screen.draw(text); !written) return code = fail(written.error()), false;
    ++shown;
    return options.watch && (!options.count || shown < *options.count);
  };
  if (!show(*first)) return code;
  if (const auto followed = feed.follow(stop, show); !followed) return fail(followed.error());
  return code;
}

}  // namespace gpulse::cli
