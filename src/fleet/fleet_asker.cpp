// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_asker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>

#include "base/log.hpp"
#include "fleet/fleet_clocks.hpp"
#include "fleet/foreign.hpp"
#include "fleet/usage_plan.hpp"
#include "view/families.hpp"

namespace gpulse::fleet {

namespace {

using namespace std::chrono_literals;
using Answer = std::vector<EngineSeries>;

constexpr auto kInfosKept = 5min;
constexpr auto kInfosTried = 1min;          // after a list that did not come
constexpr auto kSlowKept = 60s;             // what changes slowly, for so long
constexpr auto kOldest = 2min;              // an answer that stands in for a new one
constexpr auto kKnownFor = 24h;             // a host that says nothing any more
constexpr std::size_t kMostNames = 10'000;  // bytes of instances; VictoriaMetrics' queries have at most 16,384
constexpr std::size_t kMostGroups = 20;
constexpr int kMostTooLate = 2;
constexpr Seconds kUsualInterval = 15s;
constexpr std::string_view kNotAsked = "not asked: the engine was too slow for others";

// The engine itself, rather than the question.
bool is_final(EngineFault fault) {
  return fault == EngineFault::away || fault == EngineFault::refused || fault == EngineFault::no_engine;
}

}  // namespace

class FleetAsker::Questions {
 public:
  explicit Questions(EngineOptions options) : engine_(options), beside_(std::move(options)) {}

  Text place() const { return engine_.place(); }

  EngineResult<FleetPtr> ask(WallTime at, const std::stop_token &stop) {
    at_ = at;
    stop_ = stop;
    faults_.clear();
    too_late_ = 0;
    engine_.forget_warning();
    warning_ = {};
    if (auto known = learn_gpus(); !known) return std::unexpected(std::move(known.error()));
    FleetAnswers answers{.infos = infos_};
    if (auto asked = ask_parts(answers); !asked) return std::unexpected(std::move(asked.error()));
    const auto silent = ask_silent(missing_hosts(answers));
    if (answers.parts[static_cast<std::size_t>(FleetPart::alive)] == nullptr) knows_silent_ = false;
    answers.last_alive = silent;
    answers.knows_silent = knows_silent_;
    const auto foreign = ask_foreign();
    auto fleet = make_fleet(answers, foreign, at, interval_);
    fleet.place = place();
    fleet.warning = warning();
    for (auto &fault : faults_) fleet.faults.push_back(std::move(fault));
    if (knows_more(answers)) learn_due_ = at;
    return std::make_shared<const FleetSnapshot>(std::move(fleet));
  }

 private:
  struct Kept {
    std::string query;
    Answer answer{};
    WallTime at{};
  };

  // Answers that are kept have theirs kept too.
  Text warning() const {
    if (!warning_.empty()) return warning_;
    if (!engine_.warning().empty()) return engine_.warning();
    return infos_warning_.empty() ? slow_warning_ : infos_warning_;
  }

  // Which GPUs there were in the last day, and how often they are looked at. A list that was known stands in for one
  // that does not come.
  EngineResult<void> learn_gpus() {
    const bool is_known = infos_at_ && at_ >= *infos_at_ && at_ - *infos_at_ < kKnownFor;
    if (!is_known || at_ >= learn_due_) {
      auto infos = engine_.series(view::families::kInfo, at_ - kKnownFor, at_, stop_);
      if (infos) {
        take_infos(std::move(*infos));
        return {};
      }
      if (!is_known || is_final(infos.error().fault)) return std::unexpected(std::move(infos.error()));
      if (infos.error().fault == EngineFault::too_late) ++too_late_;
      infos_trouble_ = infos.error().error.what;
      learn_due_ = at_ + kInfosTried;
    }
    if (!infos_trouble_.empty()) {
      faults_.push_back({.what = "list of GPUs", .why = infos_trouble_, .as_of = infos_at_});
    }
    return {};
  }

  void take_infos(Answer infos) {
    infos_ = std::move(infos);
    infos_at_ = at_;
    learn_due_ = at_ + kInfosKept;
    infos_trouble_ = {};
    infos_warning_ = engine_.warning();
    interval_ = kUsualInterval;
    if (infos_.empty()) return;
    const auto answer = engine_.instant(interval_query(), at_, stop_);
    if (!answer || answer->empty() || answer->front().points.empty()) return;
    constexpr double kLongest = 600;
    const double seconds = answer->front().points.front().value;
    if (seconds > 0 && seconds < kLongest) interval_ = Seconds(seconds);
  }

  Kept &kept_of(const std::string &query) {
    for (const auto &kept : kept_) {
      if (kept->query == query) return *kept;
    }
    return *kept_.emplace_back(std::make_unique<Kept>(Kept{.query = query}));
  }

  struct Question {
    FleetPart part;
    std::string query{};
    std::optional<EngineResult<Answer>> result{};  // none: not asked, because others were too slow
    Text warning{};
  };
  // What two threads ask, each the next of them.
  struct Round {
    std::vector<Question> questions{};
    std::atomic<std::size_t> next = 0;
    std::atomic<int> too_late = 0, slow_too_late = 0;
    std::atomic<bool> is_over = false, is_slow_over = false;
  };

