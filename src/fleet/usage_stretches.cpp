// SPDX-License-Identifier: Apache-2.0
#include "fleet/usage_stretches.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "insight/catalogue.hpp"

namespace gpulse::fleet {

namespace {

using insight::DeviceStretch;
using insight::GpuTime;

// Made by the vendor, and no other GPU in the world has the same.
bool is_unique(std::string_view uuid) { return uuid.starts_with("GPU-") || uuid.starts_with("MIG-"); }

// The batch job, else the pod, else the container. Pods of two namespaces may have one name.
std::string job_of(const EngineSeries &series) {
  if (const auto job = series.label("batch_job"); !job.empty()) return std::string(job);
  const auto space = series.label("gpu_namespace");
  if (const auto pod = series.label("gpu_pod"); !pod.empty()) {
    return space.empty() ? std::string(pod) : std::string(space) + "/" + std::string(pod);
  }
  return std::string(series.label("gpu_container"));
}

std::string all_labels(const EngineSeries &series) {
  auto labels = series.labels;
  std::ranges::sort(labels);
  std::string text;
  for (const auto &[name, value] : labels) text.append(name).append("\n").append(value).append("\n\n");
  return text;
}

std::optional<double> part_of(float amount, double seconds) {
  if (amount < 0 || seconds <= 0) return std::nullopt;
  return std::clamp(static_cast<double>(amount) / seconds, 0.0, 1.0);
}

}  // namespace

UsageStretches::UsageStretches(std::vector<EngineGpu> gpus, bool is_part) : is_part_(is_part) {
  for (auto &gpu : gpus) {
    const auto [place, is_new] = places_.try_emplace({gpu.instance, gpu.uuid}, gpus_.size());
    if (is_new) gpus_.push_back({.known = std::move(gpu)});
  }
  usage_.source = insight::UsageSource::engine;
}

void UsageStretches::begin(const UsagePlan::Run &run, std::size_t first, std::size_t count,
                           std::chrono::seconds resolution) {
  run_ = run;
  first_ = first;
  count_ = count;
  window_ = Seconds(run.window).count();
  resolution_ = Seconds(resolution).count();
  cells_.assign(gpus_.size() * count, {});
  for (auto &gpu : gpus_) {
    gpu.owners.clear();
    gpu.findings.clear();
  }
}

std::optional<std::size_t> UsageStretches::place_of(const EngineSeries &series) {
  const auto uuid = series.label("uuid");
  if (uuid.empty()) return std::nullopt;
  Key key(series.label("instance"), uuid);
  if (const auto known = places_.find(key); known != places_.end()) return known->second;
  if (is_part_) return std::nullopt;
  const auto place = gpus_.size();
  gpus_.push_back({.known = {.instance = key.first, .uuid = key.second, .host = host_of(key.first)}});
  places_.emplace(std::move(key), place);
  cells_.resize(gpus_.size() * count_);
  return place;
}

// Which one ends at this time.
std::optional<std::size_t> UsageStretches::stretch_at(double time) const {
  const double first = Seconds(run_.end_of(first_).time_since_epoch()).count();
  const double place = std::round((time - first) / window_);
  if (!(place >= 0 && place < static_cast<double>(count_)) || std::abs(first + place * window_ - time) > 1) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(place);
}

// The seconds of each stretch in which it was there.
void UsageStretches::take_moments(const EngineSeries &series, std::vector<float> &to) const {
  to.resize(count_);
  for (const auto &[time, moments] : series.points) {
    const auto stretch = stretch_at(time);
    if (!stretch || !(moments > 0)) continue;
    to[*stretch] = std::max(to[*stretch], static_cast<float>(std::min(moments * resolution_, window_)));
  }
}

void UsageStretches::take_finding(UsagePart part, const EngineSeries &series) {
  const auto id = insight::finding_named(series.label("finding"));
  if (!id) return;  // of a newer gpulse
  const auto place = place_of(series);
  if (!place) {
    // It is about the machine.
    if (series.label("uuid").empty() && !is_part_) findings_.try_emplace(*id, insight::UsageFinding{.id = *id});
    return;
  }
  auto &known = gpus_[*place].findings[*id];
  if (part == UsagePart::stood) return take_moments(series, known.stood);
  known.lost.resize(count_, -1);
  for (const auto &[time, lost] : series.points) {
    const auto stretch = stretch_at(time);
    if (!stretch || !(lost >= 0)) continue;
    known.lost[*stretch] = std::max(known.lost[*stretch], static_cast<float>(std::min(lost, window_)));
  }
}

void UsageStretches::take_owner(const EngineSeries &series, Gpu &gpu) {
  Owner owner{.user = std::string(series.label("user")),
              .job = job_of(series),
              .account = std::string(series.label("batch_account"))};
  const auto [number, is_new] = owner_numbers_.try_emplace({owner.user, owner.job}, owners_.size());
  if (is_new) {
    owners_.push_back(std::move(owner));
  } else if (auto &account = owners_[number->second].account; account.empty()) {
    account = std::move(owner.account);
  }
  auto &known = gpu.owners[all_labels(series)];
  known.owner = number->second;
  take_moments(series, known.seconds);
}

void UsageStretches::take_values(UsagePart part, const EngineSeries &series, std::size_t gpu) {
  const auto value = part == UsagePart::active ? &Stretch::active
                     : part == UsagePart::used ? &Stretch::used
                                               : &Stretch::joules;
  for (const auto &[time, amount] : series.points) {
    const auto stretch = stretch_at(time);
    if (!stretch || !(amount >= 0) || !std::isfinite(amount)) continue;
    auto &to = at(gpu, *stretch).*value;
    to = std::max(to, static_cast<float>(amount));
  }
}

void UsageStretches::take(UsagePart part, std::span<const EngineSeries> series) {
  std::vector<float> seconds;
  for (const auto &each : series) {
    if (part == UsagePart::lost || part == UsagePart::stood) {
      take_finding(part, each);
      continue;
    }
    const auto place = place_of(each);
    if (!place) continue;
    if (part == UsagePart::held) {
      take_owner(each, gpus_[*place]);
    } else if (part == UsagePart::present) {
      seconds.clear();
      take_moments(each, seconds);
      for (std::size_t i = 0; i < count_; ++i) {
        if (seconds[i] > 0) at(*place, i).seconds = std::max(at(*place, i).seconds, seconds[i]);
      }
    } else {
      take_values(part, each, *place);
    }
  }
}

void UsageStretches::find_parents() {
  unique_uuids_.clear();
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    auto &gpu = gpus_[i];
    const auto parent = gpu.known.parent.empty() ? places_.end() : places_.find({gpu.known.instance, gpu.known.parent});
    gpu.parent = parent == places_.end() ? std::nullopt : std::optional(parent->second);
    if (is_unique(gpu.known.uuid)) unique_uuids_[gpu.known.uuid].push_back(i);
  }
  std::erase_if(unique_uuids_, [](const auto &entry) { return entry.second.size() < 2; });
}

