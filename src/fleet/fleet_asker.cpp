// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_asker.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fleet/foreign.hpp"
#include "fleet/usage_plan.hpp"
#include "view/families.hpp"

namespace gpulse::fleet {

namespace {

using namespace std::chrono_literals;
using Answer = std::vector<EngineSeries>;

constexpr auto kInfosKept = 5min;
constexpr auto kOldest = 2min;              // an answer that stands in for a new one
constexpr auto kKnownFor = 24h;             // a host that says nothing any more
constexpr std::size_t kMostNames = 10'000;  // bytes of instances; VictoriaMetrics' queries have at most 16,384
constexpr std::size_t kMostGroups = 20;
constexpr int kMostTooLate = 2;
constexpr Seconds kUsualInterval = 15s;

// The engine itself, rather than the question.
bool is_final(EngineFault fault) {
  return fault == EngineFault::away || fault == EngineFault::refused || fault == EngineFault::no_engine;
}

}  // namespace

class FleetAsker::Questions {
 public:
  explicit Questions(EngineOptions options) : engine_(std::move(options)) {}

  Text place() const { return engine_.place(); }

  EngineResult<FleetPtr> ask(WallTime at, const std::stop_token &stop) {
    at_ = at;
    stop_ = stop;
    faults_.clear();
    too_late_ = 0;
    if (auto known = learn_gpus(); !known) return std::unexpected(std::move(known.error()));
    FleetAnswers answers{.infos = infos_};
    for (std::size_t i = 0; i < kFleetParts; ++i) {
      const auto part = static_cast<FleetPart>(i);
      auto answer = answer_to(fleet_query(part), word(part), part);
      if (!answer) return std::unexpected(std::move(answer.error()));
      answers.parts[i] = *answer;
    }
    const auto silent = ask_silent(missing_hosts(answers));
    if (!silent) return std::unexpected(silent.error());
    if (answers.parts[static_cast<std::size_t>(FleetPart::alive)] == nullptr) knows_silent_ = false;
    answers.last_alive = *silent;
    answers.knows_silent = knows_silent_;
    std::vector<ForeignAnswers> foreign;
    if (auto asked = ask_foreign(foreign); !asked) return std::unexpected(std::move(asked.error()));
    auto fleet = make_fleet(answers, foreign, at, interval_);
    fleet.place = place();
    fleet.warning = engine_.warning();
    for (auto &fault : faults_) fleet.faults.push_back(std::move(fault));
    if (knows_more(answers)) infos_at_.reset();
    return std::make_shared<const FleetSnapshot>(std::move(fleet));
  }

 private:
  struct Kept {
    std::string query;
    Answer answer{};
    WallTime at{};
  };

  // Which GPUs there were in the last day, and how often they are looked at.
  EngineResult<void> learn_gpus() {
    if (infos_at_ && at_ >= *infos_at_ && at_ - *infos_at_ < kInfosKept) return {};
    auto infos = engine_.series(view::families::kInfo, at_ - kKnownFor, at_, stop_);
    if (!infos) return std::unexpected(std::move(infos.error()));
    infos_ = std::move(*infos);
    infos_at_ = at_;
    interval_ = kUsualInterval;
    if (infos_.empty()) return {};
    const auto answer = engine_.instant(interval_query(), at_, stop_);
    if (!answer && is_final(answer.error().fault)) return std::unexpected(answer.error());
    if (!answer || answer->empty() || answer->front().points.empty()) return {};
    constexpr double kLongest = 600;
    const double seconds = answer->front().points.front().value;
    if (seconds > 0 && seconds < kLongest) interval_ = Seconds(seconds);
    return {};
  }

  Kept &kept_of(const std::string &query) {
    for (const auto &kept : kept_) {
      if (kept->query == query) return *kept;
    }
    return *kept_.emplace_back(std::make_unique<Kept>(Kept{.query = query}));
  }

