// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_sisters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "insight/thresholds.hpp"
#include "model/xid.hpp"

namespace gpulse::fleet {

namespace {

using insight::FindingId;
using insight::RemarkId;
using insight::Weight;
using Members = std::vector<std::size_t>;  // of the snapshot

// What sisters have of one thing.
class Values {
 public:
  explicit Values(std::vector<double> values) : sorted_(std::move(values)) {
    std::ranges::sort(sorted_);
    if (sorted_.empty()) return;
    const double middle = median_of(sorted_);
    std::vector<double> distances;
    for (const double value : sorted_) distances.push_back(std::abs(value - middle));
    std::ranges::sort(distances);
    constexpr double kAsDeviation = 1.4826;  // of values that scatter as a bell does
    spread_ = kAsDeviation * median_of(distances);
  }

  std::size_t others() const { return sorted_.empty() ? 0 : sorted_.size() - 1; }
  double spread() const { return spread_; }
  // Of all but one that has this value; there is one.
  double median_beside(double own) const {
    const auto place = static_cast<std::size_t>(std::ranges::lower_bound(sorted_, own) - sorted_.begin());
    const auto other = [&](std::size_t i) { return sorted_[i < place ? i : i + 1]; };
    const auto count = others();
    return count % 2 == 1 ? other(count / 2) : (other(count / 2 - 1) + other(count / 2)) / 2;
  }
  double share_up_to(double value) const { return share(std::ranges::upper_bound(sorted_, value) - sorted_.begin()); }
  double share_from(double value) const { return share(sorted_.end() - std::ranges::lower_bound(sorted_, value)); }

 private:
  static double median_of(const std::vector<double> &sorted) {
    const auto half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  double share(std::ptrdiff_t count) const { return static_cast<double>(count) / static_cast<double>(sorted_.size()); }

  std::vector<double> sorted_;
  double spread_ = 0;
};

// Why a GPU may be slower than others.
struct Cause {
  std::string words{};  // each with "; " before it
  bool is_hardware = false;

  void add(std::string_view more, bool hardware) {
    words.append("; ").append(more);
    is_hardware |= hardware;
  }
};

bool has(const FleetGpu &gpu, FindingId id) {
  return std::ranges::any_of(gpu.findings, [&](const FleetFinding &found) { return found.id == insight::word(id); });
}

void add_finding(Cause &cause, const FleetGpu &gpu, FindingId id, bool hardware) {
  if (has(gpu, id)) cause.add(insight::describe(id).title, hardware);
}

// In whole numbers.
std::string amount(MetricId metric, double value) {
  return fmt::format("{:.0f} {}", value, symbol(describe(metric).unit));
}
std::string amount(FleetSteady what, double value) {
  return amount(kSteadyMetrics[static_cast<std::size_t>(what)], value);
}
MetricId metric_of(FleetSteady what) { return kSteadyMetrics[static_cast<std::size_t>(what)]; }

// A link that can be, told by its generation and width.
std::optional<double> link_speed(const FleetGpu &gpu) {
  constexpr double kLastGeneration = 16, kWidest = 64;
  const auto generation = gpu[FleetSteady::link_generation], width = gpu[FleetSteady::link_width];
  const bool can_be =
      generation && width && *generation > 0.5 && *generation < kLastGeneration && *width > 0.5 && *width < kWidest;
  // Each generation is about twice as fast as the one before.
  return can_be ? std::optional(std::exp2(std::round(*generation)) * std::round(*width)) : std::nullopt;
}
std::string link_words(const FleetGpu &gpu) {
  return fmt::format("generation {:.0f} x{:.0f}", *gpu[FleetSteady::link_generation], *gpu[FleetSteady::link_width]);
}

class Comparison {
 public:
  Comparison(FleetSnapshot &fleet, const SisterLimits &limits) : fleet_(fleet), limits_(limits) {}

