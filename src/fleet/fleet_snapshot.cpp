// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "fleet/engine_gpus.hpp"
#include "fleet/engine_values.hpp"
#include "fleet/fleet_clocks.hpp"
#include "fleet/fleet_keys.hpp"
#include "fleet/fleet_sisters.hpp"
#include "fleet/foreign.hpp"
#include "insight/catalogue.hpp"
#include "model/plausible.hpp"

namespace gpulse::fleet {

namespace {

using namespace std::chrono_literals;
using Parts = FleetParts;
using Index = std::unordered_map<std::string, std::size_t>;
using Clusters = std::map<std::string, std::set<std::string>, std::less<>>;  // by a name that they may share

constexpr std::size_t kMostOwners = 16;  // of a GPU; an agent names at most nine
constexpr std::size_t kMostErrors = 16;
constexpr Seconds kLatency = 90s;  // a scrape may be a minute away, and an engine may keep the newest 30 seconds back
constexpr Seconds kSilent = 60s;

std::string key_of_host(const FleetHost &host) { return host_key_of(host.instance, host.cluster_label); }

GpuState state_of(std::string_view state) {
  if (state == word(DeviceState::lost)) return GpuState::lost;
  if (state == word(DeviceState::not_responding)) return GpuState::not_responding;
  return state == word(DeviceState::asleep) ? GpuState::asleep : GpuState::ok;
}

insight::Weight weight_of(std::string_view severity) {
  if (severity == insight::word(insight::Weight::problem)) return insight::Weight::problem;
  return severity == insight::word(insight::Weight::ok) ? insight::Weight::ok : insight::Weight::note;
}

class FleetMaker {
 public:
  FleetMaker(WallTime at, Seconds interval) : interval_(interval) { fleet_.at = at; }

  FleetSnapshot make(const FleetAnswers &answers, std::span<const ForeignAnswers> foreign) {
    note_present(answers);
    note_moved(answers);
    add_gpus(answers);
    add_moments(answers);
    for (const auto &exporter : foreign) add_foreign(exporter);
    name_shared();
    dropped_.resize(fleet_.gpus.size());
    told_.resize(fleet_.gpus.size());
    has_state_.resize(fleet_.gpus.size());
    judge_silence();
    take_states(answers.parts);
    take_readings(answers.parts);
    take_steady(answers.parts);
    if (answers.parts[static_cast<std::size_t>(FleetPart::state)] != nullptr) drop_replaced();
    take_owners(answers.parts);
    take_owners_before(answers.parts);
    take_troubles(answers.parts);
    note_untold(answers.parts);
    for (const auto &exporter : foreign) take_foreign(exporter);
    sum_up_foreign();
    fold_instances();
    for (auto &gpu : fleet_.gpus) tidy(gpu);
    tell_jobs_apart();
    drop();
    note_doubles();
    add_remarks(fleet_);
    return std::move(fleet_);
  }

 private:
  // An agent and another exporter may have the same instance.
  static std::string place_key(std::string_view instance, std::string_view cluster, Exporter exporter) {
    return key_of_parts({word(exporter), instance, cluster});
  }
  static std::string place_key(const EngineSeries &series, Exporter exporter) {
    return place_key(series.label("instance"), series.label("cluster"), exporter);
  }
  std::size_t host_at(std::string_view instance, std::string_view cluster, Exporter exporter) {
    const auto [found, is_new] = hosts_.try_emplace(place_key(instance, cluster, exporter), fleet_.hosts.size());
    if (is_new) {
      fleet_.hosts.push_back({.instance = std::string(instance),
                              .name = short_text(host_of(instance)),
                              .cluster = short_text(cluster),
                              .exporter = exporter,
                              .cluster_label = std::string(cluster)});
    }
    return found->second;
  }
  std::size_t host_at(const EngineSeries &series, Exporter exporter) {
    return host_at(series.label("instance"), series.label("cluster"), exporter);
  }
  static std::string key_of(std::size_t host, std::string_view uuid) {
    return key_of_parts({std::string_view(reinterpret_cast<const char *>(&host), sizeof host), uuid});
  }

