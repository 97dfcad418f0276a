// SPDX-License-Identifier: Apache-2.0
// Some metrics of the table: what a command needs, so that nothing else is read for it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "metric/table.hpp"

namespace gpulse {

class MetricSet {
 public:
  MetricSet() = default;
  MetricSet(std::initializer_list<MetricId> ids) {
    for (const auto id : ids) add(id);
  }

  static MetricSet all() {
    MetricSet set;
    for (std::uint16_t i = 0; i < kMetricCount; ++i) set.add(MetricId{i});
    return set;
  }

  void add(MetricId id) { words_[id.index / kBits] |= bit(id); }
  void add(std::span<const MetricId> ids) {
    for (const auto id : ids) add(id);
  }
  void add(const MetricSet &other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  void add_roles(Scope scope, std::initializer_list<Role> roles) {
    for (const auto role : roles) {
      if (const auto id = find_role(scope, role)) add(*id);
    }
  }
  bool contains(MetricId id) const { return (words_[id.index / kBits] & bit(id)) != 0; }
  bool contains_any(std::span<const MetricId> ids) const {
    return std::any_of(ids.begin(), ids.end(), [&](MetricId id) { return contains(id); });
  }
  bool contains_any(Scope scope) const {
    bool any = false;
    for_each(scope, [&](MetricId) { any = true; });
    return any;
  }
  bool operator==(const MetricSet &) const = default;
  // Calls visit(id) for those of the scope, in table order.
  template <class Visit>
  void for_each(Scope scope, Visit visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (auto left = words_[i]; left != 0; left &= left - 1) {
        const MetricId id{static_cast<std::uint16_t>(i * kBits + static_cast<std::size_t>(std::countr_zero(left)))};
        if (brief(id).scope == scope) visit(id);
      }
    }
  }

 private:
  static constexpr std::size_t kBits = 64;
  static constexpr std::uint64_t bit(MetricId id) { return std::uint64_t{1} << (id.index % kBits); }

  std::array<std::uint64_t, (kMetricCount + kBits - 1) / kBits> words_{};
};

}  // namespace gpulse