  void make() {
    note_parted();
    std::map<std::pair<std::string, std::string>, Members> models, jobs;
    for (std::size_t i = 0; i < fleet_.gpus.size(); ++i) {
      auto &gpu = fleet_.gpus[i];
      gpu.remarks.clear();
      if (!takes_part(i)) continue;
      const auto &cluster = fleet_.hosts[gpu.host].cluster.str();
      models[{cluster, gpu.name.str()}].push_back(i);
      if (const auto job = job_of(gpu); !job.empty()) jobs[{fmt::format("{} {}", cluster, gpu.name), job}].push_back(i);
    }
    for (const auto &[key, members] : models) compare_model(key.second, members);
    for (const auto &[key, members] : jobs) compare_job(key.second, members);
    for (auto &gpu : fleet_.gpus) {
      std::ranges::stable_sort(gpu.remarks, [](const auto &a, const auto &b) { return a.weight > b.weight; });
    }
  }

 private:
  void note_parted() {
    for (const auto &gpu : fleet_.gpus) {
      if (!gpu.parent.empty()) parted_.emplace(gpu.host, gpu.parent);
    }
  }
  bool takes_part(std::size_t index) const {
    const auto &gpu = fleet_.gpus[index];
    return gpu.state == GpuState::ok && gpu.parent.empty() && !gpu.name.empty() &&
           !parted_.contains({gpu.host, gpu.uuid});
  }

  // In words; empty: none, or several, or one that has just begun.
  static std::string job_of(const FleetGpu &gpu) {
    if (!gpu.is_settled) return {};
    std::string job;
    for (const auto &owner : gpu.owners) {
      auto name = !owner.job.empty() ? "job " + owner.job : pods_of(owner.pod.str());
      if (name.empty() || (!job.empty() && job != name)) return {};
      job = std::move(name);
    }
    return job;
  }
  // "shop/train-3" is one of the numbered pods "shop/train-*"; pods with other names have nothing in common.
  static std::string pods_of(std::string_view pod) {
    const auto digits = pod.find_last_not_of("0123456789");
    if (digits == std::string_view::npos || digits + 1 == pod.size() || pod[digits] != '-') return {};
    return fmt::format("pods {}*", pod.substr(0, digits + 1));
  }

  // ---- the same model

  template <class Get>
  Values values_of(const Members &members, Get &&get) const {
    std::vector<double> values;
    values.reserve(members.size());
    for (const auto index : members) values.push_back(*get(fleet_.gpus[index]));
    return Values(std::move(values));
  }
  template <class Is>
  Members those(const Members &members, Is &&is) const {
    Members some;
    for (const auto index : members) {
      if (is(fleet_.gpus[index])) some.push_back(index);
    }
    return some;
  }
  static std::optional<double> clock_of(const FleetGpu &gpu) { return gpu[FleetSteady::clock]; }
  static std::optional<double> power_of(const FleetGpu &gpu) { return gpu[FleetSteady::power]; }
  bool is_busy(const FleetGpu &gpu) const { return gpu[FleetSteady::utilization] >= limits_.busy_percent; }
  bool is_used(const FleetGpu &gpu) const { return gpu[FleetSteady::utilization] >= limits_.used_percent; }
  bool are_enough(const Members &members) const { return members.size() > limits_.sisters; }
  static std::string others_words(std::size_t others, std::string_view of) {
    return fmt::format("({} other{} of {})", others, others == 1 ? "" : "s", of);
  }
  // "hotter than its sisters: 82 °C against 61 °C (39 others of NVIDIA H100)"
  static Text sentence(RemarkId id, const std::string &own, const std::string &usual, std::size_t others,
                       std::string_view of, const Cause &cause = {}) {
    return fmt::format("{}: {} against {} {}{}", insight::describe(id).title, own, usual, others_words(others, of),
                       cause.words);
  }

  void compare_model(std::string_view model, const Members &members) {
    compare_clocks(model, members);
    compare_heat(model, members);
    compare_limits(model, members, FleetSteady::power_limit);
    compare_limits(model, members, FleetSteady::clock_max);
    compare_links(model, members);
  }