  // On two threads, for an engine has more than one processor. What changes slowly comes last.
  EngineResult<void> ask_parts(FleetAnswers &answers) {
    if (infos_.empty()) return {};
    Round round;
    for (const bool slow : {false, true}) {
      for (std::size_t i = 0; i < kFleetParts; ++i) {
        const auto part = static_cast<FleetPart>(i);
        if (is_slow(part) != slow || part == FleetPart::going) continue;
        auto query = fleet_query(part);
        const auto &kept = kept_of(query);
        const bool is_new = slow && kept.at != WallTime() && at_ >= kept.at && at_ - kept.at < kSlowKept;
        is_new ? void(answers.parts[i] = &kept.answer) : round.questions.push_back({part, std::move(query)});
      }
    }
    {
      std::jthread thread([&](const std::stop_token &stop) {
        try {
          ask_some(beside_, round, stop);
        } catch (const std::exception &fault) {
          log_line(LogLevel::error, std::string("an engine was not asked: ") + fault.what());
        }
      });
      const std::stop_callback stops(stop_, [&] { thread.request_stop(); });
      ask_some(engine_, round, stop_);
      // What is under way there is to end by itself.
      thread.join();
    }
    if (auto taken = take_round(round, answers); !taken) return taken;
    constexpr auto kGoing = FleetPart::going;
    if (has_slow_clock(answers.parts)) {
      answers.parts[static_cast<std::size_t>(kGoing)] = answer_if_any(fleet_query(kGoing), word(kGoing), kGoing);
    }
    return {};
  }

  // On either thread, which has nothing but its engine and these questions.
  void ask_some(Engine &engine, Round &round, const std::stop_token &stop) const {
    for (auto i = round.next++; i < round.questions.size() && !round.is_over; i = round.next++) {
      auto &[part, query, result, warning] = round.questions[i];
      const bool slow = is_slow(part);
      auto &too_late = slow ? round.slow_too_late : round.too_late;
      if (too_late >= kMostTooLate || (slow && round.is_slow_over)) continue;
      engine.forget_warning();
      result = engine.instant(query, at_, stop);
      warning = engine.warning();
      if (*result) continue;
      const auto fault = result->error().fault;
      if (fault == EngineFault::too_late) ++too_late;
      if (is_final(fault)) (slow ? round.is_slow_over : round.is_over) = true;
    }
  }

  EngineResult<void> take_round(Round &round, FleetAnswers &answers) {
    too_late_ += round.too_late;
    bool is_said = false;
    const bool has_slow = !round.questions.empty() && is_slow(round.questions.back().part);
    if (has_slow) slow_warning_ = {};
    for (auto &question : round.questions) {
      auto &warning = is_slow(question.part) ? slow_warning_ : warning_;
      if (warning.empty()) warning = question.warning;
      const auto &result = question.result;
      if (result && !*result && !is_slow(question.part) && is_final(result->error().fault)) {
        return std::unexpected(result->error());
      }
      answers.parts[static_cast<std::size_t>(question.part)] = take_answer(question, is_said);
    }
    return {};
  }

  // Those that sisters are compared by serve one purpose, so that one fault speaks for all of them.
  const Answer *take_answer(Question &question, bool &is_said) {
    auto &[part, query, result, warning] = question;
    if (!is_slow(part)) return keep(query, std::move(result), word(part), part);
    const bool is_silent = !result || (!*result && std::exchange(is_said, true));
    return keep(query, std::move(result), is_silent ? std::string_view() : "comparison of sisters", part);
  }

  const Answer *answer_if_any(const std::string &query, std::string_view what,
                              std::optional<FleetPart> part = std::nullopt) {
    std::optional<EngineResult<Answer>> result;
    if (too_late_ < kMostTooLate) result = engine_.instant(query, at_, stop_);
    if (result && !*result && result->error().fault == EngineFault::too_late) ++too_late_;
    return keep(query, std::move(result), what, part);
  }

  // `what`: what a fault is called; empty: it is not told. Null: there is no answer, and none that is new enough to
  // stand in for it.
  const Answer *keep(const std::string &query, std::optional<EngineResult<Answer>> result, std::string_view what,
                     std::optional<FleetPart> part) {
    auto &kept = kept_of(query);
    if (result && *result) {
      kept.answer = std::move(**result);
      kept.at = at_;
      return &kept.answer;
    }
    const bool is_usable = kept.at != WallTime() && at_ >= kept.at && at_ - kept.at <= kOldest;
    if (!what.empty()) {
      faults_.push_back({.what = what,
                         .why = result ? Text(result->error().error.what) : Text(kNotAsked),
                         .part = part,
                         .as_of = is_usable ? std::optional(kept.at) : std::nullopt});
    }
    return is_usable ? &kept.answer : nullptr;
  }

  // As many as go into some queries; of others it is not known since when they are silent.
  Answer ask_silent(const std::vector<std::string> &missing) {
    Answer all;
    knows_silent_ = false;
    bool is_whole = true;
    std::vector<std::string> group;
    std::size_t bytes = 0, groups = 0;
    for (std::size_t i = 0; i <= missing.size() && groups < kMostGroups; ++i) {
      const bool is_full = i == missing.size() || bytes + 2 * missing[i].size() > kMostNames;
      if (is_full && !group.empty()) {
        auto answer = engine_.instant(last_alive_query(group), at_, stop_);
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

  std::vector<ForeignAnswers> ask_foreign() {
    std::vector<ForeignAnswers> foreign;
    for (const auto &exporter : foreign_exporters()) {
      const auto *present = answer_if_any(present_query(exporter), word(exporter.exporter));
      if (present == nullptr || present->empty()) continue;
      auto &answers = foreign.emplace_back(ForeignAnswers{.exporter = &exporter, .present = *present});
      for (const auto &reading : exporter.readings) {
        answers.readings.push_back(answer_if_any(reading_query(exporter, reading), reading.family));
      }
    }
    return foreign;
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

  Engine engine_, beside_;
  WallTime at_{};
  std::stop_token stop_{};
  Answer infos_{};
  std::optional<WallTime> infos_at_{};
  WallTime learn_due_{};                               // the next list
  Text infos_trouble_{};                               // why that did not come
  Text infos_warning_{}, warning_{}, slow_warning_{};  // of the list, of this round, of what is kept
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
