// SPDX-License-Identifier: Apache-2.0
#include "tui/finding_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "tui/session.hpp"
#include "tui/text_page.hpp"
#include "view/diagnosis.hpp"
#include "view/finding_cells.hpp"

namespace gpulse::tui {

using term::Colour;

namespace {

using namespace std::chrono_literals;

// Samples that come faster say no more about half a minute.
constexpr auto kOften = 900ms;
// What is judged at once, and the least that is judged at all.
constexpr auto kLookBack = 30s, kShortest = 10s;
constexpr std::uint64_t kMostLookedBack = 2000;  // samples
// In fewer columns what is wrong needs them all.
constexpr int kRoomForSince = 110;

std::vector<SnapshotPtr> look_back(feed::Timeline &timeline, std::uint64_t number) {
  std::vector<SnapshotPtr> samples;
  const auto end = timeline.time(number);
  auto first = std::max(timeline.find(end - kLookBack), timeline.first());
  if (number > first + kMostLookedBack) first = number - kMostLookedBack;
  WallTime last{};
  for (auto each = first; each < number; ++each) {
    const auto time = timeline.time(each);
    if (time < end - kLookBack || time >= end || time - last < kOften) continue;
    if (const auto sample = timeline.at(each); sample && *sample != nullptr) samples.push_back(*sample);
    last = time;
  }
  return samples;
}

// "since 14:03:07"; what was so when somebody began to look may be older.
std::string since_words(const insight::Finding &finding, WallTime begin) {
  const auto time = local_time(finding.since, "%H:%M:%S");
  return fmt::format("  since {}{}", time, finding.since <= begin + kOften ? " or before" : "");
}

TextLines finding_lines(const Session &session) {
  constexpr int kFrame = 3, kLeast = 20, kLabel = 12;
  const term::Style plain{
      .colour = false, .unicode = session.options.unicode, .width = std::max(kLeast, session.size.columns - kFrame)};
  TextLines lines;
  for (const auto *finding : shown_findings(session)) {
    if (!lines.empty()) lines.emplace_back();
    bool first = true;
    const auto text = view::render_finding(*finding, plain);
    for (const auto line : split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
      if (std::exchange(first, false)) {
        lines.push_back({{std::string(line), view::finding_colour(*finding)}});
      } else {
        lines.push_back({{std::string(line.substr(0, kLabel)), Colour::accent},
                         {std::string(line.size() > kLabel ? line.substr(kLabel) : ""), Colour::plain}});
      }
    }
  }
  if (!lines.empty()) return lines;
  const auto &findings = session.findings;
  const auto *const text = findings.is_told()
                               ? (findings.is_judged() ? "The agent of this host finds nothing wrong."
                                                       : "There is no agent on this host that would look for findings.")
                           : findings.is_judged() ? "Nothing is wrong with the last half minute."
                                                  : "Too little was seen to judge: it takes some fifteen seconds.";
  lines.push_back({{text, Colour::plain}});
  return lines;
}

}  // namespace

void FindingList::add(const SnapshotPtr &sample) {
  const auto gap = sample->time - last_;
  if (gap >= 0ns && gap < kOften) return;
  last_ = sample->time;
  if (begin_ == WallTime{}) begin_ = sample->time;
  if (!watch_.add(sample)) return;
  is_judged_ = true;
  all_.clear();
  for (const auto &lasting : watch_.current()) all_.push_back(lasting.finding);
}

void FindingList::show(feed::Timeline &timeline, std::uint64_t number, const SnapshotPtr &sample) {
  if (number_ == number) return;
  if (auto told = timeline.told(number)) {
    number_ = number;
    is_told_ = true;
    is_judged_ = told->is_known;
    begin_ = told->begin;
    all_ = std::move(told->all);
    std::ranges::stable_sort(all_, std::ranges::greater{}, &insight::Finding::weight);
    return;
  }
  const bool follows = number_ && *number_ + 1 == number;
  number_ = number;
  if (follows && !jumped_) return add(sample);
  auto samples = look_back(timeline, number);
  jumped_ = !follows;
  if (follows) {
    watch_ = insight::Watch(options_);
    last_ = begin_ = {};
    for (const auto &each : samples) add(each);
    return add(sample);
  }
  // Where somebody leafs through a recording, once is enough.
  samples.push_back(sample);
  begin_ = samples.front()->time;
  is_judged_ = samples.back()->time - samples.front()->time >= kShortest;
  all_ = is_judged_ ? insight::diagnose(samples).findings : std::vector<insight::Finding>{};
  std::erase_if(all_, [](const insight::Finding &finding) { return finding.weight == insight::Weight::ok; });
}

std::vector<const insight::Finding *> shown_findings(const Session &session) {
  std::vector<const insight::Finding *> shown;
  if (session.snapshot == nullptr) return shown;
  const auto &devices = session.snapshot->devices;
  const auto is_shown = [&](const DeviceId &id) {
    return std::ranges::find(devices, id, &Device::id) != devices.end();
  };
  for (const auto &finding : session.findings.all()) {
    if (std::ranges::any_of(finding.devices, is_shown)) shown.push_back(&finding);
  }
  return shown;
}

void draw_findings(const term::Area &area, const Look &look, Session &session) {
  const auto findings = shown_findings(session);
  const auto rows = static_cast<std::size_t>(std::max(0, area.rows()));
  for (std::size_t i = 0; i < std::min(findings.size(), rows); ++i) {
    const bool last = i + 1 == rows || i + 1 == findings.size();
    const auto others = findings.size() - i - 1;
    auto note = area.columns() < kRoomForSince ? "" : since_words(*findings[i], session.findings.begin());
    if (last) note += others > 0 ? fmt::format("  and {} more: D", others) : "  D says more";
    const int room = area.columns() - term::width(note);
    const int y = static_cast<int>(i);
    put_spans(area, 0, y, view::finding_spans(*findings[i], look.unicode()), look, room);
    area.put(room, y, note, look.theme->dim);
  }
  session.hits.push_back({area.rect(), Hit::Kind::finding});
}

void open_findings(Session &session) {
  session.open(std::make_unique<TextPage>("What is wrong", finding_lines(session)));
}

}  // namespace gpulse::tui