  void compare_clocks(std::string_view model, const Members &members) {
    const auto busy = those(members, [&](const FleetGpu &gpu) { return is_busy(gpu) && clock_of(gpu); });
    if (!are_enough(busy)) return;
    const auto clocks = values_of(busy, clock_of);
    const auto powers = values_of(those(busy, power_of), power_of);
    for (const auto index : busy) {
      auto &gpu = fleet_.gpus[index];
      const double own = *clock_of(gpu), usual = clocks.median_beside(own), less = usual - own;
      if (less < limits_.clock_share * usual || less <= limits_.spreads * clocks.spread()) continue;
      if (clocks.share_up_to(usual * (1 - limits_.clock_share)) > limits_.few_share) continue;
      Cause cause;
      add_finding(cause, gpu, FindingId::throttled_thermal, true);
      add_finding(cause, gpu, FindingId::throttled_hardware, true);
      const bool is_far = less >= limits_.far_clock_share * usual;
      if (!cause.is_hardware && is_excused(gpu, powers, is_far)) continue;
      add_finding(cause, gpu, FindingId::throttled_power, false);
      const bool is_bad = cause.is_hardware || is_far;
      gpu.remarks.push_back({.id = RemarkId::slower_clock,
                             .weight = is_bad ? Weight::problem : Weight::note,
                             .metric = metric_of(FleetSteady::clock),
                             .value = own,
                             .usual = usual,
                             .others = clocks.others(),
                             .text = sentence(RemarkId::slower_clock, amount(FleetSteady::clock, own),
                                              amount(FleetSteady::clock, usual), clocks.others(), model, cause)});
    }
  }

  // One that works harder has a lower clock by right. Where nobody tells its power, it has to be clear without.
  bool is_excused(const FleetGpu &gpu, const Values &powers, bool is_far) const {
    const auto own = power_of(gpu), limit = gpu[FleetSteady::power_limit];
    if (!own || powers.others() == 0) return !is_far;
    const double usual = powers.median_beside(*own);
    if (*own > (1 + limits_.more_power_share) * usual) return true;
    // Close to its limit nothing can draw much more than the others.
    const double most = limit ? limits_.at_power_limit * *limit : 0;
    return !is_far && limit && *own >= most && usual < most;
  }

  // Heat follows power: only those that draw about as much are compared.
  void compare_heat(std::string_view model, const Members &members) {
    const auto heat = [](const FleetGpu &gpu) { return gpu[FleetReading::temperature]; };
    constexpr double kStep = 1.08;
    std::map<long, Members> steps;
    for (const auto index : members) {
      const auto &gpu = fleet_.gpus[index];
      const auto power = gpu[FleetSteady::power];
      if (!is_busy(gpu) || !heat(gpu) || !power || *power < 1) continue;
      steps[std::lround(std::log(*power) / std::log(kStep))].push_back(index);
    }
    for (const auto &[step, own] : steps) {
      auto near = own;
      for (const auto other : {step - 1, step + 1}) {
        if (const auto found = steps.find(other); found != steps.end()) {
          near.insert(near.end(), found->second.begin(), found->second.end());
        }
      }
      if (are_enough(near)) compare_heat(model, own, values_of(near, heat));
    }
  }

  void compare_heat(std::string_view model, const Members &own, const Values &heats) {
    const auto metric = kReadingMetrics[static_cast<std::size_t>(FleetReading::temperature)];
    for (const auto index : own) {
      auto &gpu = fleet_.gpus[index];
      const double heat = *gpu[FleetReading::temperature], usual = heats.median_beside(heat), more = heat - usual;
      if (more < limits_.hotter_celsius || more <= limits_.spreads * heats.spread()) continue;
      if (heats.share_from(usual + limits_.hotter_celsius) > limits_.few_share) continue;
      Cause cause;
      add_finding(cause, gpu, FindingId::throttled_thermal, true);
      const bool is_bad = cause.is_hardware || more >= limits_.far_celsius || heat >= describe(metric).bad;
      gpu.remarks.push_back({.id = RemarkId::hotter,
                             .weight = is_bad ? Weight::problem : Weight::note,
                             .metric = metric,
                             .value = heat,
                             .usual = usual,
                             .others = heats.others(),
                             .text = sentence(RemarkId::hotter, amount(metric, heat), amount(metric, usual),
                                              heats.others(), fmt::format("{} at such power", model), cause)});
    }
  }