  void note_present(const FleetAnswers &answers) {
    const auto take = [&](std::span<const EngineSeries> series, std::size_t rank) {
      for (const auto &one : series) present_[host_key_of(one)] |= rank;
    };
    take(part_of(answers.parts, FleetPart::alive), kIsAlive);
    take(answers.last_alive, 0);
    take(part_of(answers.parts, FleetPart::state), kTellsState);
  }

  // A host that was given a cluster, or another one, within the day is known by both. Its GPUs tell that it is the
  // same.
  void note_moved(const FleetAnswers &answers) {
    std::map<std::string, WallTime> last;
    const auto take = [&](std::span<const EngineSeries> series) {
      for (const auto &one : series) {
        auto &newest = last[host_key_of(one)];
        newest = std::max(newest, moment_of(one).value_or(WallTime()));
      }
    };
    take(part_of(answers.parts, FleetPart::alive));
    take(answers.last_alive);
    const auto gpu_key = [](const EngineSeries &info) {
      return std::pair(std::string(info.label("instance")), std::string(info.label("uuid")));
    };
    const auto last_of = [&](const EngineSeries &info) {
      const auto found = last.find(host_key_of(info));
      return found == last.end() ? WallTime() : found->second;
    };
    std::map<std::pair<std::string, std::string>, WallTime> newest;
    for (const auto &info : answers.infos) {
      auto &known = newest[gpu_key(info)];
      known = std::max(known, last_of(info));
    }
    for (const auto &info : answers.infos) {
      if (newest[gpu_key(info)] - last_of(info) > silent_limit()) moved_.insert(host_key_of(info));
    }
  }
  Seconds silent_limit() const { return kSilent + 3 * interval_; }

  // VictoriaMetrics tells of all hosts of a day, those that were not there yet too.
  void add_gpus(const FleetAnswers &answers) {
    auto all = gpus_of(answers.infos, true);
    number_anew(all, answers.parts);
    for (auto &known : all) {
      const auto key = host_key_of(known.instance, known.cluster);
      if (moved_.contains(key) || (answers.knows_silent && !present_.contains(key))) continue;
      const auto host = host_at(known.instance, known.cluster, Exporter::gpulse);
      uuids_[plain_uuid(known.uuid)] = host;
      index_[key_of(host, known.uuid)] = fleet_.gpus.size();
      fleet_.gpus.push_back({.host = host,
                             .uuid = known.uuid,
                             .parent = known.parent,
                             .id = known.id ? text(*known.id) : std::string("?"),
                             .name = short_text(known.name),
                             .vendor = short_text(known.vendor),
                             .pci = short_text(known.pci)});
    }
  }

  // In the list of a day a GPU may have the number that it had before a restart.
  static void number_anew(std::vector<EngineGpu> &gpus, const Parts &parts) {
    std::map<std::string, DeviceId> numbers;
    const auto key = [](std::string_view instance, std::string_view cluster, std::string_view uuid) {
      return key_of_parts({instance, cluster, uuid});
    };
    for (const auto &series : part_of(parts, FleetPart::state)) {
      const auto id = parse_device_id(series.label("gpu"));
      if (id) numbers[key(series.label("instance"), series.label("cluster"), series.label("uuid"))] = *id;
    }
    for (auto &gpu : gpus) {
      const auto found = numbers.find(key(gpu.instance, gpu.cluster, gpu.uuid));
      if (found != numbers.end()) gpu.id = found->second;
    }
    sort_gpus(gpus);
  }

  // "east/n1" where another cluster has an n1 too.
  void name_shared() {
    Clusters of_instance, of_name;
    for (const auto &host : fleet_.hosts) {
      of_instance[host.instance].insert(host.cluster_label);
      // One exporter's series may have a label that the other's have not.
      if (!host.cluster.empty()) of_name[host.name.str()].insert(host.cluster_label);
    }
    for (auto &host : fleet_.hosts) {
      host.shares_instance = of_instance[host.instance].size() > 1;
      host.has_agent_beside = host.exporter != Exporter::gpulse &&
                              hosts_.contains(place_key(host.instance, host.cluster_label, Exporter::gpulse));
      const bool is_shared = host.shares_instance || of_name[host.name.str()].size() > 1;
      if (is_shared && !host.cluster.empty()) host.name = fmt::format("{}/{}", host.cluster, host.name);
    }
  }

