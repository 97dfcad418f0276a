// SPDX-License-Identifier: Apache-2.0
// What an engine said of some stretches of time, GPU by GPU, and what that makes of a usage report. Pure; one thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fleet/engine_gpus.hpp"
#include "fleet/usage_plan.hpp"
#include "insight/usage.hpp"

namespace gpulse::fleet {

class UsageStretches {
 public:
  // `is_part`: GPUs that are not among these are not wanted; else what is not known is only not known by name.
  UsageStretches(std::vector<EngineGpu> gpus, bool is_part);

  // So many of this run, from the one by that number on. What was before is added up with add_up().
  void begin(const UsagePlan::Run &run, std::size_t first, std::size_t count, std::chrono::seconds resolution);
  // The same series may come twice: the greater values count.
  void take(UsagePart part, std::span<const EngineSeries> series);
  void add_up();

  // All that was added up.
  insight::Usage usage() const;

 private:
  using Key = std::pair<std::string, std::string>;  // instance and uuid
  // A value that is not known is negative.
  struct Stretch {
    float seconds = -1, active = -1, used = -1, joules = -1;
  };
  struct Owner {
    std::string user, job, account;
  };
  struct OwnerSeries {
    std::size_t owner = 0;
    std::vector<float> seconds{};
  };
  struct FindingSeries {
    std::vector<float> stood{}, lost{};  // empty: the engine has no such series; negative: not known
  };
  struct Gpu {
    EngineGpu known{};
    std::optional<std::size_t> parent{};
    std::map<std::string, OwnerSeries> owners{};  // by all of their labels
    std::map<insight::FindingId, FindingSeries> findings{};
    std::map<std::size_t, std::size_t> shares{};  // by owner
    std::optional<std::size_t> nobody{};          // its share
  };

  std::optional<std::size_t> place_of(const EngineSeries &series);
  std::optional<std::size_t> stretch_at(double time) const;
  Stretch &at(std::size_t gpu, std::size_t stretch) { return cells_[gpu * count_ + stretch]; }
  void take_moments(const EngineSeries &series, std::vector<float> &to) const;
  void take_finding(UsagePart part, const EngineSeries &series);
  void take_owner(const EngineSeries &series, Gpu &gpu);
  void take_values(UsagePart part, const EngineSeries &series, std::size_t gpu);
  void find_parents();
  void add_stretch(std::size_t stretch);
  void add_gpu(std::size_t gpu, std::size_t stretch, double part);
  void add_findings(const Gpu &gpu, std::size_t stretch, double part);
  insight::DeviceStretch stretch_of(std::size_t gpu, std::size_t stretch);
  std::size_t share_of(std::size_t gpu, std::size_t owner);
  std::size_t nobody_of(std::size_t gpu);
  insight::Holder holder_of(const EngineGpu &gpu) const;

  bool is_part_;
  std::vector<Gpu> gpus_;
  std::map<Key, std::size_t> places_;
  std::map<std::pair<std::string, std::string>, std::size_t> owner_numbers_;  // by user and job
  std::vector<Owner> owners_;

  UsagePlan::Run run_{};
  std::size_t first_ = 0, count_ = 0;
  double window_ = 0, resolution_ = 0;
  std::vector<Stretch> cells_;  // a row for each GPU

  insight::Usage usage_;
  std::map<insight::FindingId, insight::UsageFinding> findings_;
  std::map<std::string, std::vector<std::size_t>> unique_uuids_;  // that may be there only once
  std::set<std::string> told_twice_;
};

}  // namespace gpulse::fleet
