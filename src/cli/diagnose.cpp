// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/history_file.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "feed/history_feed.hpp"
#include "feed/timeline.hpp"
#include "insight/review.hpp"
#include "model/select.hpp"
#include "view/diagnosis.hpp"
#include "view/json_indent.hpp"

namespace gpulse::cli {

namespace {

using namespace std::chrono_literals;
using view::DiagnosisPart;

constexpr auto kUsualTime = 30s, kShortest = 3s;

struct Stretch {
  std::chrono::nanoseconds from{0};
  std::optional<std::chrono::nanoseconds> to;
};

// An error is wrong usage.
Result<Stretch> stretch_of(const Options &options) {
  const auto time_of = [](const std::string &text) -> Result<std::chrono::nanoseconds> {
    std::chrono::nanoseconds time{0};
    if (!parse_duration(text, time) || time < 0ns) {
      return failure(fmt::format("\"{}\" is not a time in a recording", text), "30s, 5m or 1h30m after its start");
    }
    return time;
  };
  Stretch stretch;
  if (!options.from.empty()) {
    const auto from = time_of(options.from);
    if (!from) return std::unexpected(from.error());
    stretch.from = *from;
  }
  if (!options.to.empty()) {
    const auto to = time_of(options.to);
    if (!to) return std::unexpected(to.error());
    stretch.to = *to;
    if (stretch.from >= *to) return failure("--from comes before --to");
  }
  return stretch;
}

Result<Stretch> check(const Options &options) {
  const bool recorded = !options.replay.empty() || options.demo;
  const bool past = options.since.has_value() || !options.history.empty();
  if (recorded && past) return failure("--replay and --since do not go together");
  if ((recorded || past) && options.for_time) return failure("--for is for what happens now");
  if (!recorded && (!options.from.empty() || !options.to.empty())) {
    return failure("--from and --to are for recordings", "--since 1h is for the agent's history");
  }
  if (!options.by.empty() && options.by != "phase") return failure("--by can only be phase");
  if (!options.by.empty() && !recorded) return failure("--by needs a recording", "--replay FILE");
  return stretch_of(options);
}

// Of the devices that were asked for.
Result<SnapshotPtr> chosen(const Options &options, const SnapshotPtr &sample) {
  return options.devices.empty() ? sample : select_devices(sample, options.devices);
}

// The label that begins with this sample.
std::optional<std::string> label_at(const Snapshot &sample) {
  for (const auto &event : sample.events) {
    if (event.kind == EventKind::phase && event.time == sample.time) return event.text.str();
  }
  return std::nullopt;
}

// Samples by number, cut into parts.
Result<std::vector<DiagnosisPart>> judge_timeline(const Options &options, feed::Timeline &timeline,
                                                  const Stretch &stretch, bool by_phase) {
  std::vector<DiagnosisPart> parts;
  if (timeline.empty()) return parts;
  ProgressLine progress("judging");
  const auto origin = timeline.time(timeline.first());
  std::optional<std::string> label;
  std::optional<insight::Review> review;
  const auto end_part = [&] {
    if (review)
      parts.push_back({.phase = by_phase ? label : std::nullopt, .origin = origin, .diagnosis = review->end()});
    review.reset();
  };
  for (auto number = timeline.first(); number < timeline.end(); ++number) {
    const auto after = timeline.time(number) - origin;
    if (!by_phase && (after < stretch.from || (stretch.to && after > *stretch.to))) continue;
    const auto at = timeline.at(number);
    if (!at) return std::unexpected(at.error());
    if (*at == nullptr) continue;
    if (const auto next = label_at(**at); next && by_phase) {
      end_part();
      label = next;
    }
    if (after < stretch.from || (stretch.to && after > *stretch.to)) continue;
    const auto sample = chosen(options, *at);
    if (!sample) return std::unexpected(sample.error());
    if (!review) review.emplace();
    review->add(*sample);
    progress.tell_share(static_cast<double>(number - timeline.first()) /
                        static_cast<double>(timeline.end() - timeline.first()));
  }
  end_part();
  if (by_phase && !label) return failure("the recording has no phases", "only traces with a column `phase` do");
  return parts;
}

Result<std::vector<DiagnosisPart>> judge_recording(const Options &options, const Stretch &stretch) {
  const auto opened = open_feed(feed_options(options), stop_on_signals());
  if (!opened) return std::unexpected(opened.error());
  if (const auto warning = (*opened)->warning(); !warning.empty()) complain(warning);
  return judge_timeline(options, *(*opened)->recording(), stretch, !options.by.empty());
}

Result<std::vector<DiagnosisPart>> judge_history(const Options &options) {
  const auto path = history_to_read(options.history);
  if (!path) return std::unexpected(path.error());
  const auto now = wall_now();
  const auto timeline =
      feed::open_past(*path, {.from = now - options.since.value_or(1h), .to = now}, stop_on_signals());
  if (!timeline) return std::unexpected(timeline.error());
  return judge_timeline(options, **timeline, {}, false);
}

// What happens now, and what an agent has seen just before.
Result<std::vector<DiagnosisPart>> judge_now(const Options &options) {
  const auto stop = stop_on_signals();
  auto reading = feed_options(options);
  reading.continuous = true;
  reading.instances = true;
  const auto opened = open_feed(reading, stop);
  if (!opened) return std::unexpected(opened.error());
  auto &feed = **opened;
  const auto first = first_next(feed, stop);
  if (!first) return std::unexpected(first.error());
  if (*first == nullptr) return failure("nothing was judged");
  if ((*first)->devices.empty()) return failure(std::string(absence_words(**first)), absence(**first));
  std::vector<SnapshotPtr> samples;
  if (!options.for_time) samples = feed.past();
  std::erase_if(samples, [&](const SnapshotPtr &sample) { return sample->time >= (*first)->time; });
  const auto enough = options.for_time.value_or(kUsualTime);
  std::optional<ProgressLine> progress(std::in_place, "watching");
  const auto begun = monotonic_now();
  const auto seen = [&] { return samples.empty() ? 0ns : samples.back()->time - samples.front()->time; };
  Error wrong{};
  const auto take = [&](const SnapshotPtr &sample) {
    const auto part = chosen(options, sample);
    if (!part) return wrong = part.error(), false;
    samples.push_back(*part);
    progress->tell_share(Seconds(seen()).count() / Seconds(enough).count());
    return seen() < enough && monotonic_now() - begun < enough + 5s;
  };
  if (take(*first)) {
    if (const auto followed = feed.follow(stop, take); !followed) return std::unexpected(followed.error());
  }
  progress.reset();
  if (!wrong.what.empty()) return std::unexpected(wrong);
  if (seen() < kShortest) return failure("too little was seen to judge", "let it watch for at least 3 s");
  insight::Review review;
  for (const auto &sample : samples) review.add(sample);
  return std::vector<DiagnosisPart>{{.origin = samples.front()->time, .diagnosis = review.end()}};
}

std::string rendered(const Options &options, const std::vector<DiagnosisPart> &parts) {
  std::string text;
  if (!options.json) {
    for (const auto &part : parts) {
      text += (text.empty() ? "" : "\n") + view::render_diagnosis(part, style_of(options, STDOUT_FILENO));
    }
    return text;
  }
  JsonWriter json(text);
  if (!options.by.empty()) json.begin_array();
  for (const auto &part : parts) view::write_diagnosis_json(json, part);
  if (!options.by.empty()) json.end_array();
  if (::isatty(STDOUT_FILENO) == 1) return view::indent_json(text);
  return text + '\n';
}

}  // namespace

int run_diagnose(const Options &options) {
  const auto stretch = check(options);
  if (!stretch) return fail(stretch.error(), kUsage);
  const bool recorded = !options.replay.empty() || options.demo;
  const bool past = options.since.has_value() || !options.history.empty();
  const auto parts = recorded ? judge_recording(options, *stretch) : past ? judge_history(options) : judge_now(options);
  if (!parts) return fail(parts.error());
  if (parts->empty()) return fail({"there is no sample in that time"});
  if (auto written = write_out(rendered(options, *parts)); !written) return fail(written.error());
  return kGood;
}

}  // namespace gpulse::cli