  // Batch systems of two clusters number their jobs alike, and pods are named alike.
  void tell_jobs_apart() {
    Clusters clusters;
    const auto for_each_job = [&](auto &&take) {
      for (auto &gpu : fleet_.gpus) {
        const auto &cluster = fleet_.hosts[gpu.host].cluster;
        for (auto &owner : gpu.owners) {
          const auto &job = owner.job.empty() ? owner.pod : owner.job;
          if (!job.empty() && !cluster.empty()) take(owner, clusters[job.str()], cluster);
        }
      }
    };
    for_each_job([](FleetOwner &, auto &known, const Text &cluster) { known.insert(cluster.str()); });
    for_each_job([](FleetOwner &owner, const auto &known, const Text &cluster) {
      if (known.size() > 1) owner.cluster = cluster;
    });
  }

  void add_moments(const FleetAnswers &answers) {
    const auto take = [&](std::span<const EngineSeries> series) {
      for (const auto &one : series) {
        const auto moment = moment_of(one);
        if (!moment || moved_.contains(host_key_of(one))) continue;
        auto &host = fleet_.hosts[host_at(one, Exporter::gpulse)];
        if (!host.last || *host.last < *moment) host.last = *moment;
      }
    };
    const auto *alive = answers.parts[static_cast<std::size_t>(FleetPart::alive)];
    knows_moments_ = alive != nullptr;
    if (alive != nullptr) take(*alive);
    take(answers.last_alive);
    clocks_.emplace(answers.parts);
  }

  // What an exporter tells of a GPU, or of an instance, in all its series.
  struct Foreign {
    FleetGpu gpu{};
    WallTime last{};
    std::vector<Text> jobs{};  // at that time
  };
  using Foreigners = std::map<std::string, Foreign>;

  void add_foreign(const ForeignAnswers &answers) {
    const auto &exporter = *answers.exporter;
    // As agents, hosts may have been given a cluster.
    std::map<std::pair<std::string_view, std::string_view>, std::pair<WallTime, std::string_view>> newest;
    for (const auto &series : answers.present) {
      const auto told = std::pair(moment_of(series).value_or(WallTime()), series.label("cluster"));
      auto &best = newest[{series.label("instance"), series.label(exporter.uuid)}];
      best = std::max(best, told);
    }
    Foreigners known;
    for (const auto &series : answers.present) {
      const auto moment = moment_of(series);
      const auto uuid = series.label(exporter.uuid);
      const auto &[last_told, cluster] = newest[{series.label("instance"), uuid}];
      if (moment && cluster != series.label("cluster") && last_told - *moment > silent_limit()) continue;
      // What somebody else tells of is not shown twice.
      if (!moment || uuid.empty() || uuids_.contains(plain_uuid(uuid))) continue;
      const auto host = host_at(series, exporter.exporter);
      name_foreign(fleet_.hosts[host], exporter, series);
      auto &last = fleet_.hosts[host].last;
      if (!last || *last < *moment) last = *moment;
      const auto gpu = foreign_gpu(host, exporter, series);
      note_foreign(known[foreign_key(host, exporter, series)], gpu, *moment, series.label("hpc_job"));
      // DCGM tells of a GPU that is parted by its instances alone.
      if (!gpu.parent.empty()) note_foreign(known[whole_key(gpu)], whole_of(gpu), *moment, {});
    }
    take_foreigners(known);
  }

  static void note_foreign(Foreign &one, const FleetGpu &gpu, WallTime moment, std::string_view job) {
    if (one.gpu.uuid.empty()) one.gpu = gpu;
    if (moment < one.last) return;
    // A job that has ended has a series of its own, which ends before that of the next.
    if (moment > one.last) one.jobs.clear();
    if (!job.empty() && one.jobs.size() < kMostOwners) add_once(one.jobs, short_text(job));
    one.last = moment;
  }

