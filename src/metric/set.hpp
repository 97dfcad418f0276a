// SPDX-License-Identifier: Apache-2.0
// Some metrics of the table: what a command needs, so that nothing else is read for it.
#pragma once

#include <algorithm>
#include <bitset>
#include <span>

#include "metric/table.hpp"

namespace gpulse {

class MetricSet {
 public:
  MetricSet() = default;
  MetricSet(std::initializer_list<MetricId> ids) {
    for (const auto id : ids) add(id);
  }

  void add(MetricId id) { bits_.set(id.index); }
  void add(std::span<const MetricId> ids) {
    for (const auto id : ids) add(id);
  }
  void add_roles(Scope scope, std::initializer_list<Role> roles) {
    for (const auto role : roles) {
      if (const auto id = find_role(scope, role)) add(*id);
    }
  }
  bool contains(MetricId id) const { return bits_.test(id.index); }
  bool contains_any(std::span<const MetricId> ids) const {
    return std::any_of(ids.begin(), ids.end(), [&](MetricId id) { return contains(id); });
  }
  bool contains_any(Scope scope) const {
    for (std::size_t i = 0; i < kMetricCount; ++i) {
      if (bits_.test(i) && kMetricKeys[i].scope == scope) return true;
    }
    return false;
  }

 private:
  std::bitset<kMetricCount> bits_;
};

}  // namespace gpulse