void UsageStretches::add_up() {
  find_parents();
  for (std::size_t stretch = 0; stretch < count_; ++stretch) add_stretch(stretch);
}

void UsageStretches::add_stretch(std::size_t stretch) {
  std::vector<std::size_t> instances(gpus_.size());
  double recorded = 0;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    auto &cell = at(i, stretch);
    // Who scrapes may have been told to leave some families out.
    for (const auto &[labels, owner] : gpus_[i].owners) {
      if (owner.seconds[stretch] > 0) cell.seconds = std::max(cell.seconds, owner.seconds[stretch]);
    }
    recorded = std::max(recorded, static_cast<double>(cell.seconds));
    if (cell.seconds > 0 && gpus_[i].parent) ++instances[*gpus_[i].parent];
  }
  usage_.recorded_seconds += recorded;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    const auto &parent = gpus_[i].parent;
    const double part = parent && instances[*parent] > 0 ? 1 / static_cast<double>(instances[*parent]) : 1;
    add_findings(gpus_[i], stretch, part);
    // The instances of a GPU stand for it.
    if (at(i, stretch).seconds > 0 && instances[i] == 0) add_gpu(i, stretch, part);
  }
  for (const auto &[uuid, places] : unique_uuids_) {
    const auto there = std::ranges::count_if(places, [&](auto i) { return at(i, stretch).seconds > 0; });
    if (there > 1) told_twice_.insert(uuid);
  }
}