  static FleetGpu whole_of(const FleetGpu &instance) {
    auto whole = instance;
    whole.uuid = std::exchange(whole.parent, {});
    whole.id = Text(instance.id.str().substr(0, instance.id.str().find(':')));
    return whole;
  }
  std::string whole_key(const FleetGpu &instance) const {
    const bool is_foreign = fleet_.hosts[instance.host].exporter != Exporter::gpulse;
    return key_of(instance.host, is_foreign ? instance.parent + "/" : instance.parent);
  }

  // In the order of hosts and numbers. One that has fallen away while its host goes on is gone, unless another one has
  // its place now.
  void take_foreigners(Foreigners &known) {
    std::vector<Foreigners::value_type *> order;
    Index seats;
    for (auto &each : known) {
      auto &[gpu, last, jobs] = each.second;
      order.push_back(&each);
      uuids_[plain_uuid(gpu.parent.empty() ? gpu.uuid : gpu.parent)] = gpu.host;
      if (*fleet_.hosts[gpu.host].last - last > silent_limit()) {
        gpu.state = GpuState::gone;
      } else {
        for (const auto &job : jobs) add_owner(gpu, {.job = job});
        seats.try_emplace(seat_of(gpu));
      }
    }
    std::ranges::stable_sort(order, {}, [](const auto *each) {
      const auto &gpu = each->second.gpu;
      return std::pair(gpu.host, parse_device_id(gpu.id.str()).value_or(DeviceId{}));
    });
    for (auto *each : order) {
      auto &gpu = each->second.gpu;
      if (gpu.state == GpuState::gone && (!gpu.parent.empty() || seats.contains(seat_of(gpu)))) continue;
      index_[each->first] = fleet_.gpus.size();
      fleet_.gpus.push_back(std::move(gpu));
    }
  }

  static void name_foreign(FleetHost &host, const ForeignExporter &exporter, const EngineSeries &series) {
    const auto name = series.label("Hostname").empty() ? series.label("hostname") : series.label("Hostname");
    std::string_view address = host.instance;
    if (address.ends_with(exporter.port)) address.remove_suffix(exporter.port.size());
    host.name = short_text(name.empty() ? address : name);
  }

  static FleetGpu foreign_gpu(std::size_t host, const ForeignExporter &exporter, const EngineSeries &series) {
    auto names = foreign_names(exporter, series);
    return {.host = host,
            .uuid = std::move(names.uuid),
            .parent = std::move(names.parent),
            .id = std::move(names.id),
            .name = std::move(names.name),
            .vendor = "nvidia"};
  }

  std::string foreign_key(std::size_t host, const ForeignExporter &exporter, const EngineSeries &series) const {
    return key_of(host, fmt::format("{}/{}", series.label(exporter.uuid), series.label("GPU_I_ID")));
  }

  void judge_clocks() {
    std::vector<std::string> wrong;
    for (auto &host : fleet_.hosts) {
      if (host.exporter != Exporter::gpulse || !host.last) continue;
      const auto corrected = clocks_->corrected(key_of_host(host), *host.last, silent_limit());
      if (!corrected) continue;
      wrong.push_back(fmt::format("that of {} is {}", host.name, off_words(*host.last - *corrected)));
      host.last = corrected;
    }
    if (wrong.empty()) return;
    const auto more = wrong.size() > 1 ? fmt::format(", and {} more", wrong.size() - 1) : std::string();
    fleet_.faults.push_back({.what = "clocks", .why = wrong.front() + more});
  }