  void compare_limits(std::string_view model, const Members &members, FleetSteady what) {
    const auto limit = [&](const FleetGpu &gpu) { return gpu[what]; };
    const auto told = those(members, limit);
    if (!are_enough(told)) return;
    const auto all = values_of(told, limit);
    for (const auto index : told) {
      auto &gpu = fleet_.gpus[index];
      const double own = *limit(gpu), usual = all.median_beside(own), less = usual - own;
      if (!is_used(gpu) || less < limits_.limit_share * usual || less <= limits_.spreads * all.spread()) continue;
      if (all.share_up_to(usual * (1 - limits_.limit_share)) > limits_.few_share) continue;
      const bool is_clock = what == FleetSteady::clock_max;
      gpu.remarks.push_back({.id = RemarkId::lower_limit,
                             .weight = less >= limits_.far_limit_share * usual ? Weight::problem : Weight::note,
                             .metric = metric_of(what),
                             .value = own,
                             .usual = usual,
                             .others = all.others(),
                             .text = sentence(RemarkId::lower_limit,
                                              fmt::format("{}{}", is_clock ? "a clock of " : "", amount(what, own)),
                                              amount(what, usual), all.others(), model)});
    }
  }

  void compare_links(std::string_view model, const Members &members) {
    const auto awake = those(members, [&](const FleetGpu &gpu) { return is_used(gpu) && link_speed(gpu); });
    if (!are_enough(awake)) return;
    const auto speeds = values_of(awake, link_speed);
    for (const auto index : awake) {
      auto &gpu = fleet_.gpus[index];
      const double own = *link_speed(gpu), usual = speeds.median_beside(own);
      // Half of it is the least that a link can lose.
      if (own > 0.75 * usual || speeds.share_up_to(0.75 * usual) > limits_.few_share) continue;
      const auto *sister = sister_with(awake, usual);
      if (sister == nullptr) continue;
      Cause cause;
      add_finding(cause, gpu, FindingId::link_degraded, false);
      const bool is_slow = *gpu[FleetSteady::link_generation] < *(*sister)[FleetSteady::link_generation];
      const auto what = is_slow ? FleetSteady::link_generation : FleetSteady::link_width;
      gpu.remarks.push_back({.id = RemarkId::slower_link,
                             .weight = own <= limits_.far_link_share * usual ? Weight::problem : Weight::note,
                             .metric = metric_of(what),
                             .value = std::round(*gpu[what]),
                             .usual = std::round(*(*sister)[what]),
                             .others = speeds.others(),
                             .text = sentence(RemarkId::slower_link, link_words(gpu), link_words(*sister),
                                              speeds.others(), model, cause)});
    }
  }
  const FleetGpu *sister_with(const Members &members, double speed) const {
    for (const auto index : members) {
      if (link_speed(fleet_.gpus[index]) == speed) return &fleet_.gpus[index];
    }
    return nullptr;
  }

  // ---- the same job

  void compare_job(std::string_view job, const Members &members) {
    std::set<std::size_t> hosts;
    for (const auto index : members) hosts.insert(fleet_.gpus[index].host);
    if (hosts.size() < 2 || members.size() <= limits_.job_others) return;
    if (compare_work(job, members, FleetSteady::true_activity)) return;
    // Where nobody tells what the processors do: a GPU that waits is busy, at little power.
    if (!compare_work(job, members, FleetSteady::power)) compare_work(job, members, FleetSteady::utilization);
  }

  // False: it is not known of all of them, and says nothing.
  bool compare_work(std::string_view job, const Members &members, FleetSteady what) {
    const auto work = [&](const FleetGpu &gpu) { return gpu[what]; };
    if (those(members, work).size() < members.size()) return false;
    const auto all = values_of(members, work);
    const auto apart = those(members, [&](const FleetGpu &gpu) { return is_apart(*work(gpu), all, what); });
    if (apart.empty()) return true;
    const auto hardware = hardware_of(members);
    const bool are_few = static_cast<double>(apart.size()) <= limits_.few_share * static_cast<double>(members.size());
    for (const auto index : apart) {
      auto &gpu = fleet_.gpus[index];
      const double own = *work(gpu), usual = all.median_beside(own);
      const auto cause = cause_of(gpu, hardware, own >= usual);
      const bool is_lone = apart.size() == 1 && what != FleetSteady::power && own - usual >= limits_.job_far_percent;
      if (cause.words.empty() && (!are_few || job.starts_with("pods "))) continue;
      const bool is_straggler = !cause.words.empty() || is_lone;
      const auto id = is_straggler ? RemarkId::job_straggler : RemarkId::job_differs;
      gpu.remarks.push_back({.id = id,
                             .weight = cause.is_hardware || is_lone ? Weight::problem : Weight::note,
                             .metric = metric_of(what),
                             .value = own,
                             .usual = usual,
                             .others = all.others(),
                             .text = job_sentence(id, what, own, usual, all.others(), job, cause)});
    }
    return true;
  }