DeviceStretch UsageStretches::stretch_of(std::size_t gpu, std::size_t stretch) {
  const auto &cell = at(gpu, stretch);
  const double seconds = cell.seconds;
  auto joules = cell.joules;
  // Only the whole GPU has a meter. An instance is scaled down to its part of the GPU later on.
  if (joules < 0 && gpus_[gpu].parent) joules = at(*gpus_[gpu].parent, stretch).joules;
  return {.seconds = seconds,
          .utilization = part_of(cell.active, seconds),
          .true_activity = part_of(cell.used, seconds),
          .joules = joules < 0 ? std::nullopt : std::optional<double>(joules)};
}

void UsageStretches::add_gpu(std::size_t gpu, std::size_t stretch, double part) {
  const auto whole = stretch_of(gpu, stretch);
  std::vector<insight::Presence> present;
  std::vector<std::size_t> shares;
  for (const auto &[labels, owner] : gpus_[gpu].owners) {
    if (owner.seconds[stretch] <= 0) continue;
    present.push_back({.owner = owner.owner, .seconds = static_cast<double>(owner.seconds[stretch])});
    shares.push_back(share_of(gpu, owner.owner));
  }
  const auto held = insight::split_held(whole.seconds, present);
  double all = 0;
  for (const double seconds : held) all += seconds;
  for (std::size_t i = 0; i < held.size(); ++i) {
    auto &share = usage_.shares[shares[i]];
    share.time += insight::time_of_holder(whole, all, held[i]) * part;
    for (const auto &[id, finding] : gpus_[gpu].findings) {
      const auto lost = finding.lost.empty() ? 0 : finding.lost[stretch];
      if (lost > 0) share.lost[id] += part * static_cast<double>(lost) * held[i] / all;
    }
  }
  usage_.shares[nobody_of(gpu)].time += insight::time_of_nobody(whole, all) * part;
}

// How long each stood, and what it cost, whoever held the GPU.
void UsageStretches::add_findings(const Gpu &gpu, std::size_t stretch, double part) {
  for (const auto &[id, finding] : gpu.findings) {
    auto &sum = findings_.try_emplace(id, insight::UsageFinding{.id = id}).first->second;
    if (!finding.stood.empty()) sum.stood = sum.stood.value_or(0) + part * static_cast<double>(finding.stood[stretch]);
    const auto lost = finding.lost.empty() ? -1 : finding.lost[stretch];
    if (lost >= 0) sum.lost = sum.lost.value_or(0) + part * static_cast<double>(lost);
  }
}

insight::Holder UsageStretches::holder_of(const EngineGpu &gpu) const {
  return {.host = gpu.host, .uuid = gpu.uuid, .model = gpu.name};
}

std::size_t UsageStretches::share_of(std::size_t gpu, std::size_t owner) {
  const auto [share, is_new] = gpus_[gpu].shares.try_emplace(owner, usage_.shares.size());
  if (is_new) {
    auto holder = holder_of(gpus_[gpu].known);
    holder.user = owners_[owner].user;
    holder.job = owners_[owner].job;
    holder.account = owners_[owner].account;
    usage_.shares.push_back({.holder = std::move(holder)});
  }
  return share->second;
}

std::size_t UsageStretches::nobody_of(std::size_t gpu) {
  auto &place = gpus_[gpu].nobody;
  if (!place) {
    place = usage_.shares.size();
    auto holder = holder_of(gpus_[gpu].known);
    holder.is_nobody = true;
    usage_.shares.push_back({.holder = std::move(holder)});
  }
  return *place;
}

insight::Usage UsageStretches::usage() const {
  auto usage = usage_;
  std::erase_if(usage.shares, [](const insight::UsageShare &share) { return share.time.held <= 0; });
  for (const auto &[id, finding] : findings_) usage.findings.push_back(finding);
  usage.limits.told_twice = told_twice_.size();
  return usage;
}

}  // namespace gpulse::fleet