  // How far the newest sample of all hosts lies back is the way to the engine, not the hosts'; but no more than that.
  void judge_silence() {
    judge_clocks();
    std::optional<WallTime> newest;
    for (const auto &host : fleet_.hosts) {
      if (host.last && *host.last <= fleet_.at && (!newest || *newest < *host.last)) newest = host.last;
    }
    const auto latency = newest ? std::min(Seconds(fleet_.at - *newest), kLatency) : Seconds(0);
    for (auto &host : fleet_.hosts) {
      if (host.exporter == Exporter::gpulse && !knows_moments_) continue;
      // One of another version, which does not tell when it took its samples.
      const auto found = present_.find(key_of_host(host));
      const auto present = found == present_.end() ? 0U : found->second;
      if (!host.last && present == kTellsState) continue;
      const auto limit = silent_limit();
      const Seconds age = host.last ? Seconds(fleet_.at - *host.last) - latency : limit;
      host.is_since_unknown = !host.last;
      // Prometheus drops what it cannot scrape at once: the host is away, not its GPUs.
      const bool is_away = host.exporter == Exporter::gpulse && (present & kIsAlive) == 0;
      if (age <= limit && !host.is_since_unknown && !is_away) continue;
      host.silent_for = std::max(age, Seconds(0));
      // By a clock that is ahead nobody knows.
      if (host.last && *host.last > fleet_.at) host.is_since_unknown = true;
    }
  }

  FleetGpu *find(const EngineSeries &series) {
    const auto host = hosts_.find(place_key(series, Exporter::gpulse));
    if (host == hosts_.end()) return nullptr;
    const auto found = index_.find(key_of(host->second, series.label("uuid")));
    return found == index_.end() || is_silent(fleet_.gpus[found->second]) ? nullptr : &fleet_.gpus[found->second];
  }
  bool is_silent(const FleetGpu &gpu) const { return fleet_.hosts[gpu.host].silent_for.has_value(); }

  void take_states(const Parts &parts) {
    for (auto &gpu : fleet_.gpus) {
      if (is_silent(gpu)) gpu.state = GpuState::silent;
    }
    for (const auto &series : part_of(parts, FleetPart::state)) {
      auto *gpu = find(series);
      if (gpu == nullptr) continue;
      told_[place_of(*gpu)] = has_state_[place_of(*gpu)] = true;
      gpu->state = std::max(gpu->state, state_of(series.label("state")));
    }
  }

  std::size_t place_of(const FleetGpu &gpu) const { return static_cast<std::size_t>(&gpu - fleet_.gpus.data()); }
  // Numbers move when a GPU falls away; slots do not.
  static std::string seat_of(const FleetGpu &gpu) {
    if (!gpu.pci.empty()) return key_of(gpu.host, gpu.pci.str());
    return key_of(gpu.host, gpu.id == "?" ? std::string_view(gpu.uuid) : std::string_view(gpu.id.str()));
  }

  // A GPU of which nothing is told is gone, unless another one has its place now: instances are made and unmade every
  // day. One with readings and no state is told of by another version.
  void drop_replaced() {
    Index seats;
    for (std::size_t i = 0; i < told_.size(); ++i) {
      const bool has_reading =
          std::ranges::any_of(fleet_.gpus[i].readings, [](const auto &one) { return one.has_value(); });
      if (has_reading) told_[i] = true;
      if (told_[i] && fleet_.gpus[i].parent.empty()) seats[seat_of(fleet_.gpus[i])] = i;
    }
    for (std::size_t i = 0; i < told_.size(); ++i) {
      auto &gpu = fleet_.gpus[i];
      if (fleet_.hosts[gpu.host].exporter != Exporter::gpulse || is_silent(gpu) || told_[i]) continue;
      gpu.state = GpuState::gone;
      dropped_[i] = !gpu.parent.empty() || seats.contains(seat_of(gpu));
    }
  }

  static void set_reading(FleetGpu &gpu, FleetReading reading, double value) {
    const auto slot = static_cast<std::size_t>(reading);
    if (!std::isfinite(value)) return;
    if (const auto good = plausible(kReadingMetrics[slot], value)) gpu.readings[slot] = good.value();
  }