  static Text job_sentence(RemarkId id, FleetSteady what, double own, double usual, std::size_t others,
                           std::string_view job, const Cause &cause) {
    const std::string_view verb = what == FleetSteady::power           ? "draws "
                                  : what == FleetSteady::true_activity ? "truly used "
                                                                       : "used ";
    return sentence(id, fmt::format("{}{}", verb, amount(what, own)), amount(what, usual), others, job, cause);
  }

  bool is_apart(double own, const Values &all, FleetSteady what) const {
    const insight::Thresholds one_host;
    const double usual = all.median_beside(own), distance = std::abs(own - usual);
    if (distance <= limits_.spreads * all.spread()) return false;
    if (std::min(own, usual) > one_host.imbalance_share * std::max(own, usual)) return false;
    constexpr double kLeastWatts = 30;  // two idle boards may differ by so much
    return distance >= (what == FleetSteady::power ? kLeastWatts : one_host.imbalance_percent);
  }

  // What the hardware of a job does, where it is told; links of those that are in use, for others sleep.
  struct Hardware {
    Values clocks, powers, speeds;
  };
  Hardware hardware_of(const Members &members) const {
    const auto awake = those(members, [&](const FleetGpu &gpu) { return is_used(gpu) && link_speed(gpu); });
    return {.clocks = values_of(those(members, clock_of), clock_of),
            .powers = values_of(those(members, power_of), power_of),
            .speeds = values_of(awake, link_speed)};
  }

  // What is worse about its hardware than about that of the others.
  Cause cause_of(const FleetGpu &gpu, const Hardware &others, bool works_more) const {
    Cause cause;
    // A GPU that rests has a low clock because it rests.
    const auto clock = clock_of(gpu);
    if (clock && others.clocks.others() >= limits_.job_others && (works_more || is_busy(gpu))) {
      const double usual = others.clocks.median_beside(*clock);
      const bool is_low = *clock <= (1 - limits_.clock_share) * usual;
      const bool is_held_back = has(gpu, FindingId::throttled_thermal) || has(gpu, FindingId::throttled_hardware);
      const bool is_far = *clock <= (1 - limits_.far_clock_share) * usual;
      if (is_low && (is_held_back || !is_excused(gpu, others.powers, is_far))) {
        cause.add(fmt::format("its clock is {} against {}", amount(FleetSteady::clock, *clock),
                              amount(FleetSteady::clock, usual)),
                  true);
      }
    }
    const auto speed = link_speed(gpu);
    if (speed && is_used(gpu) && others.speeds.others() >= limits_.job_others &&
        *speed <= 0.75 * others.speeds.median_beside(*speed)) {
      cause.add(fmt::format("its PCIe link is only {}", link_words(gpu)), true);
    }
    for (const auto id : {FindingId::throttled_thermal, FindingId::throttled_hardware, FindingId::health}) {
      add_finding(cause, gpu, id, true);
    }
    for (const auto code : gpu.errors) {
      const auto *xid = find_xid(code);
      if (xid != nullptr && !xid->application) cause.add(fmt::format("XID {}", code), true);
    }
    return cause;
  }

  FleetSnapshot &fleet_;
  const SisterLimits &limits_;
  std::set<std::pair<std::size_t, std::string>> parted_{};  // host and uuid
};

}  // namespace

void add_remarks(FleetSnapshot &fleet, const SisterLimits &limits) { Comparison(fleet, limits).make(); }

}  // namespace gpulse::fleet