  // Null: there is no answer, and none that is new enough to stand in for it.
  EngineResult<const Answer *> answer_to(const std::string &query, std::string_view what,
                                         std::optional<FleetPart> part = std::nullopt) {
    auto &kept = kept_of(query);
    if (too_late_ < kMostTooLate) {
      auto answer = engine_.instant(query, at_, stop_);
      if (answer) {
        kept.answer = std::move(*answer);
        kept.at = at_;
        return &kept.answer;
      }
      auto &error = answer.error();
      if (is_final(error.fault)) return std::unexpected(std::move(error));
      if (error.fault == EngineFault::too_late) ++too_late_;
      faults_.push_back({.what = what, .why = error.error.what, .part = part});
    } else {
      faults_.push_back({.what = what, .why = "not asked: the engine was too slow for others", .part = part});
    }
    if (kept.at == WallTime() || at_ - kept.at > kOldest || at_ < kept.at) return nullptr;
    faults_.back().as_of = kept.at;
    return &kept.answer;
  }

  // As many as go into some queries; of others it is not known since when they are silent.
  EngineResult<Answer> ask_silent(const std::vector<std::string> &missing) {
    Answer all;
    knows_silent_ = false;
    bool is_whole = true;
    std::vector<std::string> group;
    std::size_t bytes = 0, groups = 0;
    for (std::size_t i = 0; i <= missing.size() && groups < kMostGroups; ++i) {
      const bool is_full = i == missing.size() || bytes + 2 * missing[i].size() > kMostNames;
      if (is_full && !group.empty()) {
        auto answer = engine_.instant(last_alive_query(group), at_, stop_);
        if (!answer && is_final(answer.error().fault)) return std::unexpected(std::move(answer.error()));
        if (!answer) faults_.push_back({.what = "silent since", .why = answer.error().error.what});
        if (!answer) return all;
        for (auto &series : *answer) all.push_back(std::move(series));
        group.clear();
        bytes = 0;
        ++groups;
      }
      if (i == missing.size()) break;
      if (missing[i].size() > kMostNames / 2) {
        is_whole = false;
        continue;
      }
      bytes += 2 * missing[i].size() + 1;
      group.push_back(missing[i]);
    }
    knows_silent_ = is_whole && group.empty() && groups < kMostGroups;
    return all;
  }

  EngineResult<void> ask_foreign(std::vector<ForeignAnswers> &foreign) {
    for (const auto &exporter : foreign_exporters()) {
      auto present = answer_to(present_query(exporter), word(exporter.exporter));
      if (!present) return std::unexpected(std::move(present.error()));
      if (*present == nullptr || (*present)->empty()) continue;
      auto &answers = foreign.emplace_back(ForeignAnswers{.exporter = &exporter, .present = **present});
      for (const auto &reading : exporter.readings) {
        auto answer = answer_to(reading_query(exporter, reading), reading.family);
        if (!answer) return std::unexpected(std::move(answer.error()));
        answers.readings.push_back(*answer);
      }
    }
    return {};
  }

  // A GPU has come since the list was read.
  bool knows_more(const FleetAnswers &answers) const {
    const auto *states = answers.parts[static_cast<std::size_t>(FleetPart::state)];
    if (states == nullptr) return false;
    std::vector<std::string_view> known;
    for (const auto &info : infos_) known.push_back(info.label("uuid"));
    std::ranges::sort(known);
    return std::ranges::any_of(
        *states, [&](const EngineSeries &series) { return !std::ranges::binary_search(known, series.label("uuid")); });
  }

  Engine engine_;
  WallTime at_{};
  std::stop_token stop_{};
  Answer infos_{};
  std::optional<WallTime> infos_at_{};
  Seconds interval_ = kUsualInterval;
  std::vector<std::unique_ptr<Kept>> kept_{};
  std::vector<FleetFault> faults_{};
  int too_late_ = 0;
  bool knows_silent_ = false;
};

FleetAsker::FleetAsker(EngineOptions options) : questions_(std::make_unique<Questions>(std::move(options))) {}
FleetAsker::~FleetAsker() = default;

EngineResult<FleetPtr> FleetAsker::ask(WallTime at, const std::stop_token &stop) { return questions_->ask(at, stop); }
Text FleetAsker::place() const { return questions_->place(); }

}  // namespace gpulse::fleet