  void take_readings(const Parts &parts) {
    for (std::size_t i = 0; i < kFleetReadings; ++i) {
      const auto scale = prometheus_scale(describe(kReadingMetrics[i]));
      for (const auto &series : part_of(parts, static_cast<FleetPart>(i))) {
        auto *gpu = find(series);
        // An engine may go on for minutes with the last value of what is no more.
        if (gpu == nullptr || series.points.empty() || gpu->state > GpuState::silent) continue;
        set_reading(*gpu, static_cast<FleetReading>(i), series.points.back().value / scale);
      }
    }
  }

  void take_steady(const Parts &parts) {
    for (std::size_t i = 0; i < kFleetSteady; ++i) {
      const auto scale = prometheus_scale(describe(kSteadyMetrics[i]));
      for (const auto &series : part_of(parts, fleet::part_of(static_cast<FleetSteady>(i)))) {
        auto *gpu = find(series);
        if (gpu == nullptr || series.points.empty() || gpu->state != GpuState::ok) continue;
        const double value = series.points.back().value / scale;
        if (!std::isfinite(value)) continue;
        auto good = plausible(kSteadyMetrics[i], value);
        // A mean of ones may be more than one by a rounding.
        if (!good) good = plausible(kSteadyMetrics[i], value * (1 - 1e-9));
        if (good) gpu->steady[i] = good.value();
      }
    }
  }

  template <class T>
  static void add_once(std::vector<T> &list, const T &one) {
    if (std::ranges::find(list, one) == list.end()) list.push_back(one);
  }

  static void add_owner(FleetGpu &gpu, const FleetOwner &owner) {
    gpu.held = true;
    if (gpu.owners.size() < kMostOwners) add_once(gpu.owners, owner);
  }

  void take_owners(const Parts &parts) {
    if (parts[static_cast<std::size_t>(FleetPart::owners)] == nullptr) return;
    for (auto &gpu : fleet_.gpus) {
      if (fleet_.hosts[gpu.host].exporter == Exporter::gpulse && gpu.state == GpuState::asleep) gpu.held = false;
    }
    // One whose processes could not be listed is not free.
    for (const auto &series : part_of(parts, FleetPart::processes)) {
      if (auto *gpu = find(series); gpu != nullptr && gpu->state <= GpuState::asleep) gpu->held = false;
    }
    for (const auto &series : part_of(parts, FleetPart::owners)) {
      if (auto *gpu = find(series); gpu != nullptr) add_owner(*gpu, owner_of(series));
    }
  }

  static FleetOwner owner_of(const EngineSeries &series) {
    auto pod = short_text(series.label("gpu_pod"));
    if (const auto space = series.label("gpu_namespace"); !space.empty() && !pod.empty()) {
      pod = fmt::format("{}/{}", short_text(space), pod);
    }
    return {.user = short_text(series.label("user")),
            .job = short_text(series.label("batch_job")),
            .account = short_text(series.label("batch_account")),
            .pod = std::move(pod)};
  }

  void take_owners_before(const Parts &parts) {
    std::map<std::size_t, std::vector<FleetOwner>> before;
    for (const auto &series : part_of(parts, FleetPart::owners_before)) {
      const auto *gpu = find(series);
      if (gpu == nullptr) continue;
      auto &owners = before[place_of(*gpu)];
      if (owners.size() < kMostOwners) add_once(owners, owner_of(series));
    }
    for (const auto &[place, owners] : before) {
      auto &gpu = fleet_.gpus[place];
      gpu.is_settled = !gpu.owners.empty() && std::ranges::all_of(gpu.owners, [&](const FleetOwner &owner) {
        return std::ranges::find(owners, owner) != owners.end();
      });
    }
  }

  void take_troubles(const Parts &parts) {
    for (const auto &series : part_of(parts, FleetPart::findings)) {
      auto *gpu = find(series);
      if (gpu == nullptr || gpu->findings.size() >= insight::kFindingIds) continue;
      FleetFinding found{.id = short_text(series.label("finding")), .weight = weight_of(series.label("severity"))};
      add_once(gpu->findings, found);
    }
    for (const auto &series : part_of(parts, FleetPart::errors)) {
      auto *gpu = find(series);
      const auto code = parse_integer<std::uint32_t>(series.label("xid"));
      if (gpu == nullptr || !code || gpu->errors.size() >= kMostErrors) continue;
      add_once(gpu->errors, *code);
    }
    for (const auto &series : part_of(parts, FleetPart::idle)) {
      if (auto *gpu = find(series); gpu != nullptr && gpu->held.value_or(false)) gpu->idle = true;
    }
  }

