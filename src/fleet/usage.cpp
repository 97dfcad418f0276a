// SPDX-License-Identifier: Apache-2.0
#include "fleet/usage.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "fleet/usage_plan.hpp"
#include "fleet/usage_stretches.hpp"

namespace gpulse::fleet {

namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

constexpr std::size_t kMostCells = 400'000;    // stretches of all GPUs, of one answer
constexpr std::size_t kMostStretches = 5'000;  // of a GPU; Prometheus answers with at most 11,000
constexpr std::int64_t kMostMoments = 10'000;  // of a GPU; VictoriaMetrics looks at no more than 30,000
constexpr std::size_t kMostNames = 10'000;     // bytes of instances; its queries have at most 16,384
constexpr int kMostTooLate = 3;
constexpr Seconds kUsualInterval{15};
constexpr int kIntervalLooks = 8;

class UsageReader {
 public:
  UsageReader(Engine &engine, const UsageQuestion &question, const std::stop_token &stop)
      : engine_(engine), stop_(stop), stretches_(question.gpus, question.is_part), is_part_(question.is_part) {
    std::set<std::string> names;
    for (const auto &gpu : question.gpus) names.insert(gpu.instance);
    instances_.assign(names.begin(), names.end());
    gpus_ = std::max<std::size_t>(question.gpus.size(), 1);
    regroup();
  }

  EngineResult<insight::Usage> read(const UsagePlan &plan, const std::function<void(double)> &progress) {
    const auto whole = Seconds(plan.to - plan.from).count();
    double done = 0;
    for (const auto &run : plan.runs) {
      most_ = most_of(run, plan.resolution);
      for (std::size_t first = 0; first < run.count;) {
        const auto count = std::min(most_, run.count - first);
        if (auto read = read_part(run, first, count, plan.resolution); !read) {
          if (!ask_for_less(read.error(), count)) return std::unexpected(std::move(read.error()));
          continue;
        }
        stretches_.add_up();
        first += count;
        done += static_cast<double>(count) * Seconds(run.window).count();
        if (progress) progress(done / whole);
      }
    }
    auto usage = stretches_.usage();
    usage.place = engine_.place();
    usage.from = plan.from;
    usage.to = plan.to;
    usage.limits.stretch_seconds = Seconds(plan.window).count();
    usage.limits.resolution_seconds = Seconds(plan.resolution).count();
    usage.limits.warning = engine_.warning();
    return usage;
  }

 private:
  std::size_t most_of(const UsagePlan::Run &run, seconds resolution) const {
    const auto moments = static_cast<std::size_t>(std::max<std::int64_t>(kMostMoments * resolution / run.window, 1));
    return std::clamp<std::size_t>(std::min(kMostCells / gpus_, moments), 1, kMostStretches);
  }

  // Where it fails, what was taken of it is forgotten with the next one.
  EngineResult<void> read_part(const UsagePlan::Run &run, std::size_t first, std::size_t count, seconds resolution) {
    stretches_.begin(run, first, count, resolution);
    for (const auto part : kUsageParts) {
      for (const auto &group : groups_) {
        auto series = engine_.range(usage_query(part, group, run.window, resolution), run.end_of(first),
                                    run.end_of(first + count - 1), run.window, stop_);
        if (!series) return std::unexpected(std::move(series.error()));
        stretches_.take(part, *series);
      }
    }
    return {};
  }

  // False: it cannot be less, or it takes too long whatever is asked for.
  bool ask_for_less(const EngineError &error, std::size_t count) {
    if (error.fault == EngineFault::too_late && ++too_late_ > kMostTooLate) return false;
    if (error.fault != EngineFault::too_much && error.fault != EngineFault::too_late) return false;
    if (count > 1) {
      most_ = std::max<std::size_t>(count / 2, 1);
      return true;
    }
    if (groups_.size() >= instances_.size()) return false;
    wanted_groups_ = 2 * groups_.size();
    regroup();
    return true;
  }

  // As many as wanted, or more where their names would be too long for one question. One group of all needs no names.
  void regroup() {
    groups_.assign(1, {});
    if (wanted_groups_ < 2 && !is_part_) return;
    const auto most = (instances_.size() + wanted_groups_ - 1) / wanted_groups_;
    std::size_t bytes = 0;
    for (const auto &instance : instances_) {
      // Each may have to be escaped.
      const auto more = 2 * instance.size() + 1;
      if (!groups_.back().empty() && (groups_.back().size() >= most || bytes + more > kMostNames)) {
        groups_.emplace_back();
        bytes = 0;
      }
      groups_.back().push_back(instance);
      bytes += more;
    }
  }

  Engine &engine_;
  const std::stop_token &stop_;
  UsageStretches stretches_;
  bool is_part_;
  std::size_t gpus_ = 1;
  std::vector<std::string> instances_;
  std::vector<std::vector<std::string>> groups_;  // of instances, asked for one after the other
  std::size_t wanted_groups_ = 1;
  std::size_t most_ = 1;  // stretches at a time
  int too_late_ = 0;
};

// The time between two values, of most of the instances when all went well.
EngineResult<Seconds> read_interval(Engine &engine, const UsageQuestion &question, const std::stop_token &stop) {
  const auto step = std::max<seconds>(std::chrono::ceil<seconds>((question.to - question.from) / kIntervalLooks), 60s);
  const auto looks = engine.range(interval_query(), question.to - (kIntervalLooks - 1) * step, question.to, step, stop);
  if (!looks) return std::unexpected(looks.error());
  auto interval = Seconds::max();
  for (const auto &series : *looks) {
    for (const auto &point : series.points) {
      if (point.value > 0 && std::isfinite(point.value)) interval = std::min(interval, Seconds(point.value));
    }
  }
  return interval == Seconds::max() ? kUsualInterval : interval;
}

}  // namespace

EngineResult<insight::Usage> read_usage(Engine &engine, const UsageQuestion &question,
                                        const std::function<void(double)> &progress, const std::stop_token &stop) {
  const auto interval = read_interval(engine, question, stop);
  if (!interval) return std::unexpected(interval.error());
  const auto plan = plan_usage(question.from, question.to, question.now, question.gpus.size(), *interval);
  if (!plan) return insight::Usage{.source = insight::UsageSource::engine, .place = engine.place()};
  return UsageReader(engine, question, stop).read(*plan, progress);
}

}  // namespace gpulse::fleet