  void note_untold(const Parts &parts) {
    const auto is_asked = [&](FleetPart part) { return parts[static_cast<std::size_t>(part)] != nullptr; };
    for (std::size_t i = 0; i < fleet_.gpus.size(); ++i) {
      auto &gpu = fleet_.gpus[i];
      const bool has_agent = fleet_.hosts[gpu.host].exporter == Exporter::gpulse && !is_silent(gpu);
      // Where nobody knows which hosts are silent, what is well may be old.
      gpu.untold = {.state = gpu.state <= GpuState::asleep && !(has_agent && has_state_[i] && knows_moments_),
                    .findings = !has_agent || !is_asked(FleetPart::findings),
                    .errors = !has_agent || !is_asked(FleetPart::errors),
                    .idle = !has_agent || !is_asked(FleetPart::idle) || !is_asked(FleetPart::owners)};
    }
  }

  void take_foreign(const ForeignAnswers &answers) {
    for (std::size_t i = 0; i < answers.readings.size(); ++i) {
      if (answers.readings[i] == nullptr) continue;
      const auto &reading = answers.exporter->readings[i];
      for (const auto &series : *answers.readings[i]) {
        const auto host = hosts_.find(place_key(series, answers.exporter->exporter));
        if (host == hosts_.end()) continue;
        const auto found = index_.find(foreign_key(host->second, *answers.exporter, series));
        if (found == index_.end() || series.points.empty()) continue;
        auto &gpu = fleet_.gpus[found->second];
        if (gpu.state >= GpuState::silent) continue;
        set_reading(gpu, reading.reading, series.points.back().value * reading.scale);
      }
    }
  }

  // Who is on an instance is on its GPU, and what is wrong with the one is wrong with the other.
  void fold_instances() {
    for (std::size_t i = 0; i < fleet_.gpus.size(); ++i) {
      const auto &instance = fleet_.gpus[i];
      if (instance.parent.empty() || dropped_[i]) continue;
      const auto found = index_.find(whole_key(instance));
      if (found == index_.end() || found->second == i) continue;
      auto &whole = fleet_.gpus[found->second];
      for (const auto &owner : instance.owners) add_owner(whole, owner);
      for (const auto &finding : instance.findings) {
        if (whole.findings.size() < insight::kFindingIds) add_once(whole.findings, finding);
      }
    }
  }

  // DCGM repeats on each instance what the board draws and how hot it is; each has its part of the memory.
  void sum_up_foreign() {
    struct Instances {
      std::array<std::vector<double>, kFleetReadings> told{};
      std::size_t count = 0;
    };
    std::map<std::size_t, Instances> wholes;
    for (const auto &instance : fleet_.gpus) {
      const bool is_foreign = fleet_.hosts[instance.host].exporter != Exporter::gpulse;
      if (!is_foreign || instance.parent.empty() || instance.state >= GpuState::silent) continue;
      // It has none where an exporter's labels contradict each other.
      const auto whole = index_.find(whole_key(instance));
      if (whole == index_.end()) continue;
      auto &parts = wholes[whole->second];
      ++parts.count;
      for (std::size_t i = 0; i < kFleetReadings; ++i) {
        if (instance.readings[i]) parts.told[i].push_back(*instance.readings[i]);
      }
    }
    for (const auto &[place, parts] : wholes) {
      auto &readings = fleet_.gpus[place].readings;
      for (const auto reading : {FleetReading::power, FleetReading::temperature}) {
        const auto slot = static_cast<std::size_t>(reading);
        if (!readings[slot] && !parts.told[slot].empty()) readings[slot] = std::ranges::max(parts.told[slot]);
      }
      for (const auto reading : {FleetReading::memory_used, FleetReading::memory_total}) {
        const auto slot = static_cast<std::size_t>(reading);
        const auto &told = parts.told[slot];
        if (readings[slot] || told.size() < parts.count) continue;
        readings[slot] = std::accumulate(told.begin(), told.end(), 0.0);
      }
    }
  }

  static void tidy(FleetGpu &gpu) {
    std::ranges::sort(gpu.errors);
    const auto worst = std::ranges::max_element(gpu.findings, {}, &FleetFinding::weight);
    if (worst != gpu.findings.end()) std::iter_swap(gpu.findings.begin(), worst);
    if (gpu.state != GpuState::silent) return;
    gpu.held.reset();
    gpu.owners.clear();
  }

  void drop() {
    std::size_t next = 0;
    for (std::size_t i = 0; i < fleet_.gpus.size(); ++i) {
      if (dropped_[i]) continue;
      if (next != i) fleet_.gpus[next] = std::move(fleet_.gpus[i]);
      ++next;
    }
    fleet_.gpus.resize(next);
    for (auto &host : fleet_.hosts) {
      if (host.name.empty()) host.name = "?";
    }
  }

  // One that is scraped and writes by itself too, say.
  void note_doubles() {
    Index seen;
    std::size_t twice = 0;
    for (const auto &gpu : fleet_.gpus) {
      if (gpu.state < GpuState::silent && ++seen[plain_uuid(gpu.uuid)] == 2) ++twice;
    }
    if (twice == 0) return;
    fleet_.faults.push_back({.what = "GPUs",
                             .why = fmt::format("{} known on two hosts, and counted on both",
                                                twice == 1 ? "1 is" : fmt::format("{} are", twice))});
  }

  FleetSnapshot fleet_{};
  Seconds interval_;
  Index hosts_{}, index_{};
  static constexpr std::size_t kTellsState = 1, kIsAlive = 2;
  Index present_{};                             // agents of which anything is known now
  std::set<std::string, std::less<>> moved_{};  // hosts that are known by another cluster now
  Index uuids_{};                               // that are told of, as plain_uuid has them
  std::vector<bool> told_{}, has_state_{}, dropped_{};
  bool knows_moments_ = false;
  std::optional<FleetClocks> clocks_{};
};

}  // namespace

std::string_view word(Exporter exporter) {
  constexpr std::array<std::string_view, 3> kWords{"gpulse", "dcgm", "nvidia-smi"};
  return kWords[static_cast<std::size_t>(exporter)];
}

std::string_view word(GpuState state) {
  constexpr std::array<std::string_view, 6> kWords{"ok", "asleep", "silent", "gone", "not responding", "lost"};
  return kWords[static_cast<std::size_t>(state)];
}

std::string_view why_unknown(const FleetSnapshot &fleet, const FleetGpu &gpu, FleetReading reading) {
  if (gpu.state != GpuState::ok) return word(gpu.state);
  const auto part = static_cast<FleetPart>(reading);
  const bool has_agent = fleet.hosts[gpu.host].exporter == Exporter::gpulse;
  for (const auto &fault : fleet.faults) {
    if (has_agent && fault.part == part && !fault.as_of) return fault.why;
  }
  return "no such series, or no value that can be";
}

FleetSnapshot make_fleet(const FleetAnswers &answers, std::span<const ForeignAnswers> foreign, WallTime at,
                         Seconds interval) {
  return FleetMaker(at, interval).make(answers, foreign);
}

std::vector<std::string> missing_hosts(const FleetAnswers &answers) {
  const auto *alive = answers.parts[static_cast<std::size_t>(FleetPart::alive)];
  if (alive == nullptr) return {};
  std::set<std::string> there, missing;
  for (const auto &series : *alive) there.insert(host_key_of(series));
  for (const auto &info : answers.infos) {
    if (!there.contains(host_key_of(info))) missing.emplace(info.label("instance"));
  }
  return {missing.begin(), missing.end()};
}

}  // namespace gpulse::fleet
